//! Designs of adaptive tests beside each other, small: the laws that the large table shows, too.

use std::path::Path;

use mohs_data::Seed;
use mohs_score::adaptive::ladder::EstimatorKind;
use mohs_score::simulate::ladder::population::World;
use mohs_score::simulate::ladder::{
    Arm, ArmOutcome, DesignComparison, Errors, Setting, Source, compare,
};

fn small(n_resamples: usize, n_threads: usize) -> DesignComparison {
    let setting = Setting {
        source: Source::Simulated(World { n_classes: 25, ..World::PAPER }),
        budget: 0.25,
        n_resamples,
        arms: &Arm::all(Some(3)),
        confidence: 0.95,
        seed: Seed(1),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build();
    let pool = pool.expect("because threads can be had");
    pool.install(|| compare(&setting)).expect("because the setting is sound")
}

#[test]
fn ours_is_unbiased_and_nearer_than_the_papers() {
    let found = small(12, 2);
    println!("{}", table(&found));
    let find = |design, has_references, estimator| arm(&found, design, has_references, estimator);
    let ours = find("neyman", true, EstimatorKind::ControlVariate);
    let paper = find("gre", false, EstimatorKind::TierPooled);
    let static_3 = find("static-3", false, EstimatorKind::Stratified);
    // 720 accuracies with a standard error of 2 points each: a mean has one of 0.07.
    for unbiased in [ours, static_3, find("neyman", false, EstimatorKind::ControlVariate)] {
        assert!(unbiased.accuracy.bias.abs() < 0.25, "{unbiased:?}");
        let coverage = unbiased.accuracy.coverage.unwrap().value;
        assert!((0.92..0.98).contains(&coverage), "{unbiased:?}");
    }
    assert!(1.0 < paper.score.bias, "{paper:?}");
    assert!(ours.accuracy.ratio < 0.9 && ours.score.ratio < 0.8, "{ours:?}");
    assert!(ours.cells.ratio.sqrt() < 0.72, "{ours:?}");
}

#[test]
fn threads_change_nothing() {
    assert_eq!(small(2, 1), small(2, 2));
}

const PAGE: &str = "../../docs/methods/adaptive-ladder.md";

/// The results of `mohs simulate ladder --output FILE`, as they were computed once.
fn computed(name: &str) -> DesignComparison {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    let json = std::fs::read_to_string(&path).expect("because it is part of the project");
    serde_json::from_str(&json).expect("because a comparison was written there")
}

/// The table of a page.
fn table(found: &DesignComparison) -> String {
    let mut text = format!(
        "{} models, {} stimuli in {} strata, {} resamples, seed {}.\n\n\
         | design, estimator | accuracy: bias | MSE | x | held | score: bias | MSE | x | held | \
         attribute × level: x | cells: RMSE | x | held |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        found.n_models, found.n_stimuli, found.n_strata, found.n_resamples, found.seed
    );
    for arm in &found.arms {
        let held = |errors: &Errors| {
            errors.coverage.map_or("–".to_owned(), |share| format!("{:.1}", share.value * 100.0))
        };
        let references = if arm.has_references { " + references" } else { "" };
        let shrunk = if arm.are_cells_shrunk { ", cells shrunk" } else { "" };
        text += &format!(
            "| {}{references}, {}{shrunk} | {:+.2} | {:.2} | {:.2} | {} | {:+.2} | {:.2} | {:.2} | {} | {:.2} | {:.2} | {:.2} | {} |\n",
            arm.design,
            arm.estimator.name(),
            arm.accuracy.bias,
            arm.accuracy.mse,
            arm.accuracy.ratio,
            held(&arm.accuracy),
            arm.score.bias,
            arm.score.mse,
            arm.score.ratio,
            held(&arm.score),
            arm.by_level.ratio,
            arm.cells.mse.sqrt(),
            arm.cells.ratio.sqrt(),
            held(&arm.cells),
        );
    }
    text
}

/// The page shows what was computed; `MOHS_GENERATE=1` writes it anew.
#[test]
fn the_page_shows_what_was_computed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = std::fs::read_to_string(&path).expect("because it is part of the project");
    let mut made = page.clone();
    for (mark, file) in [
        ("<!-- simulated -->", "ladder_simulated.json"),
        ("<!-- replayed -->", "ladder_replayed.json"),
    ] {
        let start = made.find(mark).expect("because the page has the mark") + mark.len();
        let end = start + made[start..].find("<!-- end -->").expect("because the mark ends");
        made.replace_range(start..end, &format!("\n{}\n", table(&computed(file)).trim_end()));
    }
    if std::env::var_os("MOHS_GENERATE").is_some() {
        std::fs::write(&path, &made).expect("because the project can be written");
    }
    assert!(
        page == made || std::env::var_os("MOHS_GENERATE").is_some(),
        "run with MOHS_GENERATE=1"
    );
}

fn arm<'a>(
    found: &'a DesignComparison,
    design: &str,
    has_references: bool,
    estimator: EstimatorKind,
) -> &'a ArmOutcome {
    let is = |arm: &&ArmOutcome| {
        arm.design == design && arm.has_references == has_references && arm.estimator == estimator
    };
    found.arms.iter().find(is).expect("because the arm was run")
}

/// Bias, intervals and errors of the default design, with references and without.
#[track_caller]
fn check_promises(found: &DesignComparison) {
    let ours = arm(found, "neyman", true, EstimatorKind::ControlVariate);
    let alone = arm(found, "neyman", false, EstimatorKind::ControlVariate);
    for (arm, most) in [(ours, 0.80), (alone, 1.02)] {
        for errors in [arm.accuracy, arm.score] {
            assert!(errors.bias.abs() <= 0.1, "{arm:?}");
            assert!(errors.ratio <= most, "{arm:?}");
            let held = errors.coverage.expect("because intervals were made").value;
            assert!((0.93..=0.97).contains(&held), "{arm:?}");
        }
    }
    assert!(ours.cells.ratio.sqrt() <= 0.70, "{ours:?}");
}

/// The paper's design beside ours, by its two likely estimators.
#[track_caller]
fn check_paper(found: &DesignComparison) {
    let ours = arm(found, "neyman", true, EstimatorKind::ControlVariate);
    for naive in [EstimatorKind::TierPooled, EstimatorKind::SittingMeans] {
        let paper = arm(found, "gre", false, naive);
        assert!(ours.accuracy.mse <= 0.55 * paper.accuracy.mse, "{paper:?}");
        assert!(ours.score.mse <= 0.35 * paper.score.mse, "{paper:?}");
    }
}

/// What the default design promises, on the results that the page shows.
#[test]
fn the_default_design_keeps_its_promises_on_simulated_models() {
    let found = computed("ladder_simulated.json");
    assert!(200 <= found.n_resamples && found.n_stimuli == 36_000);
    check_promises(&found);
    check_paper(&found);
}

#[test]
fn the_default_design_keeps_its_promises_on_real_predictions() {
    let found = computed("ladder_replayed.json");
    assert_eq!((found.n_stimuli, found.n_models), (4_480, 22));
    check_promises(&found);
    check_paper(&found);
    // Plain shares with the same references are no better, for either target.
    let ours = arm(&found, "neyman", true, EstimatorKind::ControlVariate);
    let plain = arm(&found, "static", true, EstimatorKind::ControlVariate);
    assert!(ours.accuracy.mse <= plain.accuracy.mse, "{plain:?}");
    assert!(ours.score.mse <= plain.score.mse, "{plain:?}");
}
