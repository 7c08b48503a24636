//! The report for a terminal: plain text of at most 80 columns, without colour. Each chapter is a
//! file in `text/`.

mod adaptive_test;
mod agreement;
mod attacks;
mod item_response;
mod label_disagreement;
mod ladder;
mod masks;
mod models;
mod pairs;
mod quality;
mod set_comparison;
mod speed_accuracy;
mod viewing_time;

pub use adaptive_test::designs_text;

use mohs_data::Caveats;
use mohs_score::human::viewing_time::ExclusionCount;

use crate::number::count;
use crate::width::{columns, shorten};
use crate::{Summary, TextTable};

const WIDTH: usize = 80;

/// Returns the report as text: each chapter's headline, tables and caveats, in lines of at most 80
/// columns.
pub fn render_text(summary: &Summary) -> String {
    let mut text = format!("{}\n\n", shorten(&one_line(&summary.title), WIDTH));
    if summary.simulated {
        text += &paragraph("Simulated people, not people: this shows what a study could find.");
    }
    let chapters = chapters(summary);
    if chapters.is_empty() {
        text += &paragraph("There are no findings yet: nothing was scored.");
    }
    let has_several = 1 < chapters.len();
    for (name, chapter) in chapters {
        if has_several {
            text += &format!("{name}\n{}\n\n", "=".repeat(columns(name)));
        }
        text += &chapter;
    }
    text += &paragraph(&format!("mohs {} · seed {}", summary.mohs_version, summary.seed));
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// Returns the chapters there are findings for, in the order of the report.
fn chapters(summary: &Summary) -> Vec<(&'static str, String)> {
    let mut chapters = Vec::new();
    if let Some(found) = &summary.viewing_time {
        chapters.push(("Viewing time", viewing_time::chapter(found)));
    }
    if let Some(found) = &summary.speed_accuracy {
        chapters.push(("Speed and accuracy", speed_accuracy::chapter(found)));
    }
    if let Some(found) = &summary.pairs {
        chapters.push(("Paired judgements", pairs::chapter(found)));
    }
    if let Some(found) = &summary.item_response {
        chapters.push(("Item response", item_response::chapter(found)));
    }
    if let Some(found) = &summary.label_disagreement {
        chapters.push(("Label disagreement", label_disagreement::chapter(found)));
    }
    if let Some(found) = &summary.agreement {
        chapters.push(("Agreement and reliability", agreement::chapter(found)));
    }
    if let Some(found) = &summary.masks {
        chapters.push(("Object masks", masks::chapter(found)));
    }
    if let Some(found) = &summary.quality {
        chapters.push(("Data quality", quality::chapter(found)));
    }
    if let Some(found) = &summary.set_comparison {
        chapters.push(("Two sets compared", set_comparison::chapter(found)));
    }
    if let Some(found) = &summary.models {
        chapters.push(("Models", models::chapter(found)));
    }
    if let Some(found) = &summary.ladder {
        chapters.push(("Ladder", ladder::chapter(found)));
    }
    if let Some(found) = &summary.attacks {
        chapters.push(("Attacks", attacks::chapter(found)));
    }
    if let Some(found) = &summary.adaptive_test {
        chapters.push(("Adaptive test", adaptive_test::chapter(found)));
    }
    chapters
}

fn exclusions(rules: &[ExclusionCount], n_participants: usize, n_trials: usize) -> String {
    if rules.is_empty() {
        return String::new();
    }
    let mut table = TextTable::new(["rule", "participants", "trials"]).indented(2);
    for rule in rules {
        table.push([
            shorten(&one_line(&rule.rule), 40),
            count(rule.n_participants),
            count(rule.n_trials),
        ]);
    }
    table.push(["counted".into(), count(n_participants), count(n_trials)]);
    section("Set aside, by rule", &table)
}

fn caveats(caveats: &Caveats) -> String {
    if caveats.is_empty() {
        return String::new();
    }
    let items = caveats.iter().map(|caveat| wrapped(&caveat.message(), "  - ", "    "));
    format!("Caveats\n\n{}\n", items.collect::<String>())
}

fn section(title: &str, table: &TextTable) -> String {
    format!("{title}\n\n{}\n", table.render())
}

fn paragraph(text: &str) -> String {
    wrapped(text, "", "") + "\n"
}

/// Returns a bar of `share` of `width` columns, in eighths of a column.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a few columns"
)]
fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if !share.is_finite() {
        return String::new();
    }
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Returns lines of at most 80 columns, the first after `first`, the others after `rest`; a word
/// wider than a line is cut.
fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in one_line(text).split(' ').filter(|word| !word.is_empty()) {
        let word = shorten(word, WIDTH - columns(rest));
        if !is_empty && WIDTH < columns(&line) + 1 + columns(&word) {
            lines += &line;
            lines.push('\n');
            line = rest.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += &word;
        is_empty = false;
    }
    lines + &line + "\n"
}

/// A name with a line break or an escape sequence must not break a table or move the cursor.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_at_eighty_columns() {
        let text = wrapped(&"word ".repeat(40), "  - ", "    ");
        assert!(text.lines().all(|line| columns(line) <= WIDTH));
        assert!(text.starts_with("  - word"));
        assert!(text.lines().nth(1).unwrap().starts_with("    word"));
    }

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(0.0, 4), "");
        assert_eq!(bar(2.0, 4), "████");
        assert_eq!(bar(f64::NAN, 4), "");
    }
}
