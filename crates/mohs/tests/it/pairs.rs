//! `mohs score pairs` on files worked by hand.

use std::fmt::Write as _;

use serde_json::Value;

use crate::mohs::{Place, Ran};

/// Two stimuli, 30 to 10, by five participants; sides take turns.
fn thirty_to_ten() -> String {
    let mut text = "participant,left,right,harder\n".to_owned();
    for idx in 0..40 {
        let (left, right) = if idx % 2 == 0 { ("a", "b") } else { ("b", "a") };
        let harder = if idx % 4 < 3 { "a" } else { "b" };
        let _ = writeln!(text, "p{},{left},{right},{harder}", idx % 5);
    }
    text
}

fn score(place: &Place, more: &[&str]) -> Ran {
    let mut args = vec!["score", "pairs", "comparisons.csv", "--quiet", "--resamples", "100"];
    args.extend(more);
    place.run(&args)
}

fn json(place: &Place, more: &[&str]) -> Value {
    let ran = score(place, &[&["--format", "json"], more].concat()).ok();
    serde_json::from_str(&ran.stdout()).expect("because --format json prints JSON")
}

#[test]
fn two_stimuli_have_the_odds_they_won_by() {
    let place = Place::new();
    place.write("comparisons.csv", thirty_to_ten());
    let summary = json(&place, &["--output", "out"]);
    let hardest = &summary["pairs"]["stimuli"][1];
    assert_eq!(hardest["stimulus"], "a");
    let difficulty = hardest["difficulty"]["value"].as_f64().unwrap();
    assert!((difficulty - 3_f64.ln() / 2.0).abs() < 1e-9);
    assert_eq!(hardest["difficulty"]["n"], 40);
    assert!(
        place
            .read("out/difficulty.csv")
            .lines()
            .any(|line| line.starts_with("a,bradley-terry,0.549"))
    );
}

#[test]
fn winners_losers_and_counts_are_read() {
    let place = Place::new();
    place.write("comparisons.csv", "winner,loser,count\na,b,30\nb,a,10\n");
    let summary = json(&place, &[]);
    let pairs = &summary["pairs"];
    assert_eq!(pairs["n_judgements"], 40);
    assert_eq!(pairs["position"], Value::Null);
    assert_eq!(pairs["method"]["resampled"], "judgements");
}

#[test]
fn separated_data_are_refused_only_on_request() {
    let place = Place::new();
    place.write("comparisons.csv", "winner,loser,count\na,b,3\n");
    let said: Vec<String> =
        score(&place, &[]).ok().stdout().split_whitespace().map(str::to_owned).collect();
    assert!(said.join(" ").contains("a prior with a standard deviation of 2.5"));
    let ran = score(&place, &["--prior", "none", "--output", "out"]);
    assert_eq!(ran.code(), 2);
    assert_eq!(place.names(), ["comparisons.csv"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn a_prior_that_is_no_number_is_refused() {
    let place = Place::new();
    place.write("comparisons.csv", thirty_to_ten());
    let ran = score(&place, &["--prior", "-1"]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
}

#[test]
fn a_table_without_sides_or_winners_says_what_is_missing() {
    let place = Place::new();
    place.write("comparisons.csv", "judge,model_a,model_b,winner\nj,a,b,model_a\n");
    let ran = score(&place, &[]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("--map participant=judge"), "{}", ran.all());
}

#[test]
fn permuting_rows_changes_no_byte() {
    let place = Place::new();
    place.write("comparisons.csv", thirty_to_ten());
    let before = score(&place, &["--format", "json"]).ok().stdout();
    let text = thirty_to_ten();
    let mut rows: Vec<&str> = text.lines().skip(1).collect();
    rows.reverse();
    rows.rotate_left(7);
    place.write("comparisons.csv", format!("participant,left,right,harder\n{}\n", rows.join("\n")));
    assert_eq!(before, score(&place, &["--format", "json"]).ok().stdout());
}

#[test]
fn a_study_brings_its_name_its_stimuli_and_who_is_set_aside() {
    let place = Place::new();
    place.write("comparisons.csv", thirty_to_ten());
    place.write("s.csv", "stimulus,file,label\na,a.png,cat\nb,b.png,cat\n");
    let study = "version = 1\nname = \"cats\"\ntask = \"pairs\"\nstimuli = \"s.csv\"\n\
                 [exclusions]\nparticipants = [\"p0\"]\n[score]\nconfidence = 0.8\n";
    place.write("study.toml", study);
    let summary = json(&place, &["--study", "study.toml"]);
    assert_eq!(summary["title"], "cats");
    assert_eq!(summary["pairs"]["n_judgements"], 32);
    let confidence = &summary["pairs"]["stimuli"][0]["difficulty"]["confidence"];
    assert_eq!(confidence.as_f64(), Some(0.8));
    // A stimulus that the study does not know is a mistake, as with other measures.
    place.write("s.csv", "stimulus,file,label\na,a.png,cat\n");
    let ran = score(&place, &["--study", "study.toml"]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr().contains("`b`"), "{}", ran.all());
}
