// SPDX-License-Identifier: MIT OR Apache-2.0
//! A page of figures and tables that are not about runs: curves, points and maps.

use minijinja::{Value, context, value::Serde};
use plotly::{
    HeatMap, Scatter,
    common::{ColorScale, ColorScaleElement, DashType, Line, Marker, Mode},
};

use crate::{
    chart::{Chart, plain},
    colours::PALETTE,
    number::rounded,
    page::{CSS, JS, plotly_js, render},
};

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Style {
    Line,
    Dashed,
    Points,
}

pub struct Curve {
    pub name: String,
    pub style: Style,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
}

/// A map: a whole number from 1 on for each x and y, a row for each y.
pub struct Map {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub values: Vec<Vec<u8>>,
    pub largest: u8,
}

pub struct Figure {
    pub title: String,
    pub caption: String,
    pub x_axis: String,
    pub y_axis: String,
    pub log_x: bool,
    pub log_y: bool,
    pub curves: Vec<Curve>,
    pub map: Option<Map>,
    /// Names of the values 0, 1, ... of y, if they are no numbers.
    pub y_names: Vec<String>,
}

/// A page.
pub struct FiguresPage {
    pub title: String,
    pub paragraphs: Vec<String>,
    /// Text as the terminal has it.
    pub text: String,
    pub figures: Vec<Figure>,
    pub command: String,
    pub version: String,
}

const DIGITS: i32 = 5;

impl Figure {
    fn chart(&self) -> Chart {
        let mut chart = Chart::new(self.title.as_str(), &self.x_axis, &self.y_axis, self.caption.as_str());
        chart.logarithmic(self.log_x, self.log_y);
        if !self.y_names.is_empty() {
            chart.name_y(&self.y_names);
        }
        if let Some(map) = &self.map {
            chart.add(map.trace());
        }
        for (i, curve) in self.curves.iter().enumerate() {
            chart.add(curve.trace(PALETTE[i % PALETTE.len()]));
        }
        chart
    }
}

impl Curve {
    fn trace(&self, colour: &'static str) -> Box<Scatter<f64, f64>> {
        let short = |values: &[f64]| values.iter().map(|&v| rounded(v, DIGITS)).collect();
        let line = Line::new().color(colour).width(1.5);
        let trace = Scatter::new(short(&self.x), short(&self.y)).name(plain(&self.name));
        match self.style {
            Style::Line => trace.mode(Mode::Lines).line(line),
            Style::Dashed => trace.mode(Mode::Lines).line(line.dash(DashType::Dash)),
            Style::Points => trace.mode(Mode::Markers).marker(Marker::new().color(colour).size(5)),
        }
    }
}

impl Map {
    /// One colour for each value, in steps.
    fn trace(&self) -> Box<HeatMap<f64, f64, Vec<f64>>> {
        let share = |i: u8| f64::from(i) / f64::from(self.largest);
        let steps = (0..self.largest).flat_map(|i| {
            let colour = PALETTE[usize::from(i) % PALETTE.len()].to_owned();
            [ColorScaleElement(share(i), colour.clone()), ColorScaleElement(share(i + 1), colour)]
        });
        let short = |values: &[f64]| values.iter().map(|&v| rounded(v, DIGITS)).collect();
        let values: Vec<Vec<f64>> = self.values.iter().map(|row| row.iter().map(|&v| f64::from(v)).collect()).collect();
        HeatMap::new(short(&self.x), short(&self.y), values)
            .zmin(0.5)
            .zmax(f64::from(self.largest) + 0.5)
            .color_scale(ColorScale::Vector(steps.collect()))
    }
}

/// The page as HTML that needs no network.
pub fn figures_html(page: &FiguresPage) -> String {
    let charts: Vec<Value> = page
        .figures
        .iter()
        .map(|figure| {
            let json = Value::from_safe_string(figure.chart().json());
            context! { title => figure.title.as_str(), caption => figure.caption.as_str(), json }
        })
        .collect();
    let content = context! {
        title => page.title.as_str(),
        paragraphs => Value::from(Serde(&page.paragraphs)),
        text => page.text.as_str(),
        charts,
        command => page.command.as_str(),
        version => page.version.as_str(),
        css => Value::from_safe_string(CSS.into()),
        js => Value::from_safe_string(JS.into()),
        plotly => Value::from_safe_string(plotly_js().into()),
    };
    render("figures.html", include_str!("figures.html"), content)
}
