//! What flash trials say: the findings of the viewing-time study, as data.
//!
//! These types cross a boundary: they are the viewing-time chapter of `summary.json`. Nothing is
//! computed here but the rows of `difficulty.csv`.

use mohs_data::{
    Caveats, Difficulty, Estimate, Extra, Label, Millis, MvtRule, ParticipantId, StimulusId,
};
use serde::{Deserialize, Serialize};

/// What flash trials say about stimuli and people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewingTime {
    /// How it was computed.
    pub method: Method,
    /// Trials read, before exclusions.
    pub n_trials_read: usize,
    /// Trials counted.
    pub n_trials: usize,
    /// Participants with at least one trial counted.
    pub n_participants: usize,
    /// Stimuli with at least one trial counted.
    pub n_stimuli: usize,
    /// What was set aside, by rule, in the order the rules were applied.
    pub exclusions: Vec<ExclusionCount>,
    /// Exposures tested, ascending.
    pub exposures: Vec<Millis>,
    /// Share of right answers over all trials.
    pub accuracy: Estimate,
    /// Share of right answers by exposure.
    pub accuracy_by_exposure: Vec<ExposurePoint>,
    /// Stimuli by minimum viewing time, and how accuracy grows within each band.
    pub bands: Vec<BandFinding>,
    /// Stimuli by difficulty score, in equal steps from 0 to 1.
    pub difficulty_histogram: Vec<HistogramBin>,
    /// Results by data set; one group when the stimuli name none.
    pub by_dataset: Vec<Group>,
    /// Results by label.
    pub by_label: Vec<Group>,
    /// Results by attribute and level, where stimuli have them; the name is `attribute · level`.
    pub by_level: Vec<Group>,
    /// The model behind the thresholds.
    pub model: ThresholdModel,
    /// Each stimulus, from easiest to hardest.
    pub stimuli: Vec<StimulusFinding>,
    /// Each participant, by id.
    pub participants: Vec<ParticipantFinding>,
    /// Reasons for less trust.
    pub caveats: Caveats,
}

impl ViewingTime {
    /// Returns the rows of `difficulty.csv`, from easiest to hardest.
    pub fn difficulties(&self) -> Vec<Difficulty> {
        self.stimuli.iter().map(|stimulus| self.difficulty_of(stimulus)).collect()
    }

    fn difficulty_of(&self, stimulus: &StimulusFinding) -> Difficulty {
        let ms = |mvt: Option<Millis>| mvt.map_or(String::new(), |mvt| mvt.value().to_string());
        // Six digits say more than the data do and keep the file readable.
        let digits =
            |x: f64| format!("{:.6}", x).trim_end_matches('0').trim_end_matches('.').to_owned();
        let threshold = &stimulus.threshold_ms;
        let mut names = vec![
            "n_errors".to_owned(),
            "balanced_difficulty".to_owned(),
            "mvt_ms".to_owned(),
            "mvt_first_ms".to_owned(),
            "mvt_stays_ms".to_owned(),
            "threshold_ms".to_owned(),
            "threshold_low_ms".to_owned(),
            "threshold_high_ms".to_owned(),
            "model_band".to_owned(),
        ];
        let mut values = vec![
            stimulus.n_errors.to_string(),
            digits(stimulus.balanced_difficulty.value),
            ms(stimulus.mvt),
            ms(stimulus.mvt_first),
            ms(stimulus.mvt_stays),
            digits(threshold.value),
            digits(threshold.low),
            digits(threshold.high),
            stimulus.model_band.name(),
        ];
        for (exposure, p) in self.exposures.iter().zip(&stimulus.p_mvt_at_most) {
            names.push(format!("p_mvt_at_most_{}_ms", exposure.value()));
            values.push(digits(*p));
        }
        Difficulty {
            stimulus: stimulus.stimulus.clone(),
            measure: super::MEASURE.into(),
            estimate: stimulus.difficulty,
            band: Some(stimulus.band.name()),
            caveats: stimulus.caveats.clone(),
            extra: Extra::from_pairs(names.iter().map(String::as_str).zip(values)),
        }
    }
}

/// How findings were computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// Share of right answers from which a stimulus counts as recognised.
    pub criterion: f64,
    /// The rule for stimuli that are not monotone.
    pub rule: MvtRule,
    /// Chance of a right guess.
    pub guess_rate: f64,
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws over participants and stimuli.
    pub n_resamples: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// How much one rule set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExclusionCount {
    /// The rule's name.
    pub rule: String,
    /// What it says, with its threshold.
    pub meaning: String,
    /// Participants set aside whole.
    pub n_participants: usize,
    /// Trials set aside, those of whole participants included.
    pub n_trials: usize,
}

/// Accuracy at one exposure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExposurePoint {
    /// The exposure.
    pub exposure: Millis,
    /// Share of right answers; interval by bootstrap over participants and stimuli; n = trials.
    pub accuracy: Estimate,
}

/// A class of stimuli by minimum viewing time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Band {
    /// Position, 0 is the easiest; the last band holds stimuli never recognised.
    pub idx: usize,
    /// The minimum viewing time; `None` in the last band.
    pub mvt: Option<Millis>,
}

impl Band {
    /// Returns the name in tables: `17 ms`, or `never`.
    pub fn name(&self) -> String {
        self.mvt.map_or_else(|| "never".into(), |mvt| mvt.to_string())
    }
}

/// The stimuli of one band.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BandFinding {
    /// The band.
    pub band: Band,
    /// Stimuli in it by the counting rule.
    pub n_stimuli: usize,
    /// Share of all stimuli by the counting rule; n = stimuli.
    pub share: Estimate,
    /// Share of all stimuli by the model, free of the counting rule's coin flips; n = stimuli.
    pub model_share: Estimate,
    /// Accuracy of its stimuli by exposure; empty when the band is.
    pub accuracy_by_exposure: Vec<ExposurePoint>,
}

/// How many stimuli have a difficulty score in a range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistogramBin {
    /// Lower end; belongs to the bin.
    pub low: f64,
    /// Upper end; belongs to the last bin only.
    pub high: f64,
    /// Stimuli in it, by data set, in the order of `by_dataset`.
    pub n_by_dataset: Vec<usize>,
}

/// Results of a group of stimuli.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Stimuli in it.
    pub n_stimuli: usize,
    /// Trials in it.
    pub n_trials: usize,
    /// Mean difficulty score (share of wrong answers) of its stimuli; n = stimuli.
    pub difficulty: Estimate,
    /// Geometric mean of model-based thresholds in ms; n = stimuli.
    pub threshold_ms: Estimate,
    /// Stimuli per band by the counting rule, in the order of `bands`.
    pub n_by_band: Vec<usize>,
    /// Share of right answers by exposure.
    pub accuracy_by_exposure: Vec<ExposurePoint>,
}

/// The fitted model of recognition over log exposure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThresholdModel {
    /// Chance of a right guess, fixed.
    pub guess_rate: f64,
    /// Chance of a wrong answer in spite of recognition.
    pub lapse_rate: f64,
    /// Median growth of log-odds of recognition per doubling of exposure.
    pub slope_per_doubling: f64,
    /// Spread of participants' ability, in log-odds.
    pub ability_sd: f64,
    /// Rounds of fitting.
    pub n_rounds: usize,
    /// The learned distribution of thresholds over stimuli.
    pub threshold_prior: Vec<PriorPoint>,
}

/// One point of the learned distribution of thresholds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriorPoint {
    /// Threshold.
    pub threshold: Millis,
    /// Share of stimuli expected near it.
    pub weight: f64,
}

/// What is known about one stimulus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StimulusFinding {
    /// Its id.
    pub stimulus: StimulusId,
    /// Its label, where known.
    pub label: Option<Label>,
    /// Its data set, where known.
    pub dataset: Option<String>,
    /// Its attribute, where known.
    pub attribute: Option<String>,
    /// Its level, where known.
    pub level: Option<String>,
    /// Trials and right answers by exposure tested.
    pub counts: Vec<ExposureCount>,
    /// Wrong answers over all trials: the paper's difficulty score.
    pub n_errors: usize,
    /// Share of wrong answers; Wilson interval; n = trials.
    pub difficulty: Estimate,
    /// Mean over exposures of the share wrong at each, so that unequal numbers of trials do not
    /// matter; Wilson interval; n = trials.
    pub balanced_difficulty: Estimate,
    /// Minimum viewing time by the chosen rule; `None` when never recognised.
    pub mvt: Option<Millis>,
    /// Minimum viewing time by the rule `first`.
    pub mvt_first: Option<Millis>,
    /// Minimum viewing time by the rule `stays`.
    pub mvt_stays: Option<Millis>,
    /// Band by the chosen rule.
    pub band: Band,
    /// Exposure at which a typical participant reaches the criterion, in ms: posterior median and
    /// credible interval; n = trials.
    pub threshold_ms: Estimate,
    /// Probability that the minimum viewing time is at most each exposure tested.
    pub p_mvt_at_most: Vec<f64>,
    /// Most probable band by the model.
    pub model_band: Band,
    /// Codes of the caveats that concern this stimulus.
    pub caveats: Vec<String>,
}

/// Trials and right answers at one exposure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ExposureCount {
    /// The exposure.
    pub exposure: Millis,
    /// Trials.
    pub n_trials: usize,
    /// Right answers.
    pub n_correct: usize,
}

/// What is known about one participant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParticipantFinding {
    /// The id.
    pub participant: ParticipantId,
    /// Share of right answers; Wilson interval; n = trials.
    pub accuracy: Estimate,
    /// Share of right answers at the longest exposure, where there are any.
    pub accuracy_at_longest: Option<Estimate>,
    /// Ability in log-odds against the typical participant; n = trials.
    pub ability: Estimate,
    /// Median time from onset to answer.
    pub median_rt: Option<Millis>,
}
