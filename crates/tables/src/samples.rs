// SPDX-License-Identifier: MIT OR Apache-2.0
//! A row for each sample over time of a flow or of a link.

use arrow_array::{Float32Array, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::SchemaRef;
use tandem_controllers::{CONTROLLERS, INFINITE_SSTHRESH, Probe, Reading};
use tandem_results::{FlowSample, FlowTrace, Run, Trace};
use tandem_scenario::Scenario;

use crate::Columns;

/// The columns of [`flows`].
pub fn flow_schema() -> SchemaRef {
    let trace = Trace::default();
    FlowRows { scenario: None, name: "", trace: &trace, has_delay_part: Vec::new() }.batch().schema()
}

/// The columns of [`links`].
pub fn link_schema() -> SchemaRef {
    link_batch("", &Trace::default()).schema()
}

/// One row a sample of a flow, in the order of flows and then of time; no rows if the run of `scenario` was not traced. Null is what not
/// every controller has, and what is unknown at first.
pub fn flows(scenario: &Scenario, run: &Run) -> RecordBatch {
    let nothing = Trace::default();
    let trace = run.trace.as_deref().unwrap_or(&nothing);
    let has_delay_part = trace.flows.iter().map(has_delay_part).collect();
    FlowRows { scenario: Some(scenario), name: &run.name, trace, has_delay_part }.batch()
}

/// The columns of [`acks`].
pub fn ack_schema() -> SchemaRef {
    without_goodput(FlowRows { scenario: None, name: "", trace: &Trace::default(), has_delay_part: Vec::new() }.batch())
        .schema()
}

/// One row each time that something happened to a sender; `trace` has their times. As [`flows`], but without goodput, which takes time.
pub fn acks(scenario: &Scenario, name: &str, trace: &Trace) -> RecordBatch {
    let has_delay_part = trace.flows.iter().map(has_delay_part).collect();
    without_goodput(FlowRows { scenario: Some(scenario), name, trace, has_delay_part }.batch())
}

fn without_goodput(mut batch: RecordBatch) -> RecordBatch {
    let place = batch.schema().index_of(GOODPUT).expect("a column of `FlowRows`");
    batch.remove_column(place);
    batch
}

/// One row a sample of a link; no rows if the run was not traced.
pub fn links(run: &Run) -> RecordBatch {
    let nothing = Trace::default();
    link_batch(&run.name, run.trace.as_deref().unwrap_or(&nothing))
}

const GOODPUT: &str = "goodput_mbps";

/// The name of a column and its values.
type Figure<T> = (&'static str, fn(&FlowSample) -> T);

struct FlowRows<'a> {
    scenario: Option<&'a Scenario>,
    name: &'a str,
    trace: &'a Trace,
    has_delay_part: Vec<bool>,
}

impl FlowRows<'_> {
    fn batch(&self) -> RecordBatch {
        let rows = self.trace.flows.iter().map(|flow| flow.samples.len()).sum();
        let mut columns = Columns::default();
        columns.push("run", StringArray::from_iter_values(std::iter::repeat_n(self.name, rows)));
        columns.push("seed", UInt64Array::from(vec![self.trace.seed; rows]));
        columns.push("flow", UInt32Array::from_iter_values(self.each(|flow, _| flow.flow as u32)));
        columns.push("group", self.texts(|scenario, flow| scenario.groups[flow.group].name.clone()));
        columns.push("controller", self.texts(|scenario, flow| scenario.groups[flow.group].source.controller()));
        let times = self.trace.flows.iter().flat_map(|flow| &self.trace.time_s[..flow.samples.len()]);
        columns.push("time_s", Float64Array::from_iter_values(times.copied()));
        let counts: [Figure<u32>; 2] =
            [("cwnd_packets", |s| s.cwnd_packets), ("loss_window_packets", |s| s.loss_window_packets)];
        for (name, count) in counts {
            columns.push(name, UInt32Array::from_iter_values(self.each(|_, sample| count(sample))));
        }
        let delay_windows = self.of_delay_part(|sample| sample.delay_window_packets);
        columns.push_nullable("delay_window_packets", UInt32Array::from_iter(delay_windows));
        let ssthresh = |s: &FlowSample| Some(s.ssthresh_packets).filter(|&packets| packets < INFINITE_SSTHRESH);
        columns.push_nullable("ssthresh_packets", UInt32Array::from_iter(self.each(|_, sample| ssthresh(sample))));
        let backlogs: [Figure<f32>; 2] = [("gamma_packets", |s| s.gamma_packets), ("diff_packets", |s| s.diff_packets)];
        for (name, packets) in backlogs {
            columns.push_nullable(name, Float32Array::from_iter(self.of_delay_part(packets)));
        }
        let rtts: [Figure<f32>; 2] = [("srtt_ms", |s| s.srtt_ms), ("base_rtt_ms", |s| s.base_rtt_ms)];
        for (name, rtt_ms) in rtts {
            let known = self.each(|_, sample| Some(rtt_ms(sample)).filter(|&ms| ms > 0.0));
            columns.push_nullable(name, Float32Array::from_iter(known));
        }
        columns.push("in_flight_packets", UInt32Array::from_iter_values(self.each(|_, s| s.in_flight_packets)));
        columns.push(GOODPUT, Float32Array::from_iter_values(self.each(|_, s| s.goodput_mbps)));
        for probe in all_probes() {
            let readings = self.readings(probe.name);
            if probe.is_word() {
                let words = readings.map(|reading| reading.and_then(Reading::word));
                columns.push_nullable(probe.name, StringArray::from_iter(words));
            } else {
                let numbers = readings.map(|reading| reading.and_then(Reading::number));
                columns.push_nullable(probe.name, Float64Array::from_iter(numbers));
            }
        }
        columns.batch(rows).expect("each column has a value for each sample")
    }

    /// What the controllers of the flows have for that probe.
    fn readings<'a>(&'a self, probe: &'a str) -> impl Iterator<Item = Option<Reading>> + 'a {
        self.trace.flows.iter().flat_map(move |flow| {
            let place = self.place(probe, flow);
            flow.samples.iter().map(move |sample| {
                let (place, probe) = place?;
                probe.read(sample.probes?[place])
            })
        })
    }

    /// Where a flow's samples have that probe; `None` if its controller does not name it.
    fn place(&self, probe: &str, flow: &FlowTrace) -> Option<(usize, Probe)> {
        let controller = self.scenario?.groups[flow.group].source.params()?.controller();
        controller.probes().enumerate().find(|(_, known)| known.name == probe)
    }

    fn each<'a, T>(&'a self, of: impl Fn(&FlowTrace, &FlowSample) -> T + Copy + 'a) -> impl Iterator<Item = T> + 'a {
        self.trace.flows.iter().flat_map(move |flow| flow.samples.iter().map(move |sample| of(flow, sample)))
    }

    fn of_delay_part<'a, T>(
        &'a self,
        of: impl Fn(&FlowSample) -> T + Copy + 'a,
    ) -> impl Iterator<Item = Option<T>> + 'a {
        self.trace
            .flows
            .iter()
            .zip(&self.has_delay_part)
            .flat_map(move |(flow, &is_there)| flow.samples.iter().map(move |sample| is_there.then(|| of(sample))))
    }

    fn texts(&self, of: impl Fn(&Scenario, &FlowTrace) -> String) -> StringArray {
        let of_flow = |flow: &FlowTrace| (self.scenario.map_or(String::new(), |s| of(s, flow)), flow.samples.len());
        let texts: Vec<(String, usize)> = self.trace.flows.iter().map(of_flow).collect();
        StringArray::from_iter_values(texts.iter().flat_map(|(text, rows)| std::iter::repeat_n(text, *rows)))
    }
}

/// One of each name in the list of controllers: a table has all of them, so that tables of different controllers go together.
fn all_probes() -> Vec<Probe> {
    let mut probes: Vec<Probe> = Vec::new();
    for probe in CONTROLLERS.iter().flat_map(|c| c.probes()) {
        if probes.iter().all(|known| known.name != probe.name) {
            probes.push(probe);
        }
    }
    probes
}

/// Has its controller a backlog, or a window that depends on the delay? The figures of one that has not are 0 all the time.
fn has_delay_part(flow: &FlowTrace) -> bool {
    let is_used = |s: &FlowSample| s.delay_window_packets > 0 || s.gamma_packets > 0.0 || s.diff_packets > 0.0;
    flow.samples.iter().any(is_used)
}

fn link_batch(name: &str, trace: &Trace) -> RecordBatch {
    let rows = trace.links.iter().map(|link| link.queue_packets.len()).sum();
    let names = trace.links.iter().flat_map(|link| std::iter::repeat_n(&link.name, link.queue_packets.len()));
    let times = trace.links.iter().flat_map(|link| &trace.time_s[..link.queue_packets.len()]);
    let queues = trace.links.iter().flat_map(|link| &link.queue_packets);
    let mut columns = Columns::default();
    columns.push("run", StringArray::from_iter_values(std::iter::repeat_n(name, rows)));
    columns.push("seed", UInt64Array::from(vec![trace.seed; rows]));
    columns.push("link", StringArray::from_iter_values(names));
    columns.push("time_s", Float64Array::from_iter_values(times.copied()));
    columns.push("queue_packets", Float32Array::from_iter_values(queues.copied()));
    columns.batch(rows).expect("each column has a value for each sample")
}
