//! Paired judgements as text: levels, hardest and easiest, sides, agreement.

use mohs_data::Estimate;
use mohs_score::human::bradley_terry::{PairedJudgements, StimulusFinding};

use super::{caveats, one_line, paragraph, section};
use crate::TextTable;
use crate::headline::pairs as headline;
use crate::number::{Unit, count};
use crate::width::shorten;

/// Stimuli listed at each end.
const MOST_AT_AN_END: usize = 6;

pub(super) fn chapter(found: &PairedJudgements) -> String {
    let mut text = paragraph(&headline::answer(found));
    text += &paragraph(&format!("{}.", headline::basis(found)));
    text += &paragraph(&format!(
        "Difficulty is in log-odds against the mean of the group. Brackets are {}.",
        headline::intervals(found)
    ));
    text += &levels(found);
    text += &stimuli(found);
    text += &people(found);
    text += &caveats(&found.caveats);
    text
}

fn levels(found: &PairedJudgements) -> String {
    let Some(levels) = &found.levels else { return String::new() };
    let mut by_level = TextTable::new(["level", "stimuli", "difficulty"]).indented(2);
    for group in &levels.levels {
        by_level.push([
            shorten(&one_line(&group.level), 22),
            group.difficulty.map(|mean| count(mean.n)).unwrap_or_default(),
            shown(group.difficulty.as_ref()),
        ]);
    }
    let mut table =
        TextTable::new(["correlation", "all stimuli", "mean inside groups"]).indented(2);
    for (name, overall, within) in [
        ("Pearson's r", levels.overall.pearson, levels.within.pearson),
        ("Spearman's ρ", levels.overall.spearman, levels.within.spearman),
        ("Kendall's τ-b", levels.overall.kendall, levels.within.kendall),
    ] {
        table.push([name.to_owned(), shown(overall.as_ref()), shown(within.as_ref())]);
    }
    section("Difficulty by the level that was meant", &by_level)
        + &section("Difficulty against level", &table)
}

fn shown(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(|| "cannot be told".into(), |estimate| Unit::Plain.estimate(estimate))
}

/// Lists the two ends of a single group; several groups have no common order.
fn stimuli(found: &PairedJudgements) -> String {
    if found.components.len() != 1 {
        return groups(found);
    }
    let mut table = TextTable::new(["stimulus", "difficulty", "judgements"]).indented(2);
    let n = found.stimuli.len();
    let n_left_out = n.saturating_sub(2 * MOST_AT_AN_END);
    for (idx, finding) in found.stimuli.iter().rev().enumerate() {
        let is_in_the_middle = MOST_AT_AN_END <= idx && idx < MOST_AT_AN_END + n_left_out;
        if is_in_the_middle && 0 < n_left_out {
            if idx == MOST_AT_AN_END {
                table.push([format!("… {} more", count(n_left_out))]);
            }
            continue;
        }
        table.push([
            name_of(finding),
            Unit::Plain.estimate(&finding.difficulty),
            count(finding.difficulty.n),
        ]);
    }
    section("Stimuli, hardest first", &table)
}

fn name_of(finding: &StimulusFinding) -> String {
    shorten(&one_line(finding.stimulus.as_str()), 36)
}

fn groups(found: &PairedJudgements) -> String {
    let mut table = TextTable::new(["group", "stimuli", "judgements", "hardest"]).indented(2);
    let most = 2 * MOST_AT_AN_END;
    for component in found.components.iter().take(most) {
        let hardest = found.stimuli.iter().find(|f| f.component == component.number && f.rank == 1);
        table.push([
            shorten(
                &one_line(&headline::group_name(component.number, component.name.as_deref())),
                26,
            ),
            count(component.n_stimuli),
            count(component.n_judgements),
            hardest.map(name_of).map(|name| shorten(&name, 28)).unwrap_or_default(),
        ]);
    }
    if most < found.components.len() {
        table.push([format!("… {} more", count(found.components.len() - most))]);
    }
    section("Groups that no comparison joins", &table)
}

fn people(found: &PairedJudgements) -> String {
    let mut table = TextTable::new(["people", "", "n"]).indented(2);
    if let Some(position) = &found.position {
        let share = &position.share_left;
        table.push([
            "“left” is the harder one".into(),
            Unit::Share.estimate(share),
            count(share.n),
        ]);
        let advantage = position.left_advantage;
        table.push([
            "what the left adds, log-odds".into(),
            shown(advantage.as_ref()),
            advantage.map(|advantage| count(advantage.n)).unwrap_or_default(),
        ]);
    }
    if let Some(agreement) = &found.agreement {
        table.push([
            "two people agree on a pair".into(),
            Unit::Share.estimate(&agreement.observed),
            count(agreement.observed.n),
        ]);
        table.push([
            "agreement beyond chance, κ".into(),
            shown(agreement.kappa.as_ref()),
            agreement.kappa.map(|kappa| count(kappa.n)).unwrap_or_default(),
        ]);
    }
    if let Some(ties) = &found.tie_parameter {
        table.push(["tie parameter ν".into(), Unit::Plain.estimate(ties), count(ties.n)]);
    }
    if found.position.is_none() && found.agreement.is_none() && found.tie_parameter.is_none() {
        return String::new();
    }
    section("The people who judged", &table)
}
