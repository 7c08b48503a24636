//! Smooth curves over a linear axis, such as the chance of a right answer over ability.

use super::Canvas;
use super::axis::{self, Tick, percent_ticks};
use super::legend::{self, Entry, Swatch};
use super::scale::Scale;
use super::svg::{Rect, Svg};
use crate::number::round_number;

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) paint: String,
    /// Places and shares, ascending.
    pub(crate) points: Vec<(f64, f64)>,
    /// The place worth a dot, and what it says.
    pub(crate) dot: (f64, f64),
    pub(crate) tip: String,
}

/// Draws curves of shares.
pub(crate) fn over(canvas: Canvas, curves: &[Curve], x_title: &str, label: &str) -> String {
    let width = canvas.width();
    let entry = |curve: &Curve| Entry {
        swatch: Swatch::Line,
        paint: curve.paint.clone(),
        name: curve.name.clone(),
    };
    let entries: Vec<Entry> = curves.iter().map(entry).collect();
    let legend_height = legend::height(&entries, width);
    let plot = Rect { x: 44.0, y: legend_height + 28.0, width: width - 62.0, height: 240.0 };
    let mut svg = Svg::new(width, plot.bottom() + 46.0);
    legend::draw(&mut svg, &entries, 2.0, 0.0, width);
    let places = || curves.iter().flat_map(|curve| &curve.points).map(|point| point.0);
    let domain =
        (places().fold(f64::INFINITY, f64::min), places().fold(f64::NEG_INFINITY, f64::max));
    let x = Scale::linear(domain, (plot.x, plot.right()));
    let y = Scale::linear((0.0, 1.0), (plot.bottom(), plot.y));
    let shares = percent_ticks(&y, &[0.0, 0.25, 0.5, 0.75, 1.0]);
    axis::y_axis(&mut svg, plot, &shares, "Chance of a right answer");
    let ticks: Vec<Tick> = x
        .ticks(8)
        .into_iter()
        .map(|value| Tick { at: x.at(value), text: round_number(value) })
        .collect();
    axis::x_axis(&mut svg, plot, &ticks, x_title);
    for curve in curves {
        let line: Vec<(f64, f64)> =
            curve.points.iter().map(|(place, share)| (x.at(*place), y.at(*share))).collect();
        svg.polyline("stroke", &curve.paint, &line);
    }
    for curve in curves {
        let inside = domain.0 <= curve.dot.0 && curve.dot.0 <= domain.1;
        if !inside {
            continue;
        }
        let at = (x.at(curve.dot.0), y.at(curve.dot.1));
        svg.mark(&curve.tip, |svg| {
            svg.circle("hit", "", at, 11.0);
            svg.circle("fill ringed", &curve.paint, at, 4.5);
        });
    }
    svg.finish(label)
}
