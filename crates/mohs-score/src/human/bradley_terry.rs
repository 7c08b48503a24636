//! Paired judgements: a difficulty for every stimulus from "which of the two is harder?".
//!
//! # Model
//!
//! ```text
//! P(i is called harder than j) = 1 / (1 + e^-(d_i - d_j)),    d sums to 0 in each component
//! ```
//!
//! | symbol | here           | meaning                                              |
//! |--------|----------------|------------------------------------------------------|
//! | `d_i`  | `difficulty`   | difficulty of stimulus `i`, in log-odds              |
//! | `ν`    | `ln_ties`      | how readily people say "neither" (Davidson's model)  |
//! | `b`    | `bias`         | what standing on the left adds                       |
//! | `s`    | `Prior`'s `sd` | standard deviation of the prior, where there is one  |
//!
//! # Method
//!
//! `network.rs` finds the components, `fit.rs` climbs to the top of the likelihood, `model.rs` holds
//! the rules for priors and ties, `resampled.rs` draws people anew, `levels.rs` correlates with the
//! levels that were meant, `in_order.rs` counts the pairs in their order, `people.rs` looks at agreement and sides. This file brings them
//! together. The page is `docs/methods/bradley-terry.md`.
//!
//! # When there is no answer
//!
//! Stimuli of different components are never compared. In a separated component, where some
//! stimuli only won or only lost against the rest, the maximum of the likelihood lies at infinity:
//! by default a weak Gaussian prior keeps its numbers finite and a caveat says so; on request
//! there is an error instead.
//!
//! # References
//!
//! - R. A. Bradley, M. E. Terry (1952), "Rank analysis of incomplete block designs I".
//! - D. Firth, R. X. de Menezes (2004), "Quasi-variances".

mod collected;
mod doubts;
mod findings;
pub mod fit;
mod in_order;
mod levels;
mod model;
pub mod network;
mod people;
mod resampled;

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{Comparison, Estimate, Harder, Seed, Stimulus, StimulusId};

use self::collected::{Collected, Counted};
pub use self::findings::{
    AgreementFinding, ComponentFinding, Correlations, FitFinding, LevelFinding, LevelGroup,
    LevelPairOrder, Method, PRIOR_SD, PairedJudgements, ParticipantFinding, PositionFinding, Prior,
    Refusal, Resampled, StimulusFinding, Ties,
};
use self::fit::{Fit, NotSettled, Spread};
use self::levels::Levels;
pub(crate) use self::levels::values as level_values;
use self::model::{Ready, Rules};
use self::network::{Network, Pair, Tally};
use self::resampled::Draws;
use crate::proportion::{normal_quantile, real};
use crate::resample::percentile;

/// The measure's name in `difficulty.csv`.
pub const MEASURE: &str = "bradley-terry";

/// Everything scoring needs.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The judgements.
    pub comparisons: &'a [Comparison],
    /// What is known about the stimuli; may be empty.
    pub stimuli: &'a [Stimulus],
    /// How to score.
    pub options: &'a Options,
    /// Seed of the bootstrap.
    pub seed: Seed,
}

/// How to score.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// What to do with ties.
    pub ties: Ties,
    /// Where to use a prior.
    pub prior: Prior,
    /// Whether difficulties are those at no bias for a side.
    pub accounts_for_position: bool,
    /// The one question whose judgements count; `None` for all.
    pub question: Option<String>,
    /// Levels from easiest to hardest; empty for numbers or easy, medium, hard.
    pub levels: Vec<String>,
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws.
    pub n_resamples: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ties: Ties::default(),
            prior: Prior::default(),
            accounts_for_position: false,
            question: None,
            levels: Vec::new(),
            confidence: 0.95,
            n_resamples: 1_000,
        }
    }
}

/// Why comparisons cannot be scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Nothing to count.
    #[error("there is no judgement to count among {n_rows} comparisons")]
    NoJudgements {
        /// Rows given.
        n_rows: usize,
    },
    /// No judgement answers the question asked for.
    #[error("no comparison answers the question `{question}`; there are: {}", known.join(", "))]
    UnknownQuestion {
        /// The question asked for.
        question: String,
        /// The questions there are.
        known: Vec<String>,
    },
    /// Stimuli have levels that the given order lacks.
    #[error("the order of levels ({}) lacks: {}", given.join(", "), unknown.join(", "))]
    UnknownLevels {
        /// Levels of stimuli that were judged.
        unknown: Vec<String>,
        /// The order given.
        given: Vec<String>,
    },
    /// The maximum of the likelihood lies at infinity, and no prior is allowed.
    #[error(
        "{n_components} of {n_all} components are separated: in that of `{stimulus}` some stimuli \
         only won or only lost against the others, so that their difficulty has no finite estimate"
    )]
    Separated {
        /// Separated components.
        n_components: usize,
        /// All components.
        n_all: usize,
        /// A stimulus of the first.
        stimulus: String,
    },
    /// The prior has no width.
    #[error("the prior's standard deviation should be a positive number, found {sd}")]
    BadPrior {
        /// What was given.
        sd: f64,
    },
    /// The fit did not settle.
    #[error(transparent)]
    NotSettled(#[from] NotSettled),
}

/// Fits difficulties to counted pairs of `n_stimuli` stimuli: the bare numbers, without intervals.
pub fn fit(n_stimuli: usize, pairs: &[Pair], ties: Ties, prior: Prior) -> Result<Fit, Error> {
    check_prior(prior)?;
    let network = Network::new(n_stimuli, pairs);
    let tallies: Vec<Tally> = network.pair_of_edge.iter().map(|idx| pairs[*idx].tally).collect();
    let mut ready = Rules { ties, prior, bias: false }.apply(&network, tallies);
    refuse_separated(&ready, &network, |idx| format!("stimulus {idx}"))?;
    Ok(ready.fit(&network, None)?)
}

/// Scores paired judgements.
///
/// The order of comparisons does not matter.
pub fn score(input: &Input<'_>) -> Result<PairedJudgements, Error> {
    let options = input.options;
    check_prior(options.prior)?;
    let counting = of_question(input.comparisons, options.question.as_deref())?;
    let data = Collected::new(&counting);
    let known = known_of(&data, input.stimuli);
    check_levels(&known, &options.levels)?;
    let rules =
        Rules { ties: options.ties, prior: options.prior, bias: options.accounts_for_position };
    let counted = Counted::new(&data, options.accounts_for_position);
    let network = &counted.network;
    let mut ready = rules.apply(network, counted.tallies(&data, |_, _| 1.0));
    refuse_separated(&ready, network, |idx| data.stimuli[idx].to_string())?;
    let fit = ready.fit(network, None)?;
    let spread = ready.spread(network, &fit);
    let draws = resampled::draw(
        &data,
        &counted,
        &rules,
        &fit,
        &ready.is_separated,
        options.n_resamples,
        input.seed,
    );
    let scored = Scored { options, data, counted, ready, fit, spread, draws, known };
    let mut findings = scored.findings(&rules, input.seed);
    doubts::add(&scored, input, &mut findings);
    Ok(findings)
}

fn check_prior(prior: Prior) -> Result<(), Error> {
    match prior {
        Prior::WhenSeparated { sd } | Prior::Always { sd } if !(sd.is_finite() && 0.0 < sd) => {
            Err(Error::BadPrior { sd })
        }
        _ => Ok(()),
    }
}

/// Refuses an order of levels that lacks some of the stimuli's.
fn check_levels(known: &[Option<&Stimulus>], order: &[String]) -> Result<(), Error> {
    let given = |level: &&str| order.iter().any(|one| one.eq_ignore_ascii_case(level.trim()));
    let levels = known.iter().flatten().filter_map(|stimulus| stimulus.level.as_deref());
    let unknown: BTreeSet<&str> = levels.filter(|level| !given(level)).collect();
    if order.is_empty() || unknown.is_empty() {
        return Ok(());
    }
    let unknown = unknown.into_iter().map(str::to_owned).collect();
    Err(Error::UnknownLevels { unknown, given: order.to_vec() })
}

/// Returns the comparisons that count: those of the question, that stand for a judgement at all.
fn of_question<'a>(
    comparisons: &'a [Comparison],
    question: Option<&str>,
) -> Result<Vec<&'a Comparison>, Error> {
    let n_rows = comparisons.len();
    let asked = |comparison: &&Comparison| {
        question.is_none_or(|question| comparison.question.as_deref() == Some(question))
    };
    if let Some(question) = question
        && !comparisons.is_empty()
        && !comparisons.iter().any(|comparison| asked(&comparison))
    {
        let known: BTreeSet<String> =
            comparisons.iter().filter_map(|comparison| comparison.question.clone()).collect();
        let known = known.into_iter().collect();
        return Err(Error::UnknownQuestion { question: question.to_owned(), known });
    }
    let counting: Vec<&Comparison> =
        comparisons.iter().filter(asked).filter(|comparison| 0 < comparison.count).collect();
    if counting.is_empty() { Err(Error::NoJudgements { n_rows }) } else { Ok(counting) }
}

fn refuse_separated(
    ready: &Ready,
    network: &Network,
    name: impl Fn(usize) -> String,
) -> Result<(), Error> {
    let is_refused = |idx: &usize| ready.precision[*idx].is_none();
    let refused: Vec<usize> = (0..ready.precision.len()).filter(is_refused).collect();
    let Some(first) = refused.first() else { return Ok(()) };
    let member = network.component_of().iter().position(|component| component == first);
    Err(Error::Separated {
        n_components: refused.len(),
        n_all: network.n_components(),
        stimulus: member.map(name).unwrap_or_default(),
    })
}

/// Returns the row of the table of stimuli for each stimulus judged.
fn known_of<'a>(data: &Collected<'_>, stimuli: &'a [Stimulus]) -> Vec<Option<&'a Stimulus>> {
    let table: BTreeMap<&StimulusId, &Stimulus> =
        stimuli.iter().map(|stimulus| (&stimulus.id, stimulus)).collect();
    data.stimuli.iter().map(|id| table.get(id).copied()).collect()
}

/// Everything computed, on its way to findings.
struct Scored<'a> {
    options: &'a Options,
    data: Collected<'a>,
    counted: Counted,
    ready: Ready,
    fit: Fit,
    spread: Spread,
    draws: Draws,
    known: Vec<Option<&'a Stimulus>>,
}

impl Scored<'_> {
    fn findings(&self, rules: &Rules, seed: Seed) -> PairedJudgements {
        let Self { options, data, fit, draws, .. } = self;
        let component_of = self.counted.network.component_of();
        let members: Vec<Vec<usize>> = (0..self.counted.network.n_components())
            .map(|c| (0..data.stimuli.len()).filter(|idx| component_of[*idx] == c).collect())
            .collect();
        let level_names = levels::values(
            self.known.iter().filter_map(|known| known.as_ref()?.level.as_deref()),
            &options.levels,
        );
        let of_stimulus: Vec<Option<f64>> = self
            .known
            .iter()
            .map(|known| level_names.as_ref()?.get(known.as_ref()?.level.as_deref()?).copied())
            .collect();
        let levels = Levels { of_stimulus: &of_stimulus, members: &members };
        let confidence = options.confidence;
        PairedJudgements {
            method: Method {
                ties: options.ties,
                prior: options.prior,
                accounts_for_position: options.accounts_for_position,
                question: options.question.clone(),
                confidence,
                n_resamples: options.n_resamples,
                resampled: resampled::unit(data),
                seed: seed.0,
            },
            n_judgements: data.n(|_| true),
            n_ties: data.n(|judgement| judgement.harder == Harder::Tie),
            n_participants: data.participants.len(),
            n_stimuli: data.stimuli.len(),
            n_pairs: data.pairs.len(),
            fit: FitFinding {
                n_rounds: fit.n_rounds,
                gradient: fit.gradient,
                n_separated_draws: draws.n_separated,
            },
            components: self.components(&component_of, &members, &levels),
            stimuli: self.stimuli(&component_of, &members),
            levels: level_names.map(|names| {
                levels.findings(&names, &fit.difficulty, &draws.difficulties, confidence)
            }),
            tie_parameter: self.tie_parameter(),
            position: people::share_left(data, draws, confidence).map(|share_left| {
                PositionFinding { share_left, left_advantage: self.left_advantage(rules) }
            }),
            agreement: people::agreement(data, draws, seed, confidence),
            participants: people::participants(data, &self.counted, rules, fit, confidence),
            caveats: mohs_data::Caveats::default(),
        }
    }

    fn components(
        &self,
        component_of: &[usize],
        members: &[Vec<usize>],
        levels: &Levels<'_>,
    ) -> Vec<ComponentFinding> {
        let n_all = members.len();
        let (mut n_judgements, mut n_pairs) = (vec![0_usize; n_all], vec![0; n_all]);
        let mut participants: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n_all];
        for judgement in &self.data.judgements {
            let component = component_of[judgement.left];
            n_judgements[component] = n_judgements[component].saturating_add(judgement.count);
            participants[component].insert(judgement.participant);
        }
        for (first, _) in &self.data.pairs {
            n_pairs[component_of[*first]] += 1;
        }
        (0..n_all)
            .map(|idx| ComponentFinding {
                number: idx + 1,
                name: self.shared_name(&members[idx]),
                n_stimuli: members[idx].len(),
                n_pairs: n_pairs[idx],
                n_judgements: n_judgements[idx],
                n_participants: participants[idx].len(),
                is_separated: self.ready.is_separated[idx],
                prior_sd: self.ready.precision[idx]
                    .filter(|precision| 0.0 < *precision)
                    .map(|precision| 1.0 / precision.sqrt()),
                kendall: levels.kendall(
                    idx,
                    &self.fit.difficulty,
                    &self.draws.difficulties,
                    self.options.confidence,
                ),
            })
            .collect()
    }

    /// Returns what all stimuli of a component share: label, attribute, or both.
    fn shared_name(&self, members: &[usize]) -> Option<String> {
        let shared = |of: &dyn Fn(&Stimulus) -> Option<String>| {
            let mut all = members.iter().map(|idx| self.known[*idx].and_then(of));
            let first = all.next()??;
            all.all(|other| other.as_ref() == Some(&first)).then_some(first)
        };
        let label = shared(&|stimulus| Some(stimulus.label.to_string()));
        let attribute = shared(&|stimulus| stimulus.attribute.clone());
        let parts: Vec<String> = label.into_iter().chain(attribute).collect();
        (!parts.is_empty()).then(|| parts.join(" · "))
    }

    fn stimuli(&self, component_of: &[usize], members: &[Vec<usize>]) -> Vec<StimulusFinding> {
        let difficulty = &self.fit.difficulty;
        let n = self.data.stimuli.len();
        let (mut n_all, mut n_harder, mut n_ties) = (vec![0; n], vec![0; n], vec![0; n]);
        // A file may claim any count; sums of them must not overflow.
        let add = |to: &mut usize, count: usize| *to = to.saturating_add(count);
        for judgement in &self.data.judgements {
            for idx in [judgement.left, judgement.right] {
                add(&mut n_all[idx], judgement.count);
                if judgement.harder == Harder::Tie {
                    add(&mut n_ties[idx], judgement.count);
                }
            }
            if let Some((harder, _)) = judgement.harder_and_easier() {
                add(&mut n_harder[harder], judgement.count);
            }
        }
        let confidence = self.options.confidence;
        let z = normal_quantile(0.5 + confidence / 2.0);
        let mut stimuli = Vec::with_capacity(n);
        for members in members {
            let quasi_variances = quasi_variances(members, &self.spread.difficulty);
            let mut order: Vec<usize> = (0..members.len()).collect();
            order.sort_by(|a, b| difficulty[members[*a]].total_cmp(&difficulty[members[*b]]));
            for (place, position) in order.into_iter().enumerate() {
                let idx = members[position];
                let value = difficulty[idx];
                let half = z * self.spread.difficulty[idx].sqrt();
                let drawn: Vec<f64> =
                    self.draws.difficulties.iter().map(|draw| draw[idx]).collect();
                let known = self.known[idx];
                stimuli.push(StimulusFinding {
                    stimulus: self.data.stimuli[idx].clone(),
                    label: known.map(|known| known.label.clone()),
                    attribute: known.and_then(|known| known.attribute.clone()),
                    level: known.and_then(|known| known.level.clone()),
                    component: component_of[idx] + 1,
                    rank: members.len() - place,
                    difficulty: Estimate::new(
                        value,
                        value - half,
                        value + half,
                        confidence,
                        n_all[idx],
                    )
                    .expect("because a settled fit is finite"),
                    difficulty_by_people: percentile(value, &drawn, confidence, n_all[idx]),
                    quasi_variance: quasi_variances[position],
                    n_harder: n_harder[idx],
                    n_ties: n_ties[idx],
                    caveats: doubts::of_stimulus(
                        self.ready.is_separated[component_of[idx]],
                        1 < self.counted.network.n_components(),
                    ),
                });
            }
        }
        stimuli
    }

    fn tie_parameter(&self) -> Option<Estimate> {
        let (ln_ties, variance) = (self.fit.ln_ties?, self.spread.ln_ties?);
        let confidence = self.options.confidence;
        let half = normal_quantile(0.5 + confidence / 2.0) * variance.sqrt();
        let n = self.data.n(|_| true);
        Estimate::new(ln_ties.exp(), (ln_ties - half).exp(), (ln_ties + half).exp(), confidence, n)
    }

    /// Fits once more with a bias for the left, on a network that keeps sides apart.
    fn left_advantage(&self, rules: &Rules) -> Option<Estimate> {
        let by_side = Counted::new(&self.data, true);
        let rules = Rules { bias: true, ..*rules };
        let ready = rules.apply(&by_side.network, by_side.tallies(&self.data, |_, _| 1.0));
        let (bias, variance) = ready.bias(&by_side.network, &self.fit)?;
        let confidence = self.options.confidence;
        let half = normal_quantile(0.5 + confidence / 2.0) * variance.sqrt();
        let n = self.data.n(|judgement| judgement.sides == mohs_data::Sides::Shown);
        Estimate::new(bias, bias - half, bias + half, confidence, n)
    }
}

/// Returns quasi-variances of the members of a component: numbers `q` such that the variance of
/// `d_i - d_j` is about `q_i + q_j`.
///
/// They are chosen to be right on average over the others for each stimulus, which has a closed
/// form, because difficulties that sum to zero have covariances that sum to zero: with `v` the
/// variances, `V` their sum and `m` members, `q_i = (m v_i - V / (m - 1)) / (m - 2)`.
fn quasi_variances(members: &[usize], variance: &[f64]) -> Vec<f64> {
    let all: f64 = members.iter().map(|idx| variance[*idx]).sum();
    let m = real(members.len());
    members
        .iter()
        .map(|idx| match members.len() {
            0..=2 => 2.0 * variance[*idx],
            _ => ((m * variance[*idx] - all / (m - 1.0)) / (m - 2.0)).max(0.0),
        })
        .collect()
}

#[cfg(test)]
mod tests;
