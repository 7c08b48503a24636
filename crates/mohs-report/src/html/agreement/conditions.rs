//! Right answers by condition, one panel per data set.

use mohs_score::human::agreement::{Agreement, ConditionFinding, DatasetAgreement};

use super::super::figure::Figure;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::intervals;
use crate::chart::bars::{self, Bar, BarGroup};
use crate::chart::legend::{Entry, Swatch};
use crate::chart::paint;
use crate::number::{Unit, counted};

/// Panels drawn; more are under the numbers.
const MOST_PANELS: usize = 20;

/// Accuracy by condition; `None` when no data set has two.
pub(super) fn section(found: &Agreement) -> Option<Section> {
    let sets: Vec<&DatasetAgreement> =
        found.datasets.iter().filter(|set| 1 < set.conditions.len()).collect();
    if sets.is_empty() {
        return None;
    }
    let mut sheet = Sheet::new(vec![
        Column::text("Data set", "dataset"),
        Column::text("Condition", "condition"),
        Column::text("Counts", "counted"),
        Column::estimate("Right answers", "accuracy", Unit::Share),
        Column::estimate("Error consistency", "error_consistency", Unit::Plain),
    ]);
    for set in &sets {
        for condition in in_order(set) {
            let kappa = condition.people.as_ref().map(|people| people.error_consistency);
            sheet.push(vec![
                Cell::Text(set.name.clone()),
                Cell::Text(condition.condition.clone()),
                Cell::Text(if condition.counted { "yes" } else { "no" }.into()),
                condition.accuracy.map_or(Cell::Missing("no people"), Cell::Estimate),
                kappa.map_or(Cell::Missing("not compared"), Cell::Estimate),
            ]);
        }
    }
    let has_left_out = sets.iter().any(|set| set.conditions.iter().any(|one| !one.counted));
    let mut entries = Vec::new();
    if has_left_out {
        let entry =
            |swatch, name: &str| Entry { swatch, paint: paint::ACCENT.into(), name: name.into() };
        entries.push(entry(Swatch::Box, "counts"));
        entries.push(entry(Swatch::PaleBox, "set aside: the benchmark leaves it out"));
    }
    let groups: Vec<BarGroup> = sets.iter().take(MOST_PANELS).map(|set| group(set)).collect();
    let figure = Figure {
        id: "agreement-conditions",
        title: "Right answers by condition",
        caption: format!(
            "People’s share of right answers, one panel per data set with several conditions. \
             Lines are {}; n&#160;=&#160;trials.",
            intervals(found)
        ),
        sheet,
    };
    let chart = figure.html(|canvas| bars::panels(canvas, &groups, &entries, None, figure.title));
    let title = "Accuracy by condition".into();
    Some(Section { id: "agreement-accuracy", nav: "Conditions", title, body: chart })
}

/// Returns the conditions by the number in front, times in seconds after those in milliseconds, so
/// that `200 ms` stands before `1 s`.
fn in_order(set: &DatasetAgreement) -> impl Iterator<Item = &ConditionFinding> {
    let key = |name: &str| {
        let end = name.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(name.len());
        let number: Option<f64> = name[..end].parse().ok();
        let unit = if name[end..].trim_start().starts_with("s ") || &name[end..] == " s" {
            1e3
        } else {
            1.0
        };
        number.map_or(f64::INFINITY, |number| number * unit)
    };
    let mut conditions: Vec<&ConditionFinding> = set.conditions.iter().collect();
    conditions.sort_by(|a, b| key(&a.condition).total_cmp(&key(&b.condition)));
    conditions.into_iter()
}

fn group(set: &DatasetAgreement) -> BarGroup {
    let names: Vec<&str> = set.conditions.iter().map(|one| one.condition.as_str()).collect();
    let ending = shared_ending(&names);
    let bar = |finding: &ConditionFinding| {
        let accuracy = finding.accuracy?;
        Some(Bar {
            label: finding.condition.strip_suffix(ending).unwrap_or_default().to_owned(),
            estimate: accuracy,
            paint: paint::ACCENT.into(),
            is_pale: !finding.counted,
            tip: format!(
                "{} · {}\n{}\nn = {}",
                set.name,
                finding.condition,
                Unit::Share.estimate(&accuracy),
                counted(accuracy.n, "trial", "trials")
            ),
        })
    };
    let people = counted(set.n_participants, "person", "people");
    BarGroup {
        label: set.name.clone(),
        note: if ending.is_empty() { people } else { format!("{people}; …{ending}") },
        bars: in_order(set).filter_map(bar).collect(),
    }
}

/// Returns what all names end with, from a hyphen on: labels under bars must be short.
fn shared_ending<'a>(names: &[&'a str]) -> &'a str {
    let Some(first) = names.first() else { return "" };
    let endings = first.match_indices('-').map(|(at, _)| &first[at..]);
    endings.into_iter().find(|ending| names.iter().all(|name| name.ends_with(ending))).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_shared_ending_is_found() {
        assert_eq!(shared_ending(&["1-10-10", "128-10-10"]), "-10-10");
        assert_eq!(shared_ending(&["c05", "c10"]), "");
        assert_eq!(shared_ending(&[]), "");
    }
}
