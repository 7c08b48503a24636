//! What the recruiter's id alone is good for: going on with a session that is open.

use mohs_data::Task;
use mohs_serve::bots::{self, Bot, Deed, InProcess, join_request};
use mohs_serve::wire::{Block, PlannedTrial, SessionState};

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
