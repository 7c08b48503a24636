//! Lines with interval bands over a logarithmic axis of exposures.

use mohs_data::{Estimate, Millis};

use super::Canvas;
use super::axis::{self, Tick, percent_ticks};
use super::legend::{self, Entry, Swatch};
use super::scale::Scale;
use super::svg::{Anchor, Rect, Svg};
use crate::number::axis_time;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) paint: String,
    /// Points by exposure, ascending.
    pub(crate) points: Vec<LinePoint>,
}

/// One point of a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LinePoint {
    pub(crate) exposure: Millis,
    pub(crate) estimate: Estimate,
    pub(crate) tip: String,
}

/// A level across the whole chart, such as the chance of a right guess.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Level {
    pub(crate) at: f64,
    pub(crate) name: String,
}

/// Draws accuracy over exposure; a legend appears when there are several lines.
pub(crate) fn over_exposure(
    canvas: Canvas,
    lines: &[Line],
    levels: &[Level],
    label: &str,
) -> String {
    let width = canvas.width();
    let entry = |line: &Line| Entry {
        swatch: Swatch::Line,
        paint: line.paint.clone(),
        name: line.name.clone(),
    };
    let entries: Vec<Entry> =
        if 1 < lines.len() { lines.iter().map(entry).collect() } else { Vec::new() };
    let legend_height = legend::height(&entries, width);
    let plot = Rect { x: 44.0, y: legend_height + 28.0, width: width - 62.0, height: 260.0 };
    let mut svg = Svg::new(width, plot.bottom() + 46.0);
    legend::draw(&mut svg, &entries, 2.0, 0.0, width);

    let mut exposures: Vec<Millis> =
        lines.iter().flat_map(|line| &line.points).map(|point| point.exposure).collect();
    exposures.sort_unstable();
    exposures.dedup();
    let domain = match (exposures.first(), exposures.last()) {
        (Some(first), Some(last)) => (first.value(), last.value()),
        _ => (1.0, 1.0),
    };
    let x = Scale::log(domain, (plot.x + 12.0, plot.right()));
    let y = Scale::linear((0.0, 1.0), (plot.bottom(), plot.y));

    let ticks = percent_ticks(&y, &[0.0, 0.25, 0.5, 0.75, 1.0]);
    axis::y_axis(&mut svg, plot, &ticks, "Share of right answers");
    let tick = |exposure: &Millis| Tick { at: x.at(exposure.value()), text: axis_time(*exposure) };
    let ticks: Vec<Tick> = exposures.iter().map(tick).collect();
    axis::x_axis(&mut svg, plot, &ticks, "Exposure in ms (logarithmic)");

    for level in levels {
        let at = y.at(level.at);
        svg.line("reference", (plot.x, at), (plot.right(), at));
        svg.text("level", Anchor::End, (plot.right(), at - 5.0), &level.name);
    }
    for line in lines {
        draw_line(&mut svg, line, &x, &y);
    }
    svg.finish(label)
}

fn draw_line(svg: &mut Svg, line: &Line, x: &Scale, y: &Scale) {
    let place = |point: &LinePoint, share: f64| (x.at(point.exposure.value()), y.at(share));
    let upper = line.points.iter().map(|point| place(point, point.estimate.high));
    let lower = line.points.iter().rev().map(|point| place(point, point.estimate.low));
    let outline: Vec<(f64, f64)> = upper.chain(lower).collect();
    svg.polygon("interval", &line.paint, &outline);
    let middle: Vec<(f64, f64)> =
        line.points.iter().map(|point| place(point, point.estimate.value)).collect();
    svg.polyline("stroke", &line.paint, &middle);
    for point in &line.points {
        let at = place(point, point.estimate.value);
        svg.mark(&point.tip, |svg| {
            svg.circle("hit", "", at, 11.0);
            // A band needs two points; a single one shows its interval as a line.
            if line.points.len() == 1 {
                axis::whisker(svg, at.0, y, &point.estimate, 3.0);
            }
            svg.circle("fill ringed", &line.paint, at, 4.5);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_band_and_a_tip_at_each_exposure() {
        let point = |ms, value: f64| LinePoint {
            exposure: Millis::new(ms).unwrap(),
            estimate: Estimate {
                value,
                low: value - 0.1,
                high: value + 0.1,
                confidence: 0.95,
                n: 70,
            },
            tip: format!("{ms} ms"),
        };
        let line = Line {
            name: "all".into(),
            paint: "var(--accent)".into(),
            points: vec![point(17.0, 0.2), point(10_000.0, 0.9)],
        };
        let level = Level { at: 0.5, name: "criterion 50 %".into() };
        insta::assert_snapshot!(over_exposure(Canvas::Narrow, &[line], &[level], "Accuracy"));
    }
}
