// SPDX-License-Identifier: MIT OR Apache-2.0
//! One HTML page that holds all it needs, so that it opens offline and can be mailed or archived as it is.

use minijinja::{Environment, Value, context, value::Serde};
use tandem_scenario::result::{LinkSummary, Run};

use crate::{
    Report, Section, bars,
    chart::Chart,
    colours::Colours,
    curves::curves,
    number,
    rows::{doubts, has_intervals, label, rows, runs, seed_counts},
    words,
};

/// The name ends in `.html`, which makes the template engine escape whatever is put in.
const TEMPLATE: &str = "page.html";

/// The page as HTML that needs no network. Texts from scenarios are escaped.
pub fn html(report: &Report) -> String {
    render(TEMPLATE, include_str!("page.html"), content(report))
}

/// A template of the program's, which extends the frame and may import the charts.
pub fn render(name: &'static str, template: &'static str, content: Value) -> String {
    let mut engine = Environment::new();
    let common = [("frame.html", include_str!("frame.html")), ("charts.html", include_str!("charts.html"))];
    for (name, source) in common.into_iter().chain([(name, template)]) {
        engine.add_template(name, source).expect("the template is part of the program");
    }
    let frame = context! {
        css => Value::from_safe_string(include_str!("page.css").into()),
        js => Value::from_safe_string(include_str!("page.js").into()),
        plotly => Value::from_safe_string(plotly_js().into()),
    };
    let page = engine.get_template(name).expect("just added").render(context! { ..frame, ..content });
    page.expect("the template asks only for what its content gives")
}

fn content(report: &Report) -> Value {
    let names = runs(report).into_iter().flat_map(|(run, _)| run.groups.iter().map(|g| g.name.as_str()));
    let colours = Colours::new(names);
    let rows = rows(report);
    let set_up = common_set_up(report);
    let sections: Vec<Value> =
        report.sections.iter().map(|section| section_content(section, set_up.is_none(), &colours)).collect();
    context! {
        title => report.title.as_str(),
        command => report.command.as_str(),
        version => report.version.as_str(),
        set_up,
        has_stolen => rows.iter().any(|r| !r.stolen.is_empty()),
        has_srtt => rows.iter().any(|r| !r.srtt_mean.is_empty()),
        rows => Value::from(Serde(&rows)),
        n => has_intervals(report).then(|| seed_counts(report)),
        summary => charts(bars::summary(report, &colours)),
        sections,
        seeds => seeds(report),
    }
}

/// The set-up in words, if it is the same for all sections.
fn common_set_up(report: &Report) -> Option<String> {
    let mut texts: Vec<String> = report.sections.iter().map(|s| words::setup(s.scenario)).collect();
    texts.dedup();
    if texts.len() == 1 { texts.pop() } else { None }
}

fn section_content(section: &Section, with_set_up: bool, colours: &Colours) -> Value {
    let Section { scenario, run } = section;
    let mut all = curves(section, colours);
    all.push(bars::per_flow(run, colours));
    context! {
        name => label(run, scenario.seeds.len()),
        set_up => with_set_up.then(|| words::setup(scenario)),
        flows => words::flows(scenario),
        doubts => doubts(run).to_vec(),
        cautions => run.cautions.clone(),
        facts => facts(run),
        trace_seed => run.trace.as_ref().map(|t| t.seed),
        charts => charts(all),
        links => run.links.iter().map(link).collect::<Vec<_>>(),
        transfers => run.groups.iter().filter_map(|g| Some((g, g.completion_time_s.as_ref()?))).map(|(group, t)| context! {
            name => group.name.as_str(),
            seconds => [t.mean, t.p50, t.p95, t.p99, t.max].map(|s| number::significant(s, 3)),
        }).collect::<Vec<_>>(),
    }
}

/// What the summary has no column for.
fn facts(run: &Run) -> String {
    let mut facts = vec![format!("Jain's index of the flows is {:.3}", run.jain)];
    if let Some(fairness) = run.rtt_fairness {
        facts.push(format!(
            "flows with the shortest RTT get {} times the goodput of those whose RTT is {} times as long",
            number::significant(fairness.goodput_ratio, 3),
            number::significant(fairness.rtt_ratio, 3)
        ));
    }
    if let Some(seconds) = run.convergence_s {
        facts.push(format!("the flows share fairly (Jain's index 0.95 over 10 s) {seconds:.0} s after the last start"));
    }
    let reductions = run.groups.iter().map(|g| g.window_reductions).sum();
    facts.push(format!("windows are reduced {} times a seed", number::count(reductions)));
    facts.push(format!("{} packets were delivered by the {} engine", run.data_packets, run.engine));
    facts.extend(run.cell.as_ref().map(words::channel));
    if let Some(emulation) = &run.emulation {
        facts.push(format!(
            "packets left the emulated path {} us late at the median and {} us at the 99th percentile; the emulator took {} % of a core",
            number::significant(emulation.lateness_us.p50, 3),
            number::significant(emulation.lateness_us.p99, 3),
            number::percent(emulation.cpu_share),
        ));
    }
    facts.join("; ") + "."
}

fn link(link: &LinkSummary) -> Value {
    let (queue, delay) = (&link.queue_packets, &link.queueing_delay_ms);
    context! {
        name => link.name.as_str(),
        cells => [
            number::significant(link.rate_mbps, 4),
            number::percent_with_interval(link.utilisation, link.utilisation_ci95),
            number::significant(queue.mean, 3),
            number::significant(queue.p95, 3),
            number::significant(queue.p99, 3),
            number::count(queue.max),
            number::significant(delay.mean, 3),
            number::significant(delay.p95, 3),
            number::count(link.drops),
            number::count(link.random_losses),
            number::rate(link.loss_rate),
        ],
    }
}

fn charts(charts: Vec<Chart>) -> Vec<Value> {
    let content = |c: Chart| {
        let json = Value::from_safe_string(c.json());
        context! { title => c.title, caption => c.caption, json }
    };
    charts.into_iter().map(content).collect()
}

/// Each seed list once, with the runs that used it.
fn seeds(report: &Report) -> String {
    let mut texts: Vec<String> =
        runs(report).iter().map(|(run, _)| format!("{}: {}", run.name, words::seeds(&run.seeds))).collect();
    let same = runs(report).windows(2).all(|pair| pair[0].0.seeds == pair[1].0.seeds);
    if same && !texts.is_empty() {
        texts = vec![format!("Every run used {}", words::seeds(&runs(report)[0].0.seeds))];
    }
    texts.join("; ") + "."
}

/// Plotly's own script, without the one for formulas that the crate puts behind it.
fn plotly_js() -> &'static str {
    static SCRIPTS: std::sync::LazyLock<String> = std::sync::LazyLock::new(plotly::Plot::offline_js_sources);
    let start = SCRIPTS.find('>').map_or(0, |i| i + 1);
    let end = SCRIPTS.find("</script>").unwrap_or(SCRIPTS.len());
    &SCRIPTS[start..end]
}
