//! Attacks as CSV: one row per model, attack and band, and further tables, one per question.

use mohs_data::Estimate;
use mohs_score::model::BandAccuracy;
use mohs_score::model::robustness::{AttackFinding, AttackFindings, AttackTable, EpsilonGroup};

use crate::escape::csv_line;
use crate::number::raw;

/// The names of all tables that [`attack_tables`] may return.
pub const ATTACK_TABLES: [&str; 8] = [
    "epsilon.csv",
    "survival.csv",
    "trend.csv",
    "gains.csv",
    "clean.csv",
    "masking.csv",
    "search.csv",
    "failures.csv",
];

/// Returns all tables of attacks by file name, `epsilon.csv` first; a table without rows is left
/// out.
pub fn attack_tables(found: &AttackFindings) -> Vec<(&'static str, String)> {
    let tables = [
        rows(found),
        survival(found),
        trend(found),
        gains(found),
        clean(found),
        masking(found),
        search(found),
        failures(found),
    ];
    ATTACK_TABLES.into_iter().zip(tables).filter(|(_, csv)| csv.lines().nth(1).is_some()).collect()
}

/// What every row about an attack begins with.
const KEYS: [&str; 5] = ["model", "attack", "norm", "goal", "kind"];

fn keys(table: &AttackTable, attack: &AttackFinding) -> Vec<String> {
    let [norm, goal, kind] = kind(table);
    vec![attack.model.to_string(), attack.attack.clone(), norm, goal, kind]
}

fn kind(table: &AttackTable) -> [String; 3] {
    let kind = if table.is_bound { "bound" } else { "grid" };
    [table.norm.as_str().into(), table.goal.as_str().into(), kind.into()]
}

fn all(found: &AttackFindings) -> impl Iterator<Item = (&AttackTable, &AttackFinding)> {
    found.tables.iter().flat_map(|table| table.attacks.iter().map(move |attack| (table, attack)))
}

fn header(columns: &[&str]) -> String {
    csv_line(KEYS.iter().chain(columns).copied())
}

fn interval(estimate: Option<&Estimate>) -> Vec<String> {
    match estimate {
        Some(e) => vec![raw(e.value), raw(e.low), raw(e.high)],
        None => vec![String::new(); 3],
    }
}

/// Returns one row per model and attack over all stimuli (no band), and per band.
pub(super) fn rows(found: &AttackFindings) -> String {
    let mut csv = header(&[
        "settings",
        "band",
        "n_fooled",
        "n_survived",
        "n_not_attacked",
        "n_failed",
        "mean_fooled",
        "mean_fooled_low",
        "mean_fooled_high",
        "restricted_mean",
        "restricted_mean_low",
        "restricted_mean_high",
        "horizon",
        "n_left",
        "n_unknown",
    ]);
    for (table, attack) in all(found) {
        let mut push = |band: &str, group: &EpsilonGroup| {
            let mut cells = keys(table, attack);
            cells.extend([attack.settings.clone(), band.to_owned()]);
            let counts = [group.n_fooled, group.n_survived, group.n_not_attacked, group.n_failed];
            cells.extend(counts.map(|n| n.to_string()));
            cells.extend(interval(group.mean_fooled.as_ref()));
            cells.extend(interval(group.restricted_mean.as_ref()));
            cells.push(raw(table.horizon));
            cells.extend(match group.at_horizon {
                Some(at) => [at.n_survived, at.n_unknown].map(|n| n.to_string()),
                None => Default::default(),
            });
            csv += &csv_line(cells);
        };
        push("", &attack.overall);
        for (band, group) in found.bands.iter().zip(&attack.bands) {
            push(&band.name, group);
        }
    }
    csv
}

/// One row per fall of a curve.
fn survival(found: &AttackFindings) -> String {
    let mut csv = header(&["band", "epsilon", "n_at_risk", "n_fooled", "survival", "low", "high"]);
    for (table, attack) in all(found) {
        for curve in &attack.curves {
            for step in &curve.steps {
                let mut cells = keys(table, attack);
                cells.extend([
                    curve.band.clone().unwrap_or_default(),
                    raw(step.epsilon),
                    step.survival.n.to_string(),
                    step.n_fooled.to_string(),
                ]);
                cells.extend(interval(Some(&step.survival)));
                csv += &csv_line(cells);
            }
        }
    }
    csv
}

/// One row per model and attack.
fn trend(found: &AttackFindings) -> String {
    let mut csv = header(&[
        "easy_minus_hard",
        "easy_minus_hard_low",
        "easy_minus_hard_high",
        "log_rank",
        "log_rank_p",
        "log_rank_p_holm",
        "log_rank_all",
        "log_rank_all_p",
        "trend_z",
        "trend_p",
        "tau_b",
        "tau_b_low",
        "tau_b_high",
        "concordance",
        "concordance_low",
        "concordance_high",
        "spearman",
        "spearman_low",
        "spearman_high",
        "n_stimuli",
    ]);
    for (table, attack) in all(found) {
        let correlation = attack.correlation.as_ref();
        if attack.easy_minus_hard.is_none() && correlation.is_none() && attack.trend.is_none() {
            continue;
        }
        let mut cells = keys(table, attack);
        cells.extend(interval(attack.easy_minus_hard.as_ref()));
        cells.extend(match &attack.log_rank {
            Some(test) => [raw(test.chi_squared), raw(test.p), raw(test.p_holm)],
            None => Default::default(),
        });
        cells.extend(match &attack.log_rank_all {
            Some(test) => [raw(test.chi_squared), raw(test.p)],
            None => Default::default(),
        });
        cells.extend(match &attack.trend {
            Some(test) => [raw(test.z), raw(test.p)],
            None => Default::default(),
        });
        cells.extend(interval(correlation.map(|found| &found.tau_b)));
        cells.extend(interval(correlation.map(|found| &found.concordance)));
        cells.extend(interval(correlation.and_then(|found| found.spearman.as_ref())));
        cells.push(attack.overall.n_attacked().to_string());
        csv += &csv_line(cells);
    }
    csv
}

/// One row per pair of models and attack over all stimuli (no band), per band, and for the easiest
/// less the hardest.
fn gains(found: &AttackFindings) -> String {
    let mut csv = csv_line([
        "first",
        "second",
        "attack",
        "norm",
        "goal",
        "kind",
        "band",
        "n_stimuli",
        "gain",
        "low",
        "high",
    ]);
    for table in &found.tables {
        for gain in &table.comparisons {
            let mut push = |band: &str, estimate: Option<&Estimate>| {
                let mut cells =
                    vec![gain.first.to_string(), gain.second.to_string(), gain.attack.clone()];
                cells.extend(kind(table));
                let n = estimate.map_or(0, |estimate| estimate.n);
                cells.extend([band.to_owned(), n.to_string()]);
                cells.extend(interval(estimate));
                csv += &csv_line(cells);
            };
            push("", gain.overall.as_ref());
            for (band, estimate) in found.bands.iter().zip(&gain.bands) {
                push(&band.name, estimate.as_ref());
            }
            if let Some(double) = &gain.easy_minus_hard {
                push("easy-minus-hard", Some(double));
            }
        }
    }
    csv
}

/// One row per model over all stimuli (no band), and per model and band.
fn clean(found: &AttackFindings) -> String {
    let mut csv = csv_line([
        "model",
        "band",
        "n_stimuli",
        "n_right",
        "accuracy",
        "wilson_low",
        "wilson_high",
        "clustered_low",
        "clustered_high",
    ]);
    for model in &found.models {
        let mut push = |band: &str, share: Option<&BandAccuracy>| {
            let Some(share) = share else { return };
            csv += &csv_line([
                model.model.to_string(),
                band.to_owned(),
                share.wilson.n.to_string(),
                share.n_right.to_string(),
                raw(share.wilson.value),
                raw(share.wilson.low),
                raw(share.wilson.high),
                raw(share.clustered.low),
                raw(share.clustered.high),
            ]);
        };
        push("", model.clean.as_ref());
        for (band, share) in found.bands.iter().zip(&model.clean_by_band) {
            push(&band.name, share.as_ref());
        }
    }
    csv
}

/// One row per model and sign.
fn masking(found: &AttackFindings) -> String {
    let mut csv = csv_line(["model", "sign", "share", "low", "high", "n", "suspect"]);
    for model in &found.models {
        let masking = &model.masking;
        for (sign, share) in [
            ("zero-gradient", masking.zero_gradients.as_ref()),
            ("random-answers", masking.random_answers.as_ref()),
            ("black-box-first", masking.black_box_first.as_ref()),
        ] {
            let Some(share) = share else { continue };
            let mut cells = vec![model.model.to_string(), sign.to_owned()];
            cells.extend(interval(Some(share)));
            cells.extend([share.n.to_string(), masking.is_suspect.to_string()]);
            csv += &csv_line(cells);
        }
        if 0 < masking.n_probabilities {
            csv += &csv_line([
                model.model.to_string(),
                "probabilities".into(),
                String::new(),
                String::new(),
                String::new(),
                masking.n_probabilities.to_string(),
                masking.is_suspect.to_string(),
            ]);
        }
    }
    csv
}

/// One row per model and attack: calls, and what the audit says.
fn search(found: &AttackFindings) -> String {
    let mut csv = header(&[
        "n_forward",
        "n_gradient",
        "n_fast",
        "n_audited",
        "n_too_large",
        "n_too_small",
        "disagreement",
        "disagreement_low",
        "disagreement_high",
    ]);
    for (table, attack) in all(found) {
        let mut cells = keys(table, attack);
        cells.extend([
            attack.n_forward.to_string(),
            attack.n_gradient.to_string(),
            attack.n_fast.to_string(),
        ]);
        let audit = attack.audit.as_ref();
        cells.extend(match audit {
            Some(audit) => {
                [audit.disagreement.n, audit.n_too_large, audit.n_too_small].map(|n| n.to_string())
            }
            None => ["0".into(), String::new(), String::new()],
        });
        cells.extend(interval(audit.map(|audit| &audit.disagreement)));
        csv += &csv_line(cells);
    }
    csv
}

fn failures(found: &AttackFindings) -> String {
    let mut csv = csv_line(["reason", "n", "example"]);
    for failure in &found.failures {
        csv +=
            &csv_line([failure.reason.clone(), failure.n.to_string(), failure.example.to_string()]);
    }
    csv
}
