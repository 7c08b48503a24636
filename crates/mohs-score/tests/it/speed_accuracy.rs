//! The speed–accuracy study as a whole: worked by hand, order-free, repeatable, and right about
//! simulated people whose truth is known.

use mohs_data::{
    Excluded, ExclusionRules, Extra, Label, Millis, ParticipantId, Seed, SessionId, StimulusId,
    Task, Trial, TrialId,
};
use mohs_score::draw::Draw;
use mohs_score::human::speed_accuracy::steepness::Scaling;
use mohs_score::human::speed_accuracy::weibull::Criterion;
use mohs_score::human::speed_accuracy::{
    Curve, Error, Input, Options, SpeedAccuracy, TimeOuts, Window, score,
};
use mohs_score::simulate::beep::{Condition, Setting, trials as simulate};

fn ms(value: f64) -> Millis {
    Millis::new(value).expect("because the tests use finite times")
}

/// A trial of a two-choice study; `rt` is `None` for a time-out.
fn trial(participant: &str, idx: u64, beep: f64, rt: Option<f64>, is_right: bool) -> Trial {
    let answer = if is_right { "cat" } else { "dog" };
    Trial {
        id: TrialId::new(format!("{participant}-{idx}")),
        session: SessionId::new(participant),
        participant: ParticipantId::new(participant),
        idx: Some(idx),
        block: Some(format!("beep-{beep}")),
        task: Task::Beep,
        stimulus: StimulusId::new(format!("s{idx}")),
        label: Some(Label::new("cat")),
        exposure: None,
        beep: Some(ms(beep)),
        condition: None,
        response: rt.map(|_| Label::new(answer)),
        marked_correct: None,
        onset: Some(ms(0.0)),
        offset: None,
        responded: rt.map(ms),
        timing: None,
        extra: Extra::default(),
    }
}

/// Two participants, blocks at 400 and 800 ms, four trials each: one right answer, then three, for
/// the first; two, then four, for the second.
fn by_hand() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (participant, n_right, late) in [("ann", [1, 3], 10.0), ("bob", [2, 4], 50.0)] {
        let mut idx = 0;
        for (beep, n_right) in [400.0, 800.0].into_iter().zip(n_right) {
            for nth in 0..4 {
                trials.push(trial(participant, idx, beep, Some(beep + late), nth < n_right));
                idx += 1;
            }
        }
    }
    trials
}

fn options() -> Options {
    Options { n_resamples: 60, guess_rate: Some(0.5), ..Options::default() }
}

fn scored(trials: &[Trial], options: &Options) -> SpeedAccuracy {
    let rules = ExclusionRules::default();
    let input = Input { trials, n_labels: None, rules: &rules, options, seed: Seed(1) };
    score(&input).expect("because there are beep trials").0
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn two_people_come_out_as_worked_by_hand() {
    let findings = scored(&by_hand(), &options());
    assert_eq!((findings.n_participants, findings.n_trials), (2, 16));
    let points = &findings.average.points;
    // (1/4 + 2/4) / 2 and (3/4 + 4/4) / 2; SE = |difference| / 2 for two people.
    close(points[0].accuracy.value, 0.375);
    close(points[1].accuracy.value, 0.875);
    close(points[0].accuracy_se.unwrap(), 0.125);
    close(points[0].rt_ms.unwrap().value, 430.0);
    close(points[0].rt_se_ms.unwrap(), 20.0);
    close(points[1].time.value(), 830.0);
    // Everybody lies 1/8 from the average in both blocks, and 1/4 from the other.
    let ceiling = &findings.ceilings[0];
    close(ceiling.rmse_average.unwrap().value, 0.125);
    close(ceiling.rmse_left_out.unwrap().value, 0.25);
    close(findings.participants[0].rmse_to_others.unwrap().value, 0.25);
    // Two blocks of one category rise for both.
    close(ceiling.spearman_left_out.unwrap().value, 1.0);
    // Two blocks cannot carry three numbers.
    assert!(findings.average.fit.is_none());
    let codes: Vec<&str> = findings.caveats.iter().map(mohs_data::Caveat::code).collect();
    assert_eq!(codes, ["few-participants", "not-identified"]);
}

fn n_by_rule(findings: &SpeedAccuracy) -> Vec<(&str, usize, usize)> {
    let counts = findings.exclusions.iter();
    counts.map(|count| (count.rule.as_str(), count.n_participants, count.n_trials)).collect()
}

#[test]
fn each_rule_takes_what_it_names_and_no_more() {
    let mut trials = by_hand();
    trials[0].block = Some("tutorial".into());
    trials[1].extra = Extra::from_pairs([("phase", "practice".to_owned())]);
    trials[2].beep = None;
    trials[4].extra = Extra::from_pairs([("warm_up", "true".to_owned())]);
    // Bob: first of his blocks dropped below; his last answer comes 251 ms late.
    trials[15].responded = Some(ms(1_051.0));
    let rules = ExclusionRules::default();
    let options = Options { drop_first: 1, ..options() };
    let input =
        Input { trials: &trials, n_labels: None, rules: &rules, options: &options, seed: Seed(1) };
    let (findings, exclusions) = score(&input).unwrap();
    assert_eq!(
        n_by_rule(&findings),
        [
            ("practice", 0, 2),
            ("no-beep", 0, 1),
            ("warm-up", 0, 1),
            // Ann's fourth trial is the first left of its block; her warm-up was that of the other.
            ("first-trials", 0, 3),
            ("outside-window", 0, 1),
        ]
    );
    assert_eq!(findings.n_trials, 8);
    assert_eq!(exclusions.len(), 8);
    let late = exclusions.iter().find(|exclusion| exclusion.rule == "outside-window").unwrap();
    assert_eq!(late.excluded, Excluded::Trial(TrialId::new("bob-7")));
    assert_eq!(late.detail, "rt 1.05 s at a beep of 800 ms");
}

#[test]
fn windows_are_those_of_their_names() {
    let lates = [-450.0, -120.0, -80.0, 0.0, 90.0, 150.0, 220.0, 260.0];
    let trials: Vec<Trial> = lates
        .iter()
        .enumerate()
        .map(|(idx, late)| trial("ann", idx as u64, 450.0, Some(450.0 + late), true))
        .collect();
    let kept = |window| {
        let rules = ExclusionRules::default();
        let options = Options { window, ..options() };
        let input = Input {
            trials: &trials,
            n_labels: None,
            rules: &rules,
            options: &options,
            seed: Seed(1),
        };
        score(&input).map(|(findings, _)| findings.n_trials)
    };
    // An answer at 0 ms is no answer to what was shown.
    assert_eq!(kept(Window::PublishedCode), Ok(6));
    assert_eq!(kept(Window::None), Ok(8));
    assert_eq!(kept(Window::Between { before: ms(100.0), after: ms(60.0) }), Ok(2));
    // Five of eight lie outside ±100 ms: the observer goes, and with her everything.
    let gone = Error::NothingLeft { n_trials: 8, rule: "far-from-beep".into() };
    assert_eq!(kept(Window::Paper), Err(gone.clone()));
    assert_eq!(kept(Window::PaperAppendix), Err(gone));
}

#[test]
fn observers_far_from_the_beep_are_set_aside_by_the_paper_and_named_otherwise() {
    let mut trials = by_hand();
    for trial in trials.iter_mut().filter(|trial| trial.participant.as_str() == "bob").take(5) {
        trial.responded = Some(ms(trial.beep.unwrap().value() + 150.0));
    }
    let by_paper = scored(&trials, &Options { window: Window::Paper, ..options() });
    assert_eq!(by_paper.n_participants, 1);
    assert!(n_by_rule(&by_paper).contains(&("far-from-beep", 1, 8)));
    let by_code = scored(&trials, &options());
    assert_eq!(by_code.n_participants, 2);
    assert!(by_code.caveats.iter().any(|caveat| caveat.code() == "far-from-beep"));
}

#[test]
fn time_outs_are_errors_or_set_aside() {
    let mut trials = by_hand();
    // Ann's three wrong answers at 400 ms were none.
    for trial in &mut trials[1..4] {
        (trial.response, trial.responded) = (None, None);
    }
    let errors = scored(&trials, &options());
    close(errors.participants[0].all.points[0].accuracy.value, 0.25);
    assert_eq!((errors.n_time_outs, errors.average.points[0].n_time_outs), (3, 3));
    let excluded = scored(&trials, &Options { time_outs: TimeOuts::Excluded, ..options() });
    close(excluded.participants[0].all.points[0].accuracy.value, 1.0);
    assert!(n_by_rule(&excluded).contains(&("time-out", 0, 3)));
    for findings in [errors, excluded] {
        assert!(findings.caveats.iter().any(|caveat| caveat.code() == "time-outs"));
    }
    // The time at which the picture left is the time of a time-out, if it was after the beep.
    for trial in &mut trials[1..4] {
        trial.offset = Some(ms(600.0));
    }
    let timed = scored(&trials, &options());
    close(timed.participants[0].all.points[0].time.value(), (410.0 + 3.0 * 600.0) / 4.0);
}

#[test]
fn a_file_that_only_marks_right_and_wrong_has_no_time_outs() {
    let mut trials = by_hand();
    for trial in &mut trials {
        trial.marked_correct = trial.is_correct();
        (trial.response, trial.label, trial.responded) = (None, None, None);
    }
    let findings = scored(&trials, &Options { time_outs: TimeOuts::Excluded, ..options() });
    assert_eq!((findings.n_trials, findings.n_time_outs), (16, 0));
    close(findings.average.points[0].accuracy.value, 0.375);
    // No rt, so the block lies at its beep; no label, so there are no categories.
    close(findings.average.points[0].time.value(), 400.0);
    assert!(findings.average.points[0].rt_ms.is_none() && findings.categories.is_empty());
    assert!(findings.caveats.iter().any(|caveat| caveat.code() == "response-times-missing"));
}

#[test]
fn what_cannot_be_scored_is_an_error_that_says_why() {
    let rules = ExclusionRules::default();
    let fails = |trials: &[Trial], options: &Options| {
        let input = Input { trials, n_labels: None, rules: &rules, options, seed: Seed(1) };
        score(&input).unwrap_err().to_string()
    };
    let mut flash = by_hand();
    flash.iter_mut().for_each(|trial| trial.task = Task::Flash);
    assert_eq!(fails(&flash, &options()), "there is no beep trial among 16 trials");
    let mut unjudged = by_hand();
    unjudged[3].label = None;
    assert_eq!(
        fails(&unjudged, &options()),
        "trial `ann-3` has an answer but neither a label nor a mark says whether it is right"
    );
    let options = Options { confidence: 1.0, ..options() };
    assert_eq!(fails(&by_hand(), &options), "confidence should be between 0 and 1, found 1");
}

const BEEPS: [f64; 5] = [500.0, 900.0, 1_100.0, 1_300.0, 1_500.0];

fn truths() -> [Condition; 3] {
    let condition = |name: &str, asymptote, scale, shape| Condition {
        name: name.into(),
        asymptote,
        scale: ms(scale),
        shape,
    };
    [
        condition("0", 0.80, 1_050.0, 5.0),
        condition("0.04", 0.65, 1_100.0, 4.0),
        condition("0.16", 0.35, 1_100.0, 4.0),
    ]
}

struct Study {
    n_participants: usize,
    trials_per_block: usize,
    n_conditions: usize,
    spread: f64,
}

fn simulated(study: &Study, seed: u64) -> Vec<Trial> {
    let labels: Vec<Label> = (0..16).map(|idx| Label::new(format!("l{idx:02}"))).collect();
    let stimuli: Vec<(StimulusId, Label)> = (0..study.trials_per_block)
        .map(|idx| (StimulusId::new(format!("s{idx}")), labels[idx % 16].clone()))
        .collect();
    let truths = truths();
    let setting = Setting {
        conditions: &truths[..study.n_conditions],
        beeps: &BEEPS.map(ms),
        trials_per_block: study.trials_per_block,
        labels: &labels,
        n_participants: study.n_participants,
        lag: ms(40.0),
        spread: ms(study.spread),
        window: ms(200.0),
        seed: Seed(seed),
    };
    simulate(&stimuli, &setting)
}

fn small() -> Vec<Trial> {
    simulated(&Study { n_participants: 6, trials_per_block: 96, n_conditions: 3, spread: 40.0 }, 3)
}

#[test]
fn curves_rise_with_time_and_fall_with_noise() {
    let findings = scored(&small(), &Options { guess_rate: None, ..options() });
    let names: Vec<&str> = findings.conditions.iter().map(|c| c.condition.as_str()).collect();
    assert_eq!(names, ["0", "0.04", "0.16"]);
    for curve in &findings.conditions {
        assert!(curve.points[0].accuracy.value + 0.1 < curve.points[4].accuracy.value);
        assert!(curve.band.windows(2).all(|w| w[0].accuracy.value <= w[1].accuracy.value));
        assert!(curve.steepness.is_some() && curve.fit.is_some());
    }
    let last = |curve: &Curve| curve.points[4].accuracy.value;
    assert!(last(&findings.conditions[1]) < last(&findings.conditions[0]));
    assert!(last(&findings.conditions[2]) < last(&findings.conditions[1]));
    // The clear and the noisiest condition lie furthest apart.
    let rmse: Vec<f64> = findings.differences.iter().map(|d| d.rmse.value).collect();
    assert!(rmse[0] < rmse[1] && rmse[2] < rmse[1], "{rmse:?}");
    for difference in &findings.differences {
        assert!(0.0 < difference.mean_difference.value);
        assert!(difference.mean_difference.value <= difference.rmse.value + 1e-12);
    }
    assert_eq!(findings.categories.len(), 16);
    assert_eq!(findings.ceilings.len(), 4);
    for ceiling in &findings.ceilings {
        // The average holds the participant too, so it always looks closer.
        assert!(ceiling.rmse_average.unwrap().value < ceiling.rmse_left_out.unwrap().value);
        let (average, left_out) = (ceiling.spearman_average, ceiling.spearman_left_out);
        assert!(left_out.unwrap().value < average.unwrap().value);
    }
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let trials = small();
    let mut shuffled = trials.clone();
    Draw::new(Seed(8), &[1]).shuffle(&mut shuffled);
    assert_eq!(scored(&trials, &options()), scored(&shuffled, &options()));
}

#[test]
fn one_thread_and_two_give_the_same_bytes_and_the_file_reads_back() {
    let trials = small();
    let run = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let findings = pool.install(|| scored(&trials, &options()));
        (serde_json::to_string(&findings).unwrap(), findings)
    };
    let (one, findings) = run(1);
    assert_eq!(one, run(2).0);
    assert!(!one.contains("null,null,null,null,null"));
    assert_eq!(serde_json::from_str::<SpeedAccuracy>(&one).unwrap(), findings);
}

#[test]
fn every_fit_and_both_scalings_can_be_had() {
    let trials = small();
    for chance_floor in [false, true] {
        for free_asymptote in [false, true] {
            for criterion in [Criterion::MaximumLikelihood, Criterion::LeastSquares] {
                let options = Options {
                    chance_floor,
                    free_asymptote,
                    criterion,
                    n_resamples: 5,
                    ..options()
                };
                let fit = scored(&trials, &options).average.fit.unwrap();
                assert_eq!(fit.asymptote.is_some(), free_asymptote);
                assert_eq!(0.0 < fit.floor, chance_floor);
            }
        }
    }
    let paper = Options { scaling: Scaling::Paper, n_resamples: 5, ..options() };
    let steepness = |options| scored(&trials, &options).average.steepness.unwrap().value;
    let (paper, normalised) = (steepness(paper), steepness(options()));
    assert!(paper < 1e-4 && 0.1 < normalised, "{paper} {normalised}");
}

/// Weibull parameters of simulated observers lie within their intervals about as often as these
/// promise: of averages over twelve people, and of single people.
#[test]
fn parameters_are_recovered_within_their_intervals() {
    const N_SEEDS: u64 = 60;
    let study = Study { n_participants: 12, trials_per_block: 200, n_conditions: 1, spread: 20.0 };
    let options = Options {
        time_outs: TimeOuts::Excluded,
        guess_rate: Some(1.0 / 16.0),
        n_resamples: 150,
        ..Options::default()
    };
    let truth = &truths()[0];
    let (mut of_average, mut of_people) = ([0.0; 3], [0.0; 3]);
    let mut n_people = 0.0;
    for seed in 1..=N_SEEDS {
        let findings = scored(&simulated(&study, seed), &options);
        let count = |curve: &Curve, n_held: &mut [f64; 3]| {
            let fit = curve.fit.as_ref().expect("because there are five blocks");
            let asymptote = fit.asymptote.expect("because it is free");
            let truth = [truth.scale.value(), truth.shape, truth.asymptote];
            for ((estimate, truth), n_held) in
                [fit.scale_ms, fit.shape, asymptote].iter().zip(truth).zip(n_held)
            {
                let is_held = estimate.low <= truth && truth <= estimate.high;
                *n_held += f64::from(u8::from(is_held));
            }
        };
        count(&findings.average, &mut of_average);
        for person in &findings.participants {
            count(&person.all, &mut of_people);
            n_people += 1.0;
        }
    }
    let of_average = of_average.map(|n| n / 60.0);
    let of_people = of_people.map(|n| n / n_people);
    println!(
        "95 % intervals hold scale, shape, asymptote: averages {of_average:?} of {N_SEEDS}, people {of_people:?} of {n_people}"
    );
    for share in of_average {
        assert!((0.88..=1.0).contains(&share), "{of_average:?}");
    }
    for share in of_people {
        assert!((0.90..=0.98).contains(&share), "{of_people:?}");
    }
}
