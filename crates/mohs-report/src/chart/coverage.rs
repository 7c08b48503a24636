//! A square map of shares: the more, the stronger the colour.

use super::Canvas;
use super::svg::{Anchor, Rect, Svg};
use crate::number::Unit;

/// Most room a map takes, in CSS pixels.
const MOST: f64 = 340.0;

/// Draws `n × n` shares, row by row from the top. The strongest colour is the largest share, named
/// in the legend.
pub(crate) fn square(canvas: Canvas, shares: &[f64], label: &str) -> String {
    let n = side(shares.len());
    let room = canvas.width().min(MOST);
    let step = room / f64::from(n.max(1));
    let most = shares.iter().copied().filter(|share| share.is_finite()).fold(0.0, f64::max);
    let mut svg = Svg::new(canvas.width(), room + 34.0);
    for (row, column) in (0..n).flat_map(|row| (0..n).map(move |column| (row, column))) {
        let share = shares[(row * n + column) as usize];
        let cell = Rect {
            x: f64::from(column) * step,
            y: f64::from(row) * step,
            width: step,
            height: step,
        };
        let tip = format!(
            "row {}, column {} of {n}\ncovered in {} of pictures on average",
            row + 1,
            column + 1,
            Unit::Share.value(share)
        );
        let strength = if 0.0 < most { share / most } else { 0.0 };
        svg.mark(&tip, |svg| svg.rect("heat", &mixed(strength), cell));
    }
    let middle = room / 2.0;
    svg.line("reference", (middle, 0.0), (middle, room));
    svg.line("reference", (0.0, middle), (room, middle));
    legend(&mut svg, room, most);
    svg.finish(label)
}

fn legend(svg: &mut Svg, room: f64, most: f64) {
    let (left, width) = (38.0, room * 0.4);
    let steps: u32 = 24;
    for idx in 0..steps {
        let cell = Rect {
            x: left + f64::from(idx) * width / f64::from(steps),
            y: room + 14.0,
            width: width / f64::from(steps) + 0.5,
            height: 10.0,
        };
        svg.rect("heat", &mixed(f64::from(idx) / f64::from(steps - 1)), cell);
    }
    svg.text("tick", Anchor::End, (left - 6.0, room + 23.0), "0 %");
    let end = (left + width + 6.0, room + 23.0);
    svg.text("tick", Anchor::Start, end, &Unit::Share.value(most));
}

fn mixed(strength: f64) -> String {
    format!("color-mix(in srgb,var(--accent) {:.0}%,var(--raised))", strength * 100.0)
}

/// Returns the side of the largest square that so many cells fill.
fn side(n_cells: usize) -> u32 {
    (1..=256_u32).take_while(|n| (*n as usize).pow(2) <= n_cells).last().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_has_a_cell_for_each_share() {
        let svg = square(Canvas::Wide, &[0.0, 0.5, 0.25, 1.0], "Where objects lie");
        assert_eq!(svg.matches("class=\"mark\"").count(), 4);
        assert!(svg.contains("var(--accent) 50%"), "{svg}");
        assert!(square(Canvas::Narrow, &[], "empty").contains("<svg"));
    }
}
