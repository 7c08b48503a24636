//! Reasons for less trust in paired judgements.

use std::collections::BTreeSet;

use mohs_data::{Caveat, StimulusId};

use super::{Input, PairedJudgements, Resampled, Scored, StimulusFinding, Ties};
use crate::proportion::real;

/// Participants below which intervals over them are called rough.
const N_PARTICIPANTS_WANTED: usize = 10;
/// Judgements from which a participant's agreement with the rest is held against chance.
const N_JUDGEMENTS_WANTED: usize = 20;
/// Agreement with the rest that is clearly better than a coin: somebody is said to be at chance only
/// if the data rule this out.
const CLEARLY_BETTER: f64 = 0.7;
/// Times by which intervals over people exceed those by information before it is said.
const MUCH_WIDER: f64 = 1.5;

const SEPARATED: &str = "separated-judgements";
const SEVERAL_COMPONENTS: &str = "several-components";

/// Returns the codes of what weakens one stimulus' numbers.
pub(super) fn of_stimulus(is_separated: bool, has_several_components: bool) -> Vec<String> {
    let separated = is_separated.then(|| SEPARATED.to_owned());
    let several = has_several_components.then(|| SEVERAL_COMPONENTS.to_owned());
    separated.into_iter().chain(several).collect()
}

/// Adds what weakens the findings as a whole.
pub(super) fn add(scored: &Scored<'_>, input: &Input<'_>, findings: &mut PairedJudgements) {
    let n_components = findings.components.len();
    if 1 < n_components {
        findings.caveats.add(Caveat::SeveralComponents { n_components });
    }
    let separated = |finding: &&StimulusFinding| finding.caveats.iter().any(|c| c == SEPARATED);
    let stimuli: Vec<StimulusId> =
        findings.stimuli.iter().filter(separated).map(|f| f.stimulus.clone()).collect();
    if let Some(prior_sd) =
        findings.components.iter().filter(|c| c.is_separated).find_map(|c| c.prior_sd)
    {
        let n_components = findings.components.iter().filter(|c| c.is_separated).count();
        let only = |has_won: bool| -> Vec<StimulusId> {
            let is = |f: &&StimulusFinding| {
                f.n_ties == 0 && f.n_harder == if has_won { f.difficulty.n } else { 0 }
            };
            let concerned = findings.stimuli.iter().filter(separated).filter(is);
            concerned.map(|f| f.stimulus.clone()).collect()
        };
        let (only_won, only_lost) = (only(true), only(false));
        findings.caveats.add(Caveat::SeparatedJudgements {
            stimuli,
            only_won,
            only_lost,
            n_components,
            prior_sd,
        });
    }
    let questions: BTreeSet<Option<&str>> =
        input.comparisons.iter().map(|comparison| comparison.question.as_deref()).collect();
    if findings.method.question.is_none() && 1 < questions.len() {
        findings.caveats.add(Caveat::SeveralQuestions { n_questions: questions.len() });
    }
    if let Some(position) = &findings.position
        && let Some(advantage) = &position.left_advantage
        && (0.0 < advantage.low || advantage.high < 0.0)
    {
        findings.caveats.add(Caveat::PositionBias { left_log_odds: advantage.value });
    }
    let is_modelled = findings.method.ties == Ties::Davidson && 0 < findings.n_ties;
    if is_modelled && findings.tie_parameter.is_none() {
        findings.caveats.add(Caveat::TiesSplit);
    }
    match findings.method.resampled {
        Resampled::Judgements => findings.caveats.add(Caveat::JudgementsResampled),
        Resampled::Participants if findings.n_participants < N_PARTICIPANTS_WANTED => {
            let n_participants = findings.n_participants;
            findings.caveats.add(Caveat::FewParticipants { n_participants });
        }
        Resampled::Participants => {}
    }
    let ratio = width_ratio(&findings.stimuli);
    if findings.method.resampled == Resampled::Participants
        && let Some(ratio) = ratio.filter(|ratio| MUCH_WIDER < *ratio)
    {
        findings.caveats.add(Caveat::PeopleDiffer { ratio });
    }
    let at_chance = findings
        .participants
        .iter()
        .filter_map(|participant| participant.agreement_with_rest)
        .filter(|agreement| {
            let is_known = N_JUDGEMENTS_WANTED <= agreement.n && agreement.high < CLEARLY_BETTER;
            is_known && agreement.low <= 0.5
        })
        .count();
    if 0 < at_chance {
        findings.caveats.add(Caveat::JudgesAtChance { n_participants: at_chance });
    }
    let has_levels = scored.known.iter().flatten().any(|stimulus| stimulus.level.is_some());
    if has_levels && findings.levels.is_none() {
        findings.caveats.add(Caveat::LevelsWithoutOrder);
    }
    let judged: BTreeSet<&StimulusId> = scored.data.stimuli.iter().copied().collect();
    let n_silent = input.stimuli.iter().filter(|stimulus| !judged.contains(&stimulus.id)).count();
    if 0 < n_silent {
        findings.caveats.add(Caveat::StimuliWithoutTrials { n_stimuli: n_silent });
    }
}

/// Returns how many times wider intervals over people are, on average over stimuli.
fn width_ratio(stimuli: &[StimulusFinding]) -> Option<f64> {
    let both: Vec<(f64, f64)> = stimuli
        .iter()
        .filter_map(|finding| {
            let people = finding.difficulty_by_people?.half_width();
            Some((people, finding.difficulty.half_width()))
        })
        .collect();
    let (people, information) =
        both.iter().fold((0.0, 0.0), |sums, widths| (sums.0 + widths.0, sums.1 + widths.1));
    let n = real(both.len());
    (0.0 < information && 0.0 < n).then(|| people / information)
}
