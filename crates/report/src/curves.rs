// SPDX-License-Identifier: MIT OR Apache-2.0
//! What happened over time in the first seed of a run.

use tandem_results::{FlowSample, FlowTrace, Trace};

use crate::{
    Section,
    chart::{Chart, Draw, Series},
    colours::{Look, Looks},
    thin::averages,
};

/// Flows of a group whose windows are shown; with many groups, one of each.
const DETAILED_FLOWS: usize = 2;
const MANY_GROUPS: usize = 4;
const MAX_DETAILED: usize = 8;
const GOODPUT_FLOWS: usize = 8;
const MAX_GOODPUT: usize = 40;
const GOODPUT_POINTS: usize = 200;
const MAX_QUEUES: usize = 12;

/// The charts of a section that have something to show, with lines of at most this many points.
pub fn curves(section: &Section, looks: &Looks, points: usize) -> Vec<Chart> {
    let Some(trace) = &section.run.trace else { return Vec::new() };
    let curves = Curves { section, trace, looks, points };
    let mut charts = vec![curves.windows(), curves.backlog(), curves.rtt(), curves.queues(), curves.goodput()];
    charts.retain(|c| !c.is_empty());
    charts
}

struct Curves<'a> {
    section: &'a Section<'a>,
    trace: &'a Trace,
    looks: &'a Looks,
    points: usize,
}

/// A flow and its place in its group, from 0.
type Placed<'a> = (&'a FlowTrace, usize);

impl Curves<'_> {
    fn first_flows(&self, per_group: usize) -> Vec<Placed<'_>> {
        let mut seen = vec![0; self.section.scenario.groups.len()];
        let placed = self.trace.flows.iter().map(|flow| {
            seen[flow.group] += 1;
            (flow, seen[flow.group] - 1)
        });
        placed.filter(|&(_, place)| place < per_group).collect()
    }

    /// The few flows that are shown in detail: of those that have a window.
    fn detailed(&self) -> Vec<Placed<'_>> {
        let per_group = if self.section.scenario.groups.len() > MANY_GROUPS { 1 } else { DETAILED_FLOWS };
        let mut flows = self.first_flows(per_group);
        flows.retain(|(flow, _)| flow.samples.iter().any(|s| s.cwnd_packets > 0));
        flows.truncate(MAX_DETAILED);
        flows
    }

    /// Says which flows are shown, if they are not all.
    fn only(&self, shown: usize, per_group: &str) -> String {
        let all = self.section.scenario.flow_count();
        if shown < all { format!(" Shown: {shown} of {all} flows, {per_group}.") } else { String::new() }
    }

    fn only_detailed(&self) -> String {
        self.only(self.detailed().len(), "the first of each group")
    }

    fn name(&self, (flow, place): Placed) -> String {
        let group = &self.section.scenario.groups[flow.group];
        if group.flows == 1 { group.name.clone() } else { format!("{} {}", group.name, place + 1) }
    }

    /// Flows of a group have one colour; the first stands out.
    fn look(&self, flow: &FlowTrace) -> Look {
        let group = &self.section.scenario.groups[flow.group];
        self.looks.of(&group.name, &group.source.controller())
    }

    fn line(&self, placed: Placed, of: fn(&FlowSample) -> f64) -> Series {
        let values = series(placed.0, of);
        let name = self.name(placed);
        let line = Series::line(&name, self.look(placed.0), &self.trace.time_s, &values, self.points);
        Series { faint: placed.1 > 0, entry: Some(name), ..line }
    }

    /// The same line dotted, for a flow's target. It shares the flow's entry in the legend.
    fn dotted(&self, placed: Placed, what: &str, of: fn(&FlowSample) -> f64) -> Series {
        Series { name: format!("{}, {what}", self.name(placed)), draw: Draw::Dotted, ..self.line(placed, of) }
    }

    fn windows(&self) -> Chart {
        let flows = self.detailed();
        let has_delay_window = |flow: &FlowTrace| flow.samples.iter().any(|s| s.delay_window_packets > 0);
        let parts = if flows.iter().any(|(flow, _)| has_delay_window(flow)) {
            "Dotted: the loss window of flows that also have a delay window, which is the gap between the lines. "
        } else {
            ""
        };
        let caption = format!("All on one scale: the time after the warm-up. {parts}{}", self.only_detailed());
        let mut chart = Chart::over_time("Windows", "Window, packets", self.section.scenario, caption.trim());
        for &placed in &flows {
            chart.add(self.line(placed, |s| f64::from(s.cwnd_packets)));
        }
        for &placed in flows.iter().filter(|(flow, _)| has_delay_window(flow)) {
            chart.add(self.dotted(placed, "loss window", |s| f64::from(s.loss_window_packets)));
        }
        chart
    }

    fn backlog(&self) -> Chart {
        let mut flows = self.detailed();
        flows.retain(|(flow, _)| flow.samples.iter().any(|s| s.gamma_packets > 0.0));
        let caption = format!(
            "Solid: diff, the packets that a flow believes it keeps in queues; dotted: gamma. \
             Where diff is above gamma, the delay window shrinks.{}",
            self.only_detailed()
        );
        let title = "Estimated backlog (diff) and its threshold (gamma)";
        let mut chart = Chart::over_time(title, "Backlog, packets", self.section.scenario, caption);
        for &placed in &flows {
            chart.add(self.line(placed, |s| f64::from(s.diff_packets)));
        }
        for &placed in &flows {
            chart.add(self.dotted(placed, "gamma", |s| f64::from(s.gamma_packets)));
        }
        chart
    }

    fn rtt(&self) -> Chart {
        let caption = format!(
            "Solid: smoothed RTT; dotted: the smallest that the flow has seen. The gap is queueing; \
             a dotted line that is too high misleads a controller that steers by delay.{}",
            self.only_detailed()
        );
        let mut chart = Chart::over_time("Round-trip time", "RTT, ms", self.section.scenario, caption);
        chart.y.fitted = true;
        for placed in self.detailed() {
            // Before the first sample of a flow there is no RTT, which is not an RTT of 0.
            chart.add(self.line(placed, |s| measured(s.srtt_ms)));
        }
        for (flow, place) in self.detailed() {
            if flow.samples.iter().any(|s| s.base_rtt_ms > 0.0) {
                chart.add(self.dotted((flow, place), "smallest", |s| measured(s.base_rtt_ms)));
            }
        }
        chart
    }

    fn queues(&self) -> Chart {
        let queued = self.trace.links.iter().enumerate().filter(|(_, l)| l.queue_packets.iter().any(|&q| q > 0.0));
        let queued: Vec<_> = queued.collect();
        let only = match queued.len() {
            0..=MAX_QUEUES => String::new(),
            all => format!(" Shown: the first {MAX_QUEUES} of {all} links."),
        };
        let caption = format!(
            "A queue that never empties adds delay to everybody; one that is empty for long wastes the link. \
             Links that never queued are left out.{only}"
        );
        let mut chart = Chart::over_time("Queues", "Queue, packets", self.section.scenario, caption);
        for (index, link) in queued.into_iter().take(MAX_QUEUES) {
            let values: Vec<f64> = link.queue_packets.iter().map(|&q| f64::from(q)).collect();
            chart.add(Series::line(&link.name, Look::of_link(index), &self.trace.time_s, &values, self.points));
        }
        chart
    }

    fn goodput(&self) -> Chart {
        let mut flows = self.first_flows(GOODPUT_FLOWS);
        flows.truncate(MAX_GOODPUT);
        let (times, size) = averages(&self.trace.time_s, GOODPUT_POINTS);
        let step_s = match self.trace.time_s.as_slice() {
            [first, second, ..] => (second - first) * size as f64,
            _ => 0.0,
        };
        let caption = format!(
            "Payload received, averaged over {} s. Flows that share fairly run close together.{}",
            crate::number::significant(step_s, 2),
            self.only(flows.len(), "at most 8 of each group"),
        );
        let mut chart = Chart::over_time("Goodput over time", "Goodput, Mbit/s", self.section.scenario, caption);
        for placed in flows {
            let (values, _) = averages(&series(placed.0, |s| f64::from(s.goodput_mbps)), GOODPUT_POINTS);
            // One entry a group in the legend, which shows and hides all of its flows.
            let entry = Some(self.section.scenario.groups[placed.0.group].name.clone());
            let line = Series::line(self.name(placed), self.look(placed.0), &times, &values, GOODPUT_POINTS);
            chart.add(Series { entry, faint: placed.1 > 0, ..line });
        }
        chart
    }
}

fn series(flow: &FlowTrace, of: fn(&FlowSample) -> f64) -> Vec<f64> {
    flow.samples.iter().map(of).collect()
}

/// Not a number, hence a gap in the line, for what was not measured.
fn measured(value: f32) -> f64 {
    if value > 0.0 { f64::from(value) } else { f64::NAN }
}

/// Goodput of every flow of a run, mean over seeds.
pub fn per_flow(section: &Section, looks: &Looks) -> Chart {
    let caption = "Mean over seeds. Points at one height are a fair share; within a group they should be level, \
                   because its flows differ only by chance.";
    let mut chart = Chart::new("Goodput of each flow", "Flow", "Goodput, Mbit/s", caption);
    let mut next = 1.0;
    // Groups of one controller make one series: thousands of groups would be thousands of series.
    let many = section.run.groups.len() > MAX_GOODPUT;
    let mut all: Vec<Series> = Vec::new();
    for group in &section.run.groups {
        let name = if many { &group.controller } else { &group.name };
        let at = all.iter().position(|known| known.name == *name).unwrap_or_else(|| {
            let look = if many { Look::of_controller(name, 0) } else { looks.of(name, &group.controller) };
            all.push(Series::new(name, Draw::Points, look, Vec::new(), Vec::new()));
            all.len() - 1
        });
        for &goodput in &group.per_flow_goodput_mbps {
            all[at].x.push(next);
            all[at].y.push(goodput);
            next += 1.0;
        }
    }
    all.into_iter().for_each(|series| chart.add(series));
    chart
}
