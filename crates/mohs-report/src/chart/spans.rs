//! Rows of spreads over an axis of times or of shares: the middle half as a bar, nine tenths as a
//! line, the median as a dot.

use mohs_data::Millis;

use super::Canvas;
use super::axis::{self, Tick, percent_ticks};
use super::scale::{Scale, round_log_range};
use super::svg::{Anchor, Rect, Svg};
use crate::number::axis_time;
use crate::width;

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SpanRow {
    pub(crate) name: String,
    /// Muted text at the right end.
    pub(crate) note: String,
    /// 5th, 25th, 50th, 75th and 95th percentile, in ms or as shares.
    pub(crate) percentiles: [f64; 5],
    pub(crate) paint: String,
    pub(crate) tip: String,
}

const ROW: f64 = 20.0;

/// Draws rows of times on a logarithmic axis; `limits` are places worth a line.
pub(crate) fn times(
    canvas: Canvas,
    rows: &[SpanRow],
    limits: &[(f64, &str)],
    label: &str,
) -> String {
    let plot = plot(canvas, rows);
    let mut svg = Svg::new(canvas.width(), plot.bottom() + 46.0);
    let lowest = rows.iter().map(|row| row.percentiles[0]).fold(f64::INFINITY, f64::min);
    let highest = rows.iter().map(|row| row.percentiles[4]).fold(1.0, f64::max);
    // Times of zero or less have no place on a logarithmic axis.
    let domain = round_log_range((lowest.max(10.0), highest.max(20.0)));
    let x = Scale::log(domain, (plot.x + 4.0, plot.right() - 4.0));
    let text = |value: f64| Millis::new(value).map(axis_time).unwrap_or_default();
    let ticks: Vec<Tick> = x
        .ticks(if canvas == Canvas::Wide { 9 } else { 5 })
        .into_iter()
        .map(|value| Tick { at: x.at(value), text: text(value) })
        .collect();
    upright(&mut svg, plot, &ticks, "Response time in ms (logarithmic)");
    for (at, name) in limits.iter().filter(|(at, _)| domain.0 < *at && *at < domain.1) {
        let at = x.at(*at);
        svg.line("reference", (at, plot.y), (at, plot.bottom()));
        svg.text("level", Anchor::Middle, (at, plot.y - 5.0), name);
    }
    draw(&mut svg, canvas, rows, plot, &x);
    svg.finish(label)
}

/// Draws rows of shares on an axis from 0 to 100 %.
pub(crate) fn shares(canvas: Canvas, rows: &[SpanRow], title: &str, label: &str) -> String {
    let plot = plot(canvas, rows);
    let mut svg = Svg::new(canvas.width(), plot.bottom() + 46.0);
    let x = Scale::linear((0.0, 1.0), (plot.x + 4.0, plot.right() - 4.0));
    upright(&mut svg, plot, &percent_ticks(&x, &[0.0, 0.25, 0.5, 0.75, 1.0]), title);
    draw(&mut svg, canvas, rows, plot, &x);
    svg.finish(label)
}

/// Draws an upright line at each tick, and the axis below.
fn upright(svg: &mut Svg, plot: Rect, ticks: &[Tick], title: &str) {
    for tick in ticks {
        svg.line("grid", (tick.at, plot.y), (tick.at, plot.bottom()));
    }
    axis::x_axis(svg, plot, ticks, title);
}

/// Columns of a name.
fn max_columns(canvas: Canvas) -> usize {
    if canvas == Canvas::Wide { 24 } else { 10 }
}

/// Returns the room for the rows, between their names and their notes.
fn plot(canvas: Canvas, rows: &[SpanRow]) -> Rect {
    let width = canvas.width();
    let longest = rows.iter().map(|row| width::columns(&row.name)).max().unwrap_or(0);
    let left = width::pixels(&"n".repeat(longest.min(max_columns(canvas))), 13.0) + 14.0;
    let notes = rows.iter().map(|row| width::pixels(&row.note, 12.0)).fold(0.0, f64::max);
    let right = if notes <= 0.0 { 6.0 } else { notes + 12.0 };
    let n_rows = u32::try_from(rows.len()).unwrap_or(0);
    let height = ROW * f64::from(n_rows) + 6.0;
    Rect { x: left, y: 18.0, width: width - left - right, height }
}

fn draw(svg: &mut Svg, canvas: Canvas, rows: &[SpanRow], plot: Rect, x: &Scale) {
    for (idx, row) in (0u32..).zip(rows) {
        let top = plot.y + 3.0 + ROW * f64::from(idx);
        let middle = top + ROW / 2.0;
        let name = width::shorten(&row.name, max_columns(canvas));
        svg.text("row", Anchor::Start, (0.0, middle + 4.5), &name);
        svg.text("row-note", Anchor::End, (canvas.width(), middle + 4.5), &row.note);
        let [p05, p25, median, p75, p95] = row.percentiles.map(|time| x.at(time));
        let hit = Rect { x: plot.x, y: top, width: plot.width, height: ROW };
        svg.mark(&row.tip, |svg| {
            svg.rect("hit", "", hit);
            svg.polyline("stroke", &row.paint, &[(p05, middle), (p95, middle)]);
            let body = Rect { x: p25, y: middle - 4.0, width: p75 - p25, height: 8.0 };
            svg.rect("fill", &row.paint, body);
            svg.circle("fill ringed", &row.paint, (median, middle), 4.5);
        });
    }
}
