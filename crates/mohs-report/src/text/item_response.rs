//! Item response as text: the model, the stimuli, the participants.

use mohs_score::human::item_response::{ItemResponse, StimulusFinding};

use super::{caveats, one_line, paragraph, section};
use crate::TextTable;
use crate::headline::item_response as headline;
use crate::number::{Unit, count, fixed};
use crate::width::shorten;

/// Rows of a table before the middle is left out.
const MOST_ROWS: usize = 20;

pub(super) fn chapter(found: &ItemResponse) -> String {
    let mut text = paragraph(&headline::answer(found));
    text += &paragraph(&format!(
        "{}. {}. Difficulty and ability share one scale; 0 is an average participant. Brackets are \
         {} % intervals.",
        headline::basis(found),
        headline::model(found),
        fixed(found.method.confidence * 100.0, 0)
    ));
    text += &paragraph(&format!(
        "Log-likelihood {}, AIC {}, BIC {}. {} {}",
        fixed(found.model_fit.log_likelihood, 2),
        fixed(found.model_fit.aic, 1),
        fixed(found.model_fit.bic, 1),
        headline::comparison(found),
        headline::reliability(found)
    ));
    text += &stimuli(found);
    text += &participants(found);
    text += &caveats(&found.caveats);
    text
}

/// Adds rows, the middle of many left out.
fn rows<T>(table: &mut TextTable, items: &[T], row: impl Fn(&T) -> Vec<String>) {
    let n_left_out = items.len().saturating_sub(MOST_ROWS);
    for (idx, item) in items.iter().enumerate() {
        let place = idx.checked_sub(MOST_ROWS / 2).filter(|place| *place < n_left_out);
        match place {
            None => table.push(row(item)),
            Some(0) => table.push([format!("… {} more", count(n_left_out))]),
            Some(_) => {}
        }
    }
}

fn stimuli(found: &ItemResponse) -> String {
    let headers = ["stimulus", "answers", "right", "difficulty", "discrimination"];
    let mut table = TextTable::new(headers).indented(2);
    rows(&mut table, &found.stimuli, |stimulus: &StimulusFinding| {
        vec![
            shorten(&one_line(stimulus.stimulus.as_str()), 20),
            count(stimulus.n_answers),
            count(stimulus.n_correct),
            stimulus.difficulty.map_or("–".into(), |b| Unit::Plain.estimate(&b)),
            Unit::Plain.estimate(&stimulus.discrimination),
        ]
    });
    section("Stimuli, from easiest to hardest", &table)
}

fn participants(found: &ItemResponse) -> String {
    let headers = ["participant", "people", "answers", "right", "ability"];
    let mut table = TextTable::new(headers).indented(2);
    rows(&mut table, &found.participants, |participant| {
        vec![
            shorten(&one_line(participant.participant.as_str()), 24),
            count(participant.n_people),
            count(participant.n_answers),
            count(participant.n_correct),
            Unit::Plain.estimate(&participant.ability),
        ]
    });
    section("Participants", &table)
}
