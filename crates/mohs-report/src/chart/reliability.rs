//! Reliability diagrams: how often answers of a confidence are right, one panel per model.

use mohs_data::Estimate;

use super::Canvas;
use super::axis::percent_ticks;
use super::paint;
use super::scale::Scale;
use super::svg::{Anchor, Rect, Svg};
use crate::width;

/// One diagram.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    pub(crate) name: String,
    pub(crate) note: String,
    /// Bins from unsure to sure.
    pub(crate) bins: Vec<Bin>,
}

/// Answers of similar confidence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bin {
    pub(crate) confidence: f64,
    pub(crate) accuracy: Estimate,
    pub(crate) tip: String,
}

const HEAD: f64 = 40.0;
const FOOT: f64 = 34.0;
const LEFT: f64 = 46.0;
const GAP: f64 = 22.0;

/// Draws the panels, as many beside each other as can be read.
pub(crate) fn panels(canvas: Canvas, panels: &[Panel], label: &str) -> String {
    let most = if canvas == Canvas::Wide { 4 } else { 2 };
    let n_columns = panels.len().clamp(1, most);
    let width = canvas.width();
    let side = ((width - LEFT + GAP) / as_f64(n_columns) - GAP).min(300.0);
    let n_rows = panels.len().div_ceil(n_columns);
    let pitch = HEAD + side + FOOT;
    let mut svg = Svg::new(width, pitch * as_f64(n_rows) + 10.0);
    // A column of the panel's title, which is bold, takes a little less than that.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a panel's width")]
    let columns = (side / 8.6).max(8.0) as usize;
    let names: Vec<&str> = panels.iter().map(|panel| panel.name.as_str()).collect();
    let names = width::distinct(&names, columns);
    for (idx, (panel, name)) in panels.iter().zip(&names).enumerate() {
        let (row, column) = (idx / n_columns, idx % n_columns);
        let plot = Rect {
            x: LEFT + as_f64(column) * (side + GAP),
            y: as_f64(row) * pitch + HEAD,
            width: side,
            height: side,
        };
        draw(&mut svg, (panel, name), plot, column == 0);
    }
    svg.text(
        "axis-title",
        Anchor::Middle,
        (LEFT + (width - LEFT) / 2.0, pitch * as_f64(n_rows) + 6.0),
        "Confidence; share of right answers upwards",
    );
    svg.finish(label)
}

fn draw(svg: &mut Svg, (panel, name): (&Panel, &str), plot: Rect, is_first: bool) {
    svg.text("panel-title", Anchor::Start, (plot.x, plot.y - 22.0), name);
    svg.text("panel-note", Anchor::Start, (plot.x, plot.y - 7.0), &panel.note);
    let x = Scale::linear((0.0, 1.0), (plot.x, plot.right()));
    let y = Scale::linear((0.0, 1.0), (plot.bottom(), plot.y));
    for tick in percent_ticks(&y, &[0.0, 0.5, 1.0]) {
        svg.line("grid", (plot.x, tick.at), (plot.right(), tick.at));
        if is_first {
            svg.text("tick", Anchor::End, (plot.x - 6.0, tick.at + 4.0), &tick.text);
        }
    }
    for (tick, anchor) in
        percent_ticks(&x, &[0.0, 0.5, 1.0]).iter().zip([Anchor::Start, Anchor::Middle, Anchor::End])
    {
        svg.line("grid", (tick.at, plot.y), (tick.at, plot.bottom()));
        svg.text("small-tick", anchor, (tick.at, plot.bottom() + 14.0), &tick.text);
    }
    svg.line("reference", (plot.x, plot.bottom()), (plot.right(), plot.y));
    let at = |bin: &Bin| (x.at(bin.confidence), y.at(bin.accuracy.value));
    let line: Vec<(f64, f64)> = panel.bins.iter().map(at).collect();
    svg.polyline("thin", paint::ACCENT, &line);
    for bin in &panel.bins {
        let middle = at(bin);
        let ends = [(middle.0, y.at(bin.accuracy.low)), (middle.0, y.at(bin.accuracy.high))];
        svg.mark(&format!("{}\n{}", panel.name, bin.tip), |svg| {
            svg.circle("hit", "", middle, 9.0);
            svg.polyline("cross", paint::ACCENT, &ends);
            svg.circle("fill ringed", paint::ACCENT, middle, 3.8);
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

    #[test]
    fn each_model_has_a_panel_and_each_bin_a_mark() {
        let accuracy = Estimate { value: 0.6, low: 0.5, high: 0.7, confidence: 0.95, n: 50 };
        let bin = Bin { confidence: 0.8, accuracy, tip: "80 % sure".into() };
        let panel = Panel { name: "resnet".into(), note: "n = 100".into(), bins: vec![bin; 2] };
        let svg = panels(Canvas::Narrow, &[panel.clone(), panel.clone(), panel], "Calibration");
        assert_eq!(svg.matches("class=\"mark\"").count(), 6);
        assert_eq!(svg.matches("class=\"reference\"").count(), 3);
        assert!(!panels(Canvas::Wide, &[], "Calibration").contains("NaN"));
    }
}
