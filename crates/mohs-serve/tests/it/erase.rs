//! What is deleted is gone from the files, too. SQLite only.

use std::path::Path;
use std::time::Duration;

use mohs_data::Task;
use mohs_serve::bots::{Bot, Deed, InProcess};
use mohs_serve::store::Place;
use mohs_serve::wire::{Block, PlannedTrial};

use crate::server::{TestServer, first_option};

async fn start() -> TestServer {
    TestServer::start(Task::Rate, (60, 3), |study| study.rate.participants_per_stimulus = 20).await
}

/// Returns which of these words stand in the database's files.
fn found(path: &Path, words: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for ending in ["", "-wal"] {
        let file = format!("{}{ending}", path.display());
        let bytes = std::fs::read(&file).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let stand = words.iter().filter(|word| text.contains(*word));
        found.extend(stand.map(|word| format!("{word} in {file}")));
    }
    found
}

/// Waits until none of these words stands in the files.
async fn are_gone(path: &Path, words: &[String]) -> bool {
    for _ in 0..100 {
        if found(path, words).is_empty() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

/// Does a whole session; returns it with the words that are its own.
async fn took_part(server: &TestServer, id: &str) -> (Bot<InProcess>, Vec<String>) {
    let mut bot = server.join(id).await;
    let mut words = vec![bot.joined.session.clone()];
    let mut answers = |_: &Block, trial: &PlannedTrial| {
        words.push(trial.trial.clone());
        Deed::Answer { answer: first_option(trial), extra_frames: 0 }
    };
    let code = bot.take_part(&mut answers).await.unwrap().code;
    words.extend(code);
    (bot, words)
}

async fn many(server: &TestServer) -> Vec<(Bot<InProcess>, Vec<String>)> {
    let mut people = Vec::new();
    for idx in 0..8 {
        people.push(took_part(server, &format!("p{idx}")).await);
    }
    people
}

#[tokio::test]
async fn what_was_withdrawn_is_nowhere_in_the_files() {
    let server = start().await;
    let Place::Sqlite(path) = server.place.clone() else { return };
    let people = many(&server).await;
    let (gone, stay) = people.split_at(4);
    for (bot, words) in gone {
        assert!(!found(&path, words).is_empty());
        bot.withdraw().await.unwrap();
    }
    for (_, words) in gone {
        assert!(are_gone(&path, words).await, "{:?}", found(&path, words));
    }
    for (_, words) in stay {
        assert!(!found(&path, words).is_empty());
    }
}

#[tokio::test]
async fn who_reads_meanwhile_only_delays_it_and_nobody_waits_for_them() {
    let server = start().await;
    let Place::Sqlite(path) = server.place.clone() else { return };
    let people = many(&server).await;
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("begin; select count(*) from trial").unwrap();
    let n: i64 = reader.query_row("select count(*) from event", (), |row| row.get(0)).unwrap();
    assert!(0 < n);
    let (bot, words) = &people[3];
    bot.withdraw().await.unwrap();
    let started = std::time::Instant::now();
    took_part(&server, "while").await;
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert!(!found(&path, words).is_empty());
    reader.execute_batch("commit").unwrap();
    assert!(are_gone(&path, words).await, "{:?}", found(&path, words));
}

#[tokio::test]
async fn a_stop_leaves_the_file_alone() {
    let server = start().await;
    let Place::Sqlite(path) = server.place.clone() else { return };
    let people = many(&server).await;
    people[0].0.withdraw().await.unwrap();
    let words = people[0].1.clone();
    let TestServer { app, folder, transport, .. } = server;
    drop(people);
    drop((app, transport));
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap()).collect();
    let left: Vec<_> = left.iter().map(|it| it.file_name()).collect();
    let logs = left.iter().filter(|name| name.to_string_lossy().contains("mohs.db-")).count();
    assert_eq!(logs, 0, "{left:?}");
    assert_eq!(found(&path, &words), Vec::<String>::new());
}

/// As one that was made before anything was overwritten.
#[tokio::test]
async fn what_an_older_version_deleted_goes_when_the_file_is_brought_up_to_date() {
    let server = start().await;
    let Place::Sqlite(path) = server.place.clone() else { return };
    let words = took_part(&server, "p1").await.1;
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(
        "pragma secure_delete = off; pragma busy_timeout = 5000; delete from event; \
         delete from trial; delete from session; delete from epoch; \
         alter table epoch drop column root; alter table epoch drop column handed_from; \
         alter table epoch drop column handed_through; delete from migration where 6 <= number; \
         pragma wal_checkpoint(truncate)",
    )
    .unwrap();
    drop(old);
    let TestServer { app, transport, folder, .. } = server;
    drop((app, transport));
    assert!(!found(&path, &words).is_empty());
    drop(mohs_serve::store::Store::open(&Place::Sqlite(path.clone())).unwrap());
    assert_eq!(found(&path, &words), Vec::<String>::new());
    drop(folder);
}
