//! Rows of dots with intervals, and a tick where the most that can be reached is.

use mohs_data::Estimate;

use super::Canvas;
use super::axis::{self, Tick};
use super::legend::{self, Entry, Swatch};
use super::paint;
use super::scale::Scale;
use super::svg::{Anchor, Rect, Svg};
use crate::number::fixed;
use crate::width;

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BoundedRow {
    pub(crate) name: String,
    /// Muted text at the right end.
    pub(crate) note: String,
    pub(crate) estimate: Estimate,
    /// The most that can be reached.
    pub(crate) most: f64,
    /// Which series of the legend the row belongs to.
    pub(crate) series_idx: usize,
    pub(crate) tip: String,
    /// A line above this row, where another kind of rows begins.
    pub(crate) is_apart: bool,
}

const ROW: f64 = 22.0;
const APART: f64 = 10.0;

/// Draws the rows from the least low end (or 0) to 1, under a legend of series.
pub(crate) fn rows(
    canvas: Canvas,
    rows: &[BoundedRow],
    series: &[&str],
    most: &str,
    label: &str,
) -> String {
    let width = canvas.width();
    let mut entries: Vec<Entry> = series
        .iter()
        .enumerate()
        .map(|(idx, name)| Entry {
            swatch: Swatch::Line,
            paint: paint::set(idx),
            name: (*name).into(),
        })
        .collect();
    entries.push(Entry { swatch: Swatch::PaleBox, paint: MOST.into(), name: most.into() });
    let top = legend::height(&entries, width) + 6.0;
    let n_apart = rows.iter().filter(|row| row.is_apart).count();
    let height = ROW * as_f64(rows.len()) + APART * as_f64(n_apart);
    let max_columns = if canvas == Canvas::Wide { 30 } else { 17 };
    let longest = rows.iter().map(|row| width::columns(&row.name)).max().unwrap_or(0);
    let left = width::pixels(&"n".repeat(longest.min(max_columns)), 13.0) + 14.0;
    let notes = rows.iter().map(|row| width::pixels(&row.note, 12.0)).fold(0.0, f64::max) + 10.0;
    let plot = Rect { x: left, y: top, width: width - left - notes, height };
    let mut svg = Svg::new(width, plot.bottom() + 28.0);
    legend::draw(&mut svg, &entries, 2.0, 0.0, width);

    let lowest = rows.iter().map(|row| row.estimate.low).fold(0.0, f64::min);
    let start = if lowest < 0.0 { (lowest * 5.0).floor() / 5.0 } else { 0.0 };
    let scale = Scale::linear((start, 1.0), (plot.x + 6.0, plot.right() - 6.0));
    let n_ticks = if plot.width < 260.0 { 3 } else { 6 };
    let ticks: Vec<Tick> = scale
        .ticks(n_ticks)
        .into_iter()
        .map(|value| Tick { at: scale.at(value), text: fixed(value, 1) })
        .collect();
    for tick in &ticks {
        svg.line("grid", (tick.at, plot.y), (tick.at, plot.bottom()));
    }
    axis::x_axis(&mut svg, plot, &ticks, "");
    let mut y = top;
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let names = width::distinct(&names, max_columns);
    for (row, name) in rows.iter().zip(&names) {
        if row.is_apart {
            svg.line("grid", (0.0, y + APART / 2.0), (width, y + APART / 2.0));
            y += APART;
        }
        draw_row(&mut svg, (row, name), &scale, Rect { y, height: ROW, ..plot }, width);
        y += ROW;
    }
    svg.finish(label)
}

/// The colour of the most that can be reached.
const MOST: &str = "var(--quiet)";

fn draw_row(
    svg: &mut Svg,
    (row, name): (&BoundedRow, &str),
    scale: &Scale,
    place: Rect,
    width: f64,
) {
    let middle = place.y + place.height / 2.0;
    svg.text("row", Anchor::Start, (0.0, middle + 4.5), name);
    svg.text("row-note", Anchor::End, (width, middle + 4.5), &row.note);
    let paint = paint::set(row.series_idx);
    let at = |value: f64| scale.at(value);
    svg.mark(&row.tip, |svg| {
        svg.rect("hit", "", place);
        let most = Rect { x: at(row.most) - 2.0, y: middle - 7.0, width: 4.0, height: 14.0 };
        svg.rect("fill pale", MOST, most);
        let ends = [(at(row.estimate.low), middle), (at(row.estimate.high), middle)];
        svg.polyline("stroke thick", &paint, &ends);
        svg.circle("fill ringed", &paint, (at(row.estimate.value), middle), 5.0);
    });
}

#[expect(clippy::cast_precision_loss, reason = "charts have far fewer than 2^52 rows")]
fn as_f64(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_dot_an_interval_and_a_tick_for_the_most() {
        let row = BoundedRow {
            name: "edge".into(),
            note: "45".into(),
            estimate: Estimate { value: 0.3, low: -0.1, high: 0.5, confidence: 0.95, n: 45 },
            most: 0.8,
            series_idx: 0,
            tip: "0.30 [−0.10, 0.50]".into(),
            is_apart: false,
        };
        let svg = rows(Canvas::Wide, &[row], &["people"], "attainable", "By data set");
        for part in ["<circle", "stroke thick", "fill pale", "−0.2", "edge", "attainable"] {
            assert!(svg.contains(part), "{part} is missing in {svg}");
        }
    }
}
