//! Attacks: how small a change fools a model, and does it take more on what people find easy?
//!
//! One measure is one file in `robustness/`; this file brings them together, and `findings.rs` is
//! the attacks chapter of `summary.json`. `series.rs` joins rows with stimuli and difficulty and
//! keeps norms, goals and kinds of search apart, `survival.rs` counts those that are never fooled,
//! `mean_epsilon.rs` and `trend.rs` hold ε against difficulty, `compare.rs` models against each
//! other; `masking.rs` and `audit.rs` say how far the attacks can be believed.
//!
//! Nothing here attacks a model. A stimulus that survives is never dropped and never given a
//! number, and a row without an outcome is counted and never averaged.

mod audit;
mod bounded;
mod compare;
mod findings;
mod log_rank;
mod masking;
mod mean_epsilon;
mod series;
mod survival;
mod trend;

use std::ops::Range;

use mohs_data::{
    Caveat, Caveats, Difficulty, How, MinEpsilon, ModelName, Search, Seed, Stimulus, StimulusId,
};

pub use self::findings::{
    Alone, AtHorizon, AttackFinding, AttackFindings, AttackTable, AttackedModel, Audit,
    CleanComparison, EpsilonGroup, GainComparison, LogRank, Masking, Method, RankCorrelation,
    SurvivalCurve, SurvivalStep, TrendTest,
};
use self::series::{Kind, Series, Table};
use super::redraw::{self, Redraw};
use super::table::failures;
use super::{Cell, Cluster, N_CLASSES_WANTED, N_IN_BAND_WANTED, ScoreError};
use crate::multiplicity::holm;

/// How to score.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws.
    pub n_resamples: usize,
    /// Bands to cut difficulty into, where the file names none.
    pub n_bands: usize,
    /// The measure to take from the difficulties; needed when they have several.
    pub difficulty_measure: Option<String>,
    /// What the bootstrap draws; by default classes, and stimuli when there are no classes.
    pub cluster: Option<Cluster>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
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
    /// What attacks found; rows of several models side by side.
    pub rows: &'a [MinEpsilon],
    /// The stimuli; may be empty.
    pub stimuli: &'a [Stimulus],
    /// How hard people find the stimuli; may be empty.
    pub difficulties: &'a [Difficulty],
    /// How to score.
    pub options: &'a Options,
    /// Seed of the draws.
    pub seed: Seed,
}

/// Why attacks cannot be scored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttackError {
    /// Nothing to score.
    #[error("there are no attacks to score")]
    NoRows,
    /// No attack came to an end.
    #[error("all {n_rows} attacks failed, the first because: {reason}")]
    OnlyFailures {
        /// Rows.
        n_rows: usize,
        /// Why the first one failed.
        reason: String,
    },
    /// Two rows about the same.
    #[error(
        "model `{model}` has more than one row for stimulus `{stimulus}` under attack `{attack}` \
         with the same norm, goal and settings; expected one"
    )]
    RepeatedRow {
        /// The model.
        model: ModelName,
        /// The stimulus.
        stimulus: StimulusId,
        /// The attack.
        attack: String,
    },
    /// Difficulties of other stimuli.
    #[error(
        "none of the {n_difficulties} stimuli with a difficulty was attacked: difficulties are for \
         example of `{difficulty}`, attacks on `{attacked}`"
    )]
    OtherStimuli {
        /// Stimuli with a difficulty.
        n_difficulties: usize,
        /// One of them.
        difficulty: StimulusId,
        /// One that was attacked.
        attacked: StimulusId,
    },
    /// What joins go wrong with anywhere.
    #[error(transparent)]
    Join(#[from] ScoreError),
}

/// Scores attacks.
///
/// The order of rows decides the order of models and attacks and nothing else; the first model is
/// the one that others are compared with.
pub fn score(input: &Input<'_>) -> Result<AttackFindings, AttackError> {
    let options = input.options;
    check(options)?;
    let table = Table::new(input)?;
    let bands = table.band_places();
    let mut is_drawable = vec![false; table.stimuli.len()];
    for series in &table.series {
        series.observed.iter().for_each(|o| is_drawable[o.stimulus_idx] = true);
    }
    for clean in &table.clean {
        clean.iter().enumerate().for_each(|(idx, answer)| is_drawable[idx] |= answer.is_some());
    }
    let redraw = Redraw::over(
        &table.stimuli,
        |idx| is_drawable[idx],
        redraw::How {
            cluster: options.cluster,
            confidence: options.confidence,
            n_resamples: options.n_resamples,
            seed: input.seed,
        },
    );
    let mut caveats = Caveats::default();
    doubts(input, &table, &bands, &redraw, &mut caveats);
    let models: Vec<AttackedModel> = table
        .models
        .iter()
        .zip(&table.clean)
        .map(|(model, clean)| {
            let (overall, by_band) = compare::clean_shares(clean, &bands, &redraw);
            AttackedModel {
                model: (*model).clone(),
                clean: overall,
                clean_by_band: by_band,
                masking: masking::of_model(input.rows, model, options.confidence),
            }
        })
        .collect();
    let suspects: Vec<String> = models
        .iter()
        .filter(|model| model.masking.is_suspect)
        .map(|model| model.model.to_string())
        .collect();
    if !suspects.is_empty() {
        caveats.add(Caveat::MaskedGradients { models: suspects });
    }
    let tables = tables(&table, &bands, &redraw, &mut caveats);
    let count = |keep: fn(&Search) -> bool| input.rows.iter().filter(|r| keep(&r.search)).count();
    let names = table.bands.iter().flat_map(|bands| &bands.names);
    Ok(AttackFindings {
        method: Method {
            confidence: options.confidence,
            n_clusters: redraw.n_clusters,
            n_resamples: options.n_resamples,
            cluster: redraw.cluster,
            difficulty: table
                .stimuli
                .iter()
                .find_map(|shown| shown.difficulty.map(|row| row.measure.clone())),
            band_origin: table.bands.as_ref().map(|bands| bands.origin),
            seed: input.seed.0,
        },
        n_rows: input.rows.len(),
        n_found: count(|search| matches!(search, Search::Found { .. })),
        n_survived: count(|search| matches!(search, Search::Survived { .. })),
        n_not_attacked: count(|search| matches!(search, Search::NotAttacked)),
        n_failed: count(|search| matches!(search, Search::Failed(_))),
        n_stimuli: table.stimuli.len(),
        bands: names
            .zip(&bands)
            .map(|(name, places)| Cell { name: name.clone(), n_stimuli: places.len() })
            .collect(),
        models,
        clean_comparisons: compare::clean_pairs(&table, &bands, &redraw),
        tables,
        failures: failures(input.rows.iter().filter_map(|row| match &row.search {
            Search::Failed(reason) => Some((reason.as_str(), &row.stimulus)),
            _ => None,
        })),
        caveats,
    })
}

/// Where a stimulus stands between easy and hard.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The stimulus.
    pub stimulus: StimulusId,
    /// Its band, by place from easy to hard and by name.
    pub band: Option<(usize, String)>,
    /// Its difficulty.
    pub difficulty: Option<f64>,
}

/// Returns where each attacked stimulus stands, those with a band first, from easy to hard.
pub fn standings(input: &Input<'_>) -> Result<Vec<Standing>, AttackError> {
    let table = Table::new(input)?;
    let names: Vec<&String> = table.bands.iter().flat_map(|bands| &bands.names).collect();
    let mut standings: Vec<Standing> = table
        .stimuli
        .iter()
        .map(|shown| Standing {
            stimulus: shown.id.clone(),
            band: shown.band_idx.map(|idx| (idx, names[idx].clone())),
            difficulty: shown.difficulty.map(|row| row.estimate.value),
        })
        .collect();
    let band = |standing: &Standing| standing.band.as_ref().map_or(usize::MAX, |band| band.0);
    let value = |standing: &Standing| standing.difficulty.unwrap_or(f64::MAX);
    standings.sort_by(|a, b| band(a).cmp(&band(b)).then(value(a).total_cmp(&value(b))));
    Ok(standings)
}

fn check(options: &Options) -> Result<(), ScoreError> {
    let bad = |name, expected, found: String| Err(ScoreError::BadOption { name, expected, found });
    if !(0.0 < options.confidence && options.confidence < 1.0) {
        return bad("confidence", "between 0 and 1", options.confidence.to_string());
    }
    for (name, n) in [("n_resamples", options.n_resamples), ("n_bands", options.n_bands)] {
        if n == 0 {
            return bad(name, "at least 1", n.to_string());
        }
    }
    Ok(())
}

fn tables(
    table: &Table<'_>,
    bands: &[Range<usize>],
    redraw: &Redraw,
    caveats: &mut Caveats,
) -> Vec<AttackTable> {
    let mut kinds: Vec<Kind> = table.series.iter().map(|series| series.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut tables = Vec::new();
    let mut many_survived = Vec::new();
    for kind in kinds {
        let series: Vec<&Series<'_>> = table.series.iter().filter(|s| s.kind == kind).collect();
        // Nothing attacked (every answer was wrong already): horizon and means do not matter.
        let horizon = mean_epsilon::horizon(&series, bands).unwrap_or(0.0);
        let own: Vec<f64> = series
            .iter()
            .map(|one| mean_epsilon::horizon(&[one], bands).unwrap_or(horizon))
            .collect();
        let ends = series.iter().flat_map(|s| &s.observed).filter(|o| !o.is_fooled);
        // An attack that fools everything below the horizon was not tried less far.
        let further = own.iter().copied().filter(|own| horizon <= *own);
        let ends = ends.map(|o| o.epsilon).chain([horizon]).chain(further);
        let (smallest, largest) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, epsilon| {
            (ends.0.min(epsilon), ends.1.max(epsilon))
        });
        let mut attacks: Vec<AttackFinding> = series
            .iter()
            .zip(&own)
            .map(|(one, own)| attack(table, one, bands, (horizon, *own), redraw))
            .collect();
        if smallest < largest {
            let is_cut = own.iter().any(|own| horizon < *own);
            // Those of which a group of survivors ends there.
            let stops = |one: &Series<'_>| {
                let bands = bands.iter().map(|places| one.within(places));
                let ends =
                    bands.chain([one.observed.clone()]).filter_map(|o| survival::known_to(&o));
                ends.into_iter().any(|end| end <= horizon)
            };
            let cut = attacks.iter().zip(&series).filter(|(_, one)| is_cut && stops(one));
            let cut_by = cut.map(|(one, _)| format!("{} ({})", one.attack, one.model)).collect();
            caveats.add(Caveat::HorizonsDiffer { smallest, largest, used: horizon, cut_by });
        }
        let of_all = |pick: fn(&mut AttackFinding) -> &mut Option<LogRank>,
                      attacks: &mut [AttackFinding]| {
            let tests: Vec<&mut LogRank> =
                attacks.iter_mut().filter_map(|attack| pick(attack).as_mut()).collect();
            let p_values: Vec<f64> = tests.iter().map(|test| test.p).collect();
            for (test, p) in tests.into_iter().zip(holm(&p_values)) {
                test.p_holm = p;
            }
        };
        of_all(|attack| &mut attack.log_rank, &mut attacks);
        of_all(|attack| &mut attack.log_rank_all, &mut attacks);
        let is_heavy = |group: &EpsilonGroup| group.n_fooled < group.n_survived;
        many_survived.extend(
            attacks
                .iter()
                .filter(|attack| is_heavy(&attack.overall))
                .map(|attack| format!("{} ({})", attack.attack, attack.model)),
        );
        let comparisons = compare::gains(table, &series, bands, horizon, redraw);
        let Kind { norm, goal, is_bound } = kind;
        let found = AttackTable { norm, goal, is_bound, horizon, attacks, comparisons };
        let steps = found.step_lengths();
        if !steps.is_empty() {
            let attacks = steps.into_iter().map(str::to_owned).collect();
            caveats.add(Caveat::StepLengths { attacks });
        }
        tables.push(found);
    }
    if !many_survived.is_empty() {
        caveats.add(Caveat::ManySurvived { attacks: many_survived });
    }
    tables
}

fn attack(
    table: &Table<'_>,
    series: &Series<'_>,
    bands: &[Range<usize>],
    (horizon, own): (f64, f64),
    redraw: &Redraw,
) -> AttackFinding {
    let means = mean_epsilon::of_series(series, bands, horizon, redraw);
    let alone = (horizon < own).then(|| {
        let means = mean_epsilon::of_series(series, bands, own, redraw);
        Alone {
            horizon: own,
            overall: means.overall,
            bands: means.bands,
            easy_minus_hard: means.easy_minus_hard,
        }
    });
    let parts: Vec<Vec<survival::Observation>> =
        bands.iter().map(|places| series.within(places)).collect();
    let groups: Vec<&[survival::Observation]> = parts.iter().map(Vec::as_slice).collect();
    let ends = match groups.as_slice() {
        // One stimulus has no spread.
        [first, .., last] if 1 < first.len() && 1 < last.len() => vec![*first, *last],
        _ => Vec::new(),
    };
    let names: Vec<&String> = table.bands.iter().flat_map(|bands| &bands.names).collect();
    let curve = |band: Option<&String>, sorted: &[survival::Observation]| SurvivalCurve {
        band: band.cloned(),
        n_stimuli: sorted.len(),
        steps: survival::curve(sorted, redraw.confidence),
        known_to: survival::known_to(sorted),
    };
    let curves = match (names.as_slice(), groups.as_slice()) {
        ([easiest, .., hardest], [first, .., last]) => {
            vec![curve(Some(easiest), first), curve(Some(hardest), last)]
        }
        _ => vec![curve(None, &series.observed)],
    };
    let sum = |calls: fn(&MinEpsilon) -> u64| {
        series.rows.iter().fold(0_u64, |sum, row| sum.saturating_add(calls(row)))
    };
    AttackFinding {
        model: table.models[series.model_idx].clone(),
        attack: series.name.clone(),
        settings: series.settings.to_owned(),
        overall: means.overall,
        bands: means.bands,
        curves: curves.into_iter().filter(|curve| 0 < curve.n_stimuli).collect(),
        easy_minus_hard: means.easy_minus_hard,
        log_rank: log_rank::test(&ends),
        log_rank_all: if 2 < groups.len() { log_rank::test(&groups) } else { None },
        trend: log_rank::trend(&groups),
        correlation: trend::of_series(table, series, redraw),
        alone,
        audit: audit::of_rows(&series.rows, redraw.confidence),
        n_fast: series.rows.iter().filter(|row| row.how == How::Fast && is_attacked(row)).count(),
        n_forward: sum(|row| row.n_forward),
        n_gradient: sum(|row| row.n_gradient),
    }
}

fn is_attacked(row: &MinEpsilon) -> bool {
    matches!(row.search, Search::Found { .. } | Search::Survived { .. })
}

/// Collects what weakens the findings as a whole.
fn doubts(
    input: &Input<'_>,
    table: &Table<'_>,
    bands: &[Range<usize>],
    redraw: &Redraw,
    caveats: &mut Caveats,
) {
    let (n_rows, n_all) = (input.rows.len(), table.stimuli.len());
    let n_failed = input.rows.iter().filter(|r| matches!(r.search, Search::Failed(_))).count();
    if 0 < n_failed {
        caveats.add(Caveat::FailedAttacks { n_rows: n_failed, n_all: n_rows });
    }
    if table.bands.is_none() {
        caveats.add(Caveat::NoDifficulty);
    }
    if 0 < table.n_unknown_stimuli {
        caveats.add(Caveat::UnknownStimuli { n_stimuli: table.n_unknown_stimuli, n_all });
    }
    let n_without = table.stimuli.iter().filter(|shown| shown.difficulty.is_none()).count();
    if 0 < n_without && n_without < n_all {
        caveats.add(Caveat::StimuliWithoutDifficulty { n_stimuli: n_without, n_all });
    }
    let has_no_band =
        |shown: &&super::table::Shown<'_>| shown.difficulty.is_some() && shown.band_idx.is_none();
    let n_without_band = table.stimuli.iter().filter(has_no_band).count();
    if 0 < n_without_band {
        caveats.add(Caveat::StimuliWithoutBand { n_stimuli: n_without_band, n_all });
    }
    if 0 < table.n_unused_difficulties {
        caveats.add(Caveat::DifficultiesUnused { n_stimuli: table.n_unused_difficulties });
    }
    let names = table.bands.iter().flat_map(|bands| &bands.names);
    let is_small = |places: &Range<usize>| {
        let n = |series: &Series<'_>| series.within(places).len();
        let fooled =
            table.series.iter().filter(|series| series.kind.goal != mohs_data::Goal::Correct);
        fooled.map(n).min().is_some_and(|n| n < N_IN_BAND_WANTED)
    };
    let small: Vec<String> = names
        .zip(bands)
        .filter(|(_, places)| is_small(places))
        .map(|(name, _)| name.clone())
        .collect();
    if !small.is_empty() {
        caveats.add(Caveat::FewAttacked { bands: small, n_wanted: N_IN_BAND_WANTED });
    }
    if redraw.cluster != Cluster::Stimulus && redraw.n_clusters < N_CLASSES_WANTED {
        caveats.add(Caveat::FewClasses { n_classes: redraw.n_clusters });
    }
    let n_unaudited: usize = table
        .series
        .iter()
        .filter(|series| series.rows.iter().all(|row| row.how != How::Audited))
        .map(|series| {
            series.rows.iter().filter(|row| row.how == How::Fast && is_attacked(row)).count()
        })
        .sum();
    if 0 < n_unaudited {
        caveats.add(Caveat::FastNotAudited { n_rows: n_unaudited, n_all: n_rows });
    }
    if 0 < table.n_clean_differ {
        caveats.add(Caveat::CleanAnswersDiffer { n_pairs: table.n_clean_differ });
    }
}
