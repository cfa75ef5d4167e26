// SPDX-License-Identifier: MIT OR Apache-2.0
//! A page of figures and tables that are not about runs: curves, points and maps.

use minijinja::{Value, context, value::Serde};
use plotly::{
    HeatMap, Scatter,
    common::{ColorScale, ColorScaleElement, DashType, ErrorData, ErrorType, Line, Marker, MarkerSymbol, Mode},
};

use crate::{
    chart::{Chart, plain},
    colours::PALETTE,
    number::rounded,
    page::render,
};

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Style {
    /// A solid line.
    #[default]
    Line,
    /// A dashed line.
    Dashed,
    /// Filled points without a line.
    Points,
    /// A line through points.
    Marked,
    /// Open points: values from elsewhere.
    Published,
    /// Crosses: values of another engine.
    Measured,
}

/// One curve of a figure. `x` and `y` have the same length.
#[derive(Default)]
pub struct Curve {
    /// Its entry in the legend.
    pub name: String,
    /// How it is drawn.
    pub style: Style,
    /// Places on the x axis.
    pub x: Vec<f64>,
    /// Values there.
    pub y: Vec<f64>,
    /// Half width of each point's interval; empty: no intervals.
    pub half_widths: Vec<f64>,
    /// Its place in the palette; if not given, that among the figure's curves.
    pub colour: Option<usize>,
}

/// A map: a value for each x and y, a row for each y. Where it is no number the map has a hole.
pub struct Map {
    /// Places of the columns.
    pub x: Vec<f64>,
    /// Places of the rows.
    pub y: Vec<f64>,
    /// `values[row][column]`.
    pub values: Vec<Vec<f64>>,
    /// How values become colours.
    pub colouring: Colouring,
}

/// How values become colours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Colouring {
    /// A colour of its own for each whole number from 1 to this.
    Kinds(u8),
    /// From blue at 0 over white at half of this to orange at this.
    AroundHalfOf(f64),
    /// The darker the more, from 0.
    Amount,
}

/// A chart with curves, a map or both.
#[derive(Default)]
pub struct Figure {
    /// Above the chart.
    pub title: String,
    /// Below the chart.
    pub caption: String,
    /// Label of the x axis, with the unit.
    pub x_axis: String,
    /// Label of the y axis, with the unit.
    pub y_axis: String,
    /// Logarithmic x axis.
    pub log_x: bool,
    /// Logarithmic y axis.
    pub log_y: bool,
    /// Drawn in this order, over the map.
    pub curves: Vec<Curve>,
    /// Drawn under the curves.
    pub map: Option<Map>,
    /// Names of the values 0, 1, ... of x, if they are no numbers.
    pub x_names: Vec<String>,
    /// The same for y.
    pub y_names: Vec<String>,
}

/// A page of figures with a text.
pub struct FiguresPage {
    /// Title of the page.
    pub title: String,
    /// Introduction, above the figures.
    pub paragraphs: Vec<String>,
    /// Text as the terminal has it.
    pub text: String,
    /// The charts, in order.
    pub figures: Vec<Figure>,
    /// The command that makes the page again.
    pub command: String,
    /// Tandem's version.
    pub version: String,
}

const DIGITS: i32 = 5;

impl Figure {
    /// For the page's script.
    pub(crate) fn json(&self) -> String {
        self.chart().json()
    }

    fn chart(&self) -> Chart {
        let mut chart = Chart::new(self.title.as_str(), &self.x_axis, &self.y_axis, self.caption.as_str());
        chart.logarithmic(self.log_x, self.log_y);
        if !self.x_names.is_empty() {
            chart.name_x(&self.x_names);
        }
        if !self.y_names.is_empty() {
            chart.name_y(&self.y_names);
        }
        if let Some(map) = &self.map {
            chart.add(map.trace());
        }
        for (i, curve) in self.curves.iter().enumerate() {
            chart.add(curve.trace(PALETTE[curve.colour.unwrap_or(i) % PALETTE.len()]));
        }
        chart
    }
}

impl Curve {
    fn trace(&self, colour: &'static str) -> Box<Scatter<f64, f64>> {
        let short = |values: &[f64]| values.iter().map(|&v| rounded(v, DIGITS)).collect();
        let line = Line::new().color(colour).width(1.5);
        let mut trace = Scatter::new(short(&self.x), short(&self.y)).name(plain(&self.name));
        if self.half_widths.iter().any(|&half| half > 0.0) {
            trace = trace.error_y(ErrorData::new(ErrorType::Data).array(short(&self.half_widths)));
        }
        match self.style {
            Style::Line => trace.mode(Mode::Lines).line(line),
            Style::Dashed => trace.mode(Mode::Lines).line(line.dash(DashType::Dash)),
            Style::Points => trace.mode(Mode::Markers).marker(Marker::new().color(colour).size(5)),
            Style::Marked => trace.mode(Mode::LinesMarkers).line(line).marker(Marker::new().color(colour).size(5)),
            Style::Measured => {
                let cross = Marker::new().color(colour).size(10).symbol(MarkerSymbol::XThin);
                trace.mode(Mode::Markers).marker(cross.line(Line::new().color(colour).width(2.0)))
            }
            Style::Published => {
                let open = Marker::new().color(colour).size(11).symbol(MarkerSymbol::DiamondOpen);
                trace.mode(Mode::Markers).marker(open)
            }
        }
    }
}

impl Map {
    fn trace(&self) -> Box<HeatMap<f64, f64, Vec<f64>>> {
        let short = |values: &[f64]| values.iter().map(|&v| rounded(v, DIGITS)).collect::<Vec<_>>();
        let values = self.values.iter().map(|row| short(row)).collect();
        let map = HeatMap::new(short(&self.x), short(&self.y), values).color_scale(self.colouring.scale());
        match self.colouring {
            Colouring::Kinds(largest) => map.zmin(0.5).zmax(f64::from(largest) + 0.5),
            Colouring::AroundHalfOf(whole) => map.zmin(0.0).zmax(whole),
            Colouring::Amount => map.zmin(0.0).zmax(self.values.iter().flatten().copied().fold(0.0, f64::max)),
        }
    }
}

impl Colouring {
    fn scale(self) -> ColorScale {
        let stops: Vec<(f64, &str)> = match self {
            Colouring::Kinds(largest) => {
                let share = |i: u8| f64::from(i) / f64::from(largest);
                let step = |i: u8| [share(i), share(i + 1)].map(|at| (at, PALETTE[usize::from(i) % PALETTE.len()]));
                (0..largest).flat_map(step).collect()
            }
            Colouring::AroundHalfOf(_) => vec![(0.0, PALETTE[0]), (0.5, "#ffffff"), (1.0, PALETTE[1])],
            Colouring::Amount => vec![(0.0, "#ffffff"), (1.0, PALETTE[0])],
        };
        ColorScale::Vector(stops.into_iter().map(|(at, colour)| ColorScaleElement(at, colour.to_owned())).collect())
    }
}

/// The page as HTML that needs no network.
pub fn figures_html(page: &FiguresPage) -> String {
    let charts: Vec<Value> = page
        .figures
        .iter()
        .map(|figure| {
            let json = Value::from_safe_string(figure.json());
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
    };
    render("figures.html", include_str!("figures.html"), content)
}
