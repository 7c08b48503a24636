//! Item response: difficulties and abilities on one axis, curves, and both tables.

use mohs_score::human::item_response::{ItemResponse, StimulusFinding};

use super::caveats;
use super::chapter::Chapter;
use super::figure::Figure;
use super::overview::{fact, fact_list};
use super::section::Section;
use super::sheet::{self, Cell, Column, Sheet};
use crate::chart::item_curves::{self, Curve};
use crate::chart::mirrored::{self, Bin, Side};
use crate::chart::paint;
use crate::escape::esc;
use crate::headline::item_response as headline;
use crate::number::{Unit, count, counted, fixed, round_number};

/// Steps of the map.
const N_BINS: usize = 28;
/// Curves shown, from the easiest stimulus to the hardest.
const N_CURVES: usize = 5;
/// Places at which a curve is drawn.
const N_POINTS: u32 = 80;
/// Abilities beyond this are so rare that the map ends there.
const MOST_ABLE: f64 = 6.0;
/// Rows of a table in the page; all of them are in the files.
const MOST_ROWS: usize = 400;

pub(super) fn chapter(found: &ItemResponse) -> Chapter {
    let front = format!(
        "<p class=\"lede\">{}. Difficulty and ability share one scale: where they are equal, half of \
         the answers are right; 0 is an average participant and 1 one standard deviation above. \
         Brackets are {} % intervals.</p>\n{}{}{}",
        esc(&headline::basis(found)),
        fixed(found.method.confidence * 100.0, 0),
        caveats::list(&found.caveats),
        map(found),
        facts(found),
    );
    let sections =
        [curves(found), Some(stimuli(found)), Some(participants(found)), Some(methods(found))];
    Chapter {
        id: "item-response",
        name: "Item response",
        answer: headline::answer(found),
        front,
        sections: sections.into_iter().flatten().collect(),
    }
}

fn facts(found: &ItemResponse) -> String {
    let plain = |text: &str| format!("<span class=\"est\"><b>{text}</b></span>");
    let reliability = match &found.reliability {
        Some(reliability) => {
            sheet::estimate_of(Unit::Plain, reliability, ("participant", "participants"))
        }
        None => plain("none"),
    };
    let mut facts = vec![
        fact("Reliability of abilities", &reliability, "1 is perfect, 0 is noise"),
        fact(
            "Log-likelihood",
            &plain(&fixed(found.model_fit.log_likelihood, 2)),
            &format!(
                "AIC {}, BIC {}",
                fixed(found.model_fit.aic, 1),
                fixed(found.model_fit.bic, 1)
            ),
        ),
    ];
    if let Some(test) = &found.comparison {
        facts.push(fact(
            "1PL against 2PL",
            &plain(&crate::number::p_value(test.p_value)),
            &format!("χ² = {} with {} df", fixed(test.chi_square, 2), test.degrees_of_freedom),
        ));
    }
    fact_list(&facts)
}

/// Draws abilities and difficulties on one axis.
fn map(found: &ItemResponse) -> String {
    let difficulties = || found.stimuli.iter().filter_map(|s| Some((s.difficulty?.value, 1)));
    let abilities = || found.participants.iter().map(|p| (p.ability.value, p.n_people));
    let all = || difficulties().chain(abilities()).map(|(value, _)| value);
    let low = all().fold(-2.0, f64::min).max(-MOST_ABLE).floor();
    let high = all().fold(2.0, f64::max).min(MOST_ABLE).ceil();
    let people = mirrored::counts(abilities(), (low, high), N_BINS);
    let stimuli = mirrored::counts(difficulties(), (low, high), N_BINS);
    let step = (high - low) / f64::from(u32::try_from(N_BINS).unwrap_or(1));
    let mut sheet = Sheet::new(vec![
        Column::text("From", "low"),
        Column::text("To", "high"),
        Column::count("Participants", "n_participants"),
        Column::count("Stimuli", "n_stimuli"),
    ]);
    let mut bins = Vec::new();
    for (idx, (n_people, n_stimuli)) in (0u32..).zip(people.into_iter().zip(stimuli)) {
        let (from, to) = (low + step * f64::from(idx), low + step * f64::from(idx + 1));
        let range = format!("{} to {}", fixed(from, 2), fixed(to, 2));
        sheet.push(vec![
            Cell::Ordered(fixed(from, 2), from),
            Cell::Ordered(fixed(to, 2), to),
            Cell::Count(n_people),
            Cell::Count(n_stimuli),
        ]);
        let tip = |n, one, many| format!("{range}\n{}", counted(n, one, many));
        bins.push(Bin {
            low: from,
            high: to,
            above: (n_people, tip(n_people, "participant", "participants")),
            below: (n_stimuli, tip(n_stimuli, "stimulus", "stimuli")),
        });
    }
    let people = Side { name: "ability of participants".into(), paint: paint::set(0), mark: None };
    let stimuli = Side { name: "difficulty of stimuli".into(), paint: paint::set(1), mark: None };
    let figure = Figure {
        id: "item-map",
        title: "Participants and stimuli on one scale",
        caption: "Above the line how able participants are, below it how hard stimuli are. Stimuli \
                  far to the left of all participants are too easy to tell them apart, those far to \
                  the right too hard. Values beyond the ends are counted at the ends. These are \
                  estimates; their intervals are in the tables below."
            .into(),
        sheet,
    };
    figure.html(|canvas| {
        let text = round_number;
        let x_title = "Ability and difficulty";
        mirrored::mirrored(canvas, &bins, (&people, &stimuli), x_title, text, figure.title)
    })
}

/// Draws the chance of a right answer over ability for a few stimuli.
fn curves(found: &ItemResponse) -> Option<Section> {
    let known: Vec<&StimulusFinding> =
        found.stimuli.iter().filter(|stimulus| stimulus.difficulty.is_some()).collect();
    let last = known.len().checked_sub(1)?;
    let mut chosen: Vec<usize> = (0..N_CURVES).map(|idx| idx * last / (N_CURVES - 1)).collect();
    chosen.dedup();
    let mut sheet = Sheet::new(vec![
        Column::text("Stimulus", "stimulus"),
        Column::estimate("Difficulty", "difficulty", Unit::Plain),
        Column::estimate("Discrimination", "discrimination", Unit::Plain),
    ]);
    let mut drawn = Vec::new();
    for (idx, place) in chosen.into_iter().enumerate() {
        let stimulus = known[place];
        let difficulty = stimulus.difficulty?;
        let (a, d) = (stimulus.discrimination.value, stimulus.intercept.value);
        let chance = |ability: f64| 1.0 / (1.0 + (-(a * ability + d)).exp());
        let points = (0..=N_POINTS)
            .map(|at| {
                let ability = 4.0 * (2.0 * f64::from(at) / f64::from(N_POINTS) - 1.0);
                (ability, chance(ability))
            })
            .collect();
        // A difficulty outside the axis has its dot where an average participant stands.
        let dot = if difficulty.value.abs() <= 4.0 { difficulty.value } else { 0.0 };
        drawn.push(Curve {
            name: stimulus.stimulus.to_string(),
            paint: paint::set(idx),
            points,
            dot: (dot, chance(dot)),
            tip: format!(
                "{}\ndifficulty {}\ndiscrimination {}\nn = {}",
                stimulus.stimulus,
                Unit::Plain.estimate(&difficulty),
                Unit::Plain.estimate(&stimulus.discrimination),
                counted(stimulus.n_answers, "answer", "answers")
            ),
        });
        sheet.push(vec![
            Cell::Text(stimulus.stimulus.to_string()),
            Cell::Estimate(difficulty),
            Cell::Estimate(stimulus.discrimination),
        ]);
    }
    let figure = Figure {
        id: "item-curves",
        title: "Chance of a right answer by ability",
        caption: "The easiest stimulus, the hardest, and some in between. Dots stand where half of \
                  the answers are right, or above 0 where that is off the axis. A steep curve tells \
                  able participants from others."
            .into(),
        sheet,
    };
    let chart = figure.html(|canvas| item_curves::over(canvas, &drawn, "Ability", figure.title));
    let title = "Curves of some stimuli".into();
    Some(Section { id: "item-response-curves", nav: "Curves", title, body: chart })
}

fn stimuli(found: &ItemResponse) -> Section {
    let mut sheet = Sheet::new(vec![
        Column::text("Stimulus", "stimulus"),
        Column::estimate("Difficulty", "difficulty", Unit::Plain),
        Column::estimate("Discrimination", "discrimination", Unit::Plain),
        Column::estimate("Wrong answers expected", "expected_error", Unit::Share),
        Column::estimate("Infit", "infit", Unit::Plain),
    ]);
    for stimulus in ends(&found.stimuli) {
        sheet.push(vec![
            Cell::Text(stimulus.stimulus.to_string()),
            stimulus.difficulty.map_or(
                Cell::Missing(if stimulus.discrimination.value < 0.0 {
                    "discrimination negative or near 0"
                } else {
                    "discrimination too low"
                }),
                Cell::Estimate,
            ),
            Cell::Estimate(stimulus.discrimination),
            Cell::Estimate(stimulus.expected_error),
            stimulus.infit.map_or(Cell::Missing("no answers to judge by"), Cell::Estimate),
        ]);
    }
    let body = format!(
        "<p class=\"lede\">From easiest to hardest{}. <i>Wrong answers expected</i> is the share if \
         everybody answered. <i>Infit</i> is 1 when answers scatter as the model says; its interval \
         says how far it strays by chance. n&#160;=&#160;answers.</p>\n\
         <div class=\"tall stack first-rows\">{}</div>\n",
        shown(found.stimuli.len()),
        sheet.table("Stimuli")
    );
    Section { id: "item-response-stimuli", nav: "Stimuli", title: "Stimuli".into(), body }
}

fn participants(found: &ItemResponse) -> Section {
    let mut sheet = Sheet::new(vec![
        Column::text("Participant", "participant"),
        Column::count("People", "n_people"),
        Column::count("Right answers", "n_correct"),
        Column::estimate("Ability", "ability", Unit::Plain),
    ]);
    for participant in ends(&found.participants) {
        sheet.push(vec![
            Cell::Text(participant.participant.to_string()),
            Cell::Count(participant.n_people),
            Cell::Count(participant.n_correct),
            Cell::Estimate(participant.ability),
        ]);
    }
    let body = format!(
        "<p class=\"lede\">By id{}. A row of a table of patterns may stand for several people. \
         Abilities are posterior means; they allow for which stimuli a participant saw. \
         n&#160;=&#160;answers of each.</p>\n<div class=\"tall stack first-rows\">{}</div>\n",
        shown(found.participants.len()),
        sheet.table("Participants")
    );
    let title = "Participants".into();
    Section { id: "item-response-participants", nav: "Participants", title, body }
}

/// Returns the first and the last rows of a long list.
fn ends<T>(rows: &[T]) -> impl Iterator<Item = &T> {
    let half = MOST_ROWS / 2;
    let n_left_out = rows.len().saturating_sub(MOST_ROWS);
    rows.iter().take(half).chain(rows.iter().skip(half + n_left_out))
}

fn shown(n: usize) -> String {
    match n.saturating_sub(MOST_ROWS) {
        0 => String::new(),
        _ => format!("; shown are the first and the last {} of {}", MOST_ROWS / 2, count(n)),
    }
}

fn methods(found: &ItemResponse) -> Section {
    let mut prior = String::new();
    if found.stimuli.iter().any(StimulusFinding::is_unanimous) {
        prior += "<p>Stimuli that all answered rightly, or all wrongly, take no part in the fit. \
                  Afterwards each has the likeliest intercept under a prior around the median of \
                  the others, with standard deviation 3, and the median discrimination.</p>\n";
    }
    if found.method.has_pooling {
        prior += "<p>Some discriminations would be infinite, so all have a prior: their ratio to \
                  their mean is 1&#160;±&#160;0.3. It does not move the scale.</p>\n";
    }
    let body = format!(
        "<div class=\"prose\">\n\
         <pre>P(right) = 1 / (1 + e^−(a θ + d)),   θ ~ N(0, 1),   difficulty b = −d / a</pre>\n\
         <p>{}. <i>θ</i> is a participant’s ability, <i>a</i> a stimulus’s discrimination. Abilities \
         are integrated out and the marginal likelihood is maximised (Bock and Aitkin 1981), here in \
         {} steps; intervals come from the observed information. {}</p>\n{prior}\
         <p>{} It is Var(ability) / (Var(ability) + mean error variance), with a bootstrap interval \
         over participants ({} draws).</p>\n</div>\n",
        esc(headline::model(found)),
        found.method.n_steps,
        esc(&headline::comparison(found)),
        esc(&headline::reliability(found)),
        count(found.method.n_resamples),
    );
    Section {
        id: "item-response-methods",
        nav: "Method",
        title: "How it was computed".into(),
        body,
    }
}
