//! Lines over a few steps: bands from easy to hard, levels of noise, epochs of training.
//!
//! Up to a handful of series have colours, points and intervals; the others are thin grey lines
//! that say who they are when pointed at. Which is which is the caller's choice.

use mohs_data::Estimate;

use super::Canvas;
use super::axis::{self, Tick, percent_ticks};
use super::legend::{self, Entry, Swatch};
use super::lines::Level;
use super::scale::Scale;
use super::svg::{Anchor, Rect, Svg};
use crate::width;

/// The colour of series without one.
pub(crate) const MUTED: &str = "var(--quiet)";

/// What the horizontal axis shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Steps {
    /// Names, in order.
    pub(crate) names: Vec<String>,
    /// Where each stands when they are numbers; otherwise all are equally far apart.
    pub(crate) values: Option<Vec<f64>>,
    pub(crate) title: String,
    /// What the vertical axis shows.
    pub(crate) share: &'static str,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// `None` for a series in the background.
    pub(crate) paint: Option<String>,
    pub(crate) points: Vec<StepPoint>,
}

/// One point of a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StepPoint {
    /// Position in [`Steps::names`].
    pub(crate) step: usize,
    pub(crate) estimate: Estimate,
    pub(crate) tip: String,
}

/// Draws shares over steps; `others` names the series without colour in the legend.
pub(crate) fn over(
    canvas: Canvas,
    steps: &Steps,
    series: &[Series],
    levels: &[Level],
    others: &str,
    label: &str,
) -> String {
    let width = canvas.width();
    let entries = entries(series, others);
    let top = legend::height(&entries, width) + 28.0;
    let height = if canvas == Canvas::Wide { 300.0 } else { 250.0 };
    let plot = Rect { x: 44.0, y: top, width: width - 56.0, height };
    let mut svg = Svg::new(width, plot.bottom() + 46.0);
    legend::draw(&mut svg, &entries, 2.0, 0.0, width);

    let y = share_scale(series, levels, plot);
    axis::y_axis(&mut svg, plot, &percent_ticks(&y, &y.ticks(5)), steps.share);
    let (places, slot) = places(steps, plot);
    let room = if steps.values.is_some() { plot.width } else { slot };
    let tick = |(at, name): (&f64, &String)| Tick { at: *at, text: shortened(name, room) };
    let ticks: Vec<Tick> = places.iter().zip(&steps.names).map(tick).collect();
    axis::x_axis(&mut svg, plot, &ticks, &steps.title);

    for level in levels {
        let at = y.at(level.at);
        svg.line("reference", (plot.x, at), (plot.right(), at));
        svg.text("level", Anchor::End, (plot.right(), at - 5.0), &level.name);
    }
    let n_painted = series.iter().filter(|line| line.paint.is_some()).count();
    // Side by side, so that intervals of neighbours do not cover each other.
    let aside = match steps.values {
        Some(_) => 0.0,
        None => (slot * 0.6 / as_f64(n_painted.max(1))).min(9.0),
    };
    for line in series.iter().filter(|line| line.paint.is_none()) {
        draw_muted(&mut svg, line, &places, &y);
    }
    let painted = series.iter().filter_map(|line| Some((line, line.paint.as_deref()?)));
    for (nth, (line, paint)) in painted.enumerate() {
        let shift = (as_f64(nth) - (as_f64(n_painted) - 1.0) / 2.0) * aside;
        draw_painted(
            &mut svg,
            line,
            paint,
            |step| places.get(step).copied().unwrap_or(0.0) + shift,
            &y,
        );
    }
    svg.finish(label)
}

fn entries(series: &[Series], others: &str) -> Vec<Entry> {
    if series.len() < 2 {
        return Vec::new();
    }
    let painted = series.iter().filter_map(|line| {
        let paint = line.paint.clone()?;
        Some(Entry { swatch: Swatch::Line, paint, name: line.name.clone() })
    });
    let mut entries: Vec<Entry> = painted.collect();
    if series.iter().any(|line| line.paint.is_none()) {
        let (paint, name) = (MUTED.to_owned(), others.to_owned());
        entries.push(Entry { swatch: Swatch::PaleBox, paint, name });
    }
    entries
}

/// Returns a scale of shares that holds every interval; it starts at 0 unless all lie high.
fn share_scale(series: &[Series], levels: &[Level], plot: Rect) -> Scale {
    let points = || series.iter().flat_map(|line| &line.points).map(|point| &point.estimate);
    let lowest = points().map(|e| e.low).fold(1.0, f64::min);
    let lowest = levels.iter().map(|level| level.at).fold(lowest, f64::min);
    let highest = points().map(|e| e.high).fold(0.0, f64::max);
    let from = if lowest < 0.4 { 0.0 } else { (lowest * 10.0).floor() / 10.0 };
    let to = (highest * 10.0 - 1e-9).ceil().clamp(1.0, 10.0) / 10.0;
    let to = if from < to { to } else { 1.0 };
    Scale::linear((from, to), (plot.bottom(), plot.y))
}

/// Returns where the steps stand, and the room of each.
fn places(steps: &Steps, plot: Rect) -> (Vec<f64>, f64) {
    let n = as_f64(steps.names.len().max(1));
    let slot = plot.width / n;
    let places = match &steps.values {
        Some(values) => {
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let x = Scale::linear((low, high), (plot.x + 14.0, plot.right() - 14.0));
            values.iter().map(|value| x.at(*value)).collect()
        }
        None => (0..steps.names.len()).map(|idx| plot.x + slot * (as_f64(idx) + 0.5)).collect(),
    };
    (places, slot)
}

fn shortened(name: &str, room: f64) -> String {
    // Six pixels are a little less than a column of tick labels takes.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a chart's width")]
    let columns = (room / 6.6).max(3.0) as usize;
    width::shorten(name, columns)
}

fn draw_muted(svg: &mut Svg, line: &Series, places: &[f64], y: &Scale) {
    let place = |point: &StepPoint| Some((*places.get(point.step)?, y.at(point.estimate.value)));
    let points: Vec<(f64, f64)> = line.points.iter().filter_map(place).collect();
    let tips: Vec<&str> = line.points.iter().map(|point| point.tip.as_str()).collect();
    svg.mark(&format!("{}\n{}", line.name, tips.join("\n")), |svg| {
        svg.polyline("reach", "", &points);
        svg.polyline("thin", MUTED, &points);
        if let [only] = points.as_slice() {
            svg.circle("fill pale", MUTED, *only, 3.0);
        }
    });
}

fn draw_painted(svg: &mut Svg, line: &Series, paint: &str, x: impl Fn(usize) -> f64, y: &Scale) {
    let middle: Vec<(f64, f64)> =
        line.points.iter().map(|point| (x(point.step), y.at(point.estimate.value))).collect();
    svg.polyline("stroke", paint, &middle);
    for (point, at) in line.points.iter().zip(&middle) {
        let ends = [(at.0, y.at(point.estimate.low)), (at.0, y.at(point.estimate.high))];
        svg.mark(&format!("{}\n{}", line.name, point.tip), |svg| {
            svg.circle("hit", "", *at, 9.0);
            svg.polyline("cross", paint, &ends);
            svg.circle("fill ringed", paint, *at, 4.2);
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

    fn series(name: &str, paint: Option<&str>) -> Series {
        let point = |step, value: f64| StepPoint {
            step,
            estimate: Estimate {
                value,
                low: value - 0.1,
                high: value + 0.05,
                confidence: 0.95,
                n: 9,
            },
            tip: format!("step {step}"),
        };
        let points = vec![point(0, 0.9), point(1, 0.5)];
        Series { name: name.into(), paint: paint.map(Into::into), points }
    }

    fn steps(values: Option<Vec<f64>>) -> Steps {
        let names = vec!["easy".to_owned(), "hard".to_owned()];
        Steps { names, values, title: "Difficulty for people".into(), share: "Right" }
    }

    #[test]
    fn a_painted_line_has_intervals_and_a_muted_one_has_not() {
        let lines = [series("a", Some("var(--set-0)")), series("b", None)];
        let svg = over(Canvas::Narrow, &steps(None), &lines, &[], "1 other model", "By band");
        insta::assert_snapshot!(svg);
    }

    #[test]
    fn numbers_stand_where_they_belong_and_nothing_is_an_empty_plot() {
        let lines = [series("a", Some("var(--set-0)"))];
        let svg = over(Canvas::Wide, &steps(Some(vec![0.0, 10.0])), &lines, &[], "", "By epoch");
        assert!(!svg.contains("NaN"));
        let empty = Steps { names: vec![], values: Some(vec![]), title: String::new(), share: "" };
        let svg = over(Canvas::Wide, &empty, &[], &[], "", "Nothing");
        assert!(svg.contains("<svg") && !svg.contains("NaN") && !svg.contains("inf"));
    }
}
