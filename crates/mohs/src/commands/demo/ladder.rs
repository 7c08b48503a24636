//! The demo's ladder: pictures of every class, attribute and level, which the networks that come with
//! the program answer as they are.
//!
//! The demo's other pictures have too few of a class and attribute at every level for chains, so the
//! ladder draws its own, small ones, into the folder `ladder/`. Whether people find its levels harder
//! is asked of the demo's judgements, whose pictures stand on the same levels.

use std::collections::BTreeMap;
use std::path::Path;

use mohs_data::format::write_all;
use mohs_data::{Caveat, Comparison, Prediction, ProbeEntry, Seed, Stimulus, StimulusId};
use mohs_score::model::hierarchy::{Input, LadderFindings, Options, score};
use mohs_vision::world::WorldPlan;

use super::models;
use crate::built_in;
use crate::error::CliError;
use crate::folder;
use crate::ui::Ui;

/// The folder that pictures and predictions go into.
const FOLDER: &str = "ladder";
/// Side of the pictures: quick to draw, and more than the networks look at.
const SIDE: u32 = 64;
/// Pictures for each of the demo's other ones: two of each class, attribute and level, where there
/// are 240.
const N_PER_STIMULUS: usize = 4;
/// Tells the ladder's pictures from the demo's others, which the seed alone would repeat.
const APART: u64 = 0x1add_e200;

/// The ladder and what networks said about it.
pub(super) struct Climbed {
    pub(super) stimuli: Vec<Stimulus>,
    pub(super) predictions: Vec<Prediction>,
}

/// Draws the ladder and lets the networks answer it.
pub(super) fn climb(
    n_stimuli: usize,
    output: &Path,
    seed: Seed,
    ui: &Ui,
) -> Result<Climbed, CliError> {
    let folder = output.join(FOLDER);
    folder::make(&folder)?;
    let plan = WorldPlan::new(seed.0 ^ APART, SIDE, n_stimuli * N_PER_STIMULUS);
    let (_, mut stimuli) = built_in::draw_into(&plan, &folder, ui)?;
    // The demo's other pictures have names of the same kind.
    for stimulus in &mut stimuli {
        stimulus.id = StimulusId::new(format!("{FOLDER}-{}", stimulus.id));
    }
    write_all(&folder.join("stimuli.csv"), &stimuli)?;
    let mut manifest = models::manifest(seed);
    manifest.probes = vec![ProbeEntry {
        name: Prediction::NO_PROBE.to_owned(),
        kind: "none".to_owned(),
        parameters: BTreeMap::new(),
    }];
    let predictions = models::evaluated(&manifest, &stimuli, (output, &folder), ui)?;
    write_all(&folder.join("predictions.csv"), &predictions)?;
    Ok(Climbed { stimuli, predictions })
}

/// Scores the ladder. `judged` are the demo's other pictures, which people compared.
pub(super) fn scored(
    climbed: &Climbed,
    comparisons: &[Comparison],
    judged: &[Stimulus],
    seed: Seed,
) -> Result<LadderFindings, CliError> {
    let stimuli: Vec<Stimulus> = climbed.stimuli.iter().chain(judged).cloned().collect();
    let options = Options::default();
    let mut findings = score(&Input {
        predictions: &climbed.predictions,
        stimuli: &stimuli,
        difficulties: &[],
        comparisons,
        options: &options,
        seed,
    })?;
    findings.caveats.add(Caveat::Simulated);
    Ok(findings)
}
