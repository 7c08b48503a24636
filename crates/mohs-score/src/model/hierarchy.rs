//! The ladder: does a model that solves hard stimuli solve easy ones, too?
//!
//! One measure is one file in `hierarchy/`; this file brings them together, and `findings.rs` is the
//! ladder chapter of `summary.json`. `order.rs` knows which level is harder, `ladder.rs` puts stimuli
//! into cells and levels, `numbers.rs` counts all of a model's answers in one pass. The measures:
//! `pattern.rs`, `learning_score.rs` (closed form, baseline, excess), `sampled.rs` (as published),
//! `by_label.rs`, `weighted.rs`, `with_accuracy.rs`, `confidence.rs` and `validity.rs`.
//!
//! Nothing here runs a model. A cell that lacks a level has no chain and is counted; a row without
//! an answer is counted and never averaged; an order of levels is never guessed from the alphabet.

mod by_label;
mod confidence;
mod findings;
mod ladder;
mod learning_score;
mod numbers;
mod order;
mod pattern;
mod sampled;
mod validity;
mod weighted;
mod with_accuracy;

use std::collections::BTreeMap;

use mohs_data::{
    Caveat, Caveats, Comparison, Difficulty, Estimate, ModelName, Prediction, Seed, Stimulus,
};

pub use self::findings::{
    CellKind, ComponentValidity, Hierarchy, LabelHierarchy, LadderFindings, LadderModel, LadderRow,
    LevelConfidence, LevelOrigin, LevelValidity, Method, PatternShare, SampledChains,
    ScoreCorrelation,
};
use self::ladder::Ladder;
use self::numbers::{Layout, Marked};
use self::with_accuracy::{N_MODELS_WANTED, SideBySide};
use super::redraw::{self, Redraw, widened};
use super::table::Table;
use super::{Cluster, N_CLASSES_WANTED, ScoreError};
use crate::human::bradley_terry;
use crate::proportion::{wilson, wilson_of_share};

/// Levels up to which all patterns are listed, not only the hierarchical ones.
pub const MOST_LISTED: usize = pattern::MOST_LISTED;

/// What says how hard stimuli are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum By {
    /// The column `level` of the stimuli, or human difficulty where there is none.
    #[default]
    Known,
    /// The column `level` of the stimuli.
    Level,
    /// Another column of the stimuli.
    Column(String),
    /// Bands of human difficulty.
    Difficulty,
}

/// How to score.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// What says how hard stimuli are.
    pub by: By,
    /// Levels from easiest to hardest, `a|b` for two on one step; empty for levels whose order is
    /// known.
    pub levels: Vec<String>,
    /// Weight of each level in the weighted score; empty for 1, 2, 4 and so on.
    pub weights: Vec<f64>,
    /// What a cell is; labels, where stimuli have no attribute.
    pub cells: CellKind,
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws.
    pub n_resamples: usize,
    /// Levels to cut a difficulty, or a scale of many numbers, into.
    pub n_bands: usize,
    /// The measure to take from the difficulties; needed when they have several.
    pub difficulty_measure: Option<String>,
    /// What the bootstrap draws; by default classes, and stimuli when there are no classes.
    pub cluster: Option<Cluster>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            by: By::Known,
            levels: Vec::new(),
            weights: Vec::new(),
            cells: CellKind::LabelAndAttribute,
            confidence: 0.95,
            n_resamples: 1_000,
            n_bands: 3,
            difficulty_measure: None,
            cluster: None,
        }
    }
}

/// Everything scoring needs.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// What models answered.
    pub predictions: &'a [Prediction],
    /// The stimuli, with their levels and attributes.
    pub stimuli: &'a [Stimulus],
    /// How hard people find the stimuli; may be empty.
    pub difficulties: &'a [Difficulty],
    /// Which of two stimuli people find harder; may be empty.
    pub comparisons: &'a [Comparison],
    /// How to score.
    pub options: &'a Options,
    /// Seed of the draws.
    pub seed: Seed,
}

/// Why a ladder cannot be scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LadderError {
    /// Nothing says how hard stimuli are.
    #[error("no stimulus that a model was shown has a level or a difficulty")]
    NoLevels,
    /// There is only one level.
    #[error(
        "a ladder needs at least two levels; found {}",
        level.as_ref().map_or("none".to_owned(), |level| format!("only `{level}`"))
    )]
    OneLevel {
        /// The level, where there is one.
        level: Option<String>,
    },
    /// Words whose order nobody gave.
    #[error(
        "the order of the levels is not known: {}; expected numbers, easy/medium/hard, or an order",
        super::in_words(levels)
    )]
    OrderUnknown {
        /// The levels, by the alphabet.
        levels: Vec<String>,
    },
    /// Stimuli have levels that the given order lacks.
    #[error("the order of levels ({}) lacks {}", given.join(", "), super::in_words(unknown))]
    UnknownLevels {
        /// The levels it lacks.
        unknown: Vec<String>,
        /// The order given.
        given: Vec<String>,
    },
    /// The given order names a level twice, or an empty one.
    #[error("the order of levels should name every level once, found `{level}` again or empty")]
    RepeatedLevel {
        /// The level.
        level: String,
    },
    /// The column asked for is not there.
    #[error("the stimuli have no column `{name}`; other columns are {}", super::in_words(known))]
    UnknownColumn {
        /// The column asked for.
        name: String,
        /// Further columns that there are.
        known: Vec<String>,
    },
    /// Weights that make no score.
    #[error("expected {n_levels} weights, none below 0 and not all 0, found {found:?}")]
    BadWeights {
        /// How many levels there are.
        n_levels: usize,
        /// What was given.
        found: Vec<f64>,
    },
    /// What joins go wrong with anywhere.
    #[error(transparent)]
    Join(#[from] ScoreError),
    /// Comparisons that cannot be scored.
    #[error(transparent)]
    Comparisons(#[from] bradley_terry::Error),
}

/// Scores a ladder.
///
/// The order of rows decides the order of models and nothing else.
pub fn score(input: &Input<'_>) -> Result<LadderFindings, LadderError> {
    let options = input.options;
    let joined = super::Options {
        confidence: options.confidence,
        n_resamples: options.n_resamples,
        n_bands: options.n_bands,
        difficulty_measure: options.difficulty_measure.clone(),
        ..super::Options::default()
    };
    super::check(&joined)?;
    let families = BTreeMap::new();
    // Difficulties that nobody asked for must not fail a join.
    let needs_difficulty = match options.by {
        By::Difficulty => true,
        By::Known => input.stimuli.iter().all(|stimulus| stimulus.level.is_none()),
        By::Level | By::Column(_) => false,
    };
    let table = Table::new(&super::Input {
        predictions: input.predictions,
        stimuli: input.stimuli,
        difficulties: if needs_difficulty { input.difficulties } else { &[] },
        trials: &[],
        families: &families,
        options: &joined,
        seed: input.seed,
    })?;
    let ladder = Ladder::new(&table, input.stimuli, options)?;
    let weights = weighted::weights(ladder.levels.len(), &options.weights)?;
    let mut is_drawable = vec![false; table.stimuli.len()];
    for rung in &ladder.rungs {
        let idx = rung.stimulus_idx;
        is_drawable[idx] = table.answers.iter().any(|answers| 0 < answers.judged[idx]);
    }
    let how = redraw::How {
        cluster: options.cluster,
        confidence: options.confidence,
        n_resamples: options.n_resamples,
        seed: input.seed,
    };
    let redraw = Redraw::over(&table.stimuli, |idx| is_drawable[idx], how);
    let mut caveats = Caveats::default();
    super::doubts_of_rows(&table, &mut caveats);
    let patterns = pattern::listed(ladder.levels.len());
    let n_failed = |model_idx: usize| {
        let row = |idx: usize| table.answers[model_idx].row[idx];
        let rows = ladder.rungs.iter().filter_map(|rung| row(rung.stimulus_idx));
        rows.filter(|row| table.rows[*row as usize].prediction.answer().is_none()).count()
    };
    let marked: Vec<(usize, Marked<'_>)> = (0..table.models.len())
        .map(|idx| (idx, Marked::new(&table, &ladder, idx, &weights, &patterns)))
        .filter(|(idx, marked)| 0 < marked.count(|_| true).1 || 0 < n_failed(*idx))
        .collect();
    let layout = Layout {
        n_levels: ladder.levels.len(),
        n_attributes: ladder.attributes.len(),
        n_patterns: patterns.len(),
    };
    let all = |weights: &[u32]| -> Vec<f64> {
        marked.iter().flat_map(|(_, marked)| marked.numbers(weights)).collect()
    };
    let numbers = all(&vec![1; table.stimuli.len()]);
    let draws = redraw.draws(all);
    let scored = Scored {
        ladder: &ladder,
        layout,
        redraw: &redraw,
        weights: &weights,
        patterns: &patterns,
        chains: sampled::chains(&ladder, input.seed),
        numbers: &numbers,
        draws: &draws,
        seed: input.seed,
    };
    let models: Vec<LadderModel> = marked
        .iter()
        .enumerate()
        .map(|(place, (idx, marked))| {
            scored.model(table.models[*idx], n_failed(*idx), marked, place)
        })
        .collect();
    let names: Vec<&ModelName> = marked.iter().map(|(idx, _)| table.models[*idx]).collect();
    let side_by_side = SideBySide { redraw: &redraw, layout, numbers: &numbers, draws: &draws };
    let strata = ladder.strata();
    let cells: Vec<&[usize]> = strata.chunks(ladder.levels.len()).collect();
    doubts(&table, &ladder, &cells, &redraw, &models, &mut caveats);
    Ok(LadderFindings {
        method: Method {
            by: ladder.origin,
            tag: ladder.tag.clone(),
            cells: ladder.kind,
            weights: weights.clone(),
            confidence: options.confidence,
            n_clusters: redraw.n_clusters,
            n_resamples: options.n_resamples,
            cluster: redraw.cluster,
            seed: input.seed.0,
        },
        n_predictions: table.rows.len(),
        n_failed: table.rows.iter().filter(|row| row.prediction.answer().is_none()).count(),
        n_unjudged: super::n_unjudged(&table),
        n_stimuli: ladder.rungs.len(),
        view: table.view.clone(),
        levels: ladder.level_sizes(),
        attributes: ladder.attribute_sizes(),
        n_cells: cells.len(),
        n_complete_cells: cells.iter().filter(|levels| is_complete(levels)).count(),
        with_accuracy: side_by_side.correlations(&names),
        models,
        validity: validity::of_levels(
            input.comparisons,
            &table,
            &ladder,
            input.stimuli,
            options,
            input.seed,
            &mut caveats,
        )?,
        failures: table.failures(),
        caveats,
    })
}

fn is_complete(levels: &[usize]) -> bool {
    levels.iter().all(|n| 0 < *n)
}

/// Everything computed, on its way to findings.
struct Scored<'a> {
    ladder: &'a Ladder<'a>,
    layout: Layout,
    redraw: &'a Redraw,
    weights: &'a [f64],
    patterns: &'a [Vec<bool>],
    chains: Vec<Vec<usize>>,
    /// Numbers of all models, one after the other.
    numbers: &'a [f64],
    draws: &'a [Vec<f64>],
    seed: Seed,
}

impl Scored<'_> {
    fn model(
        &self,
        model: &ModelName,
        n_failed: usize,
        marked: &Marked<'_>,
        place: usize,
    ) -> LadderModel {
        let first = place * self.layout.width();
        let confidence = self.redraw.confidence;
        let sampled = sampled::patterns(&self.chains, marked);
        let of_levels = 0..self.layout.n_levels;
        LadderModel {
            model: model.clone(),
            n_failed,
            overall: self.row(marked, first, 0),
            attributes: (1..=self.layout.n_attributes)
                .map(|group| self.row(marked, first, group))
                .collect(),
            labels: self.labels(marked, first),
            patterns: self.pattern_shares(marked, first, &sampled),
            sampled: sampled::share(&sampled, confidence),
            confidence: of_levels
                .map(|level| {
                    let column = first + self.layout.confidence(level);
                    let mean = |n| self.estimate(column, n);
                    confidence::of_level(self.ladder, marked, level, mean)
                })
                .collect(),
        }
    }

    fn estimate(&self, column: usize, n: usize) -> Option<Estimate> {
        self.redraw.estimate(self.numbers[column], self.draws, column, n)
    }

    /// Returns an estimate of a share over cells. Where draws do not vary, or leave no chain, it has
    /// Wilson's interval as if every cell was one chain: certainty would be a lie.
    fn share_of_cells(&self, column: usize, n_cells: usize) -> Option<Estimate> {
        let drawn = self.estimate(column, n_cells).filter(|drawn| drawn.low < drawn.high);
        let share = self.numbers[column].clamp(0.0, 1.0);
        drawn.or_else(|| wilson_of_share(share, n_cells, self.redraw.confidence))
    }

    fn row(&self, marked: &Marked<'_>, first: usize, group: usize) -> LadderRow {
        let (layout, confidence) = (self.layout, self.redraw.confidence);
        let is_in = |attribute_idx: usize| group == 0 || group == attribute_idx + 1;
        let share = |column: usize, (n_right, n): (usize, usize)| {
            let plain = wilson(n_right, n, confidence)?;
            let drawn = self.estimate(first + column, n);
            Some((plain, drawn.map_or(plain, |drawn| widened(drawn, Some(plain)))))
        };
        let levels: Vec<Option<(Estimate, Estimate)>> = (0..layout.n_levels)
            .map(|level| {
                let counts =
                    marked.count(|rung| is_in(rung.attribute_idx) && rung.level_idx == level);
                share(layout.level(group, level), counts)
            })
            .collect();
        let plain: Vec<Option<Estimate>> =
            levels.iter().map(|level| Some(level.as_ref()?.0)).collect();
        let score = weighted::of_levels(self.weights, &plain, confidence).map(|plain| {
            let drawn = self.estimate(first + layout.score(group), plain.n);
            drawn.map_or(plain, |drawn| widened(drawn, Some(plain)))
        });
        let all = marked.count(|rung| is_in(rung.attribute_idx));
        LadderRow {
            accuracy: share(layout.accuracy(group), all).map(|both| both.1),
            levels: levels.into_iter().map(|level| Some(level?.1)).collect(),
            score,
            hierarchy: self.hierarchy(marked, first, group),
        }
    }

    fn hierarchy(&self, marked: &Marked<'_>, first: usize, group: usize) -> Option<Hierarchy> {
        let is_in = |cell_idx: usize| {
            let of_group = self.ladder.cells[cell_idx].group_idx + 1 == group;
            group == 0 || (self.ladder.kind == CellKind::LabelAndAttribute && of_group)
        };
        let n_cells = marked.complete_cells().filter(|(cell_idx, _)| is_in(*cell_idx)).count();
        if n_cells == 0 {
            return None;
        }
        Some(Hierarchy {
            score: self.share_of_cells(first + self.layout.hierarchy(group), n_cells)?,
            baseline: self.share_of_cells(first + self.layout.baseline(group), n_cells)?,
            excess: self
                .estimate(first + self.layout.excess(group), n_cells)
                .filter(|excess| excess.low < excess.high),
        })
    }

    fn labels(&self, marked: &Marked<'_>, first: usize) -> Vec<LabelHierarchy> {
        let baseline = |group: usize| match self.ladder.kind {
            CellKind::LabelAndAttribute => self.numbers[first + self.layout.baseline(group + 1)],
            CellKind::Label => self.numbers[first + self.layout.baseline(0)],
        };
        let baselines: Vec<f64> = (0..self.ladder.n_groups()).map(baseline).collect();
        by_label::of_model(self.ladder, marked, &baselines, self.redraw.confidence, self.seed)
    }

    fn pattern_shares(
        &self,
        marked: &Marked<'_>,
        first: usize,
        sampled: &[Vec<bool>],
    ) -> Vec<PatternShare> {
        let cells: Vec<&[(usize, usize)]> = marked.complete_cells().map(|(_, cell)| cell).collect();
        let share = |(idx, right): (usize, &Vec<bool>)| {
            let counts = cells.iter().map(|cell| pattern::count(right, cell));
            Some(PatternShare {
                right: right.clone(),
                is_hierarchical: pattern::is_hierarchical(right),
                n_all: counts.fold(0, u64::saturating_add),
                n_sampled: sampled.iter().filter(|other| *other == right).count(),
                share: self.share_of_cells(first + self.layout.pattern(idx), cells.len())?,
            })
        };
        if cells.is_empty() {
            return Vec::new();
        }
        self.patterns.iter().enumerate().filter_map(share).collect()
    }
}

/// Collects what weakens the findings as a whole.
fn doubts(
    table: &Table<'_>,
    ladder: &Ladder<'_>,
    cells: &[&[usize]],
    redraw: &Redraw,
    models: &[LadderModel],
    caveats: &mut Caveats,
) {
    let (n_shown, n_on) = (table.stimuli.len(), ladder.rungs.len());
    if n_on < n_shown {
        caveats.add(Caveat::StimuliWithoutLevel { n_stimuli: n_shown - n_on, n_all: n_shown });
    }
    if !ladder.empty.is_empty() {
        caveats.add(Caveat::LevelsWithoutStimuli { levels: ladder.empty.clone() });
    }
    let not_shown = ladder.not_shown();
    if !not_shown.is_empty() {
        caveats.add(Caveat::LevelsNotShown { levels: not_shown });
    }
    if !ladder.tied.is_empty() {
        caveats.add(Caveat::LevelsTied { levels: ladder.tied.clone() });
    }
    let n_rows = |model: &LadderModel| model.overall.accuracy.map_or(0, |a| a.n) + model.n_failed;
    let partial: Vec<(String, usize)> = models
        .iter()
        .map(|model| (model.model.to_string(), n_rows(model)))
        .filter(|(_, n)| *n < n_on)
        .collect();
    if !partial.is_empty() {
        caveats.add(Caveat::ModelsSawOthers { models: partial, n_all: n_on });
    }
    let complete: Vec<&&[usize]> = cells.iter().filter(|levels| is_complete(levels)).collect();
    if complete.len() < cells.len() {
        let (n_cells, n_all) = (cells.len() - complete.len(), cells.len());
        caveats.add(Caveat::IncompleteCells { n_cells, n_all });
    }
    let n_single = complete.iter().filter(|levels| levels.iter().all(|n| *n == 1)).count();
    if 0 < n_single {
        caveats.add(Caveat::SingleChains { n_cells: n_single, n_all: complete.len() });
    }
    if redraw.cluster != Cluster::Stimulus && redraw.n_clusters < N_CLASSES_WANTED {
        caveats.add(Caveat::FewClasses { n_classes: redraw.n_clusters });
    }
    if models.len() < N_MODELS_WANTED {
        let (n_models, n_wanted) = (models.len(), N_MODELS_WANTED);
        caveats.add(Caveat::FewModels { n_models, n_wanted });
    }
    let is_turned = |model: &&LadderModel| {
        let levels: Vec<&Estimate> = model.overall.levels.iter().flatten().collect();
        levels.windows(2).any(|pair| pair[0].high < pair[1].low)
    };
    let turned: Vec<String> =
        models.iter().filter(is_turned).map(|model| model.model.to_string()).collect();
    if !turned.is_empty() {
        caveats.add(Caveat::LevelsNotHarder { models: turned });
    }
    let with_gaps: Vec<String> = models
        .iter()
        .filter(|model| {
            let n: usize = model.confidence.iter().flatten().map(|level| level.mean.n).sum();
            0 < n && n < model.overall.accuracy.map_or(0, |accuracy| accuracy.n)
        })
        .map(|model| model.model.to_string())
        .collect();
    if !with_gaps.is_empty() {
        caveats.add(Caveat::ConfidenceMissing { models: with_gaps });
    }
}
