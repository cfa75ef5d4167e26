// SPDX-License-Identifier: MIT OR Apache-2.0
//! One HTML page that holds all it needs, so that it opens offline and can be mailed or archived as it is.

use minijinja::{Environment, HtmlEscape, Value, context};
use tandem_results::{Distribution, LINK_MEASURES, LinkSummary, Measure, Run};

use crate::{
    Report, Section,
    chart::{Chart, points_of_line},
    colours::Looks,
    comparison::comparison,
    curves::{curves, per_flow},
    delivery, number,
    pack::pack,
    rows::{self, Head, Row, Summary, doubts, has_intervals, label, runs, seed_counts},
    short_flows_table, words,
};

/// The name ends in `.html`, which makes the template engine escape whatever is put in.
const TEMPLATE: &str = "page.html";
/// Limits of a page: rows of the summary, and groups and links of a run. Nobody reads more, and browsers become slow.
const MAX_ROWS: usize = 400;
const MAX_LINKS: usize = 100;
/// Digits of a link's rate.
const RATE_DIGITS: i32 = 4;

/// The charts of a page. A figure of the page has the number of its chart.
#[derive(Default)]
pub struct Charts(Vec<Chart>);

impl Charts {
    /// Adds charts, and returns what a template needs of them.
    pub fn add(&mut self, charts: impl IntoIterator<Item = Chart>) -> Vec<Value> {
        let mut figure = |chart: Chart| {
            let value = context! {
                number => self.0.len(),
                title => chart.title.as_str(),
                caption => chart.caption.as_str(),
            };
            self.0.push(chart);
            value
        };
        charts.into_iter().map(&mut figure).collect()
    }

    fn packed(&self) -> String {
        pack(&serde_json::to_string(&self.0).expect("charts are JSON"))
    }
}

/// The page as HTML that needs no network. Texts from scenarios are escaped.
pub fn html(report: &Report) -> String {
    let mut charts = Charts::default();
    let content = content(report, &mut charts);
    render(TEMPLATE, include_str!("page.html"), content, &charts)
}

/// The charts of the page as JSON: an array of objects with `section`, which is empty for the summary, and `charts`.
pub fn charts_json(report: &Report) -> String {
    #[derive(serde::Serialize)]
    struct OfSection {
        section: String,
        charts: Vec<Chart>,
    }
    let looks = looks(report);
    let points = points_of_line(report.sections.len());
    let of_section = |section: &Section| OfSection {
        section: label(section.run, section.scenario.seeds.len()),
        charts: charts_of(section, &looks, points),
    };
    let summary = OfSection { section: String::new(), charts: comparison(report, &looks) };
    let all: Vec<OfSection> = std::iter::once(summary).chain(report.sections.iter().map(of_section)).collect();
    serde_json::to_string(&all).expect("charts are JSON")
}

/// The page's first table alone, to embed in another page.
pub fn summary_html(report: &Report) -> String {
    let mut engine = Environment::new();
    let source = "{% import 'summary.html' as summary %}{{ summary.table(heads, rows) }}";
    for (name, source) in [("summary.html", include_str!("summary.html")), ("alone.html", source)] {
        engine.add_template(name, source).expect("the template is part of the program");
    }
    let table = engine.get_template("alone.html").expect("just added").render(summary(&rows::summary(report)));
    table.expect("the template asks only for what its content gives")
}

/// A template of the program's, which extends the frame and may import the figures.
pub fn render(name: &'static str, template: &'static str, content: Value, charts: &Charts) -> String {
    let mut engine = Environment::new();
    engine.add_filter("code", |text: &str| Value::from_safe_string(with_code(text)));
    let common = [
        ("frame.html", include_str!("frame.html")),
        ("charts.html", include_str!("charts.html")),
        ("summary.html", include_str!("summary.html")),
    ];
    for (name, source) in common.into_iter().chain([(name, template)]) {
        engine.add_template(name, source).expect("the template is part of the program");
    }
    let own = |text: &str| Value::from_safe_string(text.to_owned());
    let frame = context! {
        css => own(include_str!("page.css")),
        plot_js => own(include_str!("plot.js")),
        page_js => own(include_str!("page.js")),
        charts => (!charts.0.is_empty()).then(|| own(&charts.packed())),
        plotly => own(include_str!(concat!(env!("OUT_DIR"), "/plotly"))),
    };
    let page = engine.get_template(name).expect("just added").render(context! { ..frame, ..content });
    page.expect("the template asks only for what its content gives")
}

/// Text as HTML, with code between backquotes.
fn with_code(text: &str) -> String {
    let mut parts = text.split('`').map(|part| HtmlEscape(part).to_string());
    let mut html = parts.next().unwrap_or_default();
    while let Some(code) = parts.next() {
        html += &match parts.next() {
            Some(after) => format!("<code>{code}</code>{after}"),
            None => format!("`{code}"),
        };
    }
    html
}

fn content(report: &Report, charts: &mut Charts) -> Value {
    let looks = looks(report);
    let of_runs = rows::summary(report);
    let set_up = common_set_up(report);
    let charts_of_summary = charts.add(comparison(report, &looks));
    let points = points_of_line(report.sections.len());
    let section = |(i, section): (usize, &Section)| {
        let figures = charts.add(charts_of(section, &looks, points));
        context! { id => format!("run-{}", i + 1), figures, ..section_content(section, set_up.is_none()) }
    };
    let sections: Vec<Value> = report.sections.iter().enumerate().map(section).collect();
    context! {
        title => report.title.as_str(),
        command => report.command.as_str(),
        version => report.version.as_str(),
        set_up,
        rows_left_out => of_runs.rows.len().saturating_sub(MAX_ROWS),
        n => has_intervals(report).then(|| seed_counts(report)),
        summary => charts_of_summary,
        sections,
        seeds => seeds(report),
        why_these_seeds => report.why_these_seeds.as_deref(),
        ..summary(&of_runs)
    }
}

/// What the template of the summary's table needs.
fn summary(Summary { heads, rows }: &Summary) -> Value {
    let head = |head: &Head| context! { lines => head.page.lines().collect::<Vec<_>>() };
    let row = |Row { label, indented, cells }: &Row| context! { label, indented, cells };
    context! {
        heads => heads.iter().map(head).collect::<Vec<_>>(),
        rows => rows.iter().take(MAX_ROWS).map(row).collect::<Vec<_>>(),
    }
}

/// Each group of the report looks the same everywhere.
fn looks(report: &Report) -> Looks {
    let groups = runs(report).into_iter().flat_map(|(run, _)| &run.groups);
    Looks::new(groups.map(|g| (g.name.as_str(), g.controller.as_str())))
}

/// A run's charts over time, and the chart of its flows.
fn charts_of(section: &Section, looks: &Looks, points: usize) -> Vec<Chart> {
    let mut charts = curves(section, looks, points);
    charts.push(per_flow(section, looks));
    charts
}

/// The set-up in words, if it is the same for all sections.
fn common_set_up(report: &Report) -> Option<String> {
    words::common_setup(report.sections.iter().map(|section| section.scenario))
}

fn section_content(section: &Section, with_set_up: bool) -> Value {
    let Section { scenario, run } = section;
    let measures = number::shown(LINK_MEASURES, run.links.iter());
    context! {
        name => label(run, scenario.seeds.len()),
        set_up => with_set_up.then(|| words::setup(scenario)),
        flows => words::flows(scenario),
        doubts => doubts(run).to_vec(),
        cautions => run.cautions.clone(),
        facts => facts(run),
        trace_seed => run.trace.as_ref().map(|t| t.seed),
        link_heads => measures.iter().map(|measure| head(measure)).collect::<Vec<_>>(),
        links => run.links.iter().take(MAX_LINKS).map(|of_run| link(of_run, &measures)).collect::<Vec<_>>(),
        links_left_out => run.links.len().saturating_sub(MAX_LINKS),
        deliveries => delivery::rows(run).into_iter().take(MAX_ROWS).map(|(label, cells)| context! { label, cells }).collect::<Vec<_>>(),
        short_flows => short_flows_table::rows(run).into_iter().take(MAX_ROWS).map(|(label, cells)| context! { label, cells }).collect::<Vec<_>>(),
        offered => short_flows_table::offered(run).collect::<Vec<_>>(),
        transfers => transfers(run),
    }
}

/// What the summary has no column for.
fn facts(run: &Run) -> String {
    let mut facts: Vec<String> =
        run.jain.iter().map(|jain| format!("Jain's index of the flows is {jain:.3}")).collect();
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
    facts.push(format!("windows are reduced {} times per seed", number::count(reductions)));
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
    let mut text = facts.join("; ") + ".";
    text[..1].make_ascii_uppercase();
    text
}

/// The head of a measure's columns: lines, and the figures below them if there are several.
fn head(measure: &Measure<LinkSummary>) -> Value {
    let (title, figures) = measure.shown.page;
    context! {
        lines => title.lines().collect::<Vec<_>>(),
        figures => figures.iter().map(|figure| figure.name()).collect::<Vec<_>>(),
    }
}

fn link(link: &LinkSummary, measures: &[&Measure<LinkSummary>]) -> Value {
    let cells = measures.iter().flat_map(|measure| {
        let (_, figures) = measure.shown.page;
        figures.iter().map(|figure| number::cell(measure, link, *figure, RATE_DIGITS))
    });
    context! { name => link.name.as_str(), cells => cells.collect::<Vec<_>>() }
}

/// The groups with transfers that are no short flows, and the figures of their completion times, seconds.
fn transfers(run: &Run) -> Vec<Value> {
    let groups = run.groups.iter().filter(|group| group.short_flows.is_none());
    let timed = groups.filter_map(|group| Some((group.name.as_str(), group.completion_time_s.as_ref()?)));
    let row = |(name, t): (&str, &Distribution)| {
        let seconds = [t.mean, t.p50, t.p95, t.p99, t.max].map(|s| number::significant(s, 3));
        context! { name, seconds }
    };
    timed.take(MAX_ROWS).map(row).collect()
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
