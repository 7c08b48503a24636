//! Data quality as text: rules, and the participants they flag.

use mohs_score::human::quality::DataQuality;

use super::{caveats, one_line, paragraph, section, wrapped};
use crate::TextTable;
use crate::headline::quality as headline;
use crate::number::{Unit, count, fixed};
use crate::width::shorten;

/// Participants listed before the rest is only counted.
const MOST_LISTED: usize = 30;

pub(super) fn chapter(found: &DataQuality) -> String {
    let all = &found.everything;
    let share = |estimate: &Option<mohs_data::Estimate>| {
        estimate.as_ref().map_or("not recorded".into(), |e| Unit::Share.estimate(e))
    };
    let mut text = paragraph(&headline::answer(found));
    text += &paragraph(&format!(
        "{}. Brackets are {} % intervals. A flag is evidence, not a verdict: nothing is set aside.",
        headline::basis(found),
        fixed(found.confidence * 100.0, 0)
    ));
    let mut facts = TextTable::new(["all trials", ""]).indented(2);
    facts.push(["right answers".into(), share(&all.accuracy)]);
    facts.push(["right on catch trials".into(), share(&all.catch_accuracy)]);
    facts.push(["right at the longest exposure".into(), share(&all.accuracy_at_longest)]);
    facts.push(["no answer".into(), share(&all.timeouts)]);
    facts.push(["median rt".into(), headline::median_rt(found)]);
    facts.push(["stimuli seen before".into(), count(all.n_repeated)]);
    facts.push(["copies of other trials".into(), count(all.n_duplicates)]);
    text += &section("Facts", &facts);
    let mut rules = TextTable::new(["rule", "flagged", "judged"]).indented(2);
    for rule in &found.rules {
        let judged = if rule.n_judged == 0 { "–".into() } else { count(rule.n_judged) };
        rules.push([rule.rule.clone(), count(rule.n_participants), judged]);
    }
    text += &section("Participants flagged, by rule", &rules);
    text += &flagged(found);
    text += &caveats(&found.caveats);
    text
}

fn flagged(found: &DataQuality) -> String {
    let flagged: Vec<_> = found.participants.iter().filter(|p| !p.flags.is_empty()).collect();
    if flagged.is_empty() {
        return String::new();
    }
    let mut text = "Flagged participants\n\n".to_owned();
    for participant in flagged.iter().take(MOST_LISTED) {
        let name = shorten(&one_line(participant.participant.as_str()), 30);
        let line = format!("{name}: {}", one_line(&headline::flags(participant)));
        text += &wrapped(&line, "  ", "    ");
    }
    if MOST_LISTED < flagged.len() {
        text += &format!("  … {} more\n", count(flagged.len() - MOST_LISTED));
    }
    text + "\n"
}
