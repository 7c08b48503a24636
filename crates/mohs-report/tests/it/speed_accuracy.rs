//! The speed–accuracy chapter, of simulated people.

use mohs_data::{ExclusionRules, Label, Millis, Seed, StimulusId};
use mohs_report::{Pictures, Summary, render_csv, render_html, render_text};
use mohs_score::human::speed_accuracy::steepness::Scaling;
use mohs_score::human::speed_accuracy::{Input, Options, SpeedAccuracy, score};
use mohs_score::simulate::beep::{Condition, Setting, trials};

fn ms(value: f64) -> Millis {
    Millis::new(value).expect("because the tests use finite times")
}

fn found(conditions: &[&str], beeps: &[f64], scaling: Scaling) -> SpeedAccuracy {
    let labels: Vec<Label> = ["cat", "dog", "car", "<b>key</b>"].map(Label::from).to_vec();
    let stimuli: Vec<(StimulusId, Label)> =
        (0..60).map(|idx| (StimulusId::new(format!("s{idx}")), labels[idx % 4].clone())).collect();
    let conditions: Vec<Condition> = conditions
        .iter()
        .zip([0.9, 0.6, 0.4])
        .map(|(name, asymptote)| Condition {
            name: (*name).into(),
            asymptote,
            scale: ms(900.0),
            shape: 3.0,
        })
        .collect();
    let beeps: Vec<Millis> = beeps.iter().copied().map(ms).collect();
    let setting = Setting {
        conditions: &conditions,
        beeps: &beeps,
        trials_per_block: 60,
        labels: &labels,
        n_participants: 6,
        lag: ms(30.0),
        spread: ms(40.0),
        window: ms(200.0),
        seed: Seed(4),
    };
    let trials = trials(&stimuli, &setting);
    let options = Options { n_resamples: 40, scaling, ..Options::default() };
    let rules = ExclusionRules::default();
    let input =
        Input { trials: &trials, n_labels: None, rules: &rules, options: &options, seed: Seed(1) };
    score(&input).expect("because there are beep trials").0
}

const BEEPS: [f64; 5] = [500.0, 900.0, 1_100.0, 1_300.0, 1_500.0];

fn summary(found: SpeedAccuracy) -> Summary {
    Summary { speed_accuracy: Some(found), ..Summary::new("Objects at a beep", "0.1.0", 1, true) }
}

#[test]
fn the_text_report_reads_well() {
    let found = found(&["clear", "noisy"], &BEEPS, Scaling::Normalised);
    insta::assert_snapshot!(render_text(&summary(found)));
}

#[test]
fn no_line_is_wider_than_a_terminal() {
    let long = "a condition whose name goes on and on\u{1b}[31m";
    for (conditions, beeps) in [(vec!["clear", long], &BEEPS[..]), (vec!["one"], &BEEPS[..2])] {
        let text = render_text(&summary(found(&conditions, beeps, Scaling::Paper)));
        assert!(!text.contains('\u{1b}'));
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn the_page_has_every_section_once_and_no_stranger_s_markup() {
    let hostile = "</svg><script>alert(1)</script>";
    let found = found(&["clear", hostile], &BEEPS, Scaling::Normalised);
    let html = render_html(&summary(found), &Pictures::default());
    let ids = [
        "accuracy-over-time",
        "accuracy-over-time-by-condition",
        "accuracy-by-category",
        "speed-accuracy-fits",
        "speed-accuracy-ceilings",
        "speed-accuracy-participants",
        "speed-accuracy-exclusions",
        "speed-accuracy-methods",
    ];
    for id in ids {
        assert_eq!(html.matches(&format!(" id=\"{id}\"")).count(), 1, "{id}");
    }
    assert!(!html.contains("<script>alert") && !html.contains("<b>key</b>"));
    assert!(!html.contains("NaN") && !html.contains("inf\""));
    assert_eq!(html.matches("class=\"thin\"").count(), 2 * 6, "one line per person and canvas");
}

#[test]
fn a_study_of_one_condition_and_two_blocks_says_what_it_cannot() {
    let found = found(&["one"], &BEEPS[..2], Scaling::Normalised);
    let html = render_html(&summary(found), &Pictures::default());
    assert!(html.contains("too few blocks") && html.contains("a fit needs at least 3 blocks"));
    assert!(!html.contains("accuracy-over-time-by-condition"));
}

#[test]
fn csv_has_a_row_for_each_curve_and_block() {
    let csv = render_csv(&summary(found(&["clear", "noisy"], &BEEPS, Scaling::Normalised)));
    assert_eq!(csv.lines().count(), 1 + (1 + 6) * 3 * 5);
    let mut lines = csv.lines();
    let n_columns = lines.next().map_or(0, |line| line.split(',').count());
    assert!(lines.all(|line| line.split(',').count() == n_columns));
}
