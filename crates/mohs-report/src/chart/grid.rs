//! A grid of tinted cells with names on two sides: models with models, or groups with models.
//!
//! Numbers are written into cells that have room for them; smaller cells show a tint and a tip. A
//! dot in a corner marks cells that a corrected test stands behind.

use super::Canvas;
use super::svg::{Anchor, Rect, Svg};
use crate::width;

/// A grid to draw.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grid {
    /// Names on the left.
    pub(crate) rows: Vec<String>,
    /// Names on top, upright.
    pub(crate) columns: Vec<String>,
    pub(crate) cells: Vec<GridCell>,
    pub(crate) tint: Tint,
    /// Columns of letters that a number in a cell takes at most.
    pub(crate) n_letters: usize,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GridCell {
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) value: f64,
    pub(crate) text: String,
    pub(crate) tip: String,
    pub(crate) is_marked: bool,
}

/// How numbers become colours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tint {
    /// From the page's colour at the first number to the accent at the second.
    Rising(f64, f64),
    /// One colour above zero, another below, both full at this distance.
    TwoSided(f64),
}

/// Share of the accent in the deepest tint, in percent.
const DEEPEST: f64 = 82.0;
const GAP: f64 = 1.0;

/// Draws the grid.
pub(crate) fn cells(canvas: Canvas, grid: &Grid, label: &str) -> String {
    let width = canvas.width();
    let is_wide = canvas == Canvas::Wide;
    let max_columns = if is_wide { 26 } else { 13 };
    let longest = |names: &[String]| {
        names.iter().map(|name| width::columns(name)).max().unwrap_or(0).min(max_columns)
    };
    let font = |room: f64| if room < 15.0 { ("tiny", 10.0) } else { ("row", 13.0) };
    let text_width = |n: usize, size: f64| width::pixels(&"n".repeat(n), size);

    // Names of rows need room on the left before the width of a cell is known.
    let n_columns = as_f64(grid.columns.len().max(1));
    let guess = (width - text_width(longest(&grid.rows), 13.0)) / n_columns;
    let left = text_width(longest(&grid.rows), font(guess.min(24.0)).1) + 8.0;
    let cell_width = ((width - left) / n_columns).min(64.0);
    let cell_height = cell_width.clamp(10.0, 26.0);
    let (row_class, _) = font(cell_height);
    let (column_class, column_size) = font(cell_width);
    let top = text_width(longest(&grid.columns), column_size) + 10.0;
    let mut svg = Svg::new(width, top + cell_height * as_f64(grid.rows.len()) + 4.0);

    // Rows and columns may be the same members, who then have the same short names.
    let all: Vec<&String> = grid.rows.iter().chain(&grid.columns).collect();
    let short = width::distinct(&all, max_columns);
    let (row_names, column_names) = short.split_at(grid.rows.len());
    for (idx, name) in column_names.iter().enumerate() {
        let x = left + cell_width * (as_f64(idx) + 0.5) + column_size * 0.35;
        svg.text_upwards(column_class, (x, top - 6.0), name);
    }
    for (idx, name) in row_names.iter().enumerate() {
        let y =
            top + cell_height * (as_f64(idx) + 0.5) + if row_class == "row" { 4.5 } else { 3.5 };
        svg.text(row_class, Anchor::Start, (0.0, y), name);
    }
    let has_room = text_width(grid.n_letters, 12.0) + 2.0 <= cell_width && 15.0 <= cell_height;
    for cell in &grid.cells {
        let place = Rect {
            x: left + cell_width * as_f64(cell.column) + GAP / 2.0,
            y: top + cell_height * as_f64(cell.row) + GAP / 2.0,
            width: cell_width - GAP,
            height: cell_height - GAP,
        };
        draw(&mut svg, cell, grid.tint, place, has_room);
    }
    svg.finish(label)
}

fn draw(svg: &mut Svg, cell: &GridCell, tint: Tint, place: Rect, has_room: bool) {
    let (deep, class, paint) = tint.of(cell.value);
    // A finger cannot hit a cell this small, and hundreds of tips weigh.
    let is_tiny = place.width < 11.0;
    let tip = if is_tiny { "" } else { cell.tip.as_str() };
    svg.mark(tip, |svg| {
        svg.rect(class, &paint, place);
        if has_room {
            let class = if deep < 0.62 { "cell" } else { "cell deep" };
            let middle = (place.x + place.width / 2.0, place.y + place.height / 2.0 + 4.0);
            svg.text(class, Anchor::Middle, middle, &cell.text);
        }
        if cell.is_marked {
            let radius =
                if has_room { 2.2 } else { (place.width.min(place.height) / 5.0).min(2.5) };
            let corner = match has_room {
                true => (place.x + place.width - 4.5, place.y + 4.5),
                false => (place.x + place.width / 2.0, place.y + place.height / 2.0),
            };
            let class = if deep < 0.62 { "spot" } else { "spot deep" };
            svg.circle(class, "", corner, radius);
        }
    });
}

impl Tint {
    /// Returns how deep a number is tinted, from 0 to 1, its class and its share of the accent.
    fn of(self, value: f64) -> (f64, &'static str, String) {
        let (share, class) = match self {
            Self::Rising(from, to) => ((value - from) / (to - from).max(1e-9), "mix"),
            Self::TwoSided(full) if value < 0.0 => (-value / full.max(1e-9), "mix below"),
            Self::TwoSided(full) => (value / full.max(1e-9), "mix"),
        };
        let share = share.clamp(0.0, 1.0);
        (share, class, format!("{:.0}%", share * DEEPEST))
    }
}

#[expect(clippy::cast_precision_loss, reason = "charts have far fewer than 2^52 marks")]
fn as_f64(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(n: usize) -> Grid {
        let names: Vec<String> = (0..n).map(|idx| format!("model {idx}")).collect();
        let cell = |row: usize, column: usize| GridCell {
            row,
            column,
            value: if row < column { 0.1 } else { -0.1 },
            text: "+10.0".into(),
            tip: format!("{row} and {column}"),
            is_marked: row == 0,
        };
        let cells = (0..n).flat_map(|row| (0..n).map(move |column| cell(row, column))).collect();
        Grid { rows: names.clone(), columns: names, cells, tint: Tint::TwoSided(0.1), n_letters: 5 }
    }

    #[test]
    fn a_small_grid_has_numbers_and_a_large_one_tints() {
        let small = cells(Canvas::Wide, &grid(3), "Differences");
        assert_eq!(small.matches(">+10.0<").count(), 9);
        assert_eq!(small.matches("<circle class=\"spot").count(), 3);
        let large = cells(Canvas::Narrow, &grid(22), "Differences");
        assert_eq!(large.matches("<rect").count(), 22 * 22);
        assert!(!large.contains(">+10.0<"));
    }

    #[test]
    fn a_small_cell_looks_like_this() {
        insta::assert_snapshot!(cells(Canvas::Narrow, &grid(1), "Differences"));
    }
}
