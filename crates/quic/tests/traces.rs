// SPDX-License-Identifier: MIT OR Apache-2.0
//! The golden traces of `controllers/vectors/`, played through the adapters: their events as the stacks tell them.
//!
//! A trace gives times that no network has: ACKs of packets sent before others that are acknowledged already, changes by the host itself.
//! A story is played up to such an event. The last test says how much of them that is.
#![cfg(all(feature = "quinn", feature = "noq"))]

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use tandem_controllers::{Conn, INFINITE_SSTHRESH, MAX_WINDOW, Params, View, find};
use tandem_quic::{Host, Options, OverNoq, OverQuinn};
use tandem_testing::trace::{self, Command, Expected};

/// Controllers whose arithmetic depends on the time between ACKs; for others a recovery may take as long as it needs.
const BY_THE_CLOCK: [&str; 5] = ["areno", "cubic", "fusion", "htcp", "westwood"];
const START_US: u64 = 1_000_000;

/// What both stacks tell their controllers.
trait Stack: Sized {
    fn resume(host: Host, origin: Instant) -> Self;
    fn host(&self) -> &Host;
    fn sent(&mut self, now: Instant, packets: u32, bytes: u32);
    fn acked(&mut self, now: Instant, sent: Instant, packets: u32, bytes: u32, in_flight: u64, app_limited: bool);
    fn lost(&mut self, now: Instant, persistent: bool);
    fn marked(&mut self, now: Instant);
    /// Does the stack tell?
    fn spurious(&mut self) -> bool;
}

impl Stack for OverQuinn {
    fn resume(host: Host, origin: Instant) -> Self {
        OverQuinn::resume(host, origin)
    }

    fn host(&self) -> &Host {
        OverQuinn::host(self)
    }

    fn sent(&mut self, now: Instant, packets: u32, bytes: u32) {
        quinn_proto::congestion::Controller::on_sent(self, now, u64::from(packets) * u64::from(bytes), 0);
    }

    fn acked(&mut self, now: Instant, sent: Instant, packets: u32, bytes: u32, in_flight: u64, app_limited: bool) {
        (0..packets).for_each(|_| self.acknowledge(sent, bytes.into()));
        quinn_proto::congestion::Controller::on_end_acks(self, now, in_flight, app_limited, None);
    }

    fn lost(&mut self, now: Instant, persistent: bool) {
        quinn_proto::congestion::Controller::on_congestion_event(self, now, now, persistent, 1);
    }

    fn marked(&mut self, now: Instant) {
        quinn_proto::congestion::Controller::on_congestion_event(self, now, now, false, 0);
    }

    fn spurious(&mut self) -> bool {
        false
    }
}

impl Stack for OverNoq {
    fn resume(host: Host, origin: Instant) -> Self {
        OverNoq::resume(host, origin)
    }

    fn host(&self) -> &Host {
        OverNoq::host(self)
    }

    fn sent(&mut self, now: Instant, packets: u32, bytes: u32) {
        (0..packets).for_each(|_| noq_proto::congestion::Controller::on_packet_sent(self, now, bytes as u16, 0));
    }

    fn acked(&mut self, now: Instant, sent: Instant, packets: u32, bytes: u32, in_flight: u64, app_limited: bool) {
        (0..packets).for_each(|_| self.acknowledge(sent, bytes.into(), 0));
        noq_proto::congestion::Controller::on_end_acks(self, now, in_flight, app_limited, None);
    }

    fn lost(&mut self, now: Instant, persistent: bool) {
        noq_proto::congestion::Controller::on_congestion_event(self, now, now, persistent, false, 1, 0);
    }

    fn marked(&mut self, now: Instant) {
        noq_proto::congestion::Controller::on_congestion_event(self, now, now, false, true, 0, 0);
    }

    fn spurious(&mut self) -> bool {
        noq_proto::congestion::Controller::on_spurious_congestion_event(self);
        true
    }
}

/// An event that no QUIC stack tells: the rest of the story is left out.
struct Untold;

struct Player<S> {
    stack: S,
    origin: Instant,
    now: Instant,
    mss: u32,
    flight: u32,
    app_flight: Option<u32>,
    by_the_clock: bool,
    longest_rtt: Duration,
    newest_acked: Option<Instant>,
    /// In a reduction that is not over: when it began.
    reduced_at: Option<Instant>,
    /// The ACK that ends a recovery is the first of the next round in a trace, the last of the recovery in QUIC. So the estimate of that
    /// round misses one packet.
    has_recovered: bool,
}

impl<S: Stack> Player<S> {
    fn new(params: Params, conn: Conn) -> Self {
        let origin = Instant::now() + Duration::from_secs(1000);
        let by_the_clock = BY_THE_CLOCK.contains(&params.controller().name);
        let options = Options { rate_reduction: false, virtual_time: true, ..Options::default() };
        let host = Host::resume(&Arc::new(params), options, conn);
        let mut player = Self {
            stack: S::resume(host, origin),
            origin,
            now: origin,
            mss: conn.mss,
            flight: conn.snd_nxt.wrapping_sub(conn.snd_una) / conn.mss,
            app_flight: None,
            by_the_clock,
            longest_rtt: Duration::ZERO,
            newest_acked: None,
            reduced_at: None,
            has_recovered: false,
        };
        player.send();
        player
    }

    fn send(&mut self) {
        let allowed = self.stack.host().conn().snd_cwnd.min(self.app_flight.unwrap_or(u32::MAX));
        if allowed > self.flight {
            self.stack.sent(self.now, allowed - self.flight, self.mss);
            self.flight = allowed;
        }
    }

    fn ack(&mut self, packets: u32, rtt_us: u32) -> Result<(), Untold> {
        let newest = self.newest_acked.unwrap_or(self.origin - Duration::from_secs(500));
        // Without a sample: the packet is older than another that has been acknowledged.
        let sent = match rtt_us {
            0 => newest - Duration::from_nanos(1),
            us => self.now - Duration::from_micros(us.into()),
        };
        let is_too_old = rtt_us > 0 && sent < newest;
        let ends_recovery = self.reduced_at.is_some_and(|at| sent > at);
        if is_too_old || ends_recovery || packets > self.flight || rtt_us == 0 && self.newest_acked.is_none() {
            return Err(Untold);
        }
        if rtt_us > 0 {
            self.newest_acked = Some(sent);
            self.longest_rtt = self.longest_rtt.max(self.now - sent);
        }
        self.flight -= packets;
        let in_flight = u64::from(self.flight) * u64::from(self.mss);
        self.stack.acked(self.now, sent, packets, self.mss, in_flight, self.app_flight.is_some());
        self.send();
        Ok(())
    }

    /// All that is in flight is acknowledged, `by` packets at a time, evenly over an RTT.
    fn round(&mut self, rtt_us: u32, by: u32) -> Result<(), Untold> {
        let (start, flight) = (self.now, self.flight);
        let mut acked = 0;
        while acked < flight {
            let packets = by.min(flight - acked);
            acked += packets;
            let passed_us = u64::from(rtt_us) * u64::from(acked) / u64::from(flight);
            self.now = start + Duration::from_micros(passed_us);
            self.ack(packets, rtt_us)?;
        }
        Ok(())
    }

    /// A loss, a mark or a timeout. Two reductions at one time are one (RFC 9002 section 7.3.2), except for a collapse.
    fn reduce(&mut self, command: &Command) -> Result<(), Untold> {
        let is_timeout = matches!(command, Command::Timeout);
        if self.reduced_at.is_some() && !is_timeout {
            return Err(Untold);
        }
        match command {
            Command::Ecn => self.stack.marked(self.now),
            _ => self.stack.lost(self.now, is_timeout),
        }
        self.reduced_at = Some(self.now);
        self.send();
        Ok(())
    }

    fn play(&mut self, command: &Command) -> Result<(), Untold> {
        match *command {
            Command::Ack { packets, rtt_us, times, gap_us, rate } => {
                if rate.delivered > 0 || rate.lost > 0 {
                    return Err(Untold);
                }
                for _ in 0..times {
                    self.now += Duration::from_micros(gap_us.into());
                    self.ack(packets, rtt_us)?;
                }
                Ok(())
            }
            Command::Round { rtt_us, by, times } => {
                for _ in 0..times {
                    self.round(rtt_us, by)?;
                }
                Ok(())
            }
            Command::Loss | Command::Ecn | Command::Timeout => self.reduce(command),
            Command::Recovered => {
                if self.by_the_clock {
                    return Err(Untold);
                }
                // A round trip passes until a packet is acknowledged that was sent in the recovery.
                self.now += self.longest_rtt + Duration::from_secs(1);
                self.reduced_at = None;
                self.has_recovered = true;
                self.send();
                Ok(())
            }
            Command::Undo => {
                self.reduced_at = None;
                let is_told = self.stack.spurious();
                self.send();
                if is_told { Ok(()) } else { Err(Untold) }
            }
            Command::App { flight } => {
                self.app_flight = Some(flight);
                Ok(())
            }
            Command::Bulk => {
                self.app_flight = None;
                self.send();
                Ok(())
            }
            Command::Wait { us } => {
                self.now += Duration::from_micros(us.into());
                Ok(())
            }
            // No state of QUIC's; the host's own changes.
            _ => Err(Untold),
        }
    }

    fn check(&self, expected: &[(String, Expected)]) -> Vec<String> {
        let (host, mut wrong) = (self.stack.host(), Vec::new());
        let View { loss_window, delay_window, gamma_q8, diff_q8, base_rtt_us, .. } = host.view();
        for (key, value) in expected {
            let actual = match &**key {
                "cwnd" => host.conn().snd_cwnd,
                "cnt" => host.conn().snd_cwnd_cnt,
                "ssthresh" => host.conn().snd_ssthresh,
                "flight" => self.flight,
                "loss" => loss_window,
                "delay" => delay_window,
                "base" => base_rtt_us,
                "gamma" => gamma_q8,
                "diff" if !self.has_recovered => diff_q8,
                _ => continue,
            };
            let same = match *value {
                Expected::Whole(value) => actual == value,
                Expected::Fraction(value) => (f64::from(actual) / 256.0 - value).abs() <= 0.01,
                Expected::Rate(_) => true,
            };
            if !same {
                wrong.push(format!("{key} is {actual}, not {value:?}"));
            }
        }
        wrong
    }
}

/// Expectations met and all there are, by controller.
fn play_all<S: Stack>() -> BTreeMap<String, (u32, u32)> {
    let (mut counts, mut failures) = (BTreeMap::<String, (u32, u32)>::new(), Vec::new());
    for path in trace::files() {
        let mut params: Option<Params> = None;
        let mut player: Option<Player<S>> = None;
        let mut name = String::new();
        for (line, command) in trace::commands(&path) {
            match &command {
                Command::Controller(controller) => {
                    name.clone_from(controller);
                    // The stacks tell of a mark, but not of how many.
                    let controller = Some(find(controller).unwrap()).filter(|c| !c.counts_marks());
                    params = controller.map(Params::new);
                    player = None;
                }
                _ if params.is_none() => {}
                Command::Set { name, value } => params.as_mut().unwrap().set(name, *value).unwrap(),
                Command::Conn { cwnd, ssthresh, clamp, mss, una, flight } => {
                    let conn = Conn {
                        now_us: START_US,
                        snd_cwnd: *cwnd,
                        snd_ssthresh: ssthresh.unwrap_or(INFINITE_SSTHRESH),
                        snd_cwnd_clamp: clamp.unwrap_or(MAX_WINDOW),
                        snd_una: *una,
                        snd_nxt: una.wrapping_add(flight * mss),
                        mss: *mss,
                        is_cwnd_limited: 1,
                        ..Conn::default()
                    };
                    player = Some(Player::new(params.clone().unwrap(), conn));
                }
                Command::Expect(expected) => {
                    let count = counts.entry(name.clone()).or_default();
                    count.1 += 1;
                    if let Some(player) = &player {
                        count.0 += 1;
                        let wrong = player.check(expected);
                        if !wrong.is_empty() {
                            failures.push(format!(
                                "{}:{line}: {}",
                                path.file_name().unwrap().display(),
                                wrong.join(", ")
                            ));
                        }
                    }
                }
                event => {
                    if player.as_mut().is_some_and(|player| player.play(event).is_err()) {
                        player = None;
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    counts
}

/// At least this many percent are met, and some of each controller's. A controller that owns its window reads rates, of which a trace has its own.
fn covers(counts: &BTreeMap<String, (u32, u32)>, least_percent: u32) {
    let of_windows = || counts.iter().filter(|(name, _)| !find(name).unwrap().owns_window());
    let (met, all) = of_windows().fold((0, 0), |(met, all), (_, (m, a))| (met + m, all + a));
    println!("{met} of {all}: {counts:?}");
    assert!(met * 100 >= all * least_percent, "{met} of {all} expectations: {counts:?}");
    for (name, &(met, _)) in of_windows() {
        assert!(met > 0, "{name}");
    }
}

#[test]
fn traces_come_out_in_quinn() {
    covers(&play_all::<OverQuinn>(), 51);
}

#[test]
fn traces_come_out_in_noq() {
    covers(&play_all::<OverNoq>(), 53);
}
