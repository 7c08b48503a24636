//! Data out of the store, as scoring reads them.

use mohs_data::format::{ReadOptions, read_all};
use mohs_data::{Comparison, Seed, Task, Trial};
use mohs_serve::bots::Crowd;
use mohs_serve::export;
use mohs_serve::token::sha256;

use crate::server::{TestServer, first_option};

async fn with_people(task: Task, n: usize) -> TestServer {
    let server = TestServer::start(task, (24, 3), |_| ()).await;
    let hosted = server.app.studies["study"].clone();
    let crowd = Crowd::new(&hosted, Seed(3)).troubled(0.0, 0.2);
    for idx in 0..n {
        server.join(&format!("p{idx}")).await.take_part(&mut crowd.person(idx)).await.unwrap();
    }
    server
}

#[tokio::test]
async fn trials_are_read_back_with_their_timing() {
    // One trial in five is void: of 72, none at all once in ten million runs.
    let server = with_people(Task::Flash, 12).await;
    for ending in ["csv", "parquet"] {
        let path = server.folder.path().join(format!("trials.{ending}"));
        let written = path.clone();
        let write = move |tx: &mut dyn mohs_serve::store::connection::Connection| {
            Ok(export::write_table(tx, "study", Task::Flash, &written))
        };
        let written = server.app.store.read(write).await.unwrap().unwrap();
        let trials: Vec<Trial> = read_all(&path, &ReadOptions::default()).unwrap();
        assert_eq!((written.n, trials.len()), (72, 72));
        assert!(trials.iter().all(|trial| trial.label.is_some() && trial.rt().is_some()));
        let is_void = |trial: &Trial| trial.extra.get("state") == Some("voided");
        let is_long = |trial: &Trial| trial.timing == Some(mohs_data::TimingVerdict::Long);
        assert_eq!(written.n_void, trials.iter().filter(|trial| is_void(trial)).count());
        assert!(0 < written.n_void);
        assert!(trials.iter().all(|trial| is_void(trial) == is_long(trial)));
        let extra = &trials[0].extra;
        assert!(extra.get("frames_planned").is_some() && extra.get("period_ms").is_some());
    }
}

/// One trial is given up because the page was opened anew, one because nobody came back.
#[tokio::test]
async fn trials_that_were_given_up_are_exported_as_void() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let mut bot = server.join("p1").await;
    let block = bot.block().await.unwrap().block.unwrap();
    bot.start(&block.trials[0]);
    bot.answer(&block.trials[0], &first_option(&block.trials[0]), 0);
    bot.start(&block.trials[1]);
    bot.flush().await.unwrap();
    let mut bot = server.join("p1").await;
    let block_left = bot.block().await.unwrap().block.unwrap();
    assert_eq!(block_left.trials[0], block.trials[2]);
    bot.start(&block.trials[2]);
    bot.flush().await.unwrap();
    server.clock.turn(31 * 60_000);
    server.app.sweep().await.unwrap();
    let path = server.folder.path().join("trials.csv");
    let written = path.clone();
    let write = move |tx: &mut dyn mohs_serve::store::connection::Connection| {
        Ok(export::write_table(tx, "study", Task::Rate, &written))
    };
    let written = server.app.store.read(write).await.unwrap().unwrap();
    assert_eq!((written.n, written.n_void), (3, 2));
    let trials: Vec<Trial> = read_all(&path, &ReadOptions::default()).unwrap();
    let reasons: Vec<&str> = trials.iter().filter_map(|trial| trial.extra.get("reason")).collect();
    assert_eq!(reasons, ["", "reopened", "lapsed"]);
    for void in &trials[1..] {
        assert_eq!(void.timing, Some(mohs_data::TimingVerdict::Unknown));
        assert_eq!((void.onset, void.responded, &void.response), (None, None, &None));
    }
    let rules = mohs_data::ExclusionRules {
        timing: vec![mohs_data::TimingVerdict::Unknown],
        ..Default::default()
    };
    let applied = mohs_score::human::exclusion::apply(&trials, &rules);
    assert_eq!(applied.kept.len(), 1);
}

#[tokio::test]
async fn sessions_are_listed_with_their_codes() {
    let server = with_people(Task::Rate, 2).await;
    server.join("p2").await.end(true).await.unwrap();
    server.join("p3").await;
    let mut request = mohs_serve::bots::join_request(None);
    let until = crate::server::NOON_MS + 1_000;
    request.preview = Some(server.app.secret.preview_token("study", until));
    mohs_serve::bots::Bot::join(server.transport.clone(), "study", &request).await.unwrap();
    let path = server.folder.path().join("sessions.csv");
    let written = path.clone();
    let write = move |tx: &mut dyn mohs_serve::store::connection::Connection| {
        Ok(export::write_sessions(tx, "study", &written))
    };
    assert_eq!(server.app.store.read(write).await.unwrap().unwrap(), 4);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    let head = "session,state,code,n_done,n_good,n_total,joined_at_ms,ended_at_ms";
    assert_eq!(lines.next(), Some(head));
    let mut states = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!((cells.len(), cells[0].len()), (8, 32), "{line}");
        let has_ended = !cells[7].is_empty();
        states.push((cells[1].to_owned(), cells[2].len(), has_ended));
    }
    states.sort();
    let expected =
        [("complete", 10, true), ("complete", 10, true), ("early", 0, true), ("open", 0, false)];
    assert_eq!(states, expected.map(|(state, code, ended)| (state.to_owned(), code, ended)));
}

#[tokio::test]
async fn judgements_are_comparisons() {
    let server = with_people(Task::Pairs, 2).await;
    let path = server.folder.path().join("comparisons.csv");
    let written = path.clone();
    let write = move |tx: &mut dyn mohs_serve::store::connection::Connection| {
        Ok(export::write_table(tx, "study", Task::Pairs, &written))
    };
    let n = server.app.store.read(write).await.unwrap().unwrap().n;
    let comparisons: Vec<Comparison> = read_all(&path, &ReadOptions::default()).unwrap();
    assert_eq!(n, comparisons.len());
    assert!(10 < n);
}

#[tokio::test]
async fn events_can_be_checked_by_their_hashes() {
    let server = with_people(Task::Rate, 1).await;
    let path = server.folder.path().join("events.jsonl");
    let written = path.clone();
    let write = move |tx: &mut dyn mohs_serve::store::connection::Connection| {
        Ok(export::write_events(tx, "study", &written))
    };
    server.app.store.read(write).await.unwrap().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut head = None;
    for (idx, line) in text.lines().enumerate() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let start = format!("{}/{}", event["session"].as_str().unwrap(), event["epoch"]);
        let before = head.unwrap_or_else(|| sha256(&[&start]));
        let hash = sha256(&[&before, event["body"].as_str().unwrap()]);
        assert_eq!(event["hash"], hash, "{idx}");
        assert_eq!(event["seq"], idx + 1);
        head = Some(hash);
    }
    assert!(20 < text.lines().count());
}
