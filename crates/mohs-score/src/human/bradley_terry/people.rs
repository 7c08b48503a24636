//! The people who judged: do they agree, do they favour a side, does one differ from the rest?
//!
//! # Agreement
//!
//! Take two judgements of the same pair by different people. `o` is how often they are the same,
//! `e` how often chance makes them the same, and `κ = (o - e) / (1 - e)`. A pair judged `m` times
//! weighs `m`, as in Krippendorff's α. Which of two stimuli is called the first is arbitrary, so
//! by chance both are "harder" equally often: with a share `t` of ties,
//!
//! ```text
//! e = 2 ((1 - t) / 2)² + t²
//! ```
//!
//! which is 1/2 without ties, as in Bennett's S.
//!
//! Intervals redraw people and, independently, pairs of stimuli: of two or three people every draw
//! that counts holds the same answers, and draws of people alone would lie on one side of `o`.
//!
//! # References
//!
//! - K. Krippendorff (2004), "Reliability in content analysis".
//! - E. M. Bennett, R. Alpert, A. C. Goldstein (1954), "Communications through limited-response
//!   questioning".

use mohs_data::{Estimate, Harder, Seed, Sides};
use rayon::prelude::*;

use super::collected::{Collected, Counted, Judgement};
use super::findings::{AgreementFinding, ParticipantFinding};
use super::fit::Fit;
use super::model::Rules;
use super::resampled::Draws;
use crate::draw::Draw;
use crate::human::exclusion;
use crate::proportion::{real, wilson};
use crate::resample::percentile;

/// Stream of the draws of pairs.
const PAIRS: u64 = 61;

/// Judgements of one pair by one participant, by answer.
struct Share {
    participant: usize,
    answers: [f64; 3],
}

/// Pairs judged by at least two participants.
struct Units(Vec<Vec<Share>>);

impl Units {
    fn new(data: &Collected<'_>) -> Self {
        let mut units: Vec<Vec<Share>> = (0..data.pairs.len()).map(|_| Vec::new()).collect();
        // Sorted by participant, so that the shares of one are neighbours.
        let mut judgements: Vec<&Judgement> = data.judgements.iter().collect();
        judgements.sort_by_key(|judgement| (judgement.pair, judgement.participant));
        for judgement in judgements {
            let unit = &mut units[judgement.pair];
            if unit.last().is_none_or(|share| share.participant != judgement.participant) {
                unit.push(Share { participant: judgement.participant, answers: [0.0; 3] });
            }
            let share = unit.last_mut().expect("because one was just pushed");
            share.answers[judgement.answer()] += real(judgement.count);
        }
        units.retain(|unit| 2 <= unit.len());
        Self(units)
    }

    /// Returns how often each pair is drawn when as many as there are are drawn with replacement.
    fn drawn(&self, seed: Seed, draw_idx: usize) -> Vec<f64> {
        let n = self.0.len();
        let mut draw = Draw::new(seed, &[PAIRS, draw_idx as u64]);
        let mut times = vec![0.0; n];
        for _ in 0..n {
            times[draw.below(n)] += 1.0;
        }
        times
    }

    /// Returns observed agreement and the share of ties; `None` when no two people are left.
    /// People count as often as `weight` says, pairs as often as `times` says.
    fn agreement(
        &self,
        weight: impl Fn(usize) -> f64,
        times: impl Fn(usize) -> f64,
    ) -> Option<(f64, f64)> {
        let (mut same, mut n_tied, mut n) = (0.0, 0.0, 0.0);
        for (unit_idx, unit) in self.0.iter().enumerate() {
            let times = times(unit_idx);
            let mut totals = [0.0; 3];
            let (mut own_same, mut own_all) = (0.0, 0.0);
            for share in unit {
                let weight = weight(share.participant);
                let answers = share.answers.map(|count| weight * count);
                let sum: f64 = answers.iter().sum();
                for (total, answer) in totals.iter_mut().zip(answers) {
                    *total += answer;
                    own_same += answer * answer;
                }
                own_all += sum * sum;
            }
            let m: f64 = totals.iter().sum();
            let pairs = m * m - own_all;
            if times <= 0.0 || pairs <= 0.0 || m <= 1.0 {
                continue;
            }
            let same_here = totals.iter().map(|total| total * total).sum::<f64>() - own_same;
            same += times * m * same_here / pairs;
            n_tied += times * totals[2];
            n += times * m;
        }
        (0.0 < n).then(|| (same / n, n_tied / n))
    }
}

fn expected(share_tied: f64) -> f64 {
    (1.0 - share_tied).powi(2) / 2.0 + share_tied * share_tied
}

fn kappa(observed: f64, share_tied: f64) -> Option<f64> {
    let expected = expected(share_tied);
    (expected < 1.0).then(|| (observed - expected) / (1.0 - expected))
}

/// Returns whether people agree; `None` when no pair was judged by two.
pub(super) fn agreement(
    data: &Collected<'_>,
    draws: &Draws,
    seed: Seed,
    confidence: f64,
) -> Option<AgreementFinding> {
    let units = Units::new(data);
    let (observed, share_tied) = units.agreement(|_| 1.0, |_| 1.0)?;
    let drawn: Vec<(f64, f64)> = draws
        .participant_weights
        .par_iter()
        .enumerate()
        .filter_map(|(draw_idx, weights)| {
            let times = units.drawn(seed, draw_idx);
            units.agreement(|participant| weights[participant], |unit_idx| times[unit_idx])
        })
        .collect();
    let observations: Vec<f64> = drawn.iter().map(|(observed, _)| *observed).collect();
    let kappas: Vec<f64> = drawn.iter().filter_map(|(o, tied)| kappa(*o, *tied)).collect();
    let n_pairs = units.0.len();
    let n_judgements: f64 = units.0.iter().flatten().flat_map(|share| share.answers).sum();
    Some(AgreementFinding {
        n_pairs,
        judgements_per_pair: n_judgements / real(n_pairs),
        observed: percentile(observed, &observations, confidence, n_pairs)?,
        expected: expected(share_tied),
        kappa: kappa(observed, share_tied)
            .and_then(|value| percentile(value, &kappas, confidence, n_pairs)),
    })
}

/// Returns the share of "left" among answers that are no tie, where sides are known. The interval
/// is that of the draws, or Wilson's where that is wider.
pub(super) fn share_left(data: &Collected<'_>, draws: &Draws, confidence: f64) -> Option<Estimate> {
    let plain = share_left_of(data, |_| true, confidence)?;
    let mut by_participant = vec![(0.0, 0.0); data.participants.len()];
    for judgement in data.judgements.iter().filter(|judgement| is_sided(judgement)) {
        let (n_left, n) = &mut by_participant[judgement.participant];
        *n += real(judgement.count);
        *n_left += if judgement.harder == Harder::Left { real(judgement.count) } else { 0.0 };
    }
    let drawn: Vec<f64> = draws
        .participant_weights
        .iter()
        .map(|weights| {
            let (mut n_left, mut n) = (0.0, 0.0);
            for (weight, (left, all)) in weights.iter().zip(&by_participant) {
                n_left += weight * left;
                n += weight * all;
            }
            n_left / n
        })
        .collect();
    let Some(by_people) = percentile(plain.value, &drawn, confidence, plain.n) else {
        return Some(plain);
    };
    let (low, high) = (plain.low.min(by_people.low), plain.high.max(by_people.high));
    Estimate::new(plain.value, low, high, confidence, plain.n)
}

fn is_sided(judgement: &Judgement) -> bool {
    judgement.sides == Sides::Shown && judgement.harder != Harder::Tie
}

fn share_left_of(
    data: &Collected<'_>,
    passes: impl Fn(&Judgement) -> bool,
    confidence: f64,
) -> Option<Estimate> {
    let n = data.n(|judgement| is_sided(judgement) && passes(judgement));
    let n_left = data.n(|judgement| {
        is_sided(judgement) && judgement.harder == Harder::Left && passes(judgement)
    });
    wilson(n_left, n, confidence)
}

/// Returns what is known about each participant. Each is held against a fit of everybody else.
pub(super) fn participants(
    data: &Collected<'_>,
    counted: &Counted,
    rules: &Rules,
    start: &Fit,
    confidence: f64,
) -> Vec<ParticipantFinding> {
    (0..data.participants.len())
        .into_par_iter()
        .map(|participant| {
            let own = |judgement: &Judgement| judgement.participant == participant;
            ParticipantFinding {
                participant: data.participants[participant].clone(),
                n_judgements: data.n(own),
                n_ties: data.n(|judgement| own(judgement) && judgement.harder == Harder::Tie),
                agreement_with_rest: with_rest(
                    data,
                    counted,
                    rules,
                    start,
                    participant,
                    confidence,
                ),
                share_left: share_left_of(data, own, confidence),
                median_rt: exclusion::median(data.rts[participant].clone()),
            }
        })
        .collect()
}

/// Returns how often a participant calls harder what everybody else's judgements make harder.
fn with_rest(
    data: &Collected<'_>,
    counted: &Counted,
    rules: &Rules,
    start: &Fit,
    participant: usize,
    confidence: f64,
) -> Option<Estimate> {
    let network = &counted.network;
    let weight = |judgement: &Judgement| f64::from(judgement.participant != participant);
    let mut ready = rules.apply(network, counted.tallies(data, |_, judgement| weight(judgement)));
    let piece = network.pieces(&ready.tallies);
    let rest = ready.fit(network, Some(start)).ok()?;
    let (mut n_same, mut n) = (0_usize, 0_usize);
    for judgement in data.judgements.iter().filter(|j| j.participant == participant) {
        let Some((harder, easier)) = judgement.harder_and_easier() else { continue };
        let difference = rest.difficulty[harder] - rest.difficulty[easier];
        // The rest say nothing about stimuli they did not join, nor about equals.
        if piece[harder] != piece[easier] || difference.abs() < LEAST_DIFFERENCE {
            continue;
        }
        n = n.saturating_add(judgement.count);
        if 0.0 < difference {
            n_same = n_same.saturating_add(judgement.count);
        }
    }
    wilson(n_same, n, confidence)
}

/// Difference in log-odds below which two stimuli are equals.
const LEAST_DIFFERENCE: f64 = 1e-9;
