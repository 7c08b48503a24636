//! Measures of models: worked by hand, against simulated truth, against other programs on real
//! answers, and the laws all of them keep.

use std::collections::BTreeMap;
use std::path::Path;

use mohs_data::{
    Answer, Caveat, Condition, Difficulty, Estimate, Extra, FailureReason, Label, ModelName,
    Outcome, ParticipantId, Prediction, Seed, SessionId, Stimulus, StimulusId, Task, Trial,
    TrialId,
};
use mohs_score::draw::Draw;
use mohs_score::model::{
    BandOrigin, Cluster, Family, Input, ModelFindings, Options, ScoreError, score,
};

/// Everything a scoring reads.
#[derive(Default, Clone)]
struct World {
    predictions: Vec<Prediction>,
    stimuli: Vec<Stimulus>,
    difficulties: Vec<Difficulty>,
    trials: Vec<Trial>,
    families: BTreeMap<ModelName, Family>,
    options: Options,
}

impl World {
    fn try_score(&self) -> Result<ModelFindings, ScoreError> {
        score(&Input {
            predictions: &self.predictions,
            stimuli: &self.stimuli,
            difficulties: &self.difficulties,
            trials: &self.trials,
            families: &self.families,
            options: &self.options,
            seed: Seed(1),
        })
    }

    fn score(&self) -> ModelFindings {
        self.try_score().expect("because the world can be scored")
    }
}

fn stimulus(id: &str, label: &str) -> Stimulus {
    Stimulus {
        id: id.into(),
        file: format!("{id}.png").into(),
        label: label.into(),
        dataset: None,
        boxes: Vec::new(),
        mask: None,
        attribute: None,
        level: None,
        extra: Extra::default(),
    }
}

fn difficulty(id: &str, value: f64, band: Option<&str>) -> Difficulty {
    Difficulty {
        stimulus: id.into(),
        measure: "difficulty-score".into(),
        estimate: Estimate::new(value, value, value, 0.95, 10).expect("because it is finite"),
        band: band.map(Into::into),
        caveats: Vec::new(),
        extra: Extra::default(),
    }
}

fn answered(model: &str, id: &str, predicted: &str) -> Prediction {
    Prediction {
        model: model.into(),
        stimulus: id.into(),
        probe: Prediction::NO_PROBE.into(),
        condition: None,
        label: None,
        outcome: Outcome::Answered(Answer {
            predicted: predicted.into(),
            confidence: None,
            top_k: Vec::new(),
            correct: None,
        }),
        extra: Extra::default(),
    }
}

fn marked(model: &str, id: &str, is_right: bool, confidence: Option<f64>) -> Prediction {
    let mut row = answered(model, id, "x");
    row.outcome = Outcome::Answered(Answer {
        predicted: "x".into(),
        confidence,
        top_k: Vec::new(),
        correct: Some(is_right),
    });
    row
}

fn failed(model: &str, id: &str, reason: &str) -> Prediction {
    Prediction { outcome: Outcome::Failed(FailureReason::new(reason)), ..answered(model, id, "x") }
}

/// Stimuli of some classes, harder and harder, and models of different ability.
fn world(n_classes: usize, n_per_class: usize, abilities: &[f64], seed: u64) -> World {
    let mut draw = Draw::new(Seed(seed), &[1]);
    let mut world = World::default();
    world.options.n_resamples = 300;
    for class in 0..n_classes {
        for idx in 0..n_per_class {
            let id = format!("c{class:03}-{idx:03}");
            let label = format!("class {class:03}");
            let hard = draw.uniform();
            world.stimuli.push(stimulus(&id, &label));
            world.difficulties.push(difficulty(&id, hard, None));
            let luck = draw.normal();
            for (model_idx, ability) in abilities.iter().enumerate() {
                let p = 1.0 / (1.0 + (-(ability - 3.0 * hard + luck)).exp());
                let is_right = draw.chance(p);
                let confidence = (0.2 + 0.8 * p).min(1.0);
                let mut row = marked(&format!("m{model_idx}"), &id, is_right, Some(confidence));
                row.label = Some(Label::new(&label));
                world.predictions.push(row);
            }
        }
    }
    world
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} should be {expected}");
}

/// Eight stimuli in two bands: `a` gets 4 of 4 easy ones and 1 of 4 hard ones, `b` gets 3 and 2.
#[test]
fn two_models_on_eight_stimuli_are_worked_by_hand() {
    let mut world = World::default();
    let right: [(&str, &str, bool, bool); 8] = [
        ("e1", "mug", true, true),
        ("e2", "mug", true, true),
        ("e3", "cup", true, true),
        ("e4", "cup", true, false),
        ("h1", "mug", true, false),
        ("h2", "mug", false, true),
        ("h3", "cup", false, true),
        ("h4", "cup", false, false),
    ];
    for (id, label, a, b) in right {
        world.stimuli.push(stimulus(id, label));
        let is_easy = id.starts_with('e');
        let band = if is_easy { "100 ms" } else { "never" };
        world.difficulties.push(difficulty(id, if is_easy { 0.1 } else { 0.9 }, Some(band)));
        for (model, is_right) in [("a", a), ("b", b)] {
            world.predictions.push(answered(model, id, if is_right { label } else { "dog" }));
        }
    }
    let found = world.score();
    assert_eq!(found.method.band_origin, Some(BandOrigin::Named));
    assert_eq!(
        found.bands.iter().map(|cell| (cell.name.as_str(), cell.n_stimuli)).collect::<Vec<_>>(),
        [("100 ms", 4), ("never", 4)]
    );
    let a = &found.models[0];
    near(a.accuracy.as_ref().unwrap().wilson.value, 5.0 / 8.0);
    near(a.bands[0].as_ref().unwrap().wilson.value, 1.0);
    near(a.bands[1].as_ref().unwrap().clustered.value, 0.25);
    near(a.drop.unwrap().value, 0.75);
    // Mugs 3 of 4, cups 2 of 4.
    near(a.mean_per_class.unwrap().value, 0.625);
    assert!(a.bands[0].as_ref().unwrap().clustered.low < 0.6, "four right answers are not certain");
    let pair = &found.comparisons[0];
    assert_eq!((pair.n_stimuli, pair.n_only_first, pair.n_only_second), (8, 2, 2));
    near(pair.difference.value, 0.0);
    near(pair.p, 1.0);
    near(pair.bands[0].unwrap().0.value, 0.25);
    near(pair.bands[1].unwrap().0.value, -0.25);
    // Both right on 3 of 8, neither on 1: o = 0.5, e = 25/64 + 9/64.
    let kappa = &found.consistency[0].consistency;
    near(kappa.error_consistency.value, (0.5 - 34.0 / 64.0) / (30.0 / 64.0));
    assert_eq!(found.ties, vec![vec![ModelName::new("a"), ModelName::new("b")]]);
    // Covariance 1/8 - 1/2 · 5/8 of hard and right, over their spreads.
    near(a.difficulty_correlation.unwrap().value, -0.1875 / (0.5 * 0.234_375_f64.sqrt()));
    let surprises = found.surprises.unwrap();
    assert_eq!((surprises.n_easy_failed_by_all, surprises.n_hard_solved_by_all), (0, 0));
}

#[test]
fn failed_and_unjudged_rows_are_counted_and_not_averaged() {
    let mut world =
        World { stimuli: vec![stimulus("s1", "mug"), stimulus("s2", "mug")], ..World::default() };
    world.predictions = vec![
        answered("a", "s1", "mug"),
        failed("a", "s2", "cannot decode s2"),
        answered("a", "elsewhere", "mug"),
    ];
    world.difficulties = vec![difficulty("s1", 0.2, None), difficulty("unseen", 0.3, None)];
    let found = world.score();
    assert_eq!(
        (found.n_predictions, found.n_answered, found.n_failed, found.n_unjudged),
        (3, 2, 1, 1)
    );
    let accuracy = found.models[0].accuracy.as_ref().unwrap();
    assert_eq!((accuracy.n_right, accuracy.wilson.n), (1, 1));
    assert_eq!(found.failures[0].reason, "cannot decode …");
    let codes: Vec<&str> = found.caveats.iter().map(Caveat::code).collect();
    for code in [
        "failed-predictions",
        "unjudged-predictions",
        "unknown-stimuli",
        "stimuli-without-difficulty",
        "difficulties-unused",
        "few-in-band",
    ] {
        assert!(codes.contains(&code), "{code} in {codes:?}");
    }
}

fn refused(world: &World, expected: &str) {
    let error = world.try_score().expect_err("because the world cannot be scored");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn what_cannot_be_scored_is_refused_by_name() {
    let mut world = World::default();
    refused(&world, "there are no predictions to score");
    world.predictions = vec![failed("a", "s", "no memory"), failed("a", "t", "x")];
    refused(&world, "all 2 predictions failed, the first because: no memory");
    world.predictions =
        vec![answered("a", "s", "x"), answered("b", "s", "x"), answered("a", "s", "y")];
    refused(
        &world,
        "model `a` has 2 predictions for stimulus `s` under probe `none`; expected one",
    );
    world.predictions = vec![marked("a", "s", true, None)];
    world.difficulties = vec![
        difficulty("s", 0.1, None),
        Difficulty { measure: "x".into(), ..difficulty("s", 1.0, None) },
    ];
    refused(
        &world,
        "difficulties are by several measures (`difficulty-score`, `x`); expected one, or a choice",
    );
    world.options.difficulty_measure = Some("y".into());
    refused(&world, "no difficulty is by the measure `y`; found `difficulty-score`, `x`");
    world.options.difficulty_measure = Some("x".into());
    assert_eq!(world.score().method.difficulty.as_deref(), Some("x"));
    world.difficulties.push(world.difficulties[1].clone());
    refused(&world, "stimulus `s` has more than one difficulty by the measure `x`");
    world.difficulties.clear();
    world.options.difficulty_measure = None;
    world.stimuli = vec![stimulus("s", "x"), stimulus("s", "x")];
    refused(&world, "the table of stimuli has `s` more than once");
    world.stimuli.pop();
    world.options.datasets = Some(("imagenet".into(), "objectnet".into()));
    refused(&world, "no stimulus shown to a model is of the data set `imagenet`; found none");
    world.options.datasets = None;
    world.options.n_bands = 0;
    refused(&world, "`n_bands` must be at least 1, found 0");
}

#[test]
fn threads_and_the_order_of_rows_change_nothing() {
    let mut first = world(8, 12, &[1.0, 2.0, 0.5], 3);
    first.options.n_resamples = 60;
    for (idx, row) in first.stimuli.iter_mut().enumerate() {
        row.dataset = Some(if idx % 2 == 0 { "x" } else { "y" }.into());
        row.attribute = Some("pose".into());
    }
    let mut other = first.clone();
    // Models keep their first row, everything else is turned round.
    other.predictions[3..].reverse();
    other.stimuli.reverse();
    other.difficulties.reverse();
    let on = |n_threads: usize, world: &World| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        serde_json::to_string(&pool.install(|| world.score())).unwrap()
    };
    let expected = on(1, &first);
    assert_eq!(expected, on(2, &first));
    assert_eq!(expected, on(2, &other));
}

#[test]
fn degenerate_worlds_have_findings_and_no_false_certainty() {
    let one = World { predictions: vec![marked("a", "s", true, Some(1.0))], ..World::default() };
    let found = one.score();
    let share = found.models[0].accuracy.as_ref().unwrap();
    assert!(share.clustered.low < 0.3 && found.comparisons.is_empty() && found.surprises.is_none());
    assert_eq!(found.method.cluster, Cluster::Stimulus);
    for is_right in [true, false] {
        let mut world = world(1, 30, &[1.0, 2.0], 5);
        world.difficulties.clear();
        for row in &mut world.predictions {
            row.outcome = marked("a", "s", is_right, None).outcome;
        }
        let found = world.score();
        assert!(found.bands.is_empty() && found.models[0].calibration.is_none());
        let share = found.models[0].accuracy.as_ref().unwrap();
        assert!(0.05 < share.clustered.high - share.clustered.low);
        let pair = &found.comparisons[0];
        assert!(pair.difference.low < 0.0 && 0.0 < pair.difference.high && pair.p > 0.99);
    }
    let mut unlabelled = world(2, 5, &[1.0], 6);
    unlabelled.stimuli.clear();
    for row in &mut unlabelled.predictions {
        *row = answered("a", row.stimulus.as_str(), "x");
    }
    let found = unlabelled.score();
    assert!(found.models[0].accuracy.is_none() && found.n_unjudged == 10);
    assert!(found.labels.is_empty() && found.models[0].drop.is_none());
}

#[test]
fn accuracy_falls_with_difficulty_and_thirds_are_made_of_it() {
    let found = world(20, 30, &[2.0, 3.0], 7).score();
    assert_eq!(found.method.band_origin, Some(BandOrigin::Quantiles));
    assert_eq!(found.method.cluster, Cluster::Label);
    for model in &found.models {
        let shares: Vec<f64> = model.bands.iter().flatten().map(|band| band.wilson.value).collect();
        assert!(shares[2] < shares[1] && shares[1] < shares[0], "{shares:?}");
        assert!(0.0 < model.drop.unwrap().low);
        assert!(model.difficulty_correlation.unwrap().high < 0.0);
        let calibration = model.calibration.as_ref().unwrap();
        let parts = calibration.brier_reliability - calibration.brier_resolution
            + calibration.brier_uncertainty;
        near(parts, calibration.brier.value);
        assert!(calibration.bins.len() == 15 && 0.0 < calibration.overconfidence.low);
    }
    assert!(found.comparisons[0].p_holm < 0.05 && found.ties.len() == 2);
}

#[test]
fn the_last_epoch_is_looked_at_and_all_epochs_tell_what_is_learned_late() {
    let mut world = world(10, 10, &[9.0], 8);
    let plain = std::mem::take(&mut world.predictions);
    for (epoch, row) in (0..10).flat_map(|epoch| plain.iter().map(move |row| (epoch, row))) {
        let id = row.stimulus.clone();
        let hard = world.difficulties.iter().find(|row| row.stimulus == id).unwrap().estimate.value;
        // Learned in the epoch that its difficulty says.
        let is_right = 10.0 * hard < f64::from(epoch) + 0.5;
        let mut row = marked("net", id.as_str(), is_right, None);
        row.condition = Some(Condition { name: "epoch".into(), value: f64::from(epoch) });
        world.predictions.push(row);
    }
    let found = world.score();
    assert_eq!(found.view.condition, Some(("epoch".into(), 9.0)));
    assert_eq!(found.view.n_predictions, 100);
    let speed = &found.learning[0];
    assert_eq!((speed.n_epochs, speed.n_stimuli, speed.by_epoch.len()), (10, 100, 10));
    assert!(speed.difficulty_correlation.unwrap().value < -0.98);
    let by_band: Vec<f64> = speed.bands.iter().flatten().map(|band| band.value).collect();
    assert!(by_band[2] < by_band[1] && by_band[1] < by_band[0]);
    assert_eq!(found.axes[0].name, "epoch");
    assert!(found.axes[0].values.len() == 10 && found.axes[0].is_numeric);
    let rows = mohs_score::model::learning::difficulties(&world.predictions, 0.95);
    assert!(rows.len() == 100 && rows.iter().all(|row| row.measure == "learning-speed"));
}

#[test]
fn rows_without_a_probe_are_looked_at_and_every_probe_stands_on_its_axis() {
    let mut world = world(4, 10, &[3.0], 9);
    let probed: Vec<Prediction> = world
        .predictions
        .iter()
        .map(|row| Prediction {
            probe: "blur 10".into(),
            ..marked("m0", row.stimulus.as_str(), false, None)
        })
        .collect();
    let noisy = probed.iter().map(|row| Prediction { probe: "blur 3".into(), ..row.clone() });
    world.predictions.extend(noisy.collect::<Vec<_>>());
    world.predictions.extend(probed);
    let found = world.score();
    assert_eq!((found.view.probe.as_deref(), found.view.n_predictions), (Some("none"), 40));
    let names: Vec<&str> = found.axes[0].values.iter().map(|value| value.name.as_str()).collect();
    assert_eq!(names, ["none", "blur 3", "blur 10"]);
    near(found.axes[0].values[2].models[0].unwrap().value, 0.0);
    assert!(!found.caveats.iter().any(|caveat| caveat.code() == "part-of-predictions"));
    // Without the plain rows one probe is chosen, and that is said.
    world.predictions.drain(..40);
    let found = world.score();
    assert_eq!((found.view.probe.as_deref(), found.view.n_predictions), (Some("blur 3"), 40));
    assert!(found.caveats.iter().any(|caveat| caveat.code() == "part-of-predictions"));
}

/// Right with 0.9 and 0.8 on easy stimuli, 0.6 and 0.2 on hard ones.
#[test]
fn a_gap_that_is_small_on_easy_stimuli_and_large_on_hard_ones_is_found() {
    let mut draw = Draw::new(Seed(4), &[2]);
    let mut world = World::default();
    for idx in 0..2_400 {
        let id = format!("s{idx:04}");
        let (is_second, is_hard) = (idx % 2 == 1, idx % 4 < 2);
        let p = [[0.9, 0.8], [0.6, 0.2]][usize::from(is_hard)][usize::from(is_second)];
        let mut row = stimulus(&id, &format!("class {}", idx % 50));
        row.dataset = Some(if is_second { "objectnet" } else { "imagenet" }.into());
        world.stimuli.push(row);
        let band = if is_hard { "hard" } else { "easy" };
        world.difficulties.push(difficulty(&id, f64::from(u8::from(is_hard)), Some(band)));
        world.predictions.push(marked("small", &id, draw.chance(p), None));
    }
    world.families.insert("small".into(), Family { name: "net".into(), place: 0 });
    let gap = world.score().gap.unwrap();
    assert_eq!((gap.first.as_str(), gap.second.as_str()), ("imagenet", "objectnet"));
    assert_eq!((gap.easy, gap.hard), (vec!["easy".to_owned()], vec!["hard".to_owned()]));
    let model = &gap.models[0];
    assert_eq!(model.family.as_ref().unwrap().name, "net");
    for (found, truth) in [(model.easy, 0.1), (model.hard, 0.4), (model.overall, 0.25)] {
        let found = found.unwrap();
        assert!(found.low < truth && truth < found.high, "{found:?} should hold {truth}");
    }
    assert!(model.easy.unwrap().high < model.hard.unwrap().low);
}

#[test]
fn what_people_find_easy_and_models_fail_comes_first_with_the_usual_mistake() {
    let mut world = World::default();
    for idx in 0..40 {
        let id = format!("s{idx:02}");
        world.stimuli.push(stimulus(&id, "mug"));
        world.difficulties.push(difficulty(&id, f64::from(idx), None));
        for (model, wrong) in [("a", "cup"), ("b", "cup"), ("c", "dog")] {
            // People's order, but for the easiest and the hardest stimulus.
            let is_right = (0 < idx && idx < 20) || idx == 39;
            world.predictions.push(answered(model, &id, if is_right { "mug" } else { wrong }));
        }
    }
    let surprises = world.score().surprises.unwrap();
    assert_eq!((surprises.easy_but_failed.len(), surprises.hard_but_solved.len()), (1, 1));
    let first = &surprises.easy_but_failed[0];
    assert_eq!((first.stimulus.as_str(), first.n_right, first.n_models), ("s00", 0, 3));
    assert_eq!(first.usual_mistake, Some((Label::new("cup"), 2)));
    assert_eq!(surprises.hard_but_solved[0].stimulus.as_str(), "s39");
    assert_eq!((surprises.n_easy_failed_by_all, surprises.n_hard_solved_by_all), (1, 1));
}

#[test]
fn a_group_that_is_worse_is_found_and_small_groups_stay() {
    let mut world = World::default();
    for idx in 0..301_u32 {
        let id = format!("s{idx:03}");
        let mut row = stimulus(&id, if idx == 300 { "rare" } else { "mug" });
        row.attribute = Some(if idx % 3 == 0 { "blur" } else { "pose" }.into());
        row.level = Some(["easy", "hard"][(idx / 3 % 2) as usize].into());
        let is_right = if idx % 3 == 0 { idx % 2 == 0 } else { idx % 10 != 1 };
        world.stimuli.push(row);
        world.predictions.push(marked("a", &id, is_right, None));
    }
    let found = world.score();
    let rows: Vec<(&str, Option<&str>)> =
        found.attributes.iter().map(|row| (row.name.as_str(), row.level.as_deref())).collect();
    assert_eq!(
        rows,
        [
            ("all attributes", Some("easy")),
            ("all attributes", Some("hard")),
            ("blur", None),
            ("blur", Some("easy")),
            ("blur", Some("hard")),
            ("pose", None),
            ("pose", Some("easy")),
            ("pose", Some("hard"))
        ]
    );
    assert!(found.attributes[2].p_worse_bh[0].unwrap() < 0.001);
    assert!(0.5 < found.attributes[5].p_worse_bh[0].unwrap());
    let rare = found.labels.iter().find(|row| row.name == "rare").unwrap();
    assert_eq!(rare.n_stimuli, 1);
    assert!(0.7 < rare.models[0].unwrap().high - rare.models[0].unwrap().low);
}

fn trial(participant: &str, id: &str, is_right: bool) -> Trial {
    Trial {
        id: TrialId::new(format!("{participant}-{id}")),
        session: SessionId::new("1"),
        participant: ParticipantId::new(participant),
        idx: None,
        block: None,
        task: Task::Rate,
        stimulus: StimulusId::new(id),
        label: None,
        exposure: None,
        beep: None,
        condition: None,
        response: None,
        marked_correct: Some(is_right),
        onset: None,
        offset: None,
        responded: None,
        timing: None,
        extra: Extra::default(),
    }
}

/// People err on hard stimuli; one model does as well, the other errs anywhere.
#[test]
fn a_model_that_errs_where_people_err_is_as_consistent_as_people_are() {
    let mut draw = Draw::new(Seed(6), &[3]);
    let mut world = World::default();
    world.options.n_resamples = 300;
    for idx in 0..150 {
        let id = format!("s{idx:03}");
        let p = if idx % 3 == 0 { 0.2 } else { 0.95 };
        for person in 0..8 {
            world.trials.push(trial(&format!("p{person}"), &id, draw.chance(p)));
        }
        world.predictions.push(marked("alike", &id, draw.chance(p), None));
        world.predictions.push(marked("unlike", &id, draw.chance(0.7), None));
    }
    let found = world.score();
    let (alike, unlike) = (&found.with_people[0], &found.with_people[1]);
    assert_eq!((alike.n_participants, alike.model.as_str()), (8, "alike"));
    let ceiling = alike.ceiling.as_ref().unwrap().error_consistency;
    let kappa = alike.consistency.error_consistency;
    assert!(kappa.low < ceiling.value && ceiling.low < kappa.high, "{kappa:?} {ceiling:?}");
    let none = unlike.consistency.error_consistency;
    assert!(none.low < 0.0 && 0.0 < none.high && none.high < kappa.low, "{none:?}");
}

/// Classes differ by one standard deviation of log-odds. Over new classes the share's interval
/// that draws classes holds the truth about as often as it says; Wilson's, which takes stimuli for
/// independent, does not.
#[test]
fn intervals_that_draw_classes_hold_the_truth_about_as_often_as_promised() {
    let truth = {
        let mut draw = Draw::new(Seed(1), &[9]);
        let n = 200_000;
        (0..n).map(|_| 1.0 / (1.0 + (-(1.0 + draw.normal())).exp())).sum::<f64>() / f64::from(n)
    };
    let n_runs = 300_u32;
    let (mut n_clustered, mut n_wilson) = (0, 0);
    for run in 0..n_runs {
        let mut draw = Draw::new(Seed(2), &[u64::from(run)]);
        let mut world = World::default();
        world.options.n_resamples = 300;
        for class in 0..30 {
            let p = 1.0 / (1.0 + (-(1.0 + draw.normal())).exp());
            for idx in 0..20 {
                let id = format!("{class}-{idx}");
                let mut row = marked("a", &id, draw.chance(p), None);
                row.label = Some(Label::new(class.to_string()));
                world.predictions.push(row);
            }
        }
        let found = world.score();
        let share = found.models[0].accuracy.as_ref().unwrap();
        n_clustered += u32::from(share.clustered.low <= truth && truth <= share.clustered.high);
        n_wilson += u32::from(share.wilson.low <= truth && truth <= share.wilson.high);
    }
    let clustered = f64::from(n_clustered) / f64::from(n_runs);
    let wilson = f64::from(n_wilson) / f64::from(n_runs);
    println!("coverage: clustered {clustered}, Wilson {wilson}");
    assert!((0.92..=0.985).contains(&clustered), "{clustered}");
    assert!(wilson < 0.8, "{wilson}");
}

/// Two models that are equally good over all classes, each better on half of them: the test that
/// draws classes keeps its size, McNemar's does not.
#[test]
fn the_clustered_test_keeps_its_size_where_models_win_by_whole_classes() {
    let n_runs = 600_u32;
    let (mut n_clustered, mut n_plain) = (0, 0);
    for run in 0..n_runs {
        let mut draw = Draw::new(Seed(3), &[u64::from(run)]);
        let mut world = World::default();
        world.options.n_resamples = 2;
        for class in 0..40 {
            let tilt = 0.3 * draw.normal().clamp(-1.5, 1.5);
            for idx in 0..20 {
                let id = format!("{class}-{idx}");
                for (model, p) in [("a", 0.5 + tilt), ("b", 0.5 - tilt)] {
                    let mut row = marked(model, &id, draw.chance(p), None);
                    row.label = Some(Label::new(class.to_string()));
                    world.predictions.push(row);
                }
            }
        }
        let pair = &world.score().comparisons[0];
        n_clustered += u32::from(pair.p_clustered < 0.05);
        n_plain += u32::from(pair.p < 0.05);
    }
    let clustered = f64::from(n_clustered) / f64::from(n_runs);
    let plain = f64::from(n_plain) / f64::from(n_runs);
    println!("size: clustered {clustered}, plain {plain}");
    assert!((0.03..=0.07).contains(&clustered), "{clustered}");
    assert!(0.2 < plain, "{plain}");
}

/// Reads the answers of 22 networks to noisy pictures, one column each.
#[expect(clippy::print_stdout, reason = "a skipped test says why")]
fn networks() -> Option<Vec<Prediction>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/replay/noise_22_networks.csv");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: no real data at ../shared/data/replay");
        return None;
    };
    let mut lines = text.lines();
    let models: Vec<&str> = lines.next()?.split(',').skip(3).collect();
    let mut predictions = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        for (model, predicted) in models.iter().zip(&cells[3..]) {
            let value = cells[2].parse().expect("because noise is a number");
            predictions.push(Prediction {
                label: Some(Label::new(cells[1])),
                condition: Some(Condition { name: "noise".into(), value }),
                ..answered(model, cells[0], predicted)
            });
        }
    }
    Some(predictions)
}

/// Golden: numpy, scipy 1.17.1 (`binom`) and statsmodels 0.15.0 (`multipletests`) on the same file.
#[test]
fn twenty_two_real_networks_are_compared_as_other_programs_do() {
    let Some(predictions) = networks() else { return };
    let mut world = World { predictions, ..World::default() };
    world.options.n_resamples = 100;
    let found = world.score();
    assert_eq!((found.models.len(), found.n_stimuli, found.n_predictions), (22, 4_480, 98_560));
    let axis = &found.axes[0];
    assert_eq!((axis.name.as_str(), axis.values.len()), ("noise", 8));
    let n_right: Vec<(f64, usize)> = axis
        .values
        .iter()
        .map(|value| value.models[0].unwrap())
        .map(|share| (share.value, share.n))
        .collect();
    let expected = [
        (533, 565),
        (535, 567),
        (499, 541),
        (512, 584),
        (468, 562),
        (387, 540),
        (314, 575),
        (200, 546),
    ];
    for ((share, n), (k, of)) in n_right.iter().zip(expected) {
        assert_eq!(*n, of);
        near(*share, f64::from(k) / f64::from(u32::try_from(of).unwrap()));
    }
    assert_eq!(found.comparisons.len(), 231);
    let n_below = |of: &dyn Fn(usize) -> f64| (0..231).filter(|idx| of(*idx) < 0.05).count();
    assert_eq!(n_below(&|idx| found.comparisons[idx].p_holm), 201);
    assert_eq!(n_below(&|idx| found.comparisons[idx].p_bh), 209);
    let first = &found.comparisons[0];
    assert_eq!((first.n_only_first, first.n_only_second), (2_507, 100));
    near(found.consistency[0].consistency.error_consistency.value, 0.096_862_476_786_237_91);
    let kappas = found.consistency.iter().map(|pair| pair.consistency.error_consistency.value);
    near(kappas.sum::<f64>() / 231.0, 0.379_919_623_563_049_15);
}

/// Prints how long 200,000 rows take; run it in release.
#[test]
#[ignore = "prints a time, says nothing about right or wrong"]
fn two_hundred_thousand_rows_are_scored_quickly() {
    let abilities = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 1.2, 0.8, 2.2, 1.8];
    let mut world = world(100, 200, &abilities, 12);
    for (idx, row) in world.stimuli.iter_mut().enumerate() {
        row.dataset = Some(if idx % 2 == 0 { "x" } else { "y" }.into());
        row.attribute = Some(["pose", "blur", "size"][idx % 3].into());
    }
    world.options.n_resamples = 1_000;
    let start = std::time::Instant::now();
    let found = world.score();
    println!("{} rows: {:.2?}", found.n_predictions, start.elapsed());
    assert_eq!(found.n_predictions, 200_000);
}

/// Prints how long 10,000 draws of 36,000 stimuli take; run it in release.
#[test]
#[ignore = "prints a time, says nothing about right or wrong"]
fn ten_thousand_draws_are_made_quickly() {
    for cluster in [Cluster::Label, Cluster::LabelThenStimulus] {
        let mut world = world(50, 720, &[0.5, 1.0, 1.5, 2.0, 2.5, 3.0], 12);
        for row in &mut world.predictions {
            if let Outcome::Answered(answer) = &mut row.outcome {
                answer.confidence = None;
            }
        }
        world.options.n_resamples = 10_000;
        world.options.cluster = Some(cluster);
        let start = std::time::Instant::now();
        let found = world.score();
        println!("{cluster:?}, {} rows: {:.2?}", found.n_predictions, start.elapsed());
        assert_eq!(found.n_stimuli, 36_000);
    }
}
