//! A matrix of numbers from 0 to 1 between members of one group, darker where larger.

use super::Canvas;
use super::svg::{Anchor, Rect, Svg};
use crate::number::fixed;
use crate::width;

/// One number between two members.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MatrixCell {
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) value: f64,
    pub(crate) tip: String,
}

/// Draws the lower half of a matrix: names on the left, short names below.
pub(crate) fn lower_half(
    canvas: Canvas,
    names: &[String],
    cells: &[MatrixCell],
    label: &str,
) -> String {
    let width = canvas.width();
    let max_columns = if canvas == Canvas::Wide { 24 } else { 12 };
    let longest = names.iter().map(|name| width::columns(name)).max().unwrap_or(0);
    let left = width::pixels(&"n".repeat(longest.min(max_columns)), 13.0) + 10.0;
    let n = as_f64(names.len().max(2) - 1);
    let side = ((width - left) / n).min(46.0);
    let mut svg = Svg::new(width, side * n + 22.0);
    // The first member has no one before it, the last no one after it.
    for (idx, name) in names.iter().enumerate().skip(1) {
        let y = side * as_f64(idx - 1) + side / 2.0 + 4.5;
        svg.text("row", Anchor::Start, (0.0, y), &width::shorten(name, max_columns));
    }
    for (idx, name) in names.iter().enumerate().take(names.len().saturating_sub(1)) {
        let x = left + side * (as_f64(idx) + 0.5);
        svg.text("tick", Anchor::Middle, (x, side * n + 15.0), &tail(name));
    }
    for cell in cells.iter().filter(|cell| cell.column < cell.row && cell.row < names.len()) {
        let place = Rect {
            x: left + side * as_f64(cell.column) + 1.0,
            y: side * as_f64(cell.row - 1) + 1.0,
            width: side - 2.0,
            height: side - 2.0,
        };
        svg.mark(&cell.tip, |svg| {
            svg.rect("fill", &shade(cell.value), place);
            if 24.0 <= side {
                let middle = (place.x + place.width / 2.0, place.y + place.height / 2.0 + 4.0);
                let text = fixed(cell.value, 2);
                svg.text("cell", Anchor::Middle, middle, text.trim_start_matches('0'));
            }
        });
    }
    svg.finish(label)
}

/// Returns a colour between the page's and the accent, never so dark that ink on it is lost.
fn shade(value: f64) -> String {
    format!(
        "color-mix(in srgb, var(--accent) {}%, var(--paper))",
        fixed(value.clamp(0.0, 1.0) * 62.0, 0)
    )
}

/// Returns the last few letters of a name, which tell participants apart.
fn tail(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    letters[letters.len().saturating_sub(3)..]
        .iter()
        .collect::<String>()
        .trim_start_matches('-')
        .into()
}

#[expect(clippy::cast_precision_loss, reason = "charts have far fewer than 2^52 marks")]
fn as_f64(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_drawn_once() {
        let names = ["p-01".to_owned(), "p-02".to_owned(), "p-03".to_owned()];
        let cell = |row, column| MatrixCell { row, column, value: 0.43, tip: "pair".into() };
        let cells = [cell(1, 0), cell(2, 0), cell(2, 1)];
        let svg = lower_half(Canvas::Wide, &names, &cells, "Pairs");
        assert_eq!(svg.matches("<rect").count(), 3);
        assert_eq!(svg.matches(">.43<").count(), 3);
    }
}
