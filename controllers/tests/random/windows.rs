// SPDX-License-Identifier: MIT OR Apache-2.0
//! The integer controllers and their oracles side by side on random connections through a simple bottleneck.

use proptest::{prelude::*, test_runner::TestCaseError};
use serde::{Deserialize, Serialize};
use tandem_controllers::{MAX_RTT_US, Params};
use tandem_testing::trace::{Command, Host, Rate};

use crate::{
    cases::Case,
    oracle::{Ack, Reduction, Reference, TheirSide, Windows},
};

const MSS: u32 = 1448;
/// Longer than any retransmission timeout here.
const IDLE_US: u32 = 3_000_000;

/// A bottleneck: what exceeds the BDP queues, what exceeds the buffer is lost. Packets.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Path {
    pub base_rtt_us: u32,
    pub bdp: u32,
    pub buffer: u32,
    pub jitter_us: u32,
}

impl Path {
    /// With `others` packets of other flows in the queue; the jitter only has to be irregular.
    fn rtt_us(&self, flight: u32, others: u32, packet: u64) -> u32 {
        let queue = (flight + others).saturating_sub(self.bdp);
        let irregular = (packet.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u32;
        let queueing_us = u64::from(self.base_rtt_us) * u64::from(queue) / u64::from(self.bdp);
        let irregular_us = u64::from(irregular % (self.jitter_us + 1));
        // What is longer counts as this much.
        (u64::from(self.base_rtt_us) + queueing_us + irregular_us).min(MAX_RTT_US.into()) as u32
    }

    /// How many of the packets of an ACK the queue has marked: all of them where it is above a quarter of the buffer.
    fn marks(&self, packets: u32, flight: u32, others: u32) -> u32 {
        if flight + others > self.bdp + self.buffer / 4 { packets } else { 0 }
    }

    fn overflows(&self, flight: u32, others: u32) -> bool {
        flight + others > self.bdp + self.buffer
    }
}

/// What a view keeps in 1/256 packets.
fn packets_of(q8: u32) -> f64 {
    f64::from(q8) / 256.0
}

/// What happens on the path.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Step {
    /// Rounds with ACKs of `by` packets while others keep `others` packets in the queue; what overflows is a loss.
    Rounds {
        count: u32,
        by: u32,
        others: u32,
    },
    Loss,
    Ecn,
    Timeout,
    SpuriousLoss,
    SpuriousTimeout,
    Idle {
        window: u32,
    },
    /// The application keeps `flight` packets in flight at most.
    Application {
        flight: u32,
        rounds: u32,
    },
}

struct Pair {
    host: Host,
    reference: Box<dyn Reference>,
    path: Path,
    low_window: f64,
    una: u64,
    /// ACKs on which the two were compared.
    acks: u64,
    /// How often the reference was set to the integer controller's windows.
    adoptions: u32,
    window_limited: bool,
    /// Where growth began that multiplies differences, packets.
    epoch_window: f64,
}

impl Pair {
    /// `reference` gives the oracle's side, as [`Kind::Windows`](crate::oracle::Kind) has it.
    fn new(params: &Params, reference: fn(&Params, f64, f64) -> Box<dyn Reference>, path: Path, window: u32) -> Self {
        let host = Host::begin(params, window, MSS, u32::MAX);
        let low_window = params.get("low_window").unwrap_or(0.0);
        let reference = reference(params, f64::from(window), host.conn().now_us as f64);
        Self {
            host,
            reference,
            path,
            low_window,
            una: 0,
            acks: 0,
            adoptions: 0,
            window_limited: true,
            epoch_window: 1.0,
        }
    }

    fn play(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Rounds { count, by, others } => {
                for _ in 0..count {
                    self.round(by, others)?;
                    if self.path.overflows(self.host.flight(), others) {
                        self.loss(Command::Loss)?;
                    }
                }
            }
            Step::Loss => self.loss(Command::Loss)?,
            Step::Ecn => self.loss(Command::Ecn)?,
            Step::Timeout => self.timeout()?,
            Step::SpuriousLoss => self.undone(Command::Loss)?,
            Step::SpuriousTimeout => self.undone(Command::Timeout)?,
            Step::Idle { window } => {
                let window = window.min(self.host.conn().snd_cwnd);
                self.una = self.nxt();
                self.command(Command::Wait { us: IDLE_US });
                self.command(Command::Restart { cwnd: window });
                self.reference.restart(f64::from(window), self.una);
                self.compare()?;
                self.adopt();
            }
            Step::Application { flight, rounds } => {
                self.command(Command::App { flight });
                self.window_limited = false;
                for _ in 0..rounds {
                    self.round(1, 0)?;
                }
                self.command(Command::Bulk);
                self.window_limited = true;
            }
        }
        Ok(())
    }

    fn nxt(&self) -> u64 {
        self.una + u64::from(self.host.flight())
    }

    fn command(&mut self, command: Command) {
        self.host.play(&command).unwrap_or_else(|e| panic!("{command:?}: {e}"));
        self.reference.clock(self.host.conn().now_us as f64);
    }

    fn round(&mut self, by: u32, others: u32) -> Result<(), TestCaseError> {
        let mut left = self.host.flight();
        while left > 0 {
            let packets = left.min(by);
            let flight = self.host.flight();
            let rtt_us = self.path.rtt_us(flight, others, self.una);
            self.ack(packets, rtt_us, self.path.marks(packets, flight, others))?;
            left -= packets;
        }
        Ok(())
    }

    /// An ACK on which the window may grow.
    fn ack(&mut self, packets: u32, rtt_us: u32, marked: u32) -> Result<(), TestCaseError> {
        let nxt = self.nxt();
        let before = *self.host.conn();
        // A window a round-trip time.
        let gap_us = rtt_us / self.host.flight().max(1) * packets;
        self.command(Command::Ack { packets, rtt_us, times: 1, gap_us, rate: Rate { marked, ..Rate::default() } });
        self.una += u64::from(packets);
        self.acks += 1;
        let view = self.host.view();
        let their_side = TheirSide {
            window: before.snd_cwnd.into(),
            window_after: self.host.conn().snd_cwnd.into(),
            delay: view.delay_window.into(),
            diff: packets_of(view.diff_q8),
            gamma: packets_of(view.gamma_q8),
            up_to_low_window: f64::from(before.snd_cwnd) <= self.low_window,
            slow_start: before.snd_cwnd < before.snd_ssthresh,
        };
        let ack = Ack {
            acked: f64::from(packets),
            marked: f64::from(marked),
            rtt_us: (rtt_us > 0).then_some(f64::from(rtt_us)),
            una: self.una,
            nxt,
            window_limited: self.window_limited,
        };
        self.reference.ack(&ack, their_side);
        self.compare()?;
        if self.host.conn().snd_cwnd < before.snd_cwnd {
            self.adopt();
        }
        Ok(())
    }

    /// ACKs on which no window may grow, with RTTs that would do much if they mattered.
    fn recovery_acks(&mut self, packets: u32) {
        for i in 0..packets {
            let rtt_us = if i % 2 == 0 { 1 } else { 10_000_000 };
            let nxt = self.nxt();
            self.command(Command::Ack { packets: 1, rtt_us, times: 1, gap_us: 0, rate: Rate::default() });
            self.una += 1;
            self.reference.recovery_ack(1.0, self.una, nxt);
            self.reference.recovery_sample(rtt_us.into());
        }
    }

    fn reduce(&mut self, command: Command) -> Result<(), TestCaseError> {
        let to = match command {
            Command::Timeout => Reduction::Timeout,
            Command::Ecn => Reduction::Mark,
            _ => Reduction::Recovery,
        };
        let their_window = f64::from(self.host.conn().snd_cwnd);
        self.command(command);
        self.reference.reduce(to, their_window);
        self.compare()?;
        self.adopt();
        Ok(())
    }

    /// After a reduction, which has just been compared, the reference goes on from the integer controller's windows: a
    /// difference of one packet, which rounding makes, would be multiplied by the growth up to the next reduction and,
    /// as the queue answers only the integer controller, again by that up to the one after.
    fn adopt(&mut self) {
        self.adoptions += 1;
        let (conn, view) = (self.host.conn(), self.host.view());
        let windows = Windows { loss: f64::from(view.loss_window), delay: f64::from(view.delay_window) };
        self.epoch_window = f64::from(conn.snd_cwnd).max(self.low_window);
        self.reference.adopt(windows, f64::from(conn.snd_ssthresh));
    }

    fn open(&mut self) -> Result<(), TestCaseError> {
        let nxt = self.nxt();
        self.command(Command::Recovered);
        self.reference.open(self.una, nxt);
        self.compare()
    }

    /// A reduction that turns out to be a mistake: both go back to windows which have already grown apart.
    fn undone(&mut self, command: Command) -> Result<(), TestCaseError> {
        let epoch_window = self.epoch_window;
        // So few that slow start after a timeout stays below the window that undoing brings back: beyond it both would keep
        // what has grown, of which the reference knows nothing. A flight can be many windows where one was just cut.
        let acks = self.host.flight().min(self.host.conn().snd_cwnd) / 3;
        self.reduce(command)?;
        self.recovery_acks(acks);
        let nxt = self.nxt();
        self.command(Command::Undo);
        self.reference.undo(self.una, nxt);
        self.epoch_window = epoch_window;
        self.compare()?;
        self.adopt();
        Ok(())
    }

    fn loss(&mut self, command: Command) -> Result<(), TestCaseError> {
        self.reduce(command)?;
        self.recovery_acks(self.host.flight() / 2);
        self.open()
    }

    /// What was in flight is acknowledged as retransmissions, without samples.
    fn timeout(&mut self) -> Result<(), TestCaseError> {
        self.reduce(Command::Timeout)?;
        for _ in 0..self.host.flight() {
            self.ack(1, 0, 0)?;
        }
        self.open()
    }

    /// Each window has at most one packet of its own under way, which the integers do not show, and in the moment of a
    /// reduction one more is rounded away: [`Reference::rounding`]. Growth multiplies differences as it does the window.
    fn compare(&mut self) -> Result<(), TestCaseError> {
        let (conn, view) = (*self.host.conn(), self.host.view());
        let (windows, shown) = (self.reference.windows(), self.reference.shown());
        if conn.snd_cwnd < conn.snd_ssthresh {
            // Slow start adds whole packets: nothing is multiplied.
            self.epoch_window = f64::from(conn.snd_cwnd).max(self.low_window);
        }
        let allowed = self.reference.rounding() * (windows.total() / self.epoch_window).max(1.0);
        let close = |real: f64, integer: f64, allowed: f64| (real - integer).abs() <= allowed;
        let windows_agree = close(windows.total(), conn.snd_cwnd.into(), allowed)
            && close(windows.loss, view.loss_window.into(), allowed)
            && close(windows.delay, view.delay_window.into(), allowed);
        // Kept in 1/256.
        let (gamma, diff) = (packets_of(view.gamma_q8), packets_of(view.diff_q8));
        let shown_agrees = close(shown.gamma.unwrap_or(0.0), gamma, shown.gamma_margin)
            && close(shown.diff.unwrap_or(0.0), diff, 0.004 + shown.diff_margin)
            && shown.base_rtt_us.unwrap_or(0.0) == f64::from(view.base_rtt_us);
        let agree = windows_agree && shown_agrees;
        prop_assert!(agree, "integers: {:?} {:?}\nreals: {:?} {:?}\nallowed: {}", conn, view, windows, shown, allowed);
        Ok(())
    }
}

/// One case, for a controller whose oracle `reference` gives. Returns how many ACKs were compared.
pub fn play(
    params: &Params,
    reference: fn(&Params, f64, f64) -> Box<dyn Reference>,
    case: &Case,
) -> Result<u64, TestCaseError> {
    let mut pair = Pair::new(params, reference, case.path, case.window);
    case.steps.iter().try_for_each(|step| pair.play(*step))?;
    Ok(pair.acks)
}

/// Growth for so long that whatever an integer drops on each ACK or each round adds up.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    pub base_rtt_us: u32,
    /// Packets an ACK.
    pub by: u32,
    /// Packets before the loss that it begins with.
    pub window: u32,
    pub rounds: u32,
    /// Losses before it, with a few rounds of the empty path after each.
    pub losses: u32,
    /// Packets of other flows in the queue, from then on.
    pub others: u32,
    /// Packets that the reference has to gain at least: otherwise the test would see nothing.
    pub due: f64,
}

impl Growth {
    pub const USUAL: Self =
        Self { base_rtt_us: 20_000, by: 2, window: 400, rounds: 600, losses: 1, others: 0, due: 10.0 };
    /// The path's packets without a queue: enough for any window here.
    pub const BDP: u32 = 1 << 22;
}

/// The reference is set to the integer controller's windows at the losses before the growth, and never again. `Err`: it was, or they
/// have grown apart.
pub fn grow_for_long(
    params: &Params,
    reference: fn(&Params, f64, f64) -> Box<dyn Reference>,
    growth: Growth,
) -> Result<(), TestCaseError> {
    const FAR: u32 = 20_000;
    let Growth { base_rtt_us, by, window, rounds, losses, others, due } = growth;
    let path = Path { base_rtt_us, bdp: Growth::BDP, buffer: Growth::BDP, jitter_us: 0 };
    let mut pair = Pair::new(params, reference, path, window);
    let mut begun = 0.0;
    for _ in 0..losses {
        // No ACKs of the recovery: `cubic` counts their RTTs.
        pair.reduce(Command::Loss)?;
        pair.open()?;
        begun = f64::from(pair.host.conn().snd_cwnd);
        (0..6).try_for_each(|_| pair.round(by, 0))?;
    }
    let adoptions = pair.adoptions;
    for _ in 0..rounds {
        if pair.host.conn().snd_cwnd > FAR {
            break;
        }
        pair.round(by, others)?;
    }
    prop_assert_eq!(
        pair.adoptions,
        adoptions,
        "the reference was set to the integer controller's windows during the growth"
    );
    let (real, integer) = (pair.reference.windows().total(), f64::from(pair.host.conn().snd_cwnd));
    // What rounding does to the window at the beginning is multiplied by growth that is a share of the window.
    let allowed = 1.5 * (real / begun).clamp(1.0, 3.0) + (real - begun).abs() * 0.005;
    prop_assert!(
        (real - integer).abs() <= allowed && real - begun >= due,
        "{growth:?} from {begun}: {integer}, in real numbers {real}, allowed {allowed}"
    );
    Ok(())
}

/// Rounds from one loss to the next, unless the path overflows first.
const LOSS_EVERY: u32 = 800;

/// The integer controller alone on a path: its mean window over time, packets.
pub fn mean_window(params: &Params, path: Path, rounds: u32) -> f64 {
    let mut host: Host = Host::begin(params, 10, MSS, u32::MAX);
    let (begun_us, mut una, mut area) = (host.conn().now_us, 0, 0.0);
    for round in 1..=rounds {
        for _ in 0..host.flight() {
            let flight = host.flight().max(1);
            let rtt_us = path.rtt_us(flight, 0, una);
            let gap_us = rtt_us / flight;
            area += f64::from(host.conn().snd_cwnd) * f64::from(gap_us);
            host.play(&Command::Ack { packets: 1, rtt_us, times: 1, gap_us, rate: Rate::default() }).unwrap();
            una += 1;
        }
        if round % LOSS_EVERY == 0 || path.overflows(host.flight(), 0) {
            host.play(&Command::Loss).unwrap();
            host.play(&Command::Recovered).unwrap();
        }
    }
    area / (host.conn().now_us - begun_us) as f64
}

/// The same of a reference, which knows of no integer controller.
pub fn mean_real_window(mut reference: Box<dyn Reference>, path: Path, rounds: u32) -> f64 {
    let whole = |reference: &dyn Reference| reference.windows().total() as u64;
    let (begun_us, mut area) = (1_000_000_u64, 0.0);
    let (mut una, mut nxt, mut now_us) = (0, whole(&*reference), begun_us);
    for round in 1..=rounds {
        for _ in 0..nxt - una {
            let flight = (nxt - una).max(1) as u32;
            let rtt_us = path.rtt_us(flight, 0, una);
            let gap_us = rtt_us / flight;
            area += whole(&*reference) as f64 * f64::from(gap_us);
            now_us += u64::from(gap_us);
            una += 1;
            reference.clock(now_us as f64);
            let rtt_us = Some(f64::from(rtt_us));
            let ack = Ack { acked: 1.0, marked: 0.0, rtt_us, una, nxt: nxt.max(una), window_limited: true };
            reference.ack(&ack, TheirSide::UNKNOWN);
            nxt = nxt.max(una + whole(&*reference));
        }
        if round % LOSS_EVERY == 0 || path.overflows((nxt - una) as u32, 0) {
            reference.reduce(Reduction::Recovery, f64::NAN);
            reference.open(una, nxt);
        }
    }
    area / (now_us - begun_us) as f64
}
