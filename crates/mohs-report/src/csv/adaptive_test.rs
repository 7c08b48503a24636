//! Adaptive tests as CSV: one row per group, one per question, one per design.

use mohs_data::Estimate;
use mohs_score::adaptive::ladder::{AdaptiveTestFinding, GroupFinding};
use mohs_score::simulate::ladder::{DesignComparison, Errors};

use crate::escape::csv_line;
use crate::number::raw;

/// Returns one row per group and quantity, with its interval and n.
pub(super) fn rows(found: &AdaptiveTestFinding) -> String {
    let headers = [
        "group",
        "class",
        "attribute",
        "level",
        "quantity",
        "value",
        "low",
        "high",
        "n",
        "n_stimuli",
        "full",
    ];
    let mut csv = csv_line(headers.map(str::to_owned));
    let mut push =
        |names: [&str; 4], quantity: &str, estimate: &Estimate, n: usize, full: Option<f64>| {
            let mut cells: Vec<String> = names.map(str::to_owned).to_vec();
            cells.push(quantity.to_owned());
            cells.extend([estimate.value, estimate.low, estimate.high].map(raw));
            cells.extend([estimate.n, n].map(|n| n.to_string()));
            cells.push(full.map(raw).unwrap_or_default());
            csv += &csv_line(cells);
        };
    let mut group = |name: &str, group: &GroupFinding| {
        let attribute = group.attribute.as_deref().unwrap_or_default();
        let level = group.level.as_deref().unwrap_or_default();
        let names = [name, "", attribute, level];
        push(names, "accuracy", &group.accuracy, group.n_stimuli, group.full_accuracy);
        if let Some(score) = &group.score {
            push(names, "score", score, group.n_stimuli, group.full_score);
        }
    };
    group("all", &found.overall);
    for (name, groups) in [
        ("attribute", &found.attributes),
        ("level", &found.by_level),
        ("attribute-level", &found.by_attribute_and_level),
    ] {
        groups.iter().for_each(|found| group(name, found));
    }
    for cell in &found.cells {
        let names = ["cell", &cell.class, cell.attribute.as_deref().unwrap_or_default(), ""];
        push(names, "accuracy", &cell.accuracy, cell.n_stimuli, None);
    }
    csv
}

/// One question of a test and what came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedRow {
    /// Counted from 1.
    pub round: usize,
    /// The stimulus.
    pub stimulus: String,
    /// What it shows.
    pub label: String,
    /// What varies in it.
    pub attribute: Option<String>,
    /// How strongly.
    pub level: String,
    /// What the model said; `None` if there is no answer.
    pub predicted: Option<String>,
    /// Whether that was right.
    pub is_right: Option<bool>,
    /// Why it was asked.
    pub why: String,
}

/// Returns `asked.csv`: what was asked, in which round and why.
pub fn asked_csv(rows: &[AskedRow]) -> String {
    let headers =
        ["round", "stimulus", "label", "attribute", "level", "predicted", "correct", "why"];
    let mut csv = csv_line(headers.map(str::to_owned));
    for row in rows {
        csv += &csv_line([
            row.round.to_string(),
            row.stimulus.clone(),
            row.label.clone(),
            row.attribute.clone().unwrap_or_default(),
            row.level.clone(),
            row.predicted.clone().unwrap_or_default(),
            row.is_right.map(|is_right| u8::from(is_right).to_string()).unwrap_or_default(),
            row.why.clone(),
        ]);
    }
    csv
}

/// Returns designs beside each other: one row per arm.
pub fn designs_csv(found: &DesignComparison) -> String {
    let mut headers: Vec<String> =
        ["design", "references", "estimator", "share_asked"].map(str::to_owned).to_vec();
    for what in ["accuracy", "score", "level", "cell"] {
        headers.extend(["bias", "mse", "ratio", "coverage"].map(|part| format!("{what}_{part}")));
    }
    let mut csv = csv_line(headers);
    for arm in &found.arms {
        let mut cells = vec![
            arm.design.clone(),
            u8::from(arm.has_references).to_string(),
            arm.estimator.name().to_owned(),
            raw(arm.share_asked),
        ];
        for Errors { bias, mse, ratio, coverage } in
            [arm.accuracy, arm.score, arm.by_level, arm.cells]
        {
            cells.extend([bias, mse, ratio].map(raw));
            cells.push(coverage.map(|share| raw(share.value)).unwrap_or_default());
        }
        csv += &csv_line(cells);
    }
    csv
}
