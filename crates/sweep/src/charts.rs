// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts of a data set: a measure over any two columns, as lines or as a heat map.

use std::{path::Path, str::FromStr};

use tandem_controllers::CONTROLLERS;
use tandem_report::{Colouring, Curve, Figure, Map, Style, significant};

use crate::{
    error::SummaryError,
    means::{Axis, Means, groups_of_a_task, means},
};

/// The most pairs of keys that have a chart if none is asked for.
const MAX_PAIRS: usize = 6;
/// More lines than these are a heat map.
const MAX_LINES: usize = 12;

/// The columns of a chart: two, or one.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    x: String,
    y: Option<String>,
}

/// What names neither one column nor two.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not one column or two: write X,Y")]
pub struct PairError(pub String);

impl FromStr for Pair {
    type Err = PairError;

    fn from_str(text: &str) -> Result<Self, PairError> {
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        match names[..] {
            [x] if !x.is_empty() => Ok(Self { x: x.into(), y: None }),
            [x, y] if !x.is_empty() && !y.is_empty() => Ok(Self { x: x.into(), y: Some(y.into()) }),
            _ => Err(PairError(text.to_owned())),
        }
    }
}

impl Pair {
    /// One column over the other, or one alone.
    pub fn new(x: String, y: Option<String>) -> Self {
        Self { x, y }
    }

    /// The names of its columns.
    pub fn columns(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.x).chain(&self.y)
    }
}

/// A chart for each pair, measure and group of a run of the data set in a folder. Without `pairs`: those of the keys that vary, whose columns are
/// `swept`.
///
/// # Errors
/// If a column is not there, has too many words for an axis, or is a measure without numbers.
pub fn figures(
    folder: &Path,
    pairs: &[Pair],
    measures: &[String],
    swept: &[String],
) -> Result<Vec<Figure>, SummaryError> {
    let all = all_pairs(swept);
    let pairs = if pairs.is_empty() { &all[..] } else { pairs };
    let groups = groups_of_a_task(folder)?;
    let mut figures = Vec::new();
    for pair in pairs {
        for measure in measures {
            for group in 0..groups {
                let means = means(folder, measure, &pair.x, pair.y.as_deref(), group)?;
                let of_group = if groups > 1 { format!(" of flows[{group}]") } else { String::new() };
                figures.push(figure(pair, means, measure, &of_group));
            }
        }
    }
    Ok(figures)
}

/// Words last: they are curves.
fn all_pairs(swept: &[String]) -> Vec<Pair> {
    if let [only] = swept {
        return vec![Pair { x: only.clone(), y: None }];
    }
    let pairs = swept.iter().enumerate().flat_map(|(i, y)| swept[i + 1..].iter().map(move |x| (x, y)));
    pairs.map(|(x, y)| Pair { x: x.clone(), y: Some(y.clone()) }).take(MAX_PAIRS).collect()
}

fn figure(pair: &Pair, means: Means, measure: &str, of_group: &str) -> Figure {
    // What has numbers lies along x.
    let (pair, means) = match (&means.x, &means.y, &pair.y) {
        (Axis::Words(_), Axis::Values(_) | Axis::Bins(_), Some(y)) => {
            (&Pair { x: y.clone(), y: Some(pair.x.clone()) }, transposed(means))
        }
        _ => (pair, means),
    };
    let y = pair.y.as_deref().unwrap_or_default();
    let one = unit(measure).map_or(1.0, |(.., one)| *one);
    let cells = means.cells.into_iter().map(|row| row.into_iter().map(|value| Some(value? / one)).collect()).collect();
    let means = Means { x: in_unit(means.x, &pair.x), y: in_unit(means.y, y), cells };
    match (means.x.numbers(), &means.y) {
        (Some(x), Axis::Words(words)) if words.len() <= MAX_LINES => {
            let by = pair.y.as_deref().map_or_else(String::new, |y| format!(" by {}", name(y)));
            let title = format!("{}{of_group} over {}{by}", name(measure), name(&pair.x));
            lines(title, pair, measure, &means, &x, words)
        }
        _ => {
            let and = pair.y.as_deref().map_or_else(String::new, |y| format!(" and {}", name(y)));
            // The unit comes last, for those who hover.
            let unit = label(measure).strip_prefix(name(measure)).unwrap_or_default().to_owned();
            let title = format!("{}{of_group} over {}{and}{unit}", name(measure), name(&pair.x));
            map(title, pair, measure, &means)
        }
    }
}

fn transposed(means: Means) -> Means {
    let cells = (0..means.x.len()).map(|column| means.cells.iter().map(|row| row[column]).collect()).collect();
    Means { x: means.y, y: means.x, cells }
}

fn lines(title: String, pair: &Pair, measure: &str, means: &Means, x: &[f64], words: &[String]) -> Figure {
    let curve = |(word, row): (&String, &Vec<Option<f64>>)| {
        let (x, y) = x.iter().zip(row).filter_map(|(x, value)| Some((*x, (*value)?))).unzip();
        let controller = CONTROLLERS.iter().find(|c| word.split('@').next() == Some(c.name));
        let name = if word.is_empty() { measure.to_owned() } else { word.clone() };
        Curve {
            name,
            style: Style::Marked,
            x,
            y,
            controller: controller.map(|c| c.name.to_owned()),
            ..Curve::default()
        }
    };
    let caption = match (&pair.y, &means.x) {
        (Some(y), Axis::Bins(_)) => format!("A line for each {}. Points are means over a range of x.", name(y)),
        (Some(y), _) => format!("A line for each {}.", name(y)),
        (None, _) => String::new(),
    };
    Figure {
        title,
        caption,
        x_axis: label(&pair.x),
        y_axis: label(measure),
        log_x: means.x.is_log(),
        curves: words.iter().zip(&means.cells).map(curve).collect(),
        ..Figure::default()
    }
}

fn map(title: String, pair: &Pair, measure: &str, means: &Means) -> Figure {
    let places = |axis: &Axis| (0..axis.len()).map(|i| i as f64).collect();
    let value = |value: &Option<f64>| value.unwrap_or(f64::NAN);
    Figure {
        title,
        caption: format!("{} by colour. Where there is none, no run has a value.", label(measure)),
        x_axis: label(&pair.x),
        y_axis: pair.y.as_deref().map_or_else(String::new, label),
        x_names: names(&means.x),
        y_names: names(&means.y),
        map: Some(Map {
            x: places(&means.x),
            y: places(&means.y),
            values: means.cells.iter().map(|row| row.iter().map(value).collect()).collect(),
            colouring: Colouring::Amount,
            decimals: None,
        }),
        ..Figure::default()
    }
}

fn names(axis: &Axis) -> Vec<String> {
    match axis {
        Axis::Words(words) => words.clone(),
        Axis::Values(values) => values.iter().map(|value| short(*value)).collect(),
        Axis::Bins(borders) => {
            borders.windows(2).map(|two| format!("{} to {}", short(two[0]), short(two[1]))).collect()
        }
    }
}

/// Three digits, without zeros at the end. Loss rates are small numbers.
fn short(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        let text = format!("{value:.2e}");
        return text.replace(".00e", "e").replace("0e", "e");
    }
    let text = significant(value, 3);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// How the name of a column ends, the unit that a chart shows, and how many of the column's are one of it.
const UNITS: [(&str, &str, f64); 7] = [
    ("_mbps", "Mbit/s", 1.0),
    ("_bps", "Mbit/s", 1e6),
    ("_ms", "ms", 1.0),
    ("_s", "s", 1.0),
    ("_packets", "packets", 1.0),
    ("_bytes", "kB", 1e3),
    ("_bdp", "bandwidth-delay products", 1.0),
];

fn unit(column: &str) -> Option<&'static (&'static str, &'static str, f64)> {
    UNITS.iter().find(|(suffix, ..)| column.ends_with(suffix))
}

/// The places of a column in the unit that charts show.
fn in_unit(axis: Axis, column: &str) -> Axis {
    let one = unit(column).map_or(1.0, |(.., one)| *one);
    let scaled = |values: Vec<f64>| values.into_iter().map(|value| value / one).collect();
    match axis {
        Axis::Words(words) => Axis::Words(words),
        Axis::Values(values) => Axis::Values(scaled(values)),
        Axis::Bins(borders) => Axis::Bins(scaled(borders)),
    }
}

/// `dumbbell.rate`
fn name(column: &str) -> &str {
    unit(column).and_then(|(suffix, ..)| column.strip_suffix(suffix)).unwrap_or(column)
}

/// `dumbbell.rate, Mbit/s`
fn label(column: &str) -> String {
    unit(column).map_or_else(|| column.to_owned(), |(_, unit, _)| format!("{}, {unit}", name(column)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(x: Axis, y: Axis) -> Means {
        let cells = (0..y.len()).map(|row| (0..x.len()).map(|c| Some((10 * row + c) as f64)).collect()).collect();
        Means { x, y, cells }
    }

    fn words(words: &[&str]) -> Axis {
        Axis::Words(words.iter().map(|&word| word.to_owned()).collect())
    }

    #[test]
    fn words_are_lines_over_numbers_whichever_comes_first() {
        let pair = |text: &str| text.parse::<Pair>().unwrap();
        let (rates, controllers) = (Axis::Values(vec![1e6, 1e8]), words(&["cubic", "reno"]));
        let one = figure(&pair("dumbbell.rate_bps,c"), means(rates.clone(), controllers.clone()), "goodput_mbps", "");
        let two = figure(&pair("c,dumbbell.rate_bps"), means(controllers, rates), "goodput_mbps", "");
        assert_eq!([one.curves[0].y.clone(), one.curves[1].y.clone()], [[0.0, 1.0], [10.0, 11.0]]);
        assert_eq!([two.curves[0].y.clone(), two.curves[1].y.clone()], [[0.0, 10.0], [1.0, 11.0]]);
        for figure in [one, two] {
            assert!(figure.log_x && figure.map.is_none());
            assert_eq!(figure.curves[0].x, [1.0, 100.0]);
            assert_eq!([figure.x_axis.as_str(), &figure.y_axis], ["dumbbell.rate, Mbit/s", "goodput, Mbit/s"]);
            assert_eq!(figure.curves[0].controller.as_deref(), Some("cubic"));
        }
    }

    #[test]
    fn two_numbers_are_a_map() {
        let pair = "a_bps,b_s".parse::<Pair>().unwrap();
        let figure = figure(&pair, means(Axis::Values(vec![1e6, 2.5e6]), Axis::Bins(vec![0.0, 0.5, 1.0])), "jain", "");
        assert_eq!(figure.map.unwrap().values, [[0.0, 1.0], [10.0, 11.0]]);
        assert_eq!(
            (figure.x_names, figure.y_names),
            (vec!["1".into(), "2.5".into()], vec!["0 to 0.5".into(), "0.5 to 1".into()])
        );
    }

    #[test]
    fn a_chart_has_one_column_or_two() {
        for text in ["", "a,", ",b", "a,b,c"] {
            assert!(text.parse::<Pair>().is_err(), "{text}");
        }
    }
}
