//! The viewing-time study as a whole: worked by hand, order-free, repeatable, honest about doubt.

use mohs_data::{
    ExclusionRules, Extra, Label, Millis, MvtRule, ParticipantId, ScoreOptions, Seed, SessionId,
    StimulusId, Task, TimingVerdict, Trial, TrialId,
};
use mohs_score::draw::Draw;
use mohs_score::human::viewing_time::{Error, Input, ViewingTime, score};

const EXPOSURES: [f64; 6] = [17.0, 50.0, 100.0, 150.0, 250.0, 10_000.0];

fn ms(value: f64) -> Millis {
    Millis::new(value).expect("because the tests use finite times")
}

fn trial(stimulus: &str, exposure: f64, participant: usize, is_right: bool) -> Trial {
    let wrong = if stimulus == "mug" { "key" } else { "mug" };
    Trial {
        id: TrialId::new(format!("{stimulus}-{exposure}-{participant}")),
        session: SessionId::new("s"),
        participant: ParticipantId::new(format!("p{participant}")),
        idx: None,
        block: None,
        task: Task::Flash,
        stimulus: StimulusId::new(stimulus),
        label: Some(Label::new(stimulus)),
        exposure: Some(ms(exposure)),
        beep: None,
        condition: None,
        response: Some(Label::new(if is_right { stimulus } else { wrong })),
        marked_correct: None,
        onset: Some(ms(0.0)),
        offset: Some(ms(exposure)),
        responded: Some(ms(exposure + 900.0)),
        timing: Some(TimingVerdict::Ok),
        extra: Extra::default(),
    }
}

/// Two stimuli × six exposures × seven participants, with these right answers by exposure.
fn by_hand() -> Vec<Trial> {
    let right = [("mug", [2, 4, 5, 7, 7, 7]), ("key", [0, 1, 4, 3, 6, 7])];
    let mut trials = Vec::new();
    for (stimulus, n_right) in right {
        for (exposure, n_right) in EXPOSURES.into_iter().zip(n_right) {
            trials.extend((0..7).map(|p| trial(stimulus, exposure, p, p < n_right)));
        }
    }
    trials
}

fn scored(trials: &[Trial], rules: &ExclusionRules, rule: MvtRule) -> ViewingTime {
    let options = ScoreOptions { rule, n_resamples: 50, ..ScoreOptions::default() };
    let input =
        Input { trials, stimuli: &[], n_labels: Some(50), rules, options: &options, seed: Seed(1) };
    score(&input).expect("because there are flash trials").0
}

#[test]
fn two_stimuli_come_out_as_worked_by_hand() {
    let findings = scored(&by_hand(), &ExclusionRules::default(), MvtRule::Stays);
    let [mug, key] = &findings.stimuli[..] else { panic!("two stimuli") };
    // 5 + 3 + 2 wrong of 42; recognised from 50 ms on, where 4 of 7 are right.
    assert_eq!((mug.stimulus.as_str(), mug.n_errors, mug.mvt), ("mug", 10, Some(ms(50.0))));
    assert!((mug.difficulty.value - 10.0 / 42.0).abs() < 1e-12);
    // 7 + 6 + 3 + 4 + 1 wrong; recognised at 100 ms, lost at 150 ms (3 of 7), back at 250 ms.
    assert_eq!((key.stimulus.as_str(), key.n_errors), ("key", 21));
    assert_eq!((key.mvt_first, key.mvt_stays), (Some(ms(100.0)), Some(ms(250.0))));
    assert_eq!(key.mvt, key.mvt_stays);
    assert_eq!(key.caveats, ["non-monotone"]);
    let first = scored(&by_hand(), &ExclusionRules::default(), MvtRule::First);
    assert_eq!(first.stimuli[1].mvt, Some(ms(100.0)));
    // 32 right answers about the mug and 21 about the key; at 100 ms 5 and 4 of 7 each.
    assert!((findings.accuracy.value - 53.0 / 84.0).abs() < 1e-12);
    let at_100 = &findings.accuracy_by_exposure[2];
    assert!((at_100.accuracy.value - 9.0 / 14.0).abs() < 1e-12);
    assert_eq!(at_100.accuracy.n, 14);
}

#[test]
fn the_order_of_rows_changes_nothing() {
    let mut trials = by_hand();
    let before = scored(&trials, &ExclusionRules::default(), MvtRule::Stays);
    Draw::new(Seed(5), &[]).shuffle(&mut trials);
    assert_eq!(before, scored(&trials, &ExclusionRules::default(), MvtRule::Stays));
}

#[test]
fn threads_and_repetition_change_nothing() {
    let trials = by_hand();
    let run = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| scored(&trials, &ExclusionRules::default(), MvtRule::Stays))
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn relabelling_participants_changes_no_stimulus() {
    let mut trials = by_hand();
    let before = scored(&trials, &ExclusionRules::default(), MvtRule::Stays).stimuli;
    for trial in &mut trials {
        trial.participant = ParticipantId::new(format!("renamed-{}", trial.participant));
    }
    assert_eq!(before, scored(&trials, &ExclusionRules::default(), MvtRule::Stays).stimuli);
}

#[test]
fn each_exclusion_rule_is_applied_by_name_and_counted() {
    let mut trials = by_hand();
    trials[0].timing = Some(TimingVerdict::Dropped);
    trials[1].responded = Some(ms(60.0));
    let mut again = trials[2].clone();
    again.id = TrialId::new("zz");
    trials.push(again);
    let rules = ExclusionRules {
        min_accuracy_at_longest: Some(0.9),
        min_rt_ms: Some(ms(150.0)),
        max_rt_ms: None,
        repeated_stimuli: false,
        timing: vec![TimingVerdict::Dropped],
        participants: vec!["p6".into()],
    };
    let findings = scored(&trials, &rules, MvtRule::Stays);
    let counts: Vec<(&str, usize, usize)> = findings
        .exclusions
        .iter()
        .map(|count| (count.rule.as_str(), count.n_participants, count.n_trials))
        .collect();
    // p6 has 12 trials; everybody is right at 10 s, so low-accuracy takes nobody.
    let expected =
        [("by-hand", 1, 12), ("bad-timing", 0, 1), ("too-fast", 0, 1), ("low-accuracy", 0, 0)];
    assert_eq!(counts, expected);
    assert_eq!(findings.n_trials, findings.n_trials_read - 14);
}

#[test]
fn a_second_look_at_a_stimulus_is_set_aside() {
    let trials = by_hand();
    let rules = ExclusionRules { repeated_stimuli: true, ..ExclusionRules::default() };
    let findings = scored(&trials, &rules, MvtRule::Stays);
    // Each of the seven participants saw each stimulus six times here; one look counts.
    assert_eq!(findings.exclusions[0].n_trials, 70);
    assert_eq!(findings.n_trials, 14);
}

#[test]
fn the_first_showing_counts_whatever_the_order_of_rows() {
    // Shown right at first, wrong at the second showing; ids in an order that text would confuse.
    let mut trials = Vec::new();
    for (idx, is_right) in [(2, true), (10, false)] {
        let mut shown = trial("mug", 100.0, 0, is_right);
        shown.id = TrialId::new(format!("{idx}"));
        shown.onset = None;
        shown.responded = None;
        trials.push(shown);
    }
    let rules = ExclusionRules { repeated_stimuli: true, ..ExclusionRules::default() };
    for _ in 0..2 {
        trials.reverse();
        let findings = scored(&trials, &rules, MvtRule::Stays);
        assert_eq!((findings.n_trials, findings.stimuli[0].n_errors), (1, 0));
    }
}

#[test]
fn two_choices_are_scored_with_a_caveat() {
    let options = ScoreOptions { n_resamples: 50, ..ScoreOptions::default() };
    let (trials, rules) = (by_hand(), ExclusionRules::default());
    let input = Input {
        trials: &trials,
        stimuli: &[],
        n_labels: Some(2),
        rules: &rules,
        options: &options,
        seed: Seed(1),
    };
    let findings = score(&input).expect("because counting needs no threshold").0;
    assert_eq!(findings.stimuli[0].mvt, Some(ms(50.0)));
    assert!(findings.caveats.iter().any(|c| c.code() == "criterion-near-guessing"));
}

#[test]
fn unequal_numbers_of_trials_do_not_move_the_balanced_difficulty() {
    let mut trials = by_hand();
    let before = scored(&trials, &ExclusionRules::default(), MvtRule::Stays).stimuli[0].clone();
    assert!((before.balanced_difficulty.value - before.difficulty.value).abs() < 1e-12);
    // Seven more of the same answers at 17 ms, where 2 of 7 are right.
    trials.extend((0..7).map(|p| trial("mug", 17.0, 100 + p, p < 2)));
    let after = scored(&trials, &ExclusionRules::default(), MvtRule::Stays).stimuli;
    let mug = after.iter().find(|s| s.stimulus.as_str() == "mug").expect("because it was shown");
    assert!((mug.balanced_difficulty.value - before.balanced_difficulty.value).abs() < 1e-12);
    assert!(before.difficulty.value + 0.05 < mug.difficulty.value);
}

#[test]
fn no_group_is_certain() {
    let trials: Vec<Trial> = (0..3).map(|p| trial("mug", 100.0, p, true)).collect();
    let findings = scored(&trials, &ExclusionRules::default(), MvtRule::Stays);
    assert!(0.2 < findings.by_label[0].difficulty.high);
    assert!(0.2 < findings.bands[0].model_share.half_width());
}

#[test]
fn rules_that_leave_nothing_are_refused() {
    let trials = by_hand();
    let everybody: Vec<String> = (0..7).map(|p| format!("p{p}")).collect();
    let rules = ExclusionRules { participants: everybody, ..ExclusionRules::default() };
    let options = ScoreOptions::default();
    let input = Input {
        trials: &trials,
        stimuli: &[],
        n_labels: None,
        rules: &rules,
        options: &options,
        seed: Seed(1),
    };
    assert_eq!(score(&input).unwrap_err(), Error::NothingLeft { n_trials: 84 });
}

#[test]
fn bands_share_out_all_stimuli() {
    let findings = scored(&by_hand(), &ExclusionRules::default(), MvtRule::Stays);
    let n_stimuli: usize = findings.bands.iter().map(|band| band.n_stimuli).sum();
    let model: f64 = findings.bands.iter().map(|band| band.model_share.value).sum();
    assert_eq!(n_stimuli, 2);
    assert!((model - 1.0).abs() < 1e-9);
    for stimulus in &findings.stimuli {
        assert!(stimulus.p_mvt_at_most.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}

#[test]
fn one_trial_is_enough_for_an_answer_full_of_doubt() {
    let trials = [trial("mug", 100.0, 0, true)];
    let findings = scored(&trials, &ExclusionRules::default(), MvtRule::Stays);
    let stimulus = &findings.stimuli[0];
    assert_eq!(stimulus.mvt, Some(ms(100.0)));
    assert!(stimulus.threshold_ms.low * 3.0 < stimulus.threshold_ms.high);
    let codes: Vec<&str> = findings.caveats.iter().map(mohs_data::Caveat::code).collect();
    for code in ["too-few-trials", "few-participants", "not-identified"] {
        assert!(codes.contains(&code), "{codes:?}");
    }
}
