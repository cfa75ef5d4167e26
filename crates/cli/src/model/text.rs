// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers of the model for the terminal.

use comfy_table::{CellAlignment, Table, presets};
use tandem_model::{Answer, Prediction};

use super::{
    Plane,
    questions::{Answers, Found},
};

/// What each case means for who uses the link.
pub fn meaning(case: u8) -> &'static str {
    match case {
        1 => {
            "one step of growth overflows the buffer before a queue builds: the link is idle for a while after each loss"
        }
        2 => {
            "growth overflows the buffer before it is noticed: large swings, the link idle for a while after each loss"
        }
        3 => "growth overflows the buffer before it is noticed, but the queue never empties for long",
        4 => "all four phases: after a loss quickly back to a full link, long at an oscillating backlog, then as Reno",
        5 => "as case 4, but the queue does not empty after a loss",
        _ => "Reno alone: the window stays above what the delay window aims at, or too small for it",
    }
}

pub fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(head);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn packets(value: Option<f64>) -> String {
    value.map_or("-".into(), |v| format!("{v:.1}"))
}

pub fn point(answer: &Answer) -> String {
    let mut both = table(&["", "Tandem's model", "Blanc et al. 2009"]);
    let mut row = |name: &str, of: &dyn Fn(&Prediction) -> String| {
        both.add_row([name.to_owned(), of(&answer.followed), of(&answer.published)]);
    };
    row("case", &|p| p.case.to_string());
    row("oscillation", &|p| p.oscillation.clone().unwrap_or("none".into()));
    row("window min, packets", &|p| packets(p.theta_min_packets));
    row("window mean, packets", &|p| packets(p.theta_mean_packets));
    row("window max, packets", &|p| packets(p.theta_max_packets));
    row("utilisation, %", &|p| format!("{:.2}", 100.0 * p.utilisation));
    row("throughput, Mb/s", &|p| format!("{:.1}", p.throughput_mbps));
    row("mean queue, packets", &|p| format!("{:.1}", p.backlog_packets));
    row("from loss to loss, s", &|p| format!("{:.2}", p.epoch_s));
    row("window before and after a loss", &|p| {
        format!("{:.0} -> {:.0}", p.loss_window_packets, p.first_window_packets)
    });
    let mut phases = table(&["phase", "rounds", "seconds", "window", "mean queue"]);
    for phase in &answer.followed.phases {
        phases.add_row([
            phase.phase.to_string(),
            format!("{:.1}", phase.rounds),
            format!("{:.3}", phase.duration_s),
            format!("{:.0} .. {:.0}", phase.first_window_packets, phase.last_window_packets),
            format!("{:.1}", phase.backlog_packets),
        ]);
    }
    let mut text = format!(
        "BDP {:.1} packets. Case {}: {}.\n\n{both}\n\nPhases (after {:.3} s of recovery):\n{phases}\n",
        answer.bdp_packets,
        answer.followed.case,
        meaning(answer.followed.case),
        answer.followed.recovery_s,
    );
    if answer.followed.case != answer.published.case {
        text += "\nThe two disagree on the case: the path is near a border, where small differences decide.\n";
    }
    if answer.followed.settled_share > 0.0 && answer.followed.settled_share < 1.0 {
        let share = 100.0 * answer.followed.settled_share;
        text += &format!(
            "\nOnly {share:.0} % of the losses lead to a settled oscillation: the connection changes between cases.\n"
        );
    }
    text
}

pub fn sweep(points: &[Answer]) -> String {
    let mut all = table(&[
        "Mb/s",
        "RTT ms",
        "queue",
        "BDP",
        "case",
        "oscillation",
        "window max",
        "used %",
        "mean queue",
        "(Blanc: case",
        "used %",
        "queue)",
    ]);
    for p in points {
        all.add_row([
            format!("{:.1}", p.rate_mbps),
            format!("{:.1}", p.rtt_ms),
            format!("{:.0}", p.queue_packets),
            format!("{:.0}", p.bdp_packets),
            p.followed.case.to_string(),
            p.followed.oscillation.clone().unwrap_or("-".into()),
            packets(p.followed.theta_max_packets),
            format!("{:.2}", 100.0 * p.followed.utilisation),
            format!("{:.1}", p.followed.backlog_packets),
            p.published.case.to_string(),
            format!("{:.2}", 100.0 * p.published.utilisation),
            format!("{:.1}", p.published.backlog_packets),
        ]);
    }
    all.to_string()
}

/// The map in digits, no wider than a terminal: queues to the right, BDPs upwards, as in Figure 6.
pub fn plane(plane: &Plane) -> String {
    const COLUMNS: usize = 72;
    const ROWS: usize = 24;
    let pick = |count: usize, most: usize| {
        let shown = count.min(most);
        (0..shown).map(move |i| if shown > 1 { i * (count - 1) / (shown - 1) } else { 0 })
    };
    let mut text = String::from("   BDP  case, by queue\n");
    for row in pick(plane.cells.len(), ROWS).rev() {
        let digits: String =
            pick(plane.queues_packets.len(), COLUMNS).map(|c| plane.cells[row][c].case.to_string()).collect();
        text += &format!("{:>6.0}  {digits}\n", plane.bdps_packets[row]);
    }
    let ends = |values: &[f64]| (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
    let (small, large) = ends(&plane.queues_packets);
    let cells = plane.cells.iter().flatten();
    let (agree, count) = cells.fold((0, 0), |(a, n), cell| (a + usize::from(cell.case == cell.published_case), n + 1));
    text + &format!(
        "        queue from {small:.0} to {large:.0} packets, evenly in logarithm\n\n\
         {count} points; Blanc et al.'s model gives the same case for {:.1} % of them.\n",
        100.0 * agree as f64 / count as f64
    )
}

pub fn found(found: &Found) -> String {
    match found {
        Found::Queue(b) => format!(
            "Any queue of {:.0} packets or more is enough. (Smallest single one: {:.0}.)",
            b.queue_packets, b.smallest_queue_packets
        ),
        Found::Rate(r) => format!(
            "Utilisation first falls below it at {:.1} Mb/s, and stays below from {:.1} Mb/s on.",
            r.rate_mbps, r.stays_mbps
        ),
        Found::Gamma(g) => format!(
            "Any gamma up to {:.0} packets works. (Largest single one: {:.0}.)",
            g.gamma_packets, g.largest_gamma_packets
        ),
    }
}

pub fn response(answers: &Answers) -> String {
    let mut all = table(&["loss", "mean window, packets", "goodput, Mb/s", "used %"]);
    for at in &answers.responses {
        all.add_row([
            format!("{:.2e}", at.loss),
            format!("{:.1}", at.window_packets),
            format!("{:.2}", at.goodput_mbps),
            format!("{:.2}", 100.0 * at.utilisation),
        ]);
    }
    format!("Response function of {} (random loss alone, no queue):\n{all}", answers.controller)
}
