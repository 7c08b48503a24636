//! What a commission will ask for and cost, before anything is asked.
//!
//! Tokens are guesses (four letters are about one); pictures are counted. What is in the ledgers
//! costs nothing any more. Answers that cannot be used are asked for again and are not foreseen.

use std::collections::BTreeSet;

use mohs_data::{Commission, DrawPlan, EndpointEntry, Label, Prompt, StimulusId};

use super::{cells_without_prompts, slots, wording};
use crate::endpoint::chat::expected_of;
use crate::endpoint::{Endpoint, Usage, images};

/// What is known before anything is asked.
#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    /// What is wanted.
    pub commission: &'a Commission,
    /// The classes that are wanted.
    pub classes: &'a [Label],
    /// The plan, where there is one already.
    pub plan: Option<&'a DrawPlan>,
    /// The prompts there are.
    pub prompts: &'a [Prompt],
    /// Pictures that were rejected.
    pub rejected: &'a BTreeSet<StimulusId>,
    /// The writer, as far as its ledger is of use.
    pub writer: Option<&'a Endpoint>,
    /// The painter, as far as its ledger is of use.
    pub painter: Option<&'a Endpoint>,
}

/// One kind of request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// What is asked for.
    pub what: &'static str,
    /// How many requests there are.
    pub n: usize,
    /// How many of them are answered already.
    pub n_known: usize,
    /// What the others will take.
    pub usage: Usage,
    /// What the others will cost, in the unit of the prices.
    pub cost: f64,
}

impl Line {
    /// Requests that will be sent.
    pub fn n_asked(&self) -> usize {
        self.n - self.n_known
    }
}

/// Values of an attribute that the writer is asked for.
const N_STEPS: usize = 9;
/// About what a prompt takes when nobody has written it yet.
const TOKENS_OF_PROMPT: u64 = 45;

/// Returns what will be asked for: attributes, levels, prompts and pictures.
pub fn estimate(work: &Work<'_>) -> [Line; 4] {
    let commission = work.commission;
    let free = EndpointEntry::new("", "");
    let writer = commission.writer.as_ref().unwrap_or(&free);
    let text = |line: &mut Line, question: &wording::Question| {
        let system = Some(wording::SYSTEM);
        let knows = |writer: &Endpoint| writer.knows(&writer.text_key(system, &question.text));
        if work.writer.is_some_and(knows) {
            line.n_known += 1;
        } else {
            let n_input = expected_of(&question.text, system).n_input;
            add(&mut line.usage, n_input, question.n_output, 0);
        }
    };
    let mut attributes = line("attributes");
    let mut levels = line("levels");
    let given = commission.attributes.len();
    let n_attributes = work.plan.map_or_else(
        || if given == 0 { commission.n_attributes } else { given },
        |plan| plan.attributes.len(),
    );
    if work.plan.is_none() {
        if given == 0 {
            attributes.n = 1;
            text(&mut attributes, &wording::attributes(work.classes, n_attributes));
            levels.n = n_attributes;
            // Their names are not known yet, and about as long as this one.
            let question = wording::levels("occlusion", "how much of the object is hidden");
            let n_input = expected_of(&question.text, Some(wording::SYSTEM)).n_input;
            let n = n_attributes as u64;
            add(&mut levels.usage, n * n_input, n * question.n_output, 0);
        } else {
            levels.n = given;
            for name in &commission.attributes {
                text(&mut levels, &wording::levels(name, ""));
            }
        }
    }
    let mut prompts = line("prompts");
    if commission.template.is_none() {
        match work.plan {
            Some(plan) => {
                let open = cells_without_prompts(plan, work.prompts);
                prompts.n = open.len();
                for cell in &open {
                    text(&mut prompts, &wording::prompts(cell, commission.prompts_per_step));
                }
            }
            None => {
                prompts.n = work.classes.len() * n_attributes;
                let n = prompts.n as u64;
                let n_output = (N_STEPS * commission.prompts_per_step) as u64 * TOKENS_OF_PROMPT;
                add(&mut prompts.usage, n * 450, n * (40 + n_output), 0);
            }
        }
    }
    let pictures = pictures(work, n_attributes);
    let mut lines = [attributes, levels, prompts, pictures];
    for (idx, line) in lines.iter_mut().enumerate() {
        line.cost = cost(&line.usage, if idx < 3 { writer } else { &commission.painter });
    }
    lines
}

fn pictures(work: &Work<'_>, n_attributes: usize) -> Line {
    let commission = work.commission;
    let mut line = line("pictures");
    let n_output = images::tokens_drawn(&commission.painter);
    let Some(plan) = work.plan else {
        line.n = work.classes.len() * n_attributes * 3 * commission.per_level;
        let n = line.n as u64;
        add(&mut line.usage, n * TOKENS_OF_PROMPT, n * n_output, n);
        return line;
    };
    for slot in slots(plan, work.prompts, commission.per_level) {
        // What was rejected too often is not drawn again.
        let Some(redraw) = slot.redraw(work.rejected, commission.redraws) else { continue };
        line.n += 1;
        let drawing = slot.drawing(commission, redraw);
        let is_known = match (work.painter, &drawing) {
            (Some(painter), Some(drawing)) => painter.knows(&images::key(painter, drawing)),
            _ => false,
        };
        if is_known {
            line.n_known += 1;
        } else {
            let n_letters = slot.prompt.as_ref().map(|prompt| prompt.len() as u64 / 4 + 1);
            add(&mut line.usage, n_letters.unwrap_or(TOKENS_OF_PROMPT), n_output, 1);
        }
    }
    line
}

fn line(what: &'static str) -> Line {
    Line { what, n: 0, n_known: 0, usage: Usage::default(), cost: 0.0 }
}

fn add(usage: &mut Usage, n_input: u64, n_output: u64, n_pictures: u64) {
    usage.n_input += n_input;
    usage.n_output += n_output;
    usage.n_pictures += n_pictures;
}

#[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
fn cost(usage: &Usage, entry: &EndpointEntry) -> f64 {
    let tokens =
        usage.n_input as f64 * entry.price_input + usage.n_output as f64 * entry.price_output;
    tokens / 1e6 + usage.n_pictures as f64 * entry.price_picture
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_paper_asks_1_011_times_and_has_36_000_pictures_drawn() {
        let text = "version = 1\nname = \"paper\"\nclasses = [\"mug\"]\n\
                    [writer]\nurl = \"http://localhost\"\nmodel = \"w\"\nprice_output = 10\n\
                    [painter]\nurl = \"http://localhost\"\nmodel = \"p\"\nprice_picture = 0.04\n";
        let mut commission = Commission::parse(Path::new("draw.toml"), text).unwrap();
        let classes: Vec<Label> = (0..100).map(|n| Label::new(format!("class {n}"))).collect();
        let estimate = |commission: &Commission| {
            estimate(&Work {
                commission,
                classes: &classes,
                plan: None,
                prompts: &[],
                rejected: &BTreeSet::new(),
                writer: None,
                painter: None,
            })
        };
        let lines = estimate(&commission);
        let n: Vec<usize> = lines.iter().map(Line::n_asked).collect();
        assert_eq!(n, [1, 10, 1_000, 36_000]);
        assert!((lines[3].cost - 1_440.0).abs() < 1e-9);
        let n_output = lines[..3].iter().map(|line| line.usage.n_output).sum::<u64>();
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let cost = n_output as f64 / 1e5;
        assert!((lines[..3].iter().map(|line| line.cost).sum::<f64>() - cost).abs() < 1e-9);
        // A painter that is paid by the tokens of a picture costs something, too.
        commission.painter = EndpointEntry {
            price_output: 40.0,
            price_picture: 0.0,
            tokens_per_picture: 1_000,
            ..commission.painter
        };
        assert!((estimate(&commission)[3].cost - 1_440.0).abs() < 1e-9);
    }
}
