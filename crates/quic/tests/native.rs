// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random events of a connection give the same windows in the adapters, which learn of growth before losses, as in a host that knows
//! all that an ACK says before it acts, in the contract's order (`controllers/README.md`), and which keeps the contract's rules.
#![cfg(all(feature = "quinn", feature = "noq"))]

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use proptest::{prelude::*, test_runner::TestCaseResult};
use serde::{Deserialize, Serialize};
use tandem_conform::{Recorder, Rule};
use tandem_controllers::{
    Ack, CONTROLLERS, Conn, Controller, INFINITE_SSTHRESH, MAX_WINDOW, Params, Reason, State,
    host::{DeliveryAccount, RttEstimator, Stamp},
};
use tandem_quic::{Host, Options, OverNoq, OverQuinn};
use tandem_testing::{random::fixed, random_test};

const PACKET: u32 = 1200;
const START_NS: u64 = 1_000_000_000;

/// What happens next; counts are of the oldest packets in flight.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Step {
    gap_us: u32,
    lost: u8,
    acked: u8,
    marked: bool,
    persistent: bool,
    app_limited: bool,
    spurious: bool,
    /// The application pauses before it sends again.
    idle: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (1u32..60_000, prop_oneof![6 => Just(0u8), 1 => 1u8..4], 0u8..9, any::<[u8; 4]>()).prop_map(
        |(gap_us, lost, acked, odds)| Step {
            gap_us,
            lost,
            acked,
            marked: odds[0] < 12,
            persistent: odds[1] < 40 && lost > 0,
            app_limited: odds[2] < 60,
            spurious: odds[3] < 8,
            idle: odds[3] > 250,
        },
    );
    prop::collection::vec(step, 1..120)
}

#[derive(Clone, Copy)]
struct Sent {
    at_ns: u64,
    stamp: Stamp,
    number: u64,
}

/// The host that knows all of an ACK at once.
struct Native {
    controller: Recorder,
    conn: Conn,
    state: State,
    owns_window: bool,
    rtt: RttEstimator,
    rate: DeliveryAccount,
    newest_acked: u64,
    reduced_at: Option<u64>,
    prior_ssthresh: Option<u32>,
    // RFC 9937 section 6.2, in packets: RecoverFS, prr_delivered, prr_out.
    recover_fs: u64,
    prr_delivered: u64,
    prr_out: u64,
    sent: u64,
    flight: VecDeque<Sent>,
    last_send: u64,
    delivered: u32,
}

impl Native {
    fn new(params: &Arc<Params>) -> Self {
        let mut conn = Conn {
            snd_cwnd: 10,
            snd_ssthresh: INFINITE_SSTHRESH,
            snd_cwnd_clamp: MAX_WINDOW,
            mss: PACKET,
            is_cwnd_limited: 1,
            is_paced: 1,
            ..Conn::default()
        };
        Self {
            controller: Recorder::new(params, &mut conn),
            conn,
            state: State::Open,
            owns_window: params.controller().owns_window(),
            rtt: RttEstimator::default(),
            rate: DeliveryAccount::default(),
            newest_acked: 0,
            reduced_at: None,
            prior_ssthresh: None,
            recover_fs: 0,
            prr_delivered: 0,
            prr_out: 0,
            sent: 0,
            flight: VecDeque::new(),
            last_send: 0,
            delivered: 0,
        }
    }

    fn sync(&mut self, now: u64) {
        self.conn.now_us = now / 1000;
        self.conn.snd_nxt = (self.sent * u64::from(PACKET)) as u32;
        self.conn.snd_una = ((self.sent - self.flight.len() as u64) * u64::from(PACKET)) as u32;
    }

    fn is_reducing(&self) -> bool {
        matches!(self.state, State::Cwr | State::Recovery)
    }

    fn send_one(&mut self, now: u64) -> Sent {
        let alone = self.flight.is_empty();
        if alone && self.sent > 0 && (self.owns_window || now - self.last_send > self.rtt.rto_ns()) {
            self.sync(now);
            self.controller.restart(&mut self.conn);
        }
        let packet = Sent { at_ns: now, stamp: self.rate.sent(now, alone), number: self.sent };
        self.sent += 1;
        self.last_send = now;
        self.flight.push_back(packet);
        self.prr_out += u64::from(self.is_reducing());
        packet
    }

    fn enter(&mut self, state: State) {
        if self.state != state {
            self.controller.set_state(&mut self.conn, state);
            self.state = state;
        }
    }

    /// The contract's order on one ACK: pkts_acked; then, if a loss was found, ssthresh and set_state; then cong_avoid.
    fn on_ack(&mut self, now: u64, step: &Step, lost: &[Sent], acked: &[Sent]) {
        let mut ack = Ack::default();
        if let Some(newest) = acked.iter().max_by_key(|p| p.at_ns) {
            // What is lost is in flight until it is found lost.
            lost.iter().rev().for_each(|&p| self.flight.push_front(p));
            if newest.at_ns >= self.newest_acked {
                self.newest_acked = newest.at_ns;
                ack.rtt_us = ((now - newest.at_ns) / 1000).max(1) as u32;
                let rtt_ns = now - newest.at_ns;
                self.rtt.sample(rtt_ns, rtt_ns);
            }
            ack.pkts_acked = acked.len() as u32;
            ack.acked_sacked = ack.pkts_acked;
            self.delivered += ack.pkts_acked;
            ack.delivered = self.delivered;
            self.sync(now);
            self.conn.is_cwnd_limited = u16::from(!step.app_limited);
            if self.owns_window {
                if step.app_limited {
                    self.rate.note_app_limited(self.flight.len() as u64);
                }
                let rate = self.rate.sample(now, acked.len() as u64, newest.at_ns, newest.stamp, self.rtt.min_ns);
                ack = Ack { pkts_acked: ack.pkts_acked, acked_sacked: ack.acked_sacked, rtt_us: ack.rtt_us, ..rate };
            } else {
                self.controller.pkts_acked(&mut self.conn, &ack);
            }
            self.flight.drain(..lost.len());
            if self.state != State::Open && self.reduced_at.is_some_and(|at| newest.at_ns > at) {
                if self.state != State::Loss && !self.owns_window {
                    self.conn.snd_cwnd = self.conn.snd_ssthresh;
                }
                self.enter(State::Open);
            }
        }
        self.sync(now);
        if let Some(newest_lost) = lost.iter().map(|p| p.at_ns).max() {
            self.answer(now, newest_lost, step.persistent, State::Recovery);
        }
        if let Some(newest) = acked.iter().map(|p| p.at_ns).max().filter(|_| step.marked) {
            self.answer(now, newest, false, State::Cwr);
        }
        let progress = if acked.is_empty() { u64::from(!lost.is_empty()) } else { acked.len() as u64 };
        if self.owns_window {
            if !acked.is_empty() {
                let ack = Ack { in_flight: self.flight.len() as u32, lost: lost.len() as u32, ..ack };
                self.controller.pkts_acked(&mut self.conn, &ack);
            }
        } else if self.is_reducing() {
            if progress > 0 {
                self.reduce_rate(progress, lost.is_empty() && !acked.is_empty());
            }
        } else if !acked.is_empty() && (!step.persistent || lost.is_empty()) {
            self.controller.cong_avoid(&mut self.conn, acked.len() as u32);
        }
    }

    fn answer(&mut self, now: u64, newest: u64, persistent: bool, to: State) {
        let is_new = self.reduced_at.is_none_or(|at| newest > at);
        if !(persistent || is_new) {
            return;
        }
        if !persistent || self.state == State::Open {
            self.prior_ssthresh = Some(self.conn.snd_ssthresh);
            self.conn.snd_ssthresh = self.controller.ssthresh(&self.conn, Reason::Loss);
        }
        self.conn.snd_cwnd_cnt = 0;
        self.reduced_at = Some(now);
        if persistent {
            self.conn.snd_cwnd = 1;
            return self.enter(State::Loss);
        }
        (self.recover_fs, self.prr_delivered, self.prr_out) = (self.conn.snd_cwnd.into(), 0, 0);
        self.enter(to);
    }

    /// RFC 9937 section 6.2, as in Linux.
    fn reduce_rate(&mut self, delivered: u64, safe: bool) {
        let (pipe, ssthresh) = (self.flight.len() as u64, u64::from(self.conn.snd_ssthresh));
        self.prr_delivered += delivered;
        let mut allowed = if pipe > ssthresh {
            (self.prr_delivered * ssthresh).div_ceil(self.recover_fs).saturating_sub(self.prr_out)
        } else {
            let limit = delivered.max(self.prr_delivered.saturating_sub(self.prr_out)) + u64::from(safe);
            limit.min(ssthresh - pipe)
        };
        if self.prr_out == 0 {
            allowed = allowed.max(1);
        }
        self.conn.snd_cwnd = (pipe + allowed).max(1) as u32;
    }

    fn spurious(&mut self) {
        let Some(prior) = self.prior_ssthresh.take() else { return };
        self.conn.snd_cwnd = self.controller.undo_cwnd(&self.conn);
        self.conn.snd_ssthresh = self.conn.snd_ssthresh.max(prior);
        self.enter(State::Open);
    }
}

/// The adapters beside it.
struct Stacks {
    origin: Instant,
    noq: OverNoq,
    /// It has no place for a rate, and tells of no spurious loss.
    quinn: Option<OverQuinn>,
}

impl Stacks {
    fn at(&self, ns: u64) -> Instant {
        self.origin + Duration::from_nanos(ns - START_NS)
    }

    fn sent(&mut self, packet: Sent) {
        let now = self.at(packet.at_ns);
        noq_proto::congestion::Controller::on_packet_sent(&mut self.noq, now, PACKET as u16, packet.number);
        if let Some(quinn) = &mut self.quinn {
            quinn_proto::congestion::Controller::on_sent(quinn, now, PACKET.into(), packet.number);
        }
    }

    fn on_ack(&mut self, now: u64, step: &Step, lost: &[Sent], acked: &[Sent], in_flight: u64) {
        let at = self.at(now);
        let lost_bytes = lost.len() as u64 * u64::from(PACKET);
        let before_losses = in_flight * u64::from(PACKET) + lost_bytes;
        for packet in acked {
            let sent = self.at(packet.at_ns);
            self.noq.acknowledge(sent, PACKET.into(), packet.number);
            self.quinn.iter_mut().for_each(|quinn| quinn.acknowledge(sent, PACKET.into()));
        }
        if !acked.is_empty() {
            let noq = &mut self.noq;
            noq_proto::congestion::Controller::on_end_acks(noq, at, before_losses, step.app_limited, None);
            if let Some(quinn) = &mut self.quinn {
                quinn_proto::congestion::Controller::on_end_acks(quinn, at, before_losses, step.app_limited, None);
            }
        }
        if let Some(newest) = lost.iter().map(|p| p.at_ns).max() {
            self.event(at, newest, step.persistent, lost_bytes, lost);
        }
        if let Some(newest) = acked.iter().map(|p| p.at_ns).max().filter(|_| step.marked) {
            self.event(at, newest, false, 0, &[]);
        }
    }

    fn event(&mut self, now: Instant, newest: u64, persistent: bool, bytes: u64, lost: &[Sent]) {
        let sent = self.at(newest);
        use noq_proto::congestion::Controller as _;
        lost.iter().for_each(|p| self.noq.on_packet_lost(PACKET as u16, p.number, now));
        self.noq.on_congestion_event(now, sent, persistent, bytes == 0, bytes, 0);
        if let Some(quinn) = &mut self.quinn {
            quinn_proto::congestion::Controller::on_congestion_event(quinn, now, sent, persistent, bytes);
        }
    }
}

fn play(controller: &'static Controller, steps: &[Step]) -> TestCaseResult {
    let params = Arc::new(Params::new(controller));
    let host = || Host::new(&params, Options { virtual_time: true, ..Options::default() }, PACKET as u16);
    let origin = Instant::now();
    let has_undo = steps.iter().any(|step| step.spurious);
    let quinn = (!controller.owns_window() && !has_undo).then(|| OverQuinn::resume(host(), origin));
    let mut stacks = Stacks { origin, noq: OverNoq::resume(host(), origin), quinn };
    let mut native = Native::new(&params);
    let mut now = START_NS;
    for (i, step) in steps.iter().enumerate() {
        let window = native.conn.snd_cwnd.max(2) as usize;
        while native.flight.len() < window && native.flight.len() < 64 {
            stacks.sent(native.send_one(now));
        }
        now += u64::from(step.gap_us) * 1000;
        if step.spurious {
            native.spurious();
            noq_proto::congestion::Controller::on_spurious_congestion_event(&mut stacks.noq);
        }
        let mut take = |count: usize| -> Vec<Sent> {
            let count = count.min(native.flight.len());
            native.flight.drain(..count).collect()
        };
        let lost = take(step.lost.into());
        let acked = take(if step.idle { usize::MAX } else { step.acked.into() });
        if lost.is_empty() && acked.is_empty() {
            continue;
        }
        native.on_ack(now, step, &lost, &acked);
        stacks.on_ack(now, step, &lost, &acked, native.flight.len() as u64);
        now += if step.idle { 3_000_000_000 } else { 0 };
        let hosts = [Some(stacks.noq.host()), stacks.quinn.as_ref().map(OverQuinn::host)];
        for (host, stack) in hosts.into_iter().zip(["noq", "quinn"]) {
            let Some(host) = host else { continue };
            prop_assert_eq!(host.state(), native.state, "{} in {}, step {}: {:?}", controller.name, stack, i, step);
            let (ours, theirs) = (*host.conn(), native.conn);
            prop_assert_eq!(ours, theirs, "{} in {}, step {}: {:?}", controller.name, stack, i, step);
            prop_assert_eq!(host.view(), native.controller.view(&native.conn), "{} in {}", controller.name, stack);
        }
    }
    // The steps put no more than 64 packets in flight, and then say by chance whether the application limits.
    let problems = native.controller.check().problems();
    let problem = problems.iter().find(|problem| problem.rule != Rule::Limited);
    prop_assert!(problem.is_none(), "{}: the contract: {:?}", controller.name, problem);
    Ok(())
}

/// The stacks tell of a mark, but not of how many.
fn hosted() -> impl Iterator<Item = &'static Controller> {
    CONTROLLERS.iter().filter(|c| !c.counts_marks())
}

#[test]
fn random_acks_do_what_the_native_host_does() {
    random_test!(random_acks_do_what_the_native_host_does, fixed(3000).cases).run(
        (0..hosted().count(), steps())
            .prop_map(|(controller, steps)| (hosted().nth(controller).unwrap().name.to_owned(), steps)),
        |(name, steps)| play(tandem_controllers::find(&name).unwrap(), &steps),
    );
}
