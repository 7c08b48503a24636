//! Data quality: who is flagged and why, response times, and the table of participants.

use mohs_score::human::quality::{DataQuality, ParticipantQuality, RtFacts};

use super::caveats;
use super::chapter::Chapter;
use super::figure::Figure;
use super::overview::{fact, fact_list};
use super::section::Section;
use super::sheet::{self, Cell, Column, Sheet};
use crate::chart::paint;
use crate::chart::spans::{self, SpanRow};
use crate::escape::esc;
use crate::headline::quality as headline;
use crate::number::{Unit, count, counted, fixed};

/// Rows of the chart of response times: flagged participants first, then the others.
const MOST_SPANS: usize = 40;
const TRIALS: (&str, &str) = ("trial", "trials");

pub(super) fn chapter(found: &DataQuality) -> Chapter {
    let front = format!(
        "<p class=\"lede\">{}. A flag is evidence, not a verdict: nothing is set aside here. Brackets \
         are {} % intervals.</p>\n{}{}",
        esc(&headline::basis(found)),
        fixed(found.confidence * 100.0, 0),
        caveats::list(&found.caveats),
        facts(found),
    );
    let sections = [Some(rules(found)), response_times(found), Some(participants(found))];
    Chapter {
        id: "data-quality",
        name: "Data quality",
        answer: headline::answer(found),
        front,
        sections: sections.into_iter().flatten().collect(),
    }
}

fn facts(found: &DataQuality) -> String {
    let all = &found.everything;
    let share = |title: &str, estimate: Option<mohs_data::Estimate>, note: &str| match estimate {
        Some(estimate) => fact(title, &sheet::estimate_of(Unit::Share, &estimate, TRIALS), note),
        None => fact(title, "<span class=\"est\"><b>–</b></span>", "not recorded"),
    };
    let rt = format!("<span class=\"est\"><b>{}</b></span>", headline::median_rt(found));
    let rt_note = match &all.rt {
        Some(rt) => format!(
            "half between {} and {}",
            Unit::Time.value(rt.p25.value()),
            Unit::Time.value(rt.p75.value())
        ),
        None => "no response times".into(),
    };
    let chance = found
        .chance
        .map_or(String::new(), |chance| format!("guessing {}", Unit::Share.value(chance)));
    fact_list(&[
        share("Right answers", all.accuracy, &chance),
        share("Right on catch trials", all.catch_accuracy, "all participants"),
        fact("Median rt", &rt, &rt_note),
        share("No answer in time", all.timeouts, "of all trials"),
    ])
}

fn rules(found: &DataQuality) -> Section {
    let mut sheet = Sheet::new(vec![
        Column::text("Rule", "rule"),
        Column::text("Flags", "meaning"),
        Column::count("Participants flagged", "n_participants"),
        Column::count("Participants judged", "n_judged"),
    ]);
    for rule in &found.rules {
        sheet.push(vec![
            Cell::Text(rule.rule.clone()),
            Cell::Text(rule.meaning.clone()),
            Cell::Count(rule.n_participants),
            match rule.n_judged {
                0 => Cell::Missing("not recorded"),
                n => Cell::Count(n),
            },
        ]);
    }
    let recorded: Vec<String> = found
        .recorded
        .iter()
        .map(|recorded| match recorded.n_trials {
            0 => format!("{}: not recorded", recorded.what),
            n if n == found.n_trials => format!("{}: all trials", recorded.what),
            n => format!("{}: {}", recorded.what, counted(n, "trial", "trials")),
        })
        .collect();
    let body = format!(
        "<p class=\"lede\">A rule judges a participant only where there is evidence; shares are \
         judged from {} trials on.</p>\n{}<p>What the file records: {}.</p>\n",
        found.limits.min_trials,
        sheet.table("Rules"),
        esc(&recorded.join("; "))
    );
    Section { id: "data-quality-rules", nav: "Rules", title: "Flags by rule".into(), body }
}

fn response_times(found: &DataQuality) -> Option<Section> {
    let mut timed: Vec<(&ParticipantQuality, &RtFacts)> =
        found.participants.iter().filter_map(|p| Some((p, p.facts.rt.as_ref()?))).collect();
    if timed.is_empty() {
        return None;
    }
    timed.sort_by(|(a, a_rt), (b, b_rt)| {
        let by_flag = a.flags.is_empty().cmp(&b.flags.is_empty());
        by_flag.then(a_rt.median.cmp(&b_rt.median)).then(a.participant.cmp(&b.participant))
    });
    let n_left_out = timed.len().saturating_sub(MOST_SPANS);
    timed.truncate(MOST_SPANS);
    let mut sheet = Sheet::new(vec![
        Column::text("Participant", "participant"),
        Column::text("5 %", "rt_p05_ms"),
        Column::text("25 %", "rt_p25_ms"),
        Column::text("Median", "rt_median_ms"),
        Column::text("75 %", "rt_p75_ms"),
        Column::text("95 %", "rt_p95_ms"),
        Column::estimate("Too fast", "too_fast", Unit::Share),
        Column::estimate("Too slow", "too_slow", Unit::Share),
        Column::estimate("Outliers", "outliers", Unit::Share),
    ]);
    let mut rows = Vec::new();
    for (participant, rt) in timed {
        let percentiles = [rt.p05, rt.p25, rt.median, rt.p75, rt.p95].map(|time| time.value());
        let mut cells = vec![Cell::Text(participant.participant.to_string())];
        cells.extend(percentiles.map(|ms| Cell::Ordered(Unit::Time.value(ms), ms)));
        cells.push(Cell::Estimate(rt.too_fast));
        cells.push(Cell::Estimate(rt.too_slow));
        cells.push(rt.outliers.map_or(Cell::Missing("times do not vary"), Cell::Estimate));
        sheet.push(cells);
        let is_flagged = !participant.flags.is_empty();
        let words: Vec<String> = percentiles.iter().map(|ms| Unit::Time.value(*ms)).collect();
        rows.push(SpanRow {
            name: participant.participant.to_string(),
            note: if is_flagged { "flagged".into() } else { String::new() },
            percentiles,
            paint: paint::set(usize::from(is_flagged)),
            tip: format!(
                "{}\nmedian {}\nhalf {} to {}\nnine tenths {} to {}\nn = {}",
                participant.participant,
                words[2],
                words[1],
                words[3],
                words[0],
                words[4],
                counted(rt.n, "trial", "trials")
            ),
        });
    }
    let left_out = match n_left_out {
        0 => String::new(),
        n => format!(" {} more are in the table of participants.", count(n)),
    };
    let figure = Figure {
        id: "response-times",
        title: "Response times by participant",
        caption: format!(
            "Dots are medians, bars the middle half, lines nine tenths of a participant’s response \
             times. Flagged participants come first, in another colour.{left_out}"
        ),
        sheet,
    };
    let limits =
        [(found.limits.min_rt.value(), "too fast"), (found.limits.max_rt.value(), "too slow")];
    let chart = figure.html(|canvas| spans::times(canvas, &rows, &limits, figure.title));
    let title = "Response times".into();
    Some(Section { id: "data-quality-rt", nav: "Response times", title, body: chart })
}

fn participants(found: &DataQuality) -> Section {
    let mut sheet = Sheet::new(vec![
        Column::text("Participant", "participant"),
        Column::text("Flags", "flags"),
        Column::count("Trials", "n_trials"),
        Column::estimate("Right answers", "accuracy", Unit::Share),
        Column::estimate("Catch trials", "catch_accuracy", Unit::Share),
        Column::estimate("At the longest", "accuracy_at_longest", Unit::Share),
        Column::text("Median rt", "median_rt_ms"),
        Column::estimate("No answer", "timeouts", Unit::Share),
        Column::text("Longest streak", "streak"),
        Column::estimate("Entropy (bits)", "response_entropy", Unit::Plain),
        Column::estimate("Timing ok", "timing_ok", Unit::Share),
        Column::count("Seen before", "n_repeated"),
        Column::count("Copies", "n_duplicates"),
    ]);
    let is_clean = |participant: &&ParticipantQuality| participant.flags.is_empty();
    let flagged = found.participants.iter().filter(|participant| !is_clean(participant));
    for participant in flagged.chain(found.participants.iter().filter(is_clean)) {
        let facts = &participant.facts;
        let share = |estimate: Option<mohs_data::Estimate>, why| {
            estimate.map_or(Cell::Missing(why), Cell::Estimate)
        };
        sheet.push(vec![
            Cell::Text(participant.participant.to_string()),
            Cell::Text(headline::flags(participant)),
            Cell::Count(facts.n_trials),
            share(facts.accuracy, "not recorded"),
            share(facts.catch_accuracy, "no catch trials"),
            share(facts.accuracy_at_longest, "no exposures"),
            match &facts.rt {
                Some(rt) => Cell::Ordered(Unit::Time.value(rt.median.value()), rt.median.value()),
                None => Cell::Missing("not recorded"),
            },
            share(facts.timeouts, "not recorded"),
            headline::streak(participant).map_or(Cell::Missing("not recorded"), Cell::Text),
            share(facts.response_entropy, "not recorded"),
            share(headline::timing_ok(participant), "not recorded"),
            Cell::Count(facts.n_repeated),
            Cell::Count(facts.n_duplicates),
        ]);
    }
    let body = format!(
        "<p class=\"lede\">The p of a streak is the chance of one at least as long if answers came \
         independently at the participant’s own rates. Entropy is 0 when all answers are the same. \
         n&#160;=&#160;trials.</p>\n<div class=\"tall stack first-rows\">{}</div>\n",
        sheet.table("Quality by participant")
    );
    let title = "Participants".into();
    Section { id: "data-quality-participants", nav: "Participants", title, body }
}
