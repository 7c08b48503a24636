//! Asking about pictures: whatever goes wrong on the way, every question is answered once, paid once
//! and never lost, and the key is nowhere.

use std::path::Path;
use std::time::{Duration, Instant};

use mohs_data::{ChatEntry, EndpointEntry, Label};
use mohs_vision::endpoint::chat::{Chat, ChatOutcome, NoMatch, Question, Reply, TextReply};
use mohs_vision::endpoint::{Endpoint, EndpointError, Secret};
use mohs_vision::pixels::Rgb8;
use mohs_vision::world::Class;

use crate::stand_in::{ALL, Manners, StandIn, Trouble, world};

const KEY: &str = "sk-never-to-be-seen-42";

/// An endpoint whose waits are short, so that trouble passes quickly.
pub(crate) fn entry(url: &str) -> EndpointEntry {
    EndpointEntry {
        timeout_s: 1.5,
        wait_s: 0.01,
        longest_wait_s: 0.05,
        price_input: 10.0,
        price_output: 100.0,
        ..EndpointEntry::new(url, "stand-in")
    }
}

fn classes() -> Vec<Label> {
    Class::ALL.iter().map(|class| Label::new(class.name())).collect()
}

fn questions(pictures: &[(Rgb8, Class)]) -> Vec<Question> {
    pictures.iter().map(|(pixels, _)| Question { picture_png: pixels.to_png() }).collect()
}

fn ask(endpoint: &Endpoint, questions: &[Question]) -> Result<Vec<Reply>, EndpointError> {
    Chat::new(endpoint, &ChatEntry::default(), &classes())?.ask(questions)
}

fn open(entry: &EndpointEntry, ledger: Option<&Path>) -> Endpoint {
    Endpoint::open(entry, Some(Secret::new(KEY)), ledger, "all").expect("because it is sound")
}

/// Everything that is written in a folder.
pub(crate) fn contents(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("because it is ours").flatten() {
        if entry.path().is_dir() {
            all.extend(contents(&entry.path()));
        } else {
            all.extend(std::fs::read(entry.path()).expect("because it is ours"));
        }
    }
    all
}

pub(crate) fn has(haystack: &[u8], needle: &str) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle.as_bytes())
}

#[test]
fn every_trouble_passes_and_every_answer_is_paid_once() {
    let pictures = world(24);
    // Every kind of trouble alone, and then three kinds before one answer.
    let mut troubles: Vec<Vec<Trouble>> = ALL.iter().map(|trouble| vec![*trouble]).collect();
    troubles.push(vec![Trouble::Down, Trouble::CutInside, Trouble::HalfJson]);
    troubles.push(vec![]);
    let manners = Manners { troubles, key: Some(KEY), ..Manners::default() };
    let server = StandIn::start(&pictures, manners);
    let folder = tempfile::tempdir().unwrap();
    let endpoint = open(&entry(&server.url), Some(folder.path()));
    let replies = ask(&endpoint, &questions(&pictures)).unwrap();
    for (reply, (_, class)) in replies.iter().zip(&pictures) {
        assert_eq!(reply.outcome, ChatOutcome::Answered(Label::new(class.name())));
    }
    let tally = endpoint.tally();
    assert_eq!((tally.n_paid, tally.n_known), (24, 0));
    assert_eq!(server.seen().paid(), (24, 1));
    assert_eq!(tally.n_sent, server.seen().n_requests);
    assert_eq!(tally.n_repeated, tally.n_sent - 24);
    assert!(20 <= tally.n_repeated, "{tally:?}");
    assert_eq!((tally.usage.n_input, tally.usage.n_output), (24 * 300, 24 * 4));
    let cost = 24.0 * (300.0 * 10.0 + 4.0 * 100.0) / 1e6;
    assert!((tally.cost - cost).abs() < 1e-12, "{tally:?}");
    drop(endpoint);

    // A second run knows everything, costs nothing and says what the whole did cost.
    let endpoint = open(&entry(&server.url), Some(folder.path()));
    let n_before = server.seen().n_requests;
    let again = ask(&endpoint, &questions(&pictures)).unwrap();
    assert!(again.iter().zip(&replies).all(|(a, b)| a.outcome == b.outcome && a.is_known));
    let tally = endpoint.tally();
    assert_eq!((tally.n_paid, tally.n_known, server.seen().n_requests), (0, 24, n_before));
    assert!((tally.cost_in_all - cost).abs() < 1e-12 && tally.cost.abs() < 1e-12);
    assert!(!has(&contents(folder.path()), KEY));
    assert!(!format!("{endpoint:?}").contains(KEY));
}

#[test]
fn a_run_that_ends_early_loses_nothing_and_goes_on() {
    let pictures = world(12);
    let server = StandIn::start(&pictures, Manners::default());
    let folder = tempfile::tempdir().unwrap();
    for stop in [0, 3, 7, 12] {
        let endpoint = open(&entry(&server.url), Some(folder.path()));
        let chat = Chat::new(&endpoint, &ChatEntry::default(), &classes()).unwrap();
        let questions = questions(&pictures);
        let mut n_delivered = 0;
        let outcome = chat.ask_each(
            questions.len(),
            |idx| Ok(questions[idx].clone()),
            |idx, reply| {
                assert_eq!(idx, n_delivered, "replies come in order");
                assert!(matches!(reply.outcome, ChatOutcome::Answered(_)));
                n_delivered += 1;
                match stop < n_delivered {
                    true => Err(EndpointError::Gone {
                        url: String::new(),
                        n_lost: 0,
                        last: "stopped by the test".to_owned(),
                    }),
                    false => Ok(()),
                }
            },
        );
        assert_eq!(outcome.is_ok(), stop == 12);
    }
    assert_eq!(server.seen().paid(), (12, 1));
}

#[test]
fn refusals_and_answers_that_match_nothing_are_kept_and_not_asked_again() {
    let pictures = world(16);
    let manners = Manners {
        wording: Some("A {class}, or a zebra crossing a street".to_owned()),
        refuses: vec!["bird", "car"],
        ..Manners::default()
    };
    let server = StandIn::start(&pictures, manners);
    let folder = tempfile::tempdir().unwrap();
    let classes = [&classes()[..], &[Label::new("zebra crossing")]].concat();
    for n_paid in [16, 0] {
        let endpoint = open(&entry(&server.url), Some(folder.path()));
        let chat = Chat::new(&endpoint, &ChatEntry::default(), &classes).unwrap();
        let replies = chat.ask(&questions(&pictures)).unwrap();
        let n_refused =
            replies.iter().filter(|reply| matches!(reply.outcome, ChatOutcome::Refused(_))).count();
        let n_several = replies
            .iter()
            .filter(|reply| {
                matches!(&reply.outcome, ChatOutcome::Unmatched { why: NoMatch::Several, .. })
            })
            .count();
        assert_eq!((n_refused, n_several), (2, 14));
        let reason = replies[0].outcome.failure().expect("because it is no answer").to_string();
        assert!(reason.starts_with("unmatched answer, several classes: “A bicycle"), "{reason}");
        assert_eq!(endpoint.tally().n_paid, n_paid);
    }
    assert_eq!(server.seen().paid(), (16, 1));
}

#[test]
fn a_wrong_key_ends_the_run_and_is_not_repeated() {
    let pictures = world(6);
    let manners = Manners { key: Some("another"), ..Manners::default() };
    let server = StandIn::start(&pictures, manners);
    let folder = tempfile::tempdir().unwrap();
    let endpoint = open(&entry(&server.url), Some(folder.path()));
    let error = ask(&endpoint, &questions(&pictures)).unwrap_err();
    let text = format!("{error} {error:?} {endpoint:?}");
    assert!(matches!(error, EndpointError::Refuses { status: 401, .. }), "{text}");
    assert!(!text.contains(KEY), "{text}");
    assert!(server.seen().n_requests <= 4, "nobody knocks again at a door that is closed");
    assert!(!has(&contents(folder.path()), KEY));
}

#[test]
fn an_endpoint_that_is_gone_ends_the_run_and_keeps_its_key() {
    let pictures = world(16);
    let manners = Manners { troubles: vec![vec![Trouble::TellsTheKey; 99]], ..Manners::default() };
    let server = StandIn::start(&pictures, manners);
    let entry = EndpointEntry { tries: 2, ..entry(&server.url) };
    let error = ask(&open(&entry, None), &questions(&pictures)).unwrap_err();
    assert!(matches!(error, EndpointError::Gone { n_lost: 8, .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains(KEY), "{error}");
    assert!(error.to_string().contains("failed for Bearer […]"), "{error}");
}

#[test]
fn nobody_listens_and_a_question_fails_with_its_reason() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let entry = EndpointEntry { tries: 2, ..entry(&url) };
    let replies = ask(&open(&entry, None), &questions(&world(2))).unwrap();
    for reply in replies {
        let ChatOutcome::Failed(reason) = reply.outcome else { panic!("{reply:?}") };
        assert!(reason.starts_with("no answer after 2 tries"), "{reason}");
    }
}

#[test]
fn a_cap_on_cost_holds_over_runs_and_a_higher_one_goes_on() {
    let pictures = world(16);
    let server = StandIn::start(&pictures, Manners::default());
    let folder = tempfile::tempdir().unwrap();
    let one = (300.0 * 10.0 + 4.0 * 100.0) / 1e6;
    let mut n_known = 0;
    for (cap, most) in [(one * 5.5, 5), (one * 5.5, 5), (one * 100.0, 16)] {
        let entry =
            EndpointEntry { cost_cap: Some(cap), tokens_per_picture: 200, ..entry(&server.url) };
        let endpoint = open(&entry, Some(folder.path()));
        let replies = ask(&endpoint, &questions(&pictures)).unwrap();
        let n_dear = replies.iter().filter(|reply| reply.outcome == ChatOutcome::TooDear).count();
        let tally = endpoint.tally();
        assert!(tally.cost_in_all <= cap, "{tally:?}");
        assert_eq!(tally.n_known, n_known);
        assert_eq!(tally.n_paid + tally.n_known + n_dear, 16);
        n_known = tally.n_paid + tally.n_known;
        // Before the first answer its price is a guess, and a high one.
        assert!(0 < n_known && n_known <= most, "{n_known} of {most}");
    }
    assert_eq!(server.seen().paid(), (16, 1));
}

#[test]
fn a_cap_counts_all_that_is_kept_before_the_first_request_whatever_was_asked() {
    let pictures = world(16);
    let server = StandIn::start(&pictures, Manners::default());
    let folder = tempfile::tempdir().unwrap();
    let one = (300.0 * 10.0 + 4.0 * 100.0) / 1e6;
    let mut questions = questions(&pictures);
    ask(&open(&entry(&server.url), Some(folder.path())), &questions[..8]).unwrap();
    // What is not known comes first, and then on its own.
    questions.reverse();
    for (asked, n_known) in [(&questions[..], 8), (&questions[..8], 0)] {
        let entry = EndpointEntry {
            cost_cap: Some(one * 8.5),
            parallel: 8,
            tokens_per_picture: 1,
            ..entry(&server.url)
        };
        let endpoint = open(&entry, Some(folder.path()));
        let before = endpoint.spent();
        let replies = ask(&endpoint, asked).unwrap();
        let n_dear = replies.iter().filter(|reply| reply.outcome == ChatOutcome::TooDear).count();
        let tally = endpoint.tally();
        assert_eq!((tally.n_sent, tally.n_known, n_dear), (0, n_known, 8));
        // Answers that are used are not counted a second time.
        assert!((before - one * 8.0).abs() < 1e-12 && (tally.cost_in_all - before).abs() < 1e-12);
        #[expect(clippy::cast_precision_loss, reason = "eight")]
        let used = one * n_known as f64;
        assert!((tally.cost_used - used).abs() < 1e-12, "{tally:?}");
    }
    assert_eq!(server.seen().paid(), (8, 1));
}

#[test]
fn a_key_that_is_repeated_is_in_no_answer_and_no_file() {
    let pictures = world(12);
    let manners = Manners {
        wording: Some("no {class}".to_owned()),
        repeats: Some(KEY),
        refuses: vec!["bird", "car"],
        ..Manners::default()
    };
    let server = StandIn::start(&pictures, manners);
    let folder = tempfile::tempdir().unwrap();
    let encoded = "c2stbmV2ZXItdG8tYmUtc2Vlbi00";
    for _ in 0..2 {
        let endpoint = open(&entry(&server.url), Some(folder.path()));
        let replies = ask(&endpoint, &questions(&pictures)).unwrap();
        let said = format!("{replies:?}");
        assert!(said.contains("no bicycle QmFzaWMg[…]g== […]?"), "{said}");
        assert!(said.contains("Refused(\"I would rather not say. […]\")"), "{said}");
        let kept = contents(folder.path());
        assert!(has(&kept, "[…]?") && !has(&kept, KEY) && !has(&kept, encoded));
    }
    // What an older version kept is not shown: here, that of a run that did not know the key.
    let folder = tempfile::tempdir().unwrap();
    let unknowing = Endpoint::open(&entry(&server.url), None, Some(folder.path()), "all").unwrap();
    ask(&unknowing, &questions(&pictures)).unwrap();
    assert!(has(&contents(folder.path()), KEY));
    drop(unknowing);
    let endpoint = open(&entry(&server.url), Some(folder.path()));
    let replies = ask(&endpoint, &questions(&pictures)).unwrap();
    assert!(replies.iter().all(|reply| reply.is_known));
    assert!(!format!("{replies:?}").contains(KEY));
}

#[test]
fn a_key_that_cannot_be_sent_is_refused_before_anything_is_asked() {
    let entry = EndpointEntry {
        key_env: Some("EXAMPLE_API_KEY".to_owned()),
        ..entry("http://127.0.0.1:9/v1")
    };
    let key = Secret::new("sk-\u{201c}quoted\u{201d}");
    let error = Endpoint::open(&entry, Some(key), None, "all").unwrap_err().to_string();
    let expected = "the key in $EXAMPLE_API_KEY cannot be sent in a header: letter 4 of it is a \
                    letter beyond ASCII";
    assert_eq!(error, expected);
}

/// Asks about a few pictures in vain, with money for so many tries; returns how many were made, now
/// and in a second run.
fn tries_for(money: f64, trouble: Trouble, n: usize) -> (usize, usize) {
    let pictures = world(n);
    let manners = Manners { troubles: vec![vec![trouble; 99]], ..Manners::default() };
    let server = StandIn::start(&pictures, manners);
    let folder = tempfile::tempdir().expect("because tests may write temporary files");
    let mut n_before = 0;
    let runs = [0, 1].map(|_| {
        // The price of the picture's tokens, and a little for the words.
        let entry = EndpointEntry {
            tokens_per_picture: 1_000_000,
            price_input: 1.0,
            cost_cap: Some(money + 0.1),
            ..entry(&server.url)
        };
        let endpoint = open(&entry, Some(folder.path()));
        let replies = ask(&endpoint, &questions(&pictures)).expect("because few are lost");
        assert!(replies.iter().any(|reply| !matches!(reply.outcome, ChatOutcome::Answered(_))));
        let tally = endpoint.tally();
        assert!(tally.cost_in_all + tally.doubtful_cost <= money + 0.1, "{tally:?}");
        let n_now = server.seen().n_requests - n_before;
        n_before += n_now;
        assert_eq!(tally.n_sent, n_now);
        n_now
    });
    (runs[0], runs[1])
}

#[test]
fn tries_that_may_have_been_paid_count_against_the_cap_one_by_one() {
    for trouble in [Trouble::HalfJson, Trouble::OtherJson, Trouble::CutBefore, Trouble::CutInside] {
        assert_eq!(tries_for(2.0, trouble, 1), (2, 0), "{trouble:?}");
        let (now, _) = tries_for(5.0, trouble, 3);
        assert!((3..=5).contains(&now), "{trouble:?}: {now}");
    }
    // What the endpoint says it did not answer is asked as often as ever.
    assert_eq!(tries_for(2.0, Trouble::Down, 1), (6, 6));
}

#[test]
fn the_same_picture_is_asked_about_once_even_at_the_same_time() {
    let pictures = world(1);
    let manners = Manners { thinks: Duration::from_millis(50), ..Manners::default() };
    let server = StandIn::start(&pictures, manners);
    let endpoint = open(&entry(&server.url), None);
    let questions = vec![questions(&pictures).remove(0); 8];
    let replies = ask(&endpoint, &questions).unwrap();
    assert!(replies.iter().all(|reply| matches!(reply.outcome, ChatOutcome::Answered(_))));
    assert_eq!(server.seen().paid(), (1, 1));
    assert_eq!((endpoint.tally().n_paid, endpoint.tally().n_known), (1, 7));
}

#[test]
fn requests_run_side_by_side_but_not_more_than_allowed_and_keep_the_pace() {
    let pictures = world(12);
    let manners = Manners { thinks: Duration::from_millis(60), ..Manners::default() };
    let server = StandIn::start(&pictures, manners);
    let entry = EndpointEntry { parallel: 3, ..entry(&server.url) };
    ask(&open(&entry, None), &questions(&pictures)).unwrap();
    let most = server.seen().most_at_once;
    assert!((2..=3).contains(&most), "{most}");
    let slow = EndpointEntry { requests_per_minute: Some(1_200.0), ..entry };
    let started = Instant::now();
    ask(&open(&slow, None), &questions(&pictures)).unwrap();
    // Twelve requests are eleven distances of 50 ms.
    assert!(Duration::from_millis(550) <= started.elapsed());
}

#[test]
fn another_question_model_or_picture_is_another_answer() {
    let pictures = world(2);
    let server = StandIn::start(&pictures, Manners::default());
    let endpoint = open(&entry(&server.url), None);
    let key = |endpoint: &Endpoint, prompt: &str, idx: usize| {
        let entry = ChatEntry { prompt: prompt.to_owned(), ..ChatEntry::default() };
        let chat = Chat::new(endpoint, &entry, &classes()).unwrap();
        chat.key(&questions(&pictures)[idx])
    };
    let first = key(&endpoint, "{classes}?", 0);
    assert_eq!(first, key(&endpoint, "{classes}?", 0));
    assert_ne!(first, key(&endpoint, "{classes}?", 1));
    assert_ne!(first, key(&endpoint, "{numbered}?", 0));
    let other = EndpointEntry { model: "another".to_owned(), ..entry(&server.url) };
    assert_ne!(first, key(&open(&other, None), "{classes}?", 0));
    let cooler = EndpointEntry {
        parameters: Some([("seed".to_owned(), mohs_data::Parameter::Number(3.0))].into()),
        ..entry(&server.url)
    };
    assert_ne!(first, key(&open(&cooler, None), "{classes}?", 0));
    // Neither the pace nor the price changes an answer.
    let slower = EndpointEntry { parallel: 1, price_input: 1.0, ..entry(&server.url) };
    assert_eq!(first, key(&open(&slower, None), "{classes}?", 0));
}

#[test]
fn a_question_in_words_is_answered_and_kept() {
    let server = StandIn::start(&[], Manners::default());
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let endpoint = open(&entry(&server.url), Some(folder.path()));
        let reply = endpoint.say(Some("Be brief."), "Hello", 50).unwrap();
        assert_eq!(reply, TextReply::Text("You said: Hello".to_owned()));
    }
    assert_eq!(server.seen().paid(), (1, 1));
}

#[test]
fn answers_that_cannot_be_used_count_at_what_they_took_and_are_three_at_most() {
    let manners = Manners { troubles: vec![vec![Trouble::OnlyThinks; 99]], ..Manners::default() };
    let server = StandIn::start(&[], manners);
    let folder = tempfile::tempdir().unwrap();
    let priced = EndpointEntry { price_input: 0.0, price_output: 1e6, ..entry(&server.url) };
    let say = |entry: &EndpointEntry| {
        let endpoint = open(entry, Some(folder.path()));
        let reply = endpoint.say(None, "Hello", 50).unwrap();
        (reply, endpoint.tally().doubtful_cost, server.seen().n_requests)
    };
    // Money for two answers of 4000 tokens each.
    let capped = EndpointEntry { cost_cap: Some(10_000.0), ..priced.clone() };
    for _ in 0..2 {
        assert_eq!(say(&capped), (TextReply::TooDear, 8_000.0, 2));
    }
    for _ in 0..2 {
        let (reply, cost, n_requests) = say(&priced);
        let TextReply::GivenUp(why) = reply else { panic!("{reply:?}") };
        assert!(why.starts_with("given up after 3 answers"), "{why}");
        assert_eq!((cost, n_requests), (12_000.0, 3));
    }
}

#[test]
fn an_endpoint_that_asks_for_a_day_is_not_waited_for() {
    let pictures = world(3);
    let troubles = vec![vec![Trouble::TooMany("100000"); 6]];
    let server = StandIn::start(&pictures, Manners { troubles, ..Manners::default() });
    let folder = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let replies = ask(&open(&entry(&server.url), Some(folder.path())), &questions(&pictures));
    for reply in replies.unwrap() {
        let ChatOutcome::Failed(reason) = reply.outcome else { panic!("{reply:?}") };
        let expected = "no answer after 1 try: it asks to wait 100000 s (27.8 h), and at most 600 s \
                        are waited: status 429: slow";
        assert_eq!(reason, expected);
    }
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(server.seen().n_requests, 3);
}
