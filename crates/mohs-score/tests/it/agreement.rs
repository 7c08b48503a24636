//! Agreement against published data: the 90 files of model-vs-human, where they are at hand, and
//! reference values computed from them by an independent script (plain Python, formulas of the
//! authors' published analysis); against lme4; and on simulated people whose truth is known.

use std::path::{Path, PathBuf};

use mohs_data::{
    Estimate, Extra, Label, ParticipantId, Seed, SessionId, StimulusId, Task, Trial, TrialId,
};
use mohs_score::draw::Draw;
use mohs_score::human::agreement::mixed_logistic::{self, Answer, Answers};
use mohs_score::human::agreement::{self, Agreement, DatasetAgreement, Error, Input, Options};

#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn real_data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/model-vs-human");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no real data at ../shared/data/model-vs-human");
    None
}

/// Conditions the benchmark leaves out.
const LEFT_OUT: &[(&str, &[&str])] = &[
    ("colour", &["cr"]),
    ("contrast", &["c100", "c03", "c01"]),
    ("high-pass", &["inf", "0.55", "0.45", "0.4"]),
    ("low-pass", &["0", "15", "40"]),
    ("phase-scrambling", &["0", "150", "180"]),
    ("power-equalisation", &["0"]),
    ("false-colour", &["True"]),
    ("rotation", &["0"]),
    ("eidolonI", &["1-10-10", "64-10-10", "128-10-10"]),
    ("eidolonII", &["1-3-10", "32-3-10", "64-3-10", "128-3-10"]),
    ("eidolonIII", &["1-0-10", "16-0-10", "32-0-10", "64-0-10", "128-0-10"]),
    ("uniform-noise", &["0.0", "0.6", "0.9"]),
];

fn condition(dataset: &str, raw: &str) -> String {
    match (dataset, raw) {
        ("uniform-noise" | "high-pass", _) if raw.parse::<f64>().is_ok_and(f64::is_finite) => {
            format!("{:?}", raw.parse::<f64>().expect("because it was just parsed"))
        }
        (_, "true") => "True".into(),
        (_, "false") => "False".into(),
        _ => raw.into(),
    }
}

fn read(folder: &Path) -> Vec<Trial> {
    let mut files: Vec<PathBuf> = Vec::new();
    for dataset in std::fs::read_dir(folder).expect("because it was just found") {
        let dataset = dataset.expect("because the folder can be read").path();
        for file in std::fs::read_dir(dataset).expect("because it is a folder") {
            files.push(file.expect("because the folder can be read").path());
        }
    }
    files.sort();
    files.iter().flat_map(|file| read_file(file)).collect()
}

fn read_file(file: &Path) -> Vec<Trial> {
    let name = |path: &Path| {
        path.file_name().expect("because files have names").to_string_lossy().into_owned()
    };
    let dataset = name(file.parent().expect("because it lies in a folder"));
    let left_out: &[&str] =
        LEFT_OUT.iter().find(|(name, _)| *name == dataset).map_or(&[], |(_, out)| *out);
    let text = std::fs::read_to_string(file).expect("because it can be read");
    text.lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let parts: Vec<&str> = cells[7].split('_').collect();
            let n = parts.len();
            let is_imagenet = parts[n - 2].starts_with("n0");
            let stimulus =
                if is_imagenet { parts[n - 2..].join("_") } else { parts[n - 1].to_owned() };
            let condition = condition(&dataset, cells[6]);
            let benchmark = if left_out.contains(&condition.as_str()) { "out" } else { "in" };
            let texture = (dataset == "cue-conflict").then(|| {
                let cue = stimulus.trim_end_matches(".png").rsplit('-').next();
                cue.unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit()).to_owned()
            });
            Trial {
                id: TrialId::new(format!("{}-{}", name(file), cells[2])),
                session: SessionId::new(cells[1]),
                participant: ParticipantId::new(cells[0]),
                idx: cells[2].parse().ok(),
                block: None,
                task: Task::Rate,
                stimulus: StimulusId::new(stimulus),
                label: Some(Label::new(cells[5])),
                exposure: None,
                beep: None,
                condition: Some(condition),
                response: (cells[4] != "na").then(|| Label::new(cells[4])),
                marked_correct: None,
                onset: None,
                offset: None,
                responded: None,
                timing: None,
                extra: Extra::from_pairs([
                    ("dataset", dataset.clone()),
                    ("benchmark", benchmark.to_owned()),
                    ("texture", texture.unwrap_or_default()),
                ]),
            }
        })
        .collect()
}

fn score(trials: &[Trial], options: Options) -> Agreement {
    agreement::score(&Input { trials, options: &options, seed: Seed(1) })
        .expect("because these data can be scored")
        .0
}

#[track_caller]
fn near(estimate: Option<Estimate>, value: f64, tolerance: f64) {
    let estimate = estimate.expect("because this number is there");
    assert!((estimate.value - value).abs() < tolerance, "{estimate:?} should be {value}");
    assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
    assert!(estimate.low < estimate.high, "{estimate:?} has no width");
}

const SIX_DIGITS: f64 = 6e-7;

/// Data set, people, trials, conditions counted, accuracy, error consistency, observed
/// consistency, accuracy difference.
const TABLE: [(&str, usize, usize, usize, [f64; 4]); 17] = [
    ("colour", 4, 5120, 1, [0.886_719, 0.415_432, 0.882_812, 0.000_747]),
    ("contrast", 4, 5120, 5, [0.660_937, 0.437_025, 0.780_208, 0.008_126]),
    ("cue-conflict", 10, 12800, 1, [0.775_547, 0.331_052, 0.765_156, 0.011_554]),
    ("edge", 10, 1600, 1, [0.871_250, 0.318_436, 0.838_611, 0.020_351]),
    ("eidolonI", 4, 5120, 5, [0.607_500, 0.386_336, 0.782_917, 0.008_919]),
    ("eidolonII", 4, 5120, 4, [0.582_812, 0.454_018, 0.788_021, 0.003_988]),
    ("eidolonIII", 4, 5120, 3, [0.639_062, 0.459_532, 0.778_819, 0.011_031]),
    ("false-colour", 4, 4480, 1, [0.873_661, 0.444_045, 0.875_893, 0.003_267]),
    ("high-pass", 4, 5120, 4, [0.628_906, 0.440_141, 0.765_104, 0.014_971]),
    ("low-pass", 4, 5120, 5, [0.661_250, 0.468_879, 0.790_833, 0.001_682]),
    ("phase-scrambling", 4, 4480, 4, [0.687_891, 0.446_673, 0.798_177, 0.000_802]),
    ("power-equalisation", 4, 4480, 1, [0.758_929, 0.510_632, 0.820_238, 0.002_640]),
    ("rotation", 4, 5120, 3, [0.829_948, 0.438_509, 0.842_535, 0.001_029]),
    ("silhouette", 10, 1600, 1, [0.753_125, 0.475_709, 0.803_472, 0.008_477]),
    ("sketch", 7, 5600, 1, [0.916_250, 0.369_620, 0.899_881, 0.003_579]),
    ("stylized", 5, 4000, 1, [0.471_250, 0.500_582, 0.750_250, 0.008_544]),
    ("uniform-noise", 4, 5120, 5, [0.682_813, 0.434_057, 0.782_292, 0.001_908]),
];

#[test]
fn published_human_data_give_the_reference_values() {
    let Some(folder) = real_data() else { return };
    let trials = read(&folder);
    assert_eq!(trials.len(), TABLE.iter().map(|row| row.2).sum::<usize>());
    let found = score(&trials, Options { n_resamples: 50, n_splits: 10, ..Options::default() });
    assert_eq!(found.datasets.len(), 17);
    for ((name, n_people, n_trials, n_conditions, numbers), set) in
        TABLE.iter().zip(&found.datasets)
    {
        assert_eq!((set.name.as_str(), set.n_participants), (*name, *n_people));
        assert_eq!(set.n_conditions, *n_conditions, "{name}");
        assert!(set.n_trials <= *n_trials);
        let people = set.people.as_ref().unwrap();
        near(set.accuracy, numbers[0], SIX_DIGITS);
        near(Some(people.error_consistency), numbers[1], SIX_DIGITS);
        near(Some(people.observed_consistency), numbers[2], SIX_DIGITS);
        near(Some(people.accuracy_difference), numbers[3], SIX_DIGITS);
        assert!(people.error_consistency.value < people.attainable_maximum.value);
        assert!(people.attainable_minimum.value < people.error_consistency.value);
        assert!(set.effects.is_some() && set.reliability.is_some(), "{name}");
    }
    near(found.means.accuracy, 0.722_815, SIX_DIGITS);
    let people = found.means.people.as_ref().unwrap();
    near(Some(people.error_consistency), 0.431_216, SIX_DIGITS);
    near(Some(people.observed_consistency), 0.808_542, SIX_DIGITS);
    near(Some(people.accuracy_difference), 0.006_566, SIX_DIGITS);
    shape_bias_is_that_of_the_reference(&found);
    pairs_and_conditions_are_those_of_the_reference(&found);
}

fn dataset<'a>(found: &'a Agreement, name: &str) -> &'a DatasetAgreement {
    found.datasets.iter().find(|set| set.name == name).expect("because it was read")
}

fn shape_bias_is_that_of_the_reference(found: &Agreement) {
    let cue_conflict = dataset(found, "cue-conflict");
    let bias = cue_conflict.shape_bias.as_ref().expect("because it has two cues");
    assert_eq!((bias.n_shape, bias.n_texture), (9236, 398));
    near(Some(bias.pooled), 0.958_687_98, 1e-8);
    for (participant, value) in
        [("subject-01", 0.961_716_94), ("subject-04", 0.919_089_76), ("subject-09", 0.986_602_87)]
    {
        let of = |id: &&agreement::ParticipantFinding| id.participant.as_str() == participant;
        let found = cue_conflict.participants.iter().find(of).expect("because they took part");
        near(found.shape_bias, value, 1e-8);
    }
    let by_class = [
        0.8931, 0.9347, 0.9972, 0.9683, 0.8722, 0.9868, 0.9739, 0.9590, 0.9913, 0.9958, 0.9413,
        0.9634, 0.9422, 0.8911, 0.9680, 0.9833,
    ];
    assert_eq!(bias.by_class.len(), 16);
    for (class, value) in bias.by_class.iter().zip(by_class) {
        near(class.shape_bias, value, 6e-5);
    }
    assert!(dataset(found, "edge").shape_bias.is_none());
}

fn pairs_and_conditions_are_those_of_the_reference(found: &Agreement) {
    for (name, kappa, observed) in
        [("edge", 0.236_180_904_5, 0.881_25), ("colour", 0.428_339_423_5, 0.896_875)]
    {
        let pair = &dataset(found, name).pairs[0];
        assert_eq!((pair.a.as_str(), pair.b.as_str()), ("subject-01", "subject-02"));
        near(Some(pair.consistency.error_consistency), kappa, 1e-10);
        near(Some(pair.consistency.observed_consistency), observed, 1e-10);
    }
    for (name, condition, counted, accuracy) in [
        ("colour", "cr", false, 0.908_594),
        ("colour", "bw", true, 0.886_719),
        ("contrast", "c100", false, 0.856_25),
        ("contrast", "c05", true, 0.353_125),
        ("contrast", "c01", false, 0.0625),
        ("uniform-noise", "0.0", false, 0.796_875),
        ("uniform-noise", "0.35", true, 0.398_438),
        ("low-pass", "40", false, 0.060_937),
        ("rotation", "180", true, 0.802_344),
    ] {
        let of = |found: &&agreement::ConditionFinding| found.condition == condition;
        let found = dataset(found, name).conditions.iter().find(of).expect("because it is there");
        assert_eq!(found.counted, counted, "{name} {condition}");
        near(found.accuracy, accuracy, SIX_DIGITS);
    }
}

/// Golden: lme4 1.1.31 under R 4.2.2 on the same file; `fixtures/mixed_logistic.R` made both.
#[test]
fn participant_and_stimulus_effects_are_those_of_lme4() {
    let rows: Vec<Vec<&str>> = include_str!("../fixtures/mixed_logistic.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    let number = |text: &str| text[1..].parse::<usize>().unwrap() - 1;
    let answers = rows
        .iter()
        .map(|row| Answer {
            participant_idx: number(row[0]),
            stimulus_idx: number(row[1]),
            condition_idx: usize::from(row[2] == "noisy"),
            is_right: row[3] == "1",
        })
        .collect();
    let data = Answers { n_participants: 12, n_stimuli: 40, n_conditions: 2, answers };
    let fit = mixed_logistic::fit(&data, 0.95).unwrap();
    let near = |found: f64, expected: f64, tolerance: f64| {
        assert!((found - expected).abs() < tolerance, "{found} should be {expected}");
    };
    near(fit.deviance, 448.344_063, 1e-6);
    near(fit.participant_sd.value, 0.379_768_51, 1e-5);
    near(fit.stimulus_sd.value, 1.158_767_60, 1e-5);
    near(fit.stimulus_sd.low, 0.784_894_55, 2e-3);
    near(fit.stimulus_sd.high, 1.666_809_49, 2e-3);
    near(fit.participant_sd.low, 0.0, 1e-12);
    near(fit.participant_sd.high, 0.829_663_68, 2e-3);
    for (idx, (value, error)) in
        [(0.608_859_58, 0.336_926_05), (-0.329_677_48, 0.332_743_64)].into_iter().enumerate()
    {
        let found = fit.conditions[idx].unwrap();
        near(found.value, value, 1e-5);
        near(found.half_width() / 1.959_963_985, error, 1e-4);
    }
    for (found, value, error) in [
        (fit.participants[0], 0.265_713_29, 0.277_405_00),
        (fit.participants[1], -0.134_891_51, 0.278_954_84),
        (fit.stimuli[0], -1.139_890_4, 0.574_433_87),
        (fit.stimuli[1], 1.598_240_4, 0.644_989_03),
    ] {
        near(found.value, value, 2e-5);
        near(found.half_width() / 1.959_963_985, error, 2e-5);
    }
}

/// People who differ, stimuli that differ, answers by chance between; models stand among them.
struct World {
    n_people: usize,
    n_models: usize,
    n_stimuli: usize,
    person_sd: f64,
    stimulus_sd: f64,
}

impl World {
    fn trials(&self, key: u64) -> Vec<Trial> {
        let mut draw = Draw::new(Seed(77), &[key]);
        let stimuli: Vec<f64> =
            (0..self.n_stimuli).map(|_| self.stimulus_sd * draw.normal()).collect();
        let mut trials = Vec::new();
        for observer in 0..self.n_people + self.n_models {
            let is_model = self.n_people <= observer;
            let ability = self.person_sd * draw.normal();
            for (idx, stimulus) in stimuli.iter().enumerate() {
                let p = 1.0 / (1.0 + (-(0.9 + ability + stimulus)).exp());
                let label = ["cat", "dog", "owl"][idx % 3];
                let other = ["dog", "owl", "cat"][idx % 3];
                let response = if draw.chance(p) { label } else { other };
                let kind = if is_model { "model" } else { "human" };
                trials.push(Trial {
                    id: TrialId::new(format!("{observer}-{idx}")),
                    session: SessionId::new("1"),
                    participant: ParticipantId::new(format!("{kind}-{observer:02}")),
                    idx: Some(idx as u64),
                    block: None,
                    task: Task::Rate,
                    stimulus: StimulusId::new(format!("stimulus-{idx:03}")),
                    label: Some(Label::new(label)),
                    exposure: None,
                    beep: None,
                    condition: Some(["easy", "hard"][idx % 2].into()),
                    response: Some(Label::new(response)),
                    marked_correct: None,
                    onset: None,
                    offset: None,
                    responded: None,
                    timing: None,
                    extra: Extra::from_pairs([
                        ("observer", kind.to_owned()),
                        ("texture", other.to_owned()),
                    ]),
                });
            }
        }
        trials
    }
}

const SMALL: World =
    World { n_people: 5, n_models: 1, n_stimuli: 60, person_sd: 0.4, stimulus_sd: 1.2 };
const QUICK: Options =
    Options { confidence: 0.95, n_resamples: 60, n_splits: 10, all_conditions: false };

#[test]
fn the_order_of_trials_does_not_matter() {
    let trials = SMALL.trials(1);
    let mut shuffled = trials.clone();
    Draw::new(Seed(4), &[]).shuffle(&mut shuffled);
    assert_eq!(score(&trials, QUICK), score(&shuffled, QUICK));
}

#[test]
fn one_thread_and_two_find_the_same() {
    let trials = SMALL.trials(2);
    let run = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        serde_json::to_string(&pool.install(|| score(&trials, QUICK))).unwrap()
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn findings_survive_being_written_and_read() {
    let found = score(&SMALL.trials(3), QUICK);
    let json = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Agreement>(&json).unwrap(), found);
}

#[test]
fn a_model_is_compared_with_people_and_not_counted_among_them() {
    let found = score(&SMALL.trials(4), QUICK);
    let set = &found.datasets[0];
    assert_eq!((set.n_participants, set.n_pairs, set.models.len()), (5, 10, 1));
    assert_eq!(set.models[0].n_pairs, 5);
    let model = set.models[0].with_people.as_ref().unwrap();
    assert!(model.error_consistency.value < 0.9);
    assert_eq!(found.means.models[0].model.as_str(), "model-05");
    assert!(set.models[0].shape_bias.is_some());
}

#[test]
fn a_model_that_answers_like_a_person_agrees_with_that_person_wholly() {
    let mut trials = World { n_models: 0, n_people: 2, ..SMALL }.trials(5);
    let copies: Vec<Trial> = trials
        .iter()
        .filter(|trial| trial.participant.as_str() == "human-00")
        .map(|trial| Trial {
            id: TrialId::new(format!("copy-{}", trial.id)),
            participant: ParticipantId::new("copy"),
            extra: Extra::from_pairs([("observer", "model".to_owned())]),
            ..trial.clone()
        })
        .collect();
    let people = score(&trials, QUICK).datasets[0].people.clone().unwrap();
    trials.extend(copies);
    let found = score(&trials, QUICK);
    let model = found.datasets[0].models[0].with_people.as_ref().unwrap();
    let expected = f64::midpoint(1.0, people.error_consistency.value);
    assert!((model.error_consistency.value - expected).abs() < 1e-12);
}

#[test]
fn people_who_saw_partly_different_stimuli_are_compared_on_what_both_saw() {
    let all = World { n_models: 0, n_people: 3, ..SMALL }.trials(6);
    let part: Vec<Trial> = all
        .iter()
        .filter(|trial| {
            trial.participant.as_str() != "human-00" || trial.stimulus.as_str() < "stimulus-030"
        })
        .cloned()
        .collect();
    let found = score(&part, QUICK);
    let codes: Vec<&str> = found.caveats.iter().map(|caveat| caveat.code()).collect();
    assert!(codes.contains(&"partly-shared-stimuli"), "{codes:?}");
    assert_eq!(found.datasets[0].pairs[0].consistency.error_consistency.n, 30);
    assert_eq!(found.datasets[0].pairs[2].consistency.error_consistency.n, 60);
}

#[test]
fn a_second_showing_is_set_aside_by_name() {
    let mut trials = World { n_models: 0, ..SMALL }.trials(7);
    let plain = score(&trials, QUICK);
    let again = Trial { id: TrialId::new("again"), idx: Some(900), ..trials[3].clone() };
    trials.push(again);
    let found = score(&trials, QUICK);
    assert_eq!(found.exclusions[0].rule, "duplicate");
    assert_eq!(found.datasets, plain.datasets);
}

#[test]
fn one_participant_has_nobody_to_compare_with() {
    let trials = World { n_models: 0, n_people: 1, ..SMALL }.trials(8);
    let input = Input { trials: &trials, options: &QUICK, seed: Seed(1) };
    assert_eq!(agreement::score(&input).unwrap_err(), Error::NobodyToCompare { n_observers: 1 });
}

#[test]
fn conditions_left_out_count_when_asked_for() {
    let mut trials = World { n_models: 0, ..SMALL }.trials(9);
    for trial in &mut trials {
        let word = if trial.condition.as_deref() == Some("easy") { "out" } else { "in" };
        trial.extra = Extra::from_pairs([("benchmark", word.to_owned())]);
    }
    let found = score(&trials, QUICK);
    assert_eq!((found.n_trials, found.n_trials_read), (150, 300));
    assert_eq!(found.exclusions[0].rule, "benchmark-conditions");
    assert_eq!(found.datasets[0].conditions.len(), 2);
    assert!(!found.datasets[0].conditions[0].counted);
    let all = score(&trials, Options { all_conditions: true, ..QUICK });
    assert_eq!((all.n_trials, all.datasets[0].n_conditions), (300, 2));
    assert!(all.exclusions.is_empty());
}

/// Intervals hold the truth about as often as promised: for other people and other stimuli of the
/// same world, whose mean is found from a large number of such worlds.
#[test]
fn intervals_hold_the_truth_about_as_often_as_promised() {
    let world = World { n_people: 6, n_models: 0, n_stimuli: 80, person_sd: 0.5, stimulus_sd: 1.2 };
    let options = Options { n_resamples: 100, n_splits: 10, ..Options::default() };
    let n_runs = 120;
    let numbers = |found: &Agreement| -> Vec<Estimate> {
        let set = &found.datasets[0];
        let people = set.people.as_ref().expect("because there are pairs");
        let reliability = set.reliability.as_ref().expect("because there are people");
        let answers = set.answers.as_ref().expect("because there are answers");
        let bias = set.shape_bias.as_ref().expect("because there are two cues");
        vec![
            people.error_consistency,
            people.observed_consistency,
            people.accuracy_difference,
            set.accuracy.expect("because there are people"),
            bias.pooled,
            reliability.split_half.expect("because stimuli differ"),
            reliability.spearman_brown.expect("because stimuli differ"),
            reliability.ceiling_low.expect("because stimuli differ"),
            answers.fleiss_kappa.expect("because answers differ"),
        ]
    };
    let runs: Vec<Vec<Estimate>> =
        (0..n_runs).map(|key| numbers(&score(&world.trials(1_000 + key), options))).collect();
    for idx in 0..runs[0].len() {
        let values: Vec<f64> = runs.iter().map(|run| run[idx].value).collect();
        let truth = values.iter().sum::<f64>() / values.len() as f64;
        let n_held =
            runs.iter().filter(|run| run[idx].low <= truth && truth <= run[idx].high).count();
        // At 95 %, fewer than 105 of 120 would happen once in 600.
        assert!(105 <= n_held, "number {idx}: {n_held} of {n_runs} hold {truth}");
    }
}
