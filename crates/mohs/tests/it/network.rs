//! `mohs engines` and `mohs network` on a model worked by hand, on bad models, and on real ones.

use std::path::PathBuf;

use mohs_graph::build::Builder;
use mohs_graph::{Dim, ElementType, Graph, Tensor, write};
use mohs_vision::pixels::Rgb8;
use serde_json::Value;

use crate::mohs::{Place, Ran};
use crate::real_data::real_data;

/// Three classes by colour: the logits are the sums of red, green and blue.
pub(crate) fn by_colour(input: Vec<Dim>) -> Graph {
    let mut builder = Builder::new("by colour");
    let x = builder.input("x", ElementType::F32, input);
    let rank = builder.rank(&x).expect("because it was given");
    let axes: Vec<i64> = (2..).take(rank.saturating_sub(2)).collect();
    let sums = builder.reduce_sum(&x, &axes, false).expect("because it fits");
    let same = Tensor::f32(vec![3, 3], vec![1., 0., 0., 0., 1., 0., 0., 0., 1.]);
    let same = builder.weight("same", same.expect("because it has nine numbers"));
    let logits = builder.matmul(&sums, &same).expect("because it fits");
    builder.output_as(&logits, "logits").expect("because the name is free");
    builder.finish()
}

pub(crate) fn pictures(batch: Dim) -> Vec<Dim> {
    vec![batch, Dim::known(3), Dim::known(4), Dim::known(4)]
}

pub(crate) fn model(graph: &Graph) -> Vec<u8> {
    write::to_bytes(graph).expect("because it is small")
}

pub(crate) fn picture(colour: [u8; 3], side: u32) -> Vec<u8> {
    let n = usize::try_from(side * side).expect("because it is small");
    Rgb8::new(side, side, colour.repeat(n)).expect("because the size fits").to_png()
}

/// A place with the model, four pictures of pure colours and one of them labelled wrongly.
fn place() -> Place {
    let place = Place::new();
    place.write("model.onnx", model(&by_colour(pictures(Dim::known(1)))));
    place.write("r.png", picture([255, 0, 0], 4));
    place.write("g.png", picture([0, 255, 0], 4));
    place.write("b.png", picture([0, 0, 255], 9));
    let rows = "file,label\nr.png,2_red\ng.png,1_green\nb.png,0_blue\nr.png,1_green\n";
    place.write("stimuli.csv", rows.replace("r.png,1", "./r.png,1"));
    place.write("classes.txt", "2_red\n1_green\n0_blue\n");
    place
}

const RUN: [&str; 8] = [
    "network",
    "run",
    "model.onnx",
    "--stimuli",
    "stimuli.csv",
    "--classes",
    "classes.txt",
    "--engine",
];

fn with(args: &[&str], more: &[&str]) -> Vec<String> {
    args.iter().chain(more).map(|&arg| arg.to_owned()).collect()
}

fn run(place: &Place, args: &[String]) -> Ran {
    place.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Engines that can be tested here; says so when one cannot.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub(crate) fn engines() -> Vec<&'static str> {
    if std::env::var_os("ORT_DYLIB_PATH").is_some() {
        return vec!["rten", "onnxruntime"];
    }
    println!("skipped for onnxruntime: ORT_DYLIB_PATH names no library");
    vec!["rten"]
}

/// Runs `mohs` where no library of ONNX Runtime can be found but the system's own.
fn run_without_library(place: &Place, args: &[&str]) -> Ran {
    place.run_where(args, |command| {
        command.env("PATH", "").env("HOME", place.path("home"));
        for name in ["ORT_DYLIB_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "USERPROFILE"] {
            command.env_remove(name);
        }
    })
}

/// Makes sure that a run is refused with exit code 2, a hint and nothing written.
#[track_caller]
pub(crate) fn refused(place: &Place, args: &[&str], says: &[&str]) {
    let before = place.names();
    let ran = place.run(args);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert_eq!(before, place.names(), "nothing may be written");
    assert!(!ran.stderr().contains("panicked"), "{}", ran.all());
    for text in says.iter().chain(&["hint: "]) {
        assert!(ran.stderr().contains(text), "no `{text}` in\n{}", ran.all());
    }
}

#[test]
fn answers_are_counted_and_written_on_both_engines_at_any_batch() {
    for engine in engines() {
        let place = place();
        let mut written = Vec::new();
        for batch in ["1", "3", "64"] {
            let args = with(&RUN, &[engine, "--batch", batch, "--output", "p.csv"]);
            let ran = run(&place, &args).ok();
            assert!(ran.stdout().contains("3 of 4 right"), "{}", ran.all());
            written.push(place.read("p.csv"));
        }
        assert!(written.iter().all(|text| *text == written[0]), "{written:?}");
        let first = written[0].lines().nth(1).expect("because there are four");
        assert!(first.starts_with("model,r.png,none,,,2_red,answered,2_red,"), "{first}");
    }
}

#[test]
fn a_picture_that_cannot_be_read_is_a_row_and_exit_code_1() {
    let place = place();
    place.write("g.png", "no picture");
    let ran = run(&place, &with(&RUN, &["rten", "--output", "p.csv"]));
    assert_eq!(ran.code(), 1, "{}", ran.all());
    assert!(ran.stdout().contains("2 of 3 right"), "{}", ran.all());
    assert!(ran.stderr().contains("1 of 4 stimuli failed"), "{}", ran.all());
    let row = place.read("p.csv").lines().nth(2).expect("because there are four").to_owned();
    assert!(row.contains("g.png,none,,,1_green,failed"), "{row}");
}

#[test]
fn without_classes_as_many_labels_as_outputs_are_taken_in_order_and_others_are_not_judged() {
    let place = place();
    let args = ["network", "run", "model.onnx", "--stimuli", "stimuli.csv", "--engine", "rten"];
    let ran = place.run(&args).ok();
    assert!(ran.stderr().contains("alphabetical order, from `0_blue` to `2_red`"), "{}", ran.all());
    assert!(ran.stdout().contains("1 of 4 right"), "{}", ran.all());
    place.write("stimuli.csv", "file,label\nr.png,cat\ng.png,dog\n");
    let ran = place.run(&args).ok();
    assert_eq!(ran.stdout(), "answered  2\n");
    place.write("stimuli.csv", "file,label\nr.png,0\ng.png,1\nb.png,1\n");
    assert!(place.run(&args).ok().stdout().contains("2 of 3 right"));
}

#[test]
fn a_model_is_shown_with_its_shapes_operators_and_engines() {
    let place = place();
    let args = ["network", "show", "model.onnx", "--values", "--format", "json"];
    let shown: Value = serde_json::from_str(&place.run(&args).ok().stdout()).unwrap();
    assert_eq!(shown["opset"], 18);
    assert_eq!(shown["inputs"][0]["name"], "x");
    assert_eq!(shown["batch"], "free", "a batch of one is freed: {shown}");
    assert_eq!(shown["n_parameters"], 9);
    let operators = shown["operators"].as_array().unwrap();
    assert!(operators.iter().any(|row| row["operator"] == "MatMul" && row["gradient"] == "yes"));
    assert_eq!(shown["engines"][1]["says"], "can run it");
    let text = place.run(&["network", "show", "model.onnx"]).ok().stdout();
    assert!(text.contains("x  f32 [batch, 3, 4, 4]"), "{text}");
}

#[test]
fn what_a_model_sees_can_be_looked_at() {
    let place = place();
    let args = ["network", "input", "r.png", "b.png", "--preset", "clip", "--model", "model.onnx"];
    let args = [&args[..], &["--output", "seen", "--png"]].concat();
    let text = place.run(&args).ok().stdout();
    assert!(text.contains("b.png  9 × 9 -> 4 × 4"), "{text}");
    let npy = place.bytes("seen/r.npy");
    let numbers: Vec<f32> = npy[npy.len() - 4 * 48..]
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&bytes| f32::from_le_bytes(bytes))
        .collect();
    let red = (1.0 - 0.481_454_66) / 0.268_629_54;
    assert!(numbers[..16].iter().all(|number| (number - red).abs() < 1e-5), "{numbers:?}");
    assert!(numbers[16..].iter().all(|number| *number < 0.0), "{numbers:?}");
    assert!(place.bytes("seen/b.png").starts_with(b"\x89PNG"));

    let args = ["network", "input", "r.png", "--probe", "gaussian-blur", "--set", "kernel=4"];
    refused(&place, &args, &["`sigma`"]);
    let args = [&args[..], &["--set", "sigma=1"]].concat();
    refused(&place, &args, &["`kernel`", "an odd number"]);
    refused(&place, &["network", "input", "r.png", "./r.png", "-o", "s"], &["`r` twice"]);
    place.write("text.png", "hello");
    let ran = place.run(&["network", "input", "text.png", "r.png"]);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    assert!(ran.stderr().contains("1 of 2 pictures failed"), "{}", ran.stderr());
    assert!(ran.stdout().contains("r.png"), "{}", ran.stdout());
}

#[test]
fn a_derived_network_is_a_model_like_any_other() {
    let place = place();
    let ran = place.run(&["network", "derive", "model.onnx", "--output", "grad.onnx"]).ok();
    assert!(ran.stdout().contains("output  gradient:x  f32 [batch, 3, 4, 4]"), "{}", ran.all());
    assert!(ran.stdout().contains("input  labels  i64 [batch]"), "{}", ran.all());
    let args = ["network", "show", "grad.onnx", "--format", "json"];
    let shown: Value = serde_json::from_str(&place.run(&args).ok().stdout()).unwrap();
    assert_eq!(shown["engines"][1]["says"], "can run it");
    let args = ["network", "derive", "model.onnx", "--with-respect-to", "weights", "-o", "w.onnx"];
    let ran = place.run(&args).ok();
    assert!(ran.stdout().contains("output  gradient:same  f32 [3, 3]"), "{}", ran.all());
    refused(&place, &["network", "derive", "model.onnx", "--of", "joy", "-o", "g"], &["`joy`"]);
    let args = ["network", "derive", "model.onnx", "--with-respect-to", "y", "-o", "g"];
    refused(&place, &args, &["`y`"]);
    let args = ["network", "derive", "model.onnx", "-o", "model.onnx"];
    refused(&place, &args, &["should be a new file"]);
}

#[test]
fn a_network_can_be_cut_at_a_value_by_its_name() {
    let place = place();
    let args = ["network", "show", "model.onnx", "--values", "--format", "json"];
    let shown: Value = serde_json::from_str(&place.run(&args).ok().stdout()).unwrap();
    let name = shown["values"][0]["name"].as_str().unwrap().to_owned();
    let args = ["network", "cut", "model.onnx", "--at", &name, "--output", "cut.onnx"];
    let ran = place.run(&args).ok();
    assert!(ran.stdout().contains(&format!("output  {name}  f32 [batch, 3]")), "{}", ran.all());
    let args = ["network", "cut", "model.onnx", "--at", "nowhere", "--output", "c.onnx"];
    refused(&place, &args, &["nowhere"]);
}

#[test]
fn a_model_is_timed_line_by_line_or_at_once() {
    let place = place();
    for what in ["forward", "input-gradient", "weight-gradient", "training-step"] {
        let args = ["network", "bench", "model.onnx", "--engine", "rten", "--what", what];
        let args: Vec<&str> = [&args[..], &["--batch", "2"]].concat();
        let ran = place.run(&[&args[..], &["--rounds-from-stdin"]].concat()).ok();
        let ready: Value = serde_json::from_str(ran.stdout().trim()).unwrap();
        assert_eq!((&ready["ready"], &ready["engine"]), (&true.into(), &"rten".into()));
        let text = place.run(&[&args[..], &["--rounds", "2"]].concat()).ok().stdout();
        assert!(text.contains("median of 2"), "{text}");
    }
}

#[test]
fn files_that_are_no_models_are_refused() {
    let place = place();
    let whole = model(&by_colour(pictures(Dim::symbol("batch"))));
    for (bytes, says) in [
        (&whole[..whole.len() / 2], "not a complete ONNX file"),
        (&whole[..whole.len() - 1], "not a complete ONNX file"),
        (b"", "the file is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not a complete ONNX file"),
        (b"model = torch.load('x')\n", "not a complete ONNX file"),
    ] {
        place.write("bad.onnx", bytes);
        for verb in ["show", "bench"] {
            refused(&place, &["network", verb, "bad.onnx"], &["bad.onnx", says]);
        }
    }
    refused(&place, &["network", "show", "none.onnx"], &["cannot read the model none.onnx"]);
}

#[test]
fn an_operator_that_nobody_knows_is_named() {
    let place = place();
    let mut graph = by_colour(pictures(Dim::symbol("batch")));
    graph.nodes[0].op = "Sharpen".to_owned();
    place.write("model.onnx", model(&graph));
    for engine in engines() {
        let args = with(&RUN, &[engine]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        refused(&place, &args, &["Sharpen"]);
    }
    let args = ["network", "derive", "model.onnx", "--output", "grad.onnx"];
    refused(&place, &args, &["Sharpen"]);
}

#[test]
fn a_model_that_takes_no_pictures_is_refused() {
    let place = place();
    let flat = vec![Dim::symbol("batch"), Dim::known(3)];
    place.write("model.onnx", model(&by_colour(flat)));
    let args = with(&RUN, &["rten"]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    refused(&place, &args, &["f32 [batch, 3, height, width]", "f32 [batch, 3]"]);
}

#[test]
fn engines_are_listed_whether_or_not_there_is_a_library() {
    let place = Place::new();
    let text = place.run(&["engines"]).ok().stdout();
    assert!(text.contains("rten") && text.contains("onnxruntime"), "{text}");
    let ran = run_without_library(&place, &["engines", "--format", "json"]).ok();
    let listed: Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(listed["engines"][1]["name"], "rten");
    assert_eq!(listed["engines"][1]["found"], true);
    let onnxruntime = &listed["engines"][0];
    if onnxruntime["found"] == false {
        assert!(onnxruntime["remedy"].as_str().unwrap().contains("pip install onnxruntime"));
        assert!(!onnxruntime["looked_in"].as_array().unwrap().is_empty());
    }
}

#[test]
fn a_missing_library_is_an_error_only_for_who_asks_for_it() {
    let place = place();
    let ran = run_without_library(&place, &["engines", "--format", "json"]).ok();
    let listed: Value = serde_json::from_str(&ran.stdout()).unwrap();
    if listed["engines"][0]["found"] == true {
        return;
    }
    let bench = ["network", "bench", "model.onnx", "--rounds", "1", "--engine"];
    let ran = run_without_library(&place, &[&bench[..], &["onnxruntime"]].concat());
    assert_eq!(ran.code(), 2, "{}", ran.all());
    for text in ["looked in", "hint: pip install onnxruntime", "ORT_DYLIB_PATH"] {
        assert!(ran.stderr().contains(text), "{}", ran.all());
    }
    let ran = run_without_library(&place, &[&bench[..], &["auto"]].concat()).ok();
    assert!(ran.stdout().contains("rten"), "{}", ran.all());
}

#[test]
fn a_file_that_is_no_library_is_named_with_the_remedy() {
    let place = place();
    place.write("libonnxruntime.so", "not a library");
    let bad = |command: &mut std::process::Command| {
        command.env("ORT_DYLIB_PATH", "libonnxruntime.so");
    };
    let bench = ["network", "bench", "model.onnx", "--rounds", "1", "--engine"];
    let ran = place.run_where(&[&bench[..], &["onnxruntime"]].concat(), bad);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("libonnxruntime.so is not a library of ONNX Runtime"));
    assert!(ran.stderr().contains("hint: ORT_DYLIB_PATH"), "{}", ran.all());
    let ran = place.run_where(&[&bench[..], &["auto"]].concat(), bad).ok();
    assert!(ran.stderr().contains("onnxruntime is passed over"), "{}", ran.all());
    place.run_where(&["engines"], bad).ok();
}

#[test]
fn a_device_that_is_not_there_is_refused() {
    let place = place();
    let bench = ["network", "bench", "model.onnx", "--engine", "rten", "--device"];
    let with = |device| [&bench[..], &[device]].concat();
    refused(&place, &with("cuda:1"), &["rten cannot compute on cuda:1", "--device cpu"]);
    let ran = place.run(&with("gpu"));
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("`cpu`, `cuda` or `cuda:N`"), "{}", ran.all());
}

pub(crate) fn real_model(name: &str) -> Option<PathBuf> {
    Some(real_data("onnx")?.join(name)).filter(|path| path.is_file())
}

/// Reference: the description of the data. Each case is a test, because each takes seconds.
#[track_caller]
fn check_trained_model(engine: &str, batch: &str) {
    let (Some(model), Some(data)) = (real_model("cifar10_resnet20.onnx"), real_data("cifar10h"))
    else {
        return;
    };
    if !engines().contains(&engine) {
        return;
    }
    let (model, stimuli) = (model.to_string_lossy(), data.join("stimuli.csv"));
    let args = ["network", "run", &model, "--stimuli", &stimuli.to_string_lossy()];
    let ran = Place::new().run(&[&args[..], &["--engine", engine, "--batch", batch]].concat()).ok();
    assert!(ran.stdout().contains("915 of 1000 right"), "{}", ran.all());
}

#[test]
fn a_trained_model_is_right_915_times_in_onnxruntime_one_by_one() {
    check_trained_model("onnxruntime", "1");
}

#[test]
fn a_trained_model_is_right_915_times_in_onnxruntime_in_batches() {
    check_trained_model("onnxruntime", "64");
}

#[test]
fn a_trained_model_is_right_915_times_in_rten_one_by_one() {
    check_trained_model("rten", "1");
}

#[test]
fn a_trained_model_is_right_915_times_in_rten_in_batches() {
    check_trained_model("rten", "64");
}

#[test]
fn photographs_of_pets_are_answered_by_a_model_of_imagenet() {
    // Only where it is fast.
    if !engines().contains(&"onnxruntime") {
        return;
    }
    let (Some(model), Some(data)) = (real_model("squeezenet_v10_dc.onnx"), real_data("pets"))
    else {
        return;
    };
    let (model, stimuli) = (model.to_string_lossy(), data.join("stimuli.csv"));
    let mut args = vec!["network", "run", &model, "--stimuli"];
    let stimuli = stimuli.to_string_lossy();
    args.extend([
        &*stimuli,
        "--map",
        "label=imagenet_index",
        "--scale",
        "255",
        "--channels",
        "bgr",
    ]);
    args.extend(["--mean", "104,117,123", "--sd", "1,1,1"]);
    let ran = Place::new().run(&args).ok();
    let text = ran.stdout();
    let n_right = text.split(": ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
    // About .62 is published for easy photographs; chance is .001.
    assert!(n_right.is_some_and(|n: usize| (50..80).contains(&n)), "{}", ran.all());
}

#[test]
fn nothing_that_was_read_is_overwritten() {
    let place = place();
    let mut args = RUN.to_vec();
    args.extend(["rten", "--output", "classes.csv"]);
    args[6] = "classes.csv";
    place.write("classes.csv", "2_red\n1_green\n0_blue\n");
    let ran = place.run(&args);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert_eq!(place.read("classes.csv"), "2_red\n1_green\n0_blue\n");

    let (graph, weights) =
        write::to_bytes_with_weights(&by_colour(pictures(Dim::symbol("n"))), "w.onnx")
            .expect("because it is small");
    place.write("apart.onnx", graph);
    place.write("w.onnx", weights.clone());
    let ran = place.run(&["network", "derive", "apart.onnx", "--output", "w.onnx"]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert_eq!(std::fs::read(place.path("w.onnx")).expect("because it is still there"), weights);
}

#[test]
fn pictures_that_would_change_each_other_are_run_one_by_one() {
    let place = place();
    let mut builder =
        Builder::extend(by_colour(pictures(Dim::symbol("n")))).expect("because it is sound");
    let logits = builder.value("logits").expect("because it is there");
    let mixed = builder.reduce("ReduceMax", &logits, &[0], true).expect("because it fits");
    let mixed = builder.sub(&logits, &mixed).expect("because it fits");
    let mut graph = {
        builder.output_as(&mixed, "mixed").expect("because the name is free");
        builder.finish()
    };
    graph.outputs.remove(0);
    place.write("mixing.onnx", model(&graph));
    let shown = place.run(&["network", "show", "mixing.onnx"]).ok().stdout();
    assert!(!shown.contains("any number"), "{shown}");
    let predictions = |batch: &str| {
        let mut args = RUN.to_vec();
        args[2] = "mixing.onnx";
        args.extend(["rten", "--batch", batch, "--output", "p.csv"]);
        place.run(&args).ok();
        std::fs::read(place.path("p.csv")).expect("because it was written")
    };
    assert_eq!(predictions("1"), predictions("4"));
}

#[test]
fn more_threads_or_pictures_than_any_machine_holds_are_refused() {
    let place = place();
    for flags in [["--threads", "100000"], ["--batch", "18446744073709551615"]] {
        let ran =
            place.run(&["network", "bench", "model.onnx", flags[0], flags[1], "--engine", "rten"]);
        assert_eq!(ran.code(), 2, "{}", ran.all());
    }
}
