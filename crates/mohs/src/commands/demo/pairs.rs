//! The demo's paired judgements: simulated people say which of two pictures is harder, within each
//! attribute, three pictures of each level.

use std::collections::BTreeMap;

use mohs_data::{Comparison, Extra, Seed, Stimulus, StimulusId};
use mohs_score::draw::Draw;
use mohs_score::human::bradley_terry::{self, Options, PairedJudgements};
use mohs_score::simulate::pairs::{self, Setting};
use mohs_vision::world::Recipe;

use super::score::{SIMULATED, SOURCE};
use crate::error::CliError;

/// Pictures of each attribute and level.
const N_PER_LEVEL: usize = 3;
/// Key of the part of difficulty that the drawing does not explain.
const UNEXPLAINED: u64 = 101;

pub(super) fn comparisons(recipes: &[Recipe], stimuli: &[Stimulus], seed: Seed) -> Vec<Comparison> {
    let mut groups: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (idx, stimulus) in stimuli.iter().enumerate() {
        if let (Some(attribute), Some(level)) = (&stimulus.attribute, &stimulus.level) {
            let group = groups.entry((attribute, level)).or_default();
            if group.len() < N_PER_LEVEL {
                group.push(idx);
            }
        }
    }
    let mut by_attribute: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for ((attribute, _), members) in groups {
        by_attribute.entry(attribute).or_default().extend(members);
    }
    let pairs: Vec<(usize, usize)> = by_attribute
        .values()
        .flat_map(|members| {
            let each = members.iter().enumerate();
            each.flat_map(|(place, a)| members[..place].iter().map(|b| (*b, *a)))
        })
        .collect();
    let with_truth: Vec<(StimulusId, f64)> = recipes
        .iter()
        .zip(stimuli)
        .enumerate()
        .map(|(idx, (recipe, stimulus))| {
            let mut draw = Draw::new(seed, &[UNEXPLAINED, idx as u64]);
            (stimulus.id.clone(), 5.0 * recipe.strength() + 0.6 * draw.normal())
        })
        .collect();
    let setting = Setting { n_participants: 10, left_bias: 0.1, lapse_rate: 0.03, seed };
    let mut comparisons = pairs::comparisons(&with_truth, &pairs, &setting);
    for comparison in &mut comparisons {
        comparison.extra = Extra::from_pairs([(SOURCE, SIMULATED.to_owned())]);
    }
    comparisons
}

pub(super) fn score(
    comparisons: &[Comparison],
    stimuli: &[Stimulus],
    seed: Seed,
) -> Result<PairedJudgements, CliError> {
    let is_judged = |stimulus: &&Stimulus| {
        comparisons.iter().any(|row| row.left == stimulus.id || row.right == stimulus.id)
    };
    let stimuli: Vec<Stimulus> = stimuli.iter().filter(is_judged).cloned().collect();
    let options = Options::default();
    Ok(bradley_terry::score(&bradley_terry::Input {
        comparisons,
        stimuli: &stimuli,
        options: &options,
        seed,
    })?)
}
