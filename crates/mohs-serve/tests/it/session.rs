//! Whole sessions, and sessions that break.

use mohs_data::Task;
use mohs_serve::bots::{Bot, Deed, join_request};
use mohs_serve::wire::{Block, PlannedTrial, SessionState};

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
        let again = server.join("p1").await.joined;
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
    assert_eq!(end.missing, [1, 2, 3, 4, 5]);
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
