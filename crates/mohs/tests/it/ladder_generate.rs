//! `mohs ladder build generate` against a stand-in that writes and draws, and makes trouble: what it
//! costs is said first, nothing is paid twice or lost, and what fails is a row.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use mohs_vision::pixels;

use crate::mohs::{Place, Ran};
use crate::stand_in::{ALL, Manners, StandIn, Trouble};

const KEY: &str = "sk-only-in-the-environment-8";
const ARGS: [&str; 6] = ["ladder", "build", "generate", "draw.toml", "--output", "rungs"];

/// Two classes, two attributes, three levels and three pictures each: 36 pictures, seven questions.
const N_PICTURES: usize = 2 * 2 * 3 * 3;
const N_QUESTIONS: usize = 1 + 2 + 4;

fn place(url: &str, more: &str) -> Place {
    let place = Place::new();
    let endpoint = |model: &str, prices: &str| {
        format!(
            "url = \"{url}\"\nmodel = \"{model}\"\nkey_env = \"MOHS_TEST_KEY\"\nparallel = 3\n\
             timeout_s = 1.5\nwait_s = 0.01\nlongest_wait_s = 0.05\n{prices}\n"
        )
    };
    let config = format!(
        "version = 1\nname = \"drawn\"\nclasses = [\"mug\", \"bird\"]\nn_attributes = 2\n\
         per_level = 3\nseed_parameter = \"seed\"\n{more}\n[writer]\n{}[painter]\n{}",
        endpoint("pen", "price_input = 10\nprice_output = 10"),
        endpoint("brush", "price_picture = 0.04"),
    );
    place.write("draw.toml", config);
    place
}

fn generate(place: &Place, more: &[&str]) -> Ran {
    generate_with(place, KEY, more)
}

fn generate_with(place: &Place, key: &str, more: &[&str]) -> Ran {
    place.run_where(&[&ARGS[..], more].concat(), |command| {
        command.env("MOHS_TEST_KEY", key);
    })
}

const REVIEW: &str = "stimulus,verdict,reason,reviewed_at_ms,reviews_version\n";

/// Lines of all ledgers.
fn paid(place: &Place) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(place.path("rungs/paid")) else { return Vec::new() };
    let files = entries.flatten().map(|entry| entry.path());
    let ledgers = files.filter(|path| path.extension().is_some_and(|ending| ending == "answers"));
    let texts = ledgers.map(|path| std::fs::read_to_string(path).unwrap_or_default());
    texts.flat_map(|text| text.lines().map(ToOwned::to_owned).collect::<Vec<_>>()).collect()
}

/// How often each outcome stands in the account of pictures.
fn outcomes(place: &Place) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in place.read("rungs/pictures.csv").lines().skip(1) {
        let outcome = line.split(',').nth(6).unwrap_or_default();
        *counts.entry(outcome.to_owned()).or_insert(0) += 1;
    }
    counts
}

fn has_key(folder: &Path) -> bool {
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
fn a_dry_run_says_the_cost_and_asks_nothing_and_a_run_needs_leave_to_pay() {
    let server = StandIn::start(&[], Manners::default());
    let place = place(&server.url, "");
    let dry = generate(&place, &["--dry-run"]).ok();
    let said = dry.stdout();
    for part in ["attributes", "levels", "prompts", "36", "1.44", "Nothing was asked."] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let without_leave = generate(&place, &[]);
    assert_eq!(without_leave.code(), 2, "{}", without_leave.all());
    assert!(without_leave.stderr().contains("nobody said what this may cost"));
    assert!(without_leave.stderr().contains("1.44"), "the cost is said before");
    assert_eq!(server.seen().n_requests, 0);
    assert_eq!(place.names(), ["draw.toml"]);
    let without_key = place.run_where(&[&ARGS[..], &["--yes"]].concat(), |command| {
        command.env_remove("MOHS_TEST_KEY");
    });
    assert_eq!(without_key.code(), 2);
    assert!(without_key.stderr().contains("$MOHS_TEST_KEY is not set"), "{}", without_key.all());
    assert_eq!(server.seen().n_requests, 0);
    assert_eq!(place.names(), ["draw.toml"]);
}

#[test]
fn a_writer_that_is_not_there_leaves_no_empty_folders() {
    let place = place("http://127.0.0.1:9/v1", "max_cost = 1");
    let config = place.read("draw.toml").replace("parallel = 3", "parallel = 3\ntries = 1");
    place.write("draw.toml", config);
    // The second time in the folder of the first.
    for _ in 0..2 {
        let ran = generate(&place, &[]);
        assert_eq!(ran.code(), 3, "{}", ran.all());
        for name in ["stimuli", "contact", "masks"] {
            assert!(!place.path(&format!("rungs/{name}")).exists(), "{name}");
        }
    }
}

#[test]
fn every_trouble_passes_and_the_ladder_is_whole_and_paid_once() {
    let troubles: Vec<Vec<Trouble>> = ALL.iter().map(|trouble| vec![*trouble]).collect();
    let manners =
        Manners { troubles, key: Some(KEY), babbles: vec!["viewpoint ("], ..Manners::default() };
    let server = StandIn::start(&[], manners);
    let place = place(&server.url, "");
    let ran = generate(&place, &["--yes"]).ok();
    assert!(ran.stderr().contains("36 pictures, 36 of them new"), "{}", ran.all());
    // The levels of one attribute had to be asked for twice: the first answer was no JSON.
    let n_answers = N_QUESTIONS + 1 + N_PICTURES;
    assert_eq!(server.seen().paid(), (n_answers, 1));
    assert_eq!(paid(&place).len(), n_answers);
    let table = place.read("rungs/stimuli.csv");
    assert_eq!(table.lines().count(), 1 + N_PICTURES);
    assert_eq!(place.read("rungs/made.csv"), table);
    for (level, n) in [("easy", 12), ("medium", 12), ("hard", 12)] {
        assert_eq!(table.matches(&format!(",{level},")).count(), n);
    }
    assert!(table.contains("bird-viewpoint-9-01,stimuli/bird-viewpoint-9-01.png,bird,drawn"));
    assert_eq!(outcomes(&place), BTreeMap::from([("drawn".to_owned(), N_PICTURES)]));
    let account = place.read("rungs/pictures.csv");
    assert!(account.contains("A photo of a bird: hard viewpoint 3.,brush,"), "{account}");
    for sheet in ["position", "viewpoint"] {
        let sheet = pixels::read(&place.path(&format!("rungs/contact/{sheet}.png"))).unwrap();
        // As wide as "4 medium", which is wider than the picture.
        assert_eq!(sheet.width(), 9 * 100 + 4, "one picture per step");
    }
    let picture = pixels::read(&place.path("rungs/stimuli/mug-position-1-01.png")).unwrap();
    assert_eq!(picture.width(), 48);
    assert!(!has_key(&place.path(".")) && !ran.all().contains(KEY));
    let again = generate(&place, &[]).ok();
    assert!(again.stderr().contains("36 pictures, 0 of them new"), "{}", again.all());
    assert_eq!(server.seen().paid(), (n_answers, 1));
    assert_eq!(place.read("rungs/stimuli.csv"), table);
    assert_eq!(place.read("rungs/pictures.csv"), account);
}

#[test]
fn a_key_that_writer_and_painter_repeat_is_in_no_file_and_no_message() {
    let manners =
        Manners { repeats: Some(KEY), refuses: vec!["hard viewpoint 3."], ..Manners::default() };
    let server = StandIn::start(&[], manners);
    let place = place(&server.url, "");
    let ran = generate(&place, &["--yes"]);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    let prompts = place.read("rungs/prompts.csv");
    assert!(prompts.contains("A photo, […], […] of a bird: easy viewpoint 1."), "{prompts}");
    assert!(place.read("rungs/pictures.csv").contains("I would rather not draw that. […]"));
    assert!(!has_key(&place.path(".")) && !ran.all().contains(KEY), "{}", ran.all());
}

#[test]
fn a_painter_that_sends_addresses_is_given_up_at_once_and_leaves_an_account() {
    let server = StandIn::start(&[], Manners::default());
    let place = place(&server.url, "max_cost = 0.5");
    generate(&place, &["--plan-only"]).ok();
    let manners = Manners { troubles: vec![vec![Trouble::Address; 99]], ..Manners::default() };
    let useless = StandIn::start(&[], manners);
    place.write("draw.toml", place.read("draw.toml").replace(&server.url, &useless.url));
    let mut n_requests = 0;
    for _ in 0..2 {
        let ran = generate(&place, &[]);
        assert_eq!(ran.code(), 1, "{}", ran.all());
        let said = ran.stderr();
        assert!(said.contains("36 pictures were not asked for"), "{said}");
        assert!(said.contains("`brush` at http://127.0.0.1"), "{said}");
        assert!(said.contains("it sends addresses of pictures"), "{said}");
        let n_now = useless.seen().n_requests;
        assert!((1..=3).contains(&(n_now - n_requests)), "{n_now}");
        n_requests = n_now;
        let told = format!("0 answers paid, {n_requests} tries that may have been paid so far");
        assert!(said.contains(&told), "{said}");
    }
    assert_eq!(outcomes(&place)["not-asked"], N_PICTURES);
}

#[test]
fn a_painter_that_never_sends_a_picture_is_given_up_over_runs() {
    let server = StandIn::start(&[], Manners::default());
    let place = place(&server.url, "max_cost = 10\nattributes = [\"size\"]");
    place.write("draw.toml", place.read("draw.toml").replace("per_level = 3", "per_level = 1"));
    generate(&place, &["--plan-only"]).ok();
    let manners = Manners { troubles: vec![vec![Trouble::NoPicture; 99]], ..Manners::default() };
    let useless = StandIn::start(&[], manners);
    place.write("draw.toml", place.read("draw.toml").replace(&server.url, &useless.url));
    for _ in 0..3 {
        let ran = generate(&place, &[]);
        assert_eq!(ran.code(), 1, "{}", ran.all());
        let said = ran.stderr();
        assert!(said.contains("6 pictures failed"), "{said}");
        assert!(said.contains("18 tries that may have been paid so far"), "{said}");
        assert!(
            said.contains("the same again asks for none of these: change their prompts"),
            "{said}"
        );
        assert!(!said.contains("run again to ask again"), "{said}");
        assert!(place.read("rungs/pictures.csv").contains("given up after 3 answers"), "{said}");
        assert_eq!(useless.seen().n_requests, 6 * 3);
    }
    let dry = generate(&place, &["--dry-run"]).ok();
    assert!(dry.stdout().contains("About 0.00 in all"), "{}", dry.all());
    place.write("rungs/prompts.csv", place.read("rungs/prompts.csv").replace("A photo", "A shot"));
    generate(&place, &[]);
    assert_eq!(useless.seen().n_requests, 2 * 6 * 3);
}

#[test]
fn prompts_that_the_writer_refuses_are_said_with_what_can_be_done() {
    let manners = Manners { refuses: vec!["every picture is"], ..Manners::default() };
    let server = StandIn::start(&[], manners);
    let place = place(&server.url, "");
    let ran = generate(&place, &["--yes", "--plan-only"]);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    let said = ran.stderr();
    assert!(said.contains("plan.toml") && !said.contains("rungs/prompts.csv"), "{said}");
    assert!(!said.contains("pictures.csv"), "{said}");
    assert!(said.contains("`mug`, `position`: refused to answer"), "{said}");
    assert!(said.contains("the same again asks nothing"), "{said}");
    assert!(said.contains("7 answers paid, 0 tries that may have been paid"), "{said}");
    assert!(said.contains("and up to 0.00 for these tries"), "{said}");
}

#[test]
fn the_plan_is_for_people_to_change() {
    let server = StandIn::start(&[], Manners::default());
    let place = place(&server.url, "");
    let ran = generate(&place, &["--yes", "--plan-only"]).ok();
    assert!(ran.stderr().contains("change what you like"), "{}", ran.all());
    assert!(ran.stderr().contains("prompts.csv"), "{}", ran.all());
    assert_eq!(server.seen().paid(), (N_QUESTIONS, 1));
    assert!(!place.path("rungs/stimuli.csv").exists());
    let plan = place.read("rungs/plan.toml");
    assert!(plan.contains("\"hard viewpoint 3\""), "{plan}");
    // One class less, and another prompt for the first step of what is left.
    place.write("rungs/plan.toml", plan.replace("    \"bird\",\n", ""));
    let prompts = place.read("rungs/prompts.csv");
    let mug_only: Vec<&str> = prompts.lines().filter(|line| !line.starts_with("bird")).collect();
    let changed = mug_only.join("\n").replacen("A photo of a mug", "My own mug", 1) + "\n";
    place.write("rungs/prompts.csv", changed);
    let ran = generate(&place, &["--yes"]).ok();
    assert!(ran.stderr().contains("the plan decides"), "{}", ran.all());
    assert_eq!(server.seen().paid(), (N_QUESTIONS + N_PICTURES / 2, 1));
    let account = place.read("rungs/pictures.csv");
    assert!(account.contains("My own mug: easy position 1.") && !account.contains("bird"));
    // A prompt for something that is not planned would silently not be drawn.
    place.write(
        "rungs/prompts.csv",
        format!("{}cat,size,easy,1,A cat.,1\n", mug_only[0].to_owned() + "\n"),
    );
    let ran = generate(&place, &["--yes"]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr().contains("has nothing of the class `cat`"), "{}", ran.all());
}

#[test]
fn given_attributes_and_a_template_need_only_levels_of_the_writer() {
    let server = StandIn::start(&[], Manners::default());
    let more = "attributes = [\"size\"]\ntemplate = \"A {class}, {attribute}: {value}\"";
    let place = place(&server.url, more);
    generate(&place, &["--yes"]).ok();
    assert_eq!(server.seen().paid(), (1 + N_PICTURES / 2, 1));
    assert!(place.read("rungs/prompts.csv").contains("\"A mug, size: easy size 1\""));
}

#[test]
fn refusals_and_babble_are_rows_that_say_so() {
    // It neither writes about birds at some viewpoint nor draws what is hard about positions.
    let manners = Manners { refuses: vec!["hard position"], ..Manners::default() };
    let server = StandIn::start(&[], manners);
    let place =
        place(&server.url, "template = \"A {class}: {value}\"\nattributes = [\"position\"]");
    let ran = generate(&place, &["--yes"]);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    let expected = BTreeMap::from([("drawn".to_owned(), 12), ("refused".to_owned(), 6)]);
    assert_eq!(outcomes(&place), expected);
    assert!(place.read("rungs/pictures.csv").contains("refused,I would rather not draw that."));
    assert_eq!(place.read("rungs/stimuli.csv").lines().count(), 1 + 12);
    let n_requests = server.seen().n_requests;
    assert_eq!(generate(&place, &["--yes"]).code(), 1);
    assert_eq!(server.seen().n_requests, n_requests, "a refusal is kept");
    let prompts =
        place.read("rungs/prompts.csv").replace("hard position", "a position that is hard");
    place.write("rungs/prompts.csv", prompts);
    generate(&place, &["--yes"]).ok();
    assert_eq!(place.read("rungs/stimuli.csv").lines().count(), 1 + 18);
}

#[test]
fn cells_that_the_writer_refuses_are_failed_rows_and_can_be_written_by_hand() {
    let manners = Manners { refuses: vec!["every picture is: bird"], ..Manners::default() };
    let server = StandIn::start(&[], manners);
    let place = place(&server.url, "");
    let ran = generate(&place, &["--yes"]);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    assert!(ran.stderr().contains("2 cells have no prompts, 18 pictures failed"), "{}", ran.all());
    let account = place.read("rungs/pictures.csv");
    assert!(account.contains("no prompt: refused to answer: “I would rather not write that.”"));
    assert_eq!(outcomes(&place)["failed"], 18);
    let mut prompts = place.read("rungs/prompts.csv");
    for attribute in ["position", "viewpoint"] {
        for step in 1..=9 {
            prompts.push_str(&format!(
                "bird,{attribute},,{step},A bird by hand: easy {attribute},1\n"
            ));
        }
    }
    place.write("rungs/prompts.csv", prompts);
    generate(&place, &["--yes"]).ok();
    assert_eq!(outcomes(&place)["drawn"], N_PICTURES);
}

#[test]
fn a_writer_that_only_babbles_ends_the_run_before_anything_is_drawn() {
    let manners = Manners { refuses: vec!["Name 2 attributes"], ..Manners::default() };
    let server = StandIn::start(&[], manners);
    let place = place(&server.url, "");
    let ran = generate(&place, &["--yes"]);
    assert_eq!(ran.code(), 3, "{}", ran.all());
    assert!(ran.stderr().contains("no usable attributes: refused to answer"), "{}", ran.all());
    assert_eq!(server.seen().paid(), (1, 1));
    // The refusal is kept; what is said to do about it does ask anew.
    assert!(ran.stderr().contains("the same again asks nothing"), "{}", ran.all());
    assert_eq!(generate(&place, &["--yes"]).code(), 3);
    assert_eq!(server.seen().paid(), (1, 1));
    let anew = "model = \"pen\"\nparameters = { max_tokens = 4000, temperature = 1 }";
    place.write("draw.toml", place.read("draw.toml").replace("model = \"pen\"", anew));
    assert_eq!(generate(&place, &["--yes"]).code(), 3);
    assert_eq!(server.seen().paid(), (2, 1));
}

#[test]
fn a_writer_that_only_thinks_is_given_up_over_runs_and_counts_at_what_it_took() {
    let manners = Manners { troubles: vec![vec![Trouble::OnlyThinks; 99]], ..Manners::default() };
    let server = StandIn::start(&[], manners);
    let place = place(&server.url, "max_cost = 5");
    for _ in 0..2 {
        let ran = generate(&place, &[]);
        assert_eq!(ran.code(), 3, "{}", ran.all());
        assert!(ran.stderr().contains("given up after 3 answers"), "{}", ran.all());
        assert!(ran.stderr().contains("the same again asks nothing"), "{}", ran.all());
        // 300 and 4000 tokens at 10 a million, three times.
        assert!(ran.stderr().contains("and up to 0.1290 for these tries"), "{}", ran.all());
        assert_eq!(server.seen().n_requests, 3);
    }
}

#[test]
fn the_cap_holds_for_writer_and_painter_together_and_over_runs() {
    let server = StandIn::start(&[], Manners::default());
    // Seven answers of the writer cost 0.00304 each; the rest is enough for ten pictures.
    let place = place(&server.url, "max_cost = 0.43");
    let ran = generate(&place, &[]);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    assert!(ran.stderr().contains("That will not be enough for everything"), "{}", ran.all());
    assert!(ran.stderr().contains("26 pictures were not asked for"), "{}", ran.all());
    let expected = BTreeMap::from([("drawn".to_owned(), 10), ("not-asked".to_owned(), 26)]);
    assert_eq!(outcomes(&place), expected);
    assert!(place.read("rungs/pictures.csv").contains("not-asked,the cap on cost was reached"));
    assert_eq!(generate(&place, &[]).code(), 1);
    assert_eq!(server.seen().paid(), (N_QUESTIONS + 10, 1));
    let config = place.read("draw.toml").replace("max_cost = 0.43", "max_cost = 5.0");
    place.write("draw.toml", config);
    generate(&place, &[]).ok();
    assert_eq!(server.seen().paid(), (N_QUESTIONS + N_PICTURES, 1));
}

#[test]
fn the_cap_counts_what_writers_and_painters_of_earlier_runs_were_paid() {
    let server = StandIn::start(&[], Manners::default());
    // Enough for seven answers of the writer, at 0.00304 each, and ten pictures.
    let place = place(&server.url, "max_cost = 0.43");
    assert_eq!(generate(&place, &[]).code(), 1);
    let n_paid = (N_QUESTIONS + 10, 1);
    assert_eq!(server.seen().paid(), n_paid);
    let change = |from: &str, to: &str| {
        assert!(place.read("draw.toml").contains(from), "{from}");
        place.write("draw.toml", place.read("draw.toml").replace(from, to));
    };
    // Another painter, dearer than the first and dearer than what is left.
    change("model = \"brush\"\n", "model = \"roller\"\n");
    change("price_picture = 0.04", "price_picture = 0.05");
    let dry = generate(&place, &["--dry-run"]).ok();
    assert!(dry.stdout().contains("0.4213 was paid for this folder before."), "{}", dry.all());
    assert!(dry.stdout().contains("That will not be enough for everything"), "{}", dry.all());
    let ran = generate(&place, &[]);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    assert!(ran.stderr().contains("this run cost 0.00, this ladder 0.4213"), "{}", ran.all());
    // Another writer, for a plan and prompts that are gone.
    change("model = \"pen\"\n", "model = \"quill\"\n");
    change("max_cost = 0.43", "max_cost = 0.425");
    for file in ["rungs/plan.toml", "rungs/prompts.csv"] {
        std::fs::remove_file(place.path(file)).unwrap();
    }
    for more in [&["--plan-only"][..], &[]] {
        let ran = generate(&place, more);
        assert_ne!(ran.code(), 0, "{}", ran.all());
    }
    // One question of the writer fits.
    assert_eq!(server.seen().paid().0, n_paid.0 + 1);
    change("max_cost = 0.425", "max_cost = 5.0");
    generate(&place, &[]).ok();
    let (n_all, _) = server.seen().paid();
    assert_eq!(n_all, 2 * N_QUESTIONS + 10 + N_PICTURES);
}

#[test]
fn a_run_that_is_killed_goes_on_and_asks_for_nothing_it_has() {
    let manners = Manners { thinks: Duration::from_millis(30), ..Manners::default() };
    let server = StandIn::start(&[], manners);
    let place = place(&server.url, "");
    let mut n_kills = 0;
    // While it plans, while it writes prompts, and twice while it draws.
    for n_paid in [2, 5, 14, 30] {
        let is_far = || n_paid <= paid(&place).len();
        n_kills += usize::from(place.kill_when(
            &[&ARGS[..], &["--yes"]].concat(),
            ("MOHS_TEST_KEY", KEY),
            is_far,
        ));
    }
    assert!(2 <= n_kills, "runs were done before they could be killed");
    let ran = generate(&place, &["--yes"]).ok();
    assert!(ran.stderr().contains("36 pictures"), "{}", ran.all());
    assert_eq!(paid(&place).len(), N_QUESTIONS + N_PICTURES);
    // Only what was on its way when the process died, three requests each time, can be answered again.
    let seen = server.seen();
    assert_eq!(seen.answered.len(), N_QUESTIONS + N_PICTURES);
    let n_answered: usize = seen.answered.values().sum();
    assert!(2 <= seen.most_at_once, "requests go side by side");
    assert!(n_answered <= N_QUESTIONS + N_PICTURES + 3 * n_kills, "{n_answered}");
}

#[test]
fn rejected_pictures_are_drawn_anew_with_another_seed_until_no_redraw_is_left() {
    let server = StandIn::start(&[], Manners::default());
    let place = place(&server.url, "redraws = 1");
    generate(&place, &["--yes"]).ok();
    let first = place.bytes("rungs/stimuli/mug-position-1-01.png");
    let header = "stimulus,verdict,reason,reviewed_at_ms,reviews_version\n";
    let rejected = format!("{header}mug-position-1-01,rejected,shows another thing,1,1\n");
    place.write("rungs/review.csv", &rejected);
    let ran = generate(&place, &["--yes"]).ok();
    assert!(
        ran.stderr().contains("36 pictures, 1 of them new, 1 more are rejected"),
        "{}",
        ran.all()
    );
    assert_ne!(place.bytes("rungs/stimuli/mug-position-1-01-r1.png"), first);
    let table = place.read("rungs/stimuli.csv");
    assert!(table.contains("mug-position-1-01-r1,") && !table.contains("\nmug-position-1-01,"));
    assert!(place.read("rungs/made.csv").contains("\nmug-position-1-01,"));
    assert_eq!(server.seen().paid(), (N_QUESTIONS + N_PICTURES + 1, 1));
    place.write("rungs/review.csv", rejected + "mug-position-1-01-r1,rejected,,2,1\n");
    let ran = generate(&place, &["--yes"]);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    assert!(
        place.read("rungs/pictures.csv").contains("rejected 2 times, and `redraws` allows no more")
    );
    assert_eq!(place.read("rungs/stimuli.csv").lines().count(), N_PICTURES);
    // Taken back, the first picture is there again and nothing is paid.
    place.write("rungs/review.csv", format!("{header}mug-position-1-01,accepted,,3,1\n"));
    generate(&place, &["--yes"]).ok();
    assert_eq!(server.seen().paid(), (N_QUESTIONS + N_PICTURES + 1, 1));
    assert!(place.read("rungs/stimuli.csv").contains("\nmug-position-1-01,"));
}

#[test]
fn an_endpoint_that_is_gone_leaves_an_account_of_what_there_is() {
    let server = StandIn::start(&[], Manners::default());
    let place = place(&server.url, "");
    generate(&place, &["--yes", "--plan-only"]).ok();
    let config = place.read("draw.toml");
    let at = config.find("[painter]").expect("because it was written");
    let gone = config[at..].replace(&server.url, "http://127.0.0.1:9/v1");
    place.write("draw.toml", format!("{}{gone}tries = 1\n", &config[..at]));
    let ran = generate(&place, &["--yes"]);
    assert_eq!(ran.code(), 3, "{}", ran.all());
    let counts = outcomes(&place);
    assert_eq!(counts.values().sum::<usize>(), N_PICTURES, "{counts:?}");
    assert!(1 <= counts["not-asked"], "{counts:?}");
    place.write("draw.toml", config);
    generate(&place, &["--yes"]).ok();
    assert_eq!(outcomes(&place)["drawn"], N_PICTURES);
}

#[test]
fn slips_in_the_config_are_refused_before_anything_is_asked() {
    let server = StandIn::start(&[], Manners::default());
    let classes = "classes = [\"mug\", \"bird\"]";
    for (from, to, said) in [
        (classes, "classes = []", "`classes` should be one class or more"),
        (classes, "classes = [\"mug\", \"mug\"]", "`classes` should be names that differ"),
        (classes, "classes = \"classes.txt\"", "`classes` should be names that differ"),
        (
            "per_level = 3",
            "attributes = [\"q\", \"q\"]",
            "`attributes` should be names that differ",
        ),
        ("per_level = 3", "template = \"{class} {value} {foo}\"", "found `{foo}`"),
        ("per_level = 3", "template = \"{class} {valeu}\"", "did you mean `{value}`?"),
    ] {
        let place = place(&server.url, "max_cost = 5");
        place.write("classes.txt", "mug\nbird\nmug\n");
        place.write("draw.toml", place.read("draw.toml").replace(from, to));
        let ran = generate(&place, &[]);
        assert_eq!(ran.code(), 2, "{}", ran.all());
        assert!(ran.stderr().contains("draw.toml"), "{}", ran.all());
        assert!(ran.stderr().contains(said), "{}", ran.all());
        assert!(!place.path("rungs").exists());
    }
    assert_eq!(server.seen().n_requests, 0);
}

#[test]
fn a_run_that_gets_nothing_leaves_nothing_behind() {
    let manners = Manners { key: Some("another key"), ..Manners::default() };
    let server = StandIn::start(&[], manners);
    let place = place(&server.url, "max_cost = 5");
    let ran = generate(&place, &[]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert_eq!(place.names(), ["draw.toml"], "after a wrong key");
    place.write("draw.toml", place.read("draw.toml").replace("max_cost = 5", "max_cost = 0"));
    let ran = generate(&place, &[]);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    assert!(!ran.stderr().contains("contact"), "{}", ran.all());
    assert_eq!(place.names(), ["draw.toml"], "at the cap");
}

#[test]
fn a_drawn_ladder_is_not_built_into_a_ladder_of_another_kind() {
    let server = StandIn::start(&[], Manners::default());
    let place = place(&server.url, "max_cost = 5");
    let world = ["ladder", "build", "world", "rungs", "--classes", "mug", "--size", "48"];
    let world = [&world[..], &["--scenes", "1", "--attributes", "size"]].concat();
    place.run(&world).ok();
    for more in [&[][..], &["--dry-run"]] {
        let ran = generate(&place, more);
        assert_eq!(ran.code(), 2, "{}", ran.all());
        assert!(ran.stderr().contains("`rungs` holds a ladder of the built-in world"));
    }
    assert_eq!(server.seen().n_requests, 0);
    std::fs::remove_dir_all(place.path("rungs")).unwrap();
    generate(&place, &["--plan-only"]).ok();
    let ran = place.run(&world);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("`rungs` holds a drawn ladder"), "{}", ran.all());
}

#[test]
fn a_run_that_ends_early_leaves_every_picture_there_is_in_the_tables() {
    let manners = Manners { key: Some(KEY), ..Manners::default() };
    let server = StandIn::start(&[], manners);
    let place = place(&server.url, "max_cost = 5");
    generate(&place, &[]).ok();
    let table = place.read("rungs/stimuli.csv");
    // The first of all is to be drawn anew, and the key is not taken any more.
    let first = "mug-position-1-01";
    place.write("rungs/review.csv", format!("{REVIEW}{first},rejected,,1,1\n"));
    let ran = generate_with(&place, "expired", &[]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    let counts = BTreeMap::from([("drawn".to_owned(), 35), ("not-asked".to_owned(), 1)]);
    assert_eq!(outcomes(&place), counts);
    let others: Vec<&str> = table.lines().filter(|line| !line.starts_with(first)).collect();
    let now = place.read("rungs/stimuli.csv");
    assert_eq!(now.lines().collect::<Vec<_>>(), others);
    // Nor is anything lost where nothing of it can be made.
    place.write("rungs/review.csv", REVIEW);
    let prompts = place.read("rungs/prompts.csv").replacen("A photo", "A shot", 1);
    place.write("rungs/prompts.csv", prompts);
    assert_eq!(generate_with(&place, "expired", &[]).code(), 2);
    let table = place.read("rungs/stimuli.csv");
    assert_eq!(table.lines().count(), N_PICTURES);
    // Nor where that is so of all.
    let prompts = place.read("rungs/prompts.csv").replace("A photo", "A sketch");
    place.write("rungs/prompts.csv", prompts);
    assert_eq!(generate_with(&place, "expired", &[]).code(), 2);
    assert_eq!(place.read("rungs/stimuli.csv"), table);
}

#[test]
fn a_whole_ladder_needs_no_key_and_a_dry_run_leaves_everything_as_it_is() {
    let server = StandIn::start(&[], Manners::default());
    let place = place(&server.url, "max_cost = 5");
    generate(&place, &[]).ok();
    let table = place.read("rungs/stimuli.csv");
    let without_key = place.run_where(&ARGS, |command| {
        command.env_remove("MOHS_TEST_KEY");
    });
    assert_eq!(without_key.code(), 0, "{}", without_key.all());
    assert_eq!(place.read("rungs/stimuli.csv"), table);
    // Half a line of a run that is going on, and a painter that was never asked.
    let entries = std::fs::read_dir(place.path("rungs/paid")).unwrap().flatten();
    let is_ledger = |path: &std::path::PathBuf| path.to_string_lossy().contains(".painter.answers");
    let ledger = entries.map(|entry| entry.path()).find(is_ledger).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(&ledger).unwrap();
    file.lock().unwrap();
    std::io::Write::write_all(&mut file, b"half a line").unwrap();
    let files = || {
        let entries = std::fs::read_dir(place.path("rungs/paid")).unwrap().flatten();
        entries.map(|entry| (entry.path(), entry.metadata().unwrap().len())).collect()
    };
    let before: BTreeMap<_, _> = files();
    let dry = generate(&place, &["--dry-run"]).ok();
    assert!(dry.stdout().contains("About 0.00 in all"), "{}", dry.all());
    let config = place.read("draw.toml").replace("\"brush\"", "\"roller\"");
    place.write("draw.toml", config);
    let dry = generate(&place, &["--dry-run"]).ok();
    assert!(dry.stdout().contains("About 1.44 in all"), "{}", dry.all());
    assert_eq!(files(), before);
}

#[test]
fn the_cap_of_a_painter_holds_below_that_of_both() {
    let server = StandIn::start(&[], Manners::default());
    let place = place(&server.url, "max_cost = 5");
    let capped = "price_picture = 0.04\ncost_cap = 0.2";
    place.write("draw.toml", place.read("draw.toml").replace("price_picture = 0.04", capped));
    let ran = generate(&place, &[]);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    assert_eq!(outcomes(&place)["drawn"], 5);
}

#[test]
fn a_picture_that_is_another_one_now_loses_its_verdict() {
    let server = StandIn::start(&[], Manners::default());
    let place = place(&server.url, "max_cost = 5");
    generate(&place, &[]).ok();
    let rows = "mug-position-1-01,accepted,,1,1\nmug-position-2-01,accepted,,1,1\n";
    place.write("rungs/review.csv", format!("{REVIEW}{rows}"));
    let prompts = place.read("rungs/prompts.csv").replacen("A photo", "A shot", 1);
    place.write("rungs/prompts.csv", prompts);
    let ran = generate(&place, &[]).ok();
    assert!(ran.stderr().contains("looked at and are others now: 1;"), "{}", ran.all());
    let review = place.read("rungs/review.csv");
    assert!(review.contains("mug-position-1-01,undecided,the picture was drawn anew"), "{review}");
    assert!(!review.contains("mug-position-2-01,undecided"), "{review}");
    let ran = generate(&place, &[]).ok();
    assert!(!ran.stderr().contains("others now"), "{}", ran.all());
}

#[test]
fn a_narrower_plan_takes_away_what_it_has_no_place_for() {
    let server = StandIn::start(&[], Manners::default());
    let place = place(&server.url, "max_cost = 5");
    generate(&place, &[]).ok();
    let plan = place.read("rungs/plan.toml").replace("    \"bird\",\n", "");
    let (viewpoint, plan) = (plan.rfind("[[attribute]]").unwrap(), plan);
    place.write("rungs/plan.toml", &plan[..viewpoint]);
    let prompts = place.read("rungs/prompts.csv");
    let is_left = |line: &&str| !line.starts_with("bird") && !line.contains(",viewpoint,");
    let left: Vec<&str> = prompts.lines().filter(is_left).collect();
    place.write("rungs/prompts.csv", left.join("\n") + "\n");
    let ran = generate(&place, &[]).ok();
    assert!(ran.stderr().contains("27 pictures of an earlier run"), "{}", ran.all());
    assert!(!place.path("rungs/contact/viewpoint.png").exists());
    assert!(place.path("rungs/contact/position.png").exists());
    let pictures = std::fs::read_dir(place.path("rungs/stimuli")).unwrap();
    assert_eq!(pictures.count(), N_PICTURES / 4);
}

#[test]
fn a_plan_by_hand_and_a_ladder_without_its_empty_folder_are_ladders() {
    let server = StandIn::start(&[], Manners::default());
    let place = place(&server.url, "max_cost = 5");
    generate(&place, &["--plan-only"]).ok();
    let plan = place.read("rungs/plan.toml");
    std::fs::remove_dir_all(place.path("rungs")).unwrap();
    std::fs::create_dir(place.path("rungs")).unwrap();
    place.write("rungs/plan.toml", plan);
    let config =
        place.read("draw.toml").replace("max_cost", "template = \"{class}: {value}\"\nmax_cost");
    let (before, after) = config.split_once("[writer]").unwrap();
    let (_, painter) = after.split_once("[painter]").unwrap();
    place.write("draw.toml", format!("{before}[painter]{painter}"));
    generate(&place, &[]).ok();
    let table = place.read("rungs/stimuli.csv");
    std::fs::remove_dir_all(place.path("rungs/.ladder")).unwrap();
    generate(&place, &[]).ok();
    assert_eq!(place.read("rungs/stimuli.csv"), table);
}
