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
        Self::start_as(place, "my-study")
    }

    /// Hosts the study in `my`, which addresses call `id`.
    fn start_as(place: &Place, id: &str) -> Self {
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
        let address = line.strip_suffix(&format!("/s/{id}")).expect("the study's address");
        let address = address.to_owned();
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

/// One participant does everything; every third flash is shown a frame too long.
fn one_participant(place: &Place) {
    let mut served = Served::start(place);
    let runtime = tokio::runtime::Runtime::new().expect("because the system has threads");
    runtime.block_on(async {
        let http = Http::new(&served.address);
        let mut bot = Bot::join(http, "my-study", &join_request(Some("p1"))).await.expect("joined");
        let mut n = 0;
        while let Some(block) = bot.block().await.expect("an answer").block {
            for trial in &block.trials {
                n += u32::from(!block.is_practice);
                bot.start(trial);
                let extra_frames = u32::from(!block.is_practice && n.is_multiple_of(3));
                bot.answer(trial, &answer(trial), extra_frames);
            }
            bot.flush().await.expect("stored");
        }
        assert!(bot.end(false).await.expect("an end").code.is_some());
    });
    served.child.kill().expect("because it runs");
    served.child.wait().expect("because it was killed");
}

#[test]
fn exports_and_scores_say_how_many_trials_are_void() {
    let place = Place::new();
    study(&place.path("my"), 20, 1.0);
    one_participant(&place);
    let exported = place.run(&["export", "my", "--to", "csv", "-o", "trials.csv"]).ok().stderr();
    assert!(exported.contains("(8 trials, 2 of them void)"), "{exported}");
    assert!(exported.contains("[exclusions] timing"), "{exported}");
    let scored = place.run(&["score", "viewing-time", "trials.csv"]).ok().stderr();
    assert!(scored.contains("2 are void") && scored.contains("2 of them count"), "{scored}");
    let text = place.read("my/study.toml");
    let rule = "timing = [\"long\", \"short\", \"dropped\", \"unknown\"]";
    place.write("strict.toml", text.replace("timing = []", rule));
    let strict = ["score", "viewing-time", "trials.csv", "--study", "strict.toml"];
    let scored = place.run(&strict).ok().stderr();
    assert!(scored.contains("all of them are set aside"), "{scored}");
}

#[test]
fn the_template_of_flashes_sets_every_bad_verdict_aside() {
    let place = Place::new();
    place.run(&["init", "flash", "my", "--world", "16", "--size", "40"]).ok();
    let study = Study::read(&place.path("my/study.toml")).expect("a study");
    let all = mohs_data::TimingVerdict::WORDS.iter().map(|(_, verdict)| *verdict);
    let bad: Vec<_> = all.filter(|verdict| *verdict != mohs_data::TimingVerdict::Ok).collect();
    assert_eq!(bad.len(), 4);
    assert!(bad.iter().all(|verdict| study.exclusions.timing.contains(verdict)));
}

#[test]
fn a_database_becomes_bids_and_psych_ds() {
    let place = Place::new();
    study(&place.path("my"), 20, 1.0);
    one_participant(&place);
    place.run(&["export", "my", "--to", "bids", "-o", "bids"]).ok();
    let about = place.read("bids/dataset_description.json");
    assert!(about.contains("\"my-study\"") && about.contains("BIDSVersion"), "{about}");
    let mut events = Vec::new();
    files_below(&place.path("bids"), &mut events);
    events.retain(|path| path.to_string_lossy().ends_with("_events.tsv"));
    assert_eq!(events.len(), 1, "one participant, one session, one task");
    let text = std::fs::read_to_string(&events[0]).expect("because it was listed");
    assert_eq!(text.lines().count(), 1 + 8);
    let head: Vec<&str> = text.lines().next().unwrap_or_default().split('\t').collect();
    assert_eq!(head[..2], ["onset", "duration"]);
    for column in ["frames_planned", "frames_shown", "state"] {
        assert!(head.contains(&column), "{head:?}");
    }
    place.run(&["export", "my", "--to", "psych-ds", "-o", "psych"]).ok();
    let mut tables = Vec::new();
    files_below(&place.path("psych"), &mut tables);
    tables.retain(|path| path.to_string_lossy().ends_with("_data.csv"));
    assert_eq!(tables.len(), 1);
    let text = std::fs::read_to_string(&tables[0]).expect("because it was listed");
    assert_eq!(text.lines().count(), 1 + 8);
    let about = place.read("psych/dataset_description.json");
    let about: serde_json::Value = serde_json::from_str(&about).expect("because it is JSON");
    let described = about["variableMeasured"].as_array().expect("a list of columns").len();
    assert_eq!(described, text.lines().next().unwrap_or_default().split(',').count());
}

fn files_below(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("because it was written") {
        let path = entry.expect("because it was listed").path();
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

#[test]
fn a_study_that_was_changed_after_data_came_is_refused_with_what_changed() {
    let place = Place::new();
    study(&place.path("my"), 20, 1.0);
    one_participant(&place);
    let text = place.read("my/study.toml");
    place.write("my/study.toml", text.replace("250.0", "300.0"));
    insta::assert_snapshot!(place.run(&["serve", "my"]).all(), @r"
    exit 2
    --- stdout
    --- stderr
    error: the database has data of the study `my-study` that were collected with another design
      caused by: `flash.exposures_ms` was [50, 250] and is [50, 300] now

    hint: set it back, or host it as another study: with another `id` in study.toml, or another database with --db; data of two designs are not one study
    ");
    // Under another id it is another study, beside the old one.
    place.write(
        "my/study.toml",
        text.replace("250.0", "300.0").replace("task =", "id = \"again\"\ntask ="),
    );
    let mut served = Served::start_as(&place, "again");
    served.child.kill().expect("because it runs");
    served.child.wait().expect("because it was killed");
}

#[test]
fn databases_that_cannot_be_opened_come_with_hints() {
    let place = Place::new();
    study(&place.path("my"), 2, 1.0);
    place.write("text.db", "this is a letter to a friend, and no database at all".repeat(20));
    for (db, code, words) in [
        ("study.db", 2, "write sqlite:study.db"),
        ("mysql://x", 2, "e.g. sqlite:study.db or postgres://"),
        ("sqlite:my", 2, "name a file in it: sqlite:my/mohs.db"),
        ("sqlite:nowhere/study.db", 2, "there is no folder nowhere"),
        ("sqlite:text.db", 2, "name a database of mohs"),
        ("postgres://mohs@127.0.0.1:1/mohs", 3, "is the server running"),
    ] {
        let ran = place.run(&["serve", "my", "--db", db]);
        assert_eq!(ran.code(), code, "{db}: {}", ran.all());
        assert!(ran.stderr().contains(words), "{db}: {}", ran.stderr());
    }
}

#[test]
fn certificates_that_cannot_be_used_come_with_hints() {
    let place = Place::new();
    study(&place.path("my"), 2, 1.0);
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
    let made = made.expect("because the name is one");
    place.write("server.cert.pem", made.cert.pem());
    place.write("server.key.pem", made.signing_key.serialize_pem());
    let other = rcgen::KeyPair::generate().expect("because there are random numbers");
    place.write("other.key.pem", other.serialize_pem());
    for (certificate, key, what, hint) in [
        ("no.pem", "server.key.pem", "there is no file `no.pem`", "check the path"),
        ("my", "server.key.pem", "`my` is a folder", "name the file in it"),
        ("server.key.pem", "server.key.pem", "holds no certificate", "was the key named"),
        ("server.cert.pem", "my/study.toml", "cannot be read as PEM", "must not have a password"),
        (
            "server.cert.pem",
            "other.key.pem",
            "do not fit together",
            "the certificate was made with",
        ),
    ] {
        let ran = place.run(&["serve", "my", "--tls-cert", certificate, "--tls-key", key]);
        assert_eq!(ran.code(), 2, "{}", ran.all());
        let said = ran.stderr();
        assert!(said.contains(what) && said.contains(hint), "{said}");
    }
}

/// What `mohs serve` would refuse, `mohs check` refuses too, prepared or not.
#[test]
fn check_refuses_what_serve_would_refuse() {
    let place = Place::new();
    place.run(&["init", "flash", "my", "--world", "16", "--size", "40"]).ok();
    let good = place.read("my/study.toml");
    let labels = good.lines().find(|line| line.starts_with("labels =")).expect("labels").to_owned();
    let cases = [
        (good.replace("# consent =", "consent ="), "consent.txt"),
        (good.replace("# debrief =", "debrief ="), "debrief.txt"),
        (good.replace(&labels, "labels = [\"one thing\"]"), "at least 2 are needed"),
        (good.replace(&labels, "labels = [\"one\", \"two\"]"), "is not among the `labels`"),
    ];
    for is_prepared in [false, true] {
        if is_prepared {
            place.write("my/study.toml", &good);
            place.run(&["prepare", "my"]).ok();
        }
        for (text, words) in &cases {
            place.write("my/study.toml", text);
            let checked = place.run(&["check", "my"]);
            assert_ne!(checked.code(), 0, "{words}");
            assert!(checked.stderr().contains(words), "{}", checked.stderr());
            let served = place.run(&["serve", "my"]);
            assert_eq!(served.code(), checked.code(), "{words}");
            assert!(served.stderr().contains(words), "{}", served.stderr());
        }
    }
    place.write("my/study.toml", &good);
    place.run(&["check", "my"]).ok();
}

#[test]
fn exposures_that_usual_screens_cannot_show_are_named() {
    let place = Place::new();
    place.run(&["init", "flash", "my", "--world", "16", "--size", "40"]).ok();
    assert!(!place.run(&["check", "my"]).ok().stderr().contains("warning"));
    let text = place.read("my/study.toml");
    place.write("my/study.toml", text.replace("[17, 50,", "[17, 40,"));
    let said = place.run(&["check", "my"]).ok().stderr();
    assert!(said.contains("no screen of 60 Hz can show 40 ms within 10 %"), "{said}");
    assert!(said.contains("the nearest it can are 33.3 or 50.0 ms"), "{said}");
}

#[test]
fn a_study_without_a_name_and_one_with_a_strange_id_are_refused() {
    let place = Place::new();
    study(&place.path("my"), 2, 1.0);
    let good = place.read("my/study.toml");
    for (text, key) in [
        (good.replace("name = \"My study\"", "name = \" \""), "name"),
        (good.replace("task =", "id = \"My Id\"\ntask ="), "id"),
    ] {
        place.write("my/study.toml", text);
        let ran = place.run(&["serve", "my"]);
        assert_eq!(ran.code(), 2, "{}", ran.all());
        assert!(ran.stderr().contains(&format!("`{key}`")), "{}", ran.stderr());
    }
}
