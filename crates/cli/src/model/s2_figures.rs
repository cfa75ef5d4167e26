// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures of S2 (Blanc, Collange and Avrachenkov, 2009), drawn for the path that was asked about.

use rayon::prelude::*;
use tandem_model::{Answer, Cell, Law, Path, plane, published_oscillation, sweep, windows_over_time};
use tandem_report::{Colouring, Curve, Figure, FiguresPage, Map, Style};
use tandem_scenario::units::Rate;

use super::{Plane, range::between, setup::Setup, text};
use crate::origin::command_line;

/// Points of a curve, and of a map each way.
const POINTS: usize = 240;
const MAP_POINTS: usize = 80;
/// How far around a path the figures look.
const AROUND: f64 = 8.0;
/// The smallest gamma that S1 and D02 suggest, for comparison as in S2 Figure 4.
const SMALL_GAMMA_PACKETS: f64 = 5.0;

pub fn of_point(setup: &Setup, answer: &Answer) -> anyhow::Result<FiguresPage> {
    let path = setup.path(0, 0).map_err(|_| anyhow::anyhow!("the path cannot be made again"))?;
    let around = around(&path);
    let answers = sweep(&around, &setup.law, setup.arithmetic)?;
    let mut figures = over_bdp(setup, &around)?;
    figures.push(window(setup, &path)?);
    figures.push(map_around(setup, &path)?);
    figures.extend(over_axis(&answers, "Rate, Mbit/s", |a| a.rate_mbps));
    Ok(page(setup, text::point(answer), figures))
}

pub fn of_sweep(setup: &Setup, answers: &[Answer]) -> anyhow::Result<FiguresPage> {
    let paths = setup.paths().map_err(|_| anyhow::anyhow!("the paths cannot be made again"))?;
    let middle = paths[paths.len() / 2];
    let mut figures = if setup.queue.is_range() {
        over_axis(answers, "Queue, packets", |a| a.queue_packets)
    } else if setup.rtt.is_range() {
        over_axis(answers, "RTT, ms", |a| a.rtt_ms)
    } else {
        over_axis(answers, "Rate, Mbit/s", |a| a.rate_mbps)
    };
    figures.extend(over_bdp(setup, &if setup.queue.is_range() { around(&middle) } else { paths })?);
    figures.push(window(setup, &middle)?);
    figures.push(map_around(setup, &middle)?);
    Ok(page(setup, text::sweep(answers), figures))
}

pub fn of_plane(setup: &Setup, plane: &Plane) -> anyhow::Result<FiguresPage> {
    let figures = maps(&plane.queues_packets, &plane.bdps_packets, &plane.cells, None);
    Ok(page(setup, text::plane(plane), figures))
}

fn page(setup: &Setup, text: String, figures: Vec<Figure>) -> FiguresPage {
    FiguresPage {
        title: "One Compound TCP connection on its own".into(),
        paragraphs: vec![
            setup.title(None),
            "Figures are numbered as in Blanc, Collange and Avrachenkov, Modelling an Isolated Compound TCP Connection (2009). \
             Solid lines are Tandem's model, which follows the connection from loss to loss; dashed lines theirs."
                .into(),
        ],
        text,
        figures,
        command: command_line(),
        version: env!("CARGO_PKG_VERSION").into(),
    }
}

/// Paths of other rates around one.
fn around(path: &Path) -> Vec<Path> {
    let rate = path.rate.bps as f64;
    let at = |i| Rate { bps: between((rate / AROUND, rate * AROUND), i, POINTS).round().max(1.0) as u64 };
    (0..POINTS).map(|i| Path { rate: at(i), ..*path }).collect()
}

fn figure(title: &str, caption: &str, x_axis: &str, y_axis: &str, curves: Vec<Curve>) -> Figure {
    Figure {
        title: title.into(),
        caption: caption.into(),
        x_axis: x_axis.into(),
        y_axis: y_axis.into(),
        log_x: true,
        curves,
        ..Figure::default()
    }
}

/// Figures 2, 3 and 4: type and amplitude of the oscillation over the BDP.
fn over_bdp(setup: &Setup, paths: &[Path]) -> anyhow::Result<Vec<Figure>> {
    let bdps: Vec<f64> = paths.iter().map(Path::bdp_packets).collect();
    let swings = |law: &Law| {
        let swing = |path: &Path| published_oscillation(path, law, setup.arithmetic);
        paths.par_iter().map(swing).collect::<Result<Vec<_>, _>>()
    };
    let own = swings(&setup.law)?;
    let mut types: Vec<String> = own.iter().flatten().map(|o| o.name()).collect();
    types.sort();
    types.dedup();
    let place = |name: &str| types.iter().position(|t| t == name).map_or(f64::NAN, |i| i as f64);
    let kinds = Curve {
        name: "type".into(),
        style: Style::Points,
        x: bdps.clone(),
        y: own.iter().map(|o| o.as_ref().map_or(f64::NAN, |o| place(&o.name()))).collect(),
        ..Curve::default()
    };
    let amplitude = |name: String, swings: &[Option<tandem_model::oscillation::Oscillation>]| Curve {
        name,
        style: Style::Line,
        x: bdps.clone(),
        y: swings.iter().map(|o| o.as_ref().map_or(f64::NAN, |o| o.theta_max - o.theta_min)).collect(),
        ..Curve::default()
    };
    let mut curves = vec![amplitude(format!("gamma {}", setup.law.gamma_packets), &own)];
    if setup.law.gamma_packets != SMALL_GAMMA_PACKETS {
        let small = swings(&Law { gamma_packets: SMALL_GAMMA_PACKETS, ..setup.law })?;
        curves.push(amplitude(format!("gamma {SMALL_GAMMA_PACKETS}"), &small));
    }
    let mut of_types = figure(
        "Figures 2 and 3: type of the oscillation",
        "How many rounds the window grows and then shrinks, m:n.",
        "BDP, packets",
        "",
        vec![kinds],
    );
    of_types.y_names = types;
    let caption = "Largest less smallest window. A small gamma does not help where the BDP is large.";
    let of_amplitude =
        figure("Figure 4: amplitude of the oscillation", caption, "BDP, packets", "Amplitude, packets", curves);
    Ok(vec![of_types, of_amplitude])
}

/// Figure 5: the window over time, from a loss on.
fn window(setup: &Setup, path: &Path) -> anyhow::Result<Figure> {
    let course = windows_over_time(path, &setup.law, setup.arithmetic)?;
    let time_s: Vec<f64> = course.iter().map(|point| point.time_s).collect();
    let curve = |name: &str, of: fn(&tandem_model::WindowPoint) -> f64| Curve {
        name: name.into(),
        style: Style::Line,
        x: time_s.clone(),
        y: course.iter().map(of).collect(),
        ..Curve::default()
    };
    let curves = vec![curve("window", |p| p.window_packets), curve("loss window", |p| p.loss_window_packets)];
    let caption = "From a loss on, round by round. Where the two meet, the delay window is gone and Reno is left.";
    let mut figure = figure("Figure 5: the window", caption, "Time, s", "Window, packets", curves);
    figure.log_x = false;
    Ok(figure)
}

/// Figures 8 and 9: throughput and backlog.
fn over_axis(answers: &[Answer], x_axis: &str, x: fn(&Answer) -> f64) -> Vec<Figure> {
    let curve = |name: &str, style, y: fn(&Answer) -> f64| Curve {
        name: name.into(),
        style,
        x: answers.iter().map(x).collect(),
        y: answers.iter().map(y).collect(),
        ..Curve::default()
    };
    let utilisation = vec![
        curve("Tandem's model", Style::Line, |a| a.followed.utilisation),
        curve("Blanc et al.", Style::Dashed, |a| a.published.utilisation),
    ];
    let backlog = vec![
        curve("Tandem's model", Style::Line, |a| a.followed.backlog_packets),
        curve("Blanc et al.", Style::Dashed, |a| a.published.backlog_packets),
    ];
    let caption =
        "It falls where the buffer no longer holds the oscillation; next to such a border small differences decide.";
    vec![
        figure("Figure 8: utilisation", caption, x_axis, "Share of the link", utilisation),
        figure("Figure 9: mean queue", "Mean over time.", x_axis, "Mean queue, packets", backlog),
    ]
}

/// Figures 6 and 7: the plane of buffer and BDP around a path.
fn map_around(setup: &Setup, path: &Path) -> anyhow::Result<Figure> {
    let rate =
        |i| Rate { bps: between((path.rate.bps as f64 / AROUND, path.rate.bps as f64 * AROUND), i, MAP_POINTS) as u64 };
    let paths: Vec<Path> = (0..MAP_POINTS).map(|i| Path { rate: rate(i), ..*path }).collect();
    let ends = ((path.buffer_packets / AROUND).max(1.0), path.buffer_packets * AROUND);
    let queues: Vec<f64> = (0..MAP_POINTS).map(|i| between(ends, i, MAP_POINTS).round()).collect();
    let cells = plane(&paths, &queues, &setup.law, setup.arithmetic)?;
    let bdps: Vec<f64> = paths.iter().map(Path::bdp_packets).collect();
    let here = Curve {
        name: "this path".into(),
        style: Style::Points,
        x: vec![path.buffer_packets],
        y: vec![path.bdp_packets()],
        ..Curve::default()
    };
    Ok(maps(&queues, &bdps, &cells, Some(here)).swap_remove(0))
}

fn maps(queues: &[f64], bdps: &[f64], cells: &[Vec<Cell>], here: Option<Curve>) -> Vec<Figure> {
    let map = |title: &str, caption: &str, of: fn(&Cell) -> u8| {
        let mut figure = figure(title, caption, "Queue, packets", "BDP, packets", Vec::new());
        let values = cells.iter().map(|row| row.iter().map(|cell| f64::from(of(cell))).collect()).collect();
        figure.map =
            Some(Map { x: queues.to_vec(), y: bdps.to_vec(), values, colouring: Colouring::Kinds(6), decimals: None });
        figure.log_y = true;
        figure
    };
    let own = "Cases by the phases that take place: 1: phase 1; 2: 1 and 2; 3: 2; 4: all; 5: 2, 3 and 4; 6: 4. Tandem's model.";
    let mut figures = vec![
        map("Figures 6 and 7: case", own, |cell| cell.case),
        map("Figures 6 and 7: case, Blanc et al.", "The same by their flow chart.", |cell| cell.published_case),
    ];
    figures[0].curves.extend(here);
    figures
}
