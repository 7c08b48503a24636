//! The people who judged pairs: agreement, sides, and each participant.

use mohs_data::Estimate;
use mohs_score::human::bradley_terry::{PairedJudgements, Resampled};

use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet, estimate_of};
use crate::number::{Unit, fixed};

/// Returns agreement, sides and the table of participants; `None` when the file knows neither
/// people nor sides.
pub(super) fn section(found: &PairedJudgements) -> Option<Section> {
    let facts = facts(found);
    let is_known = found.method.resampled == Resampled::Participants;
    if facts.is_empty() && !is_known {
        return None;
    }
    let facts = match facts.is_empty() {
        true => String::new(),
        false => format!("<dl class=\"pairs\">{facts}</dl>\n"),
    };
    let table = if is_known { participants(found) } else { String::new() };
    Some(Section {
        id: "pairs-people",
        nav: "People",
        title: "The people who judged".into(),
        body: format!("{facts}{table}"),
    })
}

fn fact(name: &str, value: &str) -> String {
    format!("<div><dt>{name}</dt><dd>{value}</dd></div>")
}

fn or_why(estimate: Option<&Estimate>, unit: Unit, nouns: (&str, &str), why: &str) -> String {
    estimate.map_or_else(
        || format!("<span class=\"n\">{why}</span>"),
        |estimate| estimate_of(unit, estimate, nouns),
    )
}

fn facts(found: &PairedJudgements) -> String {
    let judgements = ("judgement", "judgements");
    let mut facts = String::new();
    if let Some(agreement) = &found.agreement {
        let pairs = ("pair", "pairs");
        facts += &fact(
            "two people agree on a pair",
            &format!(
                "{} <span class=\"n\">by chance {}&#160;%; {} judgements per pair</span>",
                estimate_of(Unit::Share, &agreement.observed, pairs),
                fixed(agreement.expected * 100.0, 1),
                fixed(agreement.judgements_per_pair, 1)
            ),
        );
        let why = "cannot be told";
        let kappa = or_why(agreement.kappa.as_ref(), Unit::Plain, pairs, why);
        facts += &fact("agreement beyond chance, κ", &kappa);
    }
    if let Some(position) = &found.position {
        let share = estimate_of(Unit::Share, &position.share_left, judgements);
        facts += &fact("“left” is called the harder one", &share);
        let why = "cannot be told: answers follow the side alone";
        let advantage = or_why(position.left_advantage.as_ref(), Unit::Plain, judgements, why);
        facts += &fact("what standing on the left adds, in log-odds", &advantage);
    }
    if let Some(ties) = &found.tie_parameter {
        facts += &fact("tie parameter ν", &estimate_of(Unit::Plain, ties, judgements));
    }
    facts
}

fn participants(found: &PairedJudgements) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("Participant", "participant"),
        Column::count("Judgements", "n_judgements"),
        Column::count("Ties", "n_ties"),
        Column::estimate("Agrees with the rest", "agreement_with_rest", Unit::Share),
        Column::estimate("Says “left”", "share_left", Unit::Share),
        Column::text("Median rt", "median_rt_ms"),
    ]);
    for participant in &found.participants {
        sheet.push(vec![
            Cell::Text(participant.participant.to_string()),
            Cell::Count(participant.n_judgements),
            Cell::Count(participant.n_ties),
            participant
                .agreement_with_rest
                .map_or(Cell::Missing("nobody else judged these"), Cell::Estimate),
            participant.share_left.map_or(Cell::Missing("not known"), Cell::Estimate),
            match participant.median_rt {
                Some(rt) => Cell::Ordered(Unit::Time.value(rt.value()), rt.value()),
                None => Cell::Missing("not recorded"),
            },
        ]);
    }
    format!(
        "<p class=\"lede\">Each participant is held against a fit of everybody else’s judgements: how \
         often is the stimulus called harder that the others make harder? A coin has 50&#160;%. \
         n&#160;=&#160;judgements without ties.</p>\n\
         <div class=\"tall stack first-rows\">{}</div>\n",
        sheet.table("Participants")
    )
}
