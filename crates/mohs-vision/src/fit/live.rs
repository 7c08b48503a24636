//! A small training while one waits: a plain network learns drawn pictures for a few epochs and is
//! asked about other pictures after each.
//!
//! It is made for the demo, where it gives every picture a learning speed within seconds. The
//! engine is rten, which is always there, so the answers do not depend on what is installed.

use mohs_data::training::{
    Architecture, Augmentation, NetworkEntry, Optimiser, SetEntry, WorldEntry,
};
use mohs_data::{Label, Prediction, Seed, StimulusId, TrainingPlan};

use super::{Example, Fit, FitError, Prepare, Set, Start, Task};
use crate::engine::{Engine, EngineChoice, OpenOptions};
use crate::networks::Blueprint;
use crate::pixels::Rgb8;

/// A picture that the network is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Which stimulus it is.
    pub id: &'a StimulusId,
    /// What it shows: a class of the built-in world.
    pub label: &'a Label,
    /// The picture.
    pub pixels: &'a Rgb8,
}

/// The network's name in predictions.
pub const NAME: &str = "learner";
/// How many epochs it learns for.
pub const N_EPOCHS: u32 = 12;
/// How many pictures it learns from.
pub const N_PICTURES: u32 = 640;

/// Side of the pictures as they are drawn; small ones are drawn faster.
const DRAWN_SIDE: u32 = 48;
/// Side of the pictures as the network takes them.
const SIDE: usize = 32;
/// Keeps its world apart from that of whoever asks, which has the seed itself.
const OTHER_WORLD: u64 = 0x6c65_6172_6e65_7273;

/// Trains a small network and returns its answers to each picture after each epoch, epoch by epoch.
///
/// `tick` hears of every epoch that is done. The same pictures and seed give the same answers on one
/// machine.
pub fn learn(
    asked: &[Asked<'_>],
    seed: Seed,
    tick: &mut dyn FnMut(),
) -> Result<Vec<Prediction>, FitError> {
    let prepare = Prepare { width: SIDE, height: SIDE, mean: [0.5; 3], sd: [0.25; 3] };
    let world =
        WorldEntry { seed: seed.0.wrapping_add(OTHER_WORLD), n: N_PICTURES, size: DRAWN_SIDE };
    let train = Set::draw(&world, &prepare, &|| {});
    let examples = asked
        .iter()
        .map(|one| Example::new(one.id.clone(), one.label.clone(), one.pixels, &prepare))
        .collect();
    let validation = Set { examples, failures: Vec::new() };
    let plan = plan(seed);
    let blueprint =
        Blueprint { width: 12, ..Blueprint::new(Architecture::Plain, SIDE, train.labels().len()) };
    let start = Start::from_blueprint(&blueprint, &plan.network, seed)?;
    let options = OpenOptions { choice: EngineChoice::Rten, ..OpenOptions::default() };
    let engine = Engine::choose(&options)?;
    let task = Task { plan: &plan, start, prepare, train: &train, validation: &validation };
    let mut fit = Fit::new(task, &engine)?;
    let mut predictions = Vec::with_capacity(asked.len() * N_EPOCHS as usize);
    while let Some(epoch) = fit.epoch(&mut |_| {})? {
        predictions.extend(epoch.predictions);
        tick();
    }
    Ok(predictions)
}

fn plan(seed: Seed) -> TrainingPlan {
    let network =
        NetworkEntry { architecture: Some(Architecture::Plain), ..NetworkEntry::default() };
    let mut plan = TrainingPlan::new(NAME, network, SetEntry::default());
    plan.seed.0 = seed;
    plan.epochs = N_EPOCHS;
    plan.batch = 32;
    plan.optimiser = Some(Optimiser::Sgd {
        learning_rate: 0.1,
        momentum: 0.9,
        nesterov: true,
        weight_decay: 5e-4,
        decay_vectors: true,
    });
    plan.schedule.warm_up = 1.0;
    plan.augmentation = Augmentation { flip: true, crop_padding: 3, ..Augmentation::default() };
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{WorldPlan, draw_all, recipes};

    #[test]
    fn a_small_network_learns_something_within_seconds() {
        let recipes = recipes(&WorldPlan::new(1, 64, 96));
        let pictures = draw_all(&recipes);
        let ids: Vec<(StimulusId, Label)> = recipes
            .iter()
            .map(|recipe| (StimulusId::new(&recipe.id), Label::new(recipe.class.name())))
            .collect();
        let asked: Vec<Asked<'_>> = ids
            .iter()
            .zip(&pictures)
            .map(|((id, label), picture)| Asked { id, label, pixels: &picture.pixels })
            .collect();
        let mut n_ticks = 0;
        let rows = learn(&asked, Seed(1), &mut || n_ticks += 1).unwrap();
        assert_eq!((n_ticks, rows.len()), (N_EPOCHS, asked.len() * N_EPOCHS as usize));
        let share = |rows: &[Prediction]| {
            let n_right = rows.iter().filter(|row| row.is_correct() == Some(true)).count();
            n_right as f64 / rows.len() as f64
        };
        let (first, last) = (share(&rows[..asked.len()]), share(&rows[rows.len() - asked.len()..]));
        // Guessing is right once in sixteen.
        assert!(first < last && 0.25 < last, "{first} {last}");
    }
}
