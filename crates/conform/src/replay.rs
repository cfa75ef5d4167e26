// SPDX-License-Identifier: MIT OR Apache-2.0
//! The controller, called as the log says.

use std::{collections::BTreeMap, sync::Arc};

use tandem_controllers::{
    Ack, Conn, Controller, INFINITE_SSTHRESH, Instance, MAX_WINDOW, Params, Reading, Reason, State,
};

use crate::event::{Event, Expected, Probed, Rate};

/// Why an event cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// There is no connection yet.
    #[error("the first event must be `init`")]
    NoInit,
    /// The connection would begin with values that are none.
    #[error("`init` needs a cwnd of 1 to {MAX_WINDOW} packets, and an mss above 0")]
    BadInit,
    /// The host sets values that are none.
    #[error("`window` needs a cwnd and a clamp of 1 to {MAX_WINDOW} packets, and an mss above 0")]
    BadWindow,
    /// The log names a probe that the controller lacks.
    #[error("`{controller}` has no probe `{name}`; it has: {}", known.join(", "))]
    NoProbe {
        /// The controller's name.
        controller: String,
        /// As it is logged.
        name: String,
        /// Those that it has.
        known: Vec<String>,
    },
}

#[derive(Clone)]
pub struct Replay {
    kind: &'static Controller,
    controller: Instance,
    pub conn: Conn,
    state: State,
    /// Packets, as far as the log has told.
    delivered: u32,
}

/// What came of an event: how many values were compared, and how the log departs from the controller, if it does.
#[derive(Default)]
pub struct Outcome {
    pub compared: u64,
    pub departure: Option<String>,
}

impl Replay {
    pub fn begin(params: &Arc<Params>, event: &Event) -> Result<Self, EventError> {
        let Event::Init { cwnd, ssthresh, clamp, mss, shown } = event else {
            return Err(EventError::NoInit);
        };
        if *cwnd == 0 || *cwnd > MAX_WINDOW || *mss == 0 {
            return Err(EventError::BadInit);
        }
        let mut conn = Conn {
            snd_cwnd: *cwnd,
            snd_ssthresh: ssthresh.unwrap_or(INFINITE_SSTHRESH),
            snd_cwnd_clamp: clamp.unwrap_or(MAX_WINDOW).clamp(1, MAX_WINDOW),
            mss: *mss,
            is_cwnd_limited: 1,
            ..Conn::default()
        };
        shown.show(&mut conn);
        let controller = Instance::new(params, &mut conn);
        Ok(Self { kind: params.controller(), controller, conn, state: State::Open, delivered: 0 })
    }

    /// Carries an event out that is no `init`.
    pub fn play(&mut self, event: &Event) -> Result<Outcome, EventError> {
        let Self { kind, controller, conn, state, delivered } = self;
        if let Some(shown) = event.shown() {
            shown.show(conn);
        }
        match event {
            Event::Init { .. } => unreachable!("an `init` begins another replay"),
            Event::Ack { packets, rtt_us, grow, rate, probes, expected, .. } => {
                let ack = rate.ack(*packets, *rtt_us, *delivered);
                *delivered = ack.delivered;
                controller.pkts_acked(conn, &ack);
                if *packets > 0 && grow.unwrap_or(!is_reducing(*state)) {
                    controller.cong_avoid(conn, *packets);
                }
                let shown = compare_probes(kind, controller, conn, probes)?;
                Ok(expected.compare(conn).and(shown))
            }
            Event::Grow { packets, expected, .. } => {
                controller.cong_avoid(conn, *packets);
                Ok(expected.compare(conn))
            }
            Event::Ssthresh { for_mark, expected, .. } => {
                conn.snd_cwnd_cnt = 0;
                let reason = if *for_mark { Reason::Mark } else { Reason::Loss };
                conn.snd_ssthresh = controller.ssthresh(conn, reason);
                Ok(expected.compare(conn))
            }
            Event::State { state: next, expected, .. } => {
                *state = (*next).into();
                controller.set_state(conn, *state);
                Ok(expected.compare(conn))
            }
            Event::Restart { expected, .. } => {
                controller.restart(conn);
                Ok(expected.compare(conn))
            }
            Event::Undo { expected, .. } => {
                conn.snd_cwnd = controller.undo_cwnd(conn);
                Ok(expected.compare(conn))
            }
            Event::Window { cwnd, ssthresh, cnt, clamp, mss } => {
                let is_window = |packets: u32| (1..=MAX_WINDOW).contains(&packets);
                if ![cwnd, clamp].into_iter().flatten().all(|packets| is_window(*packets)) || *mss == Some(0) {
                    return Err(EventError::BadWindow);
                }
                conn.snd_cwnd = cwnd.unwrap_or(conn.snd_cwnd);
                conn.snd_ssthresh = ssthresh.unwrap_or(conn.snd_ssthresh);
                conn.snd_cwnd_cnt = cnt.unwrap_or(conn.snd_cwnd_cnt);
                conn.snd_cwnd_clamp = clamp.unwrap_or(conn.snd_cwnd_clamp);
                conn.mss = mss.unwrap_or(conn.mss);
                Ok(Outcome::default())
            }
        }
    }
}

/// Does the host move the window by itself in this state, and the controller not?
pub fn is_reducing(state: State) -> bool {
    matches!(state, State::Cwr | State::Recovery)
}

impl Outcome {
    /// Of both.
    fn and(self, other: Self) -> Self {
        let words: Vec<String> = [self.departure, other.departure].into_iter().flatten().collect();
        let departure = (!words.is_empty()).then(|| words.join(", "));
        Self { compared: self.compared + other.compared, departure }
    }
}

/// The probes that the log has, beside the controller's. A log may round to six digits.
fn compare_probes(
    kind: &Controller,
    controller: &Instance,
    conn: &Conn,
    logged: &BTreeMap<String, Probed>,
) -> Result<Outcome, EventError> {
    if logged.is_empty() {
        return Ok(Outcome::default());
    }
    let known: Vec<_> = kind.all_probes().collect();
    let mut raw = vec![0; known.len()];
    controller.read_probes(conn, &mut raw);
    let mut words = Vec::new();
    for (name, logged) in logged {
        let Some(place) = known.iter().position(|probe| probe.name == name) else {
            return Err(EventError::NoProbe {
                controller: kind.name.to_owned(),
                name: name.clone(),
                known: known.iter().map(|probe| probe.name.to_owned()).collect(),
            });
        };
        let own = known[place].read(raw[place]);
        let is_same = match (own, logged) {
            (Some(Reading::Number(own)), Probed::Number(logged)) => (own - logged).abs() <= 1e-5 * own.abs(),
            (Some(Reading::Word(own)), Probed::Word(logged)) => own == logged,
            (own, logged) => own.is_none() && *logged == Probed::Nothing,
        };
        if !is_same {
            let own = own.map_or("null".to_owned(), |own| own.to_string());
            let logged = match logged {
                Probed::Number(value) => value.to_string(),
                Probed::Word(word) => word.clone(),
                Probed::Nothing => "null".into(),
            };
            words.push(format!("{name} is {own}, the log has {logged}"));
        }
    }
    let departure = (!words.is_empty()).then(|| words.join(", "));
    Ok(Outcome { compared: logged.len() as u64, departure })
}

impl Rate {
    fn ack(self, pkts_acked: u32, rtt_us: u32, delivered_before: u32) -> Ack {
        let acked_sacked = self.acked_sacked.unwrap_or(pkts_acked);
        Ack {
            pkts_acked,
            rtt_us,
            delivered: self.delivered.unwrap_or(delivered_before.wrapping_add(acked_sacked)),
            acked_sacked,
            prior_delivered: self.prior_delivered,
            interval_us: self.interval_us,
            is_app_limited: self.app_limited.into(),
            in_flight: self.in_flight,
            lost: self.lost,
            marked: self.marked,
        }
    }
}

impl Expected {
    /// The departures in words. The connection takes the log's values, so that one departure is not reported again and again.
    fn compare(&self, conn: &mut Conn) -> Outcome {
        let (mut words, mut compared) = (Vec::new(), 0);
        let mut take = |name: &str, own: u64, logged: Option<u64>| {
            let Some(logged) = logged else { return own };
            compared += 1;
            if logged != own {
                words.push(format!("{name} is {own}, the log has {logged}"));
            }
            logged
        };
        conn.snd_cwnd = take("cwnd", conn.snd_cwnd.into(), self.cwnd.map(u64::from)).clamp(1, MAX_WINDOW.into()) as u32;
        conn.snd_ssthresh = take("ssthresh", conn.snd_ssthresh.into(), self.ssthresh.map(u64::from)) as u32;
        take("pacing_bytes_per_s", conn.pacing_bytes_per_s, self.pacing_bytes_per_s);
        Outcome { compared, departure: (!words.is_empty()).then(|| words.join(", ")) }
    }
}
