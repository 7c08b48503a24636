//! Made-up attacks for tests and for looking at the report: every number by formula, scored.

#![expect(clippy::cast_precision_loss, reason = "small whole numbers")]

use mohs_data::{
    Difficulty, Estimate, Extra, FailureReason, FastAnswer, Flag, Goal, How, MinEpsilon, Norm,
    Search, Seed,
};
use mohs_report::Summary;
use mohs_score::model::robustness::{AttackFindings, Input, Options, score};

/// What is attacked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attacks {
    pub(crate) n_models: usize,
    pub(crate) has_difficulty: bool,
    /// Whether there are corrections, bounds, an audit, flags and failures.
    pub(crate) is_complete: bool,
}

/// Two models, everything there can be.
pub(crate) const WHOLE: Attacks = Attacks { n_models: 2, has_difficulty: true, is_complete: true };

const N_STIMULI: usize = 90;
const GRID: [f64; 12] =
    [0.001, 0.002, 0.003, 0.004, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05];
const MODELS: [&str; 5] = ["resnet50", "resnet50-robust", "vit", "vit-robust", "convnext"];
const LABELS: [&str; 12] = [
    "banana", "bowl", "chair", "cup", "key", "lamp", "mug", "pen", "plate", "sock", "towel",
    "wallet",
];

pub(crate) fn summary(shape: Attacks) -> Summary {
    Summary {
        attacks: Some(findings(shape)),
        ..Summary::new("Attacks on kitchen objects", "0.1.0", 7, false)
    }
}

pub(crate) fn findings(shape: Attacks) -> AttackFindings {
    let rows = rows(shape);
    let difficulties: Vec<Difficulty> = match shape.has_difficulty {
        true => (0..N_STIMULI).map(difficulty).collect(),
        false => Vec::new(),
    };
    let options = Options { n_resamples: 100, ..Options::default() };
    let input = Input {
        rows: &rows,
        stimuli: &[],
        difficulties: &difficulties,
        options: &options,
        seed: Seed(7),
    };
    score(&input).expect("because the rows can be scored")
}

fn difficulty(idx: usize) -> Difficulty {
    let value = idx as f64 / N_STIMULI as f64;
    Difficulty {
        stimulus: format!("s{idx:02}").as_str().into(),
        measure: "viewing-time".into(),
        estimate: Estimate { value, low: value, high: value, confidence: 0.95, n: 7 },
        band: None,
        caveats: Vec::new(),
        extra: Extra::default(),
    }
}

fn rows(shape: Attacks) -> Vec<MinEpsilon> {
    let mut rows = Vec::new();
    for (model_idx, model) in MODELS.iter().enumerate().take(shape.n_models) {
        for idx in 0..N_STIMULI {
            // Hard stimuli are more often wrong to begin with.
            let is_right = 4 * idx < 3 * N_STIMULI || (idx * 7 + model_idx) % 3 != 0;
            for (attack_idx, attack) in ["fgsm", "pgd", "square"].iter().enumerate() {
                let mut row = row(model, idx, attack, is_right);
                if is_right {
                    row.search = search(idx, model_idx, attack_idx);
                }
                if shape.is_complete {
                    dressed(&mut row, idx, model_idx);
                }
                rows.push(row);
            }
            if shape.is_complete {
                rows.extend(apart(model, idx, is_right));
            }
        }
    }
    rows
}

fn row(model: &str, idx: usize, attack: &str, is_right: bool) -> MinEpsilon {
    let label = LABELS[idx % LABELS.len()];
    MinEpsilon {
        model: model.into(),
        stimulus: format!("s{idx:02}").as_str().into(),
        attack: attack.into(),
        norm: Norm::Linf,
        goal: Goal::Fool,
        settings: "steps=10".into(),
        label: label.into(),
        clean: Some(if is_right { label } else { "shoe" }.into()),
        search: Search::NotAttacked,
        how: How::Exact,
        fast: None,
        n_forward: 12,
        n_gradient: if attack == "square" { 0 } else { 120 },
        flags: Vec::new(),
        extra: Extra::default(),
    }
}

/// Harder stimuli are fooled sooner; the second model takes more, and square takes most.
fn search(idx: usize, model_idx: usize, attack_idx: usize) -> Search {
    let ease = (N_STIMULI - idx) / 18;
    let place = ease + 4 * (model_idx % 2) + attack_idx + idx * 5 % 3;
    match GRID.get(place) {
        Some(epsilon) => Search::Found { epsilon: *epsilon, answer: Some("shoe".into()) },
        None => Search::Survived { up_to: 0.05 },
    }
}

fn dressed(row: &mut MinEpsilon, idx: usize, model_idx: usize) {
    let epsilon = row.epsilon();
    if row.attack == "fgsm" && epsilon.is_some() {
        row.how = How::Fast;
        if idx.is_multiple_of(5) {
            row.how = How::Audited;
            let same = epsilon.map(FastAnswer::Found);
            row.fast = if idx == 10 { Some(FastAnswer::Survived) } else { same };
        }
    }
    if row.attack == "pgd" && idx == 4 {
        row.search = Search::Failed(FailureReason::new("cannot decode s04.png"));
    }
    if model_idx == 1 && idx == 8 {
        row.flags = vec![Flag::ZeroGradient];
    }
}

/// Rows that stand in tables of their own.
fn apart(model: &str, idx: usize, is_right: bool) -> Vec<MinEpsilon> {
    let found = |epsilon: f64| Search::Found { epsilon, answer: None };
    let mut corrected = row(model, idx, "pgd", is_right);
    corrected.goal = Goal::Correct;
    if !is_right {
        corrected.search = found(GRID[idx % 6]);
    }
    let mut bound = row(model, idx, "ddn", is_right);
    (bound.norm, bound.how) = (Norm::L2, How::Bound);
    if is_right {
        bound.search = found(0.2 + (N_STIMULI - idx) as f64 / 100.0);
    }
    vec![corrected, bound]
}
