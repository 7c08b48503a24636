//! Every gradient rule against finite differences, with random shapes and settings.
//!
//! Each operator with a rule has a case here that draws trials; a test fails if one is forgotten.
//! `PROPTEST_CASES` sets how many trials are drawn.

mod cases;
mod draw;
mod elementwise;
mod flat;
mod moves;
mod pictures;
mod sums;
mod trial;

use std::collections::BTreeSet;

use mohs_graph::grad::operator;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use cases::Case;
use draw::Draw;
use trial::Trial;

/// Draws trials of some cases and collects what goes wrong, one problem per operator.
#[track_caller]
fn check(cases: Vec<Case>, check: fn(&Trial, u64) -> Result<(), String>) {
    let mut problems = Vec::new();
    for case in cases {
        let mut config = Config { failure_persistence: None, ..Config::default() };
        if std::env::var_os("PROPTEST_CASES").is_none() {
            config.cases = 24;
        }
        // The same trials each time; more of them, and others, with PROPTEST_CASES.
        let mut runner = if std::env::var_os("PROPTEST_CASES").is_none() {
            TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
        } else {
            TestRunner::new(config)
        };
        let found = runner.run(&any::<u64>(), |seed| {
            let trial = (case.draw)(&mut Draw::new(seed));
            assert_eq!(trial.op, case.op);
            check(&trial, seed).map_err(|problem| {
                TestCaseError::fail(format!("{problem}\n  {}", describe(&trial)))
            })
        });
        if let Err(problem) = found {
            problems.push(format!("{}: {problem}", case.op));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Settings and shapes of a trial.
fn describe(trial: &Trial) -> String {
    let inputs: Vec<String> = trial
        .inputs
        .iter()
        .map(|input| match input {
            trial::Input::Absent => "absent".to_owned(),
            trial::Input::Moving(tensor) => format!("moving {:?}", tensor.shape()),
            trial::Input::Given(tensor) => format!("given {:?}", tensor.shape()),
            trial::Input::Fixed(tensor) => {
                format!("fixed {:?} {:?}", tensor.shape(), tensor.to_f64())
            }
        })
        .collect();
    format!(
        "{} {:?} of {}; outputs {:?} of {}, free {:?}",
        trial.op,
        trial.attributes,
        inputs.join(", "),
        trial.used,
        trial.n_outputs,
        trial.free
    )
}

#[test]
fn every_operator_with_a_gradient_has_a_case() {
    let has_a_rule = |row: &&operator::Row| row.rule.is_some() && !flat::COUNTING.contains(&row.op);
    let with_a_rule: BTreeSet<&str> =
        operator::all().iter().filter(has_a_rule).map(|row| row.op).collect();
    let cases = cases::all();
    let with_a_case: BTreeSet<&str> = cases.iter().map(|case| case.op).collect();
    assert_eq!(with_a_rule, with_a_case);
    assert_eq!(with_a_case.len(), cases.len(), "a case is there twice");
}

#[test]
fn gradients_of_functions_of_elements_are_those_of_differences() {
    check(elementwise::cases(), Trial::check);
}

#[test]
fn gradients_of_sums_and_normalisations_are_those_of_differences() {
    check(sums::cases(), Trial::check);
}

#[test]
fn gradients_of_operators_on_pictures_are_those_of_differences() {
    check(pictures::cases(), Trial::check);
}

#[test]
fn gradients_of_moved_elements_are_those_of_differences() {
    check(moves::cases(), Trial::check);
}

/// Checks the gradient of the gradient. Points are away from kinks, so that every gradient has one,
/// even if it is zero.
fn twice(trial: &Trial, seed: u64) -> Result<(), String> {
    // The rule of a product asks which factors are zero; that question has no gradient.
    if trial.op == "ReduceProd" && trial.has_zeros() {
        return Ok(());
    }
    trial.check_twice(seed)
}

#[test]
fn gradients_of_gradients_of_functions_of_elements_are_those_of_differences() {
    check(elementwise::cases(), twice);
}

#[test]
fn gradients_of_gradients_of_sums_and_normalisations_are_those_of_differences() {
    check(sums::cases(), twice);
}

#[test]
fn gradients_of_gradients_of_operators_on_pictures_are_those_of_differences() {
    check(pictures::cases(), twice);
}

#[test]
fn gradients_of_gradients_of_moved_elements_are_those_of_differences() {
    check(moves::cases(), twice);
}
