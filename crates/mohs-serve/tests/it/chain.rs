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
    assert_eq!((ack.acked_through, ack.also_stored), (1, vec![5, 7]));
    let ack = bot.send(events.iter().rev().cloned().collect()).await.unwrap();
    assert_eq!((ack.acked_through, ack.also_stored.len()), (9, 0));
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
    assert_eq!(bot.flush().await.unwrap().acked_through, 2);
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

/// How a trial stands in the end: state, reason, epoch, and whether there is a report.
type Stands = (String, Option<String>, Option<i64>, bool);

/// Two devices begin the same trials; what they say arrives in this order, each event twice. Returns how
/// the trials stand, and what is done and promised of all cells.
async fn told(order: &[(usize, usize)]) -> (Vec<Stands>, (i64, i64)) {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let mut first = server.join("p1").await;
    let block = first.block().await.unwrap().block.unwrap();
    let mut second = server.join("p1").await;
    assert_eq!(second.block().await.unwrap().block.unwrap().trials, block.trials);
    let shown = &block.trials[..3];
    // Both answer the first; one begins and the other answers the second; the third is on one alone.
    first.start(&shown[0]);
    first.answer(&shown[0], &first_option(&shown[0]), 0);
    first.start(&shown[1]);
    second.start(&shown[0]);
    second.answer(&shown[0], &first_option(&shown[0]), 0);
    second.start(&shown[1]);
    second.answer(&shown[1], &first_option(&shown[1]), 0);
    second.start(&shown[2]);
    second.answer(&shown[2], &first_option(&shown[2]), 0);
    let bots = [first, second];
    for (device, event) in order {
        let bot = &bots[*device];
        let event = bot.outbox()[*event].clone();
        let ack = bot.send(vec![event.clone(), event.clone()]).await.unwrap();
        assert_eq!(ack.is_elsewhere, *device == 0);
        bot.send(vec![event]).await.unwrap();
    }
    let ids: Vec<String> = shown.iter().map(|trial| trial.trial.clone()).collect();
    let stand = server.app.store.read(move |tx| {
        let sql = "select state, reason, epoch, answered_at_ms from trial where trial = $1";
        let stand = ids.iter().map(|id| {
            tx.first(sql, &[id.into()], |row| {
                (row.word(0), row.owned(1), row.int(2), row.int(3).is_some())
            })
        });
        stand.collect::<Result<Vec<_>, _>>()
    });
    let stand = stand.await.unwrap().into_iter().flatten().collect();
    let cells = server.cells().await;
    let sum = cells.iter().fold((0, 0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1));
    let session = bots[0].joined.session.clone();
    let find = move |tx: &mut dyn mohs_serve::store::connection::Connection| {
        mohs_serve::store::session::find(tx, &session)
    };
    assert_eq!(server.app.store.read(find).await.unwrap().unwrap().n_done, 3);
    (stand, sum)
}

#[tokio::test]
async fn a_trial_that_two_devices_began_is_void_in_whatever_order_they_tell() {
    let in_order: Vec<(usize, usize)> =
        (0..3).map(|event| (0, event)).chain((0..6).map(|event| (1, event))).collect();
    let twice = ("voided".to_owned(), Some("begun-twice".to_owned()), Some(1), false);
    let expected = vec![twice.clone(), twice, ("answered".into(), None, Some(2), true)];
    for seed in 0..6 {
        let mut order = in_order.clone();
        match seed {
            0 => {}
            1 => order.reverse(),
            2 => order.rotate_left(3),
            _ => mohs_score::draw::Draw::new(mohs_data::Seed(seed), &[]).shuffle(&mut order),
        }
        // The block has six trials; three of them are still promised.
        let (stand, cells) = told(&order).await;
        assert_eq!((&stand, cells), (&expected, (1, 1)), "{order:?}");
    }
}
