//! What the item response model says, in plain sentences.

use mohs_data::Estimate;
use mohs_score::human::item_response::{ItemResponse, Model, StimulusFinding};

use crate::number::{Unit, count, counted, fixed, p_value};
use crate::width::shorten;

/// Columns a stimulus' name may take in a sentence.
const LONGEST_NAME: usize = 40;

/// Returns the answer to "how hard are the stimuli?", one or two sentences.
pub(crate) fn answer(found: &ItemResponse) -> String {
    let known: Vec<(&StimulusFinding, Estimate)> =
        found.stimuli.iter().filter_map(|s| Some((s, s.difficulty?))).collect();
    let (Some((easiest, low)), Some((hardest, high))) = (known.first(), known.last()) else {
        return "No stimulus tells able participants from others, so none has a difficulty.".into();
    };
    let n_hard = found.stimuli.iter().filter(|stimulus| stimulus.intercept.value < 0.0).count();
    let name = |stimulus: &StimulusFinding| shorten(stimulus.stimulus.as_str(), LONGEST_NAME);
    let without = match found.stimuli.len() - known.len() {
        0 => String::new(),
        1 => " 1 stimulus has no difficulty.".into(),
        n => format!(" {} stimuli have no difficulty.", count(n)),
    };
    format!(
        "Of {}, an average participant gets {} more often wrong than right. The easiest is {} ({}), \
         the hardest {} ({}).{without}",
        counted(found.stimuli.len(), "stimulus", "stimuli"),
        if n_hard == 0 { "none".into() } else { count(n_hard) },
        name(easiest),
        fixed(low.value, 2),
        name(hardest),
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
