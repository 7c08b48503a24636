//! Two shares against each other, one point per model, with both intervals.

use mohs_data::Estimate;

use super::Canvas;
use super::axis::{self, Tick, percent};
use super::gap::{MOST_NAMED, RADIUS, around, write_name};
use super::scale::Scale;
use super::svg::{Rect, Svg};

/// One model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScatterPoint {
    pub(crate) name: String,
    pub(crate) x: Estimate,
    pub(crate) y: Estimate,
    pub(crate) paint: String,
    pub(crate) tip: String,
}

/// Draws the points; with many of them, without names and intervals, which would cover each other.
pub(crate) fn shares(
    canvas: Canvas,
    points: &[ScatterPoint],
    (x_title, y_title): (&str, &str),
    label: &str,
) -> String {
    let width = canvas.width();
    let height = if canvas == Canvas::Wide { 340.0 } else { 260.0 };
    let plot = Rect { x: 48.0, y: 28.0, width: width - 60.0, height };
    let mut svg = Svg::new(width, plot.bottom() + 46.0);
    let has_intervals = points.len() <= MOST_NAMED;
    let x = scale(points.iter().map(|point| &point.x), has_intervals, (plot.x, plot.right()));
    let y = scale(points.iter().map(|point| &point.y), has_intervals, (plot.bottom(), plot.y));
    let ticks = |scale: &Scale, n: usize| -> Vec<Tick> {
        let tick = |value: f64| Tick { at: scale.at(value), text: percent(value) };
        scale.ticks(n).into_iter().map(tick).collect()
    };
    axis::y_axis(&mut svg, plot, &ticks(&y, 5), y_title);
    let across = ticks(&x, if canvas == Canvas::Wide { 7 } else { 4 });
    for tick in &across {
        svg.line("grid", (tick.at, plot.y), (tick.at, plot.bottom()));
    }
    axis::x_axis(&mut svg, plot, &across, x_title);
    let place = |point: &ScatterPoint| (x.at(point.x.value), y.at(point.y.value));
    if has_intervals {
        for point in points {
            let (cx, cy) = place(point);
            let across = [(x.at(point.x.low), cy), (x.at(point.x.high), cy)];
            let upright = [(cx, y.at(point.y.low)), (cx, y.at(point.y.high))];
            svg.polyline("thin", &point.paint, &across);
            svg.polyline("thin", &point.paint, &upright);
        }
    }
    for point in points {
        svg.mark(&point.tip, |svg| {
            svg.circle("hit", "", place(point), 10.0);
            svg.circle("fill ringed", &point.paint, place(point), RADIUS);
        });
    }
    let mut taken: Vec<Rect> = points.iter().map(|point| around(place(point))).collect();
    if has_intervals {
        for point in points {
            write_name(&mut svg, &point.name, place(point), plot, &mut taken);
        }
    }
    svg.finish(label)
}

/// Returns a scale that holds everything drawn, with a little room, within 0 and 1.
fn scale<'a>(
    estimates: impl Iterator<Item = &'a Estimate>,
    has_intervals: bool,
    range: (f64, f64),
) -> Scale {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for e in estimates {
        let ends = if has_intervals { (e.low, e.high) } else { (e.value, e.value) };
        (low, high) = (low.min(ends.0), high.max(ends.1));
    }
    if high < low {
        (low, high) = (0.0, 1.0);
    }
    let room = ((high - low) * 0.08).max(0.01);
    Scale::linear(((low - room).max(0.0), (high + room).min(1.0)), range)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(name: &str, x: f64, y: f64) -> ScatterPoint {
        let estimate = |value: f64| Estimate {
            value,
            low: value - 0.05,
            high: value + 0.05,
            confidence: 0.95,
            n: 9,
        };
        let (x, y) = (estimate(x), estimate(y));
        ScatterPoint { name: name.into(), x, y, paint: "var(--set-0)".into(), tip: name.into() }
    }

    #[test]
    fn few_models_have_names_and_many_have_tips() {
        let few = [point("plain", 0.5, 0.8), point("deep", 0.7, 0.9)];
        let svg = shares(Canvas::Wide, &few, ("Accuracy", "Score"), "Both");
        assert!(svg.contains(">plain</text>") && svg.contains(">deep</text>"));
        let many: Vec<ScatterPoint> =
            (0..22).map(|idx| point("m", 0.3 + f64::from(idx) / 50.0, 0.8)).collect();
        let svg = shares(Canvas::Narrow, &many, ("Accuracy", "Score"), "Both");
        assert!(!svg.contains(">m</text>") && svg.matches("class=\"mark\"").count() == 22);
        assert!(!shares(Canvas::Wide, &[], ("", ""), "None").contains("NaN"));
    }
}
