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
        bot.agree().await.expect("stored");
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
        bot.agree().await.expect("stored");
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
fn a_study_with_another_name_is_refused_beside_its_data_and_exported_by_its_id() {
    let place = Place::new();
    study(&place.path("my"), 20, 1.0);
    one_participant(&place);
    let text = place.read("my/study.toml");
    let renamed = text.replace("My study", "Crash 2");
    place.write("my/study.toml", &renamed);
    insta::assert_snapshot!(place.run(&["serve", "my"]).all(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: the study's database has data of `my-study`, and none of `crash-2`, as the study is called in addresses now

    hint: write `id = "my-study"` into study.toml to go on with it: then `name` is free to change; for a new study beside it, write `id = "crash-2"`, or name another database with --db
    "#);
    // What is in the database is exported under whatever name.
    let export = ["export", "my", "--to", "sessions", "-o", "s.csv"];
    assert!(place.run(&export).ok().stderr().contains("(1 sessions)"));
    // Another study beside it, which is meant; then each is exported by its id.
    place.write("my/study.toml", renamed.replace("task =", "id = \"crash\"\ntask ="));
    let mut served = Served::start_as(&place, "crash");
    served.child.kill().expect("because it runs");
    served.child.wait().expect("because it was killed");
    assert!(place.run(&export).ok().stderr().contains("(0 sessions)"));
    place.write("my/study.toml", &text);
    assert!(place.run(&export).ok().stderr().contains("(1 sessions)"));
    place.write("my/study.toml", text.replace("My study", "nobody"));
    let ran = place.run(&export);
    assert_eq!(ran.code(), 2);
    assert!(
        ran.stderr().contains("choose one with --study NAME: crash, my-study"),
        "{}",
        ran.all()
    );
}

#[test]
fn an_export_never_takes_the_place_of_what_a_study_is_made_of() {
    let place = Place::new();
    place.run(&["init", "rate", "my", "--world", "16", "--size", "40"]).ok();
    place.run(&["prepare", "my"]).ok();
    place.write("my/trials.csv", "old");
    place.write("trials.csv", "old");
    let mut served = Served::start_as(&place, "my");
    served.child.kill().expect("because it runs");
    served.child.wait().expect("because it was killed");
    let mut found = Vec::new();
    files_below(&place.path("my"), &mut found);
    let before: Vec<Vec<u8>> =
        found.iter().map(|path| std::fs::read(path).expect("a file")).collect();
    for output in found.iter().filter(|path| !path.ends_with("trials.csv")) {
        let output = output.to_string_lossy();
        let from = ["my", "sqlite:my/mohs.db"];
        for to in
            ["csv", "jsonl"].into_iter().filter(|to| *to == "jsonl" || output.ends_with("csv"))
        {
            for from in from {
                let ran = place.run(&["export", from, "--to", to, "--output", &output]);
                assert_eq!(ran.code(), 2, "{output}: {}", ran.all());
                assert!(ran.stderr().contains("should be a new file"), "{}", ran.all());
            }
        }
    }
    for (path, before) in found.iter().zip(&before) {
        assert_eq!(&std::fs::read(path).expect("a file"), before, "{}", path.display());
    }
    // Trials are made again by every export.
    place.run(&["export", "my", "--to", "csv", "--output", "my/trials.csv"]).ok();
}

/// Refused after its design was looked at.
const NO_DATABASE: [&str; 2] = ["--db", "sqlite::memory:"];

#[test]
fn blocks_and_exposures_that_are_less_than_they_say_are_warned_of() {
    let place = Place::new();
    for (task, before, after, warning) in [
        (
            "flash",
            "[17, 50,",
            "[17, 50, 51,",
            "warning: 50 and 51 ms are the same 3 frames on a screen of 60 Hz",
        ),
        (
            "beep",
            "trials_per_block = 3",
            "trials_per_block = 210",
            "warning: beep.trials_per_block is 210, but there are 16 stimuli",
        ),
        (
            "beep",
            "gate_trials = 7",
            "gate_trials = 16",
            "warning: beep.gate_trials is 16, but a participant has 15 timed trials",
        ),
    ] {
        let file = format!("{task}/study.toml");
        if place.path(&file).exists() {
            std::fs::remove_dir_all(place.path(task)).expect("because it is ours");
        }
        place.run(&["init", task, task, "--world", "16", "--size", "40"]).ok();
        assert!(!place.run(&["check", task]).ok().stderr().contains("warning"));
        let text = place.read(&file);
        assert!(text.contains(before), "{text}");
        place.write(&file, text.replace(before, after));
        let checked = place.run(&["check", task]).ok().stderr();
        assert!(checked.contains(warning), "{checked}");
        let served = place.run(&[["serve", task], NO_DATABASE].concat()).stderr();
        assert!(served.contains(warning), "{served}");
    }
}

#[test]
fn whoever_listens_on_all_addresses_is_told_to_name_one() {
    let place = Place::new();
    study(&place.path("my"), 2, 1.0);
    for (more, is_told) in [(vec![], true), (vec!["--public-url", "http://localhost:80/"], false)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mohs"));
        command.args(["serve", "my", "--bind", "0.0.0.0:0"]).args(more);
        command.current_dir(place.path("")).stderr(Stdio::piped());
        let mut child = command.spawn().expect("because it was built");
        let mut lines = BufReader::new(child.stderr.take().expect("because it is piped")).lines();
        let mut said = Vec::new();
        while !said.last().is_some_and(|line: &String| line.contains("stop with Ctrl-C")) {
            said.push(lines.next().expect("because a server speaks").expect("because it is text"));
        }
        if is_told {
            let hint = lines.next().expect("because a server speaks").expect("because it is text");
            assert!(hint.contains("--public-url http://lab.example.org:"), "{hint}");
        } else {
            assert!(
                said.iter().any(|line| line.contains("http://localhost/s/my-study")),
                "{said:?}"
            );
        }
        child.kill().expect("because it runs");
        child.wait().expect("because it was killed");
    }
}

#[test]
fn databases_that_cannot_be_opened_come_with_hints() {
    let place = Place::new();
    study(&place.path("my"), 2, 1.0);
    place.write("text.db", "this is a letter to a friend, and no database at all".repeat(20));
    let mail = rusqlite::Connection::open(place.path("mail.db")).expect("because it is new");
    mail.execute_batch("create table study (subject text)").expect("because it is empty");
    for (db, code, words) in [
        ("study.db", 2, "write sqlite:study.db"),
        ("mysql://x", 2, "e.g. sqlite:study.db or postgres://"),
        ("sqlite:my", 2, "name a file in it: sqlite:my/mohs.db"),
        ("sqlite::memory:", 2, "data in memory would be lost with the server"),
        ("sqlite:/dev/null", 2, "it is a device or a pipe, not a file"),
        ("sqlite:nowhere/study.db", 2, "there is no folder nowhere"),
        ("sqlite:text.db", 2, "name a database of mohs"),
        ("sqlite:mail.db", 2, "it holds tables of another program"),
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

/// A database on a disk that cannot be written is read, and a server says why it does not start.
#[cfg(unix)]
#[test]
fn a_database_that_cannot_be_written_is_exported_all_the_same() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    study(&place.path("my"), 20, 1.0);
    one_participant(&place);
    let expected = place.run(&["export", "my", "--to", "csv", "-o", "before.csv"]).ok().stderr();
    let set = |mode: u32, file_mode: u32| {
        for (path, mode) in [("my/mohs.db", file_mode), ("my", mode)] {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(place.path(path), permissions).expect("because it is ours");
        }
    };
    set(0o555, 0o444);
    // Root writes everywhere.
    let may_write = std::fs::OpenOptions::new().write(true).open(place.path("my/mohs.db")).is_ok();
    if !may_write {
        let said = place.run(&["export", "my", "--to", "csv", "-o", "after.csv"]).ok().stderr();
        assert_eq!(said.replace("after", "before"), expected);
        assert_eq!(place.read("after.csv"), place.read("before.csv"));
        let ran = place.run(&["serve", "my"]);
        assert_eq!(ran.code(), 3, "{}", ran.all());
        let said = ran.stderr();
        assert!(
            said.contains("it cannot be written") && said.contains("must be writable"),
            "{said}"
        );
    }
    set(0o755, 0o644);
}

#[test]
fn a_start_that_is_refused_leaves_no_database_behind() {
    let place = Place::new();
    study(&place.path("a"), 2, 1.0);
    study(&place.path("b"), 2, 1.0);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("because there are ports");
    let bind = taken.local_addr().expect("because it listens").to_string();
    let free = "127.0.0.1:0";
    for (args, words) in [
        (vec!["a", "--bind", &bind], "cannot listen on"),
        (vec!["a", "--bind", &bind, "--db", "sqlite:new.db"], "cannot listen on"),
        (vec!["a", "b", "--bind", free, "--db", "sqlite:new.db"], "two studies are called"),
    ] {
        let ran = place.run(&[&["serve"], args.as_slice()].concat());
        assert_ne!(ran.code(), 0, "{}", ran.all());
        assert!(ran.stderr().contains(words), "{}", ran.stderr());
        for file in ["a/mohs.db", "a/mohs.db-wal", "new.db", "new.db-wal"] {
            assert!(!place.path(file).exists(), "{file}: {words}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_server_that_is_stopped_leaves_no_log_beside_its_database() {
    let place = Place::new();
    study(&place.path("my"), 20, 1.0);
    let mut served = Served::start(&place);
    assert!(place.path("my/mohs.db-wal").exists());
    let stop = Command::new("kill").arg(served.child.id().to_string()).status();
    assert!(stop.expect("because there is kill").success());
    assert!(served.child.wait().expect("because it is ours").success());
    assert!(place.path("my/mohs.db").exists());
    for file in ["my/mohs.db-wal", "my/mohs.db-shm"] {
        assert!(!place.path(file).exists(), "{file}");
    }
}

/// Consent and debrief: what is wrong with the file, and that it is the caller's to mend.
#[cfg(unix)]
#[test]
fn texts_are_small_files_in_utf_8() {
    let place = Place::new();
    study(&place.path("my"), 2, 1.0);
    let good = place.read("my/study.toml");
    place.write("my/latin.txt", b"Einverst\xe4ndnis");
    place.write("my/long.txt", "word ".repeat(200_001));
    for (file, words) in [
        ("latin.txt", "save the file as UTF-8"),
        ("long.txt", "should be a text file of at most 1 MB, found 1000005 bytes"),
        ("/dev/zero", "should be a text file of at most 1 MB, found a device or a pipe"),
        ("none.txt", "cannot be read"),
    ] {
        for key in ["consent", "debrief"] {
            let text = good.replace("min_age = 18", &format!("{key} = \"{file}\""));
            place.write("my/study.toml", text);
            let ran = place.run(&[["serve", "my"], NO_DATABASE].concat());
            assert_eq!(ran.code(), 2, "{}", ran.all());
            assert!(ran.stderr().contains(words), "{}", ran.stderr());
        }
    }
    place.write("my/marked.txt", "\u{feff}One.\r\n\r\nTwo.");
    place.write("my/study.toml", good.replace("min_age = 18", "consent = \"marked.txt\""));
    let hosted = mohs_serve::hosted::Hosted::read(&place.path("my")).expect("because it is sound");
    assert_eq!(hosted.info.consent, ["One.", "Two."]);
}

#[test]
fn sessions_are_exported_with_their_codes() {
    let place = Place::new();
    study(&place.path("my"), 20, 1.0);
    one_participant(&place);
    let ran = place.run(&["export", "my", "--to", "sessions", "-o", "sessions.csv"]).ok();
    assert!(ran.stderr().contains("written: sessions.csv (1 sessions)"), "{}", ran.stderr());
    let text = place.read("sessions.csv");
    assert!(text.starts_with("session,state,code,"), "{text}");
    assert!(text.lines().nth(1).is_some_and(|line| line.contains(",complete,")), "{text}");
    for (from, to, words) in [
        ("my", "sessions.parquet", "should end in .csv"),
        ("my", "x.sessions", "`x.sessions` should end in .csv"),
        ("sessions.csv", "s.csv", "a file of trials has no completion codes"),
    ] {
        let ran = place.run(&["export", from, "--to", "sessions", "-o", to]);
        assert_eq!(ran.code(), 2, "{}", ran.all());
        assert!(ran.stderr().contains(words), "{}", ran.stderr());
    }
}

#[test]
fn addresses_that_cannot_be_meant_come_with_hints() {
    let place = Place::new();
    study(&place.path("my"), 2, 1.0);
    for (option, value, code, what, hint) in [
        (
            "--public-url",
            "lab.example.org",
            2,
            "found `lab.example.org`",
            "e.g. --public-url https",
        ),
        (
            "--public-url",
            "https://lab.example.org/sub/",
            2,
            "a host without a path behind it, found `https://lab.example.org/sub/`",
            "from the root of its host",
        ),
        ("--public-url", "https://lab.example.org?a=1", 2, "without a path", "from the root"),
        ("--bind", "8080", 2, "an address and a port, found `8080`", "e.g. --bind 127.0.0.1:8080"),
        ("--bind", "http://localhost:8080", 2, "an address and a port", "e.g. --bind 127.0.0.1"),
        ("--bind", "no.such.host.invalid:8080", 2, "a host that is not known", "e.g. --bind"),
        (
            "--bind",
            "192.0.2.1:8080",
            3,
            "cannot listen on 192.0.2.1:8080",
            "does not have that address",
        ),
    ] {
        let ran = place.run(&["serve", "my", option, value]);
        assert_eq!(ran.code(), code, "{}", ran.all());
        let said = ran.stderr();
        assert!(said.contains(what) && said.contains(hint), "{said}");
    }
    // A name is looked up; its port is taken here, so that the server stops by itself.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("because there are ports");
    let port = taken.local_addr().expect("because it listens").port();
    let said = place.run(&["serve", "my", "--bind", &format!("localhost:{port}")]).stderr();
    assert!(!said.contains("--bind should be"), "{said}");
}

#[test]
fn values_of_a_study_that_cannot_be_meant_are_named() {
    let place = Place::new();
    study(&place.path("my"), 2, 1.0);
    let good = place.read("my/study.toml");
    let cases = [
        (
            good.replace("trials_per_participant = 8", "trials_per_participant = -3"),
            "integer `-3`, expected a whole number, 0 or more",
        ),
        (good.replace("min_age = 18", "min_age = 180"), "an age of 0 to 120 years, found `180`"),
        (
            good.replace("min_age = 18", "completion_url = \"javascript:alert(1)\""),
            "`page.completion_url` should be an address with http:// or https://",
        ),
        (
            good.replace("min_age = 18", "completion_code = \"a b\""),
            "1 to 60 letters, digits, hyphens and underscores",
        ),
        (
            good.replace("labels = []", "labels = [\"\", \"cat\"]"),
            "labels that are not empty, found `\"\"`",
        ),
        (
            good.replace("labels = []", "labels = [\"cat\", \"dog\", \" cat\"]"),
            "labels that differ in more than blanks, found `\"cat\" and \" cat\"`",
        ),
        (
            good.replace("labels = []", "labels = [\"cat\", \"mug\"]"),
            "`dog`, the label of 1 stimulus, is not among the `labels` of the study",
        ),
        (
            good.replace("exposures_ms = [50.0, 250.0]", "exposures_ms = [7, 25]"),
            "a screen of 60 Hz can show none of the exposures 7, 25 ms",
        ),
    ];
    for (text, words) in cases {
        assert_ne!(text, good, "{words}");
        place.write("my/study.toml", text);
        let ran = place.run(&["serve", "my"]);
        assert_eq!(ran.code(), 2, "{}", ran.all());
        assert!(ran.stderr().contains(words), "{}", ran.stderr());
    }
}

#[test]
fn a_table_that_is_out_of_date_is_said_to_be_where_and_how() {
    let place = Place::new();
    place.run(&["init", "flash", "my", "--world", "16", "--size", "40"]).ok();
    place.run(&["prepare", "my"]).ok();
    let study = place.read("my/study.toml");
    let table = place.read("my/prepared.csv");
    let line = table.lines().nth(3).expect("a row").to_owned();
    place.write("my/prepared.csv", table.replace(&format!("\n{line}"), ""));
    let said = place.run(&["check", "my"]).stderr();
    assert!(said.contains("16 rows should stand in it, found 15"), "{said}");
    place.write("my/prepared.csv", &table);
    // Pictures follow each other so fast that they flash: the table lacks that, and it is refused.
    let fast =
        study.replace("gap_ms = 500", "gap_ms = 0").replace("fixation_ms = 500", "fixation_ms = 1");
    place.write("my/study.toml", fast.replace("mask_ms = 500", "mask_ms = 17"));
    let said = place.run(&["check", "my"]).stderr();
    assert!(
        said.contains("rows differ; of `") && said.contains("its `flashes` should be"),
        "{said}"
    );
    assert!(said.contains("the study should flash at most 3 times in any second"), "{said}");
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

#[test]
fn a_new_study_begins_with_one_sentence() {
    let place = Place::new();
    for task in ["flash", "beep", "pairs", "rate"] {
        place.run(&["init", task, task, "--world", "16", "--size", "40"]).ok();
        let text = place.read(&format!("{task}/study.toml"));
        let first = text.lines().next().unwrap_or_default();
        assert!(first.ends_with(['.', '?']) && !first.ends_with("?."), "{first}");
    }
}
