//! Chains of events: in any order, any number of times, never two for one place.

use mohs_data::Task;
use mohs_serve::bots::Bot;
use mohs_serve::bots::InProcess;
use mohs_serve::token::sha256;
use mohs_serve::wire::{Event, EventBody};

use crate::server::{TestServer, first_option};

async fn with_block(server: &TestServer) -> Bot<InProcess> {
    let mut bot = server.join("p1").await;
    let block = bot.block().await.unwrap().block.unwrap();
    for trial in &block.trials {
        bot.start(trial);
        bot.answer(trial, &first_option(trial), 0);
    }
    bot
}

#[tokio::test]
async fn events_in_any_order_and_twice_are_stored_once() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let bot = with_block(&server).await;
    let events = bot.outbox().to_vec();
    let ack =
        bot.send(vec![events[5].clone(), events[3].clone(), events[5].clone()]).await.unwrap();
    assert_eq!((ack.acked_through, ack.also_stored), (0, vec![4, 6]));
    let ack = bot.send(events.iter().rev().cloned().collect()).await.unwrap();
    assert_eq!((ack.acked_through, ack.also_stored.len()), (8, 0));
    let again = bot.send(events).await.unwrap();
    assert_eq!(again, ack);
    assert_eq!(server.cells().await.iter().map(|(done, _)| done).sum::<i64>(), 4);
}

#[tokio::test]
async fn another_event_in_the_same_place_is_refused_and_both_are_kept() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let mut bot = server.join("p1").await;
    bot.page("consent");
    bot.flush().await.unwrap();
    let change = "hidden".into();
    let body = serde_json::to_string(&EventBody::Context { at_ms: 2.0, change }).unwrap();
    let first = sha256(&[&format!("{}/1", bot.joined.session)]);
    let other = Event { seq: 1, hash: sha256(&[&first, &body]), body };
    let error = bot.send(vec![other]).await.unwrap_err();
    assert_eq!(error.code(), "event_conflict");
    let conflicts =
        server.app.store.read(|tx| mohs_serve::store::event::conflicts(tx, "study")).await.unwrap();
    assert_eq!(conflicts, [(bot.joined.session.clone(), 1, 1)]);
}

#[tokio::test]
async fn an_event_that_does_not_follow_is_refused_and_leaves_nothing() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let mut bot = server.join("p1").await;
    let event = bot.push(&EventBody::Context { at_ms: 1.0, change: "blur".into() });
    let forged = Event { hash: "0".repeat(64), ..event };
    let error = bot.send(vec![forged]).await.unwrap_err();
    assert_eq!(error.code(), "event_unchained");
    assert_eq!(bot.flush().await.unwrap().acked_through, 1);
}

#[tokio::test]
async fn events_are_never_edited() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let mut bot = server.join("p1").await;
    bot.page("consent");
    bot.flush().await.unwrap();
    let edit = |tx: &mut dyn mohs_serve::store::connection::Connection| {
        tx.execute("update event set body = $1", &["{}".into()])
    };
    let error = server.app.store.write(edit).await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap();
    let text = format!("{cause:?}");
    assert!(text.contains("events are never edited"), "{text}");
}
