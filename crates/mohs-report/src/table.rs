//! Text tables for terminals: columns aligned, numbers to the right.

use crate::width::columns;

/// A table of texts.
///
/// A column whose every filled cell starts like a number stands to the right, others to the left.
/// Rows shorter than the headers are filled with empty cells, longer ones widen the table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextTable {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
    indent: usize,
}

impl TextTable {
    /// Returns a table without rows.
    pub fn new<S: Into<String>>(headers: impl IntoIterator<Item = S>) -> Self {
        let headers = headers.into_iter().map(Into::into).collect();
        Self { headers, rows: Vec::new(), indent: 0 }
    }

    /// Adds a row.
    #[must_use]
    pub fn row<S: Into<String>>(mut self, cells: impl IntoIterator<Item = S>) -> Self {
        self.push(cells);
        self
    }

    /// Adds a row in place.
    pub fn push<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Sets how many columns of space stand before each line.
    #[must_use]
    pub fn indented(mut self, columns: usize) -> Self {
        self.indent = columns;
        self
    }

    /// Returns the table: headers, a rule under each that is not empty, one line per row, each with a line break and without
    /// space at its end. A table without headers has neither headers nor rule.
    pub fn render(&self) -> String {
        let n_columns = self.rows.iter().chain([&self.headers]).map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..n_columns).map(|idx| self.column_width(idx)).collect();
        let to_right: Vec<bool> = (0..n_columns).map(|idx| self.is_numeric(idx)).collect();

        let mut lines = Vec::new();
        if !self.headers.is_empty() {
            lines.push(line(&self.headers, &widths, &to_right));
            let rule = |(idx, width): (usize, &usize)| match self.headers.get(idx) {
                Some(header) if !header.is_empty() => "─".repeat(*width),
                _ => " ".repeat(*width),
            };
            let rules: Vec<String> = widths.iter().enumerate().map(rule).collect();
            lines.push(rules.join("  "));
        }
        lines.extend(self.rows.iter().map(|row| line(row, &widths, &to_right)));

        let indent = " ".repeat(self.indent);
        lines.iter().map(|line| format!("{indent}{line}").trim_end().to_owned() + "\n").collect()
    }

    fn column_width(&self, idx: usize) -> usize {
        let cells = self.rows.iter().chain([&self.headers]).filter_map(|row| row.get(idx));
        cells.map(|cell| columns(cell)).max().unwrap_or(0)
    }

    fn is_numeric(&self, idx: usize) -> bool {
        let mut filled =
            self.rows.iter().filter_map(|row| row.get(idx)).filter(|cell| !cell.is_empty());
        let mut any = false;
        filled.all(|cell| {
            any = true;
            starts_like_a_number(cell)
        }) && any
    }
}

fn line(cells: &[String], widths: &[usize], to_right: &[bool]) -> String {
    let pad = |(idx, width): (usize, &usize)| {
        let cell = cells.get(idx).map_or("", String::as_str);
        let space = " ".repeat(width.saturating_sub(columns(cell)));
        if to_right[idx] { space + cell } else { format!("{cell}{space}") }
    };
    let padded: Vec<String> = widths.iter().enumerate().map(pad).collect();
    padded.join("  ")
}

/// A dash stands for "no number" and does not turn a column of numbers into a column of texts.
fn starts_like_a_number(cell: &str) -> bool {
    let unsigned = cell.trim_start_matches(['-', '−', '+', '±', '<', '>', '≤', '≥', '[', '~', ' ']);
    unsigned.starts_with(|c: char| c.is_ascii_digit()) || matches!(cell, "–" | "-" | "—")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right_and_texts_to_the_left() {
        let table = TextTable::new(["band", "n", "share"])
            .row(["17 ms", "3", "1.9 %"])
            .row(["never", "120", "75.0 %"])
            .row(["椅子", "–", ""]);
        assert_eq!(
            table.render(),
            "band     n   share\n\
             ─────  ───  ──────\n\
             17 ms    3   1.9 %\n\
             never  120  75.0 %\n\
             椅子     –\n"
        );
    }

    #[test]
    fn a_table_without_rows_is_its_headers() {
        assert_eq!(TextTable::new(["a", "bc"]).render(), "a  bc\n─  ──\n");
        assert_eq!(TextTable::default().render(), "");
    }

    #[test]
    fn short_and_long_rows_fit() {
        let table = TextTable::new(["a"]).row(["1", "2"]).row([""; 0]).indented(2);
        assert_eq!(table.render(), "  a\n  ─\n  1  2\n\n");
    }
}
