// SPDX-License-Identifier: MIT OR Apache-2.0
//! A controller that judges the host that calls it.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use tandem_controllers::{Ack, Conn, Instance, Params, Reason, State, View};

use crate::{
    check::Check,
    event::{Event, Expected, Rate, Shown},
};

/// How many ACKs a [`Recorder`] remembers: a run may have millions.
const RECENT: usize = 64;

/// Takes an [`Instance`]'s place in the tests of a host: it has the same calls, and each becomes an [`Event`] of a [`Check`]. A copy goes on
/// by itself, as with an instance.
#[derive(Clone)]
pub struct Recorder {
    instance: Instance,
    check: Check,
    events: u64,
    /// An ACK whose growth may follow at once.
    told: Option<Event>,
    /// As the last event left it.
    conn: Conn,
    recent: VecDeque<Ack>,
}

impl Recorder {
    /// As [`Instance::new`].
    pub fn new(params: &Arc<Params>, conn: &mut Conn) -> Self {
        let init = Event::Init {
            cwnd: conn.snd_cwnd,
            ssthresh: Some(conn.snd_ssthresh),
            clamp: Some(conn.snd_cwnd_clamp),
            mss: conn.mss,
            shown: Shown::all_of(conn),
        };
        let instance = Instance::new(params, conn);
        let recent = VecDeque::with_capacity(RECENT);
        let mut new = Self { instance, check: Check::new(params), events: 0, told: None, conn: *conn, recent };
        new.tell(&init);
        new
    }

    /// What has been judged so far.
    pub fn check(&self) -> &Check {
        &self.check
    }

    /// What the host has told of the latest ACKs, 64 at most, in order.
    pub fn recent_acks(&self) -> impl Iterator<Item = &Ack> {
        self.recent.iter()
    }

    /// Fails if the host has broken the contract.
    ///
    /// # Panics
    /// With the problems, each with the number of its event, from 1.
    #[track_caller]
    pub fn assert_kept(&self) {
        let problems = self.check.problems();
        let lines: Vec<String> = problems.iter().take(10).map(|p| format!("event {}: {p}", p.line)).collect();
        assert!(problems.is_empty(), "the host breaks the contract:\n{}", lines.join("\n"));
    }

    fn tell(&mut self, event: &Event) {
        self.events += 1;
        self.check.event(self.events, event).unwrap_or_else(|e| panic!("event {}: {e}: {event:?}", self.events));
    }

    /// Tells of the ACK that waits, and of what the host has changed by itself since.
    fn catch_up(&mut self, conn: &Conn) {
        let changed = |old: u32, new: u32| (old != new).then_some(new);
        let (cwnd, ssthresh) =
            (changed(self.conn.snd_cwnd, conn.snd_cwnd), changed(self.conn.snd_ssthresh, conn.snd_ssthresh));
        let (cnt, clamp) = (
            changed(self.conn.snd_cwnd_cnt, conn.snd_cwnd_cnt),
            changed(self.conn.snd_cwnd_clamp, conn.snd_cwnd_clamp),
        );
        let mss = changed(self.conn.mss, conn.mss);
        if let Some(ack) = self.told.take() {
            self.tell(&ack);
        }
        if [cwnd, ssthresh, cnt, clamp, mss].iter().any(Option::is_some) {
            self.tell(&Event::Window { cwnd, ssthresh, cnt, clamp, mss });
        }
    }

    /// As [`Instance::read_probes`].
    pub fn read_probes(&self, conn: &Conn, to: &mut [u64]) {
        self.instance.read_probes(conn, to);
    }

    /// As [`Instance::pkts_acked`].
    pub fn pkts_acked(&mut self, conn: &mut Conn, ack: &Ack) {
        self.catch_up(conn);
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(*ack);
        let shown = Shown::all_of(conn);
        self.instance.pkts_acked(conn, ack);
        let Ack { prior_delivered, interval_us, is_app_limited, in_flight, lost, marked, .. } = *ack;
        let app_limited = is_app_limited != 0;
        let acked_sacked = Some(ack.acked_sacked).filter(|&packets| packets != ack.pkts_acked);
        self.told = Some(Event::Ack {
            packets: ack.pkts_acked,
            rtt_us: ack.rtt_us,
            grow: Some(false),
            rate: Rate {
                acked_sacked,
                delivered: Some(ack.delivered),
                prior_delivered,
                interval_us,
                app_limited,
                in_flight,
                lost,
                marked,
            },
            probes: BTreeMap::new(),
            shown,
            expected: Expected::all_of(conn),
        });
        self.conn = *conn;
    }

    /// As [`Instance::cong_avoid`].
    pub fn cong_avoid(&mut self, conn: &mut Conn, acked: u32) {
        let follows = *conn == self.conn;
        let before = Shown::all_of(conn);
        match self.told.take() {
            Some(Event::Ack { packets, rtt_us, rate, probes, shown, .. })
                if follows && packets == acked && packets > 0 =>
            {
                self.instance.cong_avoid(conn, acked);
                let expected = Expected::all_of(conn);
                self.tell(&Event::Ack { packets, rtt_us, grow: Some(true), rate, probes, shown, expected });
            }
            told => {
                self.told = told;
                self.catch_up(conn);
                self.instance.cong_avoid(conn, acked);
                self.tell(&Event::Grow { packets: acked, shown: before, expected: Expected::all_of(conn) });
            }
        }
        self.conn = *conn;
    }

    /// As [`Instance::usual_ack`].
    pub fn usual_ack(&mut self, conn: &mut Conn, acked: u32, rtt_us: u32, delivered: u32) {
        self.pkts_acked(conn, &Ack { pkts_acked: acked, rtt_us, delivered, acked_sacked: acked, ..Ack::default() });
        self.cong_avoid(conn, acked);
    }

    /// As [`Instance::ssthresh`].
    pub fn ssthresh(&mut self, conn: &Conn, reason: Reason) -> u32 {
        self.catch_up(conn);
        // The log's event does this, and the host may do it later.
        let asked = Conn { snd_cwnd_cnt: 0, ..*conn };
        let ssthresh = self.instance.ssthresh(conn, reason);
        self.conn = Conn { snd_ssthresh: ssthresh, ..asked };
        let for_mark = reason == Reason::Mark;
        let (shown, expected) = (Shown::all_of(conn), Expected::all_of(&self.conn));
        self.tell(&Event::Ssthresh { for_mark, shown, expected });
        ssthresh
    }

    /// As [`Instance::set_state`].
    pub fn set_state(&mut self, conn: &mut Conn, state: State) {
        self.call(
            conn,
            |instance, conn| instance.set_state(conn, state),
            |shown, expected| Event::State { state: state.into(), shown, expected },
        );
    }

    /// As [`Instance::restart`].
    pub fn restart(&mut self, conn: &mut Conn) {
        self.call(conn, Instance::restart, |shown, expected| Event::Restart { shown, expected });
    }

    fn call(
        &mut self,
        conn: &mut Conn,
        call: impl FnOnce(&mut Instance, &mut Conn),
        event: impl FnOnce(Shown, Expected) -> Event,
    ) {
        self.catch_up(conn);
        let shown = Shown::all_of(conn);
        call(&mut self.instance, conn);
        self.tell(&event(shown, Expected::all_of(conn)));
        self.conn = *conn;
    }

    /// As [`Instance::undo_cwnd`].
    pub fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        self.catch_up(conn);
        let cwnd = self.instance.undo_cwnd(conn);
        self.conn = Conn { snd_cwnd: cwnd, ..*conn };
        self.tell(&Event::Undo { shown: Shown::all_of(conn), expected: Expected::all_of(&self.conn) });
        cwnd
    }

    /// As [`Instance::view`].
    pub fn view(&self, conn: &Conn) -> View {
        self.instance.view(conn)
    }
}
