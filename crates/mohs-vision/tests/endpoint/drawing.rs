//! Asking for pictures: each is drawn once, is on disk before it is used, and is really a picture.

use mohs_data::EndpointEntry;
use mohs_vision::endpoint::images::{Drawing, ImageOutcome, draw_each};
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
