//! The headline of attacks: do easier stimuli need larger changes, and who gains where?

use mohs_data::{Estimate, Goal, Norm};
use mohs_score::model::robustness::{
    AtHorizon, AttackFinding, AttackFindings, AttackTable, EpsilonGroup, GainComparison,
};
use mohs_score::model::{BandOrigin, Cluster};

use crate::number::{Unit, count, counted, fixed};
use crate::width::shorten;

/// Columns of a name in a sentence.
const LONGEST_NAME: usize = 40;
/// The attack that is shown first, where there is one of that name.
const USUAL: &str = "pgd";

/// Returns the table the answer is about: attacks on a grid that fool, the largest change of any
/// number before other norms.
pub(crate) fn main_table(found: &AttackFindings) -> Option<&AttackTable> {
    found.tables.iter().find(|table| is_main(table)).or_else(|| found.tables.first())
}

/// Returns whether a table is of attacks on a grid that fool.
pub(crate) fn is_main(table: &AttackTable) -> bool {
    !table.is_bound && table.goal != Goal::Correct
}

/// Returns the attack that is shown first: PGD, or the first there is.
pub(crate) fn shown_attack(table: &AttackTable) -> Option<&str> {
    let named = |finding: &&AttackFinding| finding.attack.eq_ignore_ascii_case(USUAL);
    let like = |finding: &&AttackFinding| finding.attack.starts_with("pgd (");
    let attacks = &table.attacks;
    let shown = attacks.iter().find(named).or_else(|| attacks.iter().find(like));
    shown.or_else(|| attacks.first()).map(|finding| finding.attack.as_str())
}

/// Returns the finding the answer opens with: the first model under the attack shown first.
pub(crate) fn first_finding(found: &AttackFindings) -> Option<(&AttackTable, &AttackFinding)> {
    let table = main_table(found)?;
    let attack = shown_attack(table)?;
    Some((table, table.attacks.iter().find(|finding| finding.attack == attack)?))
}

/// Returns the answer in two or three sentences; intervals stand beside the numbers below it.
pub(crate) fn answer(found: &AttackFindings) -> String {
    let Some((table, finding)) = first_finding(found) else {
        return "Nothing was attacked.".into();
    };
    trend(table, finding).unwrap_or_else(|| overall(table, finding))
}

/// Returns what else is worth knowing at once: whether other attacks say the same, and what a second
/// model gains; empty when there is nothing.
pub(crate) fn more(found: &AttackFindings) -> String {
    let Some((table, finding)) = first_finding(found) else { return String::new() };
    format!("{} {}", all_attacks(found), gain(table, finding)).trim().to_owned()
}

fn name(text: &str) -> String {
    shorten(text, LONGEST_NAME)
}

/// The numbers of an attack that stands alone in a sentence, up to its own horizon.
pub(crate) struct OnItsOwn<'a> {
    pub(crate) horizon: f64,
    pub(crate) overall: &'a EpsilonGroup,
    pub(crate) bands: &'a [EpsilonGroup],
    pub(crate) easy_minus_hard: Option<&'a Estimate>,
}

/// Returns what an attack needs, however far others of its table were tried.
pub(crate) fn on_its_own<'a>(table: &AttackTable, finding: &'a AttackFinding) -> OnItsOwn<'a> {
    match &finding.alone {
        Some(alone) => OnItsOwn {
            horizon: alone.horizon,
            overall: &alone.overall,
            bands: &alone.bands,
            easy_minus_hard: alone.easy_minus_hard.as_ref(),
        },
        None => OnItsOwn {
            horizon: table.horizon,
            overall: &finding.overall,
            bands: &finding.bands,
            easy_minus_hard: finding.easy_minus_hard.as_ref(),
        },
    }
}

/// Returns whether every stimulus of a group is known to be fooled up to the horizon, so that its
/// restricted mean is the mean.
pub(crate) fn is_whole(group: &EpsilonGroup) -> bool {
    match group.at_horizon {
        Some(at_horizon) => at_horizon.is_none_left(),
        None => group.n_survived == 0,
    }
}

/// Returns a restricted mean: `at least 0.0321` where some survive at the horizon.
fn at_least(group: &EpsilonGroup, mean: &Estimate) -> String {
    let bound = if is_whole(group) { "" } else { "at least " };
    format!("{bound}{}", Unit::Epsilon.value(mean.value))
}

/// Returns how many survive: `19 of 30 stimuli survive every ε up to 0.00200`.
fn survivors(group: &EpsilonGroup, horizon: f64) -> String {
    let n = group.n_attacked();
    let AtHorizon { n_survived, n_unknown } =
        group.at_horizon.unwrap_or(AtHorizon { n_survived: group.n_survived, n_unknown: 0 });
    let survive = match n_survived {
        0 if n_unknown == 0 => format!("none of {} survives", counted(n, "stimulus", "stimuli")),
        0 => format!("none of {} is known to survive", counted(n, "stimulus", "stimuli")),
        1 => format!("1 of {} survives", counted(n, "stimulus", "stimuli")),
        n_survived => {
            format!("{} of {} survive", count(n_survived), counted(n, "stimulus", "stimuli"))
        }
    };
    let unknown = match n_unknown {
        0 => String::new(),
        1 => " (1 that survived was not tried as far)".into(),
        n => format!(" ({} that survived were not tried as far)", count(n)),
    };
    format!("{survive} every ε up to {}{unknown}", Unit::Epsilon.value(horizon))
}

/// Returns what easy and hard stimuli need under one attack.
fn trend(table: &AttackTable, finding: &AttackFinding) -> Option<String> {
    let own = on_its_own(table, finding);
    let difference = own.easy_minus_hard?;
    let (easy, hard) = (own.bands.first()?, own.bands.last()?);
    let (easy_mean, hard_mean) = (easy.restricted_mean?, hard.restricted_mean?);
    let verdict = match side(difference) {
        Side::Above => "Easier stimuli need larger changes",
        Side::Below => "Easier stimuli need smaller changes",
        Side::Unclear => "Easy and hard stimuli need about the same changes, as far as can be told",
    };
    let restricted = match is_whole(easy) && is_whole(hard) {
        true => String::new(),
        false => format!(
            " These are means restricted to ε up to {}; among the fooled alone they are {} and {}.",
            Unit::Epsilon.value(own.horizon),
            mean_fooled(easy),
            mean_fooled(hard)
        ),
    };
    Some(format!(
        "{verdict}: to fool {} with {} takes a mean ε of {} in the easiest band and {} in the \
         hardest.{restricted}",
        name(finding.model.as_str()),
        name(&finding.attack),
        at_least(easy, &easy_mean),
        at_least(hard, &hard_mean),
    ))
}

fn mean_fooled(group: &EpsilonGroup) -> String {
    match group.mean_fooled {
        Some(mean) => Unit::Epsilon.value(mean.value),
        None => "unknown (fewer than two are fooled)".into(),
    }
}

/// Returns what an attack needs where there are no bands.
fn overall(table: &AttackTable, finding: &AttackFinding) -> String {
    let (model, attack) = (name(finding.model.as_str()), name(&finding.attack));
    let own = on_its_own(table, finding);
    let group = own.overall;
    let Some(mean) = &group.restricted_mean else {
        return format!("No stimulus could be attacked with {attack} on {model}.");
    };
    let takes =
        format!("To fool {model} with {attack} takes a mean ε of {}", at_least(group, mean));
    match is_whole(group) {
        true => format!("{takes}; {}.", survivors(group, own.horizon)),
        false => format!(
            "{takes}, restricted to ε up to {}: {}. Among the fooled alone, the mean is {}.",
            Unit::Epsilon.value(own.horizon),
            survivors(group, own.horizon),
            mean_fooled(group)
        ),
    }
}

/// Returns under how many attacks easier stimuli need more, over all norms and goals that fool.
fn all_attacks(found: &AttackFindings) -> String {
    let tables: Vec<&AttackTable> = found.tables.iter().filter(|table| is_main(table)).collect();
    let above = |table: &AttackTable| {
        let own = |finding| on_its_own(table, finding).easy_minus_hard;
        let differences: Vec<&Estimate> = table.attacks.iter().filter_map(own).collect();
        let is_above = |difference: &&&Estimate| side(difference) == Side::Above;
        (differences.iter().filter(is_above).count(), differences.len())
    };
    let counts: Vec<((usize, usize), String)> = tables
        .iter()
        .map(|table| (above(table), about(table)))
        .filter(|((_, n), _)| 0 < *n)
        .collect();
    let n: usize = counts.iter().map(|((_, n), _)| n).sum();
    let n_above: usize = counts.iter().map(|((n_above, _), _)| n_above).sum();
    if n < 2 {
        return String::new();
    }
    let what = match tables.iter().all(|table| is_of_one_model(table)) {
        true => "attacks",
        false => "pairs of model and attack",
    };
    let by_table = match counts.len() {
        1 => String::new(),
        _ => {
            let part = |((n_above, n), about): &((usize, usize), String)| {
                format!("{} of {} ({about})", count(*n_above), count(*n))
            };
            format!(": {}", counts.iter().map(part).collect::<Vec<_>>().join(", "))
        }
    };
    format!(
        "The interval of the difference between the easiest and the hardest band lies above 0 for {} \
         of {} {what}{by_table}.",
        count(n_above),
        count(n)
    )
}

/// Returns whether a table is about one model.
pub(crate) fn is_of_one_model(table: &AttackTable) -> bool {
    table.attacks.windows(2).all(|pair| pair[0].model == pair[1].model)
}

/// Returns what the second model gains, on easy and on hard stimuli.
fn gain(table: &AttackTable, finding: &AttackFinding) -> String {
    let is_shown = |gain: &&GainComparison| gain.attack == finding.attack;
    let Some(gain) = table.comparisons.iter().find(is_shown) else { return String::new() };
    let (first, second) = (name(gain.first.as_str()), name(gain.second.as_str()));
    let ends = match gain.bands.as_slice() {
        [Some(easy), .., Some(hard)] => Some((easy, hard)),
        _ => None,
    };
    let (Some(double), Some((easy, hard))) = (&gain.easy_minus_hard, ends) else {
        return match &gain.overall {
            Some(overall) => format!(
                "Over {first}, {second} gains {} in mean ε on the same stimuli.",
                Unit::Epsilon.value(overall.value)
            ),
            None => String::new(),
        };
    };
    let verdict = match side(double) {
        Side::Above => "more on easy stimuli",
        Side::Below => "more on hard stimuli",
        Side::Unclear => "about as much on easy as on hard stimuli, as far as can be told",
    };
    format!(
        "Over {first}, {second} gains {verdict}: {} on the easiest, {} on the hardest.",
        Unit::Epsilon.value(easy.value),
        Unit::Epsilon.value(hard.value)
    )
}

/// Where an interval lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Above,
    Below,
    Unclear,
}

/// Returns on which side of 0 an interval lies.
pub(crate) fn side(estimate: &Estimate) -> Side {
    match estimate {
        e if 0.0 < e.low => Side::Above,
        e if e.high < 0.0 => Side::Below,
        _ => Side::Unclear,
    }
}

/// Returns what the findings rest on.
pub(crate) fn basis(found: &AttackFindings) -> String {
    format!(
        "{} on {} with {}: {} reached their goal, {} did not, {} had nothing to attack, {} failed",
        counted(found.n_rows, "attack", "attacks"),
        counted(found.n_stimuli, "stimulus", "stimuli"),
        counted(found.models.len(), "model", "models"),
        count(found.n_found),
        count(found.n_survived),
        count(found.n_not_attacked),
        count(found.n_failed)
    )
}

/// Returns what a table is about: `L∞, any wrong answer`.
pub(crate) fn about(table: &AttackTable) -> String {
    let norm = match table.norm {
        Norm::Linf => "L∞",
        Norm::L2 => "L2",
    };
    let goal = match (table.goal, table.is_bound) {
        (Goal::Fool, false) => "any wrong answer",
        (Goal::Fool, true) => "bounds from above",
        (Goal::Target, false) => "one chosen wrong answer",
        (Goal::Target, true) => "one chosen wrong answer, bounds from above",
        (Goal::Correct, false) => "from wrong to right",
        (Goal::Correct, true) => "from wrong to right, bounds from above",
    };
    format!("{norm}, {goal}")
}

/// Returns what the intervals are: `95 % intervals`.
pub(crate) fn intervals(found: &AttackFindings) -> String {
    format!("{} % intervals", fixed(found.method.confidence * 100.0, 0))
}

/// Returns what the bootstrap draws, in words.
pub(crate) fn drawn(found: &AttackFindings) -> &'static str {
    match found.method.cluster {
        Cluster::Label => "classes with all their stimuli",
        Cluster::LabelThenStimulus => "classes, then stimuli within them",
        Cluster::Stimulus => "stimuli",
    }
}

/// Returns where bands come from.
pub(crate) fn bands_from(found: &AttackFindings) -> String {
    let measure = found.method.difficulty.as_deref().unwrap_or("difficulty");
    match found.method.band_origin {
        Some(BandOrigin::Named) => format!("Bands are those of the measure “{measure}”."),
        Some(BandOrigin::Quantiles) => {
            format!("Bands are parts with equally many stimuli by the measure “{measure}”.")
        }
        Some(BandOrigin::Levels) => "Bands are the levels of the stimuli.".into(),
        None => "Nothing says how hard the stimuli are, so there are no bands.".into(),
    }
}

/// Returns how often models were asked, over all attacks: answers, and answers with a gradient.
pub(crate) fn n_calls(found: &AttackFindings) -> (usize, usize) {
    let attacks = found.tables.iter().flat_map(|table| &table.attacks);
    attacks.fold((0, 0), |(forward, gradient): (usize, usize), attack| {
        (
            forward.saturating_add(whole(attack.n_forward)),
            gradient.saturating_add(whole(attack.n_gradient)),
        )
    })
}

/// Turns calls into a count.
pub(crate) fn whole(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
