//! `mohs adapt` with a model behind an endpoint, against a stand-in that makes trouble.

use std::time::Duration;

use mohs_vision::pixels::Rgb8;
use mohs_vision::world::Class;
use serde_json::Value;

use crate::endpoint::{has_key, kept};
use crate::eval::json;
use crate::mohs::{Place, Ran};
use crate::stand_in::{ALL, Manners, StandIn, Trouble, world};

const KEY: &str = "sk-only-in-the-environment-7";
const N: usize = 96;
/// A quarter of them.
const N_ASKED: usize = 24;

/// What the stand-in takes the pictures for: a third of them for something else.
fn beliefs() -> Vec<(Rgb8, Class)> {
    let pictures = world(N);
    let taken_for = |idx: usize| if idx.is_multiple_of(3) { (idx + 1) % N } else { idx };
    (0..N).map(|idx| (pictures[idx].0.clone(), pictures[taken_for(idx)].1)).collect()
}

/// A ladder of pictures of the world, and a manifest for the stand-in.
fn place(url: &str, more: &str) -> Place {
    let place = Place::new();
    let mut table = "stimulus,file,label,level\n".to_owned();
    for (n, (picture, class)) in world(N).iter().enumerate() {
        place.write(&format!("{n}.png"), picture.to_png());
        let level = ["easy", "medium", "hard"][n % 3];
        table.push_str(&format!("s{n},{n}.png,{class},{level}\n"));
    }
    place.write("stimuli.csv", table);
    place.write(
        "eval.toml",
        format!(
            "version = 1\nname = \"asked\"\n[[model]]\nname = \"stand-in\"\n[model.endpoint]\n\
             url = \"{url}\"\nmodel = \"eye\"\nkey_env = \"MOHS_TEST_KEY\"\nparallel = 2\n\
             timeout_s = 1.5\nwait_s = 0.01\nlongest_wait_s = 0.05\nprice_input = 10\n{more}\n"
        ),
    );
    place
}

const ARGS: [&str; 8] =
    ["adapt", "eval.toml", "--engine", "rten", "--format", "json", "--output", "out"];

fn adapt(place: &Place, more: &[&str]) -> Ran {
    place.run_where(&[&ARGS[..], more].concat(), |command| {
        command.env("MOHS_TEST_KEY", KEY);
    })
}

fn test_of(ran: &Ran) -> Value {
    json(ran)["adaptive_test"].clone()
}

#[test]
fn every_trouble_passes_and_a_quarter_is_asked_and_paid_once() {
    let troubles: Vec<Vec<Trouble>> = ALL.iter().map(|trouble| vec![*trouble]).collect();
    let manners = Manners { troubles, key: Some(KEY), ..Manners::default() };
    let server = StandIn::start(&beliefs(), manners);
    let place = place(&server.url, "");
    let first = adapt(&place, &[]).ok();
    let found = test_of(&first);
    assert_eq!(found["n_asked"], N_ASKED, "{}", first.all());
    assert_eq!(found["spent"]["n_calls"], N_ASKED);
    let spent = &found["spent"]["endpoint"];
    assert_eq!(spent["n_tokens_sent"], 300 * N_ASKED);
    assert_eq!(spent["n_tokens_received"], 4 * N_ASKED);
    let cost = spent["cost"].as_f64().expect("a number");
    assert!((cost - 0.003 * 24.0).abs() < 1e-9, "{cost}");
    assert_eq!(server.seen().paid(), (N_ASKED, 1));
    // The stand-in is right about two thirds.
    let end = |key: &str| found["overall"]["accuracy"][key].as_f64().expect("a number");
    assert!(end("low") <= 2.0 / 3.0 && 2.0 / 3.0 <= end("high"), "{}", found["overall"]);
    assert!(first.stderr().contains("24 paid calls in this run"), "{}", first.all());
    // Silence and answers that nobody understands may have been paid; clear words were not.
    assert!(first.stderr().contains("may have been paid although no answer came"));

    let files = ["out/summary.json", "out/asked.csv", "out/asked-predictions.csv"];
    let before = files.map(|name| place.read(name));
    let second = adapt(&place, &[]).ok();
    assert!(second.stderr().contains("24 answers were known"), "{}", second.all());
    assert!(second.stderr().contains("0 paid calls in this run"), "{}", second.all());
    assert_eq!(files.map(|name| place.read(name)), before);
    assert_eq!(server.seen().paid(), (N_ASKED, 1));
    assert!(!has_key(&place.path(".")) && !first.all().contains(KEY));
    place.run(&["report", "out", "--quiet"]).ok();
    let page = place.read("out/report.html");
    assert!(
        page.contains("Tokens: 7200 sent, 96 received; cost: 0.0720."),
        "no tokens in the page"
    );
}

/// A stand-in that has never seen a quarter of the pictures, and does not want to name four classes.
fn reluctant(repeats: Option<&'static str>) -> StandIn {
    let seen: Vec<(Rgb8, Class)> = world(N)
        .into_iter()
        .enumerate()
        .filter(|(n, _)| n % 4 != 0)
        .map(|(_, known)| known)
        .collect();
    let refuses = vec!["bird", "boat", "car", "cat"];
    StandIn::start(&seen, Manners { refuses, repeats, ..Manners::default() })
}

#[test]
fn refusals_and_unmatched_answers_are_wrong_and_listed_unless_left_out() {
    let server = reluctant(None);
    let place = place(&server.url, "");
    let ran = adapt(&place, &[]).ok();
    let found = test_of(&ran);
    let count = |key: &str| {
        let n = found["spent"]["endpoint"][key].as_u64().expect("a number");
        usize::try_from(n).expect("because there are few")
    };
    let (n_unmatched, n_refused) = (count("n_unmatched"), count("n_refused"));
    let n = n_unmatched + n_refused;
    assert!(0 < n_refused && 0 < n_unmatched && n < N_ASKED, "{found}");
    assert_eq!(found["spent"]["n_calls"], N_ASKED);
    let caveats = found["caveats"].to_string();
    assert!(caveats.contains("answers-without-class"), "{caveats}");
    let said = ran.stderr();
    assert!(said.contains(&format!("{n} answers name no class and count as wrong:")), "{said}");
    assert!(said.contains("unmatched answer, no class: “nothing I know”"), "{said}");
    // Nothing was predicted, and that is wrong.
    let rows = place.read("out/asked.csv");
    let n_wrong = rows.lines().filter(|row| row.contains(",,0,")).count();
    assert_eq!(n_wrong, n, "{rows}");
    let rows = place.read("out/asked-predictions.csv");
    assert!(rows.contains("refused to answer: “I would rather not say.”"), "{rows}");

    let left_out = adapt(&place, &["--without-class", "left-out"]);
    assert_eq!(left_out.code(), 1, "{}", left_out.all());
    assert!(left_out.stderr().contains("answers name no class and are left out"));
    assert!(place.read("out/asked.csv").lines().all(|row| !row.contains(",,0,")));
}

#[test]
fn a_replay_counts_refusals_and_unmatched_answers_as_the_endpoint_does() {
    let server = reluctant(None);
    let place = place(&server.url, "");
    let eval = place.run_where(&["eval", "eval.toml", "--engine", "rten"], |command| {
        command.env("MOHS_TEST_KEY", KEY);
    });
    assert_eq!(eval.code(), 1, "{}", eval.all());
    let replay = ["adapt", "predictions.csv", "--stimuli", "stimuli.csv", "--format", "json"];
    for (rule, code) in
        [(&[][..], 0), (&["--without-class", "wrong"], 0), (&["--without-class", "left-out"], 1)]
    {
        let [asked, replayed] = [adapt(&place, rule), place.run(&[&replay[..], rule].concat())];
        assert_eq!([asked.code(), replayed.code()], [code; 2], "{}", replayed.all());
        let [one, two] = [&asked, &replayed].map(test_of);
        assert_eq!(one["n_asked"], two["n_asked"]);
        assert_eq!(one["overall"]["accuracy"], two["overall"]["accuracy"], "{rule:?}");
        assert_eq!(one["caveats"], two["caveats"]);
        assert!(two["caveats"].to_string().contains("answers-without-class"), "{two}");
        let said = replayed.stderr();
        let what = if code == 0 { "name no class and count as wrong:" } else { "are left out:" };
        assert!(said.contains(what), "{said}");
        if code == 0 {
            // The whole of it is judged by the same rule.
            let full = two["overall"]["full_accuracy"].as_f64().expect("a replay knows it");
            assert!(full < 0.75, "{full}");
        }
    }
}

#[test]
fn a_key_that_a_model_repeats_is_in_no_file_and_no_message() {
    let server = reluctant(Some(KEY));
    let place = place(&server.url, "");
    let ran = adapt(&place, &[]).ok();
    assert!(ran.stderr().contains("[…]?”"), "{}", ran.all());
    assert!(place.read("out/asked-predictions.csv").contains("not say. […]”"));
    assert!(!has_key(&place.path(".")) && !ran.all().contains(KEY), "{}", ran.all());
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_anything_is_asked() {
    let server = StandIn::start(&beliefs(), Manners::default());
    let place = place(&server.url, "");
    std::fs::create_dir_all(place.path("taken/asked.csv")).expect("because it is ours");
    std::fs::create_dir(place.path("newer")).expect("because it is ours");
    place.write("newer/summary.json", "{\"version\": 99}");
    for (output, code) in [("stimuli.csv", 2), ("stimuli.csv/x", 3), ("taken", 2), ("newer", 2)] {
        let ran = place.run_where(&["adapt", "eval.toml", "-o", output], |command| {
            command.env("MOHS_TEST_KEY", KEY);
        });
        assert_eq!(ran.code(), code, "{output}: {}", ran.all());
    }
    assert_eq!(server.seen().n_requests, 0);
    assert_eq!(place.names().iter().filter(|name| name.starts_with(".mohs-")).count(), 1);
}

#[test]
fn tries_that_may_have_been_paid_count_against_the_cap_and_are_told() {
    let manners = Manners { troubles: vec![vec![Trouble::HalfJson; 99]], ..Manners::default() };
    let server = StandIn::start(&beliefs(), manners);
    let place = place(&server.url, "cost_cap = 0.05\ntokens_per_picture = 1000");
    let ran = adapt(&place, &[]);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    let said = ran.stderr();
    assert!(said.contains("0 paid calls in this run"), "{said}");
    assert!(said.contains("4 requests may have been paid although no answer came"), "{said}");
    assert!(said.contains("not asked: the cap on cost was reached"), "{said}");
    // A try is about 0.011.
    assert_eq!(server.seen().n_requests, 4);
}

#[test]
fn a_question_that_is_not_answered_stops_the_test_and_the_next_run_goes_on() {
    // Every fifth question finds the endpoint down as often as it is asked in one run.
    let troubles = vec![vec![], vec![], vec![], vec![], vec![Trouble::Down; 2]];
    let server = StandIn::start(&beliefs(), Manners { troubles, ..Manners::default() });
    let place = place(&server.url, "tries = 2");
    let mut n_stopped = 0;
    let finished = loop {
        let ran = adapt(&place, &[]);
        if ran.code() == 0 {
            break ran;
        }
        assert_eq!(ran.code(), 1, "{}", ran.all());
        assert!(ran.stderr().contains("the test is not finished"), "{}", ran.all());
        assert!(ran.stderr().contains("no answer from the endpoint: no answer after 2 tries"));
        assert!(!place.path("out/summary.json").exists(), "nothing is estimated from a part");
        n_stopped += 1;
        assert!(n_stopped < 10, "it never ends");
    };
    assert!(0 < n_stopped);
    assert_eq!(test_of(&finished)["n_asked"], N_ASKED);
    assert_eq!(server.seen().paid(), (N_ASKED, 1));
}

#[test]
fn a_test_that_is_killed_goes_on_and_ends_with_the_same_bytes() {
    let thinks = Duration::from_millis(30);
    let manners = || Manners { thinks, honours_keys: true, ..Manners::default() };
    let server = StandIn::start(&beliefs(), manners());
    let place = place(&server.url, "");
    let mut n_kills = 0;
    for n_kept in [2, 8, 15] {
        let is_far = || n_kept <= kept(&place).len();
        n_kills += usize::from(place.kill_when(&ARGS, ("MOHS_TEST_KEY", KEY), is_far));
    }
    assert!(0 < n_kills, "every run was done before it could be killed");
    adapt(&place, &[]).ok();
    let seen = server.seen();
    assert_eq!(seen.charged.len(), N_ASKED);
    // The same key each time: an endpoint that knows it charges once.
    assert_eq!(seen.charged.values().sum::<usize>(), N_ASKED);
    assert!(seen.answered.values().sum::<usize>() <= N_ASKED + 2 * n_kills);
    let killed = place.read("out/summary.json");
    // Without the answers that are kept, in one go.
    std::fs::remove_dir_all(place.path(".mohs-cache")).expect("because it is ours");
    adapt(&place, &[]).ok();
    assert_eq!(place.read("out/summary.json"), killed);
}

#[test]
fn a_cap_on_cost_stops_the_test_and_a_higher_one_goes_on() {
    let server = StandIn::start(&beliefs(), Manners::default());
    let place = place(&server.url, "cost_cap = 0.05");
    let ran = adapt(&place, &[]);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    assert!(ran.stderr().contains("not asked: the cap on cost was reached"), "{}", ran.all());
    assert!(ran.stderr().contains("raise `cost_cap`, or give a smaller --budget"));
    let (n_paid, _) = server.seen().paid();
    assert!(0 < n_paid && n_paid <= 16, "{n_paid}");
    let manifest = place.read("eval.toml").replace("cost_cap = 0.05", "cost_cap = 1");
    place.write("eval.toml", manifest);
    adapt(&place, &[]).ok();
    assert_eq!(server.seen().paid(), (N_ASKED, 1));
}

#[test]
fn a_cap_on_cost_holds_over_the_same_again_and_an_evaluation_in_the_same_cache() {
    let server = StandIn::start(&beliefs(), Manners::default());
    let place = place(&server.url, "cost_cap = 0.05");
    let eval = ["eval", "eval.toml", "--engine", "rten"];
    let part = [&eval[..], &["--limit", "50"]].concat();
    for args in [&ARGS[..], &ARGS[..], &eval[..], &part[..]] {
        let ran = place.run_where(args, |command| {
            command.env("MOHS_TEST_KEY", KEY);
        });
        assert_eq!(ran.code(), 1, "{}", ran.all());
        // An answer is 0.003, and 17 would pass the cap.
        let n_paid = server.seen().n_requests;
        assert!((1..=16).contains(&n_paid), "{n_paid}");
        let thousandths = 3 * n_paid;
        assert!(ran.all().contains(&format!("in all 0.{thousandths:03}0")), "{}", ran.all());
        assert!(ran.all().contains("not asked: the cap on cost was reached"), "{}", ran.all());
    }
    // What the test itself needed is said of it, whatever else is in the cache.
    let manifest = place.read("eval.toml").replace("cost_cap = 0.05", "cost_cap = 1");
    place.write("eval.toml", manifest);
    let evaluated = place.run_where(&eval, |command| {
        command.env("MOHS_TEST_KEY", KEY);
    });
    assert!(evaluated.stdout().contains("in all 0.2880"), "{}", evaluated.all());
    let tested = adapt(&place, &[]).ok();
    let needed = test_of(&tested)["spent"]["endpoint"]["cost"].as_f64().expect("a number");
    assert!((needed - 0.003 * 24.0).abs() < 1e-9, "{needed}");
    assert!(tested.stderr().contains("in all 0.2880"), "{}", tested.all());
    assert_eq!(server.seen().paid(), (N, 1));
}

#[test]
fn without_a_cache_nobody_is_told_that_answers_are_kept() {
    let server = StandIn::start(&beliefs(), Manners::default());
    let place = place(&server.url, "cost_cap = 0.05");
    let evaluate = ["eval", "eval.toml", "--engine", "rten", "--no-cache"];
    for args in [&[&ARGS[..], &["--no-cache"]].concat()[..], &evaluate] {
        let ran = place.run_where(args, |command| {
            command.env("MOHS_TEST_KEY", KEY);
        });
        assert_eq!(ran.code(), 1, "{}", ran.all());
        let said = ran.stderr();
        assert!(said.contains("--no-cache: no answer is kept, and another run asks"), "{said}");
        assert!(said.contains("with --no-cache no answer was kept: raise `cost_cap`"), "{said}");
        assert!(!said.contains("answers are kept"), "{said}");
    }
}
