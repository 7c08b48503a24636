//! Data out of the store, as scoring reads them.

use mohs_data::format::{ReadOptions, read_all};
use mohs_data::{Comparison, Seed, Task, Trial};
use mohs_serve::bots::Crowd;
use mohs_serve::export;
use mohs_serve::token::sha256;

use crate::server::TestServer;

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
    let server = with_people(Task::Flash, 3).await;
    for ending in ["csv", "parquet"] {
        let path = server.folder.path().join(format!("trials.{ending}"));
        let written = path.clone();
        let write = move |tx: &mut dyn mohs_serve::store::connection::Connection| {
            Ok(export::write_table(tx, "study", Task::Flash, &written))
        };
        let written = server.app.store.read(write).await.unwrap().unwrap();
        let trials: Vec<Trial> = read_all(&path, &ReadOptions::default()).unwrap();
        assert_eq!((written.n, trials.len()), (18, 18));
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
