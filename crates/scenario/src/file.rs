// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenario files: TOML in, a checked [`Scenario`] out, every error with its line.

mod network;
mod tables;
mod wlan;

use std::{collections::BTreeMap, fmt, fs, ops::Range, path::Path, sync::Arc};

use tandem_controllers::{Params, find};
use toml::Spanned;

use self::tables::{File, FlowTable, Outer, UdpTable};
use crate::{
    scenario::{
        CongestionControl, DEFAULT_MTU, Group, HEADER_BYTES, KERNEL_PREFIX, Network, Scenario, Source, TcpSource,
        Transfer,
    },
    units::Span,
    wlan::{SERVER_NODE, STATIONS_NODE},
};

/// Of flows in a group, of seeds: so that a slip of the finger does not take all memory.
pub const MAX_COUNT: u32 = 100_000;

/// Of samples over time, for the same reason.
const MAX_SAMPLES: u64 = 1_000_000;

/// Linux's `TCP_CA_NAME_MAX`, without the zero at the end.
const MAX_KERNEL_NAME: usize = 15;

/// What is wrong with a scenario file, and where.
#[derive(Debug)]
pub struct FileError {
    pub path: String,
    /// 1-based line and column, if the error has a place.
    pub place: Option<(usize, usize)>,
    pub message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.path)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for FileError {}

/// Parameter values by controller, then by name.
pub type Settings = BTreeMap<String, BTreeMap<String, f64>>;

/// Changes from the command line, which go before what the file says.
#[derive(Debug, Default, Clone)]
pub struct Overrides {
    pub seeds: Option<u32>,
    pub first_seed: Option<u64>,
    pub no_delayed_acks: bool,
    pub settings: Settings,
}

/// A message and the bytes of the file that it is about.
struct Problem(Option<Range<usize>>, String);

impl Problem {
    fn at<T>(spanned: &Spanned<T>, message: impl ToString) -> Self {
        let span = spanned.span();
        Problem((!span.is_empty()).then_some(span), message.to_string())
    }
}

/// Reads, checks and completes a scenario file.
pub fn load(path: &Path, overrides: &Overrides) -> Result<Scenario, FileError> {
    let text = fs::read_to_string(path).map_err(|e| FileError {
        path: path.display().to_string(),
        place: None,
        message: format!("cannot be read: {e}"),
    })?;
    let default_name = path.file_stem().map_or("scenario".into(), |s| s.to_string_lossy().into_owned());
    parse(&text, &path.display().to_string(), &default_name, overrides)
}

/// As [`load`], from text; `path` is for messages.
pub fn parse(text: &str, path: &str, default_name: &str, overrides: &Overrides) -> Result<Scenario, FileError> {
    let file: Result<File, _> = toml::from_str(text);
    complete(file, text, path, default_name, overrides)
}

/// As [`parse`], of a file that has the scenario in its table `[scenario]`; what else it has is not looked at.
pub fn parse_inner(text: &str, path: &str, default_name: &str, overrides: &Overrides) -> Result<Scenario, FileError> {
    let file: Result<Outer, _> = toml::from_str(text);
    complete(file.map(|outer| outer.scenario), text, path, default_name, overrides)
}

fn complete(
    file: Result<File, toml::de::Error>,
    text: &str,
    path: &str,
    default_name: &str,
    overrides: &Overrides,
) -> Result<Scenario, FileError> {
    file.map_err(|e| FileError::new(path, text, e.span(), e.message()))?
        .complete(default_name, overrides)
        .map_err(|Problem(span, message)| FileError::new(path, text, span, message))
}

impl FileError {
    /// About these bytes of a file's text.
    pub fn new(path: &str, text: &str, span: Option<Range<usize>>, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), place: span.map(|s| place(text, s.start)), message: message.into() }
    }
}

/// Line and column of a byte, counted from 1.
fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

impl File {
    fn complete(self, default_name: &str, overrides: &Overrides) -> Result<Scenario, Problem> {
        let duration = *self.duration.get_ref();
        if duration <= self.warmup {
            let message = format!("duration {duration} must be longer than the warm-up, {}", self.warmup);
            return Err(Problem::at(&self.duration, message));
        }
        let mtu = match &self.mtu {
            Some(mtu) if !(HEADER_BYTES + 64..=65535).contains(mtu.get_ref()) => {
                return Err(Problem::at(mtu, format!("mtu must be {} to 65535 bytes", HEADER_BYTES + 64)));
            }
            Some(mtu) => *mtu.get_ref(),
            None => DEFAULT_MTU,
        };
        let seeds = self.seeds(overrides)?;
        let network = self.network(mtu)?;
        let sample_interval = match &self.sample_interval {
            Some(interval) if interval.get_ref().ns < 1000 => {
                return Err(Problem::at(interval, "sample_interval must be at least 1us"));
            }
            Some(interval) if duration.ns / interval.get_ref().ns > MAX_SAMPLES => {
                let message =
                    format!("sample_interval is too short: at most {MAX_SAMPLES} samples in the duration, {duration}");
                return Err(Problem::at(interval, message));
            }
            Some(interval) => *interval.get_ref(),
            None => Scenario::default_sample_interval(duration),
        };
        if self.flows.get_ref().is_empty() {
            return Err(Problem::at(&self.flows, "there are no flows: add [[flows]]"));
        }
        let mut groups: Vec<Group> = Vec::new();
        for flow in self.flows.get_ref() {
            let mut group = self.group(flow, &network, mtu, overrides)?;
            let twins = groups.iter().filter(|g| g.name.split(" #").next() == Some(&group.name)).count();
            if twins > 0 {
                group.name = format!("{} #{}", group.name, twins + 1);
            }
            groups.push(group);
        }
        let send_jitter = self.send_jitter.unwrap_or_else(|| Scenario::default_send_jitter(&network, &groups, mtu));
        Ok(Scenario {
            name: self.name.unwrap_or_else(|| default_name.to_owned()),
            duration,
            warmup: self.warmup,
            seeds,
            mtu,
            send_jitter,
            sample_interval,
            network,
            groups,
        })
    }

    fn seeds(&self, overrides: &Overrides) -> Result<Vec<u64>, Problem> {
        let first = overrides.first_seed.or(self.first_seed).unwrap_or(1);
        let count = match (&overrides.seeds, &self.seeds) {
            (Some(n), _) => *n,
            (None, Some(n)) if !(1..=MAX_COUNT).contains(n.get_ref()) => {
                return Err(Problem::at(n, format!("seeds must be at least 1, at most {MAX_COUNT}")));
            }
            (None, Some(n)) => *n.get_ref(),
            (None, None) => 1,
        };
        Ok((0..u64::from(count)).map(|i| first.wrapping_add(i)).collect())
    }

    fn group(&self, flow: &FlowTable, network: &Network, mtu: u32, over: &Overrides) -> Result<Group, Problem> {
        let (source, name) = match (&flow.controller, &flow.udp) {
            (Some(controller), None) => {
                let source = self.tcp_source(flow, controller, mtu, over)?;
                (Source::Tcp(source), controller.get_ref().clone())
            }
            (None, Some(udp)) => {
                if let Some(key) = flow.keys_of_tcp().next() {
                    return Err(Problem::at(udp, format!("`{key}` is for flows with a controller: udp has none")));
                }
                (udp_source(udp)?, "udp".into())
            }
            (Some(controller), Some(_)) => {
                return Err(Problem::at(controller, "a flow has either a controller or udp, not both"));
            }
            (None, None) => {
                return Err(Problem::at(&self.flows, "a flow needs `controller = \"...\"` or `udp = {...}`"));
            }
        };
        if !(1..=MAX_COUNT).contains(flow.count.get_ref()) {
            return Err(Problem::at(&flow.count, format!("count must be at least 1, at most {MAX_COUNT}")));
        }
        if let Some(late) = flow.start.as_ref().filter(|start| start.get_ref() >= self.duration.get_ref()) {
            return Err(Problem::at(late, "start must be before the end of the run, its `duration`"));
        }
        let start = flow.start.as_ref().map_or(Span::default(), |start| *start.get_ref());
        if let Some(stop) = flow.stop.as_ref().filter(|stop| *stop.get_ref() <= start) {
            return Err(Problem::at(stop, "stop must be later than start"));
        }
        let (forward, back) = self.routes(flow, network)?;
        Ok(Group {
            name: flow.name.clone().unwrap_or(name),
            flows: *flow.count.get_ref(),
            access: self.access(flow, &forward, &back, network)?,
            source,
            forward,
            back,
            rtt_spread: flow.rtt_spread,
            start,
            start_spread: flow.start_spread,
            stop: flow.stop.as_ref().map(|s| *s.get_ref()),
            first_station: first_station(flow, network)?,
        })
    }

    fn congestion_control(
        &self,
        flow: &FlowTable,
        controller: &Spanned<String>,
        over: &Overrides,
    ) -> Result<CongestionControl, Problem> {
        if let Some(kernels) = controller.get_ref().strip_prefix(KERNEL_PREFIX) {
            if kernels.is_empty() || kernels.len() > MAX_KERNEL_NAME {
                let message = format!("write {KERNEL_PREFIX}NAME with a name of 1 to {MAX_KERNEL_NAME} characters");
                return Err(Problem::at(controller, message));
            }
            if !flow.set.is_empty() {
                return Err(Problem::at(
                    controller,
                    "the kernel's own congestion controls have no parameters to `set`",
                ));
            }
            return Ok(CongestionControl::Kernel(kernels.to_owned()));
        }
        let name = controller.get_ref();
        let mut params = Params::new(find(name).map_err(|e| Problem::at(controller, e))?);
        for (settings, place) in [(self.set.get_ref(), Some(&self.set)), (&over.settings, None)] {
            let problem = |e: String| place.map_or(Problem(None, e.clone()), |p| Problem::at(p, e.clone()));
            for (controller, values) in settings {
                // Another's are checked as well: a misspelt one would do nothing, and nobody would notice.
                let mut anothers = Params::new(find(controller).map_err(|e| problem(e.to_string()))?);
                let params = if controller == name { &mut params } else { &mut anothers };
                for (key, value) in values {
                    params.set(key, *value).map_err(|e| problem(e.to_string()))?;
                }
            }
        }
        for (key, value) in &flow.set {
            params.set(key, *value).map_err(|e| Problem::at(controller, e))?;
        }
        Ok(CongestionControl::Tandem(Arc::new(params)))
    }

    fn tcp_source(
        &self,
        flow: &FlowTable,
        controller: &Spanned<String>,
        mtu: u32,
        over: &Overrides,
    ) -> Result<TcpSource, Problem> {
        let transfer = match (&flow.transfer, &flow.pause) {
            (Some(bytes), pause) => Transfer::Finite { bytes: bytes.0, pause: pause.as_ref().map(|p| *p.get_ref()) },
            (None, Some(pause)) => return Err(Problem::at(pause, "pause needs `transfer`, the size to send again")),
            (None, None) => Transfer::Bulk,
        };
        let initial_window = match &flow.initial_window {
            Some(w) if !(1..=1000).contains(w.get_ref()) => {
                return Err(Problem::at(w, "initial_window must be 1 to 1000 packets"));
            }
            Some(w) => *w.get_ref(),
            None => 10,
        };
        Ok(TcpSource {
            controller: self.congestion_control(flow, controller, over)?,
            transfer,
            delayed_acks: flow.delayed_acks.unwrap_or(self.delayed_acks) && !over.no_delayed_acks,
            pacing: flow.pacing.unwrap_or(false),
            initial_window,
            receive_window: flow.receive_window.map(|b| (b.0 / u64::from(mtu - HEADER_BYTES)).clamp(1, 1 << 24) as u32),
        })
    }

    fn routes(&self, flow: &FlowTable, network: &Network) -> Result<(Vec<usize>, Vec<usize>), Problem> {
        let missing = |what| Problem::at(&self.flows, format!("a flow needs `{what} = \"NODE\"` in this network"));
        let has_ends = flow.from.is_some() || flow.to.is_some();
        if let Some(reverse) = flow.reverse.as_ref().filter(|_| has_ends) {
            return Err(Problem::at(reverse, "reverse does nothing where `from` or `to` is given: swap these"));
        }
        let ends = match (&self.dumbbell, &self.wlan) {
            (Some(_), _) => Some(("left", "right")),
            (_, Some(_)) => Some((STATIONS_NODE, SERVER_NODE)),
            (None, None) => None,
        };
        let default_ends =
            ends.map(
                |(from, to)| if flow.reverse.as_ref().is_some_and(|r| *r.get_ref()) { (to, from) } else { (from, to) },
            );
        let node = |given: &Option<Spanned<String>>, default: Option<&str>, what| match (given, default) {
            (Some(name), _) => network.node(name.get_ref()).map_err(|e| Problem::at(name, e)),
            (None, Some(name)) => network.node(name).map_err(|e| Problem(None, e.to_string())),
            (None, None) => Err(missing(what)),
        };
        let from = node(&flow.from, default_ends.map(|e| e.0), "from")?;
        let to = node(&flow.to, default_ends.map(|e| e.1), "to")?;
        let place = flow.from.as_ref().or(flow.to.as_ref());
        let problem = |e: String| place.map_or(Problem(None, e.clone()), |p| Problem::at(p, e.clone()));
        if from == to {
            return Err(problem(format!("a flow leads from `{}` to itself", network.nodes[from])));
        }
        let route = |given: &Option<Spanned<Vec<String>>>, from, to| match given {
            Some(names) => network.explicit_route(from, to, names.get_ref()).map_err(|e| Problem::at(names, e)),
            None => network.route(from, to).map_err(|e| problem(e.to_string())),
        };
        let ack_route =
            route(&flow.ack_route, to, from).map_err(|Problem(at, e)| Problem(at, format!("the ACKs' way: {e}")));
        Ok((route(&flow.route, from, to)?, ack_route?))
    }

    fn access(&self, flow: &FlowTable, forward: &[usize], back: &[usize], network: &Network) -> Result<Span, Problem> {
        let links_ns: u64 = forward.iter().chain(back).map(|&l| network.links[l].delay.ns).sum();
        match (&flow.rtt, &self.dumbbell) {
            (Some(rtt), None) => Err(Problem::at(rtt, "rtt is for [dumbbell] only: here add `access`, or link delays")),
            (None, None) => Ok(flow.access),
            (rtt, Some(table)) => {
                let given = rtt.as_ref().map_or(table.rtt, |r| *r.get_ref());
                let Some(outside_ns) = given.ns.checked_sub(links_ns) else {
                    let message = format!("the links of this route alone take longer than its rtt, {given}");
                    let route = flow.route.as_ref().or(flow.ack_route.as_ref());
                    return Err(route.map_or_else(|| Problem(None, message.clone()), |r| Problem::at(r, &message)));
                };
                Ok(Span { ns: outside_ns + flow.access.ns })
            }
        }
    }
}

fn first_station(flow: &FlowTable, network: &Network) -> Result<u32, Problem> {
    let Some(first) = &flow.first_station else { return Ok(0) };
    let Some(cell) = &network.cell else {
        return Err(Problem::at(first, "first_station is for [wlan] only"));
    };
    if !(1..=cell.stations).contains(first.get_ref()) {
        return Err(Problem::at(
            first,
            format!("first_station must be 1 to {}, the number of stations", cell.stations),
        ));
    }
    Ok(first.get_ref() - 1)
}

fn udp_source(udp: &Spanned<UdpTable>) -> Result<Source, Problem> {
    let UdpTable { rate, on, off } = *udp.get_ref();
    let on_off = match (on, off) {
        (Some(on), Some(off)) if on.ns > 0 && off.ns > 0 => Some((on, off)),
        (None, None) => None,
        _ => return Err(Problem::at(udp, "udp needs both `on` and `off`, above 0, or neither")),
    };
    Ok(Source::Udp { rate, on_off })
}
