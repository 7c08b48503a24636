//! Asking for pictures: each is drawn once, is on disk before it is used, and is really a picture.

use std::time::Duration;

use mohs_data::EndpointEntry;
use mohs_vision::endpoint::images::{self, Drawing, ImageOutcome, draw_each};
use mohs_vision::endpoint::{Endpoint, EndpointError};
use mohs_vision::pixels;

use crate::asking::entry;
use crate::stand_in::{ALL, Manners, StandIn, Trouble};

fn drawings(n: u32) -> Vec<Drawing> {
    let prompt = |n: u32| format!("photo of a mug with occlusion that is hard, number {}", n / 2);
    (0..n).map(|n| Drawing { prompt: prompt(n), number: n % 2, seed: None }).collect()
}

fn draw(endpoint: &Endpoint, drawings: &[Drawing]) -> Vec<(ImageOutcome, bool)> {
    let mut drawn = Vec::new();
    draw_each(endpoint, drawings, |_, outcome| {
        drawn.push(outcome);
        Ok::<(), EndpointError>(())
    })
    .expect("because trouble passes");
    drawn
}

#[test]
fn pictures_are_drawn_once_whatever_happens_on_the_way() {
    let troubles: Vec<Vec<Trouble>> = ALL.iter().map(|trouble| vec![*trouble]).collect();
    let server = StandIn::start(&[], Manners { troubles, ..Manners::default() });
    let folder = tempfile::tempdir().unwrap();
    let entry = EndpointEntry { price_picture: 0.04, ..entry(&server.url) };
    for is_known in [false, true] {
        let endpoint = Endpoint::open(&entry, None, Some(folder.path()), "all").unwrap();
        let drawn = draw(&endpoint, &drawings(12));
        for (outcome, was_known) in &drawn {
            let ImageOutcome::File(path) = outcome else { panic!("{outcome:?}") };
            assert_eq!(pixels::read(path).unwrap().width(), 48);
            assert_eq!(*was_known, is_known);
        }
        let n_paid = if is_known { 0 } else { 12 };
        assert_eq!(
            (endpoint.tally().n_paid, endpoint.tally().usage.n_pictures),
            (n_paid, n_paid as u64)
        );
        assert!((endpoint.tally().cost_in_all - 12.0 * 0.04).abs() < 0.01);
    }
    // The second picture of a prompt is another request.
    assert_eq!(server.seen().paid(), (12, 1));
}

#[test]
fn a_painter_that_sends_addresses_is_given_up_at_once() {
    let manners = Manners { troubles: vec![vec![Trouble::Address; 99]], ..Manners::default() };
    let server = StandIn::start(&[], manners);
    let folder = tempfile::tempdir().unwrap();
    let entry = EndpointEntry { price_picture: 0.04, parallel: 2, ..entry(&server.url) };
    let endpoint = Endpoint::open(&entry, None, Some(folder.path()), "all").unwrap();
    let error =
        draw_each(&endpoint, &drawings(12), |_, _| Ok::<(), EndpointError>(())).unwrap_err();
    assert!(matches!(error, EndpointError::Unusable { .. }), "{error}");
    assert!(error.to_string().contains("sends addresses of pictures"), "{error}");
    let n_sent = server.seen().n_requests;
    assert!((1..=2).contains(&n_sent), "{n_sent}");
    // They may have been paid, and the next run knows that before it asks.
    assert_eq!(endpoint.tally().n_doubtful, n_sent);
    drop(endpoint);
    let endpoint = Endpoint::open(&entry, None, Some(folder.path()), "all").unwrap();
    #[expect(clippy::cast_precision_loss, reason = "one or two")]
    let cost = 0.04 * n_sent as f64;
    assert!(cost <= endpoint.spent() && endpoint.spent() < cost + 0.001);
}

#[test]
fn what_was_drawn_beside_an_error_is_delivered() {
    let troubles = vec![vec![Trouble::Address; 99], vec![]];
    let thinks = Duration::from_millis(30);
    let server = StandIn::start(&[], Manners { troubles, thinks, ..Manners::default() });
    let folder = tempfile::tempdir().unwrap();
    let entry = EndpointEntry { parallel: 2, ..entry(&server.url) };
    let endpoint = Endpoint::open(&entry, None, Some(folder.path()), "all").unwrap();
    let mut n_delivered = 0;
    let outcome = draw_each(&endpoint, &drawings(2), |_, (outcome, _)| {
        n_delivered += usize::from(matches!(outcome, ImageOutcome::File(_)));
        Ok::<(), EndpointError>(())
    });
    assert!(matches!(outcome, Err(EndpointError::Unusable { .. })), "{outcome:?}");
    assert_eq!(n_delivered, server.seen().paid().0);
}

#[test]
fn a_painter_that_is_paid_by_tokens_is_asked_for_as_many_as_there_is_money_for() {
    let server = StandIn::start(&[], Manners::default());
    let folder = tempfile::tempdir().unwrap();
    let entry = EndpointEntry {
        price_input: 0.0,
        price_output: 1e6,
        tokens_per_picture: 100,
        cost_cap: Some(250.0),
        ..entry(&server.url)
    };
    let endpoint = Endpoint::open(&entry, None, Some(folder.path()), "all").unwrap();
    let drawn = draw(&endpoint, &drawings(8));
    let n_drawn = drawn.iter().filter(|(outcome, _)| matches!(outcome, ImageOutcome::File(_)));
    assert_eq!((n_drawn.count(), server.seen().paid().0), (2, 2));
}

#[test]
fn answers_without_pictures_end_the_run_as_unusable() {
    let manners = Manners { troubles: vec![vec![Trouble::OtherJson; 99]], ..Manners::default() };
    let server = StandIn::start(&[], manners);
    let entry = EndpointEntry { tries: 2, ..entry(&server.url) };
    let endpoint = Endpoint::open(&entry, None, None, "all").unwrap();
    let error =
        draw_each(&endpoint, &drawings(12), |_, _| Ok::<(), EndpointError>(())).unwrap_err();
    let expected = "gives no usable answers: 8 questions in a row have none; the last one: an answer \
                    that is not understood: no `data` in";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn a_picture_is_given_up_after_three_useless_answers_over_all_runs() {
    // The first is never a picture; the second is one after two that are none.
    let troubles = vec![vec![Trouble::NoPicture; 99], vec![Trouble::NoPicture; 2]];
    let server = StandIn::start(&[], Manners { troubles, ..Manners::default() });
    let folder = tempfile::tempdir().unwrap();
    let entry = EndpointEntry { tries: 2, parallel: 1, ..entry(&server.url) };
    for (n_requests, is_given_up) in [(4, false), (6, true), (6, true)] {
        let endpoint = Endpoint::open(&entry, None, Some(folder.path()), "all").unwrap();
        let drawn = draw(&endpoint, &drawings(2));
        assert_eq!(server.seen().n_requests, n_requests);
        let said = match &drawn[0].0 {
            ImageOutcome::GivenUp(why) if is_given_up => why,
            ImageOutcome::Failed(why) if !is_given_up => why,
            other => panic!("{other:?}"),
        };
        let expected = match is_given_up {
            true => {
                "given up after 3 answers that may have been paid, and nothing in them can be used"
            }
            false => "no answer after 2 tries: an answer that is not understood",
        };
        assert!(said.starts_with(expected), "{said}");
        assert_eq!(endpoint.knows(&images::key(&endpoint, &drawings(1)[0])), is_given_up);
        assert_eq!(matches!(drawn[1].0, ImageOutcome::File(_)), is_given_up);
        // Useless answers count against the cap.
        assert_eq!(endpoint.tally().n_doubtful, if is_given_up { 5 } else { 4 });
    }
    // Another prompt is another question.
    let endpoint = Endpoint::open(&entry, None, Some(folder.path()), "all").unwrap();
    let other = Drawing { prompt: "photo of a bird".to_owned(), number: 0, seed: None };
    draw(&endpoint, &[other]);
    assert_eq!(server.seen().n_requests, 8);
}

#[test]
fn a_reason_names_what_was_paid_for_nothing_and_not_only_the_last_try() {
    let troubles = vec![vec![Trouble::NoPicture, Trouble::Hangs, Trouble::Down]];
    let server = StandIn::start(&[], Manners { troubles, ..Manners::default() });
    let entry = EndpointEntry { tries: 3, ..entry(&server.url) };
    let endpoint = Endpoint::open(&entry, None, None, "all").unwrap();
    let [(ImageOutcome::Failed(why), _)] = &draw(&endpoint, &drawings(1))[..] else {
        panic!("no picture")
    };
    let expected = "no answer after 3 tries: status 503: down; 2 of them may have been paid, with no \
                    answer in time";
    assert_eq!(why, expected);
}

#[test]
fn a_picture_that_was_deleted_is_drawn_again() {
    let server = StandIn::start(&[], Manners::default());
    let folder = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::open(&entry(&server.url), None, Some(folder.path()), "all").unwrap();
    let [(ImageOutcome::File(path), false)] = &draw(&endpoint, &drawings(1))[..] else {
        panic!("one new picture")
    };
    let bytes = std::fs::read(path).unwrap();
    std::fs::remove_file(path).unwrap();
    drop(endpoint);
    let endpoint = Endpoint::open(&entry(&server.url), None, Some(folder.path()), "all").unwrap();
    assert!(!draw(&endpoint, &drawings(1))[0].1);
    assert_eq!(std::fs::read(path).unwrap(), bytes);
}
