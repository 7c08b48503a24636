//! Comparing designs of adaptive tests on models whose every answer is known.
//!
//! For each resample and each model in turn: the others are the references, each arm (a design
//! and an estimator) asks a part of the ladder, and what it says is held against all answers. The
//! answers are simulated (`population.rs`) or those of real models.

pub mod population;

use mohs_data::{Estimate, Seed};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::adaptive::ladder::{
    AdaptiveTest, Design, EstimatorKind, Hints, Kind, Ladder, LadderError, Place, Record,
    ReferenceModels, Routing, cells, interval,
};
use crate::proportion::{real, wilson};
use population::World;

/// Models and what they answer to every stimulus of a ladder.
#[derive(Debug, Clone)]
pub enum Source<'a> {
    /// Drawn anew for every resample.
    Simulated(World),
    /// The same in every resample: real models.
    Replayed {
        /// The stimuli.
        ladder: Ladder,
        /// Names and answers of the models.
        models: &'a [(String, Vec<bool>)],
    },
}

impl Source<'_> {
    fn ladder(&self) -> Result<Ladder, LadderError> {
        match self {
            Source::Simulated(world) => world.ladder(),
            Source::Replayed { ladder, .. } => Ok(ladder.clone()),
        }
    }
}

/// What is compared.
#[derive(Debug, Clone)]
pub struct Setting<'a> {
    /// Where answers come from.
    pub source: Source<'a>,
    /// The share of stimuli that is asked.
    pub budget: f64,
    /// How often everything is drawn anew.
    pub n_resamples: usize,
    /// Which designs and estimators.
    pub arms: &'a [Arm],
    /// How often intervals should hold the truth.
    pub confidence: f64,
    /// Seed of everything.
    pub seed: Seed,
}

/// A design with an estimator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arm {
    /// How stimuli are chosen.
    pub design: Design,
    /// Whether reference models are known.
    pub has_references: bool,
    /// How answers become estimates.
    pub estimator: EstimatorKind,
    /// Whether cells are shrunk; else they are means of what was asked.
    pub are_cells_shrunk: bool,
}

impl Arm {
    /// The design everything is compared with: `k` of each stratum, or the budget's share.
    pub fn baseline(per_stratum: Option<usize>) -> Self {
        Self::new(Design::Static { per_stratum }, false, EstimatorKind::Stratified)
    }

    fn new(design: Design, has_references: bool, estimator: EstimatorKind) -> Self {
        Self { design, has_references, estimator, are_cells_shrunk: false }
    }

    fn shrunk(self) -> Self {
        Self { are_cells_shrunk: true, ..self }
    }

    /// The arms of the table in `docs/methods/adaptive-ladder.md`, the baseline first.
    pub fn all(per_stratum: Option<usize>) -> Vec<Self> {
        use EstimatorKind as E;
        let fixed = || Design::Static { per_stratum };
        let gre = |routing: fn() -> Routing, estimator| {
            Self::new(Design::Gre { routing: routing() }, false, estimator)
        };
        vec![
            Self::baseline(per_stratum),
            gre(Routing::paper, E::Raw),
            gre(Routing::paper, E::TierPooled),
            gre(Routing::paper, E::SittingMeans),
            gre(Routing::paper, E::HierarchicalLogit).shrunk(),
            gre(Routing::appendix, E::TierPooled),
            gre(Routing::appendix, E::SittingMeans),
            gre(Routing::steep, E::TierPooled),
            gre(Routing::steep, E::SittingMeans),
            Self::new(fixed(), true, E::ControlVariate),
            Self::new(Design::Neyman, false, E::ControlVariate).shrunk(),
            Self::new(Design::Neyman, true, E::Aipw),
            Self::new(Design::Neyman, true, E::HierarchicalLogit),
            Self::new(Design::Neyman, true, E::ControlVariate).shrunk(),
        ]
    }

    /// The few arms of a short table: the baseline, the paper's and ours.
    pub fn few(per_stratum: Option<usize>) -> Vec<Self> {
        use EstimatorKind as E;
        let gre =
            |estimator| Self::new(Design::Gre { routing: Routing::paper() }, false, estimator);
        vec![
            Self::baseline(per_stratum),
            gre(E::TierPooled),
            gre(E::SittingMeans),
            Self::new(Design::Neyman, false, E::ControlVariate).shrunk(),
            Self::new(Design::Neyman, true, E::ControlVariate).shrunk(),
        ]
    }

    /// Returns what the sample of this arm depends on: arms that share it share the sample.
    fn sample_key(&self) -> (&Design, bool) {
        (&self.design, self.has_references)
    }
}

/// Designs beside each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DesignComparison {
    /// Whether the models are simulated; else they are real and replayed.
    pub is_simulated: bool,
    /// Models, each under test in turn with the others as references.
    pub n_models: usize,
    /// Stimuli of the ladder.
    pub n_stimuli: usize,
    /// Strata of the ladder.
    pub n_strata: usize,
    /// The share of stimuli that may be asked.
    pub budget: f64,
    /// How often everything was drawn anew.
    pub n_resamples: usize,
    /// The seed.
    pub seed: u64,
    /// How often intervals should hold the truth.
    pub confidence: f64,
    /// How each arm did, the baseline first.
    pub arms: Vec<ArmOutcome>,
}

/// How an arm did, over all models, attributes and resamples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmOutcome {
    /// The design.
    pub design: String,
    /// Whether reference models were known.
    pub has_references: bool,
    /// The estimator.
    pub estimator: EstimatorKind,
    /// Whether cells were shrunk.
    pub are_cells_shrunk: bool,
    /// Mean share of the stimuli that was asked.
    pub share_asked: f64,
    /// Errors of accuracies by attribute.
    pub accuracy: Errors,
    /// Errors of scores by attribute.
    pub score: Errors,
    /// Errors of accuracies by attribute and level.
    pub by_level: Errors,
    /// Errors of accuracies of single classes and attributes.
    pub cells: Errors,
}

/// Errors in points, and how often intervals held the truth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Mean error, in points.
    pub bias: f64,
    /// Mean squared error, in points².
    pub mse: f64,
    /// Mean squared error over that of the baseline.
    pub ratio: f64,
    /// How often intervals held the truth; n = intervals. `None` for plain means of cells, which
    /// have no interval.
    pub coverage: Option<Estimate>,
}

/// Sums of errors of one kind.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    n: usize,
    error: f64,
    square: f64,
    n_intervals: usize,
    n_held: usize,
}

impl Sums {
    fn add(&mut self, found: f64, held: Option<bool>, truth: f64) {
        let error = 100.0 * (found - truth);
        self.n += 1;
        self.error += error;
        self.square += error * error;
        self.n_intervals += usize::from(held.is_some());
        self.n_held += usize::from(held == Some(true));
    }

    fn join(&mut self, other: &Self) {
        self.n += other.n;
        self.error += other.error;
        self.square += other.square;
        self.n_intervals += other.n_intervals;
        self.n_held += other.n_held;
    }

    fn mse(&self) -> f64 {
        self.square / real(self.n.max(1))
    }

    fn errors(&self, baseline: &Self) -> Errors {
        let of_baseline = baseline.mse();
        Errors {
            bias: self.error / real(self.n.max(1)),
            mse: self.mse(),
            ratio: if 0.0 < of_baseline { self.mse() / of_baseline } else { 1.0 },
            coverage: wilson(self.n_held, self.n_intervals, 0.95),
        }
    }
}

/// Sums of one arm.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    n_asked: f64,
    n_tests: f64,
    accuracy: Sums,
    score: Sums,
    by_level: Sums,
    cells: Sums,
}

impl Tally {
    fn join(&mut self, other: &Self) {
        self.n_asked += other.n_asked;
        self.n_tests += other.n_tests;
        self.accuracy.join(&other.accuracy);
        self.score.join(&other.score);
        self.by_level.join(&other.by_level);
        self.cells.join(&other.cells);
    }
}

/// Arms, sorted by whether they fit a ladder.
#[derive(Debug)]
pub struct Fitting {
    /// Those that do.
    pub arms: Vec<Arm>,
    /// Those that do not, and why.
    pub left_out: Vec<(Arm, LadderError)>,
}

/// Sorts arms into those that fit the ladder and those that do not, with what they lack.
///
/// # Errors
///
/// When none fits: why the first does not.
pub fn fitting(source: &Source<'_>, budget: f64, arms: Vec<Arm>) -> Result<Fitting, LadderError> {
    let ladder = source.ladder()?;
    let (mut fit, mut left_out) = (Vec::new(), Vec::new());
    for arm in arms {
        match AdaptiveTest::new(&ladder, None, &arm.design, budget, None, Seed(0)) {
            Ok(_) => fit.push(arm),
            Err(error) => left_out.push((arm, error)),
        }
    }
    match (fit.is_empty(), left_out.is_empty()) {
        (true, false) => Err(left_out.remove(0).1),
        _ => Ok(Fitting { arms: fit, left_out }),
    }
}

/// Runs all arms, in order.
///
/// # Errors
///
/// When an arm does not fit the ladder, e.g. the paper's design on other than three levels.
pub fn compare(setting: &Setting<'_>) -> Result<DesignComparison, LadderError> {
    let ladder = setting.source.ladder()?;
    let resamples: Vec<Vec<Tally>> = (0..setting.n_resamples)
        .into_par_iter()
        .map(|resample| one_resample(setting, &ladder, resample as u64))
        .collect::<Result<_, _>>()?;
    let mut tallies = vec![Tally::default(); setting.arms.len()];
    // Added in order, so that threads do not change the sums.
    for resample in &resamples {
        for (tally, more) in tallies.iter_mut().zip(resample) {
            tally.join(more);
        }
    }
    let baseline = tallies.first().copied().unwrap_or_default();
    let n_stimuli = real(ladder.n_stimuli());
    let outcome = |(arm, tally): (&Arm, &Tally)| ArmOutcome {
        design: arm.design.name(),
        has_references: arm.has_references,
        estimator: arm.estimator,
        are_cells_shrunk: arm.are_cells_shrunk,
        share_asked: tally.n_asked / tally.n_tests.max(1.0) / n_stimuli,
        accuracy: tally.accuracy.errors(&baseline.accuracy),
        score: tally.score.errors(&baseline.score),
        by_level: tally.by_level.errors(&baseline.by_level),
        cells: tally.cells.errors(&baseline.cells),
    };
    Ok(DesignComparison {
        is_simulated: matches!(setting.source, Source::Simulated(_)),
        n_models: match &setting.source {
            Source::Simulated(_) => population::MODELS.len(),
            Source::Replayed { models, .. } => models.len(),
        },
        n_stimuli: ladder.n_stimuli(),
        n_strata: ladder.strata().len(),
        budget: setting.budget,
        n_resamples: setting.n_resamples,
        seed: setting.seed.0,
        confidence: setting.confidence,
        arms: setting.arms.iter().zip(&tallies).map(outcome).collect(),
    })
}

/// Every model in turn under test, with the others as references.
fn one_resample(
    setting: &Setting<'_>,
    ladder: &Ladder,
    resample: u64,
) -> Result<Vec<Tally>, LadderError> {
    let seed = Seed(setting.seed.0.wrapping_add(resample.wrapping_mul(1_000_003)));
    let models: Vec<Vec<bool>> = match &setting.source {
        Source::Simulated(world) => world.answers(seed),
        Source::Replayed { models, .. } => models.iter().map(|(_, right)| right.clone()).collect(),
    };
    let mut tallies = vec![Tally::default(); setting.arms.len()];
    for (model, answers) in models.iter().enumerate() {
        // The same model under another name would know too much.
        let is_other = |(other, right): &(usize, &Vec<bool>)| *other != model && *right != answers;
        let others = models.iter().enumerate().filter(is_other);
        let others = others
            .map(|(other, right)| (other.to_string(), right.iter().copied().map(Some).collect()));
        let references = ReferenceModels::new(others.collect())
            .expect("because every model answered every stimulus");
        let hints = references.hints(ladder);
        let truth = Truth::new(ladder, answers);
        let mut samples: Vec<((&Design, bool), Record<'_>)> = Vec::new();
        for (arm, tally) in setting.arms.iter().zip(&mut tallies) {
            let known = samples.iter().position(|(key, _)| *key == arm.sample_key());
            let idx = match known {
                Some(idx) => idx,
                None => {
                    let seed = Seed(seed.0.wrapping_mul(31).wrapping_add(model as u64));
                    let record = sample(setting, ladder, arm, &hints, answers, seed)?;
                    samples.push((arm.sample_key(), record));
                    samples.len() - 1
                }
            };
            judge(&samples[idx].1, arm, &truth, setting.confidence, tally)?;
        }
    }
    Ok(tallies)
}

fn sample<'a>(
    setting: &Setting<'_>,
    ladder: &'a Ladder,
    arm: &Arm,
    hints: &'a Hints,
    answers: &[bool],
    seed: Seed,
) -> Result<Record<'a>, LadderError> {
    let hints = arm.has_references.then_some(hints);
    let mut test = AdaptiveTest::new(ladder, hints, &arm.design, setting.budget, None, seed)?;
    loop {
        let questions = test.next_round()?;
        if questions.is_empty() {
            return Ok(test.into_record());
        }
        let told: Vec<Option<bool>> =
            questions.iter().map(|question| Some(answers[question.stimulus])).collect();
        test.answer(&told);
    }
}

/// What all answers say.
struct Truth {
    accuracy: Vec<f64>,
    score: Vec<f64>,
    by_level: Vec<f64>,
    cells: Vec<f64>,
}

impl Truth {
    fn new(ladder: &Ladder, answers: &[bool]) -> Self {
        let mut means = Vec::new();
        for stratum in ladder.strata() {
            let n_right = stratum.stimuli.iter().filter(|idx| answers[**idx]).count();
            means.push(real(n_right) / real(stratum.stimuli.len()));
        }
        let value = |kind, is_in: &dyn Fn(&Place) -> bool| {
            let group = ladder.group(kind, is_in)?;
            Some(group.strata.iter().map(|(idx, weight)| weight * means[*idx]).sum::<f64>())
        };
        let (n_attributes, n_levels) = (ladder.attributes().len(), ladder.levels().len());
        let by_attribute = |kind| -> Vec<f64> {
            let of = |idx| value(kind, &|place: &Place| place.attribute_idx == idx);
            (0..n_attributes).filter_map(of).collect()
        };
        let by_level = |idx: usize| value(Kind::Accuracy, &|place| is_both(place, idx, n_levels));
        let cells = cells_of(ladder);
        Self {
            accuracy: by_attribute(Kind::Accuracy),
            score: by_attribute(Kind::Score),
            by_level: (0..n_attributes * n_levels).filter_map(by_level).collect(),
            cells: cells
                .iter()
                .map(|strata| strata.iter().map(|(idx, weight)| weight * means[*idx]).sum())
                .collect(),
        }
    }
}

fn is_both(place: &Place, idx: usize, n_levels: usize) -> bool {
    place.attribute_idx == idx / n_levels && place.level_idx == idx % n_levels
}

/// Strata of each attribute and class with their weights, in the order of strata.
fn cells_of(ladder: &Ladder) -> Vec<Vec<(usize, f64)>> {
    let strata = ladder.strata();
    let of = |idx: usize| (strata[idx].place.attribute_idx, strata[idx].place.class_idx);
    let all: Vec<usize> = (0..strata.len()).collect();
    all.chunk_by(|a, b| of(*a) == of(*b))
        .map(|members| {
            let n: usize = members.iter().map(|idx| strata[*idx].stimuli.len()).sum();
            let weight = |idx: &usize| (*idx, real(strata[*idx].stimuli.len()) / real(n));
            members.iter().map(weight).collect()
        })
        .collect()
}

fn judge(
    record: &Record<'_>,
    arm: &Arm,
    truth: &Truth,
    confidence: f64,
    tally: &mut Tally,
) -> Result<(), LadderError> {
    let ladder = record.ladder();
    let estimator = arm.estimator.of(record)?;
    tally.n_asked += real(record.asked().len());
    tally.n_tests += 1.0;
    let add = |sums: &mut Sums, kind, truth: f64, is_in: &dyn Fn(&Place) -> bool| {
        let found = ladder.group(kind, is_in).and_then(|group| estimator.estimate(&group));
        if let Some(estimate) = found.and_then(|moments| interval(&moments, confidence)) {
            sums.add(estimate.value, Some(holds(&estimate, truth)), truth);
        }
    };
    let n_levels = ladder.levels().len();
    for (idx, value) in truth.accuracy.iter().enumerate() {
        let is_in = |place: &Place| place.attribute_idx == idx;
        add(&mut tally.accuracy, Kind::Accuracy, *value, &is_in);
        add(&mut tally.score, Kind::Score, truth.score[idx], &is_in);
    }
    for (idx, value) in truth.by_level.iter().enumerate() {
        add(&mut tally.by_level, Kind::Accuracy, *value, &|place| is_both(place, idx, n_levels));
    }
    if arm.are_cells_shrunk {
        for ((_, moments), value) in cells(record).iter().zip(&truth.cells) {
            if let Some(estimate) = interval(moments, confidence) {
                tally.cells.add(estimate.value, Some(holds(&estimate, *value)), *value);
            }
        }
    } else {
        for (strata, value) in cells_of(ladder).into_iter().zip(&truth.cells) {
            let group = crate::adaptive::ladder::Group { kind: Kind::Accuracy, strata };
            if let Some(moments) = estimator.estimate(&group) {
                tally.cells.add(moments.value, None, *value);
            }
        }
    }
    Ok(())
}

fn holds(estimate: &Estimate, truth: f64) -> bool {
    // A hair's breadth for sums in another order.
    estimate.low <= truth + 1e-12 && truth - 1e-12 <= estimate.high
}
