//! The demo's adaptive test: one of its networks is asked a quarter of the pictures, with the other
//! two as references, and the full run, which is there, says how near that came.

use mohs_data::{Prediction, Seed, Stimulus};
use mohs_score::adaptive::ladder::AdaptiveTestFinding;
use mohs_score::simulate::ladder::population::World;
use mohs_score::simulate::ladder::{Arm, Setting, Source, compare};

use crate::commands::adapt::{self, Rules, known::Known};
use crate::error::CliError;
use crate::ui::Ui;

/// A small world: the table is for the eye, `docs/methods/adaptive-ladder.md` has the large one.
const WORLD: World = World { n_classes: 12, ..World::PAPER };
const N_RESAMPLES: usize = 10;

/// Tests the first network; `None` if there are too few pictures for a quarter of them to say
/// anything.
pub(super) fn test(
    predictions: &[Prediction],
    stimuli: &[Stimulus],
    seed: Seed,
    ui: &Ui,
) -> Result<Option<AdaptiveTestFinding>, CliError> {
    let rules = Rules::new(0.25, seed);
    if adapt::ladder(stimuli, &rules).is_err() {
        return Ok(None);
    }
    let known = Known::new(predictions.to_vec(), stimuli, "predictions.csv".into())?;
    let Some(model) = known.models().next().map(str::to_owned) else { return Ok(None) };
    let quiet = ui.quiet();
    let mut finding = adapt::replayed(&known, &model, stimuli, &rules, &quiet)?.finding;
    let setting = Setting {
        source: Source::Simulated(WORLD),
        budget: 0.25,
        n_resamples: N_RESAMPLES,
        arms: &Arm::few(Some(3)),
        confidence: 0.95,
        seed,
    };
    finding.designs = Some(compare(&setting)?);
    Ok(Some(finding))
}
