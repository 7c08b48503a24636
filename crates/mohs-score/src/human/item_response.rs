//! Item response: stimulus difficulty when participants see different stimuli.
//!
//! # Model
//!
//! ```text
//! P(right) = 1 / (1 + exp(-(a_i θ_p + d_i))),    θ_p ~ N(0, 1),    b_i = -d_i / a_i
//! ```
//!
//! | letter | here             | meaning                                               |
//! |--------|------------------|-------------------------------------------------------|
//! | `θ_p`  | `ability`        | ability of a participant, in standard deviations      |
//! | `a_i`  | `discrimination` | how steeply log-odds grow with ability; 1PL: one `a`  |
//! | `d_i`  | `intercept`      | log-odds of a participant of average ability          |
//! | `b_i`  | `difficulty`     | the ability at which half of the answers are right    |
//!
//! # Method
//!
//! Marginal maximum likelihood: abilities are integrated out (`lattice.rs`), so that a participant
//! who happened to see hard stimuli is not called weak, nor those stimuli easy. `fit.rs` climbs the
//! likelihood of `likelihood.rs`; `information.rs` turns its curvature into intervals.
//!
//! # When there is no answer
//!
//! One participant or one stimulus cannot be told apart from ability: [`Error`]. A stimulus that all
//! answered alike has a weak prior of its own (`unanimous.rs`); discriminations without a finite
//! estimate are pooled (`fit.rs`); caveats say so. Neither moves the scale. A stimulus whose
//! discrimination is below 0.1 has no difficulty: no ability makes the difference.
//!
//! # References
//!
//! - A. Birnbaum (1968), in Lord and Novick, "Statistical theories of mental test scores".
//! - R. D. Bock and M. Aitkin (1981), "Marginal maximum likelihood estimation of item parameters".
//! - B. D. Wright and G. N. Masters (1982), "Rating scale analysis": infit and outfit.

mod findings;
mod fit;
mod information;
mod lattice;
mod likelihood;
mod responses;
mod unanimous;

use mohs_data::{Caveat, Caveats, Estimate, ParticipantId, Seed, StimulusId};
use rayon::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

pub use self::findings::{
    ItemResponse, MEASURE, Method, Model, ModelComparison, ModelFit, ParticipantFinding,
    StimulusFinding,
};
use self::fit::Fit;
use self::information::Covariance;
use self::likelihood::Items;
pub use self::responses::Responses;
use self::unanimous::Whole;
use crate::draw::Draw;
use crate::human::exclusion::natural;
use crate::proportion::{normal_quantile, real};
use crate::resample::percentile;

/// Discrimination below which no ability makes the difference between right and wrong.
pub const MIN_DISCRIMINATION: f64 = 0.1;
/// Answers per stimulus that keep a 1PL difficulty within about one unit (Linacre 1994).
const N_WANTED_1PL: usize = 30;
/// Answers per stimulus from which 2PL estimates are steady (Drasgow 1989).
const N_WANTED_2PL: usize = 200;
/// Infit outside this range is called misfit when chance does not explain it (Wright and Linacre
/// 1994 call 0.7 to 1.3 reasonable).
const REASONABLE_INFIT: std::ops::RangeInclusive<f64> = 0.7..=1.3;
/// Key of the bootstrap's random stream.
const RELIABILITY: u64 = 50;
/// Half width and step of the grid on which shares of a population are integrated.
const POPULATION: (f64, f64) = (6.0, 0.1);

/// How to fit.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The model.
    pub model: Model,
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws over participants.
    pub n_resamples: usize,
    /// Seed of the bootstrap.
    pub seed: Seed,
}

/// Why answers cannot be fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Abilities cannot be told from difficulties.
    #[error("item response needs answers of at least 2 participants, found {n_participants}")]
    TooFewParticipants {
        /// Participants with answers.
        n_participants: usize,
    },
    /// Nothing to compare.
    #[error("item response needs answers to at least 2 stimuli, found {n_stimuli}")]
    TooFewStimuli {
        /// Stimuli with answers.
        n_stimuli: usize,
    },
    /// An answer cannot be judged.
    #[error(
        "trial `{trial}` has an answer but neither a label nor a mark says whether it is right"
    )]
    NotJudged {
        /// The trial.
        trial: String,
    },
    /// A response matrix names a row twice.
    #[error("two rows are named `{participant}`; every row needs a name of its own")]
    RepeatedRow {
        /// The name.
        participant: ParticipantId,
    },
}

/// Point estimates alone: what the fit found before any interval.
#[derive(Debug, Clone, PartialEq)]
pub struct PointEstimates {
    /// `a` of each stimulus, by stimulus id.
    pub discrimination: Vec<f64>,
    /// `d` of each stimulus, by stimulus id.
    pub intercept: Vec<f64>,
    /// Posterior mean of each participant's ability, by participant id.
    pub ability: Vec<f64>,
    /// Log of the marginal likelihood.
    pub log_likelihood: f64,
    /// Steps of the fit.
    pub n_steps: usize,
    /// Whether a stimulus has a prior of its own, or all discriminations one.
    pub has_prior: bool,
}

/// Fits the model without intervals, for benches and simulations.
pub fn fit_points(responses: &Responses, model: Model) -> PointEstimates {
    let whole = Whole::fit(responses, model);
    let fit = &whole.fit;
    PointEstimates {
        ability: fit.evaluated.posteriors.iter().map(|posterior| posterior.mean).collect(),
        log_likelihood: fit.evaluated.log_likelihood,
        n_steps: fit.n_steps,
        has_prior: has_prior(&whole),
        discrimination: whole.items.discrimination,
        intercept: whole.items.intercept,
    }
}

fn has_prior(whole: &Whole) -> bool {
    whole.fit.prior.is_some() || whole.unanimous().next().is_some()
}

/// Fits the model: findings about stimuli and participants.
///
/// The order of answers does not matter.
pub fn score(responses: &Responses, options: &Options) -> ItemResponse {
    let whole = Whole::fit(responses, options.model);
    let fit = &whole.fit;
    let (covariances, are_exact) = whole.covariances();
    let mut stimuli = stimulus_findings(responses, &whole, &covariances, options);
    let model_fit = model_fit(&whole.decisive, fit.evaluated.log_likelihood, options.model);
    let comparison = compare(&whole.decisive, fit, options.model);
    let mut caveats = Caveats::default();
    doubts(responses, &whole, &stimuli, options.model, &mut caveats);
    if !are_exact {
        caveats.add(Caveat::ApproximateErrors);
    }
    stimuli.sort_by(|a, b| {
        let by_difficulty = match (&a.difficulty, &b.difficulty) {
            (Some(a), Some(b)) => a.value.total_cmp(&b.value),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        by_difficulty.then_with(|| natural(a.stimulus.as_str(), b.stimulus.as_str()))
    });
    ItemResponse {
        method: Method {
            model: options.model,
            has_prior: has_prior(&whole),
            has_pooling: fit.prior.is_some(),
            n_steps: fit.n_steps,
            confidence: options.confidence,
            n_resamples: options.n_resamples,
            seed: options.seed.0,
        },
        n_participants: responses.n_participants(),
        n_stimuli: responses.n_stimuli(),
        n_answers: responses.n_answers(),
        model_fit,
        comparison,
        reliability: reliability(responses, fit, options),
        stimuli,
        participants: participant_findings(responses, fit, options.confidence),
        caveats,
    }
}

fn model_fit(responses: &Responses, log_likelihood: f64, model: Model) -> ModelFit {
    let n_stimuli = responses.n_stimuli();
    let n_parameters = if model == Model::OnePl { n_stimuli + 1 } else { 2 * n_stimuli };
    let log_n = real(responses.n_participants()).ln();
    ModelFit {
        log_likelihood,
        n_parameters,
        aic: 2.0 * real(n_parameters) - 2.0 * log_likelihood,
        bic: log_n * real(n_parameters) - 2.0 * log_likelihood,
    }
}

/// Compares the two models by their likelihoods; `None` when either needs a prior, which the test
/// does not allow for.
fn compare(responses: &Responses, fit: &Fit, model: Model) -> Option<ModelComparison> {
    if fit.prior.is_some() || responses.n_stimuli() < 2 {
        return None;
    }
    let two_pl = match model {
        Model::OnePl => fit::two_pl_from(responses, fit)?.evaluated.log_likelihood,
        Model::TwoPl => fit.evaluated.log_likelihood,
    };
    let one_pl = model_fit(responses, fit.one_pl_log_likelihood, Model::OnePl);
    let two_pl = model_fit(responses, two_pl, Model::TwoPl);
    let degrees_of_freedom = responses.n_stimuli() - 1;
    let chi_square = (2.0 * (two_pl.log_likelihood - one_pl.log_likelihood)).max(0.0);
    let p_value = ChiSquared::new(real(degrees_of_freedom)).ok()?.sf(chi_square);
    Some(ModelComparison { one_pl, two_pl, chi_square, degrees_of_freedom, p_value })
}

fn stimulus_findings(
    responses: &Responses,
    whole: &Whole,
    covariances: &[Covariance],
    options: &Options,
) -> Vec<StimulusFinding> {
    let z = normal_quantile(0.5 + options.confidence / 2.0);
    let n_wanted = n_wanted(options.model);
    covariances
        .par_iter()
        .enumerate()
        .map(|(stimulus_idx, covariance)| {
            let a = whole.items.discrimination[stimulus_idx];
            let d = whole.items.intercept[stimulus_idx];
            let n_answers = responses.n_answers_to(stimulus_idx);
            let around = |value: f64, sd: f64| {
                Estimate::new(value, value - z * sd, value + z * sd, options.confidence, n_answers)
            };
            let along = |by_a: f64, by_d: f64| {
                let variance = by_a * by_a * covariance.aa
                    + 2.0 * by_a * by_d * covariance.ad
                    + by_d * by_d * covariance.dd;
                variance.max(0.0).sqrt()
            };
            let difficulty = (MIN_DISCRIMINATION <= a)
                .then(|| around(-d / a, along(d / (a * a), -1.0 / a)))
                .flatten();
            let finite = "because the fit and its covariance are finite";
            let (infit, outfit) =
                mean_squares(responses, whole, stimulus_idx, z, options.confidence);
            let is_unanimous = responses.is_unanimous(stimulus_idx);
            let mut caveats = Vec::new();
            if is_unanimous {
                caveats.push("weak-prior".to_owned());
            }
            if a <= -MIN_DISCRIMINATION {
                caveats.push("negative-discrimination".to_owned());
            } else if difficulty.is_none() {
                caveats.push("discrimination-too-low".to_owned());
            }
            if n_answers < n_wanted {
                caveats.push("few-answers-per-stimulus".to_owned());
            }
            if !is_unanimous && infit.is_some_and(|infit| is_misfit(&infit)) {
                caveats.push("item-misfit".to_owned());
            }
            StimulusFinding {
                stimulus: responses.stimuli[stimulus_idx].clone(),
                n_answers,
                n_correct: responses.n_right_to(stimulus_idx),
                difficulty,
                discrimination: around(a, covariance.aa.sqrt()).expect(finite),
                intercept: around(d, covariance.dd.sqrt()).expect(finite),
                expected_error: expected_error(a, d, z, options.confidence, n_answers, along)
                    .expect(finite),
                infit,
                outfit,
                caveats,
            }
        })
        .collect()
}

fn is_misfit(infit: &Estimate) -> bool {
    let is_chance = infit.low <= 1.0 && 1.0 <= infit.high;
    !is_chance && !REASONABLE_INFIT.contains(&infit.value)
}

/// Returns the share of wrong answers of the whole population, with an interval made on the scale
/// of log-odds so that it stays between 0 and 1.
fn expected_error(
    a: f64,
    d: f64,
    z: f64,
    confidence: f64,
    n: usize,
    along: impl Fn(f64, f64) -> f64,
) -> Option<Estimate> {
    let (mut share, mut by_a, mut by_d, mut total) = (0.0, 0.0, 0.0, 0.0);
    let mut ability = -POPULATION.0;
    while ability <= POPULATION.0 {
        let weight = (-ability * ability / 2.0).exp();
        let wrong = 1.0 / (1.0 + (a * ability + d).exp());
        let slope = -weight * wrong * (1.0 - wrong);
        total += weight;
        share += weight * wrong;
        by_a += slope * ability;
        by_d += slope;
        ability += POPULATION.1;
    }
    let share = share / total;
    let spread = share * (1.0 - share);
    let log_odds = (share / (1.0 - share)).ln();
    let sd = along(by_a / total, by_d / total) / spread;
    let back = |log_odds: f64| 1.0 / (1.0 + (-log_odds).exp());
    let (low, high) = (back(log_odds - z * sd), back(log_odds + z * sd));
    Estimate::new(share, low.min(share), high.max(share), confidence, n)
}

/// Returns infit, with how much it varies by chance, and outfit: squared residuals against what the
/// model expects of them, over the posteriors of those who answered.
fn mean_squares(
    responses: &Responses,
    whole: &Whole,
    stimulus_idx: usize,
    z: f64,
    confidence: f64,
) -> (Option<Estimate>, Option<f64>) {
    let (fit, items): (&Fit, &Items) = (&whole.fit, &whole.items);
    let mass =
        |participants| likelihood::mass_of(responses, &fit.lattice, &fit.evaluated, participants);
    let all = mass(responses.by_stimulus.answered(stimulus_idx));
    let right = mass(responses.by_stimulus.right(stimulus_idx));
    let mut curve = vec![0.0; fit.lattice.nodes.len()];
    likelihood::fill_curve(items, &fit.lattice, stimulus_idx, &mut curve);
    let (mut squares, mut expected, mut spread, mut standardised) = (0.0, 0.0, 0.0, 0.0);
    for ((p, all), right) in curve.iter().zip(&all).zip(&right) {
        let (p, q) = (p, 1.0 - p);
        let variance = p * q;
        if *all <= 0.0 || variance <= 0.0 {
            continue;
        }
        let square = right * q * q + (all - right).max(0.0) * p * p;
        squares += square;
        standardised += square / variance;
        expected += all * variance;
        spread += all * variance * (p.powi(3) + q.powi(3) - variance);
    }
    let n_answers = responses.n_answers_to(stimulus_idx);
    let infit = squares / expected;
    let reach = z * spread.max(0.0).sqrt() / expected;
    let outfit = Some(standardised / real(n_answers)).filter(|outfit| outfit.is_finite());
    (Estimate::new(infit, infit - reach, infit + reach, confidence, n_answers), outfit)
}

fn participant_findings(
    responses: &Responses,
    fit: &Fit,
    confidence: f64,
) -> Vec<ParticipantFinding> {
    let z = normal_quantile(0.5 + confidence / 2.0);
    let mut findings: Vec<ParticipantFinding> = responses
        .participants
        .iter()
        .zip(&fit.evaluated.posteriors)
        .enumerate()
        .map(|(participant_idx, (participant, posterior))| {
            let n_answers = responses.by_participant.answered(participant_idx).len();
            let reach = z * posterior.sd;
            let (low, high) = (posterior.mean - reach, posterior.mean + reach);
            ParticipantFinding {
                participant: participant.clone(),
                n_people: responses.n_people[participant_idx],
                n_answers,
                n_correct: responses.by_participant.right(participant_idx).len(),
                ability: Estimate::new(posterior.mean, low, high, confidence, n_answers)
                    .expect("because a posterior has mean and spread"),
            }
        })
        .collect();
    findings.sort_by(|a, b| natural(a.participant.as_str(), b.participant.as_str()));
    findings
}

/// Returns the variance of estimated abilities over that plus their mean error variance.
fn reliability(responses: &Responses, fit: &Fit, options: &Options) -> Option<Estimate> {
    let people: Vec<(f64, f64)> = fit
        .evaluated
        .posteriors
        .iter()
        .zip(&responses.n_people)
        .flat_map(|(posterior, n_people)| {
            std::iter::repeat_n((posterior.mean, posterior.sd.powi(2)), *n_people)
        })
        .collect();
    let of = |people: &mut dyn Iterator<Item = (f64, f64)>| {
        let (mut n, mut sum, mut squares, mut errors) = (0.0, 0.0, 0.0, 0.0);
        for (mean, error) in people {
            n += 1.0;
            sum += mean;
            squares += mean * mean;
            errors += error;
        }
        let variance = (squares / n - (sum / n).powi(2)).max(0.0);
        variance / (variance + errors / n)
    };
    let value = of(&mut people.iter().copied());
    let draws: Vec<f64> = (0..options.n_resamples)
        .into_par_iter()
        .map(|draw_idx| {
            let mut draw = Draw::new(options.seed, &[RELIABILITY, draw_idx as u64]);
            of(&mut (0..people.len()).map(|_| people[draw.below(people.len())]))
        })
        .collect();
    percentile(value, &draws, options.confidence, people.len()).filter(|_| 0.0 < value)
}

fn n_wanted(model: Model) -> usize {
    if model == Model::OnePl { N_WANTED_1PL } else { N_WANTED_2PL }
}

fn doubts(
    responses: &Responses,
    whole: &Whole,
    stimuli: &[StimulusFinding],
    model: Model,
    caveats: &mut Caveats,
) {
    let with = |code: &str| -> Vec<StimulusId> {
        let has = |finding: &&StimulusFinding| finding.caveats.iter().any(|c| c == code);
        stimuli.iter().filter(has).map(|finding| finding.stimulus.clone()).collect()
    };
    let fit = &whole.fit;
    if fit.prior.is_some() {
        caveats.add(Caveat::PooledDiscriminations { is_centred: fit.prior.is_centred });
    }
    for caveat in [
        Caveat::WeakPrior { stimuli: with("weak-prior") },
        Caveat::NegativeDiscrimination { stimuli: with("negative-discrimination") },
        Caveat::DiscriminationTooLow { stimuli: with("discrimination-too-low") },
        Caveat::FewAnswersPerStimulus {
            stimuli: with("few-answers-per-stimulus"),
            n_wanted: n_wanted(model),
            is_1pl: model == Model::OnePl,
        },
        Caveat::ItemMisfit { stimuli: with("item-misfit") },
    ] {
        if !caveat.stimuli().is_empty() {
            caveats.add(caveat);
        }
    }
    let n_parts = responses.n_parts();
    if 0 < responses.n_silent || !responses.unanswered.is_empty() {
        let (n_participants, stimuli) = (responses.n_silent, responses.unanswered.clone());
        caveats.add(Caveat::WithoutAnswers { n_participants, stimuli });
    }
    if 1 < n_parts {
        caveats.add(Caveat::UnlinkedParticipants { n_parts });
    }
    if !fit.is_settled {
        caveats.add(Caveat::FitNotConverged { n_rounds: fit.n_steps });
    }
}
