//! Made-up findings about models for tests and for looking at the report: every number by formula.

#![expect(clippy::cast_precision_loss, reason = "small whole numbers")]
#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small shares")]

use mohs_data::{Caveat, Caveats, Label, ModelName, StimulusId};
use mohs_report::Summary;
use mohs_score::human::agreement::Consistency;
use mohs_score::model::{
    AccuracyGap, Axis, BandAccuracy, BandGap, BandOrigin, Calibration, CalibrationBin, Cell,
    Cluster, ConditionAccuracy, ConsistencyOf, FailureCount, Family, GroupAccuracy, LearningSpeed,
    Method, ModelFinding, ModelFindings, PairedComparison, PeopleConsistency, Surprise, Surprises,
    View,
};

use crate::fixture::estimate;

/// How large and how complete made-up findings are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Models {
    pub(crate) n_models: usize,
    pub(crate) n_labels: usize,
    /// Whether there are difficulty, people, data sets, epochs and failures.
    pub(crate) is_complete: bool,
}

/// 22 models of five families on 1,200 stimuli of 16 classes, with everything there can be.
pub(crate) const MANY: Models = Models { n_models: 22, n_labels: 16, is_complete: true };

const BANDS: [(&str, usize); 6] = [
    ("17 ms", 420),
    ("50 ms", 310),
    ("100 ms", 180),
    ("150 ms", 120),
    ("250 ms", 60),
    ("10 s", 110),
];
const LABELS: [&str; 8] = [
    "banana",
    "can opener",
    "drinking straw",
    "mouse (computer)",
    "plate",
    "sock",
    "tea towel",
    "wallet",
];

pub(crate) fn summary(shape: Models) -> Summary {
    Summary {
        models: Some(findings(shape)),
        ..Summary::new("Models on kitchen objects", "0.1.0", 7, false)
    }
}

pub(crate) fn findings(shape: Models) -> ModelFindings {
    let Models { n_models, is_complete, .. } = shape;
    let bands: Vec<Cell> = match is_complete {
        true => {
            BANDS.iter().map(|(name, n)| Cell { name: (*name).into(), n_stimuli: *n }).collect()
        }
        false => Vec::new(),
    };
    let models: Vec<ModelFinding> = (0..n_models).map(|idx| model(idx, &bands)).collect();
    let comparisons = comparisons(&models, &bands);
    let n_stimuli = 1_200;
    let n_failed = if is_complete { 20 } else { 0 };
    ModelFindings {
        method: Method {
            confidence: 0.95,
            n_clusters: shape.n_labels,
            n_resamples: 2_000,
            cluster: Cluster::Label,
            difficulty: is_complete.then(|| "viewing-time".into()),
            band_origin: is_complete.then_some(BandOrigin::Named),
            power: 0.8,
            seed: 7,
        },
        n_predictions: n_models * n_stimuli,
        n_answered: n_models * n_stimuli - n_failed,
        n_failed,
        n_unjudged: 0,
        n_stimuli,
        view: View {
            probe: Some("none".into()),
            condition: None,
            n_predictions: n_models * n_stimuli,
        },
        ties: ties(&models, &comparisons),
        consistency: consistencies(&models),
        with_people: if is_complete { with_people(&models) } else { Vec::new() },
        gap: is_complete.then(|| gap(&models)),
        labels: groups(shape.n_labels, n_models, None),
        attributes: if is_complete {
            ["low", "medium", "high"]
                .iter()
                .flat_map(|level| groups(3, n_models, Some(level)))
                .collect()
        } else {
            Vec::new()
        },
        axes: if is_complete { axes(&models) } else { Vec::new() },
        surprises: is_complete.then(surprises),
        learning: if is_complete { learning(&models, &bands) } else { Vec::new() },
        failures: if is_complete {
            vec![FailureCount {
                reason: "cannot decode: the file ends in the middle of the picture".into(),
                n: n_failed,
                example: StimulusId::new("objectnet/broken_0007.jpg"),
            }]
        } else {
            Vec::new()
        },
        caveats: if is_complete { caveats() } else { Caveats::default() },
        bands,
        models,
        comparisons,
    }
}

fn name(idx: usize) -> ModelName {
    let families = ["ResNet", "CLIP-ViT-B/16@laion", "EfficientNet", "ViT", "SimCLR-ResNet"];
    let sizes = ["18", "50", "101", "152", "200x2", "400x4"];
    let suffix = match idx / (families.len() * sizes.len()) {
        0 => String::new(),
        round => format!(" v{}", round + 1),
    };
    ModelName::new(format!("{}-{}{suffix}", families[idx % 5], sizes[idx / 5 % 6]))
}

fn family(idx: usize) -> Option<Family> {
    let names = ["ResNet", "CLIP", "EfficientNet", "ViT", "SimCLR"];
    (idx % 11 != 10).then(|| Family { name: names[idx % 5].into(), place: idx / 5 })
}

/// Skill of a model from 0 to 1, by golden-ratio steps.
fn skill(idx: usize) -> f64 {
    0.3 + 0.6 * ((idx as f64 + 1.0) * 0.618_034).fract()
}

fn accuracy_at(idx: usize, hard: f64) -> f64 {
    let skill = skill(idx);
    (0.99 - hard * (0.95 - 0.75 * skill) - (1.0 - skill) * 0.12).clamp(0.02, 1.0)
}

fn share(value: f64, n: usize) -> BandAccuracy {
    let n_right = (value * n as f64).round() as usize;
    let value = n_right as f64 / n as f64;
    let half = 1.96 * (value * (1.0 - value) / n as f64).sqrt() + 1.5 / n as f64;
    let around = |half: f64| estimate(value, (value - half).max(0.0), (value + half).min(1.0), n);
    BandAccuracy { n_right, wilson: around(half), clustered: around(half * 1.7) }
}

fn model(idx: usize, bands: &[Cell]) -> ModelFinding {
    let n_bands = bands.len();
    let along = |step: usize| step as f64 / (n_bands.max(2) - 1) as f64;
    let by_band: Vec<Option<BandAccuracy>> = bands
        .iter()
        .enumerate()
        .map(|(step, band)| Some(share(accuracy_at(idx, along(step)), band.n_stimuli)))
        .collect();
    let drop = match (by_band.first(), by_band.last()) {
        (Some(Some(easy)), Some(Some(hard))) => {
            let value = easy.clustered.value - hard.clustered.value;
            Some(estimate(value, value - 0.09, value + 0.09, 530))
        }
        _ => None,
    };
    let overall = accuracy_at(idx, 0.3);
    let has_confidence = idx % 7 != 6;
    ModelFinding {
        model: name(idx),
        family: family(idx),
        n_failed: if idx == 0 && 0 < n_bands { 20 } else { 0 },
        accuracy: Some(share(overall, 1_200)),
        top_5: (idx % 3 != 2).then(|| share((overall + 0.12).min(0.999), 1_200).wilson),
        mean_per_class: Some(share(overall, 16).wilson),
        bands: by_band,
        drop,
        difficulty_correlation: (0 < n_bands)
            .then(|| estimate(-0.2 - 0.3 * skill(idx), -0.55, -0.15, 1_200)),
        calibration: has_confidence.then(|| calibration(idx, overall, 1_200)),
        calibration_by_band: bands
            .iter()
            .enumerate()
            .map(|(step, band)| {
                let accuracy = accuracy_at(idx, along(step));
                has_confidence.then(|| calibration(idx + step, accuracy, band.n_stimuli))
            })
            .collect(),
    }
}

fn calibration(idx: usize, accuracy: f64, n: usize) -> Calibration {
    let over = 0.02 + 0.12 * (idx as f64 * 0.618_034).fract();
    let bin = |step: usize| {
        let confidence = 0.15 + 0.085 * step as f64;
        CalibrationBin {
            confidence,
            accuracy: share((confidence - over * (1.0 - confidence) * 2.0).max(0.01), n / 10)
                .wilson,
        }
    };
    Calibration {
        ece: estimate(over + 0.01, over, over + 0.03, n),
        debiased: estimate(over, over - 0.01, over + 0.02, n),
        overconfidence: estimate(over - 0.01, over - 0.03, over + 0.01, n),
        brier: estimate(1.0 - accuracy, 0.8 - 0.8 * accuracy, 1.2 - 1.1 * accuracy, n),
        brier_reliability: over * over,
        brier_resolution: 0.08,
        brier_uncertainty: accuracy * (1.0 - accuracy),
        bins: (0..10).map(bin).collect(),
    }
}

fn comparisons(models: &[ModelFinding], bands: &[Cell]) -> Vec<PairedComparison> {
    let mut pairs = Vec::new();
    for (idx, first) in models.iter().enumerate() {
        for second in &models[idx + 1..] {
            let difference = value(first) - value(second);
            let p = (-difference.abs() * 220.0).exp();
            let around =
                |half: f64| estimate(difference, difference - half, difference + half, 1_180);
            let holm = (p * 60.0).min(1.0);
            pairs.push(PairedComparison {
                first: first.model.clone(),
                second: second.model.clone(),
                n_stimuli: 1_180,
                n_only_first: (100.0 + difference * 590.0).max(0.0) as usize,
                n_only_second: (100.0 - difference * 590.0).max(0.0) as usize,
                difference: around(0.022),
                clustered: around(0.035),
                p,
                p_exact: p,
                p_clustered: (p * 2.0).min(1.0),
                p_holm: holm,
                p_bh: (p * 4.0).min(1.0),
                minimum_detectable: 0.031,
                bands: bands.iter().map(|_| Some((around(0.08), (p * 6.0).min(1.0)))).collect(),
            });
        }
    }
    pairs
}

fn value(model: &ModelFinding) -> f64 {
    model.accuracy.as_ref().map_or(0.0, |accuracy| accuracy.wilson.value)
}

fn ties(models: &[ModelFinding], pairs: &[PairedComparison]) -> Vec<Vec<ModelName>> {
    let mut ranked: Vec<&ModelFinding> = models.iter().collect();
    ranked.sort_by(|a, b| value(b).total_cmp(&value(a)));
    let is_tie = |a: &ModelName, b: &ModelName| {
        pairs.iter().any(|pair| {
            let is_pair =
                (&pair.first, &pair.second) == (a, b) || (&pair.first, &pair.second) == (b, a);
            is_pair && 0.05 <= pair.p_holm
        })
    };
    let pair = |two: &[&ModelFinding]| {
        is_tie(&two[0].model, &two[1].model)
            .then(|| vec![two[0].model.clone(), two[1].model.clone()])
    };
    ranked.windows(2).filter_map(pair).collect()
}

fn consistency(kappa: f64, n: usize) -> Consistency {
    Consistency {
        error_consistency: estimate(kappa, kappa - 0.06, kappa + 0.06, n),
        attainable_maximum: estimate(0.86, 0.8, 0.9, n),
        attainable_minimum: estimate(-0.3, -0.35, -0.25, n),
        observed_consistency: estimate(0.7 + kappa / 5.0, 0.68, 0.99, n),
        expected_consistency: estimate(0.6, 0.55, 0.65, n),
        accuracy_difference: estimate(0.01, 0.0, 0.03, n),
    }
}

fn consistencies(models: &[ModelFinding]) -> Vec<ConsistencyOf> {
    let mut pairs = Vec::new();
    for (idx, first) in models.iter().enumerate() {
        for (other, second) in models.iter().enumerate().skip(idx + 1) {
            let is_kin = idx % 5 == other % 5;
            let kappa = 0.25 + 0.2 * ((idx * other) as f64 * 0.618_034).fract();
            pairs.push(ConsistencyOf {
                first: first.model.clone(),
                second: second.model.clone(),
                n_stimuli: 1_180,
                consistency: consistency(if is_kin { kappa + 0.25 } else { kappa }, 1_180),
            });
        }
    }
    pairs
}

fn with_people(models: &[ModelFinding]) -> Vec<PeopleConsistency> {
    let of = |(idx, model): (usize, &ModelFinding)| PeopleConsistency {
        model: model.model.clone(),
        n_participants: 34,
        consistency: consistency(0.1 + 0.3 * skill(idx), 800),
        ceiling: Some(consistency(0.52, 800)),
    };
    models.iter().enumerate().map(of).collect()
}

fn gap(models: &[ModelFinding]) -> AccuracyGap {
    let of = |(idx, model): (usize, &ModelFinding)| {
        let place = (idx / 5) as f64;
        let (easy, hard) = match idx % 5 {
            1 => (0.22 - 0.04 * place, 0.30 - 0.055 * place),
            2 => (0.30 - 0.05 * place, 0.36 - 0.002 * place),
            _ => (0.18 + 0.035 * (idx % 5) as f64 - 0.03 * place, 0.40 + 0.01 * (idx % 5) as f64),
        };
        let around = |value: f64| estimate(value, value - 0.07, value + 0.07, 260);
        BandGap {
            model: model.model.clone(),
            family: model.family.clone(),
            first: BANDS.iter().map(|(_, n)| Some(share(0.9, *n).clustered)).collect(),
            second: BANDS.iter().map(|(_, n)| Some(share(0.9 - easy, *n).clustered)).collect(),
            overall: Some(around((easy + hard) / 2.0)),
            easy: Some(around(easy)),
            hard: Some(around(hard)),
        }
    };
    AccuracyGap {
        first: "ImageNet".into(),
        second: "ObjectNet".into(),
        easy: vec!["17 ms".into(), "50 ms".into()],
        hard: vec!["250 ms".into(), "10 s".into()],
        models: models.iter().enumerate().map(of).collect(),
    }
}

fn groups(n: usize, n_models: usize, level: Option<&str>) -> Vec<GroupAccuracy> {
    let attributes = ["blur", "occlusion", "unusual pose of the object"];
    let of = |group: usize| {
        let n_stimuli = 12 + group % 5 * 9;
        let ease = 0.35 + 0.6 * ((group as f64 + 0.4) * 0.618_034).fract();
        let accuracy =
            |idx: usize| share((ease * (0.7 + 0.4 * skill(idx))).min(1.0), n_stimuli).wilson;
        GroupAccuracy {
            name: match level {
                Some(_) => attributes[group % 3].into(),
                None if n <= LABELS.len() => LABELS[group].into(),
                None => format!("{} {}", LABELS[group % LABELS.len()], group / LABELS.len()),
            },
            level: level.map(Into::into),
            n_stimuli,
            models: (0..n_models).map(|idx| (idx % 13 != 12).then(|| accuracy(idx))).collect(),
            p_worse_bh: (0..n_models)
                .map(|idx| (idx % 13 != 12).then_some(if ease < 0.45 { 0.004 } else { 0.6 }))
                .collect(),
        }
    };
    (0..n).map(of).collect()
}

fn axes(models: &[ModelFinding]) -> Vec<Axis> {
    let noise = [0.0, 0.03, 0.05, 0.1, 0.2, 0.35, 0.6, 0.9];
    let at = |level: f64| ConditionAccuracy {
        name: level.to_string(),
        value: Some(level),
        models: (0..models.len())
            .map(|idx| Some(share((accuracy_at(idx, level * 0.9)).max(0.06), 160).wilson))
            .collect(),
    };
    let probe =
        |name: &str, hard: f64| ConditionAccuracy { name: name.into(), value: None, ..at(hard) };
    vec![
        Axis { name: "noise_level".into(), is_numeric: true, values: noise.map(at).to_vec() },
        Axis {
            name: "probe".into(),
            is_numeric: false,
            values: vec![
                probe("none", 0.1),
                probe("grayscale", 0.2),
                probe("gaussian blur 3", 0.6),
            ],
        },
    ]
}

fn surprises() -> Surprises {
    let surprise = |idx: usize, is_easy: bool| Surprise {
        stimulus: StimulusId::new(format!(
            "objectnet/{}/{idx:04}.jpg",
            LABELS[idx % LABELS.len()].replace(' ', "_")
        )),
        label: Some(Label::new(LABELS[idx % LABELS.len()])),
        difficulty: if is_easy {
            estimate(0.05, 0.0, 0.2, 42)
        } else {
            estimate(0.8, 0.65, 0.9, 42)
        },
        band: Some(if is_easy { "17 ms" } else { "10 s" }.into()),
        n_right: if is_easy { idx % 3 } else { 22 - idx % 3 },
        n_models: 22,
        usual_mistake: is_easy.then(|| (Label::new(LABELS[(idx + 3) % LABELS.len()]), 18 - idx)),
    };
    Surprises {
        easy_but_failed: (0..9).map(|idx| surprise(idx, true)).collect(),
        hard_but_solved: (0..5).map(|idx| surprise(idx + 40, false)).collect(),
        n_easy_failed_by_all: 3,
        n_hard_solved_by_all: 12,
    }
}

fn learning(models: &[ModelFinding], bands: &[Cell]) -> Vec<LearningSpeed> {
    let of = |(idx, model): (usize, &ModelFinding)| {
        let at = |epoch: usize| {
            let value = accuracy_at(idx, 0.3) * (1.0 - (-(epoch as f64) / 4.0).exp());
            (epoch as f64, share(value, 1_100).wilson)
        };
        LearningSpeed {
            model: model.model.clone(),
            n_epochs: 20,
            n_stimuli: 1_100,
            mean: share(0.6, 1_100).wilson,
            difficulty_correlation: Some(estimate(-0.41, -0.5, -0.3, 1_100)),
            bands: (0..bands.len())
                .map(|step| Some(share(0.8 - 0.1 * step as f64, 180).wilson))
                .collect(),
            by_epoch: (1..=20).map(at).collect(),
        }
    };
    models.iter().enumerate().take(3).map(of).collect()
}

fn caveats() -> Caveats {
    let mut caveats = Caveats::default();
    caveats.add(Caveat::FailedPredictions { n_predictions: 20, n_all: 26_400 });
    caveats.add(Caveat::FewInBand { bands: vec!["250 ms".into()], n_wanted: 100 });
    caveats.add(Caveat::EpochsDepend);
    caveats
}
