//! `mohs score item-response`, `quality` and `compare` as people meet them.

use std::path::Path;

use crate::mohs::Place;

const MATRIX: &str = "participant,cat,dog,mug,count\na,1,1,0,20\nb,1,0,0,15\nc,0,1,0,9\nd,1,1,1,12\n\
                      e,0,0,0,14\nf,0,0,1,5\n";

fn trials() -> String {
    let mut csv = "participant,stimulus,idx,label,response,exposure_ms,rt_ms\n".to_owned();
    for participant in 0..6 {
        for idx in 0..24 {
            let label = ["cat", "dog", "mug"][idx % 3];
            let is_right = (participant * 7 + idx * 5) % 11 < 6 + participant % 3;
            let response = if is_right { label } else { "key" };
            let rt = if participant == 4 && idx % 2 == 0 { 60 } else { 600 + 10 * idx };
            csv += &format!("p{participant},s{idx},{idx},{label},{response},100,{rt}\n");
        }
    }
    csv
}

#[test]
fn a_response_matrix_gives_difficulties_in_every_format() {
    let place = Place::new();
    place.write("matrix.csv", MATRIX);
    let text = place.run(&["score", "item-response", "matrix.csv", "--output", "out"]).ok();
    assert!(text.stdout().contains("75 participants to 3 stimuli"), "{}", text.all());
    assert!(text.stderr().contains("response matrix of 75 participants"), "{}", text.all());
    let difficulty = place.read("out/difficulty.csv");
    assert_eq!(difficulty.lines().count(), 4);
    assert!(difficulty.contains("item-response") && difficulty.contains("discrimination"));
    let json = place.run(&["score", "item-response", "matrix.csv", "--format", "json"]).ok();
    let again = place.run(&["score", "item-response", "matrix.csv", "--format", "json"]).ok();
    assert_eq!(json.stdout(), again.stdout());
    assert_eq!(json.stdout(), place.read("out/summary.json"));
    let csv = place.run(&["score", "item-response", "matrix.csv", "--format", "csv"]).ok();
    assert!(csv.stdout().starts_with("stimulus,n_answers,n_correct,difficulty,"));
    place.run(&["report", "out/summary.json", "--output", "out/report.html"]).ok();
    assert!(place.read("out/report.html").contains("Participants and stimuli on one scale"));
}

#[test]
fn trials_give_difficulties_by_either_model() {
    let place = Place::new();
    place.write("trials.csv", trials());
    for model in ["1pl", "2pl"] {
        let ran = place.run(&["score", "item-response", "trials.csv", "--model", model]).ok();
        assert!(ran.stdout().contains("144 answers of 6 participants"), "{}", ran.all());
    }
}

#[test]
fn a_cell_that_is_no_answer_is_refused_with_its_place_and_nothing_is_written() {
    let place = Place::new();
    place.write("matrix.csv", "q1,q2\n1,0\n1,perhaps\n");
    let ran = place.run(&["score", "item-response", "matrix.csv", "--output", "out"]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    for part in ["matrix.csv:3", "q2", "1, 0, or nothing", "perhaps", "hint:"] {
        assert!(ran.stderr().contains(part), "{part}: {}", ran.all());
    }
    assert_eq!(place.names(), ["matrix.csv"]);
    place.write("one.csv", "q1,q2\n1,0\n");
    let ran = place.run(&["score", "item-response", "one.csv"]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("at least 2 participants, found 1"), "{}", ran.all());
}

#[test]
fn trials_with_a_count_are_refused_and_what_nobody_answered_is_said() {
    let place = Place::new();
    place.write("trials.csv", "participant,stimulus,correct,count\na,x,1,3\nb,x,0,3\n");
    let ran = place.run(&["score", "item-response", "trials.csv"]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("`count`") && ran.stderr().contains("hint:"), "{}", ran.all());
    place.write("matrix.csv", "q1,q2,q3\n1,0,\n0,1,\n1,1,\n0,0,\n,,\n");
    let ran = place.run(&["score", "item-response", "matrix.csv", "--model", "1pl"]).ok();
    let said = "want of any answer: 1 participant and 1 stimulus";
    assert!(ran.stdout().contains(said), "{}", ran.all());
}

#[test]
fn quality_names_who_answers_too_fast() {
    let place = Place::new();
    place.write("trials.csv", trials());
    let ran = place.run(&["score", "quality", "trials.csv", "--output", "out"]).ok();
    assert!(ran.stdout().contains("p4: too-fast (50.0 % too fast)"), "{}", ran.all());
    assert!(ran.stdout().contains("Not recorded"), "{}", ran.all());
    let csv = place.run(&["score", "quality", "trials.csv", "--format", "csv"]).ok();
    assert_eq!(csv.stdout().lines().count(), 7);
    place.run(&["report", "out/summary.json", "--output", "out/report.html"]).ok();
    assert!(place.read("out/report.html").contains("Response times by participant"));
    let ran =
        place.run(&["score", "quality", "trials.csv", "--min-rt-ms", "900", "--max-rt-ms", "100"]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
}

#[test]
fn two_sets_are_compared_or_refused() {
    let place = Place::new();
    let rows = |prefix: &str, measure: &str, shift: f64| {
        let mut csv = "stimulus,measure,difficulty,low,high,n_trials,band\n".to_owned();
        for idx in 0..30 {
            let value = shift + f64::from(idx * 7 % 30) / 60.0;
            let band = if value < 0.3 { "17 ms" } else { "10 s" };
            csv += &format!(
                "{prefix}{idx},{measure},{value},{},{},42,{band}\n",
                value - 0.05,
                value + 0.05
            );
        }
        csv
    };
    place.write("kitchen.csv", rows("k", "viewing-time", 0.1));
    place.write("garden.csv", rows("g", "viewing-time", 0.4));
    place.write("other.csv", rows("o", "item-response", 0.4));
    let ran = place.run(&["score", "compare", "garden.csv", "kitchen.csv", "--output", "out"]).ok();
    assert!(ran.stdout().contains("garden is harder than kitchen"), "{}", ran.all());
    let csv = place.run(&["score", "compare", "garden.csv", "kitchen.csv", "--format", "csv"]).ok();
    assert!(csv.stdout().contains("difference_of_means,,0.29999"), "{}", csv.all());
    place.run(&["report", "out/summary.json", "--output", "out/report.html"]).ok();
    assert!(place.read("out/report.html").contains("How difficulty is spread in both sets"));
    let ran = place.run(&["score", "compare", "garden.csv", "other.csv"]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("different measures"), "{}", ran.all());
    let ran = place.run(&["score", "compare", "garden.csv", "kitchen.csv", "--measure", "pairs"]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("it has: viewing-time"), "{}", ran.all());
}

/// The published fit of LSAT section 6, where the table is at hand.
#[test]
fn lsat6_reaches_the_published_likelihood_from_the_command_line() {
    let table =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/oracles/lsat6.csv");
    if !table.is_file() {
        println!("skipped: no lsat6.csv at ../shared/data/oracles");
        return;
    }
    let place = Place::new();
    let ran = place.run(&["score", "item-response", &table.to_string_lossy()]).ok();
    assert!(ran.stdout().contains("Log-likelihood −2466.65"), "{}", ran.all());
}
