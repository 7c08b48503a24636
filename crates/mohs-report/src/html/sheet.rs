//! A sheet: the numbers behind a chart, as a table to read and as CSV to take away.

use std::borrow::Cow;

use mohs_data::Estimate;
use mohs_score::human::viewing_time::StimulusFinding;

use crate::escape::{csv_line, esc};
use crate::number::{self, Unit, count, counted, raw};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Count,
    /// A number as a text, or a p-value.
    Number,
    Estimate(Unit),
}

/// A column of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    /// Heading for people.
    pub(super) title: Cow<'static, str>,
    /// Name in CSV; estimates add `_low`, `_high` and `_n`.
    pub(super) key: Cow<'static, str>,
    pub(super) kind: Kind,
}

impl Column {
    pub(super) const fn text(title: &'static str, key: &'static str) -> Self {
        Self::of(title, key, Kind::Text)
    }

    pub(super) const fn count(title: &'static str, key: &'static str) -> Self {
        Self::of(title, key, Kind::Count)
    }

    pub(super) const fn estimate(title: &'static str, key: &'static str, unit: Unit) -> Self {
        Self::of(title, key, Kind::Estimate(unit))
    }

    pub(super) const fn number(title: &'static str, key: &'static str) -> Self {
        Self::of(title, key, Kind::Number)
    }

    /// A column of estimates that is named by the data, such as one per band or per model.
    pub(super) fn named(name: &str, unit: Unit) -> Self {
        let name = name.to_owned();
        Self { title: name.clone().into(), key: name.into(), kind: Kind::Estimate(unit) }
    }

    const fn of(title: &'static str, key: &'static str, kind: Kind) -> Self {
        Self { title: Cow::Borrowed(title), key: Cow::Borrowed(key), kind }
    }
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Text(String),
    /// A text that sorts and is exported as a number, such as an exposure.
    Ordered(String, f64),
    /// A text that sorts by its place and is exported as it stands, such as a band.
    Ranked(String, usize),
    Count(usize),
    Estimate(Estimate),
    /// A p-value.
    PValue(f64),
    /// A number that rests on too few observations for an interval, and how many they are.
    NoInterval(f64, usize),
    /// No number, and why.
    Missing(&'static str),
}

/// Bytes from which a text gets a column it can be read in.
const LONG: usize = 48;

/// A table of numbers.
///
/// Invariant: every row has as many cells as there are columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sheet {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// Whether shares are tinted, the deeper the smaller.
    pub(super) is_tinted: bool,
    /// Whether n stands beside each estimate; otherwise a column or a heading says it.
    pub(super) has_n: bool,
}

/// Tint of a share of 0, in percent of the accent.
const DEEPEST_TINT: f64 = 55.0;

impl Sheet {
    pub(super) fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new(), is_tinted: false, has_n: true }
    }

    /// Adds a row; missing cells are filled, surplus ones dropped.
    pub(super) fn push(&mut self, mut cells: Vec<Cell>) {
        cells.resize(self.columns.len(), Cell::Missing("not measured"));
        self.rows.push(cells);
    }

    /// Returns the CSV text, numbers unrounded.
    pub(super) fn csv(&self) -> String {
        let headers = self.columns.iter().flat_map(|column| match column.kind {
            Kind::Text | Kind::Count | Kind::Number => vec![column.key.clone().into_owned()],
            Kind::Estimate(unit) => ["", "_low", "_high", "_n"]
                .iter()
                .map(|part| match *part {
                    "_n" => format!("{}_n", column.key),
                    part => format!("{}{part}{}", column.key, unit.suffix()),
                })
                .collect(),
        });
        let mut csv = csv_line(headers.collect::<Vec<_>>());
        for row in &self.rows {
            let cells = row.iter().zip(&self.columns).flat_map(|(cell, column)| match cell {
                Cell::Text(text) | Cell::Ranked(text, _) => vec![text.clone()],
                Cell::Ordered(_, number) | Cell::PValue(number) => vec![raw(*number)],
                Cell::Count(n) => vec![n.to_string()],
                Cell::Estimate(e) => {
                    vec![raw(e.value), raw(e.low), raw(e.high), e.n.to_string()]
                }
                Cell::NoInterval(value, n) => {
                    vec![raw(*value), String::new(), String::new(), n.to_string()]
                }
                Cell::Missing(_) => match column.kind {
                    Kind::Estimate(_) => vec![String::new(); 4],
                    Kind::Text | Kind::Count | Kind::Number => vec![String::new()],
                },
            });
            csv += &csv_line(cells.collect::<Vec<_>>());
        }
        csv
    }

    /// Returns a table that the script can sort; `caption` is read out before it.
    pub(super) fn table(&self, caption: &str) -> String {
        let heads = self.heads();
        let rows = self.html_rows(self.rows.len());
        format!(
            "<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\">\
             <caption class=\"hidden\">{}</caption>\
             <thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table></div>\n",
            esc(caption)
        )
    }

    /// Returns the cells of the head.
    pub(super) fn heads(&self) -> String {
        self.columns.iter().map(head).collect()
    }

    /// Returns the first `n` rows.
    pub(super) fn html_rows(&self, n: usize) -> String {
        self.rows.iter().take(n).map(|row| self.row(row)).collect()
    }

    fn row(&self, row: &[Cell]) -> String {
        let cells = row.iter().zip(&self.columns).enumerate().map(|(idx, (cell, column))| {
            let (class, sort, html) = match (cell, column.kind) {
                (Cell::Text(text), _) if LONG < text.len() => ("long", None, esc(text)),
                (Cell::Text(text), _) => ("", None, esc(text)),
                (Cell::Ordered(text, number), Kind::Number) => {
                    ("num", Some(raw(*number)), esc(text))
                }
                (Cell::Ordered(text, number), _) => ("", Some(raw(*number)), esc(text)),
                (Cell::Ranked(text, place), _) => ("", Some(place.to_string()), esc(text)),
                (Cell::PValue(p), _) => ("num", Some(raw(*p)), esc(&number::bare_p_value(*p))),
                (Cell::Count(n), _) => ("num", Some(n.to_string()), count(*n)),
                (Cell::Estimate(e), Kind::Estimate(unit)) if !self.has_n => {
                    ("num", Some(raw(e.value)), value_and_interval(unit, e))
                }
                (Cell::Estimate(e), Kind::Estimate(unit)) => {
                    ("num", Some(raw(e.value)), estimate(unit, e))
                }
                (Cell::Estimate(e), _) => ("num", Some(raw(e.value)), estimate(Unit::Plain, e)),
                (Cell::NoInterval(value, n), kind) => {
                    let unit = if let Kind::Estimate(unit) = kind { unit } else { Unit::Plain };
                    ("num", Some(raw(*value)), without_interval(unit, *value, *n))
                }
                (Cell::Missing(why), _) => {
                    ("num", Some(String::new()), format!("<span class=\"n\">{}</span>", esc(why)))
                }
            };
            let sort = sort.map(|key| format!(" data-sort=\"{key}\"")).unwrap_or_default();
            let class = match class {
                "" => String::new(),
                class => format!(" class=\"{class}\""),
            };
            let sort = match (cell, column.kind) {
                (Cell::Estimate(e), Kind::Estimate(Unit::Share)) if self.is_tinted => {
                    let tint = (1.0 - e.value).clamp(0.0, 1.0) * DEEPEST_TINT;
                    format!("{sort} style=\"--tint:{tint:.0}\"")
                }
                _ => sort,
            };
            match idx {
                0 => format!("<th scope=\"row\"{sort}>{html}</th>"),
                _ => format!("<td{class}{sort}>{html}</td>"),
            }
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    }
}

fn head(column: &Column) -> String {
    let class = if column.kind == Kind::Text { "" } else { " class=\"num\"" };
    format!("<th scope=\"col\"{class}>{}</th>", esc(&column.title))
}

/// Returns an estimate as HTML: value, interval, and n in a quiet colour.
pub(super) fn estimate(unit: Unit, estimate: &Estimate) -> String {
    with_note(unit, estimate, &format!("n&#160;=&#160;{}", count(estimate.n)))
}

/// Returns an estimate whose n has a noun, in singular and plural: `n = 6720 trials`.
pub(super) fn estimate_of(unit: Unit, estimate: &Estimate, (one, many): (&str, &str)) -> String {
    with_note(unit, estimate, &format!("n = {}", counted(estimate.n, one, many)))
}

/// Returns an estimate without n, for places where n stands beside it.
pub(super) fn value_and_interval(unit: Unit, estimate: &Estimate) -> String {
    with_note(unit, estimate, "")
}

/// Shows a stimulus' threshold; one beyond the longest exposure is an extrapolation and says only
/// that it is beyond.
pub(super) fn threshold(finding: &StimulusFinding) -> String {
    match finding.counts.iter().map(|count| count.exposure).max() {
        Some(longest) if longest.value() < finding.threshold_ms.value => format!(
            "<span class=\"est\"><b>&gt; {longest}</b> <span class=\"ci\">not within reach</span></span>"
        ),
        _ => value_and_interval(Unit::Time, &finding.threshold_ms),
    }
}

/// Shows a number that has no interval.
pub(super) fn without_interval(unit: Unit, value: f64, n: usize) -> String {
    format!(
        "<span class=\"est\"><b>{}</b> <span class=\"ci\">no interval</span> \
         <span class=\"n\">n&#160;=&#160;{}</span></span>",
        unit.value(value),
        count(n)
    )
}

fn with_note(unit: Unit, estimate: &Estimate, note: &str) -> String {
    let note = match note.is_empty() {
        true => String::new(),
        false => format!(" <span class=\"n\">{note}</span>"),
    };
    format!(
        "<span class=\"est\"><b>{}</b> <span class=\"ci\">{}</span>{note}</span>",
        unit.value(estimate.value),
        unit.interval(estimate),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let mut sheet = Sheet::new(vec![
            Column::text("Class", "label"),
            Column::estimate("Threshold", "threshold", Unit::Time),
        ]);
        let known = Estimate { value: 68.0, low: 60.0, high: 77.0, confidence: 0.95, n: 10 };
        sheet.push(vec![Cell::Text("<cup>, red".into()), Cell::Estimate(known)]);
        sheet.push(vec![Cell::Text("plate".into()), Cell::Missing("no trials")]);
        sheet
    }

    #[test]
    fn a_number_without_interval_says_so_and_keeps_its_columns() {
        let mut sheet = Sheet::new(vec![Column::estimate("Overlap", "overlap", Unit::Share)]);
        sheet.push(vec![Cell::NoInterval(0.5, 1)]);
        assert_eq!(sheet.csv(), "overlap,overlap_low,overlap_high,overlap_n\n0.5,,,1\n");
        assert!(sheet.table("Overlap").contains("no interval"));
    }

    #[test]
    fn an_estimate_is_four_columns_of_csv() {
        assert_eq!(
            sheet().csv(),
            "label,threshold_ms,threshold_low_ms,threshold_high_ms,threshold_n\n\
             \"<cup>, red\",68,60,77,10\n\
             plate,,,,\n"
        );
    }

    #[test]
    fn a_table_shows_value_interval_and_n_or_why_not() {
        insta::assert_snapshot!(sheet().table("Thresholds by class"));
    }
}
