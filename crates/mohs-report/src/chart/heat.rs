//! A table of tinted cells: rows of names, columns of steps, the deeper the larger the share.

use super::Canvas;
use super::svg::{Anchor, Rect, Svg};
use crate::number::fixed;
use crate::width;

/// One row of cells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HeatRow {
    pub(crate) name: String,
    /// One for each column; `None` where there is no number.
    pub(crate) cells: Vec<Option<HeatCell>>,
}

/// A share and what to say about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HeatCell {
    pub(crate) share: f64,
    pub(crate) tip: String,
}

const ROW: f64 = 24.0;
/// Tint of the largest share, in percent of the accent.
const DEEPEST: f64 = 85.0;

/// Draws shares in percent, tinted from none to the largest.
pub(crate) fn cells(
    canvas: Canvas,
    rows: &[HeatRow],
    columns: &[String],
    title: &str,
    label: &str,
) -> String {
    let width = canvas.width();
    let longest = rows.iter().map(|row| width::columns(&row.name)).max().unwrap_or(0);
    let max_columns = match canvas {
        Canvas::Wide => 26,
        Canvas::Narrow => 14,
    };
    let left = width::pixels(&"n".repeat(longest.min(max_columns)), 13.0) + 14.0;
    let n_columns = u32::try_from(columns.len().max(1)).unwrap_or(1);
    let step = (width - left) / f64::from(n_columns);
    let top = 44.0;
    let n_rows = u32::try_from(rows.len()).unwrap_or(0);
    let mut svg = Svg::new(width, top + ROW * f64::from(n_rows) + 6.0);
    svg.text("axis-title", Anchor::Start, (left, 12.0), title);
    let middle = |place: u32| left + step * (f64::from(place) + 0.5);
    for (place, column) in (0..).zip(columns) {
        svg.text("tick", Anchor::Middle, (middle(place), top - 10.0), column);
    }
    let shares = rows.iter().flat_map(|row| row.cells.iter().flatten()).map(|cell| cell.share);
    let largest = shares.fold(0.01, f64::max);
    for (nth, row) in (0..).zip(rows) {
        let y = top + ROW * f64::from(nth);
        let name = width::shorten(&row.name, max_columns);
        svg.text("row", Anchor::Start, (0.0, y + 16.0), &name);
        for (place, cell) in (0u32..).zip(&row.cells) {
            let at = (middle(place), y + 16.0);
            let Some(cell) = cell else {
                svg.text("tick", Anchor::Middle, at, "–");
                continue;
            };
            let tint = (cell.share / largest).clamp(0.0, 1.0) * DEEPEST;
            let paint = format!("color-mix(in srgb,var(--accent) {tint:.0}%,var(--raised))");
            let x = left + step * f64::from(place) + 1.0;
            let rect = Rect { x, y: y + 1.0, width: step - 2.0, height: ROW - 2.0 };
            let class = if tint < DEEPEST * 0.6 { "cell" } else { "cell deep" };
            svg.mark(&cell.tip, |svg| {
                svg.rect("fill", &paint, rect);
                svg.text(class, Anchor::Middle, at, &fixed(cell.share * 100.0, 0));
            });
        }
    }
    svg.finish(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_its_number_and_its_tint() {
        let row = HeatRow {
            name: "cat".into(),
            cells: vec![Some(HeatCell { share: 0.4, tip: "40.0 % [30.0, 50.0]".into() }), None],
        };
        let columns = ["500".to_owned(), "900".to_owned()];
        insta::assert_snapshot!(cells(
            Canvas::Narrow,
            &[row],
            &columns,
            "Beep in ms",
            "Categories"
        ));
    }
}
