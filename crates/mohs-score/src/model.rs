//! Measures of models: what predictions say, by how hard people find the stimuli.
//!
//! One measure is one file in `model/`; this file brings them together, and `findings.rs` is the
//! models chapter of `summary.json`. `table.rs` joins predictions with stimuli and difficulty and
//! decides which rows count, `bands.rs` sorts stimuli from easy to hard, `redraw.rs` makes
//! intervals that hold for other classes and stimuli.
//!
//! Nothing here runs a model. A row without an answer is counted and never averaged.

mod accuracy;
mod axes;
mod bands;
mod calibration;
mod consistency;
mod findings;
mod gap;
mod groups;
pub mod hierarchy;
pub mod learning;
mod paired;
mod redraw;
pub mod robustness;
mod surprises;
mod table;

use std::collections::BTreeMap;

use mohs_data::{
    Caveat, Caveats, Difficulty, ModelName, Prediction, Seed, Stimulus, StimulusId, Trial,
};

pub use self::findings::{
    AccuracyGap, Axis, BandAccuracy, BandGap, BandOrigin, Calibration, CalibrationBin, Cell,
    Cluster, ConditionAccuracy, ConsistencyOf, FailureCount, Family, GroupAccuracy, LearningSpeed,
    Method, ModelFinding, ModelFindings, PairedComparison, PeopleConsistency, Surprise, Surprises,
    View,
};
use self::redraw::Redraw;
use self::table::Table;

/// Stimuli a band should have.
const N_IN_BAND_WANTED: usize = 20;
/// Classes below which drawing them is called rough.
const N_CLASSES_WANTED: usize = 10;

/// How to score.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws.
    pub n_resamples: usize,
    /// Bands to cut difficulty into, where the file names none.
    pub n_bands: usize,
    /// Bins of confidence; fewer when there are fewer than ten answers for each.
    pub n_bins: usize,
    /// Power at which the minimum detectable effect is stated.
    pub power: f64,
    /// The measure to take from the difficulties; needed when they have several.
    pub difficulty_measure: Option<String>,
    /// What the bootstrap draws; by default classes, and stimuli when there are no classes.
    pub cluster: Option<Cluster>,
    /// The two data sets of the gap; by default the only two, the easier one first.
    pub datasets: Option<(String, String)>,
    /// How many bands from the easiest on count as easy in the gap; by default a third.
    pub n_easy_bands: Option<usize>,
    /// How many bands from the hardest back count as hard in the gap; by default a third.
    pub n_hard_bands: Option<usize>,
    /// Stimuli listed as surprises, of each kind.
    pub n_surprises: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            confidence: 0.95,
            n_resamples: 1_000,
            n_bands: 3,
            n_bins: 15,
            power: 0.8,
            difficulty_measure: None,
            cluster: None,
            datasets: None,
            n_easy_bands: None,
            n_hard_bands: None,
            n_surprises: 24,
        }
    }
}

/// Everything scoring needs.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// What models answered.
    pub predictions: &'a [Prediction],
    /// The stimuli; may be empty when predictions say what is right.
    pub stimuli: &'a [Stimulus],
    /// How hard people find the stimuli; may be empty.
    pub difficulties: &'a [Difficulty],
    /// What people answered; may be empty.
    pub trials: &'a [Trial],
    /// Which models belong together.
    pub families: &'a BTreeMap<ModelName, Family>,
    /// How to score.
    pub options: &'a Options,
    /// Seed of the draws.
    pub seed: Seed,
}

/// Why predictions cannot be scored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScoreError {
    /// Nothing to score.
    #[error("there are no predictions to score")]
    NoPredictions,
    /// No model answered anything.
    #[error("all {n_predictions} predictions failed, the first because: {reason}")]
    OnlyFailures {
        /// Rows.
        n_predictions: usize,
        /// Why the first one failed.
        reason: String,
    },
    /// Two rows about the same.
    #[error(
        "model `{model}` has {n} predictions for stimulus `{stimulus}` under probe `{probe}`{}; \
         expected one",
        condition.as_ref().map(|text| format!(" with {text}")).unwrap_or_default()
    )]
    RepeatedPrediction {
        /// The model.
        model: ModelName,
        /// The stimulus.
        stimulus: StimulusId,
        /// The probe.
        probe: String,
        /// The condition and its value.
        condition: Option<String>,
        /// How many rows.
        n: usize,
    },
    /// A stimulus twice among the stimuli.
    #[error("the table of stimuli has `{stimulus}` more than once")]
    RepeatedStimulus {
        /// The stimulus.
        stimulus: StimulusId,
    },
    /// A stimulus twice among the difficulties.
    #[error("stimulus `{stimulus}` has more than one difficulty by the measure `{measure}`")]
    RepeatedDifficulty {
        /// The stimulus.
        stimulus: StimulusId,
        /// The measure.
        measure: String,
    },
    /// Difficulties by several measures.
    #[error(
        "difficulties are by several measures ({}); expected one, or a choice",
        in_words(measures)
    )]
    SeveralMeasures {
        /// The measures.
        measures: Vec<String>,
    },
    /// The measure asked for is not there.
    #[error("no difficulty is by the measure `{wanted}`; found {}", in_words(measures))]
    UnknownMeasure {
        /// The measure asked for.
        wanted: String,
        /// The measures there are.
        measures: Vec<String>,
    },
    /// Difficulties of other stimuli.
    #[error(
        "none of the {n_difficulties} stimuli with a difficulty was shown to a model: difficulties \
         are for example of `{difficulty}`, predictions of `{prediction}`"
    )]
    OtherStimuli {
        /// Stimuli with a difficulty.
        n_difficulties: usize,
        /// One of them.
        difficulty: StimulusId,
        /// One that was shown.
        prediction: StimulusId,
    },
    /// The data set asked for is not there.
    #[error(
        "no stimulus shown to a model is of the data set `{wanted}`; found {}",
        in_words(known)
    )]
    UnknownDataset {
        /// The data set asked for.
        wanted: String,
        /// The data sets there are.
        known: Vec<String>,
    },
    /// An option makes no sense.
    #[error("`{name}` must be {expected}, found {found}")]
    BadOption {
        /// The option.
        name: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
}

fn in_words(names: &[String]) -> String {
    if names.is_empty() {
        return "none".into();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Scores predictions.
///
/// The order of rows decides the order of models and nothing else.
pub fn score(input: &Input<'_>) -> Result<ModelFindings, ScoreError> {
    let options = input.options;
    check(options)?;
    let table = Table::new(input)?;
    let fits = table.stimuli.iter().any(|shown| shown.difficulty.is_some());
    if let (Some(row), Some(prediction), false) =
        (input.difficulties.first(), input.predictions.first(), fits)
    {
        return Err(ScoreError::OtherStimuli {
            n_difficulties: table.n_unused_difficulties,
            difficulty: row.stimulus.clone(),
            prediction: prediction.stimulus.clone(),
        });
    }
    let redraw = Redraw::new(&table, options, input.seed);
    let mut caveats = Caveats::default();
    doubts(&table, &redraw, &mut caveats);
    let compared = paired::all_pairs(&table, &redraw, options.power);
    let is_alike = |pair: &&PairedComparison| {
        pair.n_only_first + pair.n_only_second < paired::N_DISCORDANT_WANTED
    };
    let n_alike = compared.comparisons.iter().filter(is_alike).count();
    if 0 < n_alike {
        let n_wanted = paired::N_DISCORDANT_WANTED;
        caveats.add(Caveat::FewDiscordant { n_pairs: n_alike, n_wanted });
    }
    let learning = learning::of_models(&table, &redraw);
    if !learning.is_empty() {
        caveats.add(Caveat::EpochsDepend);
    }
    let gap = gap::of_models(&table, &redraw, options, input.families, &mut caveats)?;
    let n_failed = table.rows.iter().filter(|row| row.prediction.answer().is_none()).count();
    let bands = table.bands.as_ref();
    Ok(ModelFindings {
        method: Method {
            confidence: options.confidence,
            n_clusters: redraw.n_clusters,
            n_resamples: options.n_resamples,
            cluster: redraw.cluster,
            difficulty: table
                .stimuli
                .iter()
                .find_map(|shown| shown.difficulty.map(|row| row.measure.clone())),
            band_origin: bands.map(|bands| bands.origin),
            power: options.power,
            seed: input.seed.0,
        },
        n_predictions: table.rows.len(),
        n_answered: table.rows.len() - n_failed,
        n_failed,
        n_unjudged: n_unjudged(&table),
        n_stimuli: table.stimuli.len(),
        view: table.view.clone(),
        bands: bands.map_or_else(Vec::new, |bands| cells(&table, &bands.names)),
        models: model_findings(&table, &redraw, input),
        consistency: consistency::of_pairs(&table, &compared.comparisons, options, input.seed),
        comparisons: compared.comparisons,
        ties: compared.ties,
        gap,
        with_people: consistency::with_people(&table, input.trials, options, input.seed),
        labels: groups::labels(&table, options.confidence),
        attributes: groups::attributes(&table, options.confidence),
        axes: axes::of(&table, options.confidence),
        surprises: surprises::of(&table, options.n_surprises),
        learning,
        failures: table.failures(),
        caveats,
    })
}

fn check(options: &Options) -> Result<(), ScoreError> {
    let bad = |name, expected, found: String| Err(ScoreError::BadOption { name, expected, found });
    let is_share = |share: f64| 0.0 < share && share < 1.0;
    if !is_share(options.confidence) {
        return bad("confidence", "between 0 and 1", options.confidence.to_string());
    }
    if !is_share(options.power) {
        return bad("power", "between 0 and 1", options.power.to_string());
    }
    for (name, n) in [
        ("n_resamples", options.n_resamples),
        ("n_bands", options.n_bands),
        ("n_bins", options.n_bins),
        ("n_easy_bands", options.n_easy_bands.unwrap_or(1)),
        ("n_hard_bands", options.n_hard_bands.unwrap_or(1)),
    ] {
        if n == 0 {
            return bad(name, "at least 1", n.to_string());
        }
    }
    Ok(())
}

fn n_unjudged(table: &Table<'_>) -> usize {
    let is_unjudged =
        |row: &&table::Row<'_>| row.prediction.answer().is_some() && row.is_right.is_none();
    table.rows.iter().filter(is_unjudged).count()
}

fn cells(table: &Table<'_>, names: &[String]) -> Vec<Cell> {
    let cell = |(idx, name): (usize, &String)| Cell {
        name: name.clone(),
        n_stimuli: table.band(idx).len(),
    };
    names.iter().enumerate().map(cell).collect()
}

fn model_findings(table: &Table<'_>, redraw: &Redraw, input: &Input<'_>) -> Vec<ModelFinding> {
    let accuracies = accuracy::of_models(table, redraw);
    let calibrations = calibration::of_models(table, redraw, input.options.n_bins);
    let mut n_failed = vec![0; table.models.len()];
    for row in table.rows.iter().filter(|row| row.prediction.answer().is_none()) {
        n_failed[row.model_idx] += 1;
    }
    table
        .models
        .iter()
        .zip(n_failed)
        .zip(accuracies)
        .zip(calibrations)
        .map(|(((model, n_failed), shares), (calibration, calibration_by_band))| ModelFinding {
            model: (*model).clone(),
            family: input.families.get(*model).cloned(),
            n_failed,
            accuracy: shares.overall,
            top_5: shares.top_5,
            mean_per_class: shares.mean_per_class,
            bands: shares.bands,
            drop: shares.drop,
            difficulty_correlation: shares.difficulty_correlation,
            calibration,
            calibration_by_band,
        })
        .collect()
}

/// Collects what weakens whatever is made of the rows.
fn doubts_of_rows(table: &Table<'_>, caveats: &mut Caveats) {
    let n_all = table.rows.len();
    let n_failed = table.rows.iter().filter(|row| row.prediction.answer().is_none()).count();
    if 0 < n_failed {
        caveats.add(Caveat::FailedPredictions { n_predictions: n_failed, n_all });
    }
    let n_unjudged = n_unjudged(table);
    if 0 < n_unjudged {
        caveats.add(Caveat::UnjudgedPredictions { n_predictions: n_unjudged, n_all });
    }
    if let Some(which) = &table.chosen {
        let n_predictions = table.view.n_predictions;
        caveats.add(Caveat::PartOfPredictions { which: which.clone(), n_predictions, n_all });
    }
    if 0 < table.n_unknown_stimuli {
        let n_unknown = table.n_unknown_stimuli;
        caveats.add(Caveat::UnknownStimuli { n_stimuli: n_unknown, n_all: table.stimuli.len() });
    }
}

/// Collects what weakens the findings as a whole.
fn doubts(table: &Table<'_>, redraw: &Redraw, caveats: &mut Caveats) {
    doubts_of_rows(table, caveats);
    let n_stimuli = table.stimuli.len();
    let n_without = table.stimuli.iter().filter(|shown| shown.difficulty.is_none()).count();
    if 0 < n_without && (n_without < n_stimuli || 0 < table.n_unused_difficulties) {
        caveats.add(Caveat::StimuliWithoutDifficulty { n_stimuli: n_without, n_all: n_stimuli });
    }
    let has_no_band =
        |shown: &&table::Shown<'_>| shown.difficulty.is_some() && shown.band_idx.is_none();
    let n_without_band = table.stimuli.iter().filter(has_no_band).count();
    if 0 < n_without_band {
        caveats.add(Caveat::StimuliWithoutBand { n_stimuli: n_without_band, n_all: n_stimuli });
    }
    if 0 < table.n_unused_difficulties {
        caveats.add(Caveat::DifficultiesUnused { n_stimuli: table.n_unused_difficulties });
    }
    let names = table.bands.iter().flat_map(|bands| bands.names.iter().enumerate());
    let small: Vec<String> = names
        .filter(|(idx, _)| table.band(*idx).len() < N_IN_BAND_WANTED)
        .map(|(_, name)| name.clone())
        .collect();
    if !small.is_empty() {
        caveats.add(Caveat::FewInBand { bands: small, n_wanted: N_IN_BAND_WANTED });
    }
    if redraw.cluster != Cluster::Stimulus && redraw.n_clusters < N_CLASSES_WANTED {
        caveats.add(Caveat::FewClasses { n_classes: redraw.n_clusters });
    }
    let with_gaps: Vec<String> = (0..table.models.len())
        .filter(|idx| calibration::has_gaps(table, *idx))
        .map(|idx| table.models[idx].to_string())
        .collect();
    if !with_gaps.is_empty() {
        caveats.add(Caveat::ConfidenceMissing { models: with_gaps });
    }
}
