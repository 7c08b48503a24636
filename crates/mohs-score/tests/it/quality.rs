//! Data quality: planted carelessness is found, care is not flagged, and what is missing is said.

use mohs_data::Seed;
use mohs_data::{
    Extra, Label, Millis, ParticipantId, SessionId, StimulusId, Task, TimingVerdict, Trial, TrialId,
};
use mohs_score::draw::Draw;
use mohs_score::human::quality::{DataQuality, Error, Limits, ParticipantQuality, look};

const LABELS: [&str; 4] = ["cat", "dog", "mug", "key"];

fn ms(value: f64) -> Option<Millis> {
    Millis::new(value)
}

fn trial(participant: &str, idx: u64) -> Trial {
    let label = LABELS[usize::try_from(idx * 7 % 11 % 4).unwrap_or(0)];
    Trial {
        id: TrialId::new(format!("{participant}-{idx}")),
        session: SessionId::new("s"),
        participant: ParticipantId::new(participant),
        idx: Some(idx),
        block: None,
        task: Task::Flash,
        stimulus: StimulusId::new(format!("stimulus-{idx}")),
        label: Some(Label::new(label)),
        exposure: ms(if idx.is_multiple_of(2) { 17.0 } else { 10_000.0 }),
        beep: None,
        condition: None,
        response: Some(Label::new(label)),
        marked_correct: None,
        onset: ms(0.0),
        offset: None,
        responded: ms(700.0),
        timing: Some(TimingVerdict::Ok),
        extra: Extra::default(),
    }
}

/// Somebody who takes care: 85 % right, 500 to 1100 ms.
fn careful(participant: &str, seed: u64) -> Vec<Trial> {
    let mut draw = Draw::new(Seed(seed), &[1]);
    (0..60)
        .map(|idx| {
            let mut trial = trial(participant, idx);
            if draw.chance(0.15) {
                trial.response = Some(Label::new(LABELS[draw.below(4)]));
            }
            trial.responded = ms(500.0 + 600.0 * draw.uniform());
            trial
        })
        .collect()
}

fn looked(trials: &[Trial]) -> DataQuality {
    look(trials, &Limits::default(), 0.95).expect("because there are trials")
}

fn flags(found: &DataQuality, participant: &str) -> Vec<String> {
    of(found, participant).flags.iter().map(|flag| flag.rule.clone()).collect()
}

fn of<'a>(found: &'a DataQuality, participant: &str) -> &'a ParticipantQuality {
    let is_it = |p: &&ParticipantQuality| p.participant.as_str() == participant;
    found.participants.iter().find(is_it).expect("because the participant has trials")
}

/// Ten people who take care, and others each careless in one way.
fn planted() -> Vec<Trial> {
    let mut trials: Vec<Trial> =
        (0..10).flat_map(|seed| careful(&format!("careful-{seed}"), seed)).collect();
    let mut plant = |name: &str, change: &dyn Fn(u64, &mut Trial)| {
        for (idx, mut trial) in (0..).zip(careful(name, 99)) {
            change(idx, &mut trial);
            trials.push(trial);
        }
    };
    plant("fast", &|idx, trial| {
        if idx.is_multiple_of(4) {
            trial.responded = ms(80.0);
        }
    });
    plant("streak", &|idx, trial| {
        if (20..38).contains(&idx) {
            trial.response = Some(Label::new("cat"));
        }
    });
    plant("one-key", &|_, trial| trial.response = Some(Label::new("dog")));
    plant("silent", &|idx, trial| {
        if idx.is_multiple_of(3) {
            trial.response = None;
        }
    });
    plant("bad-screen", &|idx, trial| {
        if idx.is_multiple_of(5) {
            trial.timing = Some(TimingVerdict::Dropped);
        }
    });
    plant("asleep", &|idx, trial| {
        if idx.is_multiple_of(6) {
            trial.extra = Extra::from_pairs([("catch", "true".to_owned())]);
            trial.response = Some(Label::new("nothing"));
        }
    });
    plant("slow", &|_, trial| trial.responded = ms(9_000.0));
    let copy = trials.iter().find(|trial| trial.participant.as_str() == "slow").cloned();
    trials.extend(copy.map(|trial| Trial { id: TrialId::new("copy"), ..trial }));
    trials
}

#[test]
fn each_kind_of_carelessness_is_flagged_by_its_rule() {
    let found = looked(&planted());
    let has = |participant: &str, rule: &str| {
        let flags = flags(&found, participant);
        assert!(flags.iter().any(|flag| flag == rule), "{participant}: {flags:?}");
    };
    has("fast", "too-fast");
    has("streak", "streak");
    has("one-key", "one-key");
    has("one-key", "near-chance");
    has("silent", "many-timeouts");
    has("bad-screen", "bad-timing");
    has("asleep", "catch-failed");
    has("slow", "rt-unlike-others");
    has("slow", "duplicates");
    for seed in 0..10 {
        assert_eq!(flags(&found, &format!("careful-{seed}")), Vec::<String>::new());
    }
    assert_eq!(found.n_flagged, 7);
    let rule = found.rules.iter().find(|rule| rule.rule == "catch-failed").unwrap();
    assert_eq!((rule.n_participants, rule.n_judged), (1, 1));
}

/// By hand: four trials, three right, rts 100, 200, 300, 400; one of four answered within 150 ms.
#[test]
fn facts_come_out_as_worked_by_hand() {
    let mut trials: Vec<Trial> = (0..4).map(|idx| trial("p", idx)).collect();
    for (trial, rt) in trials.iter_mut().zip([100.0, 200.0, 300.0, 400.0]) {
        trial.responded = ms(rt);
    }
    trials[0].response = None;
    let found = looked(&trials);
    let facts = &of(&found, "p").facts;
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
    close(facts.accuracy.unwrap().value, 0.75);
    close(facts.timeouts.unwrap().value, 0.25);
    close(facts.accuracy_at_longest.unwrap().value, 1.0);
    let rt = facts.rt.as_ref().unwrap();
    close(rt.median.value(), 250.0);
    close(rt.too_fast.value, 0.25);
    assert!(facts.catch_accuracy.is_none());
}

#[test]
fn a_blocked_design_makes_honest_streaks() {
    let trials: Vec<Trial> = (0..60)
        .map(|idx| {
            let label = Label::new(LABELS[usize::try_from(idx / 15).unwrap()]);
            Trial { label: Some(label.clone()), response: Some(label), ..trial("p", idx) }
        })
        .collect();
    let found = looked(&trials);
    let streak = of(&found, "p").streak.clone().unwrap();
    assert_eq!((streak.length, streak.longest_of_labels), (15, Some(15)));
    assert!(streak.p_value < 1e-6);
    assert!(flags(&found, "p").is_empty());
}

#[test]
fn what_was_not_recorded_is_said_and_not_judged() {
    let bare: Vec<Trial> = (0..30)
        .map(|idx| Trial {
            response: None,
            label: None,
            marked_correct: Some(idx % 3 != 0),
            onset: None,
            responded: None,
            timing: None,
            exposure: None,
            idx: None,
            ..trial("p", idx)
        })
        .collect();
    let found = looked(&bare);
    let facts = &of(&found, "p").facts;
    assert!(facts.rt.is_none() && facts.timeouts.is_none() && facts.timing.is_empty());
    assert!(facts.response_entropy.is_none() && of(&found, "p").streak.is_none());
    assert!((facts.accuracy.unwrap().value - 2.0 / 3.0).abs() < 1e-9);
    let codes: Vec<&str> = found.caveats.iter().map(mohs_data::Caveat::code).collect();
    assert_eq!(codes, ["not-recorded", "trial-order-assumed"]);
    assert_eq!(found.n_flagged, 0);
    assert_eq!(look(&[], &Limits::default(), 0.95), Err(Error::NoTrials));
}

#[test]
fn threads_and_the_order_of_rows_change_nothing() {
    let trials = planted();
    let json = |n_threads: usize, trials: &[Trial]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        serde_json::to_string(&pool.install(|| looked(trials))).unwrap()
    };
    let one = json(1, &trials);
    assert_eq!(one, json(2, &trials));
    let mut shuffled = trials;
    Draw::new(Seed(4), &[2]).shuffle(&mut shuffled);
    assert_eq!(one, json(2, &shuffled));
}

#[test]
fn one_name_in_two_data_sets_is_two_people_and_practice_is_set_aside() {
    let mut trials: Vec<Trial> = Vec::new();
    for dataset in ["colour", "noise"] {
        for mut trial in careful("ann", 1) {
            trial.extra = Extra::from_pairs([("dataset", dataset.to_owned())]);
            trials.push(trial);
        }
    }
    trials[0].block = Some("Practice".into());
    let found = looked(&trials);
    assert_eq!((found.n_participants, found.n_trials), (2, 119));
    assert_eq!(of(&found, "ann · noise").facts.n_trials, 60);
    assert_eq!(found.everything.n_repeated, 0);
    assert_eq!((found.exclusions[0].rule.as_str(), found.exclusions[0].n_trials), ("practice", 1));
}
