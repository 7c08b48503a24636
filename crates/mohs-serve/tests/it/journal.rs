//! Submissions that are on disk and not in their tables yet: nobody may notice, whatever happens.
//! Postgres has no journal; there the same must hold all the more.

use mohs_data::Task;
use mohs_serve::bots::{Bot, InProcess};
use mohs_serve::store::StoreError;
use mohs_serve::store::connection::Connection;
use mohs_serve::wire::{Event, PlannedTrial};

use crate::server::{TestServer, first_option};

/// Returns how many rows of a table there are now, without having anything settled; none without it.
async fn n_rows(server: &TestServer, table: &str) -> Option<i64> {
    let sql = format!("select count(*) from {table}");
    let n = server.app.store.peek(move |tx| tx.first(&sql, &[], |row| row.whole(0))).await;
    n.ok().flatten()
}

/// Returns how many answered trials are in the table once everything is settled.
async fn n_answered(server: &TestServer) -> i64 {
    let sql = "select count(*) from trial where state = 'answered' and response is not null";
    let n = server.app.store.read(move |tx| tx.first(sql, &[], |row| row.whole(0))).await;
    n.unwrap().unwrap()
}

/// Begins and answers a trial; returns the events.
async fn do_trial(bot: &mut Bot<InProcess>, trial: &PlannedTrial) -> Vec<Event> {
    bot.start(trial);
    bot.answer(trial, &first_option(trial), 0);
    let events = bot.outbox().to_vec();
    let ack = bot.flush().await.unwrap();
    assert_eq!((ack.acked_through, ack.also_stored.len()), (bot.last_seq(), 0));
    events
}

/// Joins, gets a block and answers its first trial, which is in the journal then.
async fn begun(server: &TestServer) -> (Bot<InProcess>, Vec<PlannedTrial>) {
    let mut bot = server.join("p1").await;
    let trials = bot.block().await.unwrap().block.unwrap().trials;
    do_trial(&mut bot, &trials[0]).await;
    if std::env::var("MOHS_TEST_POSTGRES").is_err() {
        assert_eq!(n_rows(server, "journal").await, Some(1));
        // The consent was settled when the block was planned.
        assert_eq!(n_rows(server, "event").await, Some(1));
    }
    (bot, trials)
}

#[tokio::test]
async fn whoever_reads_finds_what_was_acked() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let (mut bot, trials) = begun(&server).await;
    assert_eq!(n_answered(&server).await, 1);
    assert_eq!(n_rows(&server, "event").await, Some(3));
    do_trial(&mut bot, &trials[1]).await;
    assert_eq!(server.cells().await.iter().map(|(done, _)| done).sum::<i64>(), 2);
}

#[tokio::test]
async fn a_second_server_goes_on_and_the_first_notices() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let (bot, trials) = begun(&server).await;
    // As after a crash: nothing was settled before.
    let other = server.another(&["study"]).await;
    let mut on_other = bot.over(other);
    do_trial(&mut on_other, &trials[1]).await;
    let mut on_first = on_other.over(server.transport.clone());
    do_trial(&mut on_first, &trials[2]).await;
    let other = server.another(&["study"]).await;
    let mut on_other = on_first.over(other);
    let left = on_other.block().await.unwrap();
    assert_eq!(left.block.unwrap().trials, trials[3..]);
    do_trial(&mut on_other, &trials[3]).await;
    assert_eq!(n_answered(&server).await, 4);
    assert_eq!(server.cells().await.iter().map(|(done, _)| done).sum::<i64>(), 4);
}

#[tokio::test]
async fn a_transaction_that_is_undone_takes_nothing_along() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let (mut bot, trials) = begun(&server).await;
    let fail = |_: &mut dyn Connection| -> Result<(), StoreError> { Err(StoreError::Statement) };
    assert!(server.app.store.write(fail).await.is_err());
    let panic = |_: &mut dyn Connection| -> Result<(), StoreError> { panic!("a bug") };
    assert!(server.app.store.write(panic).await.is_err());
    let events = do_trial(&mut bot, &trials[1]).await;
    // The same once more is the same.
    let again = bot.send(events).await.unwrap();
    assert_eq!((again.acked_through, again.also_stored.len()), (bot.last_seq(), 0));
    assert_eq!(n_answered(&server).await, 2);
    assert_eq!(n_rows(&server, "event").await, Some(5));
    assert_eq!(server.cells().await.iter().map(|(done, _)| done).sum::<i64>(), 2);
}

#[tokio::test]
async fn who_withdraws_is_gone_from_the_journal_too() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let (bot, _) = begun(&server).await;
    assert!(bot.withdraw().await.unwrap().is_deleted);
    assert_eq!(n_rows(&server, "journal").await.unwrap_or(0), 0);
    assert_eq!(n_answered(&server).await, 0);
}

#[tokio::test]
async fn an_idle_session_is_settled_by_itself() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let (_bot, _) = begun(&server).await;
    for _ in 0..200 {
        if n_rows(&server, "event").await == Some(3) && n_rows(&server, "journal").await != Some(1)
        {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the journal is not emptied");
}
