// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending half of TCP, as Linux does it: the host side of the controllers' contract.
//!
//! SACK scoreboard and pipe (RFC 6675), limited transmit (RFC 3042, which pipe implies), retransmission timeout (RFC 6298), idle
//! restart (RFC 5681 section 4.1), the cwnd-limited test (RFC 7661 in Linux's form) and optional pacing. Recovery is today's, with
//! proportional rate reduction (RFC 6937), a reordering window and a tail loss probe (RFC 8985 sections 6 and 7) and undo, or that of Linux
//! up to 3.1 ([`LossRecovery`]). A controller that owns the window has delivery-rate samples instead, and no rate reduction (Linux's
//! cong_control).

mod ecn;
mod release;
mod row;
mod states;
mod timers;
mod train;
mod undo;

// In the tests a controller takes its place that judges how it is called.
#[cfg(test)]
use tandem_conform::Recorder as Instance;
#[cfg(not(test))]
use tandem_controllers::Instance;
use tandem_controllers::{
    Ack, Conn, INFINITE_SSTHRESH, MAX_WINDOW, State, View,
    host::{Progress, RttEstimator},
};

use crate::{
    Config, Ecn, NEVER,
    cwnd_limited::CwndLimited,
    delivery_rate::DeliveryRate,
    loss_recovery::LossRecovery,
    pacing::Pacing,
    receiver::AckOut,
    scoreboard::{Delivered, Scoreboard},
    segment::{AGAIN, ECE, Feedback},
};

pub use train::Train;

use ecn::EcnSender;
use timers::{Probe, Timer};
use undo::Undo;

/// The largest window that TCP can express [RFC 7323 2.3], bytes.
const MAX_WINDOW_BYTES: u32 = 1 << 30;
/// An ACK as the sender sees it.
#[derive(Debug, Clone, Copy)]
pub struct AckIn<'a> {
    /// The next segment that the receiver expects.
    pub next_expected: u64,
    /// What it says beside that; `None`: nothing.
    pub feedback: Option<&'a Feedback>,
    /// [`ECE`], or 0.
    pub flags: u8,
}

impl<'a> From<&'a AckOut> for AckIn<'a> {
    fn from(ack: &'a AckOut) -> Self {
        Self { next_expected: ack.next_expected, feedback: ack.feedback.as_ref(), flags: ack.flags }
    }
}

/// What has been counted since the start.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counters {
    /// Segments sent, new or again.
    pub sent: u64,
    /// Those sent again.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Reductions of the window, those included that were undone.
    pub window_reductions: u64,
}

/// The sending half of a connection. Times are nanoseconds, and come in order; `out` takes each segment that is sent, in the form of
/// [`segment`](crate::segment).
pub struct Sender {
    /// What it shares with the controller.
    pub conn: Conn,
    /// What has been counted so far.
    pub counters: Counters,
    pub(crate) controller: Instance,
    pub(crate) board: Scoreboard,
    pub(crate) rtt: RttEstimator,
    pub(crate) state: State,
    /// Recovery ends once this is acknowledged.
    high_seq: u64,
    recovery: LossRecovery,
    undo: Option<Undo>,
    timer: Timer,
    /// When the timer fires.
    deadline: u64,
    backoff: u32,
    probe: Option<Probe>,
    /// Segments that the application has given so far.
    data_end: u64,
    receive_window: u64,
    initial_window: u32,
    limited: CwndLimited,
    last_send: u64,
    pacing: Pacing,
    /// The controller sets the window in recovery, too.
    owns_window: bool,
    /// Only for a controller that wants it.
    pub(crate) rate: Option<Box<DeliveryRate>>,
    ecn: Option<EcnSender>,
    /// Neither rate nor ECN: most senders.
    is_plain: bool,
    /// No rate, but accurate ECN.
    is_counted: bool,
    /// What each new segment says about ECN then.
    ecn_field: u64,
}

impl Sender {
    /// A connection whose first transfer begins at `start` ns.
    pub fn new(config: &Config, start: u64) -> Self {
        let (params, mss) = (&config.controller, config.mss);
        let mut conn = Conn {
            now_us: start / 1000,
            snd_cwnd: config.initial_window,
            snd_cwnd_cnt: 0,
            snd_ssthresh: INFINITE_SSTHRESH,
            snd_cwnd_clamp: (MAX_WINDOW_BYTES / mss).min(MAX_WINDOW),
            snd_una: 0,
            snd_nxt: 0,
            mss,
            is_cwnd_limited: 0,
            is_paced: u16::from(config.pacing),
            ..Conn::default()
        };
        let (owns_window, wants_rate) = (params.controller().owns_window(), params.controller().wants_rate());
        let ecn = EcnSender::new(config.ecn, params.controller());
        Self {
            controller: Instance::new(params, &mut conn),
            conn,
            counters: Counters::default(),
            board: Scoreboard::new(),
            rtt: RttEstimator::default(),
            state: State::Open,
            high_seq: 0,
            recovery: LossRecovery::new(config.recovery, params),
            undo: None,
            timer: Timer::Retransmission,
            deadline: NEVER,
            backoff: 0,
            probe: None,
            data_end: 0,
            receive_window: config.receive_window.map_or(u64::from(MAX_WINDOW_BYTES / mss), u64::from),
            initial_window: config.initial_window,
            limited: CwndLimited::default(),
            last_send: 0,
            pacing: Pacing::new(config.pacing || owns_window),
            rate: wants_rate.then(|| Box::new(DeliveryRate::new())),
            is_counted: !wants_rate && config.ecn == Ecn::Accurate,
            ecn_field: ecn.map_or(0, |ecn| ecn.field()),
            ecn,
            owns_window,
            is_plain: !owns_window && !wants_rate && config.ecn == Ecn::Off,
        }
    }

    /// What the controller shows of itself.
    pub fn view(&self) -> View {
        self.controller.view(&self.conn)
    }

    /// As [`Instance::read_probes`].
    pub fn read_probes(&self, to: &mut [u64]) {
        self.controller.read_probes(&self.conn, to);
    }

    /// Segments delivered so far.
    pub fn delivered(&self) -> u64 {
        self.board.delivered()
    }

    /// Segments sent and not yet acknowledged by number.
    #[inline]
    pub fn outstanding(&self) -> u64 {
        self.board.outstanding()
    }

    /// Segments that are thought to be under way (pipe) [RFC 6675 4].
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.board.in_flight()
    }

    /// The smoothed RTT, ns; 0 before the first sample.
    pub fn srtt_ns(&self) -> u64 {
        self.rtt.srtt_ns
    }

    /// A new connection in the place of one that has ended: it knows nothing of the old one, but its segments go on where the numbers of
    /// the old one end, so that nothing that is still under way is taken for its own.
    pub fn renew(&mut self, config: &Config, now: u64) {
        let (next, counters) = (self.board.nxt, self.counters);
        *self = Self {
            board: Scoreboard::beginning_at(next),
            counters,
            data_end: next,
            high_seq: next,
            last_send: now,
            ecn: self.ecn.map(EcnSender::renewed),
            ..Self::new(config, now)
        };
    }

    /// The handshake is over, and data follows: an answer has come to the SYN sent `rtt_ns` ago, of `syns` in all. Timestamps tell which SYN was
    /// answered. As Linux does it, the window is one segment only if at least two SYNs were lost.
    pub fn establish(&mut self, now: u64, rtt_ns: u64, syns: usize) {
        self.last_send = now;
        self.rtt.sample(rtt_ns, rtt_ns);
        if syns > 2 {
            self.conn.snd_cwnd = 1;
        }
    }

    /// One above the last segment that the application has given.
    pub fn data_end(&self) -> u64 {
        self.data_end
    }

    /// Has all data been acknowledged?
    pub fn is_done(&self) -> bool {
        self.board.una >= self.data_end
    }

    /// The application gives `segments` more.
    pub fn give(&mut self, now: u64, segments: u64, out: &mut impl FnMut(u64)) {
        self.conn.now_us = now / 1000;
        if self.board.outstanding() == 0 && self.board.nxt > 0 {
            self.restart(now - self.last_send);
        }
        if self.board.nxt >= self.data_end && !self.board.awaits_retransmission() && !self.fills_window() {
            let in_flight = self.board.in_flight();
            self.rate.iter_mut().for_each(|rate| rate.note_app_limited(in_flight));
        }
        self.data_end = self.data_end.saturating_add(segments);
        self.send(now, out);
    }

    /// The application has no data beyond what has been sent.
    pub fn stop(&mut self) {
        self.data_end = self.board.nxt;
    }

    /// [RFC 5681 4.1] in Linux's form (RFC 2861): the window halves for each timeout spent idle, down to the restart
    /// window. A controller that owns the window keeps it, and is told of any idle time.
    fn restart(&mut self, idle_ns: u64) {
        let is_long = idle_ns > self.rtt.rto_ns();
        if !is_long && !self.owns_window() {
            return;
        }
        self.sync_conn();
        self.controller.restart(&mut self.conn);
        if self.owns_window() {
            return;
        }
        let cwnd = self.conn.snd_cwnd;
        let restart_window = cwnd.min(self.initial_window);
        let halvings = (idle_ns / self.rtt.rto_ns()).min(31);
        self.conn.snd_ssthresh = self.conn.snd_ssthresh.max(cwnd / 2 + cwnd / 4);
        self.conn.snd_cwnd = (cwnd >> halvings).max(restart_window);
        self.limited.used_up(self.conn.now_us * 1000);
    }

    /// The application has run dry. If cwnd was not filled for one RTO, Linux reduces it halfway to what was used, but not below the
    /// initial window (tcp_cwnd_application_limited). [RFC 7661 4.4.3]
    #[cold]
    fn validate_window(&mut self, now: u64) {
        let in_slow_start = self.conn.snd_cwnd < self.conn.snd_ssthresh;
        if self.limited.holds(self.conn.snd_cwnd, in_slow_start) {
            self.limited.used_up(now);
            return;
        }
        let Some(used) = self.limited.unused(now, self.board.outstanding(), self.rtt.rto_ns()) else { return };
        let used = used.max(self.initial_window);
        if self.state == State::Open && !self.owns_window() && used < self.conn.snd_cwnd {
            let cwnd = self.conn.snd_cwnd;
            self.conn.snd_ssthresh = self.conn.snd_ssthresh.max(cwnd / 2 + cwnd / 4);
            self.conn.snd_cwnd = (cwnd + used) / 2;
        }
    }

    /// Something else than the window has ended an attempt to send; `has_sent`: after it had let go something.
    #[inline]
    fn note_unused(&mut self, now: u64, has_sent: bool) {
        self.limited.by_other(self.board.una, self.board.nxt);
        if self.board.nxt == self.data_end && has_sent {
            self.validate_window(now);
        }
    }

    /// The controller sets the window, also in recovery, and a pacing rate.
    #[inline]
    fn owns_window(&self) -> bool {
        self.owns_window
    }

    #[inline]
    fn fills_window(&self) -> bool {
        self.board.in_flight() >= u64::from(self.conn.snd_cwnd)
    }

    #[inline]
    fn sync_conn(&mut self) {
        self.sync_numbers();
        self.conn.is_cwnd_limited = u16::from(self.is_limited());
    }

    #[inline]
    fn sync_numbers(&mut self) {
        let mss = u64::from(self.conn.mss);
        // Sequence numbers wrap, as on the wire.
        self.conn.snd_una = self.board.una.wrapping_mul(mss) as u32;
        self.conn.snd_nxt = self.board.nxt.wrapping_mul(mss) as u32;
    }

    /// Does the window limit the sending?
    #[inline]
    fn is_limited(&self) -> bool {
        let in_slow_start = self.conn.snd_cwnd < self.conn.snd_ssthresh;
        self.limited.holds(self.conn.snd_cwnd, in_slow_start)
    }

    /// Handles an ACK and sends what it lets go; `out` takes each segment. Returns the RTT that it told, ns.
    ///
    /// In place whatever the number of callers: a call of its own costs 26 instructions.
    #[inline(always)]
    pub fn on_ack(&mut self, now: u64, ack: AckIn, out: &mut impl FnMut(u64)) -> Option<u64> {
        if ack.feedback.is_none()
            && let Some(mut train) = self.train::<true>()
            && let Some(rtt_ns) = train.take(now, ack.next_expected, out)
        {
            train.end();
            return Some(rtt_ns);
        }
        if self.is_counted
            && let Some(rtt_ns) = self.on_counted_ack(now, &ack, out)
        {
            return Some(rtt_ns);
        }
        if let Some(rtt_ns) = self.on_row_ack(now, &ack, out) {
            return Some(rtt_ns);
        }
        self.on_unusual_ack(now, ack, out)
    }

    /// Handles an ACK as a train of one, if it says nothing beside its number that is new.
    #[inline(always)]
    fn on_counted_ack(&mut self, now: u64, ack: &AckIn, out: &mut impl FnMut(u64)) -> Option<u64> {
        let marks = ack.feedback.map_or(Some(0), Feedback::count_alone)?;
        let mut train = self.train::<false>()?;
        if !train.knows(marks) {
            return None;
        }
        let rtt_ns = train.take(now, ack.next_expected, out)?;
        train.end();
        Some(rtt_ns)
    }

    #[inline(never)]
    pub(crate) fn on_unusual_ack(&mut self, now: u64, ack: AckIn, out: &mut impl FnMut(u64)) -> Option<u64> {
        self.conn.now_us = now / 1000;
        let (blocks, marks) = ack.feedback.map_or((None, 0), |feedback| (feedback.blocks(), feedback.marks));
        let una = self.board.una;
        let delivered = self.board.on_ack(now - self.rtt.min_ns.min(now), ack.next_expected, blocks);
        let rtt_ns = delivered.newest_sent.map(|sent| now - sent);
        if let (Some(oldest), Some(rtt_ns)) = (delivered.oldest_sent, rtt_ns) {
            self.rtt.sample(now - oldest, rtt_ns);
        }
        self.sync_conn();
        let rtt_us = rtt_ns.map_or(0, rtt_us);
        let has_mark = ack.flags & ECE != 0 || self.ecn.is_some_and(|ecn| ecn.has_new(marks));
        let (pkts_acked, acked_sacked) = ((self.board.una - una) as u32, delivered.segments as u32);
        let heard =
            Ack { pkts_acked, rtt_us, delivered: self.board.delivered() as u32, acked_sacked, ..Ack::default() };
        if !self.owns_window() {
            self.measure(heard, marks);
        }
        let was = self.state;
        let duplicate = ack.feedback.and_then(|feedback| feedback.duplicate);
        if let Some(seq) = duplicate {
            self.note_duplicate(seq, una);
        }
        self.board.reordering.adapt(now, &delivered);
        self.try_undo(&ack, &delivered, una, has_mark);
        if let Some(probe) = self.probe.filter(|probe| self.board.una >= probe.high_seq) {
            self.answer_probe(probe, duplicate);
        }
        let newly_lost = self.detect_losses(now, &delivered);
        if self.state != State::Open || self.board.has_sacked() {
            self.change_state();
        }
        if has_mark && self.state <= State::Disorder {
            self.enter_cwr();
        }
        if self.owns_window() {
            self.update_model(now, &delivered, Ack { lost: newly_lost as u32, ..heard }, marks);
        } else if matches!(self.state, State::Cwr | State::Recovery) {
            let Delivered { segments, advanced, .. } = delivered;
            self.reduce_in_recovery(Progress { delivered: segments, newly_lost, advanced });
        } else if self.may_grow(&delivered) && self.recovery.grows_after(was) {
            self.controller.cong_avoid(&mut self.conn, delivered.segments as u32);
        }
        if blocks.is_some() || was != State::Open {
            self.moderate();
        }
        if delivered.advanced {
            // [RFC 6298 5.3]
            self.backoff = 0;
            self.arm(now);
        }
        self.arm_for_holes(now, rtt_ns);
        self.send(now, out);
        rtt_ns
    }

    /// Tells the controller what an ACK has delivered. Of one that only SACKs what had been sent again, Linux tells nothing unless the
    /// controller reads more than `pkts_acked` and the RTT.
    #[inline(always)]
    fn measure(&mut self, heard: Ack, marks: u32) {
        if heard.acked_sacked == 0 {
            return;
        }
        let marked = self.ecn.as_mut().map_or(0, |ecn| ecn.tell(marks));
        let reads_sacks = self.owns_window() || self.ecn.is_some_and(|ecn| ecn.counts_marks());
        if heard.pkts_acked > 0 || heard.rtt_us > 0 || reads_sacks {
            self.controller.pkts_acked(&mut self.conn, &Ack { marked, ..heard });
        }
    }

    /// A controller that owns the window is told last, when it is known what is lost.
    #[inline(always)]
    fn update_model(&mut self, now: u64, delivered: &Delivered, heard: Ack, marks: u32) {
        let rate = match (&mut self.rate, delivered.last_sent) {
            (Some(rate), Some(last)) => rate.sample(now, delivered.segments, last, self.rtt.min_ns),
            _ => heard,
        };
        let Ack { pkts_acked, rtt_us, acked_sacked, lost, .. } = heard;
        let in_flight = self.board.in_flight() as u32;
        self.measure(Ack { pkts_acked, rtt_us, acked_sacked, in_flight, lost, ..rate }, marks);
    }

    #[inline]
    fn has_new_data(&self) -> bool {
        self.board.nxt < self.data_end && self.board.outstanding() < self.receive_window
    }

    #[inline(always)]
    fn transmit(&mut self, now: u64, seq: u64, again: bool, out: &mut impl FnMut(u64)) {
        self.counters.sent += 1;
        self.last_send = now;
        let segment = if self.is_plain && !again { seq } else { self.note_sent(now, seq, again) };
        out(segment);
    }

    /// What a sender that is not plain keeps of a segment that it sends; returns the segment with what it says of itself.
    #[inline]
    fn note_sent(&mut self, now: u64, seq: u64, again: bool) -> u64 {
        if let Some(rate) = &mut self.rate {
            let alone = !again && self.board.outstanding() == 1;
            rate.sent(now, seq, self.board.una, alone);
        }
        let ecn = self.ecn.as_mut().map_or(0, |ecn| ecn.on_data(again));
        seq | ecn | if again { AGAIN } else { 0 }
    }

    /// Sends what the window (and pacing) lets go: lost segments first, then new ones. Before a loss is found the window has room for what is
    /// SACKed [RFC 3042 2].
    #[inline]
    pub fn send(&mut self, now: u64, out: &mut impl FnMut(u64)) {
        self.pacing.release();
        self.send_more(now, out);
    }

    /// The same in the course of an attempt to send.
    #[inline]
    fn send_more(&mut self, now: u64, out: &mut impl FnMut(u64)) {
        if !self.is_kept_back(now) {
            self.send_some(now, out);
        }
    }

    /// Does the window or the rate end the attempt to send? Then that is noted.
    #[inline(always)]
    fn is_kept_back(&mut self, now: u64) -> bool {
        if self.fills_window() {
            self.limited.by_window(now, self.board.una, self.board.nxt);
            return true;
        }
        let is_held = self.pacing.holds(now);
        if is_held {
            self.limited.by_other(self.board.una, self.board.nxt);
        }
        is_held
    }

    /// The same where something may go.
    #[inline(never)]
    fn send_some(&mut self, now: u64, out: &mut impl FnMut(u64)) {
        let was_empty = self.board.outstanding() == 0;
        let sent_before = self.counters.sent;
        let mut cwnd_limited = false;
        loop {
            if self.fills_window() {
                cwnd_limited = true;
                break;
            }
            if self.pacing.holds(now) {
                break;
            }
            let lost = self.board.retransmit_lost(now);
            let seq = if let Some(seq) = lost {
                self.counters.retransmits += 1;
                self.undo.iter_mut().for_each(Undo::sent_again);
                if seq == self.board.una {
                    // [RFC 6675 6] [RFC 6298 5.6]
                    self.arm(now);
                }
                seq
            } else if self.has_new_data() {
                self.board.send_new(now)
            } else {
                break;
            };
            if self.state >= State::Cwr {
                self.recovery.sent();
            }
            self.pacing.sent(now, self.rtt.srtt_ns, &self.conn);
            self.transmit(now, seq, lost.is_some(), out);
        }
        if cwnd_limited {
            self.limited.by_window(now, self.board.una, self.board.nxt);
        } else {
            self.note_unused(now, self.counters.sent > sent_before);
        }
        if was_empty && self.board.outstanding() > 0 {
            // [RFC 6298 5.1]
            self.arm(now);
        }
    }
}

/// As in the contract: at least 1, because 0 means no sample.
#[inline]
fn rtt_us(rtt_ns: u64) -> u32 {
    (rtt_ns / 1000).clamp(1, u32::MAX.into()) as u32
}
