//! The smallest ε on a small model: exact against trying everything, whatever the batch, the
//! threads and interruptions.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use mohs_data::{Flag, How, Label, Manifest, MinEpsilon, Norm, Search, Seed, Stimulus, StimulusId};

use super::*;
use crate::engine::{EngineChoice, OpenOptions, Places};
use crate::evaluate;
use crate::pixels::Rgb8;
use crate::probe::attack::{ATTACKS, Preset};

/// A folder with a network of the fixtures and pictures of its own.
struct World {
    folder: tempfile::TempDir,
    manifest: Manifest,
    stimuli: Vec<Stimulus>,
    engine: OpenOptions,
}

const LABELS: [&str; 5] = ["a", "b", "c", "d", "e"];

impl World {
    fn new(n: u32) -> World {
        let folder = tempfile::tempdir().unwrap();
        let network =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/attacks/network.onnx");
        std::fs::copy(network, folder.path().join("network.onnx")).unwrap();
        let text = "version = 1\nname = \"w\"\n[[model]]\nname = \"m\"\nfile = \"network.onnx\"\n\
                    classes = [\"a\", \"b\", \"c\", \"d\", \"e\"]\n\
                    preprocess = { mean = [0.45, 0.5, 0.4], sd = [0.9, 1, 1.1], resize = \"none\" }\n";
        let manifest = Manifest::parse(Path::new("eval.toml"), text).unwrap();
        let mut stimuli = Vec::new();
        for number in 0..n {
            let bytes = (0..12 * 12 * 3_u32).map(|idx| {
                let place = f64::from(idx / 3) * 0.11 + f64::from(idx % 3 + 1) * f64::from(number);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "0..255"
                )]
                let level = (127.5 + 127.5 * place.sin()) as u8;
                level
            });
            let picture = Rgb8::new(12, 12, bytes.collect()).unwrap();
            std::fs::write(folder.path().join(format!("{number}.png")), picture.to_png()).unwrap();
            let id = StimulusId::new(format!("s{number}"));
            let label = Label::new(LABELS[number as usize % 5]);
            stimuli.push(Stimulus {
                id,
                file: format!("{number}.png").into(),
                label,
                dataset: None,
                boxes: Vec::new(),
                mask: None,
                attribute: None,
                level: None,
                extra: mohs_data::Extra::default(),
            });
        }
        let engine = OpenOptions { choice: EngineChoice::Rten, ..OpenOptions::default() };
        let mut world = World { folder, manifest, stimuli, engine };
        world.label_by_the_model();
        world
    }

    /// Has the network add normal noise to its input, new at every call. Needs ONNX Runtime, as
    /// rten draws nothing; where it is missing, says so and returns nothing.
    fn with_noise(mut self, spread: f32) -> Option<World> {
        let variable = std::env::var_os("ORT_DYLIB_PATH").map(Into::into);
        if variable.is_none() {
            println!("skipped: ORT_DYLIB_PATH names no library of ONNX Runtime");
            return None;
        }
        self.engine.choice = EngineChoice::OnnxRuntime;
        self.engine.places = Places { variable, ..Places::default() };
        let path = self.folder.path().join("network.onnx");
        let mut graph = mohs_graph::read::parse(std::fs::read(&path).unwrap().into()).unwrap();
        let input = graph.inputs[0].name.clone();
        for name in graph.nodes.iter_mut().flat_map(|node| &mut node.inputs) {
            if *name == input {
                "noisy".clone_into(name);
            }
        }
        let draw = mohs_graph::Node::new("RandomNormalLike", &[&input], &["noise"])
            .with("scale", mohs_graph::Attribute::Float(spread));
        let add = mohs_graph::Node::new("Add", &[&input, "noise"], &["noisy"]);
        graph.nodes.splice(0..0, [draw, add]);
        std::fs::write(&path, mohs_graph::write::to_bytes(&graph).unwrap()).unwrap();
        Some(self)
    }

    /// Makes all but every fifth label what the model says.
    fn label_by_the_model(&mut self) {
        let attacks = planned(&["fgsm"], "0");
        let rows = self.run(&Run { attacks: &attacks, ..Run::default() }).0;
        for (idx, row) in rows.iter().enumerate() {
            if idx % 5 != 4 {
                self.stimuli[idx].label = row.clean.clone().unwrap();
            } else if row.clean.as_ref() == Some(&self.stimuli[idx].label) {
                let other = LABELS.iter().find(|label| **label != row.label.as_str()).unwrap();
                self.stimuli[idx].label = Label::new(*other);
            }
        }
    }

    fn run(&self, run: &Run<'_>) -> (Vec<MinEpsilon>, Vec<MinEpsilon>, Tally) {
        let threads = NonZeroUsize::new(run.n_threads);
        let options = OpenOptions { threads, ..self.engine.clone() };
        let engine = Engine::choose(&options).unwrap();
        let one = NonZeroUsize::MIN;
        let job = evaluate::Job {
            manifest: &self.manifest,
            folder: self.folder.path(),
            stimuli: &self.stimuli,
            stimuli_folder: self.folder.path(),
            models: None,
            batch: one,
            decoders: one,
            cache: None,
        };
        let checked = evaluate::plan(job, evaluate::Part::All, &engine).unwrap();
        let decoding = job.decoding();
        let candidates = checked.into_candidates();
        let cache: Option<PathBuf> = run.is_kept.then(|| self.folder.path().join("cache"));
        let target = run.target.map(Label::new);
        let job = Job {
            candidate: &candidates[0],
            stimuli: &self.stimuli,
            folder: self.folder.path(),
            decoding: &decoding,
            attacks: run.attacks,
            corrections: run.corrections,
            target: target.as_ref(),
            mode: run.mode,
            seed: Seed(3),
            noise: run.noise,
            n_at_once: NonZeroUsize::new(run.n_at_once).unwrap(),
            engine_batch: NonZeroUsize::new(run.engine_batch).unwrap(),
            cache: cache.as_deref(),
            keeps_examples: run.keeps_examples,
            keeps_attempts: false,
        };
        let plan = plan(job, &engine).unwrap();
        let (mut rows, mut corrected) = (Vec::new(), Vec::new());
        let result = plan.run(&engine, |stimulus, delivered: Delivered| {
            if rows.len() / run.attacks.len().max(1) == run.stops_after {
                return Err(Stop);
            }
            for example in &delivered.examples {
                let size = size_of(example.norm, example.before.planes(), example.after.planes());
                assert!(size <= example.epsilon + 1e-7, "{} {size}", example.attack);
                assert_eq!(example.label, stimulus.label);
                assert_ne!(example.answer, example.label);
            }
            let n_found = delivered.rows.iter().filter(|row| row.epsilon().is_some()).count();
            assert!(!run.keeps_examples || delivered.examples.len() == n_found);
            rows.extend(delivered.rows);
            corrected.extend(delivered.corrected);
            Ok(())
        });
        (rows, corrected, result.unwrap_or_default())
    }
}

#[derive(Debug)]
struct Stop;

impl From<MinEpsilonError> for Stop {
    fn from(error: MinEpsilonError) -> Stop {
        panic!("{error}")
    }
}

struct Run<'a> {
    attacks: &'a [Planned],
    corrections: &'a [Planned],
    target: Option<&'a str>,
    mode: Mode,
    noise: Noise,
    n_at_once: usize,
    engine_batch: usize,
    n_threads: usize,
    is_kept: bool,
    keeps_examples: bool,
    stops_after: usize,
}

impl Default for Run<'_> {
    fn default() -> Self {
        Run {
            attacks: &[],
            corrections: &[],
            target: None,
            mode: Mode::Exact,
            noise: Noise::Common,
            n_at_once: 8,
            engine_batch: 1,
            n_threads: 2,
            is_kept: false,
            keeps_examples: false,
            stops_after: usize::MAX,
        }
    }
}

/// Attacks with few questions, so that tests are quick.
fn planned(names: &[&str], grid: &str) -> Vec<Planned> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let attacks = crate::probe::attack::parse_attacks(&names).unwrap();
    let of = |attack: &'static Attack| {
        let mut settings = Settings::of(attack, Preset::Torchattacks351);
        settings.n_queries = 20;
        Planned { attack, settings, grid: Grid::parse(grid, attack.norm).unwrap() }
    };
    attacks.into_iter().map(of).collect()
}

/// A coarse grid, up to where every attack succeeds now and then.
const GRID: &str = "0:0.02:0.004,0.02:0.2:0.02";

fn without_calls(rows: &[MinEpsilon]) -> Vec<MinEpsilon> {
    let without = |row: &MinEpsilon| MinEpsilon { n_forward: 0, n_gradient: 0, ..row.clone() };
    rows.iter().map(without).collect()
}

#[test]
fn exact_is_what_trying_everything_finds_with_fewer_calls() {
    let world = World::new(10);
    let attacks = planned(&["all", "pgd-l2", "fgsm-l2", "square-l2"], GRID);
    let run = |mode| world.run(&Run { attacks: &attacks, mode, ..Run::default() });
    let (sweep, ..) = run(Mode::Sweep);
    let (exact, ..) = run(Mode::Exact);
    assert_eq!(without_calls(&sweep), without_calls(&exact));
    let cost = |rows: &[MinEpsilon]| -> u64 {
        rows.iter().map(|row| row.n_forward + 3 * row.n_gradient).sum()
    };
    assert!(cost(&exact) * 3 < cost(&sweep) * 2, "{} {}", cost(&exact), cost(&sweep));
    let n_found = exact.iter().filter(|row| row.epsilon().is_some()).count();
    let n_survived =
        exact.iter().filter(|row| matches!(row.search, Search::Survived { .. })).count();
    assert!(30 < n_found && 0 < n_survived, "{n_found} {n_survived}");
    // One picture in five is wrong before any attack.
    let n_wrong = exact.iter().filter(|row| row.search == Search::NotAttacked).count();
    assert_eq!(n_wrong, 2 * attacks.len());
}

#[test]
fn engine_batches_change_roundings_only_and_are_filled_up() {
    let world = World::new(6);
    // Sums of momentum and random starts turn roundings into other ways, so the plain ones only.
    let attacks = planned(&["fgsm", "fgsm-l2", "square"], GRID);
    let run =
        |engine_batch| world.run(&Run { attacks: &attacks, engine_batch, ..Run::default() }).0;
    let alone = run(1);
    for engine_batch in [4, 64] {
        assert_eq!(alone, run(engine_batch), "{engine_batch}");
    }
}

#[test]
fn rows_do_not_depend_on_how_many_pictures_and_threads_are_at_work() {
    let world = World::new(6);
    let attacks =
        planned(&["pgd", "apgd", "tpgd", "bim", "tifgsm", "square", "jitter", "fmn"], GRID);
    let run = |n_at_once, n_threads, mode| {
        world.run(&Run { attacks: &attacks, n_at_once, n_threads, mode, ..Run::default() }).0
    };
    for mode in [Mode::Exact, Mode::Fast { audited: 0.3 }] {
        let alone = run(1, 1, mode);
        for (n_at_once, n_threads) in [(3, 1), (8, 2), (64, 2)] {
            assert_eq!(alone, run(n_at_once, n_threads, mode), "{n_at_once} {n_threads}");
        }
    }
}

#[test]
fn a_stopped_run_goes_on_and_a_finished_one_asks_nothing() {
    let world = World::new(10);
    let attacks = planned(&["all", "minimal"], GRID);
    let mode = Mode::Fast { audited: 0.2 };
    let whole = world.run(&Run { attacks: &attacks, mode, ..Run::default() });
    let kept = Run { attacks: &attacks, mode, is_kept: true, ..Run::default() };
    let part = world.run(&Run { stops_after: 4, ..kept });
    assert_eq!(part.0.len(), 4 * attacks.len());
    let kept = Run { attacks: &attacks, mode, is_kept: true, ..Run::default() };
    let rest = world.run(&kept);
    assert_eq!(whole.0, rest.0);
    assert!(0 < rest.2.n_known);
    let again = world.run(&kept);
    assert_eq!(whole.0, again.0);
    let calls = again.2.calls;
    assert_eq!((calls.n_answers, calls.n_gradients), (0, 0));
    // Everything an exact search tries that the fast one has not is new; the rest is known.
    let exact = world.run(&Run { attacks: &attacks, is_kept: true, ..Run::default() });
    let fresh = world.run(&Run { attacks: &attacks, ..Run::default() });
    assert_eq!(without_calls(&exact.0), without_calls(&fresh.0));
    assert!(exact.2.calls.n_gradients < fresh.2.calls.n_gradients);
}

#[test]
fn fast_agrees_with_exact_nearly_always_and_says_where_it_was_audited() {
    let world = World::new(10);
    let attacks = planned(&["all"], "0:0.2:0.002");
    let exact = world.run(&Run { attacks: &attacks, ..Run::default() }).0;
    let mode = Mode::Fast { audited: 0.2 };
    let fast = world.run(&Run { attacks: &attacks, mode, ..Run::default() }).0;
    let pairs = || exact.iter().zip(&fast);
    let n_other = pairs().filter(|(exact, fast)| exact.search != fast.search).count();
    assert!(n_other * 50 <= exact.len(), "{n_other} of {}", exact.len());
    let audited: Vec<_> = pairs().filter(|(_, fast)| fast.how == How::Audited).collect();
    assert!((10..60).contains(&audited.len()), "{}", audited.len());
    for (exact, fast) in audited {
        assert_eq!(exact.search, fast.search);
        assert!(fast.fast.is_some() == (fast.search != Search::NotAttacked));
    }
}

#[test]
fn examples_are_kept_also_when_their_attempts_are_known() {
    let world = World::new(6);
    let attacks = planned(&["all", "pgd-l2", "minimal"], GRID);
    let kept = Run { attacks: &attacks, is_kept: true, ..Run::default() };
    let first = world.run(&kept).0;
    let second = world.run(&Run { keeps_examples: true, ..kept }).0;
    assert_eq!(first, second);
}

#[test]
fn wrong_answers_are_put_right_and_right_ones_are_aimed() {
    let world = World::new(20);
    let attacks = planned(&["pgd"], GRID);
    let mut corrections = planned(&["fgsm"], "0:0.3:0.005");
    corrections[0].settings.steps = crate::probe::attack::Steps::Fixed(2);
    let run = Run { attacks: &attacks, corrections: &corrections, ..Run::default() };
    let (rows, corrected, _) = world.run(&run);
    assert_eq!((rows.len(), corrected.len()), (20, 4));
    for row in &corrected {
        assert_eq!((row.goal, row.is_clean_correct()), (Goal::Correct, Some(false)));
        if let Search::Found { answer, .. } = &row.search {
            assert_eq!(answer.as_ref(), Some(&row.label));
        }
    }
    assert!(corrected.iter().any(|row| row.epsilon().is_some()));
    let aimed = world.run(&Run { attacks: &attacks, target: Some("c"), ..Run::default() }).0;
    for (row, free) in aimed.iter().zip(&rows) {
        assert_eq!(row.goal, Goal::Target);
        if let Search::Found { answer, epsilon } = &row.search {
            assert_eq!(answer.as_ref().map(Label::as_str), Some("c"));
            assert!(free.epsilon().is_some_and(|any| any <= *epsilon + 0.02));
        }
    }
    assert!(aimed.iter().any(|row| row.epsilon().is_some()));
}

#[test]
fn the_smallest_changes_found_directly_are_not_much_larger_than_those_of_pgd() {
    let world = World::new(12);
    let attacks = planned(&["pgd", "fmn", "pgd-l2", "fmn-l2", "ddn"], "0:0.2:0.004,0.2:1:0.02");
    let rows = world.run(&Run { attacks: &attacks, ..Run::default() }).0;
    let of = |name: &'static str| rows.iter().filter(move |row| row.attack == name);
    for (direct, grid) in [("fmn", "pgd"), ("fmn-l2", "pgd-l2"), ("ddn", "pgd-l2")] {
        let both: Vec<(f64, f64)> =
            of(direct).zip(of(grid)).filter_map(|(a, b)| a.epsilon().zip(b.epsilon())).collect();
        assert!(4 <= both.len(), "{direct}: {}", both.len());
        let sum = |pick: fn(&(f64, f64)) -> f64| both.iter().map(pick).sum::<f64>();
        let ratio = sum(|(direct, _)| *direct) / sum(|(_, grid)| *grid);
        assert!(ratio < 1.15, "{direct}: {ratio}");
    }
    let is_bound = |row: &MinEpsilon| ["fmn", "fmn-l2", "ddn"].contains(&row.attack.as_str());
    assert!(rows.iter().all(|row| is_bound(row) == (row.how == How::Bound)));
}

#[test]
fn fresh_noise_is_luckier_and_changes_nothing_where_nothing_is_drawn() {
    let world = World::new(8);
    let attacks = planned(&["tpgd", "ffgsm", "bim", "difgsm"], "0:0.2:0.01");
    let run = |mode, noise| world.run(&Run { attacks: &attacks, mode, noise, ..Run::default() }).0;
    let fresh = run(Mode::Exact, Noise::Fresh);
    assert_eq!(without_calls(&fresh), without_calls(&run(Mode::Sweep, Noise::Fresh)));
    let common = run(Mode::Exact, Noise::Common);
    let sum = |rows: &[MinEpsilon], name: &str| -> f64 {
        let of = rows.iter().filter(|row| row.attack == name && row.search != Search::NotAttacked);
        of.map(|row| row.epsilon().unwrap_or(0.2)).sum()
    };
    assert!(sum(&fresh, "tpgd") <= sum(&common, "tpgd") + 0.02);
    assert_ne!(fresh, common);
    let bim = |rows: &[MinEpsilon]| -> Vec<MinEpsilon> {
        rows.iter().filter(|row| row.attack == "bim").cloned().collect()
    };
    assert_eq!(without_calls(&bim(&fresh)), without_calls(&bim(&common)));
}

/// Noise of a hundredth is small beside what fools this network, so that attacks get there.
#[test]
fn a_model_that_draws_random_numbers_has_slopes_and_eot_asks_as_often_as_it_is_told() {
    let Some(world) = World::new(8).with_noise(0.01) else { return };
    let attacks = planned(&["pgd", "eotpgd", "fgsm"], "0.2");
    let rows = world.run(&Run { attacks: &attacks, ..Run::default() }).0;
    let attacked: Vec<&MinEpsilon> =
        rows.iter().filter(|row| row.search != Search::NotAttacked).collect();
    assert!(9 <= attacked.len(), "{}", attacked.len());
    assert!(attacked.iter().all(|row| row.flags.contains(&Flag::RandomAnswers)));
    for row in &attacked {
        let expected = match row.attack.as_str() {
            "pgd" => 10,
            // Ten steps, and at each of them the sum of two slopes.
            "eotpgd" => 20,
            _ => 1,
        };
        assert_eq!((row.n_gradient, row.n_forward), (expected, 1), "{}", row.attack);
    }
    let n_found = attacked.iter().filter(|row| row.epsilon().is_some()).count();
    assert!(attacked.len() < 2 * n_found, "{n_found} of {}", attacked.len());
}

#[test]
fn a_picture_that_cannot_be_read_is_a_failed_row() {
    let mut world = World::new(5);
    std::fs::write(world.folder.path().join("1.png"), b"no picture").unwrap();
    world.stimuli[2].file = "nowhere.png".into();
    let attacks = planned(&["fgsm", "square"], GRID);
    let rows = world.run(&Run { attacks: &attacks, ..Run::default() }).0;
    let failed: Vec<&str> = rows
        .iter()
        .filter(|row| matches!(row.search, Search::Failed(_)))
        .map(|row| row.stimulus.as_str())
        .collect();
    assert_eq!(failed, ["s1", "s1", "s2", "s2"]);
    assert_eq!(rows.len(), 10);
}

#[test]
fn every_attack_of_the_list_has_a_sweep_to_be_held_against_unless_it_has_no_grid() {
    for attack in ATTACKS {
        let settings = Settings::of(attack, Preset::Paper);
        let grid = Grid::parse("paper", attack.norm).unwrap();
        let planned = Planned { attack, settings, grid };
        assert_eq!(planned.calls_of_sweep().is_none(), attack.kind == Kind::Minimal);
    }
    let calls = |name: &str| planned(&[name], "paper")[0].calls_of_sweep();
    assert_eq!(calls("pgd"), Some((140, 1400)));
    assert_eq!(calls("fgsm"), Some((140, 140)));
    assert_eq!(calls("square"), Some((140 * 21, 0)));
    assert_eq!(calls("eotpgd"), Some((140, 2800)));
    assert_eq!(planned(&["pgd"], "paper")[0].attack.norm, Norm::Linf);
    assert_eq!(Flag::ZeroGradient.as_str(), "zero-gradient");
}
