//! Rows of dots with intervals: one row per group, one or two panels side by side.

use mohs_data::Estimate;

use super::Canvas;
use super::axis::{self, Tick, percent};
use super::scale::{Scale, round_end, round_log_range};
use super::svg::{Anchor, Rect, Svg};
use crate::number::{Unit, axis_time, round_number};
use crate::width;
use mohs_data::Millis;

/// One row: a name and one estimate per panel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DotRow {
    pub(crate) name: String,
    /// Muted text at the right end, such as the number of stimuli.
    pub(crate) note: String,
    pub(crate) dots: Vec<Dot>,
    /// A line above this row, where another kind of rows begins.
    pub(crate) is_apart: bool,
}

/// One estimate in a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dot {
    pub(crate) estimate: Estimate,
    pub(crate) tip: String,
}

/// One axis that all rows share.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DotPanel {
    pub(crate) title: String,
    pub(crate) unit: Unit,
    pub(crate) paint: String,
}

const ROW: f64 = 22.0;

/// Draws rows of dots. On a narrow canvas only panel `only` is drawn; draw one chart per panel.
pub(crate) fn rows(
    canvas: Canvas,
    rows: &[DotRow],
    panels: &[DotPanel],
    only: Option<usize>,
    label: &str,
) -> String {
    let width = canvas.width();
    let shown: Vec<usize> =
        (0..panels.len()).filter(|idx| only.is_none_or(|only| only == *idx)).collect();
    let longest = rows.iter().map(|row| width::columns(&row.name)).max().unwrap_or(0);
    let max_columns = match canvas {
        Canvas::Wide => 30,
        Canvas::Narrow => 20,
    };
    let name_width = width::pixels(&"n".repeat(longest.min(max_columns)), 13.0) + 14.0;
    let note_width =
        rows.iter().map(|row| width::pixels(&row.note, 12.0)).fold(0.0, f64::max) + 10.0;
    let gap = 28.0;
    let n_shown = u32::try_from(shown.len().max(1)).unwrap_or(1);
    let panel_width = (width - name_width - note_width + gap) / f64::from(n_shown) - gap;

    let top = 30.0;
    let tops: Vec<f64> = row_tops(rows, top);
    let bottom = tops.last().map_or(top, |last| last + ROW) + 4.0;
    let mut svg = Svg::new(width, bottom + 28.0);

    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let names = width::distinct(&names, max_columns);
    for ((row, name), y) in rows.iter().zip(&names).zip(&tops) {
        if row.is_apart {
            svg.line("grid", (0.0, y - 5.0), (width, y - 5.0));
        }
        svg.text("row", Anchor::Start, (0.0, y + 15.0), name);
        svg.text("row-note", Anchor::End, (width, y + 15.0), &row.note);
    }
    for (place, idx) in (0u32..).zip(&shown) {
        let x = name_width + f64::from(place) * (panel_width + gap);
        let plot = Rect { x, y: top, width: panel_width, height: bottom - top };
        draw_panel(&mut svg, rows, &tops, &panels[*idx], *idx, plot);
    }
    svg.finish(label)
}

fn row_tops(rows: &[DotRow], top: f64) -> Vec<f64> {
    let mut y = top;
    let place = |row: &DotRow| {
        y += if row.is_apart { 10.0 } else { 0.0 };
        let place = y;
        y += ROW;
        place
    };
    rows.iter().map(place).collect()
}

fn draw_panel(
    svg: &mut Svg,
    rows: &[DotRow],
    tops: &[f64],
    panel: &DotPanel,
    idx: usize,
    plot: Rect,
) {
    let estimates = || rows.iter().filter_map(|row| row.dots.get(idx)).map(|dot| &dot.estimate);
    let n_ticks = match panel.unit {
        // A tick each 20 % needs this room to be labelled.
        Unit::Share if plot.width < 220.0 => 3,
        _ if plot.width < 260.0 => 5,
        _ => 7,
    };
    let scale = scale_for(panel.unit, n_ticks, estimates(), (plot.x + 6.0, plot.right() - 6.0));
    svg.text("axis-title", Anchor::Start, (plot.x, 14.0), &panel.title);
    let text = |value: f64| match panel.unit {
        Unit::Share => percent(value),
        Unit::Time => Millis::new(value).map(axis_time).unwrap_or_default(),
        Unit::Plain | Unit::Epsilon => round_number(value),
        Unit::Points => round_number(value * 100.0),
    };
    let ticks: Vec<Tick> = scale
        .ticks(n_ticks)
        .into_iter()
        .map(|value| Tick { at: scale.at(value), text: text(value) })
        .collect();
    for tick in &ticks {
        svg.line("grid", (tick.at, plot.y), (tick.at, plot.bottom()));
    }
    axis::x_axis(svg, plot, &ticks, "");

    for (row, y) in rows.iter().zip(tops) {
        let Some(dot) = row.dots.get(idx) else { continue };
        let middle = y + ROW / 2.0;
        let (low, high) = (scale.at(dot.estimate.low), scale.at(dot.estimate.high));
        let hit = Rect { x: plot.x, y: *y, width: plot.width, height: ROW };
        svg.mark(&dot.tip, |svg| {
            svg.rect("hit", "", hit);
            svg.polyline("stroke thick", &panel.paint, &[(low, middle), (high, middle)]);
            svg.circle("fill ringed", &panel.paint, (scale.at(dot.estimate.value), middle), 5.0);
        });
    }
}

fn scale_for<'a>(
    unit: Unit,
    n_ticks: usize,
    estimates: impl Iterator<Item = &'a Estimate>,
    range: (f64, f64),
) -> Scale {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for estimate in estimates {
        low = low.min(estimate.low);
        high = high.max(estimate.high);
    }
    if high < low {
        (low, high) = (0.0, 1.0);
    }
    match unit {
        Unit::Share => Scale::linear((0.0, round_end(high.min(1.0), n_ticks.min(5))), range),
        Unit::Time => Scale::log(round_log_range((low, high)), range),
        Unit::Plain | Unit::Points | Unit::Epsilon => Scale::linear((low, high), range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_name_a_dot_and_an_interval() {
        let estimate = Estimate { value: 0.4, low: 0.3, high: 0.5, confidence: 0.95, n: 10 };
        let row = DotRow {
            name: "drinking straw".into(),
            note: "10".into(),
            dots: vec![Dot { estimate, tip: "40.0 % [30.0, 50.0]".into() }],
            is_apart: false,
        };
        let panel = DotPanel {
            title: "Wrong answers".into(),
            unit: Unit::Share,
            paint: "var(--accent)".into(),
        };
        insta::assert_snapshot!(rows(Canvas::Narrow, &[row], &[panel], None, "By class"));
    }
}
