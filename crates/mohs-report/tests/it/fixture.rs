//! A made-up study for tests and for looking at the report: every number by formula, none drawn.

#![expect(clippy::cast_precision_loss, reason = "small whole numbers")]
#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small shares")]

use mohs_data::{Caveat, Caveats, Estimate, Label, Millis, MvtRule, ParticipantId, StimulusId};
use mohs_report::Summary;
use mohs_score::human::viewing_time::{
    Band, BandFinding, ExclusionCount, ExposureCount, ExposurePoint, Group, HistogramBin, Method,
    ParticipantFinding, PriorPoint, StimulusFinding, ThresholdModel, ViewingTime,
};

/// How large and how complete a made-up study is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) n_stimuli: usize,
    pub(crate) n_participants: usize,
    pub(crate) labels: &'static [&'static str],
    pub(crate) datasets: &'static [&'static str],
    pub(crate) levels: &'static [&'static str],
    pub(crate) exposures: &'static [f64],
    pub(crate) has_caveats: bool,
}

/// 160 stimuli of 16 classes in two data sets, the exposures of the paper.
pub(crate) const USUAL: Shape = Shape {
    n_stimuli: 160,
    n_participants: 34,
    labels: &[
        "banana",
        "basket",
        "bench",
        "bicycle",
        "broom",
        "can opener",
        "chair",
        "desk lamp",
        "drinking straw",
        "hammer",
        "mouse (computer)",
        "plate",
        "remote control",
        "sock",
        "tea towel",
        "wallet",
    ],
    datasets: &["ImageNet", "ObjectNet"],
    levels: &["low", "medium", "high"],
    exposures: &[17.0, 50.0, 100.0, 150.0, 250.0, 10_000.0],
    has_caveats: true,
};

/// One stimulus, one exposure, one participant, no label, no data set, no caveat.
#[allow(dead_code, clippy::allow_attributes, reason = "the preview shows the usual study only")]
pub(crate) const TINY: Shape = Shape {
    n_stimuli: 1,
    n_participants: 1,
    labels: &[],
    datasets: &[],
    levels: &[],
    exposures: &[100.0],
    has_caveats: false,
};

const TRIALS_PER_CELL: usize = 7;

pub(crate) fn summary(shape: Shape) -> Summary {
    Summary {
        viewing_time: Some(viewing_time(shape)),
        ..Summary::new("Kitchen and office objects, pilot 2", "0.1.0", 7, false)
    }
}

fn viewing_time(shape: Shape) -> ViewingTime {
    let exposures: Vec<Millis> = shape.exposures.iter().map(|ms| millis(*ms)).collect();
    let mut stimuli: Vec<StimulusFinding> =
        (0..shape.n_stimuli).map(|idx| stimulus(shape, &exposures, idx)).collect();
    stimuli.sort_by(|a, b| {
        let by_difficulty = a.difficulty.value.total_cmp(&b.difficulty.value);
        by_difficulty.then_with(|| a.stimulus.cmp(&b.stimulus))
    });
    let all: Vec<&StimulusFinding> = stimuli.iter().collect();
    let n_bands = exposures.len() + 1;
    let bands = (0..n_bands).map(|idx| band_finding(&exposures, idx, &all)).collect();
    let names = |pick: fn(&StimulusFinding) -> Option<String>| {
        let mut names: Vec<String> = stimuli.iter().filter_map(pick).collect();
        names.sort();
        names.dedup();
        let of = |name: String| {
            let members: Vec<&StimulusFinding> =
                all.iter().copied().filter(|s| pick(s).as_deref() == Some(&name)).collect();
            group(&name, &exposures, &members)
        };
        names.into_iter().map(of).collect::<Vec<_>>()
    };
    let mut by_dataset = names(|s| s.dataset.clone());
    if by_dataset.is_empty() {
        by_dataset.push(group("all", &exposures, &all));
    }
    let n_trials = shape.n_stimuli * exposures.len() * TRIALS_PER_CELL;
    ViewingTime {
        method: Method {
            criterion: 0.5,
            rule: MvtRule::Stays,
            guess_rate: 0.02,
            confidence: 0.95,
            n_resamples: 1_000,
            seed: 7,
        },
        n_trials_read: n_trials + 640,
        n_trials,
        n_participants: shape.n_participants,
        n_stimuli: shape.n_stimuli,
        exclusions: exclusions(shape.has_caveats),
        accuracy: accuracy_of(&all, None),
        accuracy_by_exposure: curve(&exposures, &all),
        bands,
        difficulty_histogram: histogram(&by_dataset, &stimuli),
        by_label: names(|s| s.label.as_ref().map(ToString::to_string)),
        by_level: names(|s| Some(format!("{} · {}", s.attribute.as_ref()?, s.level.as_ref()?))),
        by_dataset,
        model: ThresholdModel {
            guess_rate: 0.02,
            lapse_rate: 0.034,
            slope_per_doubling: 1.42,
            ability_sd: 0.61,
            n_rounds: 48,
            threshold_prior: vec![PriorPoint { threshold: millis(50.0), weight: 1.0 }],
        },
        participants: (0..shape.n_participants).map(|idx| participant(shape, idx)).collect(),
        caveats: if shape.has_caveats { caveats(&stimuli) } else { Caveats::default() },
        exposures,
        stimuli,
    }
}

fn stimulus(shape: Shape, exposures: &[Millis], idx: usize) -> StimulusFinding {
    // Golden-ratio steps fill [0, 1) evenly without repeating.
    let along = (idx as f64 * 0.618_034).fract();
    let dataset_idx = idx % shape.datasets.len().max(1);
    let threshold = 12.0 * 2f64.powf(along * along * 11.0 + dataset_idx as f64 * 0.6);
    let counts: Vec<ExposureCount> = exposures
        .iter()
        .enumerate()
        .map(|(step, exposure)| {
            let z = 1.4 * (exposure.value() / threshold).log2();
            let p = 0.02 + 0.94 / (1.0 + (-z).exp());
            let dip = if idx % 13 == 5 && step == 3 { 3.0 } else { 0.0 };
            let wobble = ((idx * 7 + step * 3) % 5) as f64 * 0.2 - 0.4 - dip;
            let n_correct = (p * TRIALS_PER_CELL as f64 + wobble).round().clamp(0.0, 7.0) as usize;
            ExposureCount { exposure: *exposure, n_trials: TRIALS_PER_CELL, n_correct }
        })
        .collect();
    let recognised = |count: &&ExposureCount| count.n_trials <= 2 * count.n_correct;
    let mvt_first = counts.iter().find(recognised).map(|count| count.exposure);
    let mvt_stays = counts.iter().rev().take_while(recognised).last().map(|count| count.exposure);
    let n_trials = counts.len() * TRIALS_PER_CELL;
    let n_correct: usize = counts.iter().map(|count| count.n_correct).sum();
    let n_errors = n_trials - n_correct;
    let mut caveats = Vec::new();
    if shape.has_caveats {
        if mvt_first != mvt_stays {
            caveats.push("non-monotone".into());
        }
        if idx.is_multiple_of(3) {
            caveats.push("too-few-trials".into());
        }
    }
    let label = shape.labels.get(idx % shape.labels.len().max(1));
    let dataset = shape.datasets.get(dataset_idx);
    let level = shape.levels.get(idx / 2 % shape.levels.len().max(1));
    let file = label.map_or("stimulus".to_owned(), |label| label.replace([' ', '(', ')'], "_"));
    StimulusFinding {
        stimulus: StimulusId::new(format!("{}/{file}_{idx:04}.jpg", dataset.unwrap_or(&"set"))),
        label: label.map(Label::new),
        dataset: dataset.map(ToString::to_string),
        attribute: level.map(|_| "blur".into()),
        level: level.map(ToString::to_string),
        difficulty: wilson(n_errors, n_trials),
        balanced_difficulty: wilson(n_errors, n_trials),
        mvt: mvt_stays,
        mvt_first,
        mvt_stays,
        band: band_of(exposures, mvt_stays),
        threshold_ms: estimate(threshold, threshold / 1.6, threshold * 1.7, n_trials),
        p_mvt_at_most: exposures.iter().map(|e| f64::from(threshold <= e.value())).collect(),
        model_band: band_of(exposures, exposures.iter().copied().find(|e| threshold <= e.value())),
        caveats,
        n_errors,
        counts,
    }
}

fn band_of(exposures: &[Millis], mvt: Option<Millis>) -> Band {
    let idx = exposures.iter().position(|exposure| Some(*exposure) == mvt);
    Band { idx: idx.unwrap_or(exposures.len()), mvt }
}

fn band_finding(exposures: &[Millis], idx: usize, all: &[&StimulusFinding]) -> BandFinding {
    let members: Vec<&StimulusFinding> =
        all.iter().copied().filter(|s| s.band.idx == idx).collect();
    let n_model = all.iter().filter(|s| s.model_band.idx == idx).count();
    BandFinding {
        band: Band { idx, mvt: exposures.get(idx).copied() },
        n_stimuli: members.len(),
        share: wilson(members.len(), all.len()),
        model_share: wilson(n_model, all.len()),
        accuracy_by_exposure: curve(exposures, &members),
    }
}

fn group(name: &str, exposures: &[Millis], members: &[&StimulusFinding]) -> Group {
    let n = members.len();
    let mean = |pick: fn(&StimulusFinding) -> f64| {
        members.iter().map(|s| pick(s)).sum::<f64>() / n.max(1) as f64
    };
    let difficulty = mean(|s| s.difficulty.value);
    let threshold = mean(|s| s.threshold_ms.value.ln()).exp();
    let doubt = 0.35 / (n as f64).sqrt();
    Group {
        name: name.into(),
        n_stimuli: n,
        n_trials: n * exposures.len() * TRIALS_PER_CELL,
        difficulty: estimate(
            difficulty,
            (difficulty - doubt).max(0.0),
            (difficulty + doubt).min(1.0),
            n,
        ),
        threshold_ms: estimate(
            threshold,
            threshold * (-3.0 * doubt).exp(),
            threshold * (3.0 * doubt).exp(),
            n,
        ),
        n_by_band: (0..=exposures.len())
            .map(|idx| members.iter().filter(|s| s.band.idx == idx).count())
            .collect(),
        accuracy_by_exposure: curve(exposures, members),
    }
}

fn curve(exposures: &[Millis], members: &[&StimulusFinding]) -> Vec<ExposurePoint> {
    if members.is_empty() {
        return Vec::new();
    }
    let point = |(idx, exposure): (usize, &Millis)| ExposurePoint {
        exposure: *exposure,
        accuracy: accuracy_of(members, Some(idx)),
    };
    exposures.iter().enumerate().map(point).collect()
}

fn accuracy_of(members: &[&StimulusFinding], exposure_idx: Option<usize>) -> Estimate {
    let counts = members.iter().flat_map(|s| s.counts.iter().enumerate());
    let counts = counts.filter(|(idx, _)| exposure_idx.is_none_or(|wanted| wanted == *idx));
    let (right, all) =
        counts.fold((0, 0), |(right, all), (_, c)| (right + c.n_correct, all + c.n_trials));
    wilson(right, all)
}

fn histogram(by_dataset: &[Group], stimuli: &[StimulusFinding]) -> Vec<HistogramBin> {
    let bin = |step: usize| {
        let (low, high) = (step as f64 / 10.0, (step + 1) as f64 / 10.0);
        let n_of = |group: &Group| {
            let inside = |s: &&StimulusFinding| {
                let is_of_group = s.dataset.as_deref().is_none_or(|name| name == group.name);
                let value = s.difficulty.value;
                is_of_group && low <= value && (value < high || step == 9 && value <= high)
            };
            stimuli.iter().filter(inside).count()
        };
        HistogramBin { low, high, n_by_dataset: by_dataset.iter().map(n_of).collect() }
    };
    (0..10).map(bin).collect()
}

fn participant(shape: Shape, idx: usize) -> ParticipantFinding {
    let n =
        (shape.n_stimuli * shape.exposures.len() * TRIALS_PER_CELL / shape.n_participants).max(1);
    let share = 0.45 + 0.3 * (idx as f64 * 0.618_034).fract();
    let n_right = (share * n as f64) as usize;
    let ability = (share - 0.6) * 5.0;
    ParticipantFinding {
        participant: ParticipantId::new(format!("p{:03}", idx + 1)),
        accuracy: wilson(n_right, n),
        accuracy_at_longest: (idx % 11 != 5).then(|| wilson(n / 6 - n / 60, (n / 6).max(1))),
        ability: estimate(ability, ability - 0.4, ability + 0.4, n),
        median_rt: (idx % 9 != 4).then(|| millis(1_100.0 + 37.0 * idx as f64)),
    }
}

fn exclusions(is_strict: bool) -> Vec<ExclusionCount> {
    let rule = |rule: &str, meaning: &str, n_participants, n_trials| ExclusionCount {
        rule: rule.into(),
        meaning: meaning.into(),
        n_participants,
        n_trials,
    };
    match is_strict {
        true => vec![
            rule(
                "bad-timing",
                "the screen showed the stimulus for another time than planned",
                0,
                131,
            ),
            rule("too-fast", "answered within 200 ms of the question", 0, 29),
            rule("low-accuracy", "fewer than 50 % right at the longest exposure", 2, 480),
        ],
        false => Vec::new(),
    }
}

fn caveats(stimuli: &[StimulusFinding]) -> Caveats {
    let with = |code: &str| -> Vec<StimulusId> {
        let concerned = stimuli.iter().filter(|s| s.caveats.iter().any(|own| own == code));
        concerned.map(|s| s.stimulus.clone()).collect()
    };
    let mut caveats = Caveats::default();
    caveats.add(Caveat::TooFewTrials { stimuli: with("too-few-trials"), n_wanted: 10 });
    caveats.add(Caveat::NonMonotone { stimuli: with("non-monotone") });
    caveats.add(Caveat::BandsFromSameTrials);
    caveats.add(Caveat::FewParticipants { n_participants: 34 });
    caveats.add(Caveat::GuessRateAssumed { guess_rate: 0.02, n_labels: 50 });
    caveats.add(Caveat::UnevenFrames { share: 0.019 });
    caveats.add(Caveat::NotIdentified { what: "ability from the choice of stimuli".into() });
    caveats
}

fn millis(ms: f64) -> Millis {
    Millis::new(ms).expect("literals and sums of them are finite")
}

pub(crate) fn estimate(value: f64, low: f64, high: f64, n: usize) -> Estimate {
    Estimate::new(value, low, high, 0.95, n).expect("formulas of the fixture give finite numbers")
}

fn wilson(n_right: usize, n: usize) -> Estimate {
    if n == 0 {
        return estimate(0.0, 0.0, 1.0, 0);
    }
    let (p, n_f, z) = (n_right as f64 / n as f64, n as f64, 1.96);
    let middle = p + z * z / (2.0 * n_f);
    let half = z * (p * (1.0 - p) / n_f + z * z / (4.0 * n_f * n_f)).sqrt();
    let scale = 1.0 + z * z / n_f;
    estimate(
        p,
        ((middle - half) / scale).clamp(0.0, 1.0),
        ((middle + half) / scale).clamp(0.0, 1.0),
        n,
    )
}
