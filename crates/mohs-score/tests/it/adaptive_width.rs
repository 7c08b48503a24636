//! A requested width: reached whenever the budget allows, without bias, whatever references say.

use mohs_data::{Estimate, Seed};
use mohs_score::adaptive::ladder::{
    AdaptiveTest, Design, EstimatorKind, Hints, Kind, Ladder, ReferenceModels, Tags, Width,
    interval,
};
use mohs_score::draw::Draw;

/// Sixteen classes, three levels, forty stimuli each.
fn ladder() -> Ladder {
    let mut tags = Vec::new();
    for class in 0..16 {
        for level in ["easy", "medium", "hard"] {
            let class = format!("{class:02}");
            tags.extend(vec![Tags { class, attribute: None, level: Some(level.into()) }; 40]);
        }
    }
    Ladder::new(&tags, &[]).expect("because every level is known")
}

/// Answers that are right with a probability by level.
fn answers(ladder: &Ladder, p: [f64; 3], seed: u64) -> Vec<bool> {
    let mut draw = Draw::new(Seed(seed), &[1]);
    ladder.places().iter().map(|place| draw.chance(p[place.level_idx])).collect()
}

/// Runs a test; returns the accuracy and how many were asked.
fn run(
    ladder: &Ladder,
    hints: Option<&Hints>,
    truth: &[bool],
    (budget, width): (f64, f64),
    seed: u64,
) -> (Estimate, usize) {
    let width = Width {
        value: width,
        confidence: 0.95,
        by_attribute: false,
        estimator: EstimatorKind::ControlVariate,
    };
    let design = Design::Neyman;
    let test = AdaptiveTest::new(ladder, hints, &design, budget, Some(width), Seed(seed));
    let mut test = test.expect("because the budget is enough for every stratum");
    loop {
        let questions = test.next_round().expect("because rounds of strata never fail");
        if questions.is_empty() {
            break;
        }
        let told: Vec<_> = questions.iter().map(|asked| Some(truth[asked.stimulus])).collect();
        test.answer(&told);
    }
    let record = test.into_record();
    let mut asked: Vec<usize> =
        record.asked().iter().map(|asked| asked.question.stimulus).collect();
    asked.sort_unstable();
    let n_asked = asked.len();
    asked.dedup();
    assert_eq!(asked.len(), n_asked, "nothing is asked twice");
    let group = ladder.group(Kind::Accuracy, |_| true).expect("because there are stimuli");
    let estimator = EstimatorKind::ControlVariate.of(&record).expect("because it fits the design");
    let moments = estimator.estimate(&group).expect("because some were answered");
    (interval(&moments, 0.95).expect("because all numbers are finite"), n_asked)
}

/// References are sure and right about other models; the model under test errs where they do not.
#[test]
fn references_that_mislead_do_not_leave_the_interval_wide() {
    let ladder = ladder();
    let references = (0..6).map(|idx| {
        let sure = answers(&ladder, [0.99, 0.98, 0.03], 50 + idx);
        (idx.to_string(), sure.into_iter().map(Some).collect())
    });
    let references = ReferenceModels::new(references.collect()).unwrap();
    let hints = references.hints(&ladder);
    let (mut n_held, mut sum, mut squares, mut n_asked) = (0, 0.0, 0.0, 0.0);
    for seed in 0..120 {
        let truth = answers(&ladder, [0.7, 0.5, 0.4], 900 + seed);
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let share = truth.iter().filter(|right| **right).count() as f64 / truth.len() as f64;
        let (found, asked) = run(&ladder, Some(&hints), &truth, (0.7, 0.06), seed);
        assert!(found.high - found.low <= 0.06, "{found:?}");
        assert!(asked <= 1_344, "{asked}");
        n_asked += f64::from(u32::try_from(asked).unwrap());
        n_held += u32::from(found.low <= share && share <= found.high);
        sum += found.value - share;
        squares += (found.value - share).powi(2);
    }
    let n = 120.0;
    // 120 draws of 0.95 have a standard error of 0.02.
    assert!((108..=119).contains(&n_held), "{n_held}");
    let (bias, error) = (sum / n, (squares / n).sqrt() / n.sqrt());
    assert!(bias.abs() < 3.5 * error, "{bias} {error}");
    // 0.25 · (1.96 / 0.03)² plain answers of an endless ladder are 1,067; of this one, 686.
    assert!((600.0..800.0).contains(&(n_asked / n)), "{n_asked}");
}

#[test]
fn a_budget_that_is_too_small_is_spent_and_not_passed() {
    let ladder = ladder();
    let truth = answers(&ladder, [0.7, 0.5, 0.4], 1);
    let (found, asked) = run(&ladder, None, &truth, (0.2, 0.02), 1);
    assert_eq!(asked, 384);
    assert!(0.02 < found.high - found.low);
}
