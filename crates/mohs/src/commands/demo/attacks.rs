//! The demo's attacks: how small a change fools two of its networks, and whether pictures that people
//! find hard take less.
//!
//! Two attacks with short settings, searched fast with an audit, so that the demo stays short;
//! `mohs attack` does more.

use std::num::NonZeroUsize;
use std::path::Path;

use mohs_data::format::{atomic, write_all};
use mohs_data::{AttackExample, Difficulty, Manifest, MinEpsilon, Seed, Stimulus};
use mohs_score::model::robustness::{AttackFindings, Input, Options, score, standings};
use mohs_vision::engine::{Engine, EngineChoice, OpenOptions};
use mohs_vision::evaluate::{self, Part};
use mohs_vision::min_epsilon::{self, Delivered, Example, Grid, Job, Mode, Noise, Planned};
use mohs_vision::pixels::{self, Rgb8};
use mohs_vision::probe::attack::{Attack, Preset, Settings, Steps};

use super::super::report::attacked::FOLDER;
use super::super::score::attacks::examples::{chosen, file_name};
use super::models::MEASURE;
use crate::error::CliError;
use crate::folder;
use crate::ui::Ui;

/// The networks that are attacked.
const MODELS: [&str; 2] = ["plain", "residual"];
/// The attacks: one step, and a few.
const ATTACKS: [&str; 2] = ["fgsm", "pgd"];
/// Steps of the second; torchattacks takes 10, the paper 40.
const N_STEPS: usize = 5;
/// The share of pictures that is searched exactly.
const AUDITED: f64 = 0.05;

/// What came out of the attacks.
pub(super) struct Attacked {
    pub(super) rows: Vec<MinEpsilon>,
    examples: Vec<(AttackExample, Example)>,
}

/// Attacks the networks and writes the smallest ε of each picture.
pub(super) fn attack(
    stimuli: &[Stimulus],
    output: &Path,
    seed: Seed,
    ui: &Ui,
) -> Result<Attacked, CliError> {
    let engine =
        Engine::choose(&OpenOptions { choice: EngineChoice::Rten, ..OpenOptions::default() })?;
    let manifest = Manifest::read(&output.join("eval.toml"))?;
    let names = MODELS.map(str::to_owned);
    let job = evaluate::Job {
        manifest: &manifest,
        folder: output,
        stimuli,
        stimuli_folder: output,
        models: Some(&names),
        batch: NonZeroUsize::MIN,
        decoders: NonZeroUsize::MIN,
        cache: None,
    };
    let decoding = job.decoding();
    let candidates = evaluate::plan(job, Part::All, &engine)?.into_candidates();
    let planned = planned();
    let bar = ui.progress(stimuli.len() * candidates.len(), "attacking the models");
    let mut attacked = Attacked { rows: Vec::new(), examples: Vec::new() };
    for candidate in &candidates {
        let job = Job {
            candidate,
            stimuli,
            folder: output,
            decoding: &decoding,
            attacks: &planned,
            corrections: &[],
            target: None,
            mode: Mode::Fast { audited: AUDITED },
            seed,
            noise: Noise::Common,
            n_at_once: NonZeroUsize::new(16).unwrap_or(NonZeroUsize::MIN),
            engine_batch: NonZeroUsize::MIN,
            cache: None,
            keeps_examples: true,
            keeps_attempts: false,
        };
        let plan = min_epsilon::plan(job, &engine)?;
        plan.run(&engine, |stimulus, delivered: Delivered| -> Result<(), CliError> {
            attacked.rows.extend(delivered.rows);
            for example in delivered.examples {
                let row = example.row(candidate.name(), &stimulus.id, "".into());
                attacked.examples.push((row, example));
            }
            bar.inc(1);
            Ok(())
        })?;
    }
    bar.finish_and_clear();
    write_all(&output.join("min_epsilon.csv"), &attacked.rows)?;
    Ok(attacked)
}

fn planned() -> Vec<Planned> {
    let planned = |name: &&str| {
        let attack = Attack::find(name).expect("because the demo names attacks that there are");
        let mut settings = Settings::of(attack, Preset::Torchattacks351);
        if attack.name == "pgd" {
            settings.steps = Steps::Fixed(N_STEPS);
        }
        let grid = Grid::parse("paper", attack.norm).expect("because it is a named grid");
        Planned { attack, settings, grid }
    };
    ATTACKS.iter().map(planned).collect()
}

/// Holds the attacks against how hard people find the pictures, and keeps some of those to be seen.
pub(super) fn scored(
    attacked: &Attacked,
    stimuli: &[Stimulus],
    difficulties: &[Difficulty],
    output: &Path,
    seed: Seed,
) -> Result<AttackFindings, CliError> {
    let options = Options { difficulty_measure: Some(MEASURE.to_owned()), ..Options::default() };
    let input = Input { rows: &attacked.rows, stimuli, difficulties, options: &options, seed };
    let standings = standings(&input)?;
    let rows: Vec<AttackExample> = attacked.examples.iter().map(|(row, _)| row.clone()).collect();
    let folder = output.join(FOLDER);
    folder::make(&folder)?;
    let mut table = Vec::new();
    for (place, idx) in chosen(&rows, &standings).into_iter().enumerate() {
        let (row, example) = &attacked.examples[idx];
        let path = |ending: &str| folder.join(file_name(place, ending));
        let after = &example.after;
        atomic::write_file(&path("clean.png"), &Rgb8::from(&example.before).to_png())?;
        atomic::write_file(&path("png"), &Rgb8::from(after).to_png())?;
        let shape = [3, after.height(), after.width()];
        atomic::write_file(&path("npy"), &pixels::npy(shape, after.planes()))?;
        let standing = standings.iter().find(|standing| standing.stimulus == row.stimulus);
        table.push(AttackExample {
            file: file_name(place, "png").into(),
            band: standing.and_then(|standing| Some(standing.band.as_ref()?.1.clone())),
            ..row.clone()
        });
    }
    write_all(&folder.join(AttackExample::FILE), &table)?;
    Ok(score(&input)?)
}
