// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scenario's groups of flows.

use tandem_controllers::{CONTROLLERS, Controller};

use super::{MAX_COUNT, SpecError, check_name};
use crate::{
    controller::ControllerSpec,
    route::RouteError,
    scenario::{Group, HEADER_BYTES, Topology},
    spec::{FlowsSpec, ScenarioSpec},
    traffic::{CongestionControl, Ecn, Honesty, OfferChange, Recovery, TcpSource, Traffic, Transfer, USUAL_ACK_EVERY},
    units::Span,
    wlan::{SERVER_NODE, STATIONS_NODE},
};

/// A group as written, and its place among the others, for messages.
struct Written<'a> {
    flows: &'a FlowsSpec,
    place: usize,
}

impl Written<'_> {
    fn wrong(&self, key: &str, message: impl std::fmt::Display) -> SpecError {
        SpecError::at(format!("flows.{}.{key}", self.place), message)
    }
}

impl ScenarioSpec {
    /// The group at this place of `flows`.
    pub(super) fn group(&self, place: usize, network: &Topology, mtu: u32) -> Result<Group, SpecError> {
        let flows = &self.flows[place];
        let written = Written { flows, place };
        if !(1..=MAX_COUNT).contains(&flows.count) {
            return Err(written.wrong("count", format!("count must be at least 1, at most {MAX_COUNT}")));
        }
        let start = flows.start.unwrap_or_default();
        if start >= self.duration {
            return Err(written.wrong("start", "start must be before the end of the run, its `duration`"));
        }
        if flows.stop.is_some_and(|stop| stop <= start) {
            return Err(written.wrong("stop", "stop must be later than start"));
        }
        let (forward, back) = self.routes(&written, network)?;
        let source = self.traffic(&written, network, &forward, mtu)?;
        // A controller as written, with its parameters.
        let as_written = || flows.controller.as_ref().map_or_else(|| source.controller(), ToString::to_string);
        let name = flows.name.clone().unwrap_or_else(as_written);
        check_name(&format!("flows.{place}.name"), &name)?;
        Ok(Group {
            name,
            flows: flows.count,
            source,
            access: self.access(&written, network.propagation(&forward, &back))?,
            forward,
            back,
            rtt_spread: flows.rtt_spread,
            start,
            start_spread: flows.start_spread,
            stop: flows.stop,
            first_station: first_station(&written, network)?,
        })
    }

    fn traffic(
        &self,
        written: &Written,
        network: &Topology,
        forward: &[usize],
        mtu: u32,
    ) -> Result<Traffic, SpecError> {
        match (&written.flows.controller, &written.flows.udp) {
            (Some(controller), None) => {
                let transfer = self.transfer(written, network, forward, mtu)?;
                self.tcp(written, controller, transfer, mtu).map(Traffic::Tcp)
            }
            (None, Some(udp)) => {
                if let Some(key) = written.flows.keys_of_tcp().next() {
                    return Err(written.wrong("udp", format!("`{key}` is for flows with a controller: udp has none")));
                }
                udp.check(mtu).map(Traffic::Udp).map_err(|message| written.wrong("udp", message))
            }
            (Some(_), Some(_)) => Err(written.wrong("controller", "a flow has either a controller or udp, not both")),
            (None, None) => Err(written.wrong("controller", "a flow needs `controller = \"...\"` or `udp = {...}`")),
        }
    }

    /// How much the flows send.
    fn transfer(
        &self,
        written: &Written,
        network: &Topology,
        forward: &[usize],
        mtu: u32,
    ) -> Result<Transfer, SpecError> {
        let flows = written.flows;
        let transfer = match (flows.transfer, flows.pause, &flows.short) {
            (Some(bytes), pause, None) => Transfer::Finite { bytes: bytes.0, pause },
            (None, Some(_), None) => {
                return Err(written.wrong("pause", "pause needs `transfer`, the size to send again"));
            }
            (None, None, None) => Transfer::Bulk,
            (None, None, Some(short)) => {
                let key = format!("flows.{}.short", written.place);
                let capacity_bps = network.payload_bps(forward, mtu);
                let short = short.resolve(&key, &self.folder, capacity_bps, flows.count, self.duration)?;
                Transfer::Short(Box::new(short))
            }
            (_, _, Some(_)) => {
                let message = "a group has either `short` or `transfer` with `pause`: leave one out";
                return Err(written.wrong("short", message));
            }
        };
        self.offered(written, transfer, mtu)
    }

    /// What the application offers, if it is limited.
    fn offered(&self, written: &Written, transfer: Transfer, mtu: u32) -> Result<Transfer, SpecError> {
        let FlowsSpec { offered_rate, offered_changes, offered_process, .. } = written.flows;
        let key = match (offered_rate, &offered_changes[..]) {
            (None, []) if offered_process.is_some() => {
                return Err(written.wrong("offered_process", "offered_process needs `offered_rate`, its mean"));
            }
            (None, []) => return Ok(transfer),
            (Some(_), _) => "offered_rate",
            (None, _) => "offered_changes",
        };
        if transfer != Transfer::Bulk {
            let message = format!("{key} is for data without end: leave out `transfer`, `pause` and `short`, or {key}");
            return Err(written.wrong(key, message));
        }
        let mut last = written.flows.start.unwrap_or_default();
        for (i, change) in offered_changes.iter().enumerate() {
            if change.at <= last {
                let before = if i == 0 { "the start of the flow" } else { "the change before it" };
                let message = format!("this change must be later than {before}, {last}");
                return Err(written.wrong(&format!("offered_changes.{i}.at"), message));
            }
            last = change.at;
        }
        let segment_bytes = mtu - HEADER_BYTES;
        let rate_bps = offered_rate.map(|rate| rate.bps);
        let process = offered_process.as_ref().map(|process| {
            let rates_bps = rate_bps.into_iter().chain(offered_changes.iter().filter_map(|change| change.rate.0));
            let checked = process.check(segment_bytes, rates_bps, &self.folder);
            checked.map_err(|message| written.wrong("offered_process", message))
        });
        let (process, piece_bytes) = process.transpose()?.unzip();
        Ok(Transfer::Offered {
            rate_bps,
            piece_bytes: piece_bytes.unwrap_or(segment_bytes),
            process,
            changes: offered_changes.iter().map(|c| OfferChange { at: c.at, rate_bps: c.rate.0 }).collect(),
        })
    }

    fn tcp(
        &self,
        written: &Written,
        controller: &ControllerSpec,
        transfer: Transfer,
        mtu: u32,
    ) -> Result<TcpSource, SpecError> {
        let flows = written.flows;
        let initial_window = flows.initial_window.unwrap_or(10);
        if !(1..=1000).contains(&initial_window) {
            return Err(written.wrong("initial_window", "initial_window must be 1 to 1000 packets"));
        }
        let controller = controller.with(&self.set);
        let recovery = flows.recovery.unwrap_or_default();
        if let CongestionControl::Tandem(params) = &controller
            && recovery != Recovery::Prr
            && params.controller().owns_window()
        {
            let name = params.controller().name;
            let message = format!("`{name}` sets the window in recovery itself: leave out `recovery`");
            return Err(written.wrong("recovery", message));
        }
        let ecn = self.ecn(written, &controller)?;
        let has_beta_ecn = |c: &Controller| c.beta_ecn_percent().is_some();
        let is_known = matches!(&controller, CongestionControl::Tandem(params) if has_beta_ecn(params.controller()));
        if ecn == Ecn::Rfc8511 && !is_known {
            let known = CONTROLLERS.iter().filter(|c| has_beta_ecn(c)).map(|c| format!("`{}`", c.name));
            let known = known.collect::<Vec<_>>().join(" and ");
            let message =
                format!("RFC 8511 says what {known} do at a mark, not `{controller}`: write `ecn = \"rfc3168\"`");
            return Err(written.wrong("ecn", message));
        }
        let in_packets = |bytes: u64| (bytes / u64::from(mtu - HEADER_BYTES)).clamp(1, 1 << 24) as u32;
        Ok(TcpSource {
            controller,
            transport: flows.transport,
            transfer,
            handshake: flows.handshake,
            delayed_acks: self.delays_acks(flows),
            pacing: flows.pacing.unwrap_or(false),
            recovery,
            ecn,
            initial_window,
            receive_window: flows.receive_window.map(|bytes| in_packets(bytes.0)),
            ack_every: self.ack_every(written)?,
            receiver: receiver(written, ecn)?,
        })
    }

    fn delays_acks(&self, flows: &FlowsSpec) -> bool {
        flows.delayed_acks.or(self.delayed_acks).unwrap_or(true)
    }

    fn ack_every(&self, written: &Written) -> Result<u32, SpecError> {
        let Some(ack_every) = written.flows.ack_every else { return Ok(USUAL_ACK_EVERY) };
        if !(1..=1000).contains(&ack_every) {
            return Err(written.wrong("ack_every", "ack_every must be 1 to 1000 segments"));
        }
        if !self.delays_acks(written.flows) {
            let message = "ACKs are not delayed here: leave out `ack_every`, or `delayed_acks = false`";
            return Err(written.wrong("ack_every", message));
        }
        Ok(ack_every)
    }

    /// A controller that counts marks has accurate ECN of its own accord.
    fn ecn(&self, written: &Written, controller: &CongestionControl) -> Result<Ecn, SpecError> {
        let given = written.flows.ecn;
        let CongestionControl::Tandem(params) = controller else { return Ok(given.unwrap_or_default()) };
        if !params.controller().counts_marks() {
            return Ok(given.unwrap_or_default());
        }
        match given {
            Some(Ecn::Rfc3168 | Ecn::Rfc8511) => {
                let name = params.controller().name;
                let message = format!(
                    "`{name}` needs the number of marked packets: leave out `ecn`, or write `ecn = \"accurate\"`"
                );
                Err(written.wrong("ecn", message))
            }
            given => Ok(given.unwrap_or(Ecn::Accurate)),
        }
    }

    /// The links of the data and of the ACKs.
    fn routes(&self, written: &Written, network: &Topology) -> Result<(Vec<usize>, Vec<usize>), SpecError> {
        let flows = written.flows;
        if flows.reverse.is_some() && (flows.from.is_some() || flows.to.is_some()) {
            let message = "reverse does nothing where `from` or `to` is given: swap these";
            return Err(written.wrong("reverse", message));
        }
        let usual = self.usual_ends(flows.reverse == Some(true));
        let node = |key: &str, given: &Option<String>, usual: Option<&str>| {
            let Some(name) = given.as_deref().or(usual) else {
                return Err(written.wrong(key, format!("a flow needs `{key} = \"NODE\"` in this network")));
            };
            network.node(name).map_err(|e| written.wrong(key, e))
        };
        let from = node("from", &flows.from, usual.map(|ends| ends.0))?;
        let to = node("to", &flows.to, usual.map(|ends| ends.1))?;
        let end = if flows.from.is_some() { "from" } else { "to" };
        if from == to {
            let message = format!("a flow leads from `{}` to itself", network.nodes[from]);
            return Err(written.wrong(end, message));
        }
        let route = |key: &str, given: &Option<Vec<String>>, from, to, wrong: &dyn Fn(RouteError) -> String| match given
        {
            Some(names) => network.explicit_route(from, to, names).map_err(|e| written.wrong(key, wrong(e))),
            None => network.route(from, to).map_err(|e| written.wrong(end, wrong(e))),
        };
        let back = route("ack_route", &flows.ack_route, to, from, &|e| format!("the ACKs' way: {e}"))?;
        Ok((route("route", &flows.route, from, to, &|e| e.to_string())?, back))
    }

    /// Where flows start and end that do not say.
    fn usual_ends(&self, is_reverse: bool) -> Option<(&'static str, &'static str)> {
        let (from, to) = match (&self.dumbbell, &self.wlan) {
            (Some(_), _) => ("left", "right"),
            (_, Some(_)) => (STATIONS_NODE, SERVER_NODE),
            (None, None) => return None,
        };
        Some(if is_reverse { (to, from) } else { (from, to) })
    }

    /// The delay outside the links: what its RTT has beyond theirs, and `access`.
    fn access(&self, written: &Written, of_links: Span) -> Result<Span, SpecError> {
        let flows = written.flows;
        let Some(dumbbell) = &self.dumbbell else {
            return match flows.rtt {
                Some(_) => Err(written.wrong("rtt", "rtt is for [dumbbell] only: here add `access`, or link delays")),
                None => Ok(flows.access),
            };
        };
        let rtt = flows.rtt.unwrap_or(dumbbell.rtt);
        let Some(outside_ns) = rtt.ns.checked_sub(of_links.ns) else {
            let key = if flows.route.is_some() { "route" } else { "ack_route" };
            return Err(written.wrong(key, format!("the links of this route alone take longer than its rtt, {rtt}")));
        };
        Ok(Span { ns: outside_ns + flows.access.ns })
    }
}

fn first_station(written: &Written, network: &Topology) -> Result<u32, SpecError> {
    let Some(first) = written.flows.first_station else { return Ok(0) };
    let Some(cell) = &network.cell else {
        return Err(written.wrong("first_station", "first_station is for [wlan] only"));
    };
    if !(1..=cell.stations).contains(&first) {
        let message = format!("first_station must be 1 to {}, the number of stations", cell.stations);
        return Err(written.wrong("first_station", message));
    }
    Ok(first - 1)
}

/// What its receiver says.
fn receiver(written: &Written, ecn: Ecn) -> Result<Honesty, SpecError> {
    let receiver = written.flows.receiver.unwrap_or_default();
    if receiver == Honesty::HidesMarks && ecn == Ecn::Off {
        return Err(written.wrong("receiver", "no packet of these flows is marked: add `ecn = \"rfc3168\"`"));
    }
    Ok(receiver)
}
