//! `mohs import` and `mohs export` as people meet them, on small files and on real data.

use std::collections::BTreeMap;
use std::path::Path;

use mohs_data::Trial;
use mohs_data::format::{ReadOptions, read_all};

use crate::mohs::Place;
use crate::real_data::real_data;

const JSPSYCH: &str = r#"[
{"trial_type":"instructions","trial_index":0,"rt":5000,"subject_id":"p7"},
{"trial_type":"image-keyboard-response","trial_index":1,"stimulus":"cat.png","rt":512,"response":"f","correct_response":"f","correct":true,"subject_id":"p7"},
{"trial_type":"image-keyboard-response","trial_index":2,"stimulus":"dog.png","rt":null,"response":null,"correct_response":"j","correct":false,"subject_id":"p7"}
]"#;

fn trials(path: &Path) -> Vec<Trial> {
    read_all(path, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_dry_run_says_what_it_understood_and_writes_nothing() {
    let place = Place::new();
    place.write("data.json", JSPSYCH);
    let ran = place.run(&["import", "jspsych", "data.json", "--dry-run"]).ok();
    assert_eq!(place.names(), ["data.json"]);
    assert_eq!(ran.stderr(), "");
    insta::assert_snapshot!(ran.stdout());
}

#[test]
fn an_import_writes_trials_that_can_be_checked_and_exported() {
    let place = Place::new();
    place.write("data.json", JSPSYCH);
    let ran = place.run(&["import", "jspsych", "data.json", "-o", "t.parquet"]).ok();
    assert_eq!(ran.stdout(), "");
    assert!(ran.stderr().ends_with("written: t.parquet\n"), "{}", ran.stderr());
    assert!(place.run(&["check", "t.parquet"]).ok().stdout().contains("2 trials"));
    place.run(&["export", "t.parquet", "--to", "csv", "-o", "t.csv"]).ok();
    assert_eq!(trials(&place.path("t.csv")), trials(&place.path("t.parquet")));
    place.run(&["export", "t.csv", "--to", "bids", "-o", "b", "--name", "A study"]).ok();
    assert!(place.read("b/sub-p7/beh/sub-p7_task-rate_events.tsv").contains("\t0.512\t"));
    place.run(&["export", "t.csv", "--to", "psych-ds", "-o", "p", "--name", "A study"]).ok();
    assert!(place.read("p/data/study-Astudy_data.csv").starts_with("trial,session,"));
}

#[test]
fn a_mapping_file_and_options_say_the_same() {
    let place = Place::new();
    place.write("t.csv", "who;pic;said;secs;kind\np1;a.png;cat;0.5;test\np1;b.png;cat;1;warm\n");
    place.write(
        "map.toml",
        "version = 1\n[columns]\nparticipant = \"who\"\nstimulus = \"pic\"\nresponse = \"said\"\n\
         rt_ms = \"secs\"\n[units]\nrt_ms = \"s\"\n[constants]\nlabel = \"cat\"\n\
         [where]\nkind = \"test\"\n",
    );
    place.run(&["import", "csv", "t.csv", "--mapping", "map.toml", "-o", "a.csv"]).ok();
    let rows = trials(&place.path("a.csv"));
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].rt().map(mohs_data::Millis::value), Some(500.0));
    assert_eq!(rows[0].is_correct(), Some(true));
    place
        .run(&[
            "import",
            "csv",
            "t.csv",
            "--map",
            "participant=who",
            "--map",
            "stimulus=pic",
            "--map",
            "response=said",
            "--map",
            "rt_ms=secs",
            "--unit",
            "rt_ms=s",
            "--where",
            "kind=test",
            "--map",
            "label=said",
            "-o",
            "b.csv",
        ])
        .ok();
    assert_eq!(trials(&place.path("b.csv"))[0].rt(), rows[0].rt());
}

#[test]
fn comparisons_become_our_table() {
    let place = Place::new();
    place.write("pairs.csv", "left,right,winner,rater\na,b,b,r1\nb,c,tie,r2\n");
    place.run(&["import", "comparisons", "pairs.csv", "-o", "comparisons.csv"]).ok();
    assert!(place.run(&["check", "comparisons.csv"]).ok().stdout().contains("2 comparisons"));
}

/// Runs an import that must fail with exit code 2 and leave nothing behind.
fn refused(name: &str, content: &str, args: &[&str]) -> String {
    let place = Place::new();
    place.write(name, content);
    let ran = place.run(args);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert_eq!(place.names(), [name], "nothing may be written");
    assert_eq!(ran.stdout(), "");
    ran.stderr()
}

#[test]
fn an_export_of_a_foreign_table_points_to_the_import() {
    let args = ["export", "t.csv", "--to", "csv", "-o", "out.csv"];
    let said = refused("t.csv", "who,stimulus,response\np1,a,cat\n", &args);
    assert!(said.contains("mohs import csv FILE --map"), "{said}");
}

#[test]
fn a_source_is_never_overwritten() {
    let csv = "participant,stimulus,correct\np1,a,1\np1,b,0\n";
    for args in [
        &["import", "csv", "t.csv", "-o", "./t.csv"][..],
        &["import", "csv", ".", "-o", "t.csv"],
        &["export", "t.csv", "--to", "csv", "-o", "t.csv"],
    ] {
        let place = Place::new();
        place.write("t.csv", csv);
        let ran = place.run(args);
        assert_eq!(ran.code(), 2, "{}", ran.all());
        assert!(ran.stderr().contains("found one of the files to read"), "{}", ran.all());
        assert!(ran.stderr().contains("name another --output"), "{}", ran.all());
        assert_eq!(place.read("t.csv"), csv);
    }
}

#[test]
fn bad_input_is_refused_with_its_place_and_a_hint() {
    let cut = &JSPSYCH[..JSPSYCH.len() - 40];
    let all = [
        refused("d.json", cut, &["import", "jspsych", "d.json", "-o", "t.csv"]),
        refused("d.csv", "a,b\n1,2\n", &["import", "model-vs-human", "d.csv", "-o", "t.csv"]),
        refused("d.txt", "hello\n", &["import", "jatos", "d.txt", "-o", "t.csv"]),
        refused("d.csv", "who,pic\np,x\n", &["import", "csv", "d.csv", "-o", "t.csv"]),
        refused("d.json", JSPSYCH, &["import", "jspsych", "d.json", "-o", "t.xlsx"]),
        refused(
            "d.json",
            JSPSYCH,
            &["import", "jspsych", "d.json", "--where", "trial_typ=x", "-o", "t.csv"],
        ),
        refused(
            "d.json",
            &JSPSYCH.replace("512", "\"soon\""),
            &["import", "jspsych", "d.json", "-o", "t.csv"],
        ),
        refused("d.csv", "x\n", &["export", "d.csv", "--to", "bids", "-o", "out"]),
    ];
    insta::assert_snapshot!(all.join("----\n"));
}

#[test]
fn real_answers_of_people_to_degraded_pictures_all_come_through() {
    let Some(folder) = real_data("model-vs-human") else { return };
    let place = Place::new();
    let from = folder.to_string_lossy();
    place.run(&["import", "model-vs-human", &from, "-o", "t.parquet", "--quiet"]).ok();
    let trials = trials(&place.path("t.parquet"));
    assert_eq!(trials.len(), 85_120);
    let mut n_by_dataset: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for trial in &trials {
        let (n, n_in) = n_by_dataset.entry(trial.extra.get("dataset").unwrap_or("")).or_default();
        *n += 1;
        *n_in += usize::from(trial.extra.get("benchmark") == Some("in"));
        assert_eq!(trial.extra.get("observer"), Some("human"));
    }
    assert_eq!(n_by_dataset.len(), 17);
    assert_eq!(n_by_dataset["colour"], (5_120, 2_560));
    assert_eq!(n_by_dataset["cue-conflict"], (12_800, 12_800));
    // Accuracies of the published benchmark's human data, by condition (640 trials each).
    let accuracy = |dataset: &str, condition: &str| {
        let chosen = trials.iter().filter(|trial| {
            trial.extra.get("dataset") == Some(dataset)
                && trial.condition.as_deref() == Some(condition)
        });
        let answers: Vec<bool> = chosen.map(|t| t.is_correct() == Some(true)).collect();
        answers.iter().filter(|right| **right).count() as f64 / answers.len() as f64
    };
    for (dataset, condition, expected) in [
        ("uniform-noise", "0.0", 0.796_875),
        ("uniform-noise", "0.1", 0.770_312_5),
        ("contrast", "c100", 0.856_25),
        ("low-pass", "40", 0.060_937_5),
        ("colour", "bw", 0.886_718_75),
    ] {
        assert!((accuracy(dataset, condition) - expected).abs() < 1e-9, "{dataset} {condition}");
    }
    // Shape bias of all people: right answers over those that name shape or texture.
    let conflicting = trials.iter().filter(|trial| {
        let label = trial.label.as_ref().map(mohs_data::Label::as_str);
        trial.extra.get("dataset") == Some("cue-conflict") && trial.extra.get("texture") != label
    });
    let (mut n_shape, mut n_texture) = (0, 0);
    for trial in conflicting {
        let response = trial.response.as_ref().map(mohs_data::Label::as_str);
        n_shape += usize::from(trial.is_correct() == Some(true));
        n_texture += usize::from(response.is_some() && response == trial.extra.get("texture"));
    }
    assert_eq!((n_shape, n_texture), (9_236, 398));
}

/// Imports one experiment of SATBench's predecessor; returns accuracy by beep and condition.
fn anytime(name: &str, n_participants: usize, n_timed: usize) -> Option<Vec<(f64, String, f64)>> {
    let folder = real_data(&format!("anytime/{name}"))?;
    let place = Place::new();
    let from = folder.to_string_lossy();
    place.run(&["import", "labjs", &from, "-o", "t.parquet", "--quiet"]).ok();
    let trials = trials(&place.path("t.parquet"));
    let mut n_by_participant: BTreeMap<String, usize> = BTreeMap::new();
    let mut right: BTreeMap<(u64, String), (usize, usize)> = BTreeMap::new();
    for trial in &trials {
        // The file's own word, where it has one, agrees with response and label.
        if let Some(marked) = trial.marked_correct {
            assert_eq!(marked, trial.label == trial.response);
        }
        if trial.response.is_none() {
            assert_eq!(trial.extra.get("ended_on"), Some("timeout"));
        }
        let Some(beep) = trial.beep else { continue };
        *n_by_participant.entry(trial.participant.to_string()).or_default() += 1;
        let condition = trial.condition.clone().unwrap_or_default();
        let (n_right, n) = right.entry((beep.value().to_bits(), condition)).or_default();
        *n_right += usize::from(trial.is_correct() == Some(true));
        *n += 1;
    }
    assert_eq!(n_by_participant.len(), n_participants);
    assert!(n_by_participant.values().all(|n| *n == n_timed), "{n_by_participant:?}");
    let accuracy = right.into_iter().map(|((beep, condition), (n_right, n))| {
        (f64::from_bits(beep), condition, n_right as f64 / n as f64)
    });
    Some(accuracy.collect())
}

fn at(accuracy: &[(f64, String, f64)], beep: f64, condition: &str) -> f64 {
    let found = accuracy.iter().find(|(b, c, _)| (b - beep).abs() < 0.5 && c == condition);
    found.expect("because the experiment has this beep and condition").2
}

#[test]
fn real_timed_answers_rise_with_time_and_fall_with_noise() {
    if let Some(noise) = anytime("noise", 8, 1_500) {
        assert!((at(&noise, 1_000.0, "0.0") - 0.475).abs() < 0.001);
        for condition in ["0.0", "0.04", "0.16"] {
            assert!(at(&noise, 200.0, condition) < at(&noise, 800.0, condition));
        }
        for beep in [600.0, 800.0, 1_000.0] {
            assert!(at(&noise, beep, "0.16") < at(&noise, beep, "0.04"));
            assert!(at(&noise, beep, "0.04") < at(&noise, beep, "0.0"));
        }
    }
    if let Some(blur) = anytime("blur", 3, 1_500) {
        assert!(at(&blur, 1_000.0, "3") < at(&blur, 1_000.0, "1"));
        assert!(at(&blur, 1_000.0, "1") < at(&blur, 1_000.0, "0"));
    }
    if let Some(colour) = anytime("colour-gray", 3, 500) {
        assert!(at(&colour, 200.0, "0") < at(&colour, 1_000.0, "0"));
    }
}
