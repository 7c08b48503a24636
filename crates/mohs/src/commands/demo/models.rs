//! The demo's models: the three networks that come with the program answer its pictures under a few
//! probes, and a fourth one learns other pictures and is asked about these after every epoch.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use mohs_data::format::{atomic, write_all};
use mohs_data::{
    Difficulty, Manifest, ModelEntry, Parameter, Prediction, ProbeEntry, Seed, Stimulus, Trial,
};
use mohs_score::human::viewing_time;
use mohs_score::model::{self, ModelFindings, Options};
use mohs_vision::engine::{Engine, EngineChoice, OpenOptions};
use mohs_vision::evaluate::{self, Job, Part, Row};
use mohs_vision::fit::live::{self, Asked};
use mohs_vision::networks::demo_networks;
use mohs_vision::pixels;

use crate::error::CliError;
use crate::folder;
use crate::ui::Ui;

/// What the models said.
pub(super) struct Answers {
    /// Of the three networks, under every probe.
    pub(super) evaluated: Vec<Prediction>,
    /// Of the one that learns, after every epoch.
    pub(super) learned: Vec<Prediction>,
}

/// Writes the models and their manifest into the demo's folder, runs them and writes what they said.
pub(super) fn answers(
    stimuli: &[Stimulus],
    output: &Path,
    seed: Seed,
    ui: &Ui,
) -> Result<Answers, CliError> {
    folder::make(&output.join("models"))?;
    for network in demo_networks() {
        let path = output.join("models").join(format!("{}.onnx", network.name));
        atomic::write_file(&path, network.bytes)?;
    }
    let manifest = manifest(seed);
    manifest.write(&output.join("eval.toml"))?;
    let evaluated = evaluated(&manifest, stimuli, (output, output), ui)?;
    write_all(&output.join("predictions.csv"), &evaluated)?;
    let learned = learned(stimuli, output, seed, ui)?;
    write_all(&output.join("epochs.csv"), &learned)?;
    Ok(Answers { evaluated, learned })
}

/// Scores what the models said by how hard people find the pictures.
pub(super) fn score(
    answers: &Answers,
    stimuli: &[Stimulus],
    difficulties: &[Difficulty],
    trials: &[Trial],
    seed: Seed,
) -> Result<ModelFindings, CliError> {
    let predictions: Vec<Prediction> =
        answers.evaluated.iter().chain(&answers.learned).cloned().collect();
    let options = Options { difficulty_measure: Some(MEASURE.to_owned()), ..Options::default() };
    let input = model::Input {
        predictions: &predictions,
        stimuli,
        difficulties,
        trials,
        families: &BTreeMap::new(),
        options: &options,
        seed,
    };
    Ok(model::score(&input)?)
}

/// The measure of difficulty that models are held against.
pub(super) const MEASURE: &str = viewing_time::MEASURE;

pub(super) fn manifest(seed: Seed) -> Manifest {
    let mut manifest = Manifest::new(super::NAME);
    manifest.seed = seed;
    manifest.difficulty = Some("difficulty.csv".into());
    manifest.difficulty_measure = Some(MEASURE.to_owned());
    manifest.models = demo_networks()
        .iter()
        .map(|network| {
            ModelEntry::new(network.name.into(), format!("models/{}.onnx", network.name).into())
        })
        .collect();
    let number = |name: &str, value: f64| (name.to_owned(), Parameter::Number(value));
    let probe = |name: &str, kind: &str, parameters: Vec<(String, Parameter)>| ProbeEntry {
        name: name.to_owned(),
        kind: kind.to_owned(),
        parameters: parameters.into_iter().collect(),
    };
    manifest.probes = vec![
        probe(Prediction::NO_PROBE, "none", vec![]),
        probe("grey", "grayscale", vec![]),
        probe("low contrast", "contrast", vec![number("factor", 0.5)]),
        probe("noise", "gaussian-noise", vec![number("sd", 0.1)]),
        probe("blur", "gaussian-blur", vec![number("kernel", 9.0), number("sigma", 1.5)]),
    ];
    manifest
}

/// Runs the manifest as `mohs eval` would, on the engine that is always there; models lie in the
/// first folder, stimuli in the second.
pub(super) fn evaluated(
    manifest: &Manifest,
    stimuli: &[Stimulus],
    (folder, stimuli_folder): (&Path, &Path),
    ui: &Ui,
) -> Result<Vec<Prediction>, CliError> {
    let engine =
        Engine::choose(&OpenOptions { choice: EngineChoice::Rten, ..OpenOptions::default() })?;
    let job = Job {
        manifest,
        folder,
        stimuli,
        stimuli_folder,
        models: None,
        batch: NonZeroUsize::new(manifest.batch).unwrap_or(NonZeroUsize::MIN),
        decoders: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        cache: None,
    };
    let plan = evaluate::plan(job, Part::All, &engine)?;
    let bar = ui.progress(plan.n_rows() * plan.candidates().len(), "running the models");
    let mut rows = Vec::with_capacity(plan.n_rows() * plan.candidates().len());
    for candidate in plan.candidates() {
        plan.run(candidate, &engine, |row: &Row<'_>| {
            rows.push(row.prediction.clone());
            bar.inc(1);
            Ok::<_, CliError>(())
        })?;
    }
    bar.finish_and_clear();
    Ok(rows)
}

/// Lets a small network learn, and asks it about the pictures after every epoch.
fn learned(
    stimuli: &[Stimulus],
    output: &Path,
    seed: Seed,
    ui: &Ui,
) -> Result<Vec<Prediction>, CliError> {
    let pictures = stimuli
        .iter()
        .map(|stimulus| pixels::read(&output.join(&stimulus.file)))
        .collect::<Result<Vec<_>, _>>()?;
    let asked: Vec<Asked<'_>> = stimuli
        .iter()
        .zip(&pictures)
        .map(|(stimulus, pixels)| Asked { id: &stimulus.id, label: &stimulus.label, pixels })
        .collect();
    let bar = ui.progress(live::N_EPOCHS as usize, "training a network");
    let rows = live::learn(&asked, seed, &mut || bar.inc(1))?;
    bar.finish_and_clear();
    Ok(rows)
}
