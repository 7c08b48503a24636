//! `mohs attack`: on a model worked by hand, on every mistake, killed, and as a trend on the built-in
//! world.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mohs_graph::build::Builder;
use mohs_graph::{Attribute, Dim, ElementType, Tensor};
use mohs_vision::networks::demo_networks;
use serde_json::Value;

use crate::mohs::{Place, Ran};
use crate::network::{by_colour, model, picture, pictures, refused};

const CLASSES: &str = "red\ngreen\nblue\n";
const PLAIN: &str = "{ mean = [0, 0, 0], sd = [1, 1, 1] }";

/// A place with a model whose logits are sums of red, green and blue, and three pictures: one that is
/// nearly green, one that is far from anything else, and one with the wrong label.
fn place() -> Place {
    let place = Place::new();
    place.write("model.onnx", model(&by_colour(pictures(Dim::symbol("batch")))));
    place.write("near.png", picture([100, 90, 10], 4));
    place.write("far.png", picture([250, 20, 10], 4));
    place.write("wrong.png", picture([90, 100, 10], 4));
    let rows = "stimulus,file,label\nnear,near.png,red\nfar,far.png,red\nwrong,wrong.png,red\n";
    place.write("stimuli.csv", rows);
    place.write("classes.txt", CLASSES);
    place
}

fn args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let usual = [
        "attack",
        "model.onnx",
        "--stimuli",
        "stimuli.csv",
        "--classes",
        "classes.txt",
        "--preprocess",
        PLAIN,
        "--engine",
        "rten",
    ];
    [&usual, more].concat()
}

fn attack(place: &Place, more: &[&str]) -> Ran {
    place.run(&args(more))
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout()).unwrap_or_else(|_| panic!("{}", ran.all()))
}

/// Outcome and ε of each row, by stimulus and attack.
fn found(place: &Place, file: &str) -> Vec<(String, String, String, String)> {
    let text = place.read(file);
    let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    let cell = |line: &str, name: &str| {
        let at = header.iter().position(|column| *column == name).expect("because we write it");
        line.split(',').nth(at).unwrap_or_default().to_owned()
    };
    let row = |line: &str| {
        let [a, b, c, d] =
            ["stimulus", "attack", "outcome", "epsilon"].map(|name| cell(line, name));
        (a, b, c, d)
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn the_smallest_epsilon_of_a_linear_model_is_half_the_distance_in_colour() {
    let place = place();
    // Red is 10 levels ahead: half of it is 0.0196, and 0.02 is the next value of the grid. Both move
    // by ε, so that 0.0195 is too small.
    let attacks = "fgsm,pgd,bim,mifgsm,upgd,apgd,eotpgd";
    attack(&place, &["--attacks", attacks, "--preset", "torchattacks-3.5.1"]).ok();
    for (stimulus, attack, outcome, epsilon) in found(&place, "min_epsilon.csv") {
        let expected = match stimulus.as_str() {
            "near" => ("found", "0.02"),
            "far" => ("survived", ""),
            _ => ("not-attacked", ""),
        };
        assert_eq!((outcome.as_str(), epsilon.as_str()), expected, "{stimulus} {attack}");
    }
    let fast = attack(&place, &["--attacks", attacks, "--mode", "fast", "--output", "fast.csv"]);
    fast.ok();
    let exact = attack(&place, &["--attacks", attacks, "--output", "exact.csv"]);
    exact.ok();
    assert_eq!(found(&place, "fast.csv"), found(&place, "exact.csv"));
}

#[test]
fn what_comes_out_is_said_and_everything_asked_for_is_written() {
    let place = place();
    let more = [
        "--attacks",
        "fgsm,square",
        "--set",
        "square.n_queries=10",
        "--correct",
        "corrected.csv",
        "--correct-grid",
        "0:0.1:0.001",
        "--examples",
        "examples",
        "--trace",
        "trace.csv",
        "--format",
        "json",
    ];
    let ran = attack(&place, &more).ok();
    let json = json(&ran);
    assert_eq!(json["attacks"][0]["n_attacked"], 2);
    assert_eq!(json["attacks"][0]["n_found"], 1);
    assert_eq!(json["attacks"][0]["n_not_attacked"], 1);
    assert_eq!(json["attacks"][1]["sweep_forward"], 2 * 140 * 11);
    assert_eq!(json["corrected"][0]["n_found"], 1);
    // Two steps of half the distance each: a quarter of ten levels, and the next value up.
    let corrected = found(&place, "corrected.csv");
    assert_eq!(corrected[0].0, "wrong");
    assert_eq!((corrected[0].2.as_str(), corrected[0].3.as_str()), ("found", "0.01"));
    let names: Vec<String> = std::fs::read_dir(place.path("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    let n_ending = |ending: &str| names.iter().filter(|name| name.ends_with(ending)).count();
    assert!(names.contains(&"examples.csv".to_owned()), "{names:?}");
    assert_eq!(n_ending(".clean.png"), n_ending(".npy"));
    let examples = place.read("examples/examples.csv");
    assert!(examples.contains(",linf,fool,") && examples.contains(",linf,correct,"), "{examples}");
    assert!(1 < n_ending(".npy"), "{names:?}");
    assert!(place.read("trace.csv").lines().count() > 140);
    // Rows go on to the findings, and to a report with the examples.
    place
        .run(&["score", "attacks", "min_epsilon.csv", "--examples", "examples", "--output", "out"])
        .ok();
    place.run(&["report", "out"]).ok();
    assert!(place.read("out/report.html").contains("data:image/png;base64,"));
    let checked = place.run(&["check", "min_epsilon.csv", "corrected.csv"]).ok();
    assert!(checked.stdout().contains("ok"), "{}", checked.all());
}

#[test]
fn a_second_run_asks_nothing_and_writes_the_same() {
    let place = place();
    let more = ["--attacks", "pgd,jitter,difgsm", "--format", "json"];
    attack(&place, &more).ok();
    let first = place.bytes("min_epsilon.csv");
    let again = json(&attack(&place, &more).ok());
    assert_eq!(
        (again["asked"]["answers"].as_u64(), again["asked"]["gradients"].as_u64()),
        (Some(0), Some(0))
    );
    assert_eq!(first, place.bytes("min_epsilon.csv"));
    let parquet = [&more[..2], &["--output", "rows.parquet"]].concat();
    attack(&place, &parquet).ok();
    assert!(place.bytes("rows.parquet").starts_with(b"PAR1"));
}

#[test]
fn mistakes_are_named_with_what_to_do() {
    let place = place();
    refused(&place, &args(&["--attacks", "fgms"]), &["no attack `fgms`; did you mean `fgsm`?"]);
    refused(
        &place,
        &args(&["--attacks", "pgd", "--set", "pgd.step=3"]),
        &["did you mean `steps`?"],
    );
    refused(
        &place,
        &args(&["--attacks", "pgd", "--set", "pgd.steps=0"]),
        &["`pgd.steps` should be"],
    );
    refused(
        &place,
        &args(&["--attacks", "pgd", "--set", "fgsm.steps=2"]),
        &["not among --attacks"],
    );
    refused(&place, &args(&["--grid", "8"]), &["ε should be from 0 to 1, found `8`", "8/255"]);
    refused(&place, &args(&["--grid", "-0.1,0.2"]), &["ε should be from 0 to 1, found `-0.1`"]);
    refused(&place, &args(&["--grid", "papr"]), &["found `papr`"]);
    refused(&place, &args(&["--target", "violet", "--attacks", "pgd"]), &["`violet`"]);
    refused(&place, &args(&["--target", "blue", "--attacks", "tpgd"]), &["`tpgd` cannot aim"]);
    refused(&place, &args(&["--output", "rows.txt"]), &[".csv or .parquet"]);
    refused(&place, &args(&["--output", "stimuli.csv"]), &["one of the files to read"]);
    refused(&place, &args(&["--output", "nowhere/rows.csv"]), &["no folder"]);
    refused(&place, &args(&["--output", "a.csv", "--correct", "a.csv"]), &["asked for twice"]);
    refused(&place, &args(&["--output", "a.csv", "--correct", "./a.csv"]), &["asked for twice"]);
    refused(&place, &["attack", "model.onnx"], &["which pictures to attack"]);
    refused(
        &place,
        &["attack", "model.onnx", "--stimuli", "stimuli.csv", "--preprocess", PLAIN],
        &["nothing says what the 3 outputs of the model stand for"],
    );
    let models_of_two = &["3 labels to compare, found 2", "--set upgd.loss=ce"];
    place.write("two.onnx", model(&two_colours()));
    place.write("two.txt", "red\nother\n");
    place.write("two.csv", "stimulus,file,label\nnear,near.png,red\n");
    let mut two = args(&["--attacks", "upgd", "--set", "upgd.loss=dlr"]);
    (two[1], two[3], two[5]) = ("two.onnx", "two.csv", "two.txt");
    refused(&place, &two, models_of_two);
    refused(&place, &args(&["--attacks", "apgd-dlr"]), &["`apgd` with `--set apgd.loss=dlr`"]);
    refused(&place, &args(&["--attacks", "pgd-l2", "--grid", "20000"]), &["in L2", "128/255"]);
    refused(&place, &args(&["--output", "x"]), &["found no ending"]);
    let none = place.run(&args(&["--batch", "0"]));
    assert!(none.stderr().contains("expected a whole number from 1 on, found `0`"));
    place.write("label.csv", "stimulus,file,label\nnear,near.png,red\nfar,far.png,violet\n");
    let mut label = args(&[]);
    label[3] = "label.csv";
    refused(&place, &label, &["`violet`", "`far`, row 2 of", "--classes"]);
    place.write("no-labels.csv", "stimulus,file\nnear,near.png\n");
    let no_labels = ["attack", "model.onnx", "--stimuli", "no-labels.csv", "--preprocess", PLAIN];
    refused(&place, &no_labels, &["label"]);
    let no_place = place.run(&args(&["--format", "csv", "--list"]));
    assert_eq!(no_place.code(), 2);
}

/// Two logits: the sums of red and of green.
fn two_colours() -> mohs_graph::Graph {
    let mut builder = Builder::new("two");
    let x = builder.input("x", ElementType::F32, pictures(Dim::symbol("batch")));
    let sums = builder.reduce_sum(&x, &[2, 3], false).expect("because it fits");
    let two = Tensor::f32(vec![3, 2], vec![1., 0., 0., 1., 0., 0.]);
    let two = builder.weight("two", two.expect("because it has six numbers"));
    let two = builder.matmul(&sums, &two);
    builder.output_as(&two.expect("because it fits"), "logits").expect("because the name is free");
    builder.finish()
}

#[test]
fn a_model_without_a_gradient_is_named_and_can_still_be_asked() {
    let place = place();
    let mut builder = Builder::new("odd");
    let x = builder.input("x", ElementType::F32, pictures(Dim::symbol("batch")));
    let ten = builder.constant(Tensor::scalar(10.0));
    let odd = builder.op("Mod", &[&x, &ten], vec![("fmod", Attribute::Int(1))]);
    let odd = odd.expect("because it fits");
    let sums = builder.reduce_sum(&odd, &[2, 3], false).expect("because it fits");
    builder.output_as(&sums, "logits").expect("because the name is free");
    place.write("model.onnx", model(&builder.finish()));
    refused(
        &place,
        &args(&["--attacks", "pgd"]),
        &["Mod", "`pgd` needs gradients", "--attacks square"],
    );
    let ran = attack(&place, &["--attacks", "square", "--set", "square.n_queries=30"]).ok();
    assert!(ran.stdout().contains("square"), "{}", ran.all());
    let near = &found(&place, "min_epsilon.csv")[0];
    assert_eq!(near.2, "found");
}

#[test]
fn a_model_that_is_flat_in_every_pixel_is_refused_with_the_operator_that_makes_it_so() {
    let place = place();
    let mut builder = Builder::new("steps");
    let x = builder.input("x", ElementType::F32, pictures(Dim::symbol("batch")));
    let whole = builder.op("Round", &[&x], Vec::new()).expect("because it fits");
    let sums = builder.reduce_sum(&whole, &[2, 3], false).expect("because it fits");
    builder.output_as(&sums, "logits").expect("because the name is free");
    place.write("model.onnx", model(&builder.finish()));
    let words = ["no slope in any pixel", "Round", "`pgd` needs gradients", "--attacks square"];
    refused(&place, &args(&["--attacks", "pgd"]), &words);
}

/// A place with a network that comes with the program and pictures of the built-in world.
fn world(n: usize) -> Place {
    let place = Place::new();
    for network in demo_networks() {
        place.write(&format!("{}.onnx", network.name), network.bytes);
    }
    let n = n.to_string();
    place.run(&["init", "flash", "world", "--world", &n, "--size", "64", "--quiet"]).ok();
    place
}

const WORLD: [&str; 6] =
    ["attack", "plain.onnx", "--stimuli", "world/stimuli.csv", "--engine", "rten"];

#[test]
fn rows_are_the_same_bytes_whatever_the_batch_the_threads_and_kills() {
    let place = world(6);
    let more = [
        "--attacks",
        "all",
        "--set",
        "square.n_queries=15",
        "--grid",
        "0:0.03:0.005",
        "--preset",
        "torchattacks-3.5.1",
        "--quiet",
    ];
    let run = |more: &[&str]| place.run(&[&WORLD[..], more].concat()).ok();
    let all = |extra: &[&'static str]| [&more[..], extra].concat();
    run(&all(&["--no-cache", "--examples", "whole"]));
    let whole = place.bytes("min_epsilon.csv");
    for (batch, threads) in [("1", "1"), ("8", "2"), ("64", "1")] {
        run(&all(&["--no-cache", "--batch", batch, "--threads", threads]));
        assert!(place.bytes("min_epsilon.csv") == whole, "batch {batch}, threads {threads}");
    }
    std::fs::remove_file(place.path("min_epsilon.csv")).unwrap();
    let examples = ["--examples", "killed"];
    let mut n_kills = 0;
    for wait in [150, 300, 450] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mohs"))
            .args([&WORLD[..], &more, &examples].concat())
            .current_dir(place.path("."))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("because the binary was built for this test");
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(wait) {
            std::thread::sleep(Duration::from_millis(10));
        }
        n_kills += u32::from(child.try_wait().expect("because it is ours").is_none());
        child.kill().expect("because it is ours");
        child.wait().expect("because it is ours");
    }
    assert!(0 < n_kills, "every run was done before it could be killed");
    run(&all(&examples));
    assert!(place.bytes("min_epsilon.csv") == whole, "the file differs from one run");
    assert!(files(&place, "killed") == files(&place, "whole"), "examples differ from one run");
}

/// The files of a folder by name.
fn files(place: &Place, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(place.path(folder)).expect("because a run made it");
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.map(|name| (name.clone(), place.bytes(&format!("{folder}/{name}")))).collect()
}

#[test]
fn easier_pictures_need_a_larger_epsilon_on_the_built_in_world() {
    let place = world(420);
    let attacked = ["--attacks", "mifgsm", "--mode", "fast", "--quiet"];
    place.run(&[&WORLD[..], &attacked].concat()).ok();
    // How far a picture is from the usual, which is what makes it hard for simulated people too.
    let stimuli = place.read("world/stimuli.csv");
    let header: Vec<&str> = stimuli.lines().next().unwrap().split(',').collect();
    let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let mut difficulty = "stimulus,measure,difficulty,n_trials\n".to_owned();
    for line in stimuli.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let row = format!("{},strength,{},1\n", cells[at("stimulus")], cells[at("strength")]);
        difficulty.push_str(&row);
    }
    place.write("difficulty.csv", difficulty);
    let scored = place.run(&[
        "score",
        "attacks",
        "min_epsilon.csv",
        "--difficulty",
        "difficulty.csv",
        "--cluster",
        "stimulus",
        "--format",
        "json",
        "--quiet",
    ]);
    let summary: Value = serde_json::from_str(&scored.ok().stdout()).unwrap();
    let trends = trends(&summary["attacks"]);
    assert_eq!(trends.len(), 1, "{trends:?}");
    for (low, value) in trends {
        assert!(0.0 < low && low < value, "easy minus hard: {value}, at least {low}");
    }
}

/// Easy minus hard in the mean ε of each attack: the lower end of its interval, and the value.
fn trends(attacks: &Value) -> Vec<(f64, f64)> {
    let series = attacks["tables"][0]["attacks"].as_array();
    let series = series.expect("because there is one per attack");
    let number = |one: &Value, key: &str| one["easy_minus_hard"][key].as_f64();
    series.iter().filter_map(|one| number(one, "low").zip(number(one, "value"))).collect()
}
