//! A ladder that others describe and draw: a writer (a language model) proposes attributes, nine
//! levels of each grouped into three, and a prompt per class, attribute and step; a painter (an
//! image model) draws them. It is the pipeline of the hierarchical-learning paper (section 3.1.2).
//!
//! The plan ([`propose`]) and the prompts ([`write_prompts`]) come before any picture, so that
//! people can read and change them. [`slots`] says which pictures there will be, and
//! [`estimate`](fn@estimate) what all of it will cost. Whatever was paid for is in the ledgers of the
//! two endpoints: asking again for the same is free.

mod answer;
mod estimate;
mod wording;

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{
    Commission, DrawPlan, EndpointEntry, Extra, Label, Parameter, PlannedAttribute, Prompt,
    StimulusId, plain_name,
};

use crate::endpoint::chat::{REFUSED, TextReply, each_in_order};
use crate::endpoint::images::Drawing;
use crate::endpoint::{Endpoint, EndpointError, MOST_USELESS, shortened};

pub use estimate::{Line, Work, estimate};

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum CommissionError {
    /// The writer cannot be used.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The writer gave nothing that can be used.
    #[error("the writer gave no usable {what}: {}", why.text)]
    Unusable {
        /// What was asked for.
        what: String,
        /// What is wrong.
        why: Unwritten,
    },
    /// What the writer proposed cannot be drawn.
    #[error("`{key}` of the proposed plan should be {expected}, found `{found}`")]
    Plan {
        /// The key in `plan.toml`.
        key: &'static str,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
}

/// Why there is nothing of the writer that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwritten {
    /// In words.
    pub text: String,
    /// What can be done about it.
    pub remedy: Remedy,
}

/// What can be done where the writer gave nothing that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// Run again: nobody answered.
    AskAgain,
    /// Allow more cost.
    Pay,
    /// Ask something else, or somebody else: what was answered is kept, and asking the same again
    /// asks nothing.
    AskOtherwise,
}

/// Returns the writer's settings with room for long answers, unless parameters are given.
pub fn writer_entry(entry: &EndpointEntry) -> EndpointEntry {
    let mut entry = entry.clone();
    let roomy = || BTreeMap::from([("max_tokens".to_owned(), Parameter::Number(4_000.0))]);
    entry.parameters.get_or_insert_with(roomy);
    entry
}

/// Has the writer propose what is missing of a plan: attributes, unless they are given, and the
/// levels of each.
pub fn propose(
    writer: &Endpoint,
    classes: &[Label],
    commission: &Commission,
) -> Result<DrawPlan, CommissionError> {
    let mut named: Vec<(String, String)> =
        commission.attributes.iter().map(|name| (name.clone(), String::new())).collect();
    if named.is_empty() {
        let n = commission.n_attributes;
        let asked =
            asked(writer, &wording::attributes(classes, n), |text| answer::attributes(text, n))?;
        named = asked.map_err(|why| unusable("attributes", why))?;
    }
    let mut attributes = Vec::new();
    let one = |idx: usize| {
        let (name, about) = &named[idx];
        asked(writer, &wording::levels(name, about), answer::levels)
    };
    each_in_order(named.len(), writer.parallel(), one, |idx, levels| {
        let (name, about) = &named[idx];
        let [easy, medium, hard] =
            levels.map_err(|why| unusable(&format!("levels of `{name}`"), why))?;
        let (name, about) = (name.clone(), about.clone());
        attributes.push(PlannedAttribute { name, about, easy, medium, hard });
        Ok::<(), CommissionError>(())
    })?;
    let classes = classes.iter().map(ToString::to_string).collect();
    let plan = DrawPlan { version: DrawPlan::VERSION, classes, attributes };
    plan.check().map_err(|(key, expected, found)| CommissionError::Plan {
        key,
        expected,
        found,
    })?;
    Ok(plan)
}

fn unusable(what: &str, why: Unwritten) -> CommissionError {
    CommissionError::Unusable { what: what.to_owned(), why }
}

/// One class and one attribute: what the writer is asked about at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptCell<'a> {
    /// The class.
    pub class: &'a str,
    /// The attribute with its steps.
    pub attribute: &'a PlannedAttribute,
}

/// Returns the cells of a plan that lack a prompt for one of their steps.
pub fn cells_without_prompts<'a>(plan: &'a DrawPlan, prompts: &[Prompt]) -> Vec<PromptCell<'a>> {
    let known: BTreeSet<(&str, &str, u64)> = prompts
        .iter()
        .map(|prompt| (prompt.label.as_str(), prompt.attribute.as_str(), prompt.step))
        .collect();
    let cells = plan.classes.iter().flat_map(|class| {
        plan.attributes.iter().map(move |attribute| PromptCell { class, attribute })
    });
    let is_open = |cell: &PromptCell<'_>| {
        cell.attribute.steps().any(|step| {
            !known.contains(&(cell.class, cell.attribute.name.as_str(), step.number as u64))
        })
    };
    cells.filter(is_open).collect()
}

/// Has the writer make prompts, several cells at once; `deliver` gets each cell's prompts in order,
/// or why there are none.
pub fn write_prompts<E: From<EndpointError>>(
    writer: &Endpoint,
    cells: &[PromptCell<'_>],
    per_step: usize,
    mut deliver: impl FnMut(usize, Result<Vec<Prompt>, Unwritten>) -> Result<(), E>,
) -> Result<(), E> {
    let one = |idx: usize| {
        let cell = &cells[idx];
        let n_steps = cell.attribute.steps().count();
        asked(writer, &wording::prompts(cell, per_step), |text| {
            answer::prompts(text, n_steps, per_step)
        })
    };
    each_in_order(cells.len(), writer.parallel(), one, |idx, written| {
        deliver(idx, written.map(|steps| rows(&cells[idx], &steps)))
    })
}

/// Fills a template for every step of a cell.
pub fn fill_template(cell: &PromptCell<'_>, template: &str) -> Vec<Prompt> {
    let filled = |value: &str| {
        // The value last: it may hold anything.
        let text = template.replace("{class}", cell.class);
        vec![text.replace("{attribute}", &cell.attribute.name).replace("{value}", value)]
    };
    let steps: Vec<Vec<String>> = cell.attribute.steps().map(|step| filled(step.value)).collect();
    rows(cell, &steps)
}

fn rows(cell: &PromptCell<'_>, steps: &[Vec<String>]) -> Vec<Prompt> {
    let row = |step: mohs_data::PlannedStep<'_>, text: &String| Prompt {
        label: Label::new(cell.class),
        attribute: cell.attribute.name.clone(),
        level: step.level.to_owned(),
        step: step.number as u64,
        prompt: text.clone(),
        extra: Extra::default(),
    };
    let steps = cell.attribute.steps().zip(steps);
    steps.flat_map(|(step, texts)| texts.iter().map(move |text| row(step, text))).collect()
}

/// Asks until an answer can be used; the inner error says what is wrong with the last one.
fn asked<T>(
    writer: &Endpoint,
    question: &wording::Question,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Result<T, Unwritten>, EndpointError> {
    let unwritten = |text, remedy| Ok(Err(Unwritten { text, remedy }));
    let mut prompt = question.text.clone();
    let mut last = String::new();
    for round in 1..=MOST_USELESS {
        match writer.say(Some(wording::SYSTEM), &prompt, question.n_output)? {
            TextReply::Text(text) => match parse(&text) {
                Ok(found) => return Ok(Ok(found)),
                Err(why) => {
                    last = format!("{why}, in “{}”", shortened(&text));
                    prompt = wording::again(&question.text, &why, round + 1);
                }
            },
            TextReply::Refused(text) => {
                let text = format!("{REFUSED}: “{}”", shortened(&text));
                return unwritten(text, Remedy::AskOtherwise);
            }
            TextReply::Failed(reason) => return unwritten(reason, Remedy::AskAgain),
            TextReply::GivenUp(reason) => return unwritten(reason, Remedy::AskOtherwise),
            TextReply::TooDear => {
                let text = "not asked: the cap on cost was reached".to_owned();
                return unwritten(text, Remedy::Pay);
            }
        }
    }
    unwritten(format!("after {MOST_USELESS} answers, {last}"), Remedy::AskOtherwise)
}

/// The place of one picture of a ladder, whatever is drawn there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// What is shown.
    pub class: String,
    /// What makes it hard.
    pub attribute: String,
    /// How hard it is meant to be.
    pub level: &'static str,
    /// The step of the attribute, from 1.
    pub step: usize,
    /// Which picture of this class, attribute and step, from 0.
    pub number: usize,
    /// What the painter is told; `None` where nobody wrote it.
    pub prompt: Option<String>,
}

/// Returns the pictures of a plan, in the order of classes, attributes, levels and pictures.
///
/// Pictures of a level go round over its steps, and pictures of a step over its prompts.
pub fn slots(plan: &DrawPlan, prompts: &[Prompt], per_level: usize) -> Vec<Slot> {
    let mut texts: BTreeMap<(&str, &str, u64), Vec<&str>> = BTreeMap::new();
    for prompt in prompts {
        let key = (prompt.label.as_str(), prompt.attribute.as_str(), prompt.step);
        texts.entry(key).or_default().push(&prompt.prompt);
    }
    let mut slots = Vec::new();
    for class in &plan.classes {
        for attribute in &plan.attributes {
            let mut first_step = 1;
            for (level, values) in attribute.levels() {
                for idx in 0..per_level {
                    let (step, number) = (first_step + idx % values.len(), idx / values.len());
                    let key = (class.as_str(), attribute.name.as_str(), step as u64);
                    let own = texts.get(&key);
                    slots.push(Slot {
                        class: class.clone(),
                        attribute: attribute.name.clone(),
                        level,
                        step,
                        number,
                        prompt: own.map(|own| own[number % own.len()].to_owned()),
                    });
                }
                first_step += values.len();
            }
        }
    }
    slots
}

/// Redraws of a picture have numbers so far apart that they never meet.
const REDRAW: u32 = 10_000;

impl Slot {
    /// Returns the id of the picture that is drawn here for the first time, or for another time.
    pub fn id(&self, redraw: u32) -> StimulusId {
        let (class, attribute) = (plain_name(&self.class), plain_name(&self.attribute));
        let id = format!("{class}-{attribute}-{}-{:02}", self.step, self.number + 1);
        StimulusId::new(if redraw == 0 { id } else { format!("{id}-r{redraw}") })
    }

    /// Returns how often the picture has been rejected; `None` when no redraw is left.
    pub fn redraw(&self, rejected: &BTreeSet<StimulusId>, redraws: u32) -> Option<u32> {
        (0..=redraws).find(|redraw| !rejected.contains(&self.id(*redraw)))
    }

    /// Returns the seed of a picture: below 2^31, which every painter takes.
    pub fn seed(&self, seed: u64, redraw: u32) -> u32 {
        let Slot { class, attribute, step, number, .. } = self;
        let text = format!("{seed}\n{class}\n{attribute}\n{step}\n{number}\n{redraw}");
        let hash = blake3::hash(text.as_bytes());
        let mut word = [0; 4];
        word.copy_from_slice(&hash.as_bytes()[..4]);
        u32::from_le_bytes(word) >> 1
    }

    /// Returns what the painter is asked for; `None` where there is no prompt.
    pub fn drawing(&self, commission: &Commission, redraw: u32) -> Option<Drawing> {
        let number = u32::try_from(self.number).expect("because a level has few pictures");
        let seed = commission.seed_parameter.clone();
        Some(Drawing {
            prompt: self.prompt.clone()?,
            number: number + REDRAW * redraw,
            seed: seed.map(|name| (name, self.seed(commission.seed.0, redraw))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> DrawPlan {
        let values = |level: &str, n| (1..=n).map(|n| format!("{level} {n}")).collect();
        let attribute = PlannedAttribute {
            name: "odd light".to_owned(),
            about: String::new(),
            easy: values("easy", 3),
            medium: values("medium", 2),
            hard: values("hard", 3),
        };
        let classes = vec!["golden retriever".to_owned(), "mug".to_owned()];
        DrawPlan { version: 1, classes, attributes: vec![attribute] }
    }

    fn prompts(plan: &DrawPlan) -> Vec<Prompt> {
        let cells = cells_without_prompts(plan, &[]);
        cells.iter().flat_map(|cell| fill_template(cell, "{class}: {attribute}, {value}")).collect()
    }

    #[test]
    fn pictures_go_round_over_the_steps_of_their_level() {
        let plan = plan();
        let prompts = prompts(&plan);
        let slots = slots(&plan, &prompts, 4);
        assert_eq!(slots.len(), 2 * 3 * 4);
        let steps: Vec<(usize, usize)> = slots.iter().map(|s| (s.step, s.number)).collect();
        assert_eq!(steps[..4], [(1, 0), (2, 0), (3, 0), (1, 1)]);
        assert_eq!(steps[4..8], [(4, 0), (5, 0), (4, 1), (5, 1)]);
        assert_eq!(steps[8..12], [(6, 0), (7, 0), (8, 0), (6, 1)]);
        assert_eq!(slots[5].prompt.as_deref(), Some("golden retriever: odd light, medium 2"));
        let ids: BTreeSet<StimulusId> = slots.iter().map(|slot| slot.id(0)).collect();
        assert_eq!(ids.len(), slots.len());
        assert!(ids.contains(&"golden-retriever-odd-light-1-02".into()), "{ids:?}");
    }

    #[test]
    fn the_paper_has_36_000_pictures() {
        let mut plan = plan();
        let one = plan.attributes[0].clone();
        plan.classes = (0..100).map(|n| format!("class {n}")).collect();
        plan.attributes = (0..10)
            .map(|n| PlannedAttribute { name: format!("attribute {n}"), ..one.clone() })
            .collect();
        assert_eq!(slots(&plan, &[], 12).len(), 36_000);
    }

    #[test]
    fn cells_are_open_until_every_step_has_a_prompt() {
        let plan = plan();
        let mut prompts = prompts(&plan);
        assert!(cells_without_prompts(&plan, &prompts).is_empty());
        prompts.remove(0);
        let open = cells_without_prompts(&plan, &prompts);
        assert_eq!(open.len(), 1);
        assert_eq!(open[0].class, "golden retriever");
    }

    #[test]
    fn a_rejected_picture_is_drawn_anew_under_another_id_and_seed_until_no_redraw_is_left() {
        let plan = plan();
        let slot = &slots(&plan, &prompts(&plan), 1)[0];
        let mut rejected = BTreeSet::new();
        let mut seeds = BTreeSet::new();
        for expected in [Some(0), Some(1), Some(2), None] {
            let redraw = slot.redraw(&rejected, 2);
            assert_eq!(redraw, expected);
            let Some(redraw) = redraw else { break };
            assert!(seeds.insert(slot.seed(7, redraw)));
            rejected.insert(slot.id(redraw));
        }
        assert_eq!(seeds.len(), 3);
    }
}
