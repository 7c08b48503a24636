//! Who gets what: balance, leases, never twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mohs_data::{Allocation, Millis, Seed, Task};
use mohs_serve::bots::{Bot, Crowd, join_request, screen};
use mohs_serve::hosted::Hosted;
use mohs_serve::wire::PlannedTrial;
use tempfile::TempDir;

use crate::server::{TestServer, first_option};

/// Three in ten leave, one trial in twenty is void, and people come at the same time: in the end
/// every cell has what it wants.
#[tokio::test]
async fn cells_are_even_in_the_end_in_spite_of_drop_out_and_voids() {
    let server = TestServer::start(Task::Flash, (40, 5), |study| {
        study.flash.participants_per_cell = 3;
        study.flash.trials_per_participant = 20;
        study.page.trials_between_breaks = 10;
    })
    .await;
    let hosted = Arc::clone(&server.app.studies["study"]);
    let crowd = Crowd::new(&hosted, Seed(11)).troubled(0.3, 0.05);
    let mut n_people = 0;
    'all: loop {
        // Ten at a time, then half an hour later the next ten.
        let mut together = Vec::new();
        for _ in 0..10 {
            n_people += 1;
            match server.try_join("study", Some(&format!("p{n_people}"))).await {
                Ok(bot) => together.push((n_people, bot)),
                Err(error) if error.code() == "study_full" && together.is_empty() => break 'all,
                Err(error) => assert_eq!(error.code(), "study_full"),
            }
        }
        for (idx, bot) in &mut together {
            bot.take_part(&mut crowd.person(*idx)).await.unwrap();
        }
        server.clock.turn(hosted.lease_ms() + 1);
        assert!(n_people < 300, "the study never fills");
    }
    let done: Vec<i64> = server.cells().await.iter().map(|(done, _)| *done).collect();
    let (least, most) = (done.iter().min().unwrap(), done.iter().max().unwrap());
    assert!(most - least <= 1, "{least} to {most}");
    let over: i64 = done.iter().map(|done| (done - 3).max(0)).sum();
    let over = f64::from(i32::try_from(over).unwrap()) / 360.0;
    assert!(over <= 0.02, "{over}");
    assert!(server.cells().await.iter().all(|(_, leased)| *leased == 0));
}

#[tokio::test]
async fn what_is_promised_comes_back_when_nobody_does() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let bot = server.join("p1").await;
    let first = bot.block().await.unwrap().block.unwrap();
    let leased = |cells: Vec<(i64, i64)>| cells.iter().map(|(_, leased)| leased).sum::<i64>();
    assert_eq!(leased(server.cells().await), 4);
    server.clock.turn(29 * 60_000);
    assert_eq!(server.app.sweep().await.unwrap(), 0);
    server.clock.turn(2 * 60_000);
    assert_eq!(server.app.sweep().await.unwrap(), 1);
    assert_eq!(leased(server.cells().await), 0);
    // The participant comes back: other trials, and none of the pictures promised before.
    let second = bot.block().await.unwrap().block.unwrap();
    let images = |trials: &[PlannedTrial]| -> BTreeSet<String> {
        trials.iter().map(|trial| trial.image.clone()).collect()
    };
    assert!(images(&first.trials).is_disjoint(&images(&second.trials)));
}

#[tokio::test]
async fn a_void_trial_opens_its_cell_for_somebody_else() {
    let server = TestServer::start(Task::Flash, (24, 3), |_| ()).await;
    let mut bot = server.join("p1").await;
    let practice = bot.block().await.unwrap().block.unwrap();
    assert!(practice.is_practice);
    for trial in &practice.trials {
        bot.start(trial);
        bot.answer(trial, &first_option(trial), 0);
    }
    bot.flush().await.unwrap();
    let block = bot.block().await.unwrap().block.unwrap();
    assert!(!block.is_practice);
    bot.start(&block.trials[0]);
    bot.answer(&block.trials[0], &first_option(&block.trials[0]), 1);
    bot.flush().await.unwrap();
    let cells = server.cells().await;
    let total = cells.iter().fold((0, 0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1));
    assert_eq!(total, (0, 3));
    assert_eq!(bot.block().await.unwrap().n_done, 1);
}

#[tokio::test]
async fn a_screen_gets_only_exposures_it_can_show() {
    let server = TestServer::start(Task::Flash, (24, 3), |study| {
        study.flash.trials_per_participant = 12;
        study.page.trials_between_breaks = 12;
    })
    .await;
    for (period, browser, allowed) in [
        (1_000.0 / 60.0, "chromium 150", vec![17.0, 50.0, 250.0]),
        (1_000.0 / 75.0, "chromium 150", vec![50.0, 250.0]),
        (1_000.0 / 60.0, "firefox 150", vec![250.0]),
    ] {
        let mut request = join_request(None);
        request.browser = browser.into();
        let mut bot = Bot::join(server.transport.clone(), "study", &request).await.unwrap();
        bot.agree().await.unwrap();
        bot.screen = screen(period);
        let practice = bot.block().await.unwrap().block.unwrap();
        for trial in &practice.trials {
            bot.start(trial);
            bot.answer(trial, &first_option(trial), 0);
        }
        bot.flush().await.unwrap();
        let block = bot.block().await.unwrap().block.unwrap();
        let mut exposures: BTreeMap<u64, usize> = BTreeMap::new();
        for trial in &block.trials {
            let shown = f64::from(trial.frames.unwrap()) * period;
            let meant = trial.exposure_ms.unwrap();
            assert!((shown - meant).abs() <= 0.1 * meant);
            *exposures.entry(meant.to_bits()).or_default() += 1;
        }
        let found: Vec<f64> = exposures.keys().map(|bits| f64::from_bits(*bits)).collect();
        assert_eq!(found, allowed, "{browser}");
        assert!(exposures.values().all(|n| *n == 12 / allowed.len()), "{exposures:?}");
    }
}

#[tokio::test]
async fn nobody_sees_a_picture_twice_in_two_studies() {
    let folder = TempDir::new().unwrap();
    for name in ["one", "two"] {
        crate::folder::study(&folder.path().join(name), name, Task::Rate, (12, 3), |study| {
            study.rate.trials_per_participant = 6;
        });
    }
    let server = TestServer::over(folder, &["one", "two"]).await;
    let mut seen: Vec<String> = Vec::new();
    for study in ["one", "two"] {
        let mut bot = server.try_join(study, Some("p1")).await.unwrap();
        let ended = bot
            .take_part(&mut |_: &mohs_serve::wire::Block, trial: &PlannedTrial| {
                seen.push(trial.image.clone());
                let answer = first_option(trial);
                mohs_serve::bots::Deed::Answer { answer, extra_frames: 0 }
            })
            .await
            .unwrap();
        assert_eq!(ended.n_trials, 6);
    }
    let different: BTreeSet<&String> = seen.iter().collect();
    assert_eq!((seen.len(), different.len()), (12, 12));
}

#[tokio::test]
async fn an_adaptive_study_stops_when_bands_are_known() {
    let server = TestServer::start(Task::Flash, (12, 3), |study| {
        study.flash.design = Allocation::Adaptive;
        study.flash.participants_per_cell = 4;
        study.flash.trials_per_participant = 12;
        study.flash.exposures_ms = [50.0, 250.0].map(|ms| Millis::new(ms).unwrap()).to_vec();
    })
    .await;
    let hosted: Arc<Hosted> = Arc::clone(&server.app.studies["study"]);
    let crowd = Crowd::new(&hosted, Seed(5));
    let mut n_people = 0;
    loop {
        n_people += 1;
        match server.try_join("study", Some(&format!("p{n_people}"))).await {
            Ok(mut bot) => bot.take_part(&mut crowd.person(n_people)).await.unwrap(),
            Err(error) => {
                assert_eq!(error.code(), "study_full");
                break;
            }
        };
        assert!(n_people < 40, "the study never ends");
    }
    let done: Vec<i64> = server.cells().await.iter().map(|(done, _)| *done).collect();
    assert!(done.iter().all(|done| (4..=8).contains(done)), "{done:?}");
    assert!(done.iter().sum::<i64>() < 12 * 8, "nothing was saved: {done:?}");
}

#[tokio::test]
async fn beeps_come_in_both_orders_with_the_same_stimuli() {
    let server = TestServer::start(Task::Beep, (24, 3), |_| ()).await;
    let mut orders = Vec::new();
    let mut images: BTreeMap<u64, BTreeSet<BTreeSet<String>>> = BTreeMap::new();
    for idx in 0..4 {
        let mut bot = server.join(&format!("p{idx}")).await;
        let mut order: Vec<f64> = Vec::new();
        let mut shown: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
        bot.take_part(&mut |block: &mohs_serve::wire::Block, trial: &PlannedTrial| {
            if let Some(beep) = block.beep_ms {
                if order.last() != Some(&beep) {
                    order.push(beep);
                }
                shown.entry(beep.to_bits()).or_default().insert(trial.image.clone());
            }
            let answer = first_option(trial);
            mohs_serve::bots::Deed::Answer { answer, extra_frames: 0 }
        })
        .await
        .unwrap();
        orders.push(order);
        for (beep, set) in shown {
            images.entry(beep).or_default().insert(set);
        }
    }
    orders.sort_by(|a, b| a[0].total_cmp(&b[0]));
    assert_eq!(orders[..2], [[500.0, 900.0], [500.0, 900.0]]);
    assert_eq!(orders[2..], [[900.0, 500.0], [900.0, 500.0]]);
    assert!(images.values().all(|sets| sets.len() == 1));
    let error = server.try_join("study", Some("p5")).await.err().unwrap();
    assert_eq!(error.code(), "study_full");
}

fn first_answers(_: &mohs_serve::wire::Block, trial: &PlannedTrial) -> mohs_serve::bots::Deed {
    mohs_serve::bots::Deed::Answer { answer: first_option(trial), extra_frames: 0 }
}

/// Ten people come to a study of four, agree, and ask for their first block at the same time.
#[tokio::test]
async fn orders_of_blocks_are_held_from_the_consent_on() {
    let server = TestServer::start(Task::Beep, (24, 3), |_| ()).await;
    let mut bots = Vec::new();
    for idx in 0..10 {
        match server.try_join("study", Some(&format!("p{idx}"))).await {
            Ok(mut bot) => {
                bot.page("consent");
                bot.flush().await.unwrap();
                bots.push(bot);
            }
            Err(error) => assert_eq!(error.code(), "study_full"),
        }
    }
    for bot in &bots {
        assert!(bot.block().await.unwrap().block.is_some());
    }
    assert_eq!((bots.len(), server.cells().await), (4, vec![(0, 2), (0, 2)]));
    for bot in &mut bots {
        bot.take_part(&mut first_answers).await.unwrap();
    }
    assert_eq!(server.cells().await, [(2, 0), (2, 0)]);
    let error = server.try_join("study", Some("late")).await.err().unwrap();
    assert_eq!(error.code(), "study_full");
}

/// Four agree and go for lunch; two others come, then the four come back, one by one.
#[tokio::test]
async fn an_order_of_blocks_that_lapsed_goes_to_others_and_comes_back_where_there_is_one() {
    let server = TestServer::start(Task::Beep, (24, 3), |_| ()).await;
    let mut early = Vec::new();
    for idx in 0..4 {
        early.push(server.join(&format!("early{idx}")).await);
    }
    // One of them has begun, and goes on whoever came since.
    early[0].take_part(&mut leaves_after(3)).await.unwrap();
    server.clock.turn(31 * 60_000);
    assert_eq!(server.app.sweep().await.unwrap(), 4);
    assert_eq!(server.cells().await, [(0, 0), (0, 0)]);
    for idx in 0..2 {
        server.join(&format!("other{idx}")).await;
    }
    assert_eq!(server.cells().await, [(0, 1), (0, 1)]);
    assert!(early[0].block().await.unwrap().block.is_some());
    assert!(early[1].block().await.unwrap().block.is_some());
    assert_eq!(server.cells().await, [(0, 2), (0, 2)]);
    assert_eq!(early[2].block().await.unwrap_err().code(), "study_full");
    let error = server.try_join("study", Some("early3")).await.err().unwrap();
    assert_eq!(error.code(), "study_full");
    // One of the others lapses, and the third of the early ones has their place.
    server.clock.turn(20 * 60_000);
    for bot in &mut early[..2] {
        bot.page("break");
        bot.flush().await.unwrap();
    }
    server.clock.turn(11 * 60_000);
    let back = server.join("early2").await;
    assert!(back.block().await.unwrap().block.is_some());
    assert_eq!(server.cells().await.iter().map(|(_, leased)| leased).sum::<i64>(), 3);
}

/// Before the first trial, in the practice, after it, and in the middle of each block: whoever comes back
/// after their lease does all that there is.
#[tokio::test]
async fn a_block_of_beeps_is_gone_on_with_or_comes_again_after_a_lapse() {
    for (n_practice, n_first) in [(0, 0), (0, 1), (0, 4), (2, 0), (2, 1), (2, 2), (2, 3), (2, 6)] {
        let server = TestServer::start(Task::Beep, (24, 3), |study| {
            study.beep.practice_trials = n_practice;
        })
        .await;
        let mut bot = server.join("p1").await;
        bot.take_part(&mut leaves_after(n_first)).await.unwrap();
        server.clock.turn(31 * 60_000);
        assert_eq!(server.app.sweep().await.unwrap(), 1);
        assert_eq!(server.cells().await, [(0, 0), (0, 0)]);
        let code = bot.take_part(&mut first_answers).await.unwrap().code;
        assert!(code.is_some_and(|code| !code.starts_with("EARLY")), "{n_practice}, {n_first}");
        assert_eq!(server.cells().await, [(1, 0), (0, 0)]);
        let sql = "select beep_ms from trial where state = 'answered' and is_practice = 0 \
                   order by idx";
        let beeps = server.app.store.read(move |tx| tx.rows(sql, &[], |row| row.real(0)));
        let beeps: Vec<f64> = beeps.await.unwrap().into_iter().flatten().collect();
        assert_eq!(beeps, [[500.0; 3], [900.0; 3]].concat(), "{n_practice}, {n_first}");
    }
}

#[tokio::test]
async fn deleting_a_preview_takes_nobody_off_an_order_of_blocks() {
    let server = TestServer::start(Task::Beep, (24, 3), |_| ()).await;
    for id in ["p1", "p2"] {
        server.join(id).await.take_part(&mut first_answers).await.unwrap();
    }
    let mut request = join_request(None);
    let until = crate::server::NOON_MS + 1_000;
    request.preview = Some(server.app.secret.preview_token("study", until));
    let mut bot = Bot::join(server.transport.clone(), "study", &request).await.unwrap();
    bot.take_part(&mut first_answers).await.unwrap();
    assert!(bot.withdraw().await.unwrap().is_deleted);
    assert_eq!(server.cells().await, [(1, 0), (1, 0)]);
}

/// Answers `n` trials and leaves.
fn leaves_after(
    n: usize,
) -> impl FnMut(&mohs_serve::wire::Block, &PlannedTrial) -> mohs_serve::bots::Deed {
    let mut left = n;
    move |block, trial| match left {
        0 => mohs_serve::bots::Deed::Leave,
        _ => {
            left -= 1;
            first_answers(block, trial)
        }
    }
}

#[tokio::test]
async fn a_database_of_an_older_program_has_its_orders_counted_anew() {
    let server = TestServer::start(Task::Beep, (24, 3), |_| ()).await;
    server.join("p1").await;
    let sql = "update cell set n_leased = 0, fill = n_done";
    server.app.store.write(move |tx| tx.batch(sql)).await.unwrap();
    assert_eq!(server.cells().await, [(0, 0), (0, 0)]);
    server.another(&["study"]).await;
    assert_eq!(server.cells().await, [(0, 1), (0, 0)]);
}

#[tokio::test]
async fn a_participant_never_judges_a_pair_twice_and_sides_are_balanced() {
    for adaptive in [false, true] {
        let server = TestServer::start(Task::Pairs, (12, 2), |study| {
            study.pairs.pairs_per_stimulus = 4;
            study.pairs.judgements_per_pair = 2;
            study.pairs.trials_per_participant = 10;
            study.pairs.adaptive = adaptive;
        })
        .await;
        let mut sides: BTreeMap<(String, String), i32> = BTreeMap::new();
        for idx in 0..4 {
            let Ok(mut bot) = server.try_join("study", Some(&format!("p{idx}"))).await else {
                continue;
            };
            let mut judged = BTreeSet::new();
            bot.take_part(&mut |_: &mohs_serve::wire::Block, trial: &PlannedTrial| {
                let (left, right) = (trial.image.clone(), trial.right.clone().unwrap());
                let side = if left < right { 1 } else { -1 };
                let pair = if left < right { (left, right) } else { (right, left) };
                *sides.entry(pair.clone()).or_default() += side;
                assert!(judged.insert(pair), "twice");
                let answer = first_option(trial);
                mohs_serve::bots::Deed::Answer { answer, extra_frames: 0 }
            })
            .await
            .unwrap();
        }
        assert!(sides.values().all(|sum| sum.abs() <= 1), "{sides:?}");
    }
}
