//! Shares that survive as ε grows: lines in steps with their intervals shaded.

use mohs_data::Estimate;

use super::Canvas;
use super::axis::{self, Tick, percent_ticks};
use super::legend::{self, Entry, Swatch};
use super::scale::Scale;
use super::svg::{Rect, Svg};
use crate::number::round_number;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StepLine {
    pub(crate) name: String,
    pub(crate) paint: String,
    pub(crate) is_dashed: bool,
    /// Where it falls, by ascending ε, and to what; before the first it is 1.
    pub(crate) falls: Vec<(f64, Estimate)>,
    /// How far it is drawn.
    pub(crate) to: f64,
    /// Points that say what they are: ε, share, text.
    pub(crate) tips: Vec<(f64, f64, String)>,
}

/// Draws the lines over ε.
pub(crate) fn over_epsilon(
    canvas: Canvas,
    lines: &[StepLine],
    x_title: &str,
    label: &str,
) -> String {
    let width = canvas.width();
    let entries: Vec<Entry> = lines
        .iter()
        .map(|line| Entry {
            swatch: if line.is_dashed { Swatch::Dashes } else { Swatch::Line },
            paint: line.paint.clone(),
            name: line.name.clone(),
        })
        .collect();
    let top = legend::height(&entries, width) + 28.0;
    let height = if canvas == Canvas::Wide { 320.0 } else { 240.0 };
    let plot = Rect { x: 44.0, y: top, width: width - 60.0, height };
    let mut svg = Svg::new(width, plot.bottom() + 46.0);
    legend::draw(&mut svg, &entries, 2.0, 0.0, width);

    let n_ticks = if canvas == Canvas::Wide { 6 } else { 4 };
    let end = lines.iter().map(|line| line.to).fold(0.0, f64::max);
    let x = Scale::linear((0.0, end), (plot.x, plot.right()));
    let y = Scale::linear((0.0, 1.0), (plot.bottom(), plot.y));
    let ticks = percent_ticks(&y, &[0.0, 0.25, 0.5, 0.75, 1.0]);
    axis::y_axis(&mut svg, plot, &ticks, "Share not fooled");
    let tick = |value: f64| Tick { at: x.at(value), text: round_number(value) };
    let ticks: Vec<Tick> = x.ticks(n_ticks).into_iter().map(tick).collect();
    axis::x_axis(&mut svg, plot, &ticks, x_title);

    for line in lines {
        let upper = steps(line, |share| share.high, &x, &y);
        let mut lower = steps(line, |share| share.low, &x, &y);
        lower.reverse();
        svg.polygon("interval", &line.paint, &[upper, lower].concat());
    }
    for line in lines {
        let class = if line.is_dashed { "stroke dashed" } else { "stroke" };
        svg.polyline(class, &line.paint, &steps(line, |share| share.value, &x, &y));
        for (epsilon, share, tip) in &line.tips {
            let at = (x.at(*epsilon), y.at(*share));
            svg.mark(tip, |svg| {
                svg.circle("hit", "", at, 9.0);
                svg.circle("fill ringed", &line.paint, at, 3.5);
            });
        }
    }
    svg.finish(label)
}

/// Returns the corners of a line in steps.
fn steps(
    line: &StepLine,
    pick: impl Fn(&Estimate) -> f64,
    x: &Scale,
    y: &Scale,
) -> Vec<(f64, f64)> {
    let mut level = 1.0;
    let mut corners = vec![(x.at(0.0), y.at(level))];
    for (epsilon, share) in line.falls.iter().filter(|fall| fall.0 <= line.to) {
        corners.push((x.at(*epsilon), y.at(level)));
        level = pick(share);
        corners.push((x.at(*epsilon), y.at(level)));
    }
    corners.push((x.at(line.to), y.at(level)));
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_falls_in_steps_from_all() {
        let share = |value: f64| Estimate {
            value,
            low: value - 0.1,
            high: value + 0.1,
            confidence: 0.95,
            n: 9,
        };
        let line = StepLine {
            name: "easy".into(),
            paint: "var(--set-0)".into(),
            is_dashed: true,
            falls: vec![(0.01, share(0.7)), (0.03, share(0.3))],
            to: 0.05,
            tips: vec![(0.01, 0.7, "easy: 70 % at 0.01".into())],
        };
        insta::assert_snapshot!(over_epsilon(Canvas::Narrow, &[line], "ε", "Survival"));
    }
}
