//! Bars with intervals: groups side by side, and small panels that share one axis.

use mohs_data::Estimate;

use super::Canvas;
use super::axis::{self, Tick, percent_ticks};
use super::legend::{self, Entry};
use super::scale::{Scale, round_end};
use super::svg::{Anchor, Rect, Svg};

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bar {
    /// Text under the bar in panels; unused in groups.
    pub(crate) label: String,
    pub(crate) estimate: Estimate,
    pub(crate) paint: String,
    /// Drawn with a pale inside, for the second of two readings or for what counts less.
    pub(crate) is_pale: bool,
    pub(crate) tip: String,
}

/// Bars that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BarGroup {
    pub(crate) label: String,
    /// A second line under or beside the label.
    pub(crate) note: String,
    pub(crate) bars: Vec<Bar>,
}

/// Draws groups of bars over one axis of shares that ends where the intervals do.
pub(crate) fn grouped(
    canvas: Canvas,
    groups: &[BarGroup],
    entries: &[Entry],
    y_title: &str,
    x_title: &str,
    label: &str,
) -> String {
    let width = canvas.width();
    let legend_height = legend::height(entries, width);
    let plot = Rect { x: 44.0, y: legend_height + 28.0, width: width - 48.0, height: 230.0 };
    let mut svg = Svg::new(width, plot.bottom() + 46.0);
    legend::draw(&mut svg, entries, 2.0, 0.0, width);

    let highest = groups.iter().flat_map(|group| &group.bars).map(|bar| bar.estimate.high);
    let end = round_end(highest.fold(0.0, f64::max).min(1.0), 5);
    let y = Scale::linear((0.0, end), (plot.bottom(), plot.y));
    axis::y_axis(&mut svg, plot, &percent_ticks(&y, &y.ticks(5)), y_title);

    let slot = plot.width / as_f64(groups.len().max(1));
    let mut ticks = Vec::new();
    for (idx, group) in groups.iter().enumerate() {
        let middle = plot.x + slot * (as_f64(idx) + 0.5);
        ticks.push(Tick { at: middle, text: group.label.clone() });
        let pitch = (slot * 0.78 / as_f64(group.bars.len().max(1))).min(44.0);
        let first = middle - pitch * as_f64(group.bars.len()) / 2.0;
        for (bar_idx, bar) in group.bars.iter().enumerate() {
            let x = first + pitch * as_f64(bar_idx);
            draw_bar(&mut svg, bar, &y, x, pitch - 2.0, plot);
        }
    }
    axis::x_axis(&mut svg, plot, &ticks, x_title);
    svg.finish(label)
}

/// Draws one small panel of bars per group, in a grid, all from 0 to 100 %, with a dashed line at
/// `reference` where given.
pub(crate) fn panels(
    canvas: Canvas,
    groups: &[BarGroup],
    entries: &[Entry],
    reference: Option<f64>,
    label: &str,
) -> String {
    const HEIGHT: f64 = 120.0;
    const PITCH: f64 = 206.0;
    let n_columns = match canvas {
        Canvas::Wide => groups.len().clamp(1, 4),
        Canvas::Narrow => groups.len().clamp(1, 2),
    };
    let n_rows = groups.len().div_ceil(n_columns).max(1);
    let width = canvas.width();
    let legend_height = legend::height(entries, width);
    let mut svg = Svg::new(width, legend_height + PITCH * as_f64(n_rows));
    legend::draw(&mut svg, entries, 2.0, 0.0, width);

    let left = 42.0;
    let gap = 18.0;
    let panel_width = (width - left + gap) / as_f64(n_columns) - gap;
    for (idx, group) in groups.iter().enumerate() {
        let (row, column) = (idx / n_columns, idx % n_columns);
        let x = left + as_f64(column) * (panel_width + gap);
        let y = legend_height + as_f64(row) * PITCH + 44.0;
        let plot = Rect { x, y, width: panel_width, height: HEIGHT };
        draw_panel(&mut svg, group, plot, column == 0, reference);
    }
    svg.finish(label)
}

fn draw_panel(svg: &mut Svg, group: &BarGroup, plot: Rect, is_first: bool, line: Option<f64>) {
    let y = Scale::linear((0.0, 1.0), (plot.bottom(), plot.y));
    svg.text("panel-title", Anchor::Start, (plot.x, plot.y - 24.0), &group.label);
    svg.text("panel-note", Anchor::Start, (plot.x, plot.y - 9.0), &group.note);
    for tick in percent_ticks(&y, &[0.0, 0.5, 1.0]) {
        svg.line("grid", (plot.x, tick.at), (plot.right(), tick.at));
        if is_first {
            svg.text("tick", Anchor::End, (plot.x - 6.0, tick.at + 4.0), &tick.text);
        }
    }
    if group.bars.is_empty() {
        let middle = (plot.x + plot.width / 2.0, plot.y + plot.height / 2.0 - 8.0);
        svg.text("panel-note", Anchor::Middle, middle, "no stimuli");
        return;
    }
    let slot = (plot.width / as_f64(group.bars.len())).min(48.0);
    let mut ticks = Vec::new();
    for (idx, bar) in group.bars.iter().enumerate() {
        let x = plot.x + slot * as_f64(idx);
        draw_bar(svg, bar, &y, x + 1.5, slot - 3.0, plot);
        ticks.push(Tick { at: x + slot / 2.0, text: bar.label.clone() });
    }
    if let Some(share) = line {
        svg.line("reference", (plot.x, y.at(share)), (plot.right(), y.at(share)));
    }
    svg.line("axis", (plot.x, plot.bottom()), (plot.right(), plot.bottom()));
    for tick in axis::labels_that_fit(&ticks, 10.0) {
        svg.text("small-tick", Anchor::Middle, (tick.at, plot.bottom() + 15.0), &tick.text);
    }
}

fn draw_bar(svg: &mut Svg, bar: &Bar, y: &Scale, x: f64, width: f64, plot: Rect) {
    let top = y.at(bar.estimate.value);
    let body = Rect { x, y: top, width, height: plot.bottom() - top };
    let hit = Rect { x, y: plot.y, width, height: plot.height };
    svg.mark(&bar.tip, |svg| {
        svg.rect("hit", "", hit);
        svg.rect(if bar.is_pale { "fill pale" } else { "fill" }, &bar.paint, body);
        axis::whisker(svg, x + width / 2.0, y, &bar.estimate, (width / 4.0).min(5.0));
    });
}

#[expect(clippy::cast_precision_loss, reason = "charts have far fewer than 2^52 marks")]
fn as_f64(n: usize) -> f64 {
    n as f64
}
