//! What the writer is asked, word for word.
//!
//! Changing a word here changes what answers are kept under: they would be asked and paid for again.

use std::fmt::Write as _;

use mohs_data::Label;

use super::PromptCell;
use crate::endpoint::chat::in_a_row;

/// Who the writer is.
pub(super) const SYSTEM: &str = "You help to build a test of image classifiers. You answer with \
    one JSON value and nothing else: no code fence, no comment.";

/// A question, and about how many tokens its answer has.
pub(super) struct Question {
    pub(super) text: String,
    pub(super) n_output: u64,
}

/// Classes beyond this are not listed: the writer has understood by then.
const MOST_LISTED: usize = 100;

/// Which attributes make pictures of these classes hard?
pub(super) fn attributes(classes: &[Label], n: usize) -> Question {
    let listed = classes.iter().take(MOST_LISTED).map(|class| in_a_row(class.as_str()));
    let listed: Vec<String> = listed.collect();
    let text = format!(
        "Name {n} attributes in which a picture of a thing can vary, such that the thing becomes \
         easier or harder to recognise: for example how much of it is hidden. Each must apply to \
         all of these classes: {}.\n\
         Answer with JSON of this form, with exactly {n} entries, names of one or two lower-case \
         words:\n{{\"attributes\": [{{\"name\": \"…\", \"about\": \"one sentence\"}}]}}",
        listed.join(", ")
    );
    Question { text, n_output: 40 * n as u64 }
}

/// Which nine values of an attribute go from easy to hard, three to a level?
pub(super) fn levels(name: &str, about: &str) -> Question {
    let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
    let text = format!(
        "An image model will draw pictures that are more or less hard to classify because of one \
         attribute: {name}{about}. Describe nine values of this attribute, from the one at which \
         the main object is easiest to recognise to the one at which it is hardest while people \
         can still tell what it is, in even steps, and group them into easy, medium and hard, three \
         each. Each value is a short phrase that fits any object, vary nothing but the attribute, \
         and give numbers where they help.\n\
         Answer with JSON of this form, easiest first:\n\
         {{\"easy\": [\"…\", \"…\", \"…\"], \"medium\": [\"…\", \"…\", \"…\"], \
         \"hard\": [\"…\", \"…\", \"…\"]}}"
    );
    Question { text, n_output: 250 }
}

/// What should the painter be told about a class at each step of an attribute?
pub(super) fn prompts(cell: &PromptCell<'_>, per_step: usize) -> Question {
    let mut steps = String::new();
    let mut n_steps = 0;
    for step in cell.attribute.steps() {
        let _ = writeln!(steps, "{}. ({}) {}", step.number, step.level, step.value);
        n_steps += 1;
    }
    let (class, name) = (cell.class, &cell.attribute.name);
    let each = match per_step {
        1 => "one prompt".to_owned(),
        n => format!("{n} prompts with different scenes"),
    };
    let text = format!(
        "Write prompts for an image model. The main object of every picture is: {class}. The \
         pictures differ in {name}, from easy to hard to recognise:\n{steps}\
         For each of the {n_steps} steps write {each}: one or two sentences that name the object, \
         describe a natural scene with it, and show the step's value plainly. Everything else stays \
         ordinary, no other object of that kind is in view, and no text.\n\
         Answer with JSON of this form, one list per step in the order above:\n\
         {{\"prompts\": [[\"…\"], [\"…\"]]}}"
    );
    Question { text, n_output: 40 + 45 * (n_steps * per_step) as u64 }
}

/// Asks again after an answer that could not be used.
pub(super) fn again(question: &str, why: &str, round: usize) -> String {
    format!(
        "{question}\n\nThis is attempt {round}: an earlier answer could not be read, because of \
         {why}. Keep exactly to the form."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_with_a_comma_is_one_class() {
        let classes = ["mug", "ice, cream", "owl"].map(Label::new);
        let text = attributes(&classes, 2).text;
        assert!(text.contains("all of these classes: mug, \"ice, cream\", owl."), "{text}");
    }
}
