//! Two distributions on one axis: the first stands above it, the second hangs below.

use super::Canvas;
use super::axis::{self, Tick, percent};
use super::legend::{self, Entry, Swatch};
use super::scale::{Scale, round_end};
use super::svg::{Anchor, Rect, Svg};

/// One range of the axis, and how many of each lie in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bin {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) above: (usize, String),
    pub(crate) below: (usize, String),
}

/// One of the two distributions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Side {
    pub(crate) name: String,
    pub(crate) paint: String,
    /// A place worth a line, such as the mean, with its name.
    pub(crate) mark: Option<(f64, String)>,
}

/// Height of each side.
const HEIGHT: f64 = 112.0;

/// Draws two distributions, each in shares of its own total; `x_text` labels places of the axis.
pub(crate) fn mirrored(
    canvas: Canvas,
    bins: &[Bin],
    (above, below): (&Side, &Side),
    x_title: &str,
    x_text: impl Fn(f64) -> String,
    label: &str,
) -> String {
    let width = canvas.width();
    let entry = |side: &Side| Entry {
        swatch: Swatch::Box,
        paint: side.paint.clone(),
        name: side.name.clone(),
    };
    let entries = [entry(above), entry(below)];
    let legend_height = legend::height(&entries, width);
    let plot = Rect { x: 44.0, y: legend_height + 30.0, width: width - 62.0, height: 2.0 * HEIGHT };
    let mut svg = Svg::new(width, plot.bottom() + 46.0);
    legend::draw(&mut svg, &entries, 2.0, 0.0, width);

    let n_above: usize = bins.iter().map(|bin| bin.above.0).sum();
    let n_below: usize = bins.iter().map(|bin| bin.below.0).sum();
    let share = |n: usize, total: usize| as_f64(n) / as_f64(total.max(1));
    let highest = bins
        .iter()
        .map(|bin| share(bin.above.0, n_above).max(share(bin.below.0, n_below)))
        .fold(0.0, f64::max);
    // Room beyond the highest bar for the names of marks.
    let end = round_end((highest * 1.25).min(1.0), 3);
    let middle = plot.y + HEIGHT;
    let up = Scale::linear((0.0, end), (middle, plot.y));
    let down = Scale::linear((0.0, end), (middle, plot.bottom()));
    let low = bins.first().map_or(0.0, |bin| bin.low);
    let high = bins.last().map_or(1.0, |bin| bin.high);
    let x = Scale::linear((low, high), (plot.x, plot.right()));

    let tick = |scale: &Scale, value: f64| Tick { at: scale.at(value), text: percent(value) };
    let mut ticks: Vec<Tick> = up.ticks(3).into_iter().map(|value| tick(&up, value)).collect();
    ticks.extend(down.ticks(3).into_iter().skip(1).map(|value| tick(&down, value)));
    axis::y_axis(&mut svg, plot, &ticks, "Share of each");
    for bin in bins {
        let (left, right) = (x.at(bin.low) + 0.7, x.at(bin.high) - 0.7);
        for (side, (n, tip), scale, total) in
            [(above, &bin.above, &up, n_above), (below, &bin.below, &down, n_below)]
        {
            if *n == 0 {
                continue;
            }
            let end = scale.at(share(*n, total));
            let (top, bottom) = (end.min(middle), end.max(middle));
            let body = Rect { x: left, y: top, width: right - left, height: bottom - top };
            svg.mark(tip, |svg| svg.rect("fill", &side.paint, body));
        }
    }
    svg.line("axis", (plot.x, middle), (plot.right(), middle));
    for (side, top, bottom) in [(above, plot.y, middle), (below, middle, plot.bottom())] {
        let Some((at, name)) = &side.mark else { continue };
        let at = x.at(*at);
        svg.line("reference", (at, top), (at, bottom));
        // A text near the right end stands to the left of its line.
        let (anchor, shift) =
            if plot.right() - 130.0 < at { (Anchor::End, -5.0) } else { (Anchor::Start, 5.0) };
        let y = if top < middle { top + 12.0 } else { bottom - 5.0 };
        svg.text("level", anchor, (at + shift, y), name);
    }
    let ticks: Vec<Tick> = x
        .ticks(if canvas == Canvas::Wide { 8 } else { 5 })
        .into_iter()
        .map(|value| Tick { at: x.at(value), text: x_text(value) })
        .collect();
    axis::x_axis(&mut svg, plot, &ticks, x_title);
    svg.finish(label)
}

/// Counts values in equal steps over a range; values outside go to the first or the last step.
pub(crate) fn counts(
    values: impl Iterator<Item = (f64, usize)>,
    (low, high): (f64, f64),
    n_bins: usize,
) -> Vec<usize> {
    let mut counts = vec![0; n_bins];
    for (value, n) in values {
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a few steps"
        )]
        let idx = ((share * as_f64(n_bins)) as usize).min(n_bins - 1);
        counts[idx] += n;
    }
    counts
}

#[expect(clippy::cast_precision_loss, reason = "charts count far fewer than 2^52 things")]
fn as_f64(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_in_steps_and_none_is_lost() {
        let values = [-9.0, 0.0, 0.4, 0.6, 1.0, 7.0];
        let counts = counts(values.into_iter().map(|value| (value, 1)), (0.0, 1.0), 2);
        assert_eq!(counts, [3, 3]);
    }

    #[test]
    fn one_side_stands_and_the_other_hangs() {
        let side = |name: &str| Side { name: name.into(), paint: "red".into(), mark: None };
        let bin = Bin { low: 0.0, high: 1.0, above: (3, "three".into()), below: (1, "one".into()) };
        let svg = mirrored(
            Canvas::Narrow,
            &[bin],
            (&side("people"), &side("stimuli")),
            "ability",
            |value| format!("{value}"),
            "map",
        );
        assert!(svg.contains("<title>three</title>") && svg.contains("<title>one</title>"));
    }
}
