// SPDX-License-Identifier: MIT OR Apache-2.0
//! An answer for the terminal.

use std::fmt::Write;

use tandem_statistics::AsymmetricEstimate;

use crate::{Answer, Guard, Row, Verdict, evidence::Totals};

/// The answer in some lines. `elapsed_s`: the trial's duration so far, to estimate the remaining time.
pub fn answer_text(answer: &Answer, elapsed_s: f64) -> String {
    let [first, second] = &answer.arms;
    let mut text = format!("{}\n\n", sentence(answer));
    let how = if answer.by_peer { "of the peers" } else { "of the connections" };
    let _ = writeln!(text, "{first} on {:.3} % {how}, against {second}; {} peers", answer.share * 100.0, answer.peers);
    for (name, totals) in answer.arms.iter().zip(&answer.totals) {
        let _ = writeln!(text, "  {name:15} {}", sums(totals));
    }
    let _ =
        writeln!(text, "\nGoodput while busy, {first} to {second} (intervals hold together at all times with 95 %)");
    for row in &answer.rows {
        let _ = writeln!(text, "  {}", row_text(row));
    }
    let _ = writeln!(text, "\nGuard rails: {first} is worse than {second} by");
    for guard in &answer.guards {
        let _ = writeln!(text, "  {}", guard_text(guard));
    }
    if let Some(line) = still_to_go(answer, elapsed_s) {
        let _ = writeln!(text, "\n{line}");
    }
    text
}

fn sentence(answer: &Answer) -> String {
    let [first, second] = &answer.arms;
    if let Some(guard) = answer.broken() {
        return format!("{first} broke a guard rail: {}.", guard_text(guard));
    }
    match answer.verdict {
        Verdict::TooFew => "Too few connections have ended to say anything.".into(),
        Verdict::NoDifference => format!("No difference between {first} and {second} has shown."),
        Verdict::Better => format!("{first} has more goodput than {second}{}.", where_shown(answer)),
        Verdict::Worse => format!("{first} has less goodput than {second}{}.", where_shown(answer)),
        Verdict::Mixed => {
            format!("{first} has more goodput than {second} in some sizes and less in others{}.", where_shown(answer))
        }
    }
}

fn where_shown(answer: &Answer) -> String {
    let shown = answer.rows.iter().filter(|row| row.goodput_change.is_some_and(|change| change.excludes_zero()));
    let names: Vec<&str> = shown.map(|row| &*row.name).collect();
    if names.contains(&"all") { String::new() } else { format!(" ({})", names.join(", ")) }
}

fn sums(totals: &Totals) -> String {
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole * 100.0 } else { 0.0 };
    format!(
        "{:>7} connections  {:>9.1} MB  {:.2} % retransmitted  {:.2} % failed  limited by receiver {:.0} %, send buffer {:.0} %",
        totals.connections,
        totals.bytes as f64 / 1e6,
        share(totals.retransmitted as f64, totals.segments as f64),
        share(totals.failed as f64, totals.connections as f64),
        share(totals.rwnd_limited_s, totals.busy_s),
        share(totals.sndbuf_limited_s, totals.busy_s)
    )
}

fn told(change: Option<AsymmetricEstimate>) -> String {
    change.map_or_else(|| "too few".into(), |change| change.percent())
}

fn row_text(row: &Row) -> String {
    let [first, second] = row.connections;
    let change = told(row.goodput_change);
    format!("{:18} {first:>7} to {second:<7} {change}", row.name)
}

fn guard_text(guard: &Guard) -> String {
    let change = told(guard.change);
    let unit = if guard.what == "rtt" { "%" } else { "% of all" };
    format!("{:16} {change}; it ends the trial for certain above {:.1} {unit}", guard.what, guard.limit * 100.0)
}

/// The remaining connections until a difference of 5 % would show.
fn still_to_go(answer: &Answer, elapsed_s: f64) -> Option<String> {
    let needed = answer.connections_to_show?;
    let counted = answer.counted as f64;
    let done = (counted / needed).min(1.0);
    const CELLS: f64 = 30.0;
    let bar: String = (0..CELLS as usize).map(|cell| if (cell as f64) < done * CELLS { '#' } else { '.' }).collect();
    let rest = if counted >= needed {
        "a difference of 5 % would have shown by now".into()
    } else {
        let seconds = (needed - counted) * elapsed_s / counted.max(1.0);
        format!("a difference of 5 % would show after about {needed:.0} connections, in {}", duration(seconds))
    };
    Some(format!("[{bar}] {counted:.0} connections sent something; {rest}"))
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.0} h", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_units_that_people_use() {
        let texts = [5.0, 119.0, 120.0, 7199.0, 7200.0, 172_800.0].map(duration);
        assert_eq!(texts, ["5 s", "119 s", "2 min", "120 min", "2 h", "2 days"]);
    }
}
