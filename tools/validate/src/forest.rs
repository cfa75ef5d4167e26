// SPDX-License-Identifier: MIT OR Apache-2.0
//! All comparisons of a page as one picture: each difference with its interval, as a multiple of what is allowed.

use plotters::prelude::*;

use super::{
    compare::{Agreement, Check},
    table::Table,
};

const WIDTH: u32 = 900;
const NAMES_WIDTH: i32 = 400;
const HEAD_HEIGHT: i32 = 48;
const FOOT_HEIGHT: i32 = 46;
const LINE_HEIGHT: i32 = 5;
/// No table is lower than its title.
const LEAST_HEIGHT: i32 = 26;
/// Multiples of the bound that are drawn; what is further stands at the edge.
const REACH: f64 = 3.0;

/// Of Okabe and Ito's palette, as in the reports.
fn colour(agreement: Agreement) -> RGBColor {
    match agreement {
        Agreement::Agrees => RGBColor(0, 114, 178),
        Agreement::Open => RGBColor(140, 140, 140),
        Agreement::Differs | Agreement::NotAsked => RGBColor(213, 94, 0),
    }
}

fn checks(table: &Table) -> Vec<(Agreement, f64, f64)> {
    let drawn = |check: Check| check.distance.map(|(off, half)| (check.agreement, off, half));
    table.checks().filter(|check| check.agreement != Agreement::NotAsked).filter_map(drawn).collect()
}

fn height(count: usize) -> i32 {
    LEAST_HEIGHT.max(LINE_HEIGHT * count as i32 + 8)
}

fn x(multiple: f64) -> i32 {
    let width = f64::from(WIDTH as i32 - NAMES_WIDTH - 20);
    NAMES_WIDTH + (width * (multiple.clamp(-REACH, REACH) / REACH + 1.0) / 2.0).round() as i32
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// The picture, or none if no distance was judged.
pub(super) fn svg(tables: &[Table]) -> anyhow::Result<Option<String>> {
    let all: Vec<_> =
        tables.iter().map(|table| (table, checks(table))).filter(|(_, checks)| !checks.is_empty()).collect();
    if all.is_empty() {
        return Ok(None);
    }
    let end = HEAD_HEIGHT + all.iter().map(|(_, checks)| height(checks.len())).sum::<i32>();
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, (end + FOOT_HEIGHT) as u32)).into_drawing_area();
        // Pages may be dark; the picture is not.
        area.fill(&WHITE).map_err(failed)?;
        let within = RGBColor(225, 238, 247).filled();
        area.draw(&Rectangle::new([(x(-1.0), HEAD_HEIGHT), (x(1.0), end)], within)).map_err(failed)?;
        legend(&area)?;
        let mut top = HEAD_HEIGHT;
        for (table, checks) in &all {
            one_table(&area, table, checks, top)?;
            top += height(checks.len());
        }
        axis(&area, end)?;
        area.present().map_err(failed)?;
    }
    Ok(Some(text))
}

fn legend(area: &Area) -> anyhow::Result<()> {
    for (at, agreement) in [(10, Agreement::Agrees), (90, Agreement::Open), (240, Agreement::Differs)] {
        area.draw(&Circle::new((at, 20), 4, colour(agreement).filled())).map_err(failed)?;
        area.draw(&Text::new(agreement.words(), (at + 9, 13), ("sans-serif", 14))).map_err(failed)?;
    }
    Ok(())
}

fn one_table(area: &Area, table: &Table, checks: &[(Agreement, f64, f64)], top: i32) -> anyhow::Result<()> {
    let line = RGBColor(200, 200, 200);
    area.draw(&PathElement::new([(0, top), (WIDTH as i32, top)], line)).map_err(failed)?;
    area.draw(&Text::new(table.title.clone(), (6, top + 6), ("sans-serif", 13))).map_err(failed)?;
    let first = top + (height(checks.len()) - LINE_HEIGHT * (checks.len() as i32 - 1)) / 2;
    for (at, &(agreement, off, half)) in checks.iter().enumerate() {
        let y = first + LINE_HEIGHT * at as i32;
        let colour = colour(agreement);
        area.draw(&PathElement::new([(x(off - half), y), (x(off + half), y)], colour)).map_err(failed)?;
        area.draw(&Circle::new((x(off), y), 2, colour.filled())).map_err(failed)?;
    }
    Ok(())
}

fn axis(area: &Area, end: i32) -> anyhow::Result<()> {
    area.draw(&PathElement::new([(x(0.0), HEAD_HEIGHT), (x(0.0), end)], RGBColor(120, 120, 120))).map_err(failed)?;
    for multiple in [-3, -2, -1, 0, 1, 2, 3] {
        let edge = if multiple == -3 {
            "≤ "
        } else if multiple == 3 {
            "≥ "
        } else {
            ""
        };
        let text = format!("{edge}{multiple}");
        area.draw(&Text::new(text, (x(f64::from(multiple)) - 6, end + 6), ("sans-serif", 13))).map_err(failed)?;
    }
    let what = "difference, as a multiple of what is allowed, and its 95 % interval";
    area.draw(&Text::new(what, (x(-REACH), end + 24), ("sans-serif", 13))).map_err(failed)
}

/// plotters' errors borrow what they are about.
fn failed(e: impl std::fmt::Display) -> anyhow::Error {
    anyhow::anyhow!("cannot draw: {e}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::example;

    /// One dot for each comparison and one for each colour of the legend.
    #[test]
    fn each_comparison_is_a_dot_in_the_colour_of_its_answer() {
        let text = svg(&[example()]).expect("it is drawn").expect("distances were judged");
        assert!(text.starts_with("<svg") && text.contains("An example"));
        for (colour, count) in [("#0072B2", 2), ("#8C8C8C", 2), ("#D55E00", 2)] {
            let dots = text.matches("<circle").count();
            assert_eq!(dots, 6);
            assert_eq!(
                text.split("<circle").filter(|part| part.contains(&format!("fill=\"{colour}\""))).count(),
                count,
                "{colour}"
            );
        }
    }

    #[test]
    fn without_distances_there_is_no_picture() {
        assert!(svg(&[]).expect("nothing fails").is_none());
    }
}
