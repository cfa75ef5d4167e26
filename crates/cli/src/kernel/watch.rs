// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem kernel watch`: the connections that use our controllers, live.

use std::{
    io::{self, IsTerminal},
    net::SocketAddr,
    ops::RangeInclusive,
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::Context;
use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::{
    Frame,
    layout::{Constraint, Layout},
    style::{Style, Stylize},
    text::{Line, Text},
    widgets::{Row, Table, TableState},
};
use serde::Serialize;
use tandem_kernel::{Sample, Watcher};
use tandem_scenario::units::Span;

use super::prometheus::prometheus;
use crate::{failure::Failure, interrupt, terminal::print_to_reader};

const EXAMPLES: &str = "\
Examples:
  tandem kernel watch
  tandem kernel watch --interval 200ms
  tandem kernel watch --json --count 10 > flows.jsonl      one line per connection and interval
  tandem kernel watch --prometheus 127.0.0.1:9847          for Prometheus: the connections of all controllers, summed up";

/// The machine's connections that use our controllers, live, whichever program opened them
///
/// Reads the TCP sockets of each network namespace with an iterator, so the ACK path does no extra work. --prometheus also counts the
/// connections of the kernel's own controllers.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Time between readings; with --prometheus the minimum, because it reads when asked
    #[arg(long, value_name = "TIME", default_value = "1s")]
    interval: Span,

    /// End after this many readings
    #[arg(long, value_name = "N")]
    count: Option<u64>,

    /// One line of JSON per connection and interval, instead of the live table
    #[arg(long)]
    json: bool,

    /// Serve http://ADDRESS/metrics until Ctrl-C: by controller, histograms of RTT, window, goodput and retransmissions, and what limited the
    /// connections; the arms of trials
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["json", "count"])]
    prometheus: Option<SocketAddr>,

    /// Further values that the loaded controllers export (`tandem list controllers`), for some connections
    #[arg(long, requires = "prometheus")]
    probes: bool,
}

pub fn watch(args: &Args) -> Result<(), Failure> {
    if args.interval.ns == 0 {
        return Err(Failure::usage("--interval must be longer than 0"));
    }
    if let Some(address) = args.prometheus {
        return prometheus(address, Duration::from_nanos(args.interval.ns), args.probes);
    }
    if !args.json && !io::stdout().is_terminal() {
        return Err(Failure::usage("the live table needs a terminal; give --json for lines of JSON"));
    }
    interrupt::flag();
    let watcher = Watcher::new()?;
    let interval = Duration::from_nanos(args.interval.ns);
    if args.json { lines(watcher, interval, args.count) } else { live(watcher, interval, args.count) }
}

/// What `--json` prints for each connection and interval.
#[derive(Serialize)]
struct JsonLine<'a> {
    /// Seconds since 1970.
    time_s: f64,
    interval_s: f64,
    #[serde(flatten)]
    sample: &'a Sample,
}

fn lines(mut watcher: Watcher, interval: Duration, count: Option<u64>) -> Result<(), Failure> {
    let mut next = Instant::now() + interval;
    let mut looks = 0;
    while count.is_none_or(|n| looks < n) {
        while Instant::now() < next {
            if interrupt::is_interrupted() {
                return Ok(());
            }
            std::thread::sleep((next - Instant::now()).min(Duration::from_millis(50)));
        }
        let (interval_s, samples) = watcher.sample().map(|(interval, samples)| (interval.as_secs_f64(), samples))?;
        let time_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let mut text = String::new();
        for sample in &samples {
            let line = JsonLine { time_s, interval_s, sample };
            text += &serde_json::to_string(&line).map_err(anyhow::Error::from)?;
            text.push('\n');
        }
        if !print_to_reader(&text)? {
            return Ok(());
        }
        next += interval;
        looks += 1;
    }
    Ok(())
}

/// Reads in a thread of its own, when asked to: with many namespaces a reading takes seconds, and keys must still work.
struct Looker {
    ask: Sender<()>,
    found: Receiver<Result<(Duration, Vec<Sample>), tandem_kernel::Error>>,
    is_looking: bool,
}

impl Looker {
    fn new(mut watcher: Watcher) -> Self {
        let (ask, asked) = mpsc::channel();
        let (tell, found) = mpsc::channel();
        thread::spawn(move || asked.iter().try_for_each(|()| tell.send(watcher.sample())));
        Self { ask, found, is_looking: false }
    }

    fn look(&mut self) {
        self.is_looking = self.is_looking || self.ask.send(()).is_ok();
    }

    /// The result; `None` while it is still reading.
    fn found(&mut self) -> Option<Result<Vec<Sample>, tandem_kernel::Error>> {
        let found = self.found.try_recv().ok()?;
        self.is_looking = false;
        Some(found.map(|(_, samples)| samples))
    }
}

fn live(watcher: Watcher, interval: Duration, count: Option<u64>) -> Result<(), Failure> {
    interrupt::at_end(ratatui::restore);
    let mut terminal = ratatui::try_init().context("cannot use this terminal; --json needs none")?;
    let mut looker = Looker::new(watcher);
    let mut state = TableState::default();
    let mut samples = Vec::new();
    let mut looks = 0;
    let mut next = Instant::now() + interval;
    let result = loop {
        if let Err(e) = terminal.draw(|frame| draw(frame, &samples, looks > 0, interval, &mut state)) {
            break Err(Failure::Failed(anyhow::Error::new(e).context("cannot draw")));
        }
        match wait_for_key(if looker.is_looking { Instant::now() + LOOKING } else { next }) {
            Ok(Some(Key::Quit)) => break Ok(()),
            Ok(Some(Key::Down)) => state.select_next(),
            Ok(Some(Key::Up)) => state.select_previous(),
            Ok(None) => {}
            Err(e) => break Err(Failure::Failed(anyhow::Error::new(e).context("cannot read keys"))),
        }
        if interrupt::is_interrupted() || count.is_some_and(|n| looks >= n) {
            break Ok(());
        }
        if Instant::now() >= next {
            looker.look();
        }
        match looker.found() {
            None => {}
            Some(Ok(new)) => {
                samples = new;
                looks += 1;
                next += interval;
            }
            Some(Err(e)) => break Err(e.into()),
        }
    };
    ratatui::restore();
    result
}

/// Interval between checks whether a reading has ended.
const LOOKING: Duration = Duration::from_millis(20);

enum Key {
    Quit,
    Up,
    Down,
}

/// Waits for a known key until this time, checking for signals now and then.
fn wait_for_key(until: Instant) -> io::Result<Option<Key>> {
    let wait = until.saturating_duration_since(Instant::now()).min(Duration::from_millis(100));
    if !event::poll(wait)? {
        return Ok(None);
    }
    let Event::Key(key) = event::read()? else { return Ok(None) };
    if key.kind == KeyEventKind::Release {
        return Ok(None);
    }
    Ok(match key.code {
        KeyCode::Char('q') | KeyCode::Esc => Some(Key::Quit),
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Some(Key::Quit),
        KeyCode::Down | KeyCode::Char('j') => Some(Key::Down),
        KeyCode::Up | KeyCode::Char('k') => Some(Key::Up),
        _ => None,
    })
}

const HEADER: [&str; 14] = [
    "controller",
    "local",
    "remote",
    "window",
    "= loss",
    "+ delay",
    "gamma",
    "diff",
    "rtt ms",
    "base ms",
    "Mb/s",
    "paced",
    "lost",
    "namespace",
];

/// The columns of [`HEADER`] that hold numbers.
const NUMBERS: RangeInclusive<usize> = 3..=12;

fn draw(frame: &mut Frame, samples: &[Sample], looked: bool, interval: Duration, state: &mut TableState) {
    let [title, body, probes, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1), Constraint::Length(1)])
            .areas(frame.area());
    let total_mbps = samples.iter().map(|s| s.rate_bps).sum::<f64>() / 1e6;
    let summary = match (samples.len(), looked) {
        (_, false) => "the first look comes after one interval".to_owned(),
        (0, true) => "no connection uses a loaded controller (tandem kernel list)".to_owned(),
        (n, true) => format!("{n} connections, {total_mbps:.1} Mb/s"),
    };
    frame.render_widget(Line::from(format!("tandem kernel watch: {summary}")).bold(), title);
    let widths = HEADER.iter().enumerate().map(|(i, _)| match i {
        0 => Constraint::Length(15),
        1 | 2 => Constraint::Min(21),
        13 => Constraint::Min(9),
        _ => Constraint::Length(8),
    });
    let header = Row::new(HEADER.iter().enumerate().map(|(i, name)| cell(i, (*name).to_owned())));
    let table = Table::new(samples.iter().map(row), widths)
        .header(header.bold().underlined())
        .row_highlight_style(Style::new().bold());
    frame.render_widget(Line::from(chosen(samples, state).map_or_else(String::new, probes_text)), probes);
    frame.render_stateful_widget(table, body, state);
    let keys = format!(
        "every {interval:?}; windows, gamma, diff in packets; paced: Mb/s at most; lost in the interval; q quits, arrows choose"
    );
    frame.render_widget(Line::from(keys).dim(), foot);
}

/// The connection whose row is selected; at first the top one.
fn chosen<'a>(samples: &'a [Sample], state: &mut TableState) -> Option<&'a Sample> {
    let place = state.selected().unwrap_or(0).min(samples.len().checked_sub(1)?);
    state.select(Some(place));
    Some(&samples[place])
}

/// The values that its controller exports; those without a value now are left out.
fn probes_text(sample: &Sample) -> String {
    let known = sample.probes.iter().filter_map(|(name, reading)| Some(format!("{name} {}", (*reading)?)));
    format!("{} {}: {}", sample.controller, sample.remote, known.collect::<Vec<_>>().join(", "))
}

/// Numbers are right-aligned in their column.
fn cell(column: usize, text: String) -> Text<'static> {
    if NUMBERS.contains(&column) { Text::from(text).right_aligned() } else { Text::from(text) }
}

fn row(s: &Sample) -> Row<'static> {
    let ms = |us: u32| format!("{:.2}", f64::from(us) / 1e3);
    let cells = [
        s.controller.clone(),
        s.local.to_string(),
        s.remote.to_string(),
        s.snd_cwnd.to_string(),
        s.loss_window.to_string(),
        s.delay_window.to_string(),
        format!("{:.1}", s.gamma_packets),
        format!("{:.1}", s.diff_packets),
        ms(s.srtt_us),
        ms(s.base_rtt_us),
        format!("{:.1}", s.rate_bps / 1e6),
        s.pacing_bps.map_or_else(String::new, |bps| format!("{:.1}", bps / 1e6)),
        s.lost.to_string(),
        s.namespace.clone(),
    ];
    Row::new(cells.into_iter().enumerate().map(|(i, text)| cell(i, text)))
}
