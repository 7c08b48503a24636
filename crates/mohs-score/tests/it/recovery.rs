//! Recovery: measures find the truth that simulated people were given, about as often as their
//! intervals promise. Seeds are fixed; figures are printed.

use mohs_data::{FlashDesign, Seed, SimulateOptions};
use mohs_score::proportion::wilson;
use mohs_score::simulate::design::{Design, Outcome, Setting, run_all};
use mohs_score::simulate::truth::Truth;

fn outcomes(truth: &Truth, designs: &[Design], n_stimuli: usize, seed: u64) -> Vec<Outcome> {
    let (flash, costs) = (FlashDesign::default(), SimulateOptions::default());
    let setting = Setting {
        truth,
        flash: &flash,
        n_stimuli,
        n_labels: 50,
        criterion: 0.5,
        costs: &costs,
        seed: Seed(seed),
    };
    run_all(designs, &setting)
}

/// Seven participants at each of six exposures, as in the paper.
const PAPER: usize = 7;

#[test]
fn intervals_of_the_threshold_hold_the_truth_as_often_as_they_promise() {
    let (mut n_covered, mut n) = (0.0, 0);
    for seed in 1..=3 {
        let design = [Design::Model { per_cell: PAPER }];
        let coverage = outcomes(&Truth::typical(), &design, 600, seed)[0].coverage.unwrap();
        #[expect(clippy::cast_precision_loss, reason = "a few hundred stimuli")]
        let n_here = coverage.n as f64;
        n_covered += coverage.value * n_here;
        n += coverage.n;
    }
    #[expect(clippy::cast_precision_loss, reason = "a few hundred stimuli")]
    let share = n_covered / n as f64;
    println!("95 % intervals hold the true threshold for {:.1} % of {n} stimuli", share * 100.0);
    assert!(500 <= n);
    assert!((0.93..=0.97).contains(&share), "{share}");
}

#[test]
fn the_model_needs_fewer_trials_than_the_counting_rule() {
    let designs: Vec<Design> = std::iter::once(Design::Counting { per_cell: PAPER })
        .chain((1..=PAPER).map(|per_cell| Design::Model { per_cell }))
        .collect();
    let outcomes = outcomes(&Truth::typical(), &designs, 1_000, 1);
    let counting = outcomes[0].share_right.value;
    let enough = outcomes[1..].iter().find(|o| counting <= o.share_right.value).unwrap();
    println!(
        "counting rule at 42 trials: {:.1} % right; the model gets there with {:.0} trials \
         ({:.1} %), and with 42 it has {:.1} %",
        counting * 100.0,
        enough.trials_per_stimulus,
        enough.share_right.value * 100.0,
        outcomes[PAPER].share_right.value * 100.0
    );
    assert!(enough.trials_per_stimulus <= 30.0);
}

#[test]
fn ten_adaptive_trials_do_what_the_counting_rule_does_with_forty_two() {
    let designs =
        [Design::Counting { per_cell: PAPER }, Design::AdaptiveSpread { mean_trials: 10 }];
    for truth in [Truth::typical(), Truth::named("shallow").unwrap()] {
        let outcomes = outcomes(&truth, &designs, 1_000, 1);
        let (counting, adaptive) = (outcomes[0].share_right, outcomes[1].share_right);
        println!(
            "{}: counting, 42 trials {:.1} %; adaptive, {:.0} trials {:.1} %",
            truth.name,
            counting.value * 100.0,
            outcomes[1].trials_per_stimulus,
            adaptive.value * 100.0
        );
        assert!(outcomes[1].trials_per_stimulus <= 10.0);
        assert!(counting.value <= adaptive.value, "{}", truth.name);
    }
}

#[test]
fn a_design_run_twice_gives_the_same_and_threads_do_not_matter() {
    let designs = [Design::Model { per_cell: 2 }, Design::AdaptiveSpread { mean_trials: 6 }];
    let run = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| outcomes(&Truth::typical(), &designs, 60, 3))
    };
    assert_eq!(run(1), run(2));
    assert_eq!(run(2), run(2));
}

#[test]
fn wilson_intervals_cover_a_share_as_often_as_they_promise() {
    let mut draw = mohs_score::draw::Draw::new(Seed(11), &[]);
    let n_studies = 4_000;
    let n_covered = (0..n_studies)
        .filter(|_| {
            let n_right = (0..42).filter(|_| draw.chance(0.7)).count();
            let share = wilson(n_right, 42, 0.95).unwrap();
            share.low <= 0.7 && 0.7 <= share.high
        })
        .count();
    let coverage = wilson(n_covered, n_studies, 0.95).unwrap();
    println!("Wilson at 42 trials covers {:.1} %", coverage.value * 100.0);
    assert!((0.935..=0.965).contains(&coverage.value), "{coverage:?}");
}
