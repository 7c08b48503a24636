//! The report for a terminal: plain text of at most 80 columns, without colour.

use mohs_score::human::viewing_time::{Group, ViewingTime};

use crate::headline;
use crate::number::{Unit, count, fixed};
use crate::width::{columns, shorten};
use crate::{Summary, TextTable};

const WIDTH: usize = 80;

/// Rows of a table of groups before the middle is left out.
const MOST_GROUPS: usize = 12;

/// Returns the report as text: headline, accuracy by exposure, bands, groups, exclusions and
/// caveats, in lines of at most 80 columns.
pub fn render_text(summary: &Summary) -> String {
    let mut text = format!("{}\n\n", shorten(&one_line(&summary.title), WIDTH));
    if summary.simulated {
        text += &paragraph("Simulated people, not people: this shows what a study could find.");
    }
    match &summary.viewing_time {
        Some(found) => text += &viewing_time(found),
        None => text += &paragraph("There are no findings yet: no flash trials were scored."),
    }
    text += &paragraph(&format!("mohs {} · seed {}", summary.mohs_version, summary.seed));
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn viewing_time(found: &ViewingTime) -> String {
    let mut text = paragraph(&headline::answer(found));
    text += &paragraph(&format!("{}.", headline::basis(found)));
    text += &paragraph(&format!(
        "{} Brackets are {} % intervals.",
        headline::right_answers(found),
        fixed(found.method.confidence * 100.0, 0)
    ));
    text += &accuracy(found);
    text += &bands(found);
    let many_sets = if 1 < found.by_dataset.len() { &found.by_dataset[..] } else { &[] };
    text += &groups("Data sets", "data set", many_sets);
    text += &groups("Classes, hardest first", "class", &found.by_label);
    text += &groups("Attributes", "attribute · level", &found.by_level);
    text += &exclusions(found);
    text += &caveats(found);
    text
}

fn accuracy(found: &ViewingTime) -> String {
    let mut table = TextTable::new(["exposure", "right answers", "trials", ""]).indented(2);
    for point in &found.accuracy_by_exposure {
        table.push([
            point.exposure.to_string(),
            Unit::Share.estimate(&point.accuracy),
            count(point.accuracy.n),
            bar(point.accuracy.value, 24),
        ]);
    }
    section("Right answers by exposure", &table)
}

fn bands(found: &ViewingTime) -> String {
    let headers = ["needs", "stimuli", "share, counted", "share, by model"];
    let mut table = TextTable::new(headers).indented(2);
    for finding in &found.bands {
        table.push([
            finding.band.name(),
            count(finding.n_stimuli),
            Unit::Share.estimate(&finding.share),
            Unit::Share.estimate(&finding.model_share),
        ]);
    }
    section("Stimuli by minimum viewing time", &table)
}

fn groups(title: &str, noun: &str, groups: &[Group]) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let mut sorted: Vec<&Group> = groups.iter().collect();
    if noun == "class" {
        sorted.sort_by(|a, b| b.difficulty.value.total_cmp(&a.difficulty.value));
    }
    let headers = [noun, "stimuli", "wrong answers", "threshold"];
    let mut table = TextTable::new(headers).indented(2);
    let n_left_out = sorted.len().saturating_sub(MOST_GROUPS);
    for (idx, group) in sorted.iter().enumerate() {
        let is_in_the_middle = MOST_GROUPS / 2 <= idx && idx < MOST_GROUPS / 2 + n_left_out;
        if is_in_the_middle {
            if idx == MOST_GROUPS / 2 {
                table.push([format!("… {} more", count(n_left_out))]);
            }
            continue;
        }
        table.push([
            shorten(&one_line(&group.name), 22),
            count(group.n_stimuli),
            Unit::Share.estimate(&group.difficulty),
            Unit::Time.estimate(&group.threshold_ms),
        ]);
    }
    section(title, &table)
}

fn exclusions(found: &ViewingTime) -> String {
    if found.exclusions.is_empty() {
        return String::new();
    }
    let mut table = TextTable::new(["rule", "participants", "trials"]).indented(2);
    for rule in &found.exclusions {
        table.push([
            shorten(&one_line(&rule.rule), 40),
            count(rule.n_participants),
            count(rule.n_trials),
        ]);
    }
    table.push(["counted".into(), count(found.n_participants), count(found.n_trials)]);
    section("Set aside, by rule", &table)
}

fn caveats(found: &ViewingTime) -> String {
    if found.caveats.is_empty() {
        return String::new();
    }
    let items = found.caveats.iter().map(|caveat| wrapped(&caveat.message(), "  - ", "    "));
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
    for word in text.split([' ', '\n', '\t', '\r']).filter(|word| !word.is_empty()) {
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
