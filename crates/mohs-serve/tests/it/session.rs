//! Whole sessions, and sessions that break.

use mohs_data::Task;
use mohs_serve::bots::{self, Bot, Deed, join_request};
use mohs_serve::wire::{Block, PlannedTrial, SessionState};
use tempfile::TempDir;

use crate::server::{TestServer, first_option};

fn answers(_: &Block, trial: &PlannedTrial) -> Deed {
    Deed::Answer { answer: first_option(trial), extra_frames: 0 }
}

#[tokio::test]
async fn a_participant_does_a_whole_session_of_every_task() {
    for (task, n_trials) in [(Task::Flash, 8), (Task::Beep, 8), (Task::Pairs, 6), (Task::Rate, 6)] {
        let server = TestServer::start(task, (24, 3), |study| {
            study.pairs.trials_per_participant = 6;
            study.rate.trials_per_participant = 6;
        })
        .await;
        let mut bot = server.join("p1").await;
        let ended = bot.take_part(&mut answers).await.unwrap();
        assert_eq!(ended.n_trials, n_trials, "{task:?}");
        assert_eq!(ended.code.as_ref().map(String::len), Some(10), "{task:?}");
        let again = server.resume("study", &bot.joined.token).await.unwrap().joined;
        assert_eq!((again.state, again.epoch, again.code), (SessionState::Ended, 2, ended.code));
    }
}

#[tokio::test]
async fn a_code_is_given_only_when_everything_is_stored() {
    let server = TestServer::start(Task::Rate, (24, 3), |study| {
        study.rate.trials_per_participant = 3;
    })
    .await;
    let mut bot = server.join("p1").await;
    let block = bot.block().await.unwrap().block.unwrap();
    for trial in &block.trials {
        bot.start(trial);
        bot.answer(trial, &first_option(trial), 0);
    }
    let end = bot.end(false).await.unwrap();
    assert_eq!((end.is_complete, end.n_trials_left, end.missing.len()), (false, 3, 6));
    let last = bot.outbox().last().unwrap().clone();
    bot.send(vec![last]).await.unwrap();
    let end = bot.end(false).await.unwrap();
    assert_eq!((end.is_complete, end.n_trials_left, end.code), (false, 2, None));
    assert_eq!(end.missing, [2, 3, 4, 5, 6]);
    bot.flush().await.unwrap();
    let end = bot.end(false).await.unwrap();
    assert!(end.is_complete && end.code.is_some());
    assert_eq!(bot.end(false).await.unwrap(), end);
}

#[tokio::test]
async fn who_comes_back_gets_what_is_left_of_the_block() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let mut bot = server.join("p1").await;
    let block = bot.block().await.unwrap().block.unwrap();
    bot.start(&block.trials[0]);
    bot.answer(&block.trials[0], &first_option(&block.trials[0]), 0);
    bot.start(&block.trials[1]);
    bot.flush().await.unwrap();
    let mut request = join_request(None);
    request.resume = Some(bot.joined.token.clone());
    // Another server on the same database, as after a crash.
    let transport = server.another(&["study"]).await;
    let back = Bot::join(transport, "study", &request).await.unwrap();
    assert_eq!((back.joined.epoch, back.joined.n_done), (2, 2));
    let left = back.block().await.unwrap().block.unwrap();
    assert_eq!(left.trials[..], block.trials[2..]);
    // The old page gets no more trials, but what it still holds is taken after all.
    assert_eq!(bot.block().await.unwrap_err().code(), "epoch_over");
    bot.answer(&block.trials[1], &first_option(&block.trials[1]), 0);
    bot.flush().await.unwrap();
    assert_eq!(server.cells().await.iter().map(|(done, _)| done).sum::<i64>(), 2);
}

#[tokio::test]
async fn before_consent_nothing_is_stored() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let request = join_request(Some("p1"));
    let welcome = bots::welcome(&server.transport, "study", &request).await.unwrap();
    assert!(!welcome.is_known && !welcome.study.labels.is_empty());
    for table in ["event", "trial", "session", "epoch", "conflict"] {
        let sql = format!("select count(*) from {table}");
        let n = server.app.store.read(move |tx| tx.first(&sql, &[], |row| row.whole(0))).await;
        assert_eq!(n.unwrap(), Some(0), "{table}");
    }
    let study = server.app.store.read(|tx| mohs_serve::store::study::find(tx, "study")).await;
    assert_eq!(study.unwrap().unwrap().n_joined, 0);
    let joined = server.join("p1").await.joined;
    assert!(bots::welcome(&server.transport, "study", &request).await.unwrap().is_known);
    let mut resumed = join_request(None);
    resumed.resume = Some(joined.token);
    assert!(bots::welcome(&server.transport, "study", &resumed).await.unwrap().is_known);
}

#[tokio::test]
async fn whoever_has_seen_everything_ends_politely_without_a_code() {
    let folder = TempDir::new().unwrap();
    for (name, task) in [("one", Task::Rate), ("two", Task::Flash)] {
        crate::folder::study(&folder.path().join(name), name, task, (20, 2), |study| {
            study.rate.trials_per_participant = 20;
        });
    }
    let server = TestServer::over(folder, &["one", "two"]).await;
    let mut first = server.try_join("one", Some("p1")).await.unwrap();
    assert_eq!(first.take_part(&mut answers).await.unwrap().n_trials, 20);
    let mut second = server.try_join("two", Some("p1")).await.unwrap();
    let ended = second.take_part(&mut answers).await.unwrap();
    assert_eq!((ended.n_trials, ended.code), (0, None));
    let end = second.end(false).await.unwrap();
    assert_eq!((end.is_complete, end.n_trials_left, end.code), (true, 0, None));
    let again = server.resume("two", &second.joined.token).await.unwrap().joined;
    assert_eq!((again.state, again.code, again.n_total), (SessionState::Ended, None, 0));
    let counts =
        server.app.store.read(|tx| mohs_serve::store::session::n_by_state(tx, "two")).await;
    assert_eq!(counts.unwrap(), [("nothing-left".to_owned(), 1)].into());
}

/// Two pictures are new to them: no practice takes one away.
#[tokio::test]
async fn whoever_has_seen_nearly_everything_gets_what_is_left() {
    let folder = TempDir::new().unwrap();
    for (name, task) in [("one", Task::Rate), ("two", Task::Flash)] {
        crate::folder::study(&folder.path().join(name), name, task, (20, 2), |study| {
            study.rate.trials_per_participant = 18;
        });
    }
    let server = TestServer::over(folder, &["one", "two"]).await;
    let mut first = server.try_join("one", Some("p1")).await.unwrap();
    assert_eq!(first.take_part(&mut answers).await.unwrap().n_trials, 18);
    let mut second = server.try_join("two", Some("p1")).await.unwrap();
    let ended = second.take_part(&mut answers).await.unwrap();
    assert_eq!((ended.n_trials, ended.code.is_some()), (2, true));
}
