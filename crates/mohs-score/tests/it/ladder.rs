//! Measures of a ladder: worked by hand, against simulated truth, the laws they keep, and real
//! answers of 22 networks.

use std::path::Path;

use mohs_data::{
    Answer, Comparison, Difficulty, Estimate, Extra, FailureReason, Harder, Label, Outcome,
    Prediction, Seed, Sides, Stimulus, StimulusId,
};
use mohs_score::draw::Draw;
use mohs_score::model::hierarchy::{
    By, CellKind, Input, LadderError, LadderFindings, LevelOrigin, Options, score,
};

/// Everything a scoring reads.
#[derive(Default, Clone)]
struct World {
    predictions: Vec<Prediction>,
    stimuli: Vec<Stimulus>,
    difficulties: Vec<Difficulty>,
    comparisons: Vec<Comparison>,
    options: Options,
}

impl World {
    fn try_score(&self) -> Result<LadderFindings, LadderError> {
        score(&Input {
            predictions: &self.predictions,
            stimuli: &self.stimuli,
            difficulties: &self.difficulties,
            comparisons: &self.comparisons,
            options: &self.options,
            seed: Seed(1),
        })
    }

    fn score(&self) -> LadderFindings {
        self.try_score().expect("because the world can be scored")
    }

    /// Adds a stimulus and what the only model says about it; `None` for a failure.
    fn add(&mut self, label: &str, attribute: Option<&str>, level: &str, is_right: Option<bool>) {
        let id = format!("s{:04}", self.stimuli.len());
        self.stimuli.push(stimulus(&id, label, attribute, Some(level)));
        self.predictions.push(prediction("m", &id, label, is_right));
    }

    /// Adds stimuli of one level, one for each letter: `1` right, `0` wrong, `x` failed.
    fn add_all(&mut self, label: &str, attribute: Option<&str>, level: &str, answers: &str) {
        for answer in answers.chars() {
            let is_right = match answer {
                '1' => Some(true),
                '0' => Some(false),
                _ => None,
            };
            self.add(label, attribute, level, is_right);
        }
    }
}

fn stimulus(id: &str, label: &str, attribute: Option<&str>, level: Option<&str>) -> Stimulus {
    Stimulus {
        id: StimulusId::new(id),
        file: format!("{id}.png").into(),
        label: Label::new(label),
        dataset: None,
        boxes: Vec::new(),
        mask: None,
        attribute: attribute.map(Into::into),
        level: level.map(Into::into),
        extra: Extra::default(),
    }
}

fn prediction(model: &str, id: &str, label: &str, is_right: Option<bool>) -> Prediction {
    let outcome = match is_right {
        None => Outcome::Failed(FailureReason::new("cannot be decoded")),
        Some(is_right) => Outcome::Answered(Answer {
            predicted: Label::new(if is_right { label } else { "something else" }),
            confidence: None,
            top_k: Vec::new(),
            correct: None,
        }),
    };
    Prediction {
        model: model.into(),
        stimulus: StimulusId::new(id),
        probe: Prediction::NO_PROBE.into(),
        condition: None,
        label: None,
        outcome,
        extra: Extra::default(),
    }
}

fn has(found: &LadderFindings, code: &str) -> bool {
    found.caveats.iter().any(|caveat| caveat.code() == code)
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} should be {expected}");
}

fn text(right: &[bool]) -> String {
    right.iter().map(|right| if *right { '1' } else { '0' }).collect()
}

/// Eight labels, each with one stimulus per level and another pattern.
#[test]
fn all_eight_patterns_worked_by_hand() {
    let mut world = World::default();
    for pattern in 0..8 {
        let label = format!("label {pattern}");
        for (level, bit) in [("easy", 4), ("medium", 2), ("hard", 1)] {
            world.add(&label, None, level, Some(pattern & bit != 0));
        }
    }
    let found = world.score();
    let model = &found.models[0];
    let order: Vec<String> = model.patterns.iter().map(|pattern| text(&pattern.right)).collect();
    assert_eq!(order, ["111", "110", "100", "000", "101", "011", "010", "001"]);
    for pattern in &model.patterns {
        assert_eq!((pattern.n_all, pattern.n_sampled), (1, 1), "{:?}", pattern.right);
        near(pattern.share.value, 1.0 / 8.0);
        assert!(pattern.share.low < pattern.share.high);
    }
    let hierarchical: Vec<bool> = model.patterns.iter().map(|p| p.is_hierarchical).collect();
    assert_eq!(hierarchical, [true, true, true, true, false, false, false, false]);
    let hierarchy = model.overall.hierarchy.as_ref().unwrap();
    near(hierarchy.score.value, 0.5);
    // Half of the answers are right at every level: 4 of 8 patterns by chance, too.
    near(hierarchy.baseline.value, 0.5);
    near(hierarchy.excess.unwrap().value, 0.0);
    let sampled = model.sampled.as_ref().unwrap();
    assert_eq!((sampled.n_chains, sampled.n_hierarchical), (8, 4));
    near(model.overall.score.unwrap().value, 0.5);
    assert!(has(&found, "single-chains"));
    assert_eq!((found.n_cells, found.n_complete_cells), (8, 8));
    assert_eq!(found.method.cells, CellKind::Label);
}

/// Two cells of one attribute. `cup`: 1 of 2 easy, 2 of 3 medium, 1 of 2 hard; `key`: all easy, 1 of
/// 2 medium, no hard.
fn two_cells() -> World {
    let mut world = World::default();
    world.add_all("cup", Some("blur"), "easy", "10");
    world.add_all("cup", Some("blur"), "medium", "110");
    world.add_all("cup", Some("blur"), "hard", "10");
    world.add_all("key", Some("blur"), "easy", "11");
    world.add_all("key", Some("blur"), "medium", "10");
    world.add_all("key", Some("blur"), "hard", "00");
    world
}

#[test]
fn two_cells_worked_by_hand() {
    let found = two_cells().score();
    let model = &found.models[0];
    let hierarchy = model.overall.hierarchy.as_ref().unwrap();
    // cup: 6 of 12 chains (see pattern.rs); key: right, any, wrong: all are hierarchical.
    near(hierarchy.score.value, f64::midpoint(0.5, 1.0));
    // Mean shares 3/4, 7/12, 1/4: EMH + EMh + Emh + emh = 21 + 63 + 45 + 15 of 192.
    near(hierarchy.baseline.value, 144.0 / 192.0);
    // Drawing one label twice leaves no excess to see, so it has no interval and is not told.
    assert!(hierarchy.excess.is_none());
    let n_all: Vec<u64> = model.patterns.iter().map(|pattern| pattern.n_all).collect();
    // cup 2 2 1 1 1 2 2 1, key (2·1·2 =) 0 4 4 0 and nothing else.
    assert_eq!(n_all, [2, 6, 5, 1, 1, 2, 2, 1]);
    // Score: (3/4 + 2 · 3/5 + 4 · 1/4) / 7.
    near(model.overall.score.unwrap().value, (0.75 + 1.2 + 1.0) / 7.0);
    near(model.overall.accuracy.unwrap().value, 7.0 / 13.0);
    assert_eq!(model.attributes.len(), 1);
    near(model.attributes[0].hierarchy.as_ref().unwrap().score.value, 0.75);
    let labels: Vec<(&str, f64)> =
        model.labels.iter().map(|label| (label.label.as_str(), label.score)).collect();
    assert_eq!(labels, [("cup", 0.5), ("key", 1.0)]);
    assert!(model.labels.iter().all(|label| label.estimate.is_none() && label.n_cells == 1));
}

#[test]
fn empty_cells_count_in_accuracy_and_not_in_chains() {
    let mut world = two_cells();
    let before = world.score();
    // A label without hard stimuli, and one whose only medium stimulus failed.
    world.add_all("sock", Some("blur"), "easy", "1");
    world.add_all("sock", Some("blur"), "medium", "1");
    world.add_all("shoe", Some("blur"), "easy", "0");
    world.add_all("shoe", Some("blur"), "medium", "x");
    world.add_all("shoe", Some("blur"), "hard", "1");
    let found = world.score();
    assert!(has(&found, "incomplete-cells") && has(&found, "failed-predictions"));
    assert_eq!((found.n_cells, found.n_complete_cells), (4, 3));
    let hierarchy = |found: &LadderFindings| found.models[0].overall.hierarchy.clone().unwrap();
    near(hierarchy(&found).score.value, hierarchy(&before).score.value);
    assert_eq!(hierarchy(&found).score.n, 2);
    assert_eq!((found.n_failed, found.models[0].n_failed), (1, 1));
    assert_eq!(found.models[0].overall.accuracy.unwrap().n, 13 + 4);
    let sampled = |found: &LadderFindings| found.models[0].sampled.clone().unwrap().n_chains;
    assert_eq!(sampled(&found), sampled(&before));
}

#[test]
fn without_a_complete_cell_there_is_no_hierarchy_and_no_panic() {
    let mut world = World::default();
    world.add_all("cup", None, "easy", "11");
    world.add_all("key", None, "hard", "01");
    let found = world.score();
    let model = &found.models[0];
    assert!(model.overall.hierarchy.is_none() && model.sampled.is_none());
    assert!(model.patterns.is_empty() && model.labels.is_empty());
    near(model.overall.score.unwrap().value, (1.0 + 2.0 * 0.5) / 3.0);
    assert_eq!((found.n_cells, found.n_complete_cells), (2, 0));
}

#[test]
fn a_level_that_is_missing_everywhere_is_named_and_the_rest_is_a_ladder() {
    let mut world = World::default();
    world.options.levels = ["easy", "medium", "hard"].map(str::to_owned).to_vec();
    for label in ["cup", "key"] {
        world.add_all(label, None, "easy", "11");
        world.add_all(label, None, "hard", "10");
    }
    let found = world.score();
    assert!(has(&found, "levels-without-stimuli"));
    assert_eq!(found.levels.len(), 2);
    assert_eq!(found.models[0].patterns.len(), 4);
    assert_eq!(found.method.weights, [1.0 / 3.0, 2.0 / 3.0]);
}

/// Half of the weighted score would be another score: a level that nobody was shown leaves none.
#[test]
fn a_level_that_no_model_was_shown_stays_a_level() {
    let mut world = two_cells();
    world.predictions.retain(|row| {
        let shown = world.stimuli.iter().find(|stimulus| stimulus.id == row.stimulus);
        shown.is_some_and(|stimulus| stimulus.level.as_deref() != Some("medium"))
    });
    for levels in [Vec::new(), ["easy", "medium", "hard"].map(String::from).to_vec()] {
        world.options.levels = levels;
        let found = world.score();
        let names: Vec<&str> = found.levels.iter().map(|level| level.name.as_str()).collect();
        assert_eq!(names, ["easy", "medium", "hard"]);
        let overall = &found.models[0].overall;
        assert!(overall.score.is_none() && overall.hierarchy.is_none());
        assert!(overall.accuracy.is_some() && overall.levels[1].is_none());
        assert!(has(&found, "levels-not-shown") && !has(&found, "levels-without-stimuli"));
    }
    // Who names the others alone means them.
    world.options.levels = ["easy", "hard"].map(String::from).to_vec();
    let found = world.score();
    assert_eq!(found.levels.len(), 2);
    assert!(found.models[0].overall.score.is_some() && !has(&found, "levels-not-shown"));
}

/// Stimuli of other experiments in the same table are nobody's business.
#[test]
fn stimuli_that_nobody_was_shown_do_not_spoil_an_order() {
    let mut world = two_cells();
    let before = world.score();
    let mut unshown = world.stimuli[0].clone();
    for level in ["practice", "7"] {
        unshown.id = format!("unshown-{level}").as_str().into();
        unshown.level = Some(level.into());
        world.stimuli.push(unshown.clone());
        let found = world.score();
        assert_eq!(found.levels, before.levels);
        assert_eq!(found.models, before.models);
    }
    // Three numbers of twenty-one: three levels, not parts of a scale.
    let mut world = World::default();
    for label in ["cup", "key"] {
        for (level, right) in [("0", "11"), ("1", "10"), ("2", "01")] {
            world.add_all(label, None, level, right);
        }
    }
    let before = world.score();
    for level in 3..=20 {
        let mut unshown = world.stimuli[0].clone();
        unshown.id = format!("unshown-{level}").as_str().into();
        unshown.level = Some(level.to_string());
        world.stimuli.push(unshown);
    }
    let found = world.score();
    assert_eq!(found.levels.len(), 3);
    assert_eq!(found.models, before.models);
}

#[test]
fn levels_that_tie_are_one_level() {
    let mut world = World::default();
    for label in ["cup", "key"] {
        world.add_all(label, None, "1", "1");
        world.add_all(label, None, "1.0", "0");
        world.add_all(label, None, "2", "00");
    }
    let found = world.score();
    assert!(has(&found, "levels-tied"));
    assert_eq!((found.levels.len(), found.levels[0].n_stimuli), (2, 4));
    near(found.models[0].overall.levels[0].unwrap().value, 0.5);
}

/// Five levels; cup: 1 1 0 0 0; key: 1 0 1 0 0.
#[test]
fn five_levels_worked_by_hand() {
    let mut world = World::default();
    for (label, answers) in [("cup", "11000"), ("key", "10100")] {
        for (level, answer) in answers.chars().enumerate() {
            world.add_all(label, None, &(level + 1).to_string(), &answer.to_string());
        }
    }
    let found = world.score();
    let model = &found.models[0];
    assert_eq!((found.levels.len(), model.patterns.len()), (5, 32));
    near(model.overall.hierarchy.as_ref().unwrap().score.value, 0.5);
    // Shares 1, ½, ½, 0, 0: 1 · (¼ wrong wrong + ¼ right wrong + ¼ right right) = ¾.
    near(model.overall.hierarchy.as_ref().unwrap().baseline.value, 0.75);
    near(model.overall.hierarchy.as_ref().unwrap().excess.map_or(-1.0, |e| e.value), -1.0);
    near(model.overall.score.unwrap().value, (1.0 + 2.0 * 0.5 + 4.0 * 0.5) / 31.0);
    let seven = {
        let mut world = World::default();
        for level in 1..=7 {
            world.add_all("cup", None, &level.to_string(), if level < 4 { "1" } else { "0" });
        }
        world.score()
    };
    assert_eq!(seven.models[0].patterns.len(), 8);
    near(seven.models[0].overall.hierarchy.as_ref().unwrap().score.value, 1.0);
}

#[test]
fn weights_can_be_chosen_and_must_fit() {
    let mut world = two_cells();
    world.options.weights = vec![1.0, 1.0, 1.0];
    let found = world.score().models[0].overall.score.unwrap();
    near(found.value, (0.75 + 0.6 + 0.25) / 3.0);
    world.options.weights = vec![1.0, 2.0];
    assert!(matches!(world.try_score(), Err(LadderError::BadWeights { n_levels: 3, .. })));
}

#[test]
fn words_without_an_order_one_level_and_none_are_refused() {
    let mut world = World::default();
    world.add_all("cup", None, "weak", "1");
    assert!(matches!(world.try_score(), Err(LadderError::OrderUnknown { .. })));
    world.options.levels = vec!["weak".into(), "strong".into()];
    assert!(matches!(world.try_score(), Err(LadderError::OneLevel { .. })));
    world.options.levels = vec!["strong".into()];
    assert!(matches!(world.try_score(), Err(LadderError::UnknownLevels { .. })));
    for row in &mut world.stimuli {
        row.level = None;
    }
    assert_eq!(world.try_score(), Err(LadderError::NoLevels));
    world.options.by = By::Column("noise".into());
    assert!(matches!(world.try_score(), Err(LadderError::UnknownColumn { .. })));
}

#[test]
fn a_column_of_numbers_and_bands_of_people_make_ladders_too() {
    let mut world = two_cells();
    for (row, noise) in world.stimuli.iter_mut().zip([3, 3, 5, 5, 5, 9, 9, 3, 3, 5, 5, 9, 9]) {
        row.level = None;
        row.extra = Extra::from_pairs([("noise", noise.to_string())]);
    }
    world.options.by = By::Column("noise".into());
    let by_column = world.score();
    assert_eq!(by_column.method.by, LevelOrigin::Column);
    near(by_column.models[0].overall.hierarchy.as_ref().unwrap().score.value, 0.75);
    world.difficulties = world
        .stimuli
        .iter()
        .map(|row| {
            let value: f64 = row.extra.get("noise").unwrap().parse().unwrap();
            Difficulty {
                stimulus: row.id.clone(),
                measure: "viewing-time".into(),
                estimate: Estimate { value, low: value, high: value, confidence: 0.95, n: 7 },
                // Sorted by their difficulty and not by the alphabet.
                band: Some(
                    ["z", "y", "x"][if value < 4.0 { 0 } else { usize::from(value > 6.0) + 1 }]
                        .into(),
                ),
                caveats: Vec::new(),
                extra: Extra::default(),
            }
        })
        .collect();
    world.options.by = By::Known;
    let by_people = world.score();
    assert_eq!(by_people.method.by, LevelOrigin::Difficulty);
    let names: Vec<&str> = by_people.levels.iter().map(|level| level.name.as_str()).collect();
    assert_eq!(names, ["z", "y", "x"]);
    assert_eq!(by_people.models[0].overall.hierarchy, by_column.models[0].overall.hierarchy);
}

#[test]
fn attributes_are_kept_apart_unless_asked_otherwise() {
    let mut world = two_cells();
    world.add_all("cup", Some("size"), "easy", "1");
    world.add_all("cup", Some("size"), "medium", "0");
    world.add_all("cup", Some("size"), "hard", "1");
    let found = world.score();
    assert_eq!((found.method.cells, found.n_complete_cells), (CellKind::LabelAndAttribute, 3));
    let model = &found.models[0];
    near(model.overall.hierarchy.as_ref().unwrap().score.value, (0.5 + 1.0 + 0.0) / 3.0);
    near(model.attributes[1].hierarchy.as_ref().unwrap().score.value, 0.0);
    // Two cells at 3/4 and one at 0, which its own attribute's means explain.
    near(model.overall.hierarchy.as_ref().unwrap().baseline.value, (2.0 * 0.75 + 0.0) / 3.0);
    let cup = model.labels.iter().find(|label| label.label == Label::new("cup")).unwrap();
    assert_eq!(cup.n_cells, 2);
    near(cup.score, 0.25);
    assert!(cup.estimate.is_some());
    world.options.cells = CellKind::Label;
    let pooled = world.score();
    assert_eq!((pooled.method.cells, pooled.n_complete_cells), (CellKind::Label, 2));
    assert!(pooled.models[0].attributes.iter().all(|row| row.hierarchy.is_none()));
    assert_eq!(pooled.models[0].attributes[0].accuracy, model.attributes[0].accuracy);
}

#[test]
fn one_thread_and_two_and_any_order_of_rows_give_the_same() {
    let world = simulated(12, 4, 6, 1.0, 3);
    let run = |n_threads, world: &World| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| world.score())
    };
    let one = run(1, &world);
    assert_eq!(one, run(2, &world));
    let mut turned = world.clone();
    turned.predictions.reverse();
    turned.stimuli.reverse();
    assert_eq!(one, run(1, &turned));
}

/// Answers of one model: labels differ by `spread` log-odds, levels by two.
fn simulated(n_labels: usize, n_attributes: usize, n: usize, spread: f64, seed: u64) -> World {
    let mut world = World::default();
    world.options.n_resamples = 200;
    for label in 0..n_labels {
        for attribute in 0..n_attributes {
            let mut draw = Draw::new(Seed(seed), &[1, label as u64, attribute as u64]);
            let ability = spread * draw.normal();
            for (level, middle) in LEVELS {
                for _ in 0..n {
                    let is_right = draw.chance(logistic(middle + ability));
                    let name = format!("attribute {attribute}");
                    world.add(&format!("label {label:03}"), Some(&name), level, Some(is_right));
                }
            }
        }
    }
    world
}

const LEVELS: [(&str, f64); 3] = [("easy", 1.8), ("medium", 0.3), ("hard", -1.3)];

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The score of one ability, from its chances.
fn of_chances(p: [f64; 3]) -> f64 {
    let [e, m, h] = p;
    e * m * h + e * m * (1.0 - h) + e * (1.0 - m) * (1.0 - h) + (1.0 - e) * (1.0 - m) * (1.0 - h)
}

/// Where answers depend on the level alone, score and baseline are the same truth.
#[test]
fn the_baseline_is_what_independence_gives() {
    let truth = of_chances(LEVELS.map(|(_, middle)| logistic(middle)));
    let (mut scores, mut baselines, mut excesses) = (0.0, 0.0, 0.0);
    let n_runs = 60;
    for seed in 0..n_runs {
        let mut world = simulated(20, 2, 4, 0.0, seed);
        world.options.n_resamples = 2;
        let hierarchy = world.score().models[0].overall.hierarchy.clone().unwrap();
        scores += hierarchy.score.value;
        baselines += hierarchy.baseline.value;
        excesses += hierarchy.excess.map_or(0.0, |excess| excess.value);
    }
    #[expect(clippy::cast_precision_loss, reason = "a few runs")]
    let mean = |sum: f64| sum / n_runs as f64;
    // 60 runs of 480 stimuli: a standard error of about 0.003 each.
    assert!((mean(scores) - truth).abs() < 0.01, "{} {truth}", mean(scores));
    assert!((mean(baselines) - truth).abs() < 0.01, "{} {truth}", mean(baselines));
    assert!((mean(scores) - mean(baselines)).abs() < 0.004);
    assert!(mean(excesses).abs() < 0.02, "{}", mean(excesses));
}

/// Labels that differ make chains hierarchical beyond the baseline; the truth is an integral over
/// abilities, and the interval holds it about as often as promised.
#[test]
fn the_score_is_recovered_and_its_interval_covers() {
    let spread = 1.5;
    let (mut truth, mut weight) = (0.0, 0.0);
    for step in -600..=600 {
        let z = f64::from(step) / 100.0;
        let density = (-z * z / 2.0).exp();
        truth += density * of_chances(LEVELS.map(|(_, middle)| logistic(middle + spread * z)));
        weight += density;
    }
    truth /= weight;
    let (n_runs, mut n_held, mut sum, mut n_above) = (200, 0, 0.0, 0);
    for seed in 0..n_runs {
        let world = simulated(24, 2, 3, spread, 1_000 + seed);
        let hierarchy = world.score().models[0].overall.hierarchy.clone().unwrap();
        let estimate = hierarchy.score;
        n_held += u32::from(estimate.low <= truth && truth <= estimate.high);
        n_above += u32::from(hierarchy.excess.is_some_and(|excess| 0.0 < excess.low));
        sum += estimate.value;
    }
    #[expect(clippy::cast_precision_loss, reason = "a few runs")]
    let mean = sum / n_runs as f64;
    assert!((mean - truth).abs() < 0.006, "{mean} {truth}");
    // 95 % of 200 is 190, with a standard deviation of 3.
    assert!((181..=199).contains(&n_held), "{n_held} of {n_runs}");
    assert!(100 < n_above, "{n_above} of {n_runs} intervals of the excess lie above 0");
}

/// Drawing chains as published gives the closed form on average, with chance of its own.
#[test]
fn drawn_chains_are_the_closed_form_on_average() {
    let world = simulated(10, 2, 6, 1.0, 5);
    let closed = world.score().models[0].overall.hierarchy.clone().unwrap().score.value;
    let drawn = |seed: u64| {
        let found = score(&Input {
            predictions: &world.predictions,
            stimuli: &world.stimuli,
            difficulties: &[],
            comparisons: &[],
            options: &Options { n_resamples: 1, ..Options::default() },
            seed: Seed(seed),
        });
        found.unwrap().models[0].sampled.clone().unwrap()
    };
    assert_eq!(drawn(1).n_chains, 10 * 2 * 6);
    let shares: Vec<f64> = (0..200).map(|seed| drawn(seed).share.value).collect();
    let mean = shares.iter().sum::<f64>() / 200.0;
    assert!((mean - closed).abs() < 0.006, "{mean} {closed}");
    assert!(shares.iter().any(|share| (share - shares[0]).abs() > 0.005));
}

/// Three models and more: r with intervals; fewer are told apart from none.
#[test]
fn accuracy_and_hierarchy_are_correlated_over_three_models_or_more() {
    let mut world =
        World { options: Options { n_resamples: 100, ..Options::default() }, ..World::default() };
    for label in 0..12 {
        for (level, _) in LEVELS {
            for nth in 0..3 {
                let id = format!("{label:02}-{level}-{nth}");
                world.stimuli.push(stimulus(&id, &format!("label {label:02}"), None, Some(level)));
            }
        }
    }
    let answer = |world: &mut World, model: &str, ability: f64, seed: u64| {
        for (idx, row) in world.stimuli.iter().enumerate() {
            let middle =
                LEVELS.iter().find(|level| Some(level.0) == row.level.as_deref()).unwrap().1;
            let mut draw = Draw::new(Seed(seed), &[2, idx as u64]);
            let is_right = draw.chance(logistic(middle + ability));
            let row = prediction(model, row.id.as_str(), row.label.as_str(), Some(is_right));
            world.predictions.push(row);
        }
    };
    answer(&mut world, "a", 0.0, 1);
    answer(&mut world, "b", 1.0, 2);
    let two = world.score();
    assert!(two.with_accuracy.is_none() && has(&two, "few-models"));
    answer(&mut world, "c", 2.5, 3);
    let three = world.score().with_accuracy.unwrap();
    assert!(three.over_models.is_none() && three.over_classes.unwrap().n == 3);
    answer(&mut world, "d", 4.0, 4);
    let four = world.score().with_accuracy.unwrap();
    let over_models = four.over_models.unwrap();
    assert_eq!(over_models.n, 4);
    assert!(over_models.low < over_models.value && over_models.value < over_models.high);
    near(over_models.value, four.over_classes.unwrap().value);
}

#[test]
fn confidence_is_told_by_level_for_right_and_wrong_answers() {
    let mut world = two_cells();
    for (idx, row) in world.predictions.iter_mut().enumerate() {
        if let Outcome::Answered(answer) = &mut row.outcome {
            #[expect(clippy::cast_precision_loss, reason = "a few rows")]
            let confidence = 0.95 - idx as f64 * 0.05;
            answer.confidence = (idx != 12).then_some(confidence);
        }
    }
    let found = world.score();
    let [easy, medium, hard] = &found.models[0].confidence[..] else { panic!("three levels") };
    let easy = easy.as_ref().unwrap();
    // Easy: cup 0.95 right and 0.90 wrong, key 0.60 and 0.55 right.
    assert_eq!((easy.n_right, easy.n_wrong, easy.mean.n), (3, 1, 4));
    near(easy.mean.value, 0.75);
    near(easy.percentiles[2], 0.75);
    near(easy.median_right.unwrap(), 0.6);
    near(easy.median_wrong.unwrap(), 0.9);
    assert_eq!(easy.steps.iter().map(|step| step.0 + step.1).sum::<usize>(), 4);
    assert!(medium.is_some() && hard.as_ref().unwrap().mean.n == 3);
    assert!(has(&found, "confidence-missing"));
}

/// Two groups that nobody compared with each other, the second harder throughout: levels are in
/// order inside both, and would not be across.
#[test]
fn levels_are_judged_within_components_and_never_across() {
    let mut world = World::default();
    for (attribute, _) in [("blur", 0), ("size", 1)] {
        for level in ["easy", "medium", "hard"] {
            world.add_all("cup", Some(attribute), level, "10");
        }
    }
    world.options.n_resamples = 100;
    let ids: Vec<StimulusId> = world.stimuli.iter().map(|row| row.id.clone()).collect();
    for participant in 0..6 {
        for group in [&ids[..6], &ids[6..]] {
            for (right_idx, right) in group.iter().enumerate() {
                for (left_idx, left) in group[..right_idx].iter().enumerate() {
                    // One answer in seven is turned, so that nothing is separated.
                    let is_turned = (participant + left_idx * 3 + right_idx) % 7 == 0;
                    world.comparisons.push(Comparison {
                        participant: format!("p{participant}").as_str().into(),
                        left: left.clone(),
                        right: right.clone(),
                        harder: if is_turned { Harder::Left } else { Harder::Right },
                        ..comparison()
                    });
                }
            }
        }
    }
    let validity = world.score().validity.unwrap();
    assert_eq!((validity.n_components, validity.n_participants), (2, 6));
    let in_order = validity.in_order.unwrap();
    // 12 pairs of different levels in each component.
    assert_eq!(in_order.n, 24);
    assert!(0.9 < in_order.value && in_order.low <= in_order.value, "{in_order:?}");
    assert_eq!(validity.pairs.len(), 3);
    assert_eq!(validity.components.len(), 2);
    assert!(0.7 < validity.within.kendall.unwrap().value);
    let turned = {
        let mut world = world.clone();
        world.options.levels = ["hard", "medium", "easy"].map(str::to_owned).to_vec();
        world.score().validity.unwrap().in_order.unwrap()
    };
    near(turned.value, 1.0 - in_order.value);
}

#[test]
fn comparisons_of_one_level_say_nothing_about_levels() {
    let mut world = two_cells();
    world.options.n_resamples = 20;
    world.comparisons = vec![Comparison {
        left: world.stimuli[0].id.clone(),
        right: world.stimuli[1].id.clone(),
        ..comparison()
    }];
    let found = world.score();
    assert!(found.validity.is_none() && has(&found, "levels-not-judged"));
}

fn comparison() -> Comparison {
    Comparison {
        id: "c".into(),
        participant: "p".into(),
        left: StimulusId::new("a"),
        right: StimulusId::new("b"),
        harder: Harder::Right,
        question: None,
        onset: None,
        responded: None,
        count: 1,
        sides: Sides::Shown,
        extra: Extra::default(),
    }
}

/// Reads the answers of 22 networks to noisy pictures, one column each.
#[expect(clippy::print_stdout, reason = "a skipped test says why")]
fn networks() -> Option<World> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/replay/noise_22_networks.csv");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: no real data at ../shared/data/replay");
        return None;
    };
    let mut world = World::default();
    let mut lines = text.lines();
    let models: Vec<&str> = lines.next()?.split(',').skip(3).collect();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let noise = Extra::from_pairs([("noise", cells[2].to_owned())]);
        world.stimuli.push(Stimulus { extra: noise, ..stimulus(cells[0], cells[1], None, None) });
        for (model, predicted) in models.iter().zip(&cells[3..]) {
            let mut row = prediction(model, cells[0], cells[1], Some(*predicted == cells[1]));
            if predicted.is_empty() {
                row.outcome = Outcome::Failed(FailureReason::new("no answer"));
            }
            world.predictions.push(row);
        }
    }
    world.options.by = By::Column("noise".into());
    Some(world)
}

#[test]
fn a_model_without_rows_for_what_it_gets_wrong_is_named() {
    let mut world = World::default();
    for level in ["easy", "medium", "hard"] {
        world.add_all("mug", None, level, "1101");
    }
    let code = |world: &World| -> Vec<&'static str> {
        world.score().caveats.iter().map(|caveat| caveat.code()).collect()
    };
    assert!(!code(&world).contains(&"models-saw-others"));
    let right: Vec<Prediction> = world
        .predictions
        .iter()
        .filter(|row| row.answer().is_some_and(|answer| answer.predicted.as_str() == "mug"))
        .map(|row| Prediction { model: "only right".into(), ..row.clone() })
        .collect();
    assert_eq!(right.len(), 9);
    world.predictions.extend(right);
    assert!(code(&world).contains(&"models-saw-others"));
    let said = world.score().caveats.iter().map(|caveat| caveat.message()).collect::<String>();
    assert!(said.contains("of 12, there are rows of `only right` for 9."), "{said}");
}

#[test]
fn twenty_two_real_networks_climb_a_ladder_of_noise() {
    let Some(mut world) = networks() else { return };
    world.options.n_resamples = 100;
    let found = world.score();
    assert_eq!((found.models.len(), found.n_stimuli, found.levels.len()), (22, 4_480, 8));
    assert_eq!((found.n_cells, found.n_complete_cells), (16, 16));
    let first = &found.models[0];
    assert_eq!(first.model.as_str(), "all-noise");
    // Counts of the file itself, by noise.
    let right: Vec<(usize, f64)> =
        first.overall.levels.iter().flatten().map(|level| (level.n, level.value)).collect();
    assert_eq!(right[0].0, 565);
    near(right[0].1, 533.0 / 565.0);
    near(right[7].1, 200.0 / 546.0);
    for model in &found.models {
        let hierarchy = model.overall.hierarchy.as_ref().unwrap();
        assert!((0.0..=1.0).contains(&hierarchy.score.value));
        // Labels differ for every network, so that chains are more hierarchical than chance.
        assert!(hierarchy.baseline.value < hierarchy.score.value, "{}", model.model);
        let share: f64 = model.patterns.iter().map(|pattern| pattern.share.value).sum();
        near(share, hierarchy.score.value);
        let sampled = model.sampled.as_ref().unwrap();
        assert!((sampled.share.value - hierarchy.score.value).abs() < 0.1, "{}", model.model);
    }
    let r = found.with_accuracy.as_ref().unwrap();
    assert_eq!(r.over_models.unwrap().n, 22);
}
