// SPDX-License-Identifier: MIT OR Apache-2.0
//! What happened over time in the first seed of a run.

use plotly::{
    Scatter,
    common::{DashType, Fill, Line},
};
use tandem_scenario::result::{FlowSample, FlowTrace, Trace};

use crate::{
    Section,
    chart::{Chart, MAX_POINTS, line, line_at, plain},
    colours::{Colours, of_link, translucent},
    thin::{averages, thin},
};

/// Flows of a group whose windows are shown; with many groups, one of each.
const WINDOW_FLOWS: usize = 2;
const MANY_GROUPS: usize = 4;
const MAX_WINDOW_CHARTS: usize = 8;
const GOODPUT_FLOWS: usize = 8;
const GOODPUT_POINTS: usize = 200;
/// How much of a colour an area has.
const DARK: f64 = 0.55;
const LIGHT: f64 = 0.22;

/// The charts of a section that have something to show.
pub fn curves(section: &Section, colours: &Colours) -> Vec<Chart> {
    let Some(trace) = &section.run.trace else { return Vec::new() };
    let curves = Curves { section, trace, colours };
    let mut charts = curves.windows();
    charts.extend([curves.backlog(), curves.rtt(), curves.queues(), curves.goodput()]);
    charts.retain(|c| !c.is_empty());
    charts
}

struct Curves<'a> {
    section: &'a Section<'a>,
    trace: &'a Trace,
    colours: &'a Colours,
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
        let per_group = if self.section.scenario.groups.len() > MANY_GROUPS { 1 } else { WINDOW_FLOWS };
        let mut flows = self.first_flows(per_group);
        flows.retain(|(flow, _)| flow.samples.iter().any(|s| s.cwnd_packets > 0));
        flows.truncate(MAX_WINDOW_CHARTS);
        flows
    }

    /// Says which flows are shown, if they are not all.
    fn only(&self, shown: usize, per_group: &str) -> String {
        let all = self.trace.flows.len();
        if shown < all { format!(" Shown: {shown} of {all} flows, {per_group}.") } else { String::new() }
    }

    fn only_detailed(&self) -> String {
        self.only(self.detailed().len(), "the first of each group")
    }

    fn name(&self, (flow, place): Placed) -> String {
        let group = &self.section.scenario.groups[flow.group];
        if group.flows == 1 { group.name.clone() } else { format!("{} {}", group.name, place + 1) }
    }

    fn colour(&self, flow: &FlowTrace) -> &'static str {
        self.colours.of(&self.section.scenario.groups[flow.group].name)
    }

    fn line(&self, placed: Placed, of: fn(&FlowSample) -> f64) -> Box<Scatter<f64, f64>> {
        let values = series(placed.0, of);
        line(&self.name(placed), self.colour(placed.0), &self.trace.time_s, &values).opacity(faded(placed.1))
    }

    /// The same line dotted, for what a flow steers by; the caption explains it, not the legend.
    fn dotted(&self, placed: Placed, what: &str, of: fn(&FlowSample) -> f64) -> Box<Scatter<f64, f64>> {
        let style = Line::new().color(self.colour(placed.0).to_owned()).width(2.0).dash(DashType::Dot);
        let name = plain(&format!("{}, {what}", self.name(placed)));
        self.line(placed, of).name(name).line(style).show_legend(false)
    }

    fn windows(&self) -> Vec<Chart> {
        self.detailed().into_iter().map(|placed| self.window(placed)).collect()
    }

    fn window(&self, placed: Placed) -> Chart {
        let has_delay_window = placed.0.samples.iter().any(|s| s.delay_window_packets > 0);
        let look = if has_delay_window {
            "Dark: the loss window; light: the delay window on top of it, which should go as queues build up."
        } else {
            "This controller has a loss window only: look for the sawtooth, and for flat stretches at the limit."
        };
        let caption = format!("{look}{}", self.only_detailed());
        let title = format!("Window of {}", self.name(placed));
        let mut chart = Chart::over_time(title, "Window, packets", self.section.scenario, caption);
        let colour = self.colour(placed.0);
        // All from the same samples: stacked areas must not disagree about where they stand.
        let total = series(placed.0, |s| f64::from(s.cwnd_packets));
        let at = thin(&total, MAX_POINTS);
        let pick = |of: fn(&FlowSample) -> f64| series(placed.0, of);
        let line = |name, values: &[f64]| line_at(name, colour, &self.trace.time_s, values, &at);
        let area = |name, alpha, values: Vec<f64>| {
            line(name, &values)
                .line(Line::new().color(colour.to_owned()).width(0.0))
                .stack_group("window")
                .fill(Fill::ToNextY)
                .fill_color(translucent(colour, alpha))
        };
        if has_delay_window {
            chart.add(area("loss window", DARK, pick(|s| f64::from(s.loss_window_packets))));
            chart.add(area("delay window", LIGHT, pick(|s| f64::from(s.delay_window_packets))));
            chart.add(line("window", &total));
        } else {
            chart.add(line("window", &total).fill(Fill::ToZeroY).fill_color(translucent(colour, DARK)));
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
        for placed in self.detailed() {
            // Before the first sample of a flow there is no RTT, which is not an RTT of 0.
            chart.add(self.line(placed, |s| measured(s.srtt_ms)));
        }
        for placed in self.detailed() {
            chart.add(self.dotted(placed, "smallest", |s| measured(s.base_rtt_ms)));
        }
        chart
    }

    fn queues(&self) -> Chart {
        let caption = "A queue that never empties adds delay to everybody; one that is empty for long wastes the link. \
                       Links that never queued are left out.";
        let mut chart = Chart::over_time("Queues", "Queue, packets", self.section.scenario, caption);
        let queued = self.trace.links.iter().enumerate().filter(|(_, l)| l.queue_packets.iter().any(|&q| q > 0.0));
        for (index, link) in queued {
            let values: Vec<f64> = link.queue_packets.iter().map(|&q| f64::from(q)).collect();
            chart.add(line(&link.name, of_link(index), &self.trace.time_s, &values));
        }
        chart
    }

    fn goodput(&self) -> Chart {
        let flows = self.first_flows(GOODPUT_FLOWS);
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
        let mut chart = Chart::over_time("Goodput", "Goodput, Mbit/s", self.section.scenario, caption);
        for placed in flows {
            let (values, _) = averages(&series(placed.0, |s| f64::from(s.goodput_mbps)), GOODPUT_POINTS);
            let group = plain(&self.section.scenario.groups[placed.0.group].name);
            let hover = format!("{}: %{{y}}<extra></extra>", plain(&self.name(placed)));
            // One entry a group in the legend, which shows and hides all of its flows.
            chart.add(
                line(&group, self.colour(placed.0), &times, &values)
                    .legend_group(group.clone())
                    .show_legend(placed.1 == 0)
                    .hover_template(hover)
                    .opacity(faded(placed.1)),
            );
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

/// Flows of a group have one colour; the first stands out.
fn faded(place: usize) -> f64 {
    if place == 0 { 1.0 } else { 0.65 }
}
