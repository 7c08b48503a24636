//! Viewing time as text: accuracy by exposure, bands, groups, exclusions.

use mohs_score::human::viewing_time::{Group, ViewingTime};

use super::{bar, caveats, exclusions, one_line, paragraph, section};
use crate::TextTable;
use crate::headline;
use crate::number::{Unit, count, fixed};
use crate::width::shorten;

/// Rows of a table of groups before the middle is left out.
const MOST_GROUPS: usize = 12;

pub(super) fn chapter(found: &ViewingTime) -> String {
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
    text += &exclusions(&found.exclusions, found.n_participants, found.n_trials);
    text += &caveats(&found.caveats);
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
