//! `mohs eval` with a model behind an endpoint, against a stand-in that makes trouble.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use crate::eval::json;
use crate::mohs::{Place, Ran};
use crate::stand_in::{ALL, Manners, StandIn, Trouble, world};

const KEY: &str = "sk-only-in-the-environment-7";
const N: usize = 24;

/// A place with pictures of the world and a manifest for the stand-in.
fn place(url: &str, more: &str) -> Place {
    let place = Place::new();
    let mut table = "stimulus,file,label\n".to_owned();
    for (n, (picture, class)) in world(N).iter().enumerate() {
        place.write(&format!("{n}.png"), picture.to_png());
        table.push_str(&format!("s{n},{n}.png,{class}\n"));
    }
    place.write("stimuli.csv", table);
    let manifest = format!(
        "version = 1\nname = \"asked\"\n[[model]]\nname = \"stand-in\"\n[model.endpoint]\n\
         url = \"{url}\"\nmodel = \"eye\"\nkey_env = \"MOHS_TEST_KEY\"\nparallel = 2\n\
         timeout_s = 1.5\nwait_s = 0.01\nlongest_wait_s = 0.05\nprice_input = 10\n{more}\n"
    );
    place.write("eval.toml", manifest);
    place
}

const ARGS: [&str; 6] = ["eval", "eval.toml", "--engine", "rten", "--format", "json"];

fn eval(place: &Place) -> Ran {
    place.run_where(&ARGS, |command| {
        command.env("MOHS_TEST_KEY", KEY);
    })
}

/// Looks through everything below a folder.
pub(crate) fn has_key(folder: &Path) -> bool {
    std::fs::read_dir(folder).expect("because it is ours").flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return has_key(&path);
        }
        let bytes = std::fs::read(&path).expect("because it is ours");
        bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes())
    })
}

#[test]
fn every_trouble_passes_rows_are_ordinary_and_the_key_is_nowhere() {
    let troubles: Vec<Vec<Trouble>> = ALL.iter().map(|trouble| vec![*trouble]).collect();
    let manners = Manners { troubles, key: Some(KEY), ..Manners::default() };
    let server = StandIn::start(&world(N), manners);
    let place = place(&server.url, "");
    let first = eval(&place).ok();
    let json_of = |ran: &Ran| json(ran)["models"][0].clone();
    assert_eq!(json_of(&first)["spent"]["paid"], N, "{}", first.all());
    assert_eq!(json_of(&first)["probes"][0]["n_correct"], N, "{}", first.all());
    let written = place.read("predictions.csv");
    assert!(written.contains("stand-in,s0,none,,,bicycle,answered,bicycle,,1,,"), "{written}");
    let second = eval(&place).ok();
    assert_eq!(json_of(&second)["spent"]["paid"], 0);
    assert_eq!(json(&second)["from_cache"], N);
    assert_eq!(place.read("predictions.csv"), written);
    assert_eq!(server.seen().paid(), (N, 1));
    assert!(!has_key(&place.path(".")));
    assert!(!first.all().contains(KEY) && !second.all().contains(KEY));
    // No engine runs it.
    assert!(json(&first)["engine"].is_null(), "{}", first.all());
    assert!(first.stderr().contains("models: 1, stimuli: 24, probes: 1\n"), "{}", first.all());
    let dry = place.run(&[&ARGS[..4], &["--dry-run"]].concat()).ok();
    assert!(dry.stdout().contains("Nothing was run"), "{}", dry.all());
}

#[test]
fn refusals_and_unmatched_answers_are_failed_rows_that_say_so() {
    let manners = Manners {
        wording: Some("it is not a {class}".to_owned()),
        refuses: vec!["bird"],
        ..Manners::default()
    };
    let server = StandIn::start(&world(N), manners);
    let place = place(&server.url, "");
    let ran = eval(&place);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    let written = place.read("predictions.csv");
    assert!(written.contains("refused to answer: “I would rather not say.”"), "{written}");
    assert!(written.contains("unmatched answer, a class that it is not: “it is not"), "{written}");
    assert!(ran.stderr().contains("unmatched answer, a class that it is not (first: s0)"));
    // No picture is at fault, and another run would ask nothing.
    assert!(ran.stderr().contains("are kept, and the same again asks nothing"), "{}", ran.all());
    assert!(!ran.stderr().contains("mend the pictures"), "{}", ran.all());
    assert_eq!(server.seen().paid(), (N, 1));
}

#[test]
fn a_key_that_is_not_set_or_not_taken_is_said_without_it() {
    let manners = Manners { key: Some("another"), ..Manners::default() };
    let server = StandIn::start(&world(N), manners);
    let place = place(&server.url, "");
    let without = place.run_where(&ARGS, |command| {
        command.env_remove("MOHS_TEST_KEY");
    });
    assert_eq!(without.code(), 2);
    assert!(without.stderr().contains("$MOHS_TEST_KEY is not set"), "{}", without.all());
    let wrong = eval(&place);
    assert_eq!(wrong.code(), 2);
    assert!(wrong.stderr().contains("wrong key: Bearer […]"), "{}", wrong.all());
    assert!(!wrong.all().contains(KEY) && !has_key(&place.path(".")));
}

#[test]
fn a_key_that_a_model_repeats_is_in_no_file_and_no_message() {
    let manners = Manners {
        wording: Some("it is not a {class}".to_owned()),
        refuses: vec!["bird"],
        repeats: Some(KEY),
        ..Manners::default()
    };
    let server = StandIn::start(&world(N), manners);
    let place = place(&server.url, "");
    let ran = eval(&place);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    let written = place.read("predictions.csv");
    assert!(written.contains("“I would rather not say. […]”"), "{written}");
    assert!(written.contains("QmFzaWMg[…]w== […]?”"), "{written}");
    assert!(!has_key(&place.path(".")) && !ran.all().contains(KEY), "{}", ran.all());
}

#[test]
fn a_key_that_cannot_be_sent_is_an_input_error_that_names_the_variable() {
    let server = StandIn::start(&world(N), Manners::default());
    let place = place(&server.url, "");
    for key in ["“sk-quoted-by-an-editor”", "sk-two\nlines"] {
        let ran = place.run_where(&ARGS, |command| {
            command.env("MOHS_TEST_KEY", key);
        });
        assert_eq!(ran.code(), 2, "{}", ran.all());
        let said = ran.stderr();
        assert!(said.contains("the key in $MOHS_TEST_KEY cannot be sent in a header"), "{said}");
        assert!(!said.contains("quoted-by") && !said.contains("two"), "{said}");
    }
    assert_eq!(server.seen().n_requests, 0);
}

/// Lines of all ledgers.
pub(crate) fn kept(place: &Place) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(place.path(".mohs-cache")) else { return Vec::new() };
    let files = entries.flatten().map(|entry| entry.path());
    let ledgers = files.filter(|path| path.extension().is_some_and(|ending| ending == "answers"));
    ledgers
        .flat_map(|path| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            text.lines().map(ToOwned::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn a_run_that_is_killed_goes_on_and_asks_for_nothing_it_has() {
    let thinks = Duration::from_millis(30);
    let manners = Manners { thinks, honours_keys: true, ..Manners::default() };
    let server = StandIn::start(&world(N), manners);
    let place = place(&server.url, "");
    let mut n_kills = 0;
    for n_kept in [3, 9, 15] {
        let is_far = || n_kept <= kept(&place).len();
        n_kills += usize::from(place.kill_when(&ARGS, ("MOHS_TEST_KEY", KEY), is_far));
    }
    assert!(0 < n_kills, "every run was done before it could be killed");
    let n_known = kept(&place).len();
    let ran = eval(&place).ok();
    assert_eq!(json(&ran)["models"][0]["spent"]["paid"], N - n_known, "{}", ran.all());
    assert_eq!(json(&ran)["models"][0]["probes"][0]["n_correct"], N);
    let lines = kept(&place);
    assert_eq!(lines.len(), N);
    assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), N);
    // Only what was on its way when the process died, two requests each time, can be answered again.
    let seen = server.seen();
    let n_answered: usize = seen.answered.values().sum();
    assert_eq!(seen.answered.len(), N);
    assert!(n_answered <= N + 2 * n_kills, "{n_answered}");
    // An endpoint that knows idempotency keys charges for none of them twice.
    assert_eq!(seen.charged.values().sum::<usize>(), N);
    // What was on its way is listed; a request may also have died before it left.
    let n_doubtful = json(&ran)["models"][0]["spent"]["doubtful"].as_u64().expect("a number");
    assert!(n_answered <= N + usize::try_from(n_doubtful).expect("few"), "{}", ran.all());
    assert!(n_doubtful <= 2 * n_kills as u64, "{}", ran.all());
}

#[test]
fn a_cap_on_cost_leaves_the_rest_for_later() {
    let server = StandIn::start(&world(N), Manners::default());
    let place = place(&server.url, "cost_cap = 0.03");
    let ran = eval(&place);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    let spent = &json(&ran)["models"][0]["spent"];
    assert!(spent["cost_in_all"].as_f64().is_some_and(|cost| cost <= 0.03), "{}", ran.all());
    assert!(ran.stderr().contains("not asked: the cap on cost was reached"), "{}", ran.all());
    let manifest = place.read("eval.toml").replace("cost_cap = 0.03", "cost_cap = 1");
    place.write("eval.toml", manifest);
    eval(&place).ok();
    assert_eq!(server.seen().paid(), (N, 1));
}

#[test]
fn attacks_need_a_file() {
    let place = place("http://127.0.0.1:9/v1", "");
    let ran = place.run(&["attack", "eval.toml", "--engine", "rten", "-o", "eps.csv"]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
}
