//! Axes: grid lines, ticks and titles around a plot, and whiskers for intervals.

use mohs_data::Estimate;

use super::scale::Scale;
use super::svg::{Anchor, Rect, Svg};
use crate::width;

/// Size of tick labels, as in `report.css`.
const TICK_SIZE: f64 = 12.0;

/// A place on an axis with its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) text: String,
}

/// Draws horizontal grid lines with their labels on the left, and the title above them.
pub(crate) fn y_axis(svg: &mut Svg, plot: Rect, ticks: &[Tick], title: &str) {
    for tick in ticks {
        svg.line("grid", (plot.x, tick.at), (plot.right(), tick.at));
        svg.text("tick", Anchor::End, (plot.x - 7.0, tick.at + 4.0), &tick.text);
    }
    if !title.is_empty() {
        svg.text("axis-title", Anchor::Start, (0.0, plot.y - 12.0), title);
    }
}

/// Draws the base line, a small line at each tick, the labels that fit, and the title below.
pub(crate) fn x_axis(svg: &mut Svg, plot: Rect, ticks: &[Tick], title: &str) {
    let base = plot.bottom();
    svg.line("axis", (plot.x, base), (plot.right(), base));
    for tick in ticks {
        svg.line("axis", (tick.at, base), (tick.at, base + 4.0));
    }
    for tick in labels_that_fit(ticks, TICK_SIZE) {
        svg.text("tick", Anchor::Middle, (tick.at, base + 18.0), &tick.text);
    }
    if !title.is_empty() {
        let middle = plot.x + plot.width / 2.0;
        svg.text("axis-title", Anchor::Middle, (middle, base + 38.0), title);
    }
}

/// Returns the ticks whose labels do not run into each other; the first and the last go first,
/// because the ends of an axis say most.
pub(crate) fn labels_that_fit(ticks: &[Tick], size: f64) -> Vec<&Tick> {
    // Wide enough for what `width::pixels` underestimates, such as a percent sign.
    let gap = size * 0.75;
    let half = |tick: &Tick| (width::pixels(&tick.text, size) + gap) / 2.0;
    let mut kept: Vec<&Tick> = Vec::new();
    for tick in ticks.last().into_iter().chain(ticks) {
        let free = kept.iter().all(|other| half(tick) + half(other) <= (tick.at - other.at).abs());
        if free {
            kept.push(tick);
        }
    }
    kept.sort_by(|a, b| a.at.total_cmp(&b.at));
    kept
}

/// Returns ticks at 0, 25, … 100 % of a scale of shares.
pub(crate) fn percent_ticks(scale: &Scale, shares: &[f64]) -> Vec<Tick> {
    let tick = |share: &f64| Tick { at: scale.at(*share), text: percent(*share) };
    shares.iter().map(tick).collect()
}

/// Returns a round share: `25 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    // Steps of axes are round, so a decimal appears only where a step is below one percent.
    let digits = usize::from(1e-6 < (percent - percent.round()).abs());
    format!("{percent:.digits$} %")
}

/// Draws an upright interval with end caps.
pub(crate) fn whisker(svg: &mut Svg, x: f64, scale: &Scale, estimate: &Estimate, cap: f64) {
    let (low, high) = (scale.at(estimate.low), scale.at(estimate.high));
    // Drawn twice: a pale outline first, so that it can be read on dark and on light bars.
    for class in ["whisker halo", "whisker"] {
        svg.line(class, (x, low), (x, high));
        svg.line(class, (x - cap, low), (x + cap, low));
        svg.line(class, (x - cap, high), (x + cap, high));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(at: f64, text: &str) -> Tick {
        Tick { at, text: text.into() }
    }

    #[test]
    fn labels_that_would_collide_are_left_out_but_the_ends_stay() {
        let ticks = [tick(0.0, "17"), tick(40.0, "50"), tick(45.0, "60"), tick(50.0, "10 s")];
        let kept: Vec<&str> =
            labels_that_fit(&ticks, 12.0).iter().map(|tick| tick.text.as_str()).collect();
        assert_eq!(kept, ["17", "10 s"]);
    }

    #[test]
    fn round_shares_have_no_decimals() {
        assert_eq!(percent(0.25), "25 %");
        assert_eq!(percent(0.005), "0.5 %");
    }
}
