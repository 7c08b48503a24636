//! Patterns of right and wrong answers: one panel per model, one row per pattern with its dots, its
//! share as a bar and its interval.

use mohs_data::Estimate;

use super::Canvas;
use super::legend::{self, Entry};
use super::scale::{Scale, round_end};
use super::svg::{Anchor, Rect, Svg};
use crate::number::fixed;
use crate::width;

/// One model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PatternPanel {
    pub(crate) name: String,
    /// A second line under the name.
    pub(crate) note: String,
    pub(crate) rows: Vec<PatternRow>,
}

/// One pattern.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PatternRow {
    /// Right or wrong, easy on the left.
    pub(crate) right: Vec<bool>,
    pub(crate) share: Estimate,
    pub(crate) paint: String,
    pub(crate) tip: String,
}

const ROW: f64 = 19.0;
const DOT: f64 = 12.0;
const HEAD: f64 = 40.0;
const GAP: f64 = 26.0;
/// Room for the number behind a bar.
const NUMBER: f64 = 38.0;

/// Draws the panels, all with the same scale.
pub(crate) fn panels(
    canvas: Canvas,
    panels: &[PatternPanel],
    entries: &[Entry],
    label: &str,
) -> String {
    let width = canvas.width();
    let n_columns = match canvas {
        Canvas::Wide => panels.len().clamp(1, 3),
        Canvas::Narrow => 1,
    };
    let n_rows = panels.iter().map(|panel| panel.rows.len()).max().unwrap_or(0);
    let pitch = HEAD + ROW * as_f64(n_rows) + 18.0;
    let top = legend::height(entries, width) + 8.0;
    let mut svg = Svg::new(width, top + pitch * as_f64(panels.len().div_ceil(n_columns).max(1)));
    legend::draw(&mut svg, entries, 2.0, 0.0, width);
    let highest = panels.iter().flat_map(|panel| &panel.rows).map(|row| row.share.high);
    let end = round_end(highest.fold(0.0, f64::max).min(1.0), 5);
    let panel_width = (width + GAP) / as_f64(n_columns) - GAP;
    for (idx, panel) in panels.iter().enumerate() {
        let x = as_f64(idx % n_columns) * (panel_width + GAP);
        let y = top + as_f64(idx / n_columns) * pitch;
        draw(&mut svg, panel, Rect { x, y, width: panel_width, height: pitch }, end);
    }
    svg.finish(label)
}

fn draw(svg: &mut Svg, panel: &PatternPanel, place: Rect, end: f64) {
    let name = width::shorten_middle(&panel.name, 28);
    svg.text("panel-title", Anchor::Start, (place.x, place.y + 13.0), &name);
    svg.text("panel-note", Anchor::Start, (place.x, place.y + 29.0), &panel.note);
    let n_dots = panel.rows.iter().map(|row| row.right.len()).max().unwrap_or(0);
    let left = place.x + DOT * as_f64(n_dots) + 8.0;
    let x = Scale::linear((0.0, end), (left, place.right() - NUMBER));
    let bottom = place.y + HEAD + ROW * as_f64(panel.rows.len());
    svg.line("axis", (left, place.y + HEAD), (left, bottom));
    for (idx, row) in panel.rows.iter().enumerate() {
        let y = place.y + HEAD + ROW * as_f64(idx);
        let middle = y + ROW / 2.0;
        svg.mark(&row.tip, |svg| {
            svg.rect("hit", "", Rect { x: place.x, y, width: place.width, height: ROW });
            for (dot, right) in row.right.iter().enumerate() {
                let at = (place.x + DOT * (as_f64(dot) + 0.5), middle);
                let class = if *right { "fill" } else { "cross" };
                svg.circle(class, &row.paint, at, 4.0);
            }
            let body = Rect {
                x: left,
                y: y + 3.0,
                width: x.at(row.share.value) - left,
                height: ROW - 6.0,
            };
            svg.rect("fill", &row.paint, body);
            let (low, high) = (x.at(row.share.low), x.at(row.share.high));
            for class in ["whisker halo", "whisker"] {
                svg.line(class, (low, middle), (high, middle));
            }
            let text = format!("{} %", fixed(row.share.value * 100.0, 1));
            svg.text("tick", Anchor::End, (place.right(), middle + 4.0), &text);
        });
    }
}

#[expect(clippy::cast_precision_loss, reason = "charts have far fewer than 2^52 marks")]
fn as_f64(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(name: &str) -> PatternPanel {
        let row = |right: &[bool], value: f64| PatternRow {
            right: right.to_vec(),
            share: Estimate { value, low: value - 0.1, high: value + 0.1, confidence: 0.95, n: 9 },
            paint: "var(--accent)".into(),
            tip: name.into(),
        };
        let rows = vec![row(&[true, false], 0.6), row(&[false, true], 0.4)];
        PatternPanel { name: name.into(), note: "hierarchical".into(), rows }
    }

    #[test]
    fn each_row_has_a_dot_per_level_a_bar_and_a_number() {
        let svg = panels(Canvas::Wide, &[panel("a"), panel("b")], &[], "Patterns");
        assert_eq!(svg.matches("<circle").count(), 2 * 2 * 2);
        assert_eq!(svg.matches("<rect class=\"fill\"").count(), 4);
        assert!(svg.contains(">60.0 %<") && !svg.contains("NaN"));
        assert!(!panels(Canvas::Narrow, &[], &[], "None").contains("NaN"));
    }
}
