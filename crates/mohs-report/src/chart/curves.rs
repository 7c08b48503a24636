//! Curves over a linear axis of time: points with error bars on both axes, fitted curves with
//! bands, and thin lines behind them.

use super::Canvas;
use super::axis::{self, Tick, percent_ticks};
use super::legend::{self, Entry, Swatch};
use super::lines::Level;
use super::scale::{Scale, round_end};
use super::svg::{Anchor, Rect, Svg};
use crate::number::fixed;

/// One curve: what was measured, and the fit through it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FittedCurve {
    pub(crate) name: String,
    pub(crate) paint: String,
    pub(crate) points: Vec<CrossPoint>,
    /// The fitted curve by time, ascending; empty without a fit.
    pub(crate) fit: Vec<BandAt>,
}

/// A point with error bars on both axes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CrossPoint {
    pub(crate) time_ms: f64,
    pub(crate) share: f64,
    /// Half the width of the error bar over time, where there is one.
    pub(crate) time_error_ms: f64,
    /// Half the height of the error bar over shares.
    pub(crate) share_error: f64,
    pub(crate) tip: String,
}

/// A fitted curve and its band at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BandAt {
    pub(crate) time_ms: f64,
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// A line behind the curves, e.g. one participant's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ThinLine {
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) paint: String,
    pub(crate) tip: String,
}

/// Draws shares of right answers over time; a legend appears when there are several curves.
pub(crate) fn over_time(
    canvas: Canvas,
    curves: &[FittedCurve],
    thin: &[ThinLine],
    levels: &[Level],
    label: &str,
) -> String {
    let width = canvas.width();
    let entry = |curve: &FittedCurve| Entry {
        swatch: Swatch::Line,
        paint: curve.paint.clone(),
        name: curve.name.clone(),
    };
    let entries: Vec<Entry> =
        if 1 < curves.len() { curves.iter().map(entry).collect() } else { Vec::new() };
    let legend_height = legend::height(&entries, width);
    let height = match canvas {
        Canvas::Wide => 320.0,
        Canvas::Narrow => 250.0,
    };
    let plot = Rect { x: 44.0, y: legend_height + 28.0, width: width - 62.0, height };
    let mut svg = Svg::new(width, plot.bottom() + 46.0);
    legend::draw(&mut svg, &entries, 2.0, 0.0, width);

    let (x, y) = scales(curves, thin, levels, plot);
    let shares: Vec<f64> = y.ticks(5);
    axis::y_axis(&mut svg, plot, &percent_ticks(&y, &shares), "Share of right answers");
    let n_ticks = if canvas == Canvas::Wide { 8 } else { 6 };
    let tick = |ms: f64| Tick { at: x.at(ms), text: fixed(ms, 0) };
    let ticks: Vec<Tick> = x.ticks(n_ticks).into_iter().map(tick).collect();
    axis::x_axis(&mut svg, plot, &ticks, "Time from onset to answer in ms");

    for level in levels {
        let at = y.at(level.at);
        svg.line("reference", (plot.x, at), (plot.right(), at));
        svg.text("level", Anchor::End, (plot.right(), at - 5.0), &level.name);
    }
    let place = |(time, share): (f64, f64)| (x.at(time), y.at(share));
    for line in thin {
        let points: Vec<(f64, f64)> = line.points.iter().copied().map(place).collect();
        svg.mark(&line.tip, |svg| {
            svg.polyline("reach", "", &points);
            svg.polyline("thin", &line.paint, &points);
        });
    }
    for curve in curves {
        draw_fit(&mut svg, curve, place);
    }
    for curve in curves {
        for point in &curve.points {
            draw_cross(&mut svg, point, &curve.paint, place);
        }
    }
    svg.finish(label)
}

/// Returns scales that hold everything, between round numbers.
fn scales(
    curves: &[FittedCurve],
    thin: &[ThinLine],
    levels: &[Level],
    plot: Rect,
) -> (Scale, Scale) {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let crosses = points().flat_map(|point| {
        let (time, share) = (point.time_ms, point.share + point.share_error);
        [(time - point.time_error_ms, share), (time + point.time_error_ms, share)]
    });
    let fits = curves.iter().flat_map(|c| &c.fit).map(|at| (at.time_ms, at.high));
    let lines = thin.iter().flat_map(|line| line.points.iter().copied());
    let (mut first, mut last, mut highest) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64);
    for (time, share) in crosses.chain(fits).chain(lines) {
        (first, last, highest) = (first.min(time), last.max(time), highest.max(share));
    }
    if last <= first || !first.is_finite() {
        let middle = if first.is_finite() { first } else { 0.0 };
        (first, last) = (middle - 50.0, middle + 50.0);
    }
    highest = levels.iter().map(|level| level.at).fold(highest, f64::max);
    let x = Scale::linear((first, last), (plot.x + 12.0, plot.right() - 6.0));
    let y = Scale::linear((0.0, round_end(highest.min(1.0), 5).min(1.0)), (plot.bottom(), plot.y));
    (x, y)
}

fn draw_fit(svg: &mut Svg, curve: &FittedCurve, place: impl Fn((f64, f64)) -> (f64, f64)) {
    let along = |of: fn(&BandAt) -> f64| -> Vec<(f64, f64)> {
        curve.fit.iter().map(|at| place((at.time_ms, of(at)))).collect()
    };
    let mut outline = along(|at| at.high);
    outline.extend(along(|at| at.low).into_iter().rev());
    svg.polygon("interval", &curve.paint, &outline);
    svg.polyline("stroke", &curve.paint, &along(|at| at.value));
}

fn draw_cross(
    svg: &mut Svg,
    point: &CrossPoint,
    paint: &str,
    place: impl Fn((f64, f64)) -> (f64, f64),
) {
    let CrossPoint { time_ms, share, time_error_ms, share_error, .. } = *point;
    let at = place((time_ms, share));
    let across = [(time_ms - time_error_ms, share), (time_ms + time_error_ms, share)].map(&place);
    let upright = [(time_ms, share - share_error), (time_ms, share + share_error)].map(&place);
    svg.mark(&point.tip, |svg| {
        svg.circle("hit", "", at, 11.0);
        svg.polyline("cross", paint, &across);
        svg.polyline("cross", paint, &upright);
        svg.circle("fill ringed", paint, at, 4.5);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_a_band_crosses_and_lines_behind_it() {
        let point = |time_ms, share| CrossPoint {
            time_ms,
            share,
            time_error_ms: 20.0,
            share_error: 0.05,
            tip: format!("{time_ms} ms"),
        };
        let at =
            |time_ms, value: f64| BandAt { time_ms, value, low: value - 0.1, high: value + 0.1 };
        let curve = FittedCurve {
            name: "clear".into(),
            paint: "var(--accent)".into(),
            points: vec![point(500.0, 0.2), point(1_500.0, 0.7)],
            fit: vec![at(500.0, 0.22), at(1_500.0, 0.68)],
        };
        let thin = ThinLine {
            points: vec![(480.0, 0.1), (1_480.0, 0.8)],
            paint: "var(--accent)".into(),
            tip: "p1".into(),
        };
        let level = Level { at: 0.1, name: "guessing 10 %".into() };
        insta::assert_snapshot!(over_time(Canvas::Narrow, &[curve], &[thin], &[level], "Accuracy"));
    }

    #[test]
    fn nothing_to_draw_is_an_empty_plot() {
        let svg = over_time(Canvas::Wide, &[], &[], &[], "Accuracy");
        assert!(svg.contains("<svg") && !svg.contains("NaN") && !svg.contains("inf"));
    }
}
