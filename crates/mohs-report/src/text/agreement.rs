//! Agreement and reliability as text.

use mohs_data::Estimate;
use mohs_score::human::agreement::{Agreement, Consistency, DatasetAgreement, Reliability};

use super::{caveats, one_line, paragraph, section};
use crate::TextTable;
use crate::headline::agreement as headline;
use crate::number::{Unit, count, fixed};
use crate::width::shorten;

/// Classes and observers listed before the rest is left to other formats.
const MOST_LISTED: usize = 16;

pub(super) fn chapter(found: &Agreement) -> String {
    let mut text = paragraph(&headline::answer(found));
    text += &paragraph(&format!(
        "{}. Brackets are {} % intervals.",
        headline::basis(found),
        fixed(found.method.confidence * 100.0, 0)
    ));
    text += &consistency(found);
    text += &further(found);
    text += &models(found);
    text += &reliability(found);
    text += &effects(found);
    text += &shape_bias(found);
    text += &exclusions(found);
    text += &caveats(&found.caveats);
    text
}

fn name(set: &DatasetAgreement) -> String {
    shorten(&one_line(&set.name), 18)
}

fn cell(unit: Unit, estimate: Option<Estimate>) -> String {
    estimate.map_or_else(|| "–".into(), |estimate| unit.estimate(&estimate))
}

fn consistency(found: &Agreement) -> String {
    let mut table =
        TextTable::new(["data set", "people", "error consistency", "at most", "both right/wrong"])
            .indented(2);
    let mut push = |name: String, n: String, people: Option<&Consistency>| {
        table.push([
            name,
            n,
            cell(Unit::Plain, people.map(|people| people.error_consistency)),
            people.map_or_else(
                || "–".into(),
                |people| Unit::Plain.value(people.attainable_maximum.value),
            ),
            cell(Unit::Share, people.map(|people| people.observed_consistency)),
        ]);
    };
    for set in &found.datasets {
        push(name(set), count(set.n_participants), set.people.as_ref());
    }
    if 1 < found.datasets.len() {
        push("mean".into(), String::new(), found.means.people.as_ref());
    }
    section("Do people err on the same stimuli?", &table)
}

fn further(found: &Agreement) -> String {
    let mut table =
        TextTable::new(["data set", "right answers", "accuracy diff.²", "κ of answers"])
            .indented(2);
    let small = |estimate: Estimate| {
        let three = |value: f64| fixed(value, 3);
        format!("{} [{}, {}]", three(estimate.value), three(estimate.low), three(estimate.high))
    };
    let mut push = |name: String, accuracy, difference: Option<Estimate>, kappa: String| {
        let difference = difference.map_or_else(|| "–".into(), small);
        table.push([name, cell(Unit::Share, accuracy), difference, kappa]);
    };
    for set in &found.datasets {
        let difference = set.people.as_ref().map(|people| people.accuracy_difference);
        let kappa = set.answers.as_ref().and_then(|answers| answers.fleiss_kappa);
        push(name(set), set.accuracy, difference, cell(Unit::Plain, kappa));
    }
    if 1 < found.datasets.len() {
        let means = &found.means;
        let difference = means.people.as_ref().map(|people| people.accuracy_difference);
        push("mean".into(), means.accuracy, difference, String::new());
    }
    section("Accuracy, and agreement in answers", &table)
}

fn models(found: &Agreement) -> String {
    if found.means.models.is_empty() {
        return String::new();
    }
    let mut table =
        TextTable::new(["model", "data sets", "right answers", "with people", "at most"])
            .indented(2);
    for model in &found.means.models {
        let with = model.with_people.as_ref();
        table.push([
            shorten(&one_line(model.model.as_str()), 22),
            count(model.n_datasets),
            Unit::Share.estimate(&model.accuracy),
            cell(Unit::Plain, with.map(|with| with.error_consistency)),
            with.map_or_else(
                || "–".into(),
                |with| Unit::Plain.value(with.attainable_maximum.value),
            ),
        ]);
    }
    section("Models with people: error consistency", &table)
}

fn reliability(found: &Agreement) -> String {
    let mut table =
        TextTable::new(["data set", "split-half r", "Spearman–Brown", "ceiling"]).indented(2);
    for set in &found.datasets {
        let mut push = |name: String, reliability: &Reliability| {
            table.push([
                name,
                cell(Unit::Plain, reliability.split_half),
                cell(Unit::Plain, reliability.spearman_brown),
                cell(Unit::Plain, reliability.ceiling),
            ]);
        };
        match (&set.reliability_within_conditions, &set.reliability) {
            (Some(within), _) => push(format!("{} *", name(set)), within),
            (None, Some(overall)) => push(name(set), overall),
            (None, None) => {}
        }
    }
    let has_within = found.datasets.iter().any(|set| set.reliability_within_conditions.is_some());
    let note = if has_within { " (* within conditions)" } else { "" };
    section(&format!("How well difficulty repeats{note}"), &table)
}

fn effects(found: &Agreement) -> String {
    let mut table =
        TextTable::new(["data set", "spread of stimuli", "spread of participants"]).indented(2);
    let mut is_empty = true;
    for set in &found.datasets {
        if let Some(effects) = &set.effects {
            is_empty = false;
            table.push([
                name(set),
                Unit::Plain.estimate(&effects.stimulus_sd),
                Unit::Plain.estimate(&effects.participant_sd),
            ]);
        }
    }
    if is_empty { String::new() } else { section("Effects, in log-odds", &table) }
}

fn shape_bias(found: &Agreement) -> String {
    let mut text = String::new();
    for set in &found.datasets {
        let Some(bias) = &set.shape_bias else { continue };
        let mut table = TextTable::new(["", "shape bias", "answers"]).indented(2);
        let mut push = |name: &str, bias: Option<Estimate>| {
            let n = bias.map_or_else(String::new, |bias| count(bias.n));
            table.push([shorten(&one_line(name), 24), cell(Unit::Share, bias), n]);
        };
        push("all people", Some(bias.pooled));
        for class in bias.by_class.iter().take(MOST_LISTED) {
            push(class.class.as_str(), class.shape_bias);
        }
        for person in set.participants.iter().take(MOST_LISTED) {
            push(person.participant.as_str(), person.shape_bias);
        }
        for model in set.models.iter().take(MOST_LISTED) {
            push(model.model.as_str(), model.shape_bias);
        }
        text += &section(&format!("Shape or texture? {}", name(set)), &table);
    }
    text
}

fn exclusions(found: &Agreement) -> String {
    if found.exclusions.is_empty() {
        return String::new();
    }
    let mut table = TextTable::new(["rule", "trials"]).indented(2);
    for rule in &found.exclusions {
        table.push([shorten(&one_line(&rule.rule), 40), count(rule.n_trials)]);
    }
    table.push(["counted".into(), count(found.n_trials)]);
    section("Set aside, by rule", &table)
}
