//! Models as CSV: one row per model and band, and further tables, one per question.

use mohs_data::Estimate;
use mohs_score::human::agreement::Consistency;
use mohs_score::model::{
    BandAccuracy, Calibration, GroupAccuracy, ModelFinding, ModelFindings, Surprise,
};

use crate::escape::csv_line;
use crate::number::raw;

/// Returns one row per model over all stimuli (no band) and per model and band.
pub(super) fn rows(found: &ModelFindings) -> String {
    let mut csv = csv_line([
        "model",
        "family",
        "band",
        "n_stimuli",
        "n_right",
        "accuracy",
        "wilson_low",
        "wilson_high",
        "clustered_low",
        "clustered_high",
        "top_5",
        "mean_per_class",
        "drop",
        "drop_low",
        "drop_high",
        "difficulty_correlation",
        "difficulty_correlation_low",
        "difficulty_correlation_high",
        "n_failed",
    ]);
    for model in &found.models {
        let mut cells = accuracy_cells(model, "", model.accuracy.as_ref());
        cells.extend([value(model.top_5.as_ref()), value(model.mean_per_class.as_ref())]);
        cells.extend(interval(model.drop.as_ref()));
        cells.extend(interval(model.difficulty_correlation.as_ref()));
        cells.push(model.n_failed.to_string());
        csv += &csv_line(cells);
        for (band, accuracy) in found.bands.iter().zip(&model.bands) {
            let mut cells = accuracy_cells(model, &band.name, accuracy.as_ref());
            cells.extend(std::iter::repeat_n(String::new(), 9));
            csv += &csv_line(cells);
        }
    }
    csv
}

fn accuracy_cells(
    model: &ModelFinding,
    band: &str,
    accuracy: Option<&BandAccuracy>,
) -> Vec<String> {
    let family = model.family.as_ref().map(|family| family.name.clone()).unwrap_or_default();
    let mut cells = vec![model.model.to_string(), family, band.to_owned()];
    match accuracy {
        Some(accuracy) => cells.extend([
            accuracy.wilson.n.to_string(),
            accuracy.n_right.to_string(),
            raw(accuracy.wilson.value),
            raw(accuracy.wilson.low),
            raw(accuracy.wilson.high),
            raw(accuracy.clustered.low),
            raw(accuracy.clustered.high),
        ]),
        None => cells.extend(std::iter::repeat_n(String::new(), 7)),
    }
    cells
}

/// The names of all tables that [`model_tables`] may return.
pub const MODEL_TABLES: [&str; 11] = [
    "accuracy.csv",
    "comparisons.csv",
    "calibration.csv",
    "gap.csv",
    "consistency.csv",
    "labels.csv",
    "attributes.csv",
    "conditions.csv",
    "surprises.csv",
    "learning.csv",
    "failures.csv",
];

/// Returns all tables of models by file name, `accuracy.csv` first; a table without rows is left
/// out.
pub fn model_tables(found: &ModelFindings) -> Vec<(&'static str, String)> {
    let tables = [
        rows(found),
        comparisons(found),
        calibration(found),
        gap(found),
        consistency(found),
        groups(found, &found.labels),
        groups(found, &found.attributes),
        conditions(found),
        surprises(found),
        learning(found),
        failures(found),
    ];
    MODEL_TABLES.into_iter().zip(tables).filter(|(_, csv)| csv.lines().nth(1).is_some()).collect()
}

/// One row per pair over all stimuli (no band), and one per pair and band.
fn comparisons(found: &ModelFindings) -> String {
    let mut csv = csv_line([
        "first",
        "second",
        "band",
        "n_stimuli",
        "n_only_first",
        "n_only_second",
        "difference",
        "difference_low",
        "difference_high",
        "clustered_low",
        "clustered_high",
        "p",
        "p_exact",
        "p_clustered",
        "p_holm",
        "p_bh",
        "minimum_detectable",
    ]);
    for pair in &found.comparisons {
        let names = [pair.first.to_string(), pair.second.to_string()];
        let mut cells = names.to_vec();
        cells.extend([
            String::new(),
            pair.n_stimuli.to_string(),
            pair.n_only_first.to_string(),
            pair.n_only_second.to_string(),
        ]);
        cells.extend(interval(Some(&pair.difference)));
        cells.extend([pair.clustered.low, pair.clustered.high].map(raw));
        cells.extend([pair.p, pair.p_exact, pair.p_clustered, pair.p_holm, pair.p_bh].map(raw));
        cells.push(raw(pair.minimum_detectable));
        csv += &csv_line(cells);
        for (band, seen) in found.bands.iter().zip(&pair.bands) {
            let Some((difference, p)) = seen else { continue };
            let mut cells = names.to_vec();
            cells.extend([band.name.clone(), difference.n.to_string()]);
            cells.extend([String::new(), String::new()]);
            cells.extend(interval(Some(difference)));
            cells.extend(std::iter::repeat_n(String::new(), 6));
            cells.extend([raw(*p), String::new()]);
            csv += &csv_line(cells);
        }
    }
    csv
}

/// One row per model, band and bin; rows without confidence are the numbers over all bins.
fn calibration(found: &ModelFindings) -> String {
    let mut csv = csv_line([
        "model",
        "band",
        "bin_confidence",
        "accuracy",
        "accuracy_low",
        "accuracy_high",
        "n",
        "ece",
        "ece_low",
        "ece_high",
        "debiased",
        "debiased_low",
        "debiased_high",
        "overconfidence",
        "overconfidence_low",
        "overconfidence_high",
        "brier",
        "brier_low",
        "brier_high",
        "brier_reliability",
        "brier_resolution",
        "brier_uncertainty",
    ]);
    for model in &found.models {
        let name = model.model.to_string();
        let bands = found.bands.iter().map(|band| band.name.as_str());
        let by_band = bands.zip(model.calibration_by_band.iter().map(Option::as_ref));
        for (band, seen) in std::iter::once(("", model.calibration.as_ref())).chain(by_band) {
            let Some(seen) = seen else { continue };
            csv += &calibration_lines(&name, band, seen);
        }
    }
    csv
}

fn calibration_lines(model: &str, band: &str, seen: &Calibration) -> String {
    let mut cells = vec![model.to_owned(), band.to_owned()];
    cells.extend(std::iter::repeat_n(String::new(), 4));
    cells.push(seen.ece.n.to_string());
    for estimate in [&seen.ece, &seen.debiased, &seen.overconfidence, &seen.brier] {
        cells.extend(interval(Some(estimate)));
    }
    cells.extend([seen.brier_reliability, seen.brier_resolution, seen.brier_uncertainty].map(raw));
    let mut csv = csv_line(cells);
    for bin in &seen.bins {
        let mut cells = vec![model.to_owned(), band.to_owned(), raw(bin.confidence)];
        cells.extend(interval(Some(&bin.accuracy)));
        cells.push(bin.accuracy.n.to_string());
        cells.extend(std::iter::repeat_n(String::new(), 15));
        csv += &csv_line(cells);
    }
    csv
}

fn gap(found: &ModelFindings) -> String {
    let Some(gap) = &found.gap else { return String::new() };
    let columns = ["first", "second", "gap", "gap_low", "gap_high"];
    let mut csv = csv_line(["model", "family", "place", "stimuli"].into_iter().chain(columns));
    for model in &gap.models {
        let family = model.family.as_ref();
        let names = [
            model.model.to_string(),
            family.map(|family| family.name.clone()).unwrap_or_default(),
            family.map(|family| family.place.to_string()).unwrap_or_default(),
        ];
        for (stimuli, estimate) in
            [("all", &model.overall), ("easy", &model.easy), ("hard", &model.hard)]
        {
            let mut cells = names.to_vec();
            cells.extend([stimuli.to_owned(), String::new(), String::new()]);
            cells.extend(interval(estimate.as_ref()));
            csv += &csv_line(cells);
        }
        for ((band, first), second) in found.bands.iter().zip(&model.first).zip(&model.second) {
            let mut cells = names.to_vec();
            cells.push(band.name.clone());
            cells.extend([value(first.as_ref()), value(second.as_ref())]);
            cells.extend([String::new(), String::new(), String::new()]);
            csv += &csv_line(cells);
        }
    }
    csv
}

/// Pairs of models, then models with people (`second` is `people`).
fn consistency(found: &ModelFindings) -> String {
    const ESTIMATES: [&str; 5] = [
        "error_consistency",
        "attainable_maximum",
        "observed_consistency",
        "expected_consistency",
        "ceiling",
    ];
    let headers =
        ESTIMATES.iter().flat_map(|name| ["", "_low", "_high"].map(|end| format!("{name}{end}")));
    let mut csv =
        csv_line(["first", "second", "n_stimuli"].map(str::to_owned).into_iter().chain(headers));
    let mut push = |names: [String; 3], seen: &Consistency, ceiling: Option<&Estimate>| {
        let mut cells = names.to_vec();
        for estimate in [
            Some(&seen.error_consistency),
            Some(&seen.attainable_maximum),
            Some(&seen.observed_consistency),
            Some(&seen.expected_consistency),
            ceiling,
        ] {
            cells.extend(interval(estimate));
        }
        csv += &csv_line(cells);
    };
    for pair in &found.consistency {
        let names = [pair.first.to_string(), pair.second.to_string(), pair.n_stimuli.to_string()];
        push(names, &pair.consistency, None);
    }
    for model in &found.with_people {
        let n = model.consistency.error_consistency.n.to_string();
        let ceiling = model.ceiling.as_ref().map(|ceiling| &ceiling.error_consistency);
        push([model.model.to_string(), "people".into(), n], &model.consistency, ceiling);
    }
    csv
}

fn groups(found: &ModelFindings, groups: &[GroupAccuracy]) -> String {
    let mut csv = csv_line([
        "name",
        "level",
        "model",
        "n_stimuli",
        "accuracy",
        "accuracy_low",
        "accuracy_high",
        "p_worse_bh",
    ]);
    for group in groups {
        for ((model, accuracy), p) in found.models.iter().zip(&group.models).zip(&group.p_worse_bh)
        {
            let Some(accuracy) = accuracy else { continue };
            let mut cells = vec![
                group.name.clone(),
                group.level.clone().unwrap_or_default(),
                model.model.to_string(),
                accuracy.n.to_string(),
            ];
            cells.extend(interval(Some(accuracy)));
            cells.push(p.map(raw).unwrap_or_default());
            csv += &csv_line(cells);
        }
    }
    csv
}

fn conditions(found: &ModelFindings) -> String {
    let mut csv = csv_line([
        "axis",
        "name",
        "value",
        "model",
        "n_stimuli",
        "accuracy",
        "accuracy_low",
        "accuracy_high",
    ]);
    for axis in &found.axes {
        for at in &axis.values {
            for (model, accuracy) in found.models.iter().zip(&at.models) {
                let Some(accuracy) = accuracy else { continue };
                let mut cells = vec![
                    axis.name.clone(),
                    at.name.clone(),
                    at.value.map(raw).unwrap_or_default(),
                    model.model.to_string(),
                    accuracy.n.to_string(),
                ];
                cells.extend(interval(Some(accuracy)));
                csv += &csv_line(cells);
            }
        }
    }
    csv
}

fn surprises(found: &ModelFindings) -> String {
    let mut csv = csv_line([
        "kind",
        "stimulus",
        "label",
        "difficulty",
        "difficulty_low",
        "difficulty_high",
        "band",
        "n_right",
        "n_models",
        "usual_mistake",
        "n_usual_mistake",
    ]);
    let Some(surprises) = &found.surprises else { return csv };
    let mut push = |kind: &str, surprise: &Surprise| {
        let (mistake, n) = surprise.usual_mistake.as_ref().map_or_else(
            || (String::new(), String::new()),
            |(label, n)| (label.to_string(), n.to_string()),
        );
        let label = surprise.label.as_ref().map(ToString::to_string).unwrap_or_default();
        let mut cells = vec![kind.to_owned(), surprise.stimulus.to_string(), label];
        cells.extend(interval(Some(&surprise.difficulty)));
        cells.extend([
            surprise.band.clone().unwrap_or_default(),
            surprise.n_right.to_string(),
            surprise.n_models.to_string(),
            mistake,
            n,
        ]);
        csv += &csv_line(cells);
    };
    for surprise in &surprises.easy_but_failed {
        push("easy-but-failed", surprise);
    }
    for surprise in &surprises.hard_but_solved {
        push("hard-but-solved", surprise);
    }
    csv
}

/// One row per model and epoch, and one per model and band with the mean share of epochs.
fn learning(found: &ModelFindings) -> String {
    let mut csv =
        csv_line(["model", "epoch", "band", "n_stimuli", "value", "value_low", "value_high"]);
    for model in &found.learning {
        let name = model.model.to_string();
        for (epoch, accuracy) in &model.by_epoch {
            let mut cells = vec![name.clone(), raw(*epoch), String::new(), accuracy.n.to_string()];
            cells.extend(interval(Some(accuracy)));
            csv += &csv_line(cells);
        }
        let bands = found.bands.iter().map(|band| band.name.as_str());
        let by_band = bands.zip(model.bands.iter().map(Option::as_ref));
        for (band, share) in std::iter::once(("", Some(&model.mean))).chain(by_band) {
            let Some(share) = share else { continue };
            let mut cells = vec![name.clone(), String::new(), band.to_owned(), share.n.to_string()];
            cells.extend(interval(Some(share)));
            csv += &csv_line(cells);
        }
    }
    csv
}

fn failures(found: &ModelFindings) -> String {
    let mut csv = csv_line(["reason", "n", "example"]);
    for failure in &found.failures {
        csv +=
            &csv_line([failure.reason.clone(), failure.n.to_string(), failure.example.to_string()]);
    }
    csv
}

fn value(estimate: Option<&Estimate>) -> String {
    estimate.map(|estimate| raw(estimate.value)).unwrap_or_default()
}

fn interval(estimate: Option<&Estimate>) -> [String; 3] {
    estimate.map_or_else(Default::default, |e| [e.value, e.low, e.high].map(raw))
}
