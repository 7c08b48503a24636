//! What an adaptive test found: its chapter of `summary.json`.

use mohs_data::{Caveat, Caveats, Estimate, Seed};
use serde::{Deserialize, Serialize};

use super::cells::cells;
use super::design::Design;
use super::estimator::{Estimator, EstimatorKind};
use super::interval::interval;
use super::population::{Kind, LadderError, Place, StrataBy};
use super::record::Record;
use super::test::Width;
use crate::proportion::real;
use crate::simulate::ladder::DesignComparison;

/// What was asked for, beside what came back.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// Name of the model under test.
    pub model: &'a str,
    /// The design.
    pub design: &'a Design,
    /// The estimator.
    pub estimator: EstimatorKind,
    /// The share of stimuli that might be asked.
    pub budget: f64,
    /// An interval that is narrow enough, if one was asked for.
    pub width: Option<Width>,
    /// Names of the reference models.
    pub references: &'a [String],
    /// Whether somebody said by what stimuli are put together; else it follows from the budget.
    pub are_strata_chosen: bool,
    /// How often intervals should hold the truth.
    pub confidence: f64,
    /// Where random draws came from.
    pub seed: Seed,
    /// What the model cost.
    pub spent: Spent,
    /// Refusals and answers that name no class.
    pub no_class: NoClass,
    /// What the model says of every stimulus, where that is known: to see how near we came.
    pub full: Option<&'a [Option<bool>]>,
}

/// Refusals and answers that name no class, of models that answer in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoClass {
    /// Answers that name no class.
    pub n_unmatched: usize,
    /// Refusals.
    pub n_refused: usize,
    /// Whether both were taken for wrong; else they were left out.
    pub are_wrong: bool,
}

/// What the model under test cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Stimuli the model was asked, now or in an earlier run that was stopped: how a test came about
    /// does not change what it found.
    pub n_calls: usize,
    /// What a model behind an endpoint took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<SpentAtEndpoint>,
}

/// What a model behind an endpoint took, in earlier runs of the same test, too.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SpentAtEndpoint {
    /// Answers that name no class.
    pub n_unmatched: usize,
    /// Refusals.
    pub n_refused: usize,
    /// Tokens of the questions.
    pub n_tokens_sent: u64,
    /// Tokens of the answers.
    pub n_tokens_received: u64,
    /// What the answers cost, in the unit of the prices.
    pub cost: f64,
}

/// An adaptive test, evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdaptiveTestFinding {
    /// Name of the model under test.
    pub model: String,
    /// The design.
    pub design: String,
    /// The estimator.
    pub estimator: EstimatorKind,
    /// By what stimuli were put together.
    pub strata_by: StrataBy,
    /// How many strata that makes.
    pub n_strata: usize,
    /// The share of stimuli that might be asked.
    pub budget: f64,
    /// The width of interval that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// The seed.
    pub seed: u64,
    /// Reference models.
    pub references: Vec<String>,
    /// Levels from easy to hard, with their weights in the score.
    pub levels: Vec<(String, f64)>,
    /// Stimuli there are.
    pub n_stimuli: usize,
    /// Stimuli that were asked.
    pub n_asked: usize,
    /// What they cost.
    pub spent: Spent,
    /// What was asked round by round.
    pub rounds: Vec<RoundFinding>,
    /// All stimuli.
    pub overall: GroupFinding,
    /// By attribute, where stimuli have several.
    pub attributes: Vec<GroupFinding>,
    /// By level.
    pub by_level: Vec<GroupFinding>,
    /// By attribute and level, where stimuli have several attributes.
    pub by_attribute_and_level: Vec<GroupFinding>,
    /// By class and attribute, shrunk.
    pub cells: Vec<CellFinding>,
    /// Designs beside each other on models whose every answer is known, where they were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub designs: Option<DesignComparison>,
    /// How often intervals hold the truth.
    pub confidence: f64,
    /// Reasons to trust the numbers less.
    pub caveats: Caveats,
}

/// One round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundFinding {
    /// Stimuli asked, by level.
    pub n_by_level: Vec<usize>,
    /// Right answers.
    pub n_right: usize,
}

/// What is known of some stimuli.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupFinding {
    /// Their attribute, if they share one that has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// Their level, if they share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// Share of right answers; n = answers.
    pub accuracy: Estimate,
    /// Weighted score, where several levels are there; n = answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Estimate>,
    /// Stimuli there are.
    pub n_stimuli: usize,
    /// The share of right answers in a full run, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_accuracy: Option<f64>,
    /// The weighted score in a full run, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_score: Option<f64>,
}

/// What is known of one class and attribute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellFinding {
    /// The class.
    pub class: String,
    /// The attribute, where it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// Share of right answers, shrunk, with a credible interval; n = answers.
    pub accuracy: Estimate,
    /// Stimuli there are.
    pub n_stimuli: usize,
}

/// Evaluates a test.
pub fn findings(
    record: &Record<'_>,
    request: &Request<'_>,
) -> Result<AdaptiveTestFinding, LadderError> {
    let ladder = record.ladder();
    let estimator = request.estimator.of(record)?;
    let look = Look { record, request, estimator: &*estimator };
    let n_levels = ladder.levels().len();
    let has_attributes = 1 < ladder.attributes().len() && ladder.strata_by() != StrataBy::Level;
    let attributes = if has_attributes { ladder.attributes().len() } else { 0 };
    let nothing = LadderError::TooFew {
        n_asked: 0,
        n_stimuli: ladder.n_stimuli(),
        at_least: ladder.strata().len(),
    };
    let overall = look.group(None, None).ok_or(nothing)?;
    let by_attribute: Vec<GroupFinding> =
        (0..attributes).filter_map(|idx| look.group(Some(idx), None)).collect();
    let by_level = |idx: usize| look.group(None, Some(idx));
    let by_both = |idx: usize| look.group(Some(idx / n_levels), Some(idx % n_levels));
    Ok(AdaptiveTestFinding {
        model: request.model.to_owned(),
        design: request.design.name(),
        estimator: request.estimator,
        strata_by: ladder.strata_by(),
        n_strata: ladder.strata().len(),
        budget: request.budget,
        width: request.width.map(|width| width.value),
        seed: request.seed.0,
        references: request.references.to_vec(),
        levels: ladder.levels().iter().cloned().zip(ladder.weights().iter().copied()).collect(),
        n_stimuli: ladder.n_stimuli(),
        n_asked: record.asked().len(),
        spent: request.spent,
        rounds: rounds(record),
        caveats: caveats(record, request, &overall, &by_attribute),
        overall,
        attributes: by_attribute,
        by_level: (0..n_levels).filter_map(by_level).collect(),
        by_attribute_and_level: (0..attributes * n_levels).filter_map(by_both).collect(),
        cells: cell_findings(record, request.confidence),
        designs: None,
        confidence: request.confidence,
    })
}

struct Look<'a> {
    record: &'a Record<'a>,
    request: &'a Request<'a>,
    estimator: &'a dyn Estimator,
}

impl Look<'_> {
    fn group(&self, attribute: Option<usize>, level: Option<usize>) -> Option<GroupFinding> {
        let ladder = self.record.ladder();
        let is_in = |place: &Place| {
            attribute.is_none_or(|idx| place.attribute_idx == idx)
                && level.is_none_or(|idx| place.level_idx == idx)
        };
        let estimate = |kind| {
            let moments = self.estimator.estimate(&ladder.group(kind, is_in)?)?;
            Some((within_0_and_1(interval(&moments, self.request.confidence)?), moments.n_stimuli))
        };
        let (accuracy, n_stimuli) = estimate(Kind::Accuracy)?;
        let several = level.is_none() && 1 < ladder.levels().len();
        let score = several.then(|| estimate(Kind::Score)).flatten().map(|(score, _)| score);
        Some(GroupFinding {
            attribute: attribute.and_then(|idx| ladder.attributes()[idx].clone()),
            level: level.map(|idx| ladder.levels()[idx].clone()),
            accuracy,
            score,
            n_stimuli,
            full_accuracy: self.full(Kind::Accuracy, is_in),
            full_score: several.then(|| self.full(Kind::Score, is_in)).flatten(),
        })
    }

    /// The same of all answers, where they are known.
    fn full(&self, kind: Kind, is_in: impl Fn(&Place) -> bool) -> Option<f64> {
        full_value(self.record, self.request.full?, kind, is_in)
    }
}

/// Cuts a share to what shares can be. Forecasts can carry an unbiased estimate a little beyond; the
/// simulation that holds designs against each other counts it uncut.
fn within_0_and_1(estimate: Estimate) -> Estimate {
    let cut = |number: f64| number.clamp(0.0, 1.0);
    Estimate {
        value: cut(estimate.value),
        low: cut(estimate.low),
        high: cut(estimate.high),
        ..estimate
    }
}

/// Returns a group's value when every stimulus is asked; `None` where an answer is missing.
pub(crate) fn full_value(
    record: &Record<'_>,
    answers: &[Option<bool>],
    kind: Kind,
    is_in: impl Fn(&Place) -> bool,
) -> Option<f64> {
    let ladder = record.ladder();
    let group = ladder.group(kind, is_in)?;
    let mut value = 0.0;
    for (idx, weight) in group.strata {
        let stimuli = &ladder.strata()[idx].stimuli;
        let mut n_right = 0;
        for stimulus in stimuli {
            n_right += usize::from(answers[*stimulus]?);
        }
        value += weight * real(n_right) / real(stimuli.len());
    }
    Some(value)
}

fn rounds(record: &Record<'_>) -> Vec<RoundFinding> {
    let ladder = record.ladder();
    let empty = RoundFinding { n_by_level: vec![0; ladder.levels().len()], n_right: 0 };
    let mut rounds = vec![empty; record.n_rounds()];
    for asked in record.asked() {
        let round = &mut rounds[asked.question.round];
        round.n_by_level[ladder.places()[asked.question.stimulus].level_idx] += 1;
        round.n_right += usize::from(asked.is_right == Some(true));
    }
    rounds
}

fn cell_findings(record: &Record<'_>, confidence: f64) -> Vec<CellFinding> {
    let ladder = record.ladder();
    let finding = |((attribute_idx, class_idx), moments): ((usize, usize), super::Moments)| {
        Some(CellFinding {
            class: ladder.classes()[class_idx].clone(),
            attribute: ladder.attributes()[attribute_idx].clone(),
            accuracy: interval(&moments, confidence)?,
            n_stimuli: moments.n_stimuli,
        })
    };
    cells(record).into_iter().filter_map(finding).collect()
}

fn caveats(
    record: &Record<'_>,
    request: &Request<'_>,
    overall: &GroupFinding,
    by_attribute: &[GroupFinding],
) -> Caveats {
    let mut caveats = Caveats::default();
    let n_failed = record.n_failed();
    if 0 < n_failed {
        let n_all = record.asked().len();
        caveats.add(Caveat::FailedPredictions { n_predictions: n_failed, n_all });
    }
    let NoClass { n_unmatched, n_refused, are_wrong } = request.no_class;
    if 0 < n_unmatched + n_refused {
        let n_all = record.asked().len();
        caveats.add(Caveat::AnswersWithoutClass { n_unmatched, n_refused, n_all, are_wrong });
    }
    if record.ladder().strata_by() != StrataBy::ClassAttributeLevel && !request.are_strata_chosen {
        let by = record.ladder().strata_by().words().to_owned();
        caveats.add(Caveat::CoarseStrata { by });
    }
    let is_biased = match request.estimator {
        EstimatorKind::Raw | EstimatorKind::TierPooled | EstimatorKind::SittingMeans => true,
        EstimatorKind::HierarchicalLogit
        | EstimatorKind::Stratified
        | EstimatorKind::ControlVariate
        | EstimatorKind::Aipw => false,
    };
    if is_biased {
        let estimator = request.estimator.name().to_owned();
        caveats.add(Caveat::BiasedEstimator { estimator });
    }
    if let Some(width) = request.width {
        let overall = std::slice::from_ref(overall);
        let wanted =
            if width.by_attribute && !by_attribute.is_empty() { by_attribute } else { overall };
        let widths = wanted.iter().map(|group| 2.0 * group.accuracy.half_width());
        let found = widths.fold(0.0, f64::max);
        if width.value < found {
            caveats.add(Caveat::WidthNotReached { wanted: width.value, found });
        }
    }
    caveats
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_cut_to_what_shares_can_be() {
        let beyond = Estimate::new(-0.06, -0.06, 1.2, 0.95, 6).unwrap();
        let cut = within_0_and_1(beyond);
        assert_eq!((cut.value, cut.low, cut.high, cut.n), (0.0, 0.0, 1.0, 6));
    }
}
