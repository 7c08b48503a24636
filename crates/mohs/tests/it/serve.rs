//! `mohs serve` as people meet it: what it refuses, and a study that outlives a killed server.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use mohs_data::format::{ReadOptions, read_all, write_all};
use mohs_data::{Extra, Label, Millis, Prepared, StimulusId, Study, Task, Trial};
use mohs_serve::bots::{Answer, Bot, BotError, Http, join_request};

use crate::mohs::Place;

/// Writes a study with `n` stimuli; the server never looks into pictures, so they are none.
fn study(folder: &Path, n: u8, flashes: f64) {
    std::fs::create_dir_all(folder.join("prepared")).expect("because the folder is ours");
    let hash = |kind: &str, idx: u8| format!("{kind}{idx:02x}").repeat(16);
    let prepared: Vec<Prepared> = (0..n)
        .map(|idx| Prepared {
            stimulus: StimulusId::new(format!("s{idx}")),
            label: Label::new(["cat", "dog"][usize::from(idx % 2)]),
            condition: None,
            image: hash("ab", idx),
            mask: None,
            source: hash("cd", idx),
            attribute: None,
            level: None,
            side_px: 8,
            flashes: Some(flashes),
            extra: Extra::default(),
        })
        .collect();
    for row in &prepared {
        let path = folder.join(format!("prepared/{}.png", row.image));
        std::fs::write(path, b"a picture").expect("because the folder is ours");
    }
    let mut study = Study::new("My study", Task::Flash);
    study.flash.exposures_ms = [50.0, 250.0].map(|ms| Millis::new(ms).expect("finite")).to_vec();
    study.flash.trials_per_participant = 8;
    study.write(&folder.join("study.toml")).expect("because the folder is ours");
    write_all(&folder.join("prepared.csv"), &prepared).expect("because the folder is ours");
}

#[test]
fn a_study_that_is_not_prepared_is_refused() {
    let place = Place::new();
    std::fs::create_dir(place.path("empty")).expect("because the folder is ours");
    Study::new("x", Task::Flash).write(&place.path("empty/study.toml")).expect("ours");
    insta::assert_snapshot!(place.run(&["serve", "empty"]).all(), @r"
    exit 2
    --- stdout
    --- stderr
    error: cannot host `empty`
      caused by: `empty` has no prepared stimuli

    hint: run `mohs prepare empty/study.toml`
    ");
}

#[test]
fn a_study_that_flashes_too_often_is_refused() {
    let place = Place::new();
    study(&place.path("fast"), 2, 4.0);
    insta::assert_snapshot!(place.run(&["serve", "fast"]).all(), @r"
    exit 2
    --- stdout
    --- stderr
    error: cannot host `fast`
      caused by: `s0` flashes 4 times in a second; more than 3 may cause seizures

    hint: leave the stimulus out, show it for longer or with a mask of like brightness; or say why it is allowed in study.toml: [safety] flash_override
    ");
}

#[test]
fn several_studies_need_a_database_that_is_named() {
    let place = Place::new();
    study(&place.path("a"), 2, 1.0);
    insta::assert_snapshot!(place.run(&["serve", "a", "a"]).all(), @r"
    exit 2
    --- stdout
    --- stderr
    error: several studies share one database

    hint: name it: --db sqlite:studies.db
    ");
}

struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(place: &Place) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mohs"));
        command.args(["serve", "my", "--bind", "127.0.0.1:0"]).current_dir(place.path(""));
        let mut child = command.stderr(Stdio::piped()).spawn().expect("because it was built");
        let mut lines = BufReader::new(child.stderr.take().expect("because it is piped")).lines();
        let line = lines.find_map(|line| {
            let line = line.ok()?;
            line.trim().strip_prefix("participants  http://").map(ToOwned::to_owned)
        });
        let line = line.expect("because a server says where it is");
        // Keep reading, so that the server can go on speaking.
        std::thread::spawn(move || lines.count());
        let address = line.strip_suffix("/s/my-study").expect("the study's address").to_owned();
        Self { child, address }
    }
}

fn answer(trial: &mohs_serve::wire::PlannedTrial) -> Answer {
    Answer::new(trial.options.first().cloned(), 600.0)
}

#[test]
fn a_killed_server_loses_nothing_that_was_confirmed() {
    let place = Place::new();
    study(&place.path("my"), 20, 1.0);
    let mut served = Served::start(&place);
    let runtime = tokio::runtime::Runtime::new().expect("because the system has threads");
    runtime.block_on(async {
        let request = join_request(Some("p1"));
        let http = Http::new(&served.address);
        let mut bot = Bot::join(http, "my-study", &request).await.expect("joined");
        let practice = bot.block().await.expect("a block").block.expect("practice");
        for trial in &practice.trials {
            bot.start(trial);
            bot.answer(trial, &answer(trial), 0);
        }
        bot.flush().await.expect("stored");
        let block = bot.block().await.expect("a block").block.expect("trials");
        for trial in &block.trials[..4] {
            bot.start(trial);
            bot.answer(trial, &answer(trial), 0);
        }
        bot.flush().await.expect("stored");
        served.child.kill().expect("because it runs");
        served.child.wait().expect("because it was killed");
        bot.start(&block.trials[4]);
        assert!(matches!(bot.flush().await, Err(BotError::Lost)));
    });
    let mut served = Served::start(&place);
    runtime.block_on(async {
        // Another device: only the recruiter's id is known there.
        let http = Http::new(&served.address);
        let mut bot = Bot::join(http, "my-study", &join_request(Some("p1"))).await.expect("joined");
        assert_eq!((bot.joined.epoch, bot.joined.n_done), (2, 4));
        let left = bot.block().await.expect("a block").block.expect("trials");
        assert_eq!(left.trials.len(), 4);
        for trial in &left.trials {
            bot.start(trial);
            bot.answer(trial, &answer(trial), 0);
        }
        bot.flush().await.expect("stored");
        assert!(bot.end(false).await.expect("an end").code.is_some());
    });
    served.child.kill().expect("because it runs");
    served.child.wait().expect("because it was killed");
    place.run(&["export", "my", "--to", "csv", "-o", "trials.csv"]).ok();
    let trials: Vec<Trial> =
        read_all(&place.path("trials.csv"), &ReadOptions::default()).expect("trials");
    assert_eq!(trials.len(), 8);
    let mut stimuli: Vec<&str> = trials.iter().map(|trial| trial.stimulus.as_str()).collect();
    stimuli.sort_unstable();
    stimuli.dedup();
    assert_eq!(stimuli.len(), 8);
    place.run(&["export", "my", "--to", "jsonl", "-o", "events.jsonl"]).ok();
    place.run(&["score", "viewing-time", "trials.csv"]).ok();
}
