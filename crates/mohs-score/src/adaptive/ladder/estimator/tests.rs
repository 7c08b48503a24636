//! Laws of estimators, by going through every sample of a tiny ladder.

use mohs_data::Seed;
use proptest::prelude::*;

use super::super::logit::Logit;
use super::super::neyman::{Remaining, spreads};
use super::super::population::{Kind, Ladder, LadderError, Tags};
use super::super::record::{Asked, Question, Record, Sample, Sitting, Why};
use super::super::reference_models::{Hints, ReferenceModels};
use super::*;
use crate::draw::Draw;
use crate::proportion::real;

/// Two levels of one class, `n_easy` and `n_hard` stimuli.
fn ladder(n_easy: usize, n_hard: usize) -> Ladder {
    let tag = |level: &str| Tags {
        class: "dog".into(),
        attribute: Some("size".into()),
        level: Some(level.into()),
    };
    let mut tags = vec![tag("easy"); n_easy];
    tags.extend(vec![tag("hard"); n_hard]);
    Ladder::new(&tags, &[]).unwrap()
}

/// All ways to choose `n` of `0..size`.
fn subsets(size: usize, n: usize) -> Vec<Vec<usize>> {
    let all = 0..(1_usize << size);
    all.filter(|bits| bits.count_ones() as usize == n)
        .map(|bits| (0..size).filter(|idx| bits >> idx & 1 == 1).collect())
        .collect()
}

fn empty<'a>(ladder: &'a Ladder, hints: Option<&'a Hints>) -> Record<'a> {
    Record {
        ladder,
        hints,
        asked: Vec::new(),
        samples: vec![Sample::default(); ladder.strata().len()],
        sittings: Vec::new(),
        n_rounds: 0,
    }
}

fn ask(
    record: &mut Record<'_>,
    stratum: usize,
    positions: &[usize],
    forecasts: &[f64],
    truth: &[bool],
) {
    let stimuli = &record.ladder.strata()[stratum].stimuli;
    let round = record.n_rounds;
    let answers = positions.iter().map(|position| (*position, truth[stimuli[*position]])).collect();
    for position in positions {
        let stimulus = stimuli[*position];
        let question = Question { stimulus, round, why: Why::FirstRound };
        record.asked.push(Asked { question, is_right: Some(truth[stimulus]) });
    }
    record.samples[stratum] = Sample { round, answers, forecasts: forecasts.to_vec() };
    record.n_rounds += 1;
}

/// Goes through every sample of a two-round test in which the second round's counts and forecasts
/// depend on the first round's answers, and returns the mean estimate, the variance of estimates
/// and the mean of their variances.
fn enumerate(
    kind: EstimatorKind,
    target: Kind,
    truth: &[bool],
    hints: Option<&Hints>,
    ladder: &Ladder,
) -> [f64; 3] {
    let group = ladder.group(target, |_| true).unwrap();
    let (mut mean, mut square, mut variance) = (0.0, 0.0, 0.0);
    let first = subsets(ladder.strata()[0].stimuli.len(), 2);
    for positions in &first {
        let mut record = empty(ladder, hints);
        let shares = hints.map_or_else(|| vec![0.5; truth.len()], |hints| hints.shares.clone());
        ask(&mut record, 0, positions, &shares[..ladder.strata()[0].stimuli.len()], truth);
        let mut fit = Logit::new(ladder, record.features());
        fit.fit(&record.answers(), 5);
        let forecasts = fit.forecasts();
        let spreads = spreads(ladder, &forecasts);
        // More questions after the first answers were alike than after they differed.
        let n_left = 2 + usize::from(record.samples[0].answers.iter().all(|(_, right)| *right));
        let remaining =
            Remaining { ladder, now: &[1], later: &[], spreads: &spreads, n_left, least: 2 };
        let n = remaining.by_budget(&mut Draw::new(Seed(1), &[]))[0];
        let second = subsets(ladder.strata()[1].stimuli.len(), n);
        for positions in &second {
            let mut record = record.clone();
            let here: Vec<f64> =
                ladder.strata()[1].stimuli.iter().map(|idx| forecasts[*idx]).collect();
            ask(&mut record, 1, positions, &here, truth);
            let moments = kind.of(&record).unwrap().estimate(&group).unwrap();
            let p = 1.0 / real(first.len()) / real(second.len());
            mean += p * moments.value;
            square += p * moments.value * moments.value;
            variance += p * moments.variance;
        }
    }
    [mean, square - mean * mean, variance]
}

fn hints(ladder: &Ladder, rows: &[&[bool]]) -> Hints {
    let model = |row: &&[bool]| ("m".to_owned(), row.iter().map(|bit| Some(*bit)).collect());
    ReferenceModels::new(rows.iter().map(model).collect()).unwrap().hints(ladder)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Exhaustive: whatever the answers and the references, the mean over all samples is the truth
    /// and the mean of the variances is the variance.
    #[test]
    fn unbiased_estimators_are_exactly_unbiased(
        truth in prop::collection::vec(any::<bool>(), 9),
        references in prop::collection::vec(prop::collection::vec(any::<bool>(), 9), 3),
    ) {
        let ladder = ladder(4, 5);
        let rows: Vec<&[bool]> = references.iter().map(Vec::as_slice).collect();
        let hints = hints(&ladder, &rows);
        let share = |range: std::ops::Range<usize>| {
            real(truth[range.clone()].iter().filter(|right| **right).count()) / real(range.len())
        };
        let expected = [
            (Kind::Accuracy, share(0..9)),
            (Kind::Score, share(0..4) / 3.0 + share(4..9) * 2.0 / 3.0),
        ];
        for kind in [EstimatorKind::Stratified, EstimatorKind::ControlVariate, EstimatorKind::Aipw] {
            for (target, expected) in expected {
                for hints in [None, Some(&hints)] {
                    let [mean, spread, variance] = enumerate(kind, target, &truth, hints, &ladder);
                    prop_assert!((mean - expected).abs() < 1e-12, "{kind:?} {mean} {expected}");
                    prop_assert!((spread - variance).abs() < 1e-12, "{kind:?} {spread} {variance}");
                }
            }
        }
    }

    /// The order in which answers came does not matter.
    #[test]
    fn order_changes_nothing(
        truth in prop::collection::vec(any::<bool>(), 12),
        seed in 0..1_000_u64,
    ) {
        let ladder = ladder(6, 6);
        let group = ladder.group(Kind::Score, |_| true).unwrap();
        let mut positions = vec![0, 2, 3, 5];
        let mut found = Vec::new();
        for _ in 0..2 {
            let mut record = empty(&ladder, None);
            ask(&mut record, 0, &positions, &[0.5; 6], &truth);
            ask(&mut record, 1, &positions, &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], &truth);
            for kind in EstimatorKind::ALL {
                let Ok(estimator) = kind.of(&record) else { continue };
                found.push(estimator.estimate(&group).unwrap());
            }
            Draw::new(Seed(seed), &[]).shuffle(&mut positions);
        }
        let (first, second) = found.split_at(found.len() / 2);
        prop_assert_eq!(first.len(), 6);
        for (a, b) in first.iter().zip(second) {
            prop_assert!((a.value - b.value).abs() < 1e-9 && (a.variance - b.variance).abs() < 1e-9);
        }
    }
}

/// By hand: 2 of 4 easy asked, one right; 3 of 6 hard asked, one right. Forecasts of the hard ones
/// are 0.2 for those asked and 0.8 for the others.
fn worked() -> (Ladder, Vec<bool>) {
    let truth = [true, false, true, true, true, false, false, true, true, false];
    (ladder(4, 6), truth.to_vec())
}

#[test]
fn worked_by_hand() {
    let (ladder, truth) = worked();
    let mut record = empty(&ladder, None);
    ask(&mut record, 0, &[0, 1], &[0.5; 4], &truth);
    ask(&mut record, 1, &[0, 1, 2], &[0.2, 0.2, 0.2, 0.8, 0.8, 0.8], &truth);
    let check = |kind: EstimatorKind, target, value: f64, variance: f64| {
        let group = ladder.group(target, |_| true).unwrap();
        let found = kind.of(&record).unwrap().estimate(&group).unwrap();
        assert!((found.value - value).abs() < 1e-9, "{kind:?} {found:?} {value}");
        assert!((found.variance - variance).abs() < 1e-9, "{kind:?} {found:?} {variance}");
        assert_eq!((found.n_asked, found.n_stimuli), (5, 10));
    };
    // Means 1/2 and 1/3; s² = 1/2 and 1/3; V = (1/2)(1/2)/2 = 1/8 and (1/2)(1/3)/3 = 1/18.
    let (easy, hard) = (1.0 / 8.0, 1.0 / 18.0);
    check(EstimatorKind::Stratified, Kind::Accuracy, 0.4, 0.16 * easy + 0.36 * hard);
    check(EstimatorKind::Stratified, Kind::Score, 7.0 / 18.0, easy / 9.0 + 4.0 / 9.0 * hard);
    // The hard mean moves by the mean forecast of all, 0.5, less that of those asked, 0.2.
    check(EstimatorKind::Aipw, Kind::Accuracy, 0.4 + 0.6 * 0.3, 0.16 * easy + 0.36 * hard);
    // Before any forecast was tried it is believed as far as its prior says, which is fully.
    check(
        EstimatorKind::ControlVariate,
        Kind::Accuracy,
        0.4 + 0.6 * 0.3,
        0.16 * easy + 0.36 * hard,
    );
    // Two of five right; 1 + 2 of 2 + 6 points.
    check(EstimatorKind::Raw, Kind::Accuracy, 0.4, 0.24 / 5.0);
    let p: f64 = 3.0 / 8.0;
    let raw = ((1.0 - p).powi(2) + p * p + 4.0 * (1.0 - p).powi(2) + 8.0 * p * p) / 64.0;
    check(EstimatorKind::Raw, Kind::Score, p, raw);
    check(EstimatorKind::TierPooled, Kind::Accuracy, 0.4, 0.16 * 0.125 + 0.36 * 2.0 / 27.0);
}

/// One question of each level, then three more of the hard one after a right answer only: the
/// mean of sittings is off by p (1 - p) m/(m + 1) (B - A), the pooled share is not the truth either.
#[test]
fn sittings_that_follow_their_answers_are_off_by_as_much_as_the_formula_says() {
    let ladder = ladder(1, 1);
    let p: f64 = 0.5;
    // All outcomes of four coins: right first answers go on.
    let (mut mean, mut n) = (0.0, 0.0);
    for bits in 0..16_u32 {
        let coin = |idx: u32| bits >> idx & 1 == 1;
        let answers = if coin(0) {
            vec![(1, true), (1, coin(1)), (1, coin(2)), (1, coin(3))]
        } else {
            vec![(1, false)]
        };
        let mut record = empty(&ladder, None);
        record.sittings = vec![Sitting { strata: vec![0, 1], answers }];
        let group = ladder.group(Kind::Accuracy, |place| place.level_idx == 1).unwrap();
        let found = EstimatorKind::SittingMeans.of(&record).unwrap().estimate(&group).unwrap();
        mean += found.value;
        n += 1.0;
    }
    let expected = p + p * (1.0 - p) * 3.0 / 4.0 * (0.0 - 1.0);
    assert!((mean / n - expected).abs() < 1e-12, "{} {expected}", mean / n);
}

#[test]
fn an_estimator_that_would_be_wrong_is_refused() {
    let (ladder, _) = worked();
    let mut record = empty(&ladder, None);
    assert!(matches!(EstimatorKind::SittingMeans.of(&record), Err(LadderError::Misfit { .. })));
    record.sittings = vec![Sitting::default()];
    let error = EstimatorKind::Stratified.of(&record).err().unwrap().to_string();
    assert_eq!(error, "the estimator `stratified` does not fit the design `gre`");
}

#[test]
fn names_and_estimators_go_both_ways() {
    for kind in EstimatorKind::ALL {
        assert_eq!(EstimatorKind::parse(kind.name()).unwrap(), kind);
    }
    let error = EstimatorKind::parse("control-variat").unwrap_err();
    assert_eq!(error.nearest.as_deref(), Some("control-variate"));
}

#[test]
fn nothing_answered_is_nothing_known() {
    let (ladder, _) = worked();
    let record = empty(&ladder, None);
    let group = ladder.group(Kind::Accuracy, |_| true).unwrap();
    for kind in EstimatorKind::ALL {
        let Ok(estimator) = kind.of(&record) else { continue };
        assert_eq!(estimator.estimate(&group), None, "{kind:?}");
    }
}
