//! Whole trainings, small enough for a test: colours to be told apart.

use mohs_data::training::{
    Architecture, Augmentation, NetworkEntry, Optimiser, Recorded, Schedule, ScheduleKind,
    SetEntry, Watched,
};
use mohs_data::{Outcome, Seed, StimulusId};
use mohs_graph::{read, write};

use super::*;
use crate::engine::{EngineChoice, OpenOptions};
use crate::networks::Blueprint;
use crate::pixels::Rgb8;

const SIDE: usize = 16;

fn prepare() -> Prepare {
    let (mean, sd) = Prepare::USUAL;
    Prepare { width: SIDE, height: SIDE, mean, sd }
}

fn engine() -> Engine {
    let options = OpenOptions { choice: EngineChoice::Rten, ..OpenOptions::default() };
    Engine::choose(&options).expect("because rten is always there")
}

/// Reddish, greenish and bluish pictures with some noise.
fn colours(n: usize, seed: u64) -> Set {
    let mut chance = Chance::new(Seed(seed), Purpose::Order, &[99]);
    let examples = (0..n).map(|idx| {
        let strong = idx % 3;
        let byte = |channel: usize, chance: &mut Chance| {
            let base = if channel == strong { 110 } else { 90 };
            u8::try_from(base + chance.below(50)).expect("because it is below 160")
        };
        let bytes = (0..SIDE * SIDE * 3).map(|at| byte(at % 3, &mut chance)).collect();
        let pixels = Rgb8::new(16, 16, bytes).expect("because the size fits");
        let label = Label::new(["red", "green", "blue"][strong]);
        Example::new(StimulusId::new(format!("{seed}-{idx}")), label, &pixels, &prepare())
    });
    Set { examples: examples.collect(), failures: Vec::new() }
}

fn plan(epochs: u32) -> TrainingPlan {
    let network =
        NetworkEntry { architecture: Some(Architecture::Plain), ..NetworkEntry::default() };
    let mut plan = TrainingPlan::new("colours", network, SetEntry::default());
    plan.epochs = epochs;
    plan.batch = 8;
    plan.augmentation =
        Augmentation { flip: true, crop_padding: 2, brightness: 0.1, ..Augmentation::default() };
    plan
}

fn start(plan: &TrainingPlan) -> Start {
    let usual = Blueprint::new(Architecture::Plain, SIDE, 3);
    let blueprint = Blueprint { width: 4, ..usual };
    Start::from_blueprint(&blueprint, &plan.network, plan.seed.0).expect("a network")
}

fn task<'a>(plan: &'a TrainingPlan, train: &'a Set, validation: &'a Set) -> Task<'a> {
    Task { plan, start: start(plan), prepare: prepare(), train, validation }
}

/// All epochs, and the bytes of the model.
fn trained(plan: &TrainingPlan, train: &Set, validation: &Set) -> (Vec<Epoch>, Vec<u8>) {
    let engine = engine();
    let mut fit = Fit::new(task(plan, train, validation), &engine).expect("a training");
    let mut epochs = Vec::new();
    while let Some(epoch) = fit.epoch(&mut |_| {}).expect("an epoch") {
        epochs.push(epoch);
    }
    (epochs, write::to_bytes(&fit.model()).expect("a model"))
}

#[test]
fn colours_are_learned_and_the_loss_falls() {
    let (epochs, bytes) = trained(&plan(15), &colours(30, 1), &colours(15, 2));
    let (first, last) = (&epochs[0], &epochs[14]);
    let losses: Vec<f64> = epochs.iter().map(|epoch| epoch.train_loss).collect();
    assert!(last.train_loss < 0.7 * first.train_loss, "{losses:?}");
    assert!(last.n_right == 15 && last.n_answered == 15, "{} right, {losses:?}", last.n_right);
    // The written model says the same as the last epoch's predictions.
    let graph = read::parse(bytes.into()).unwrap();
    assert_eq!(graph.metadata["mohs.classes"], r#"["blue","green","red"]"#);
    let mut answers = Network::from_graph(graph).open(&engine()).unwrap();
    let validation = colours(15, 2);
    for (example, prediction) in validation.examples.iter().zip(&last.predictions) {
        let numbers = example
            .with_bytes(&prepare(), |bytes| {
                augment::numbers(bytes, &prepare(), &augment::Change::none())
            })
            .unwrap();
        let picture = Tensor::f32(vec![1, 3, SIDE, SIDE], numbers).unwrap();
        let row = answers.answer(&picture).unwrap().to_f64().unwrap();
        let best = (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        let Outcome::Answered(answer) = &prediction.outcome else { panic!("an answer") };
        assert_eq!(answer.predicted.as_str(), ["blue", "green", "red"][best]);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let (train, validation) = (colours(20, 1), colours(6, 2));
    let mut other = plan(2);
    other.seed.0 = Seed(8);
    let first = trained(&plan(2), &train, &validation);
    assert!(first == trained(&plan(2), &train, &validation), "two runs differ");
    assert!(first.1 != trained(&other, &train, &validation).1, "the seed changes nothing");
}

#[test]
fn the_number_of_threads_that_vary_pictures_changes_nothing() {
    let (train, validation) = (colours(20, 1), colours(6, 2));
    let all = trained(&plan(2), &train, &validation);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert!(all == pool.install(|| trained(&plan(2), &train, &validation)));
}

#[test]
fn a_training_that_was_interrupted_gives_the_same_bytes() {
    for optimiser in ["sgd", "adamw"] {
        let (train, validation) = (colours(20, 1), colours(6, 2));
        let mut plan = plan(4);
        plan.label_smoothing = 0.1;
        plan.clip_norm = Some(0.5);
        plan.keep = Some(Keep::Best);
        if optimiser == "adamw" {
            plan.optimiser = Some(adamw());
        }
        let (epochs, bytes) = trained(&plan, &train, &validation);

        let engine = engine();
        let mut fit = Fit::new(task(&plan, &train, &validation), &engine).unwrap();
        let mut resumed = Vec::new();
        resumed.extend(fit.epoch(&mut |_| {}).unwrap());
        let checkpoint = fit.checkpoint("a note").unwrap();
        // An epoch that was begun and is lost.
        fit.epoch(&mut |_| {}).unwrap();
        drop(fit);
        let mut fit = Fit::new(task(&plan, &train, &validation), &engine).unwrap();
        assert_eq!(fit.resume(checkpoint).unwrap(), "a note");
        assert_eq!(fit.n_epochs(), 1);
        while let Some(epoch) = fit.epoch(&mut |_| {}).unwrap() {
            resumed.push(epoch);
        }
        assert!(epochs == resumed, "{optimiser}: epochs differ");
        assert!(bytes == write::to_bytes(&fit.model()).unwrap(), "{optimiser}: models differ");
    }
}

fn adamw() -> Optimiser {
    let network =
        NetworkEntry { architecture: Some(Architecture::Transformer), ..NetworkEntry::default() };
    TrainingPlan::new("a", network, SetEntry::default()).optimiser()
}

#[test]
fn a_checkpoint_of_another_training_is_refused() {
    let (train, validation) = (colours(20, 1), colours(6, 2));
    let (one, mut other) = (plan(2), plan(2));
    other.batch = 10;
    let engine = engine();
    let bytes = Fit::new(task(&one, &train, &validation), &engine).unwrap().checkpoint("").unwrap();
    let mut fit = Fit::new(task(&other, &train, &validation), &engine).unwrap();
    assert!(matches!(fit.resume(bytes), Err(FitError::OtherTraining)));
    assert!(matches!(fit.resume(vec![1, 2, 3]), Err(FitError::Checkpoint { .. })));
}

#[test]
fn a_training_stops_early_and_keeps_the_best_weights() {
    let (train, validation) = (colours(20, 1), colours(6, 2));
    let mut plan = plan(30);
    // After the first epoch the rate is so small that nothing becomes better by enough.
    plan.schedule = Schedule {
        kind: ScheduleKind::Step,
        milestones: vec![1],
        gamma: 1e-9,
        ..Schedule::default()
    };
    plan.early_stop = Some(EarlyStop { patience: 2, on: Watched::Loss, min_change: 0.5 });
    let engine = engine();
    let mut fit = Fit::new(task(&plan, &train, &validation), &engine).unwrap();
    let mut n_epochs = 0;
    while fit.epoch(&mut |_| {}).unwrap().is_some() {
        n_epochs += 1;
    }
    assert_eq!((n_epochs, fit.best_epoch()), (3, Some(1)));
    let best = &fit.best_values["head.weight"];
    assert_eq!(&fit.model().weights["head.weight"], best);
}

#[test]
fn a_rate_that_is_much_too_high_ends_the_training_with_its_place() {
    let (train, validation) = (colours(20, 1), colours(6, 2));
    let mut plan = plan(50);
    let mut optimiser = plan.optimiser();
    optimiser.set_learning_rate(1e30);
    plan.optimiser = Some(optimiser);
    let engine = engine();
    let mut fit = Fit::new(task(&plan, &train, &validation), &engine).unwrap();
    let error = loop {
        match fit.epoch(&mut |_| {}) {
            Ok(Some(_)) => {}
            Ok(None) => panic!("a rate of 1e30 went well"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, FitError::Diverged { .. }), "{error}");
}

#[test]
fn sets_that_do_not_fit_are_refused() {
    let engine = engine();
    let plan = plan(1);
    let refused = |train: &Set, validation: &Set| {
        Fit::new(task(&plan, train, validation), &engine).unwrap_err().to_string()
    };
    let none = Set::default();
    assert!(refused(&none, &none).contains("no picture that can be read"));
    let mut red = colours(30, 1);
    red.examples.retain(|example| example.label.as_str() == "red");
    assert!(refused(&red, &none).contains("at least 2 labels, found 1"));
    let mut two = colours(30, 1);
    two.examples.retain(|example| example.label.as_str() != "red");
    let text = refused(&two, &colours(6, 2));
    assert!(text.contains("`red` of the validation set has no picture"), "{text}");
    assert!(refused(&two, &none).contains("3 outputs, and the training set has 2 labels"));
}

#[test]
fn batch_normalisation_needs_two_pictures_per_step() {
    let (train, validation) = (colours(20, 1), colours(6, 2));
    let mut plan = plan(1);
    plan.batch = 1;
    let engine = engine();
    let error = Fit::new(task(&plan, &train, &validation), &engine).unwrap_err();
    assert!(matches!(error, FitError::TooSmallBatch { found: 1 }), "{error}");
}

#[test]
fn an_epoch_has_every_example_once_and_no_step_of_one() {
    let mut plan = plan(1);
    for (n, batch, sizes) in
        [(10, 4, vec![4, 4, 2]), (9, 4, vec![4, 5]), (1, 4, vec![1]), (3, 1, vec![1, 1, 1])]
    {
        plan.batch = batch;
        let found = batches(n, &plan, 1);
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), sizes);
        let mut all = found.concat();
        all.sort_unstable();
        assert_eq!(all, (0..n).collect::<Vec<_>>());
        let smallest = sizes.iter().copied().min().unwrap();
        assert_eq!(smallest_batch(n, batch as usize), smallest, "{n} by {batch}");
    }
    assert_ne!(batches(50, &plan, 1), batches(50, &plan, 2));
}

#[test]
fn smoothed_targets_are_those_of_pytorch() {
    // torch.nn.CrossEntropyLoss(label_smoothing=0.1) on logits [1, 2, 3], class 0, is 2.3076.
    let (name, tensor, entropy) = targets(&[0], 3, 0.1);
    assert_eq!(name, "distribution");
    let shares = tensor.to_f64().unwrap();
    let logits = [1.0_f64, 2.0, 3.0];
    let sum = logits.iter().map(|x| x.exp()).sum::<f64>().ln();
    let terms =
        shares.iter().zip(logits).map(|(share, logit)| share * (share.ln() - (logit - sum)));
    let divergence: f64 = terms.sum();
    assert!((divergence + entropy - 2.307_606).abs() < 1e-5, "{}", divergence + entropy);
}

#[test]
fn answers_to_both_sets_are_rows_with_their_epoch() {
    let mut plan = plan(2);
    plan.record = Recorded::Both;
    let mut validation = colours(6, 2);
    validation.failures.push(Failure {
        id: StimulusId::new("broken"),
        label: Label::new("red"),
        reason: "cut short".to_owned(),
    });
    let (epochs, _) = trained(&plan, &colours(9, 1), &validation);
    for (epoch, number) in epochs.iter().zip([1.0, 2.0]) {
        assert_eq!(epoch.predictions.len(), 16);
        let conditions = epoch.predictions.iter().map(|row| row.condition.as_ref().unwrap());
        assert!(
            conditions
                .into_iter()
                .all(|condition| condition.value.to_bits() == f64::to_bits(number))
        );
        let n =
            |set| epoch.predictions.iter().filter(|row| row.extra.get("set") == Some(set)).count();
        assert_eq!((n("validation"), n("train")), (7, 9));
        let failed = epoch.predictions.iter().filter(|row| row.answer().is_none());
        assert_eq!(failed.map(|row| row.stimulus.as_str()).collect::<Vec<_>>(), ["broken"]);
    }
}
