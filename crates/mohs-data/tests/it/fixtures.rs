//! Files of every version ever written are read for ever. Never edit `fixtures/v1`; add `v2`.

use std::path::{Path, PathBuf};

use mohs_data::check::{Checks, read_comparisons, read_predictions, read_trials};
use mohs_data::format::table::Record;
use mohs_data::format::{ReadOptions, read_all, read_stimuli, write_all};
use mohs_data::{
    Annotation, Comparison, Difficulty, Excluded, Exclusion, Harder, Manifest, MinEpsilon, Outcome,
    Prediction, Prompt, Review, Stimulus, Study, Task, Trial,
};

fn v1(name: &str) -> PathBuf {
    Path::new("fixtures/v1").join(name)
}

/// Reads and writes a table; what is written today must still be what was written then.
fn rewrites_itself<R: Record>(name: &str) {
    let rows = read_all::<R>(&v1(name), &ReadOptions::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let again = folder.path().join(name);
    write_all(&again, &rows).unwrap();
    let text = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert_eq!(text(&again), text(&v1(name)), "{name} is written differently now");
}

#[test]
fn tables_of_version_1_are_read_and_written_as_ever() {
    rewrites_itself::<Trial>("trials.csv");
    rewrites_itself::<Stimulus>("stimuli.csv");
    rewrites_itself::<Exclusion>("exclusions.csv");
    rewrites_itself::<Comparison>("comparisons.csv");
    rewrites_itself::<Difficulty>("difficulty.csv");
    rewrites_itself::<Prediction>("predictions.csv");
    rewrites_itself::<MinEpsilon>("min_epsilon.csv");
    rewrites_itself::<Prompt>("prompts.csv");
    rewrites_itself::<Review>("review.csv");
}

#[test]
fn trials_of_version_1() {
    let stimuli = read_stimuli(&v1("stimuli.csv"), &ReadOptions::default()).unwrap();
    let checks = Checks { stimuli: Some(&stimuli), ..Checks::default() };
    let trials = read_trials(&v1("trials.csv"), &checks).unwrap();
    assert_eq!(trials.len(), 6);
    assert_eq!(trials[0].task, Task::Flash);
    assert_eq!(trials[0].exposure.unwrap().value(), 17.0);
    assert_eq!(trials[0].rt().unwrap().value(), 812.5);
    assert_eq!(trials[2].response, None);
    assert_eq!(trials[2].is_correct(), Some(false));
    assert_eq!(read_trials(&v1("trials.parquet"), &checks).unwrap(), trials);
}

#[test]
fn the_other_tables_of_version_1() {
    let options = ReadOptions::default();
    let exclusions = read_all::<Exclusion>(&v1("exclusions.csv"), &options).unwrap();
    assert_eq!(exclusions[0].excluded, Excluded::Trial("t3".into()));
    let difficulty = read_all::<Difficulty>(&v1("difficulty.csv"), &options).unwrap();
    assert_eq!(difficulty[0].estimate.value, 17.0);
    assert_eq!(difficulty[1].caveats, ["too-few-trials"]);
    let comparisons = read_comparisons(&v1("comparisons.csv"), &Checks::default()).unwrap();
    assert_eq!(comparisons[0].harder, Harder::Right);
    let predictions = read_predictions(&v1("predictions.csv"), &Checks::default()).unwrap();
    assert_eq!(predictions[0].answer().unwrap().top_k.len(), 2);
    assert!(matches!(predictions[2].outcome, Outcome::Failed(_)));
}

#[test]
fn the_documents_of_version_1() {
    let study = Study::read(&v1("study.toml")).unwrap();
    assert_eq!((study.name.as_str(), study.labels.len()), ("kitchen pilot", 3));
    let manifest = Manifest::read(&v1("eval.toml")).unwrap();
    assert_eq!((manifest.models.len(), manifest.probes.len()), (2, 2));
    let annotations = Annotation::read_all(&v1("annotations.json")).unwrap();
    assert_eq!(annotations[0].mask.area(), 15);
}
