// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem conform`: a stack's log of its controller's calls, replayed.

use std::{
    io::{BufRead, BufReader, stdin},
    path::PathBuf,
    sync::Arc,
};

use anyhow::Context;
use serde::Deserialize;
use tandem_controllers::{Ack, Conn, INFINITE_SSTHRESH, Instance, MAX_WINDOW, Params, State};
use tandem_scenario::{CongestionControl, ControllerSpec, Settings, bounded};

use crate::{Failure, output::print};

/// Departures that are shown; the others are counted.
const SHOWN: usize = 10;
/// The log may be as long as it likes, but not a line of it.
const LINE_BYTES: u64 = 1_000_000;

/// Play a stack's log of ACK events against a controller, and say where it departs
///
/// The log has one JSON object a line; docs/embedding.md describes it. Exit status 1 if the stack and the controller differ.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tandem conform stack.jsonl --controller compound_tube
  ./host | tandem conform - --controller compound@gamma=20")]
pub struct Args {
    /// The log; `-`: standard input
    file: PathBuf,

    /// The controller that the stack says it runs, with parameters if it has others than the defaults
    #[arg(long, value_name = "CONTROLLER")]
    controller: ControllerSpec,
}

/// What the host shows of the connection before a call. What is left out stays as it was.
#[derive(Debug, Default, Deserialize)]
struct Shown {
    now_us: Option<u64>,
    una: Option<u32>,
    nxt: Option<u32>,
    limited: Option<bool>,
}

/// The connection after a call, as the log has it. What is left out is not compared.
#[derive(Debug, Default, Deserialize)]
struct Expected {
    cwnd: Option<u32>,
    ssthresh: Option<u32>,
    pacing_bytes_per_s: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Event {
    Init {
        cwnd: u32,
        ssthresh: Option<u32>,
        clamp: Option<u32>,
        mss: u32,
        #[serde(flatten)]
        shown: Shown,
    },
    Ack {
        packets: u32,
        #[serde(default)]
        rtt_us: u32,
        grow: Option<bool>,
        #[serde(default)]
        delivered: u32,
        #[serde(default)]
        prior_delivered: u32,
        #[serde(default)]
        interval_us: u32,
        #[serde(default)]
        app_limited: bool,
        #[serde(default)]
        in_flight: u32,
        #[serde(default)]
        lost: u32,
        #[serde(default)]
        marked: u32,
        #[serde(flatten)]
        shown: Shown,
        #[serde(flatten)]
        expected: Expected,
    },
    Ssthresh {
        #[serde(default)]
        for_mark: bool,
        #[serde(flatten)]
        shown: Shown,
        #[serde(flatten)]
        expected: Expected,
    },
    State {
        state: StateName,
        #[serde(flatten)]
        shown: Shown,
        #[serde(flatten)]
        expected: Expected,
    },
    Restart {
        #[serde(flatten)]
        shown: Shown,
        #[serde(flatten)]
        expected: Expected,
    },
    Undo {
        #[serde(flatten)]
        shown: Shown,
        #[serde(flatten)]
        expected: Expected,
    },
    /// The host changes values by itself.
    Window { cwnd: Option<u32>, ssthresh: Option<u32>, mss: Option<u32> },
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StateName {
    Open,
    Disorder,
    Cwr,
    Recovery,
    Loss,
}

impl From<StateName> for State {
    fn from(name: StateName) -> Self {
        match name {
            StateName::Open => State::Open,
            StateName::Disorder => State::Disorder,
            StateName::Cwr => State::Cwr,
            StateName::Recovery => State::Recovery,
            StateName::Loss => State::Loss,
        }
    }
}

struct Replay {
    params: Arc<Params>,
    controller: Instance,
    conn: Conn,
    state: State,
}

impl Replay {
    fn begin(params: &Arc<Params>, event: &Event) -> Result<Self, String> {
        let Event::Init { cwnd, ssthresh, clamp, mss, shown } = event else {
            return Err("the first event must be `init`".into());
        };
        if *cwnd == 0 || *cwnd > MAX_WINDOW || *mss == 0 {
            return Err(format!("`init` needs a cwnd of 1 to {MAX_WINDOW} packets, and an mss above 0"));
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
        Ok(Self { params: params.clone(), controller, conn, state: State::Open })
    }

    /// Carries an event out. Returns how the log departs from the controller, empty if it does not.
    fn play(&mut self, event: &Event) -> Result<String, String> {
        let Self { controller, conn, state, .. } = self;
        match event {
            Event::Init { .. } => {
                *self = Self::begin(&self.params, event)?;
                Ok(String::new())
            }
            Event::Ack { packets, rtt_us, grow, shown, expected, .. } => {
                shown.show(conn);
                let ack = Ack { pkts_acked: *packets, rtt_us: *rtt_us, ..event.rate() };
                controller.pkts_acked(conn, &ack);
                if *packets > 0 && grow.unwrap_or(!matches!(state, State::Cwr | State::Recovery)) {
                    controller.cong_avoid(conn, *packets);
                }
                Ok(expected.compare(conn))
            }
            Event::Ssthresh { for_mark, shown, expected } => {
                shown.show(conn);
                conn.snd_cwnd_cnt = 0;
                conn.for_mark = u32::from(*for_mark);
                conn.snd_ssthresh = controller.ssthresh(conn);
                conn.for_mark = 0;
                Ok(expected.compare(conn))
            }
            Event::State { state: next, shown, expected } => {
                shown.show(conn);
                *state = (*next).into();
                controller.set_state(conn, *state);
                Ok(expected.compare(conn))
            }
            Event::Restart { shown, expected } => {
                shown.show(conn);
                controller.restart(conn);
                Ok(expected.compare(conn))
            }
            Event::Undo { shown, expected } => {
                shown.show(conn);
                conn.snd_cwnd = controller.undo_cwnd(conn);
                Ok(expected.compare(conn))
            }
            Event::Window { cwnd, ssthresh, mss } => {
                if cwnd.is_some_and(|c| c == 0 || c > MAX_WINDOW) || *mss == Some(0) {
                    return Err(format!("`window` needs a cwnd of 1 to {MAX_WINDOW} packets, and an mss above 0"));
                }
                conn.snd_cwnd = cwnd.unwrap_or(conn.snd_cwnd);
                conn.snd_ssthresh = ssthresh.unwrap_or(conn.snd_ssthresh);
                conn.mss = mss.unwrap_or(conn.mss);
                Ok(String::new())
            }
        }
    }
}

impl Event {
    fn rate(&self) -> Ack {
        let Event::Ack { delivered, prior_delivered, interval_us, app_limited, in_flight, lost, marked, .. } = *self
        else {
            return Ack::default();
        };
        let is_app_limited = app_limited.into();
        Ack { delivered, prior_delivered, interval_us, is_app_limited, in_flight, lost, marked, ..Ack::default() }
    }
}

impl Shown {
    fn show(&self, conn: &mut Conn) {
        conn.now_us = self.now_us.unwrap_or(conn.now_us);
        conn.snd_una = self.una.unwrap_or(conn.snd_una);
        conn.snd_nxt = self.nxt.unwrap_or(conn.snd_nxt);
        conn.is_cwnd_limited = self.limited.map_or(conn.is_cwnd_limited, u32::from);
    }
}

impl Expected {
    /// The departures in words. The connection takes the log's values, so that one departure is not reported again and again.
    fn compare(&self, conn: &mut Conn) -> String {
        let mut words = Vec::new();
        let mut take = |name: &str, own: u64, logged: Option<u64>| match logged {
            Some(logged) if logged != own => {
                words.push(format!("{name} is {own}, the log has {logged}"));
                logged
            }
            _ => own,
        };
        conn.snd_cwnd = take("cwnd", conn.snd_cwnd.into(), self.cwnd.map(u64::from)).clamp(1, MAX_WINDOW.into()) as u32;
        conn.snd_ssthresh = take("ssthresh", conn.snd_ssthresh.into(), self.ssthresh.map(u64::from)) as u32;
        take("pacing_bytes_per_s", conn.pacing_bytes_per_s, self.pacing_bytes_per_s);
        words.join(", ")
    }
}

pub fn conform(args: &Args) -> Result<(), Failure> {
    let CongestionControl::Tandem(params) = args.controller.with(&Settings::default()) else {
        return Err(Failure::usage(format!(
            "`{}` is the kernel's own: name one of `tandem list controllers`",
            args.controller
        )));
    };
    let name = if args.file.as_os_str() == "-" { "standard input".into() } else { args.file.display().to_string() };
    let lines: Box<dyn BufRead> = match &*name {
        "standard input" => Box::new(BufReader::new(stdin())),
        _ => Box::new(BufReader::new(
            bounded::open(&args.file, u64::MAX).map_err(|e| Failure::usage(format!("{name}: cannot be read: {e}")))?,
        )),
    };
    let (mut replay, mut events, mut departures) = (None::<Replay>, 0u64, 0usize);
    for (number, line) in bounded::lines(lines, LINE_BYTES).enumerate() {
        let line = line.with_context(|| format!("{name}:{}: cannot be read", number + 1))?;
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |e: String| Failure::usage(format!("{name}:{}: {e}", number + 1));
        let event: Event = serde_json::from_str(&line).map_err(|e| wrong(e.to_string()))?;
        events += 1;
        let departure = match &mut replay {
            None => {
                replay = Some(Replay::begin(&params, &event).map_err(wrong)?);
                continue;
            }
            Some(replay) => replay.play(&event).map_err(wrong)?,
        };
        if !departure.is_empty() {
            departures += 1;
            if departures <= SHOWN {
                print(&format!("{name}:{}: {departure}\n", number + 1))?;
            }
        }
    }
    if events == 0 {
        return Err(Failure::usage(format!("{name}: the log is empty: its first line must be an `init` event")));
    }
    if departures > 0 {
        return Err(Failure::Failed(anyhow::anyhow!(
            "{departures} of {events} events depart from `{}`",
            args.controller
        )));
    }
    print(&format!("{events} events: none departs from {}\n", args.controller))
}
