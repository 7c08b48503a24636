//! A ladder as CSV: one row per model and attribute, and further tables, one per question.

use mohs_data::Estimate;
use mohs_score::model::hierarchy::{LadderFindings, LadderModel, LadderRow};

use crate::escape::csv_line;
use crate::number::raw;

/// The names of all tables that [`ladder_tables`] may return.
pub const LADDER_TABLES: [&str; 7] = [
    "ladder.csv",
    "levels.csv",
    "patterns.csv",
    "labels.csv",
    "confidence.csv",
    "correlation.csv",
    "validity.csv",
];

/// Returns all tables of a ladder by file name, `ladder.csv` first; a table without rows is left
/// out.
pub fn ladder_tables(found: &LadderFindings) -> Vec<(&'static str, String)> {
    let tables = [
        rows(found),
        levels(found),
        patterns(found),
        labels(found),
        confidence(found),
        correlation(found),
        validity(found),
    ];
    LADDER_TABLES.into_iter().zip(tables).filter(|(_, csv)| csv.lines().nth(1).is_some()).collect()
}

fn interval(estimate: Option<&Estimate>) -> Vec<String> {
    match estimate {
        Some(e) => vec![raw(e.value), raw(e.low), raw(e.high)],
        None => vec![String::new(); 3],
    }
}

/// Returns a number's columns: itself and the ends of its interval.
fn three(name: &str) -> [String; 3] {
    [name.to_owned(), format!("{name}_low"), format!("{name}_high")]
}

/// Returns the rows of a model with the name of their attribute, empty for all stimuli.
fn each<'a>(
    found: &'a LadderFindings,
    model: &'a LadderModel,
) -> impl Iterator<Item = (&'a str, &'a LadderRow)> {
    let names = found.attributes.iter().map(|attribute| attribute.name.as_str());
    std::iter::once(("", &model.overall)).chain(names.zip(&model.attributes))
}

/// Returns one row per model over all stimuli (no attribute), and per attribute.
pub(super) fn rows(found: &LadderFindings) -> String {
    let mut header = ["model", "attribute", "n_stimuli"].map(str::to_owned).to_vec();
    for name in ["accuracy", "score", "hierarchy", "baseline", "excess"] {
        header.extend(three(name));
    }
    header.extend(["n_cells", "sampled", "n_chains", "n_failed"].map(str::to_owned));
    let mut csv = csv_line(header);
    for model in &found.models {
        for (attribute, row) in each(found, model) {
            let hierarchy = row.hierarchy.as_ref();
            let n = row.accuracy.map_or(0, |accuracy| accuracy.n);
            let mut cells = vec![model.model.to_string(), attribute.to_owned(), n.to_string()];
            cells.extend(interval(row.accuracy.as_ref()));
            cells.extend(interval(row.score.as_ref()));
            cells.extend(interval(hierarchy.map(|hierarchy| &hierarchy.score)));
            cells.extend(interval(hierarchy.map(|hierarchy| &hierarchy.baseline)));
            cells.extend(interval(hierarchy.and_then(|hierarchy| hierarchy.excess.as_ref())));
            cells.push(hierarchy.map_or(0, |hierarchy| hierarchy.score.n).to_string());
            let sampled = model.sampled.as_ref().filter(|_| attribute.is_empty());
            cells.push(sampled.map(|sampled| raw(sampled.share.value)).unwrap_or_default());
            cells.push(sampled.map(|sampled| sampled.n_chains.to_string()).unwrap_or_default());
            let n_failed = attribute.is_empty().then(|| model.n_failed.to_string());
            cells.push(n_failed.unwrap_or_default());
            csv += &csv_line(cells);
        }
    }
    csv
}

/// One row per model, attribute and level.
fn levels(found: &LadderFindings) -> String {
    let mut csv = csv_line(["model", "attribute", "level", "n_stimuli", "accuracy", "low", "high"]);
    for model in &found.models {
        for (attribute, row) in each(found, model) {
            for (level, accuracy) in found.levels.iter().zip(&row.levels) {
                let n = accuracy.map_or(0, |accuracy| accuracy.n).to_string();
                let mut cells =
                    vec![model.model.to_string(), attribute.to_owned(), level.name.clone(), n];
                cells.extend(interval(accuracy.as_ref()));
                csv += &csv_line(cells);
            }
        }
    }
    csv
}

/// One row per model and pattern; 1 is right, 0 is wrong, easy first.
fn patterns(found: &LadderFindings) -> String {
    let mut csv = csv_line([
        "model",
        "pattern",
        "hierarchical",
        "n_all",
        "n_sampled",
        "n_cells",
        "share",
        "low",
        "high",
    ]);
    for model in &found.models {
        for pattern in &model.patterns {
            let bits = pattern.right.iter().map(|right| if *right { '1' } else { '0' });
            let mut cells = vec![
                model.model.to_string(),
                bits.collect(),
                pattern.is_hierarchical.to_string(),
                pattern.n_all.to_string(),
                pattern.n_sampled.to_string(),
                pattern.share.n.to_string(),
            ];
            cells.extend(interval(Some(&pattern.share)));
            csv += &csv_line(cells);
        }
    }
    csv
}

/// One row per model and label.
fn labels(found: &LadderFindings) -> String {
    let mut csv = csv_line(["model", "label", "n_cells", "hierarchy", "low", "high", "baseline"]);
    for model in &found.models {
        for label in &model.labels {
            let ends = label.estimate.as_ref();
            csv += &csv_line([
                model.model.to_string(),
                label.label.to_string(),
                label.n_cells.to_string(),
                raw(label.score),
                ends.map(|e| raw(e.low)).unwrap_or_default(),
                ends.map(|e| raw(e.high)).unwrap_or_default(),
                raw(label.baseline),
            ]);
        }
    }
    csv
}

/// One row per model and level.
fn confidence(found: &LadderFindings) -> String {
    let mut header: Vec<String> =
        ["model", "level", "n_right", "n_wrong"].map(str::to_owned).to_vec();
    header.extend(three("mean"));
    header.extend(["p05", "p25", "p50", "p75", "p95"].map(str::to_owned));
    header.extend(["median_right", "median_wrong"].map(str::to_owned));
    let n_steps = found.models.iter().flat_map(|model| model.confidence.iter().flatten());
    let n_steps = n_steps.map(|level| level.steps.len()).max().unwrap_or(0);
    for what in ["right", "wrong"] {
        header.extend((1..=n_steps).map(|step| format!("n_{what}_step_{step}")));
    }
    let mut csv = csv_line(header);
    for model in &found.models {
        for (level, seen) in found.levels.iter().zip(&model.confidence) {
            let Some(seen) = seen else { continue };
            let mut cells = vec![model.model.to_string(), level.name.clone()];
            cells.extend([seen.n_right.to_string(), seen.n_wrong.to_string()]);
            cells.extend(interval(Some(&seen.mean)));
            cells.extend(seen.percentiles.map(raw));
            let medians = [seen.median_right, seen.median_wrong];
            cells.extend(medians.map(|median| median.map(raw).unwrap_or_default()));
            cells.extend(seen.steps.iter().map(|step| step.0.to_string()));
            cells.extend(seen.steps.iter().map(|step| step.1.to_string()));
            csv += &csv_line(cells);
        }
    }
    csv
}

/// One row per correlation with accuracy.
fn correlation(found: &LadderFindings) -> String {
    let mut csv = csv_line(["of", "interval_for", "n_models", "r", "low", "high"]);
    let Some(r) = &found.with_accuracy else { return csv };
    for (of, over, estimate) in [
        ("hierarchy", "models", &r.over_models),
        ("hierarchy", "classes", &r.over_classes),
        ("excess", "classes", &r.excess),
    ] {
        let Some(estimate) = estimate else { continue };
        let mut cells = vec![of.to_owned(), over.to_owned(), estimate.n.to_string()];
        cells.extend(interval(Some(estimate)));
        csv += &csv_line(cells);
    }
    csv
}

/// One row per question about levels and people.
fn validity(found: &LadderFindings) -> String {
    let mut csv = csv_line(["what", "easier", "harder", "group", "n", "value", "low", "high"]);
    let Some(validity) = &found.validity else { return csv };
    let mut push = |what: &str, names: [&str; 3], estimate: Option<&Estimate>| {
        let Some(estimate) = estimate else { return };
        let mut cells = vec![what.to_owned()];
        cells.extend(names.map(str::to_owned));
        cells.push(estimate.n.to_string());
        cells.extend(interval(Some(estimate)));
        csv += &csv_line(cells);
    };
    push("in-order", ["", "", ""], validity.in_order.as_ref());
    for pair in &validity.pairs {
        push("in-order", [&pair.easier, &pair.harder, ""], pair.in_order.as_ref());
    }
    push("kendall-within", ["", "", ""], validity.within.kendall.as_ref());
    push("spearman-within", ["", "", ""], validity.within.spearman.as_ref());
    push("pearson-within", ["", "", ""], validity.within.pearson.as_ref());
    for level in &validity.levels {
        push("difficulty", [&level.level, "", ""], level.difficulty.as_ref());
    }
    for component in &validity.components {
        push("kendall", ["", "", &component.name], component.kendall.as_ref());
    }
    csv
}
