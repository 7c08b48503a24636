//! Stacked histograms: how many stimuli lie in each range, by group.

use super::Canvas;
use super::axis::{self, Tick};
use super::legend::{self, Entry, Swatch};
use super::scale::{Scale, round_end};
use super::svg::{Rect, Svg};
use crate::number::counted;

/// One column: a range and how many of each series lie in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Counts in the order of the series, each with its tip.
    pub(crate) counts: Vec<(usize, String)>,
}

/// One series and its colour.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) paint: String,
}

/// Draws columns over a linear axis, series on top of each other; a legend appears when there are
/// several series.
pub(crate) fn stacked(
    canvas: Canvas,
    columns: &[Column],
    series: &[Series],
    x_title: &str,
    label: &str,
) -> String {
    of_things(canvas, columns, series, (x_title, "Stimuli"), label)
}

/// Draws columns as [`stacked`] does; the titles are those of the axes, across and up.
pub(crate) fn of_things(
    canvas: Canvas,
    columns: &[Column],
    series: &[Series],
    (x_title, y_title): (&str, &str),
    label: &str,
) -> String {
    let width = canvas.width();
    let entry = |series: &Series| Entry {
        swatch: Swatch::Box,
        paint: series.paint.clone(),
        name: series.name.clone(),
    };
    let entries: Vec<Entry> =
        if 1 < series.len() { series.iter().map(entry).collect() } else { Vec::new() };
    let legend_height = legend::height(&entries, width);
    let plot = Rect { x: 44.0, y: legend_height + 28.0, width: width - 62.0, height: 220.0 };
    let mut svg = Svg::new(width, plot.bottom() + 46.0);
    legend::draw(&mut svg, &entries, 2.0, 0.0, width);

    let total = |column: &Column| column.counts.iter().map(|(n, _)| n).sum::<usize>();
    let highest = columns.iter().map(total).max().unwrap_or(0);
    // At least 4, so that the ticks of a tiny histogram are whole numbers.
    let end = round_end(as_f64(highest.max(4)), 5);
    let low = columns.first().map_or(0.0, |column| column.low);
    let high = columns.last().map_or(1.0, |column| column.high);
    let x = Scale::linear((low, high), (plot.x, plot.right()));
    let y = Scale::linear((0.0, end), (plot.bottom(), plot.y));

    let ticks: Vec<Tick> =
        y.ticks(5).into_iter().map(|n| Tick { at: y.at(n), text: format!("{n}") }).collect();
    axis::y_axis(&mut svg, plot, &ticks, y_title);
    for column in columns {
        draw_column(&mut svg, column, series, &x, &y);
    }
    let ticks: Vec<Tick> = x
        .ticks(5)
        .into_iter()
        .map(|value| Tick { at: x.at(value), text: axis::percent(value) })
        .collect();
    axis::x_axis(&mut svg, plot, &ticks, x_title);
    svg.finish(label)
}

fn draw_column(svg: &mut Svg, column: &Column, series: &[Series], x: &Scale, y: &Scale) {
    let (left, right) = (x.at(column.low) + 1.0, x.at(column.high) - 1.0);
    let mut below = 0;
    for ((n, tip), series) in column.counts.iter().zip(series) {
        if *n == 0 {
            continue;
        }
        let (bottom, top) = (y.at(as_f64(below)), y.at(as_f64(below + n)));
        let body = Rect { x: left, y: top, width: right - left, height: bottom - top };
        svg.mark(tip, |svg| svg.rect("fill cut", &series.paint, body));
        below += n;
    }
}

/// Returns the tip of one box: `difficulty 20–30 %, ImageNet: 12 stimuli`.
pub(crate) fn tip(low: f64, high: f64, series: &str, n: usize) -> String {
    let low = axis::percent(low);
    let low = low.trim_end_matches(" %");
    format!("{low}–{} · {series}\n{}", axis::percent(high), counted(n, "stimulus", "stimuli"))
}

#[expect(clippy::cast_precision_loss, reason = "charts count far fewer than 2^52 stimuli")]
fn as_f64(n: usize) -> f64 {
    n as f64
}
