// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every controller against every other, as text and as maps.

use tandem_results::Matrix;
use tandem_statistics::Estimate;

use crate::{
    figures_page::{Colouring, Figure, Map, Point},
    number,
    table::{render, width},
};

/// Two tables: the shares, and what each controller does among its own kind.
pub fn matrix_text(matrix: &Matrix) -> String {
    matrix_text_at(matrix, width())
}

fn matrix_text_at(matrix: &Matrix, width: u16) -> String {
    format!("{}\nEach controller among its own kind:\n\n{}", shares(matrix, width), among_its_own(matrix, width))
}

/// Columns have the rows' numbers, for names over them would not fit a terminal.
fn shares(matrix: &Matrix, width: u16) -> String {
    let n = matrix.controllers.len();
    let header = std::iter::once("against".to_owned()).chain((1..=n).map(|i| i.to_string())).collect();
    let cell = |i: usize, j: usize| match (i == j, share(matrix, i, j)) {
        (true, _) => String::new(),
        (false, None) => "-".to_owned(),
        (false, Some(share)) => format!("{:.0}", share * 100.0),
    };
    let row = |(i, name): (usize, &String)| {
        std::iter::once(format!("{:>2} {name}", i + 1)).chain((0..n).map(|j| cell(i, j))).collect()
    };
    let table = render(header, matrix.controllers.iter().enumerate().map(row), width);
    let flows = if matrix.flows == 1 { "1 flow".to_owned() } else { format!("{} flows", matrix.flows) };
    format!("What the row's controller gets, % of what both get, {flows} each{}:\n\n{table}", widest_interval(matrix))
}

/// Among its own kind a controller's share would only say which flows were the luckier.
fn share(matrix: &Matrix, row: usize, column: usize) -> Option<f64> {
    if row == column { None } else { Some(matrix.cells[row][column]?.share) }
}

fn widest_interval(matrix: &Matrix) -> String {
    let pairs = Matrix::pairs(matrix.controllers.len()).filter(|(i, j)| i != j);
    let halves = pairs.filter_map(|(i, j)| matrix.cells[i][j]?.share_ci95);
    match halves.fold(None, |widest: Option<f64>, half| Some(widest.map_or(half, |w| w.max(half)))) {
        // From one end to the other: with two seeds an interval can be wider than all that there is.
        Some(half) if half > 0.5 => " (too few seeds: an interval reaches over all shares)".into(),
        Some(half) => format!(" (half of the widest 95 % interval: {:.0})", half * 100.0),
        None => String::new(),
    }
}

fn among_its_own(matrix: &Matrix, width: u16) -> String {
    let header = ["Controller", "Goodput\nMbit/s", "Used\n%", "Queue\npkts", "Jain"].map(str::to_owned).to_vec();
    let rows = matrix.controllers.iter().enumerate().filter_map(|(i, name)| {
        let cell = matrix.cells[i][i]?;
        Some(vec![
            name.clone(),
            number::significant(cell.goodput_mbps, 4),
            number::percent(cell.utilisation),
            number::significant(cell.queue_packets, 3),
            format!("{:.3}", cell.jain),
        ])
    });
    render(header, rows, width)
}

/// A map of the shares, and of what pairs do to the path.
pub fn matrix_figures(matrix: &Matrix) -> Vec<Figure> {
    let map =
        |title: &str, caption: &str, colouring: Colouring, decimals: u8, of: &dyn Fn(usize, usize) -> Option<f64>| {
            let n = matrix.controllers.len();
            let places: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let row = |i: usize| (0..n).map(|j| of(i, j).unwrap_or(f64::NAN)).collect();
            Figure {
                title: title.into(),
                caption: caption.into(),
                x_axis: "against".into(),
                x_names: matrix.controllers.clone(),
                // The axis points up, tables are read down.
                y_names: matrix.controllers.iter().rev().cloned().collect(),
                map: Some(Map {
                    x: places.clone(),
                    y: places,
                    values: (0..n).rev().map(row).collect(),
                    colouring,
                    decimals: Some(decimals),
                }),
                ..Figure::default()
            }
        };
    let shares =
        "What the row's controller gets of what both get. White is fair; the more orange a row, the more it takes.";
    let queue = "What both do to others on the path.";
    vec![
        map("Share, %", shares, Colouring::AroundHalfOf(100.0), 0, &|i, j| Some(share(matrix, i, j)? * 100.0)),
        map("Link used, %", "By both together.", Colouring::Amount, 1, &|i, j| {
            Some(matrix.cells[i][j]?.utilisation * 100.0)
        }),
        map("Mean queue, packets", queue, Colouring::Amount, 0, &|i, j| Some(matrix.cells[i][j]?.queue_packets)),
        among_its_own_figure(matrix),
    ]
}

fn among_its_own_figure(matrix: &Matrix) -> Figure {
    let point = |(i, name): (usize, &String)| {
        let cell = matrix.cells[i][i]?;
        let [x, y] = [cell.queue_packets, cell.goodput_mbps].map(|mean| Estimate::kept(mean, None));
        Some(Point { name: name.clone(), controller: name.clone(), x, y })
    };
    let points: Vec<Point> = matrix.controllers.iter().enumerate().filter_map(point).collect();
    let caption = "Each controller among its own kind. Up and to the right is better.";
    let title = "Goodput against mean queue";
    let figure = Figure::scatter(title, caption, "Mean queue, packets", "Goodput, Mbit/s", &points);
    Figure { reversed_x: true, ..figure }
}

#[cfg(test)]
mod tests {
    use tandem_results::MatrixCell;

    use super::*;

    fn cell(share: f64, share_ci95: f64) -> Option<MatrixCell> {
        let share_ci95 = Some(share_ci95);
        Some(MatrixCell { share, share_ci95, goodput_mbps: 96.5, utilisation: 0.998, queue_packets: 123.4, jain: 0.9 })
    }

    fn matrix() -> Matrix {
        Matrix {
            controllers: ["reno", "scalable", "veno"].map(String::from).to_vec(),
            flows: 2,
            cells: vec![
                vec![cell(0.5, 0.3), cell(0.1, 0.04), None],
                vec![cell(0.9, 0.04), None, None],
                vec![None, None, cell(0.5, 0.01)],
            ],
        }
    }

    #[test]
    fn reads_as_a_table() {
        let expected = "\
What the row's controller gets, % of what both get, 2 flows each (half of the widest 95 % interval: 4):

against      1  2 3
 1 reno        10 -
 2 scalable 90    -
 3 veno      -  -

Each controller among its own kind:

Controller Goodput Used Queue  Jain
            Mbit/s    %  pkts
reno         96.50 99.8   123 0.900
veno         96.50 99.8   123 0.900
";
        assert_eq!(matrix_text_at(&matrix(), 100), expected);
    }

    #[test]
    fn maps_read_as_tables_do() {
        let shares = &matrix_figures(&matrix())[0];
        assert_eq!(shares.x_names, ["reno", "scalable", "veno"]);
        assert_eq!(shares.y_names, ["veno", "scalable", "reno"]);
        let map = shares.map.as_ref().unwrap();
        assert_eq!((map.values[1][0], map.values[2][1]), (90.0, 10.0));
        assert!(map.values[1][1].is_nan() && map.values[0][0].is_nan());
    }
}
