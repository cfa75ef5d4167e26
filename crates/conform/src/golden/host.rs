// SPDX-License-Identifier: MIT OR Apache-2.0
//! The smallest host that keeps the contract: it plays a golden trace's commands on one connection.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use tandem_controllers::{
    Ack, Conn, INFINITE_SSTHRESH, Instance, MAX_WINDOW, NamedError, Params, ParamsError, Reason, State, View,
    own::named,
};

use super::{Command, Expected, Rate};
use crate::contract::Contract;

/// When a connection begins: any time will do.
const START_US: u64 = 1_000_000;

/// Why a command is not carried out, or an expectation not met.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlayError {
    /// No controller has the name.
    #[error(transparent)]
    Controller(#[from] NamedError),
    /// The parameter cannot be set so.
    #[error(transparent)]
    Parameter(#[from] ParamsError),
    /// No controller has been named.
    #[error("`controller` is missing")]
    NoController,
    /// No connection has begun.
    #[error("`conn` is missing")]
    NoConnection,
    /// The connection has begun.
    #[error("`set` must precede `conn`")]
    LateSet,
    /// An ACK is for packets that have not been sent.
    #[error("{packets} packets acknowledged, {in_flight} in flight")]
    TooManyAcknowledged {
        /// By the ACK.
        packets: u32,
        /// Before it, packets.
        in_flight: u32,
    },
    /// What has another value, in words.
    #[error("{}", .0.join(", "))]
    Unmet(Vec<String>),
}

/// Plays commands. It has at most one connection, which the last `conn` began.
pub struct Host<C = Instance> {
    /// What paths of headers are relative to.
    folder: PathBuf,
    params: Option<Params>,
    flow: Option<Flow<C>>,
}

struct Flow<C> {
    controller: C,
    conn: Conn,
    state: State,
    /// The threshold before the last reduction, which an undo brings back.
    prior_ssthresh: u32,
    /// Packets that the application keeps in flight at most.
    app_flight: Option<u32>,
    /// The controller sets the window in recovery too.
    owns_window: bool,
    counts_marks: bool,
    /// Packets since the connection began.
    delivered: u32,
}

impl<C> Default for Host<C> {
    fn default() -> Self {
        Self::beside(Path::new(""))
    }
}

impl<C> Host<C> {
    /// A host of a trace in this folder, beside which the headers are that it names. It has no connection yet.
    pub fn beside(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), params: None, flow: None }
    }
}

impl<C: Contract> Host<C> {
    /// A host with a connection that begins with `window` packets of `mss` bytes at the sequence number `una`.
    ///
    /// # Panics
    /// If the controller is one that the host cannot begin.
    pub fn begin(params: &Params, window: u32, mss: u32, una: u32) -> Self {
        let mut host = Self { params: Some(params.clone()), ..Self::default() };
        let conn = Command::Conn { cwnd: window, ssthresh: None, clamp: None, mss, una, flight: 0 };
        host.play(&conn).expect("the parameters are there");
        host
    }

    /// Carries one command out; an unmet expectation is an error.
    ///
    /// # Errors
    /// What is not as expected, or cannot be done now.
    pub fn play(&mut self, command: &Command) -> Result<(), PlayError> {
        match command {
            Command::Controller(name) => {
                self.params = Some(Params::new(named(name, &self.folder)?));
                self.flow = None;
                Ok(())
            }
            Command::Set { name, value } => {
                if self.flow.is_some() {
                    return Err(PlayError::LateSet);
                }
                let params = self.params.as_mut().ok_or(PlayError::NoController)?;
                Ok(params.set(name, *value)?)
            }
            Command::Conn { cwnd, ssthresh, clamp, mss, una, flight } => {
                let params = self.params.clone().ok_or(PlayError::NoController)?;
                let conn = Conn {
                    now_us: START_US,
                    snd_cwnd: *cwnd,
                    snd_cwnd_cnt: 0,
                    snd_ssthresh: ssthresh.unwrap_or(INFINITE_SSTHRESH),
                    snd_cwnd_clamp: clamp.unwrap_or(MAX_WINDOW),
                    snd_una: *una,
                    snd_nxt: una.wrapping_add(flight.wrapping_mul(*mss)),
                    mss: *mss,
                    is_cwnd_limited: 1,
                    ..Conn::default()
                };
                self.flow = Some(Flow::new(params, conn));
                Ok(())
            }
            other => self.flow.as_mut().ok_or(PlayError::NoConnection)?.play(other),
        }
    }

    /// The connection.
    ///
    /// # Panics
    /// Before the first `conn`.
    pub fn conn(&self) -> &Conn {
        &self.flow.as_ref().expect("a connection has begun").conn
    }

    /// The figures that the controller shows of itself.
    ///
    /// # Panics
    /// Before the first `conn`.
    pub fn view(&self) -> View {
        let flow = self.flow.as_ref().expect("a connection has begun");
        flow.controller.view(&flow.conn)
    }

    /// The connection's controller; `None` before the first `conn`.
    pub fn controller(&self) -> Option<&C> {
        self.flow.as_ref().map(|flow| &flow.controller)
    }

    /// Packets in flight.
    ///
    /// # Panics
    /// Before the first `conn`.
    pub fn flight(&self) -> u32 {
        self.flow.as_ref().expect("a connection has begun").flight()
    }
}

impl<C: Contract> Flow<C> {
    fn new(params: Params, mut conn: Conn) -> Self {
        let (owns_window, counts_marks) = (params.controller().owns_window(), params.controller().counts_marks());
        let controller = C::new(&Arc::new(params), &mut conn);
        let (state, prior_ssthresh, app_flight, delivered) = (State::Open, 0, None, 0);
        let mut flow =
            Self { controller, conn, state, prior_ssthresh, app_flight, owns_window, counts_marks, delivered };
        flow.send();
        flow
    }

    fn flight(&self) -> u32 {
        self.conn.snd_nxt.wrapping_sub(self.conn.snd_una) / self.conn.mss
    }

    /// Sends what the window and the application allow.
    fn send(&mut self) {
        let allowed = self.conn.snd_cwnd.min(self.app_flight.unwrap_or(u32::MAX));
        if allowed > self.flight() {
            self.conn.snd_nxt = self.conn.snd_una.wrapping_add(allowed.wrapping_mul(self.conn.mss));
        }
    }

    fn play(&mut self, command: &Command) -> Result<(), PlayError> {
        match *command {
            Command::Ack { packets, rtt_us, times, gap_us, rate } => {
                for _ in 0..times {
                    self.conn.now_us += u64::from(gap_us);
                    self.ack(packets, rtt_us, rate)?;
                }
            }
            Command::Round { rtt_us, by, times } => {
                for _ in 0..times {
                    self.round(rtt_us, by)?;
                }
            }
            Command::Loss => self.reduce(State::Recovery),
            Command::Ecn => self.reduce(State::Cwr),
            Command::Timeout => self.reduce(State::Loss),
            Command::Recovered => {
                if self.state != State::Loss && !self.owns_window {
                    self.conn.snd_cwnd = self.conn.snd_ssthresh;
                }
                self.enter(State::Open);
            }
            Command::Undo => {
                self.conn.snd_cwnd = self.controller.undo_cwnd(&self.conn);
                self.conn.snd_ssthresh = self.conn.snd_ssthresh.max(self.prior_ssthresh);
                self.enter(State::Open);
            }
            Command::Disorder => self.enter(State::Disorder),
            Command::Restart { cwnd } => {
                self.conn.snd_una = self.conn.snd_nxt;
                self.conn.snd_cwnd = cwnd;
                self.controller.restart(&mut self.conn);
            }
            Command::App { flight } => {
                self.app_flight = Some(flight);
                self.conn.is_cwnd_limited = 0;
            }
            Command::Bulk => {
                self.app_flight = None;
                self.conn.is_cwnd_limited = 1;
            }
            Command::Wait { us } => self.conn.now_us += u64::from(us),
            Command::Host { cwnd, ssthresh, clamp } => {
                self.conn.snd_cwnd = cwnd.unwrap_or(self.conn.snd_cwnd);
                self.conn.snd_ssthresh = ssthresh.unwrap_or(self.conn.snd_ssthresh);
                self.conn.snd_cwnd_clamp = clamp.unwrap_or(self.conn.snd_cwnd_clamp);
            }
            Command::Expect(ref expected) => return self.check(expected),
            Command::Controller(_) | Command::Set { .. } | Command::Conn { .. } => unreachable!("played by Host"),
        }
        self.send();
        Ok(())
    }

    /// All that is in flight is acknowledged, `by` packets at a time, evenly over an RTT.
    fn round(&mut self, rtt_us: u32, by: u32) -> Result<(), PlayError> {
        let (start_us, flight) = (self.conn.now_us, self.flight());
        let mut left = flight;
        while left > 0 {
            let packets = left.min(by);
            left -= packets;
            let passed_us = u64::from(rtt_us) * u64::from(flight - left) / u64::from(flight);
            self.conn.now_us = start_us + passed_us;
            // In a packet's round trip all that was in flight when it was sent is delivered, and itself.
            let delivered = flight.min(self.delivered + packets);
            self.ack(packets, rtt_us, Rate { delivered, interval_us: rtt_us, ..Rate::default() })?;
        }
        Ok(())
    }

    fn ack(&mut self, packets: u32, rtt_us: u32, rate: Rate) -> Result<(), PlayError> {
        if packets > self.flight() {
            return Err(PlayError::TooManyAcknowledged { packets, in_flight: self.flight() });
        }
        self.conn.snd_una = self.conn.snd_una.wrapping_add(packets.wrapping_mul(self.conn.mss));
        self.delivered = self.delivered.wrapping_add(packets);
        let delivered = self.delivered;
        let mut ack = Ack { pkts_acked: packets, rtt_us, delivered, acked_sacked: packets, ..Ack::default() };
        if self.owns_window {
            ack = Ack {
                prior_delivered: self.delivered.wrapping_sub(rate.delivered),
                interval_us: rate.interval_us,
                is_app_limited: self.app_flight.is_some().into(),
                in_flight: self.flight().saturating_sub(rate.lost),
                lost: rate.lost,
                ..ack
            };
        }
        if self.counts_marks {
            ack.marked = rate.marked;
        }
        self.controller.pkts_acked(&mut self.conn, &ack);
        if !matches!(self.state, State::Cwr | State::Recovery) {
            self.controller.cong_avoid(&mut self.conn, packets);
        }
        self.send();
        Ok(())
    }

    fn reduce(&mut self, to: State) {
        self.conn.snd_cwnd_cnt = 0;
        if self.state <= State::Disorder {
            self.prior_ssthresh = self.conn.snd_ssthresh;
            let reason = if to == State::Cwr { Reason::Mark } else { Reason::Loss };
            self.conn.snd_ssthresh = self.controller.ssthresh(&self.conn, reason);
        }
        if to == State::Loss {
            self.conn.snd_cwnd = 1;
        } else if !self.owns_window {
            self.conn.snd_cwnd = self.conn.snd_ssthresh;
        }
        self.enter(to);
    }

    fn enter(&mut self, state: State) {
        self.controller.set_state(&mut self.conn, state);
        self.state = state;
    }

    fn check(&self, expected: &[(String, Expected)]) -> Result<(), PlayError> {
        let wrong: Vec<String> = expected.iter().filter_map(|(key, value)| self.differs(key, *value).err()).collect();
        if wrong.is_empty() { Ok(()) } else { Err(PlayError::Unmet(wrong)) }
    }

    fn differs(&self, key: &str, expected: Expected) -> Result<(), String> {
        let View { loss_window, delay_window, gamma_q8, diff_q8, base_rtt_us, .. } = self.controller.view(&self.conn);
        let actual = match key {
            "cwnd" => self.conn.snd_cwnd,
            "cnt" => self.conn.snd_cwnd_cnt,
            "ssthresh" => self.conn.snd_ssthresh,
            "flight" => self.flight(),
            "loss" => loss_window,
            "delay" => delay_window,
            "base" => base_rtt_us,
            "gamma" => gamma_q8,
            "diff" => diff_q8,
            "rate" => u32::try_from(self.conn.pacing_bytes_per_s).unwrap_or(u32::MAX),
            _ => return Err(format!("`{key}` cannot be expected")),
        };
        let (same, shown) = match expected {
            Expected::Whole(value) => (actual == value, actual.to_string()),
            Expected::Rate(value) => (actual.abs_diff(value) <= value / 1000, actual.to_string()),
            Expected::Fraction(value) => {
                let actual = f64::from(actual) / 256.0;
                ((actual - value).abs() <= 0.01, actual.to_string())
            }
        };
        if same { Ok(()) } else { Err(format!("{key} is {shown}")) }
    }
}
