//! A long table: searched, sorted and turned page by page in the browser.
//!
//! Hundreds of rows as HTML would make the page heavy, so all rows travel once, as compact JSON,
//! and the script draws one page of them and the CSV. The first page is also written as HTML, for
//! readers without JavaScript; `report.js` draws the same cells.

use serde_json::{Value, json};

use super::sheet::{Cell, Kind, Sheet};
use crate::escape::{esc, json_in_script};
use crate::number::{Unit, count};

/// Rows of the page written as HTML, and of a page in the script.
const PAGE: usize = 25;

/// Numbers travel with this many steps per unit: more digits than anything shown.
const STEPS: f64 = 1e6;

/// Returns a part of the page that opens when asked for, such as a long table under its chart.
pub(super) fn folded(title: &str, html: &str) -> String {
    format!("<details class=\"numbers\"><summary>{}</summary>\n{html}</details>\n", esc(title))
}

/// Returns the table; short ones are plain. `id` names it and its CSV file, `caption` is read out
/// before it.
pub(super) fn table(sheet: &Sheet, id: &str, caption: &str) -> String {
    let n = sheet.rows.len();
    let id = esc(id);
    if n <= PAGE {
        return format!(
            "<div class=\"short-table\" id=\"{id}\" data-csv=\"{}\">{}</div>\n",
            esc(&sheet.csv()),
            sheet.table(caption)
        );
    }
    format!(
        "<div class=\"long-table\" id=\"{id}\">\
         <div class=\"table-tools\" hidden>\
         <label>Search <input type=\"search\" placeholder=\"any word\"></label>\
         <button type=\"button\">CSV</button></div>\n\
         <div class=\"scroll\" tabindex=\"0\"><table>\
         <caption class=\"hidden\">{}</caption>\
         <thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>\n\
         <p class=\"pager\">{PAGE} of {} rows. The others need JavaScript.</p>\n\
         <script type=\"application/json\">{}</script></div>\n",
        esc(caption),
        sheet.heads(),
        sheet.html_rows(PAGE),
        count(n),
        json_in_script(&data(sheet)),
    )
}

fn data(sheet: &Sheet) -> Value {
    let columns: Vec<Value> = sheet
        .columns
        .iter()
        .map(|column| {
            let kind = match column.kind {
                Kind::Text => "text",
                Kind::Count => "count",
                Kind::Number => "number",
                Kind::Estimate(Unit::Share) => "share",
                Kind::Estimate(Unit::Points) => "points",
                Kind::Estimate(Unit::Time) => "time",
                Kind::Estimate(Unit::Plain) => "plain",
                Kind::Estimate(Unit::Epsilon) => "epsilon",
            };
            json!([column.title, column.key, kind])
        })
        .collect();
    let rows: Vec<Vec<Value>> =
        sheet.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    json!({ "page": PAGE, "has_n": sheet.has_n, "columns": columns, "rows": rows })
}

/// The forms are those that `report.js` knows: a text, a count, `[text, number]`, `[text, place,
/// 0]`, and an estimate as `[value, low, high, n]`.
fn cell(cell: &Cell) -> Value {
    match cell {
        Cell::Text(text) => json!(text),
        Cell::Ordered(text, number) => json!([text, rounded(*number)]),
        Cell::Ranked(text, place) => json!([text, place, 0]),
        Cell::Count(n) => json!(n),
        Cell::PValue(p) => json!([crate::number::bare_p_value(*p), p]),
        Cell::Estimate(e) => json!([rounded(e.value), rounded(e.low), rounded(e.high), e.n]),
        Cell::NoInterval(value, n) => json!([rounded(*value), Value::Null, Value::Null, n]),
        Cell::Missing(_) => Value::Null,
    }
}

fn rounded(number: f64) -> Value {
    let number = (number * STEPS).round() / STEPS;
    // Whole numbers without `.0`, because there are thousands of them.
    #[expect(clippy::cast_possible_truncation, reason = "checked to be small and whole")]
    if number.fract() == 0.0 && number.abs() < 1e9 { json!(number as i64) } else { json!(number) }
}

#[cfg(test)]
mod tests {
    use mohs_data::Estimate;

    use super::super::sheet::Column;
    use super::*;

    fn sheet(n: usize) -> Sheet {
        let mut sheet = Sheet::new(vec![
            Column::text("Model", "model"),
            Column::estimate("Accuracy", "accuracy", Unit::Share),
            Column::text("p", "p"),
        ]);
        let accuracy = Estimate { value: 0.5, low: 0.25, high: 1.0, confidence: 0.95, n: 4 };
        for idx in 0..n {
            sheet.push(vec![
                Cell::Text(format!("</script>{idx}")),
                Cell::Estimate(accuracy),
                Cell::PValue(0.0001),
            ]);
        }
        sheet
    }

    #[test]
    fn a_short_table_is_a_plain_one() {
        let html = table(&sheet(25), "pairs", "Pairs");
        assert!(html.contains("class=\"sortable\"") && !html.contains("<script"));
    }

    #[test]
    fn a_long_table_travels_as_numbers_and_shows_its_first_page() {
        let html = table(&sheet(300), "pairs", "Pairs");
        assert_eq!(html.matches("<tr>").count(), 1 + 25);
        assert_eq!(html.matches("</script>").count(), 1);
        assert!(html.contains("[0.5,0.25,1,4],[\"\\u003c 0.001\",0.0001]]"), "{html}");
        assert!(html.contains("25 of 300 rows"));
    }
}
