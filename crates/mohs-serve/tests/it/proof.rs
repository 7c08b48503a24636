//! What the recruiter's id alone is good for: going on with a session that is open.

use mohs_data::Task;
use mohs_serve::bots::{self, Bot, Deed, InProcess, join_request};
use mohs_serve::wire::{Block, EventBody, PlannedTrial, SessionState};

use crate::server::{TestServer, first_option};

fn answers(_: &Block, trial: &PlannedTrial) -> Deed {
    Deed::Answer { answer: first_option(trial), extra_frames: 0 }
}

async fn server() -> TestServer {
    TestServer::start(Task::Rate, (24, 3), |study| {
        study.rate.trials_per_participant = 4;
        study.page.completion_url = Some("https://recruiter.example/?cc={code}".into());
    })
    .await
}

/// Answers the first trial of the block.
async fn answer_one(bot: &mut Bot<InProcess>) {
    let block = bot.block().await.unwrap().block.unwrap();
    bot.start(&block.trials[0]);
    bot.answer(&block.trials[0], &first_option(&block.trials[0]), 0);
    bot.flush().await.unwrap();
}

#[tokio::test]
async fn who_knows_the_id_gets_neither_code_nor_token_of_a_session_that_is_over() {
    let server = server().await;
    for is_early in [false, true] {
        let id = format!("p{is_early}");
        let mut bot = server.join(&id).await;
        if is_early {
            answer_one(&mut bot).await;
            assert!(bot.end(true).await.unwrap().code.is_some());
        } else {
            assert!(bot.take_part(&mut answers).await.unwrap().code.is_some());
        }
        let error = server.try_join("study", Some(&id)).await.err().unwrap();
        assert_eq!(error.code(), "session_over");
        let request = join_request(Some(&id));
        let error = bots::welcome(&server.transport, "study", &request).await.unwrap_err();
        assert_eq!(error.code(), "session_over");
        // The browser that did it is shown the code again, and may still withdraw.
        let own = server.resume("study", &bot.joined.token).await.unwrap();
        assert_eq!(own.joined.state, SessionState::Ended);
        assert_eq!(own.joined.code, bot.end(is_early).await.unwrap().code);
        assert!(own.withdraw().await.unwrap().is_deleted);
    }
}

#[tokio::test]
async fn who_came_by_the_id_while_it_was_open_cannot_harm_it() {
    let server = server().await;
    let mut own = server.join("p1").await;
    answer_one(&mut own).await;
    let other = server.try_join("study", Some("p1")).await.unwrap();
    assert_eq!(other.joined.epoch, 2);
    for refused in [other.withdraw().await.err(), other.end(true).await.err()] {
        assert_eq!(refused.unwrap().code(), "proof_missing");
    }
    let mut own = server.resume("study", &own.joined.token).await.unwrap();
    let code = own.take_part(&mut answers).await.unwrap().code;
    assert!(code.is_some());
    // Nor later, with the token of then.
    assert_eq!(other.end(false).await.unwrap_err().code(), "session_over");
    assert_eq!(other.withdraw().await.unwrap_err().code(), "proof_missing");
    let error = server.resume("study", &other.joined.token).await.err().unwrap();
    assert_eq!(error.code(), "session_over");
    assert_eq!(server.resume("study", &own.joined.token).await.unwrap().joined.code, code);
}

#[tokio::test]
async fn who_goes_on_elsewhere_gets_the_code_there_and_the_first_browser_may_delete_all() {
    let server = server().await;
    let mut first = server.join("p1").await;
    answer_one(&mut first).await;
    let mut second = server.join("p1").await;
    let code = second.take_part(&mut answers).await.unwrap().code;
    assert!(code.is_some());
    let again = server.resume("study", &second.joined.token).await.unwrap();
    assert_eq!(again.joined.code, code);
    // An answer of the first browser would go, too.
    assert_eq!(again.withdraw().await.unwrap_err().code(), "proof_missing");
    assert!(first.withdraw().await.unwrap().is_deleted);
}

/// As when the answer to the first `join` was lost, or the first browser could not show the pictures.
#[tokio::test]
async fn who_did_everything_may_stop_and_delete_it_although_another_browser_began() {
    let server = server().await;
    server.join("p1").await;
    let mut second = server.join("p1").await;
    answer_one(&mut second).await;
    let second = server.resume("study", &second.joined.token).await.unwrap();
    assert!(second.end(true).await.unwrap().code.is_some());
    assert!(second.withdraw().await.unwrap().is_deleted);
}

/// How a session stands: state, reason and whether there is a report of each trial, and what is done and
/// promised of all cells.
type Stands = (Vec<(String, Option<String>, bool)>, (i64, i64));

async fn stands(server: &TestServer) -> Stands {
    let sql = "select state, reason, answered_at_ms from trial order by idx";
    let trials = server
        .app
        .store
        .read(move |tx| tx.rows(sql, &[], |row| (row.word(0), row.owned(1), row.int(2).is_some())));
    let trials = trials.await.unwrap();
    let cells = server.cells().await;
    (trials, cells.iter().fold((0, 0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1)))
}

/// Says of all trials of the session, by ids that can be guessed, that they were begun, given up or
/// answered; all of it is stored.
async fn say_of_all(bot: &mut Bot<InProcess>, like: &PlannedTrial, n_trials: u32) {
    let session = bot.joined.session[..26].to_owned();
    for idx in 0..n_trials {
        let trial = PlannedTrial { trial: format!("{session}{idx:06x}"), ..like.clone() };
        if idx.is_multiple_of(2) {
            bot.start(&trial);
        }
        let (at_ms, id) = (1.0, trial.trial.clone());
        bot.push(&EventBody::Abandoned { at_ms, trial: id, reason: "reload".into() });
        bot.answer(&trial, &first_option(&trial), 0);
    }
    assert_eq!(bot.flush().await.unwrap().acked_through, bot.last_seq());
}

#[tokio::test]
async fn who_came_by_the_id_and_was_handed_no_trial_cannot_void_one() {
    let server = TestServer::start(Task::Rate, (24, 3), |study| {
        study.rate.trials_per_participant = 8;
    })
    .await;
    let mut own = server.join("p1").await;
    let trials = own.block().await.unwrap().block.unwrap().trials;
    own.start(&trials[0]);
    own.answer(&trials[0], &first_option(&trials[0]), 0);
    own.start(&trials[1]);
    own.flush().await.unwrap();
    let mut other = server.try_join("study", Some("p1")).await.unwrap();
    let before = stands(&server).await;
    say_of_all(&mut other, &trials[0], 4).await;
    assert_eq!(stands(&server).await, before);
    // What the first browser was handed, it goes on with.
    own.answer(&trials[1], &first_option(&trials[1]), 0);
    own.start(&trials[2]);
    own.flush().await.unwrap();
    let (now, cells) = stands(&server).await;
    assert_eq!((now[1].0.as_str(), now[2].0.as_str(), cells), ("answered", "started", (2, 2)));
    let mut own = server.resume("study", &own.joined.token).await.unwrap();
    assert!(own.take_part(&mut answers).await.unwrap().code.is_some());
    let before = stands(&server).await;
    // One was begun when its browser came back.
    assert_eq!((before.0.len(), before.1), (8, (7, 0)));
    say_of_all(&mut other, &trials[0], 8).await;
    assert_eq!(stands(&server).await, before);
}

/// A page that got its block from an older program, which did not note what it handed out.
#[tokio::test]
async fn a_page_goes_on_while_the_database_is_brought_up_to_date() {
    let server = server().await;
    let other = server.join("p1").await;
    let like = other.block().await.unwrap().block.unwrap().trials[0].clone();
    let own = server.join("p1").await;
    let block = own.block().await.unwrap().block.unwrap();
    let sql = "alter table epoch drop column handed_from; \
               alter table epoch drop column handed_through; \
               delete from migration where number = 7";
    server.app.store.write(move |tx| tx.batch(sql)).await.unwrap();
    let transport = server.another(&["study"]).await;
    let mut own = own.over(transport.clone());
    for trial in &block.trials {
        own.start(trial);
        own.answer(trial, &first_option(trial), 0);
    }
    own.flush().await.unwrap();
    assert!(own.block().await.unwrap().block.is_none());
    assert!(own.end(false).await.unwrap().code.is_some());
    let (trials, cells) = stands(&server).await;
    assert!(trials.iter().all(|(state, _, _)| state == "answered"), "{trials:?}");
    assert_eq!(cells, (4, 0));
    // The other epoch was handed the same.
    let mut other = other.over(transport);
    other.start(&like);
    other.flush().await.unwrap();
    assert_eq!(stands(&server).await.1, (3, 0));
}
