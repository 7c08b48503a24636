//! What the item response model says, in plain sentences.

use mohs_data::Estimate;
use mohs_score::human::item_response::{ItemResponse, Model, StimulusFinding};

use crate::number::{Unit, count, counted, fixed, p_value};

/// Returns the answer to "how hard are the stimuli?", one or two sentences.
pub(crate) fn answer(found: &ItemResponse) -> String {
    let known: Vec<(&StimulusFinding, Estimate)> =
        found.stimuli.iter().filter_map(|s| Some((s, s.difficulty?))).collect();
    let (Some((easiest, low)), Some((hardest, high))) = (known.first(), known.last()) else {
        return "No stimulus tells able participants from others, so none has a difficulty.".into();
    };
    let n_hard = known.iter().filter(|(_, difficulty)| 0.0 < difficulty.value).count();
    format!(
        "Of {}, an average participant gets {} more often wrong than right. The easiest is {} ({}), \
         the hardest {} ({}).",
        counted(known.len(), "stimulus", "stimuli"),
        if n_hard == 0 { "none".into() } else { count(n_hard) },
        easiest.stimulus,
        fixed(low.value, 2),
        hardest.stimulus,
        fixed(high.value, 2),
    )
}

/// Returns what the findings rest on.
pub(crate) fn basis(found: &ItemResponse) -> String {
    format!(
        "{} of {} to {}",
        counted(found.n_answers, "answer", "answers"),
        counted(found.n_participants, "participant", "participants"),
        counted(found.n_stimuli, "stimulus", "stimuli"),
    )
}

/// Returns the name of the model in words.
pub(crate) fn model(found: &ItemResponse) -> &'static str {
    match found.method.model {
        Model::OnePl => "1PL: one discrimination for all stimuli",
        Model::TwoPl => "2PL: a discrimination for each stimulus",
    }
}

/// Returns whether stimuli differ in discrimination, in a sentence.
pub(crate) fn comparison(found: &ItemResponse) -> String {
    let Some(test) = &found.comparison else {
        return "Whether stimuli differ in discrimination was not tested: the 2PL model has no finite \
                fit to these answers without a prior."
            .into();
    };
    let verdict = if test.p_value < 0.05 {
        "Stimuli differ in discrimination: the 2PL model fits better"
    } else {
        "No sign that stimuli differ in discrimination: the 1PL model will do"
    };
    format!(
        "{verdict} (χ² = {}, {} degrees of freedom, {}).",
        fixed(test.chi_square, 2),
        test.degrees_of_freedom,
        p_value(test.p_value)
    )
}

/// Returns how well abilities are told apart, in a sentence.
pub(crate) fn reliability(found: &ItemResponse) -> String {
    match &found.reliability {
        Some(reliability) => {
            format!("Reliability of the abilities: {}.", Unit::Plain.estimate(reliability))
        }
        None => "Everybody has the same estimated ability, so it has no reliability.".into(),
    }
}
