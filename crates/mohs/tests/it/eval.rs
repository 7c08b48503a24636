//! `mohs eval` and `mohs merge`: on a model worked by hand, on every mistake, and on real models.

use std::path::Path;

use mohs_graph::Dim;
use serde_json::Value;

use crate::mohs::{Place, Ran};
use crate::network::{by_colour, engines, model, picture, pictures, real_model, refused};
use crate::real_data::real_data;

const MANIFEST: &str = r#"
version = 1
name = "colours"
seed = 7

[[model]]
name = "by-colour"
file = "model.onnx"
classes = ["red", "green", "blue"]
preprocess = { mean = [0, 0, 0], sd = [1, 1, 1] }

[[probe]]
name = "none"
kind = "none"

[[probe]]
name = "noise"
kind = "gaussian-noise"
parameters = { sd = 0.3 }
"#;

/// A place with a model, ten pictures of one colour each, and a manifest.
pub(crate) fn place() -> Place {
    let place = Place::new();
    place.write("model.onnx", model(&by_colour(pictures(Dim::symbol("batch")))));
    let mut table = "stimulus,file,label\n".to_owned();
    for n in 0..10_u8 {
        let mut colour = [n, 2 * n, 3 * n];
        colour[usize::from(n % 3)] = 200 + n;
        place.write(&format!("{n}.png"), picture(colour, 4 + u32::from(n)));
        // One label is wrong.
        let label = ["red", "green", "blue"][usize::from(if n == 9 { 1 } else { n % 3 })];
        table.push_str(&format!("s{n},{n}.png,{label}\n"));
    }
    place.write("stimuli.csv", table);
    place.write("eval.toml", MANIFEST);
    place
}

pub(crate) fn eval(place: &Place, more: &[&str]) -> Ran {
    place.run(&[&["eval", "eval.toml", "--engine", "rten"], more].concat())
}

pub(crate) fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout()).unwrap_or_else(|_| panic!("{}", ran.all()))
}

fn asked(ran: &Ran) -> (u64, u64, u64) {
    let json = json(ran);
    let number = |key: &str| json[key].as_u64().expect("because it is counted");
    (number("asked"), number("from_cache"), number("failed"))
}

#[test]
fn models_answer_and_a_second_run_asks_nobody() {
    let place = place();
    let first = eval(&place, &["--format", "json"]).ok();
    assert_eq!(asked(&first), (20, 0, 0));
    let cell = &json(&first)["models"][0]["probes"][0];
    assert_eq!((cell["n_correct"].as_u64(), cell["n_judged"].as_u64()), (Some(9), Some(10)));
    assert!((cell["accuracy"]["value"].as_f64().unwrap() - 0.9).abs() < 1e-12);
    let written = place.read("predictions.csv");
    let rows: Vec<&str> = written.lines().collect();
    assert_eq!(rows.len(), 21);
    assert!(rows[1].starts_with("by-colour,s0,none,,,red,answered,red,"), "{}", rows[1]);
    assert!(rows[2].starts_with("by-colour,s0,noise,,,red,answered,"), "{}", rows[2]);
    assert!(!place.names().contains(&"predictions.csv.part".to_owned()));

    let second = eval(&place, &["--format", "json"]).ok();
    assert_eq!(asked(&second), (0, 20, 0));
    assert_eq!(json(&second)["batches"], 0);
    assert_eq!(place.read("predictions.csv"), written);
    assert_eq!(asked(&eval(&place, &["--format", "json", "--no-cache"]).ok()), (20, 0, 0));
    assert_eq!(place.read("predictions.csv"), written);
}

#[test]
fn a_table_is_printed_for_people_and_for_programs() {
    let place = place();
    let text = eval(&place, &["--no-cache"]).ok().stdout();
    assert!(text.contains("by-colour  none"), "{text}");
    assert!(text.contains("0.596 to 0.982"), "{text}");
    assert!(text.contains("asked 20 · known already 0 · failed 0 · "), "{text}");
    let csv = eval(&place, &["--no-cache", "--format", "csv"]).ok().stdout();
    assert!(csv.contains("\nby-colour,none,10,0,10,9,0.9,0.59"), "{csv}");
}

#[test]
fn labels_and_top_k_change_without_asking_and_only_what_changed_is_asked() {
    let place = place();
    eval(&place, &[]).ok();
    let written = place.read("predictions.csv");
    place.write("eval.toml", MANIFEST.replace("seed = 7", "seed = 7\ntop_k = 1"));
    assert_eq!(asked(&eval(&place, &["--format", "json"]).ok()), (0, 20, 0));
    assert_ne!(place.read("predictions.csv"), written);
    // Another seed is another noise; what is not random stays known.
    place.write("eval.toml", MANIFEST.replace("seed = 7", "seed = 8"));
    assert_eq!(asked(&eval(&place, &["--format", "json"]).ok()), (10, 10, 0));
    place.write("3.png", picture([1, 2, 3], 4));
    place.write("eval.toml", MANIFEST);
    assert_eq!(asked(&eval(&place, &["--format", "json"]).ok()), (2, 18, 0));
    // Another preparation is another question.
    place.write("eval.toml", MANIFEST.replace("sd = [1, 1, 1]", "sd = [2, 2, 2]"));
    assert_eq!(asked(&eval(&place, &["--format", "json"]).ok()), (20, 0, 0));
}

#[test]
fn a_dry_run_counts_and_writes_nothing() {
    let place = place();
    eval(&place, &["--limit", "4"]).ok();
    assert!(place.names().contains(&"predictions.first-4.csv".to_owned()), "{:?}", place.names());
    let before = place.names();
    let ran = eval(&place, &["--dry-run", "--format", "json"]).ok();
    let model = &json(&ran)["models"][0];
    assert_eq!((model["known"].as_u64(), model["to_ask"].as_u64()), (Some(8), Some(12)));
    assert!(eval(&place, &["--dry-run"]).ok().stdout().contains("Nothing was run."));
    assert_eq!(place.names(), before);
}

#[test]
fn shards_are_merged_into_what_one_run_writes() {
    for ending in ["csv", "parquet"] {
        let place = place();
        let named = format!("seed = 7\noutput = \"predictions.{ending}\"");
        place.write("eval.toml", MANIFEST.replace("seed = 7", &named));
        let name = |part: &str| format!("predictions{part}.{ending}");
        eval(&place, &[]).ok();
        let whole = place.bytes(&name(""));
        std::fs::remove_file(place.path(&name(""))).unwrap();
        for shard in ["2/3", "1/3"] {
            eval(&place, &["--shard", shard, "--no-cache"]).ok();
        }
        refused(&place, &["merge", "eval.toml"], &["3-of-3", "2 of 3 shards"]);
        eval(&place, &["--shard", "3/3"]).ok();
        let ran = place.run(&["merge", "eval.toml"]).ok();
        assert!(ran.stdout().contains("20 predictions, 0 of them failed"), "{}", ran.all());
        assert!(place.bytes(&name("")) == whole, "merged shards differ from one run");
        let files = [name(".1-of-3"), name(".2-of-3")];
        let args = ["merge", "eval.toml", &files[0], &files[1]];
        refused(&place, &args, &["no file has the row of model `by-colour`, stimulus `s6`"]);
        let twice = ["merge", "eval.toml", &files[0], &files[0], &files[1]];
        refused(&place, &twice, &["stands twice"]);
        refused(&place, &["merge", &files[0]], &["--output is missing"]);
        place.run(&["merge", "--output", "both.csv", &files[0], &files[1]]).ok();
        assert_eq!(place.read("both.csv").lines().count(), 13);
    }
}

#[test]
fn broken_pictures_are_failed_rows_with_reasons_and_exit_code_1() {
    let place = place();
    let whole = place.bytes("3.png");
    place.write("3.png", &whole[..40]);
    place.write("4.png", "hello");
    std::fs::remove_file(place.path("5.png")).unwrap();
    let ran = eval(&place, &["--format", "json"]);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    assert_eq!(asked(&ran), (14, 0, 6));
    assert!(ran.stderr().contains("6 of 20 rows failed"), "{}", ran.all());
    assert!(ran.stderr().contains("2 × cannot read 5.png"), "{}", ran.all());
    let written = place.read("predictions.csv");
    let failed: Vec<&str> = written.lines().filter(|row| row.contains(",failed,")).collect();
    assert_eq!(failed.len(), 6);
    let start = "by-colour,s3,none,,,red,failed,,,,,\"3.png should be a whole png picture";
    assert!(failed[0].starts_with(start), "{failed:?}");
    // What was mended is asked for, and nothing else.
    place.write("3.png", whole);
    assert_eq!(asked(&eval(&place, &["--format", "json"])), (2, 14, 4));
    for n in 0..10 {
        let _ = std::fs::remove_file(place.path(&format!("{n}.png")));
    }
    std::fs::remove_file(place.path("predictions.csv")).unwrap();
    let args = ["eval", "eval.toml", "--engine", "rten"];
    refused(&place, &args, &["none of the 10 pictures is there"]);
}

#[test]
fn what_does_not_fit_is_refused_before_anything_runs() {
    let place = place();
    let check = |change: (&str, &str), says: &[&str]| {
        let text = MANIFEST.replace(change.0, change.1);
        assert_ne!(text, MANIFEST);
        place.write("eval.toml", text);
        refused(&place, &["eval", "eval.toml", "--engine", "rten"], says);
    };
    place.write("eval.toml", MANIFEST.replace("seed = 7", "seed = 7\ntop-k = 3"));
    let before = place.names();
    let ran = eval(&place, &[]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr().contains("eval.toml:5: unknown field `top-k`"), "{}", ran.all());
    assert_eq!(place.names(), before);
    let twin =
        "[[model]]\nname = \"by-colour\"\nfile = \"model.onnx\"\n\n[[probe]]\nname = \"none\"";
    check(
        ("[[probe]]\nname = \"none\"", twin),
        &["`model.name` should be different for each model, found `by-colour`"],
    );
    check(
        ("\"red\", ", ""),
        &["`by-colour` cannot be evaluated", "3 outputs and `classes` has 2 classes"],
    );
    check(
        ("\"red\"", "\"rde\""),
        &["the label `red` is none of the 3 classes in `classes`; did you mean `rde`?"],
    );
    check(("classes = [\"red\", \"green\", \"blue\"]", "classes = \"none.txt\""), &["none.txt"]);
    check(("model.onnx", "modle.onnx"), &["cannot read the model", "modle.onnx"]);
    check(("gaussian-noise", "gaussian"), &["should be one of", "found `gaussian`"]);
    check(("sd = 0.3", "sigma = 0.3"), &["found `sigma`"]);
    check(("preprocess = { mean = [0, 0, 0], sd = [1, 1, 1] }", ""), &["nothing says how"]);
    check(("mean = [0, 0, 0]", "size = 5"), &["5 × 5 pixels, and the model takes 4 × 4"]);
    check(("seed = 7", "seed = 7\noutput = \"stimuli.csv\""), &["one of the files to read"]);
    check(("seed = 7", "seed = 7\noutput = \"p.txt\""), &["should end in .csv or .parquet"]);
    check(("seed = 7", "seed = 7\noutput = \"no/p.csv\""), &["folder of the output is not there"]);
    let table = "name = \"colours\"\nseed = 7\n\n[[model]]";
    let asked = "name = \"colours\"\nfeatures = \"f\"\n[[model]]\nlayer = \"reducesun\"";
    check((table, asked), &["no value `reducesun`; it has: reducesum"]);
    check(("classes =", "answer = \"imagenet-16\"\n#"), &["3 outputs and imagenet-1k has 1000"]);
    place.write("eval.toml", MANIFEST);
    let table = place.read("stimuli.csv");
    place.write("stimuli.csv", format!("{table}s3,3.png,red\n"));
    let args = ["eval", "eval.toml", "--engine", "rten"];
    refused(&place, &args, &["stimulus `s3` stands twice"]);
    place.write("stimuli.csv", table);
    let unknown = [&args[..], &["--models", "resnet"]].concat();
    refused(&place, &unknown, &["no model `resnet`; it has: by-colour"]);
    let shard = place.run(&["eval", "eval.toml", "--shard", "3/2"]);
    assert_eq!(shard.code(), 2);
}

#[test]
fn answers_do_not_depend_on_batch_and_threads() {
    let place = place();
    for engine in engines() {
        let mut written = Vec::new();
        // rten computes single pictures in another order.
        for (batch, threads) in [("2", "1"), ("3", "2"), ("64", "2")] {
            let args = ["eval", "eval.toml", "--engine", engine, "--batch", batch];
            place.run(&[&args[..], &["--threads", threads, "--no-cache"]].concat()).ok();
            written.push(place.read("predictions.csv"));
        }
        assert!(written.iter().all(|text| *text == written[0]), "{engine}: {written:?}");
    }
}

#[test]
fn outputs_and_features_lie_beside_the_predictions() {
    let place = place();
    place.write("4.png", "hello");
    let keys = "seed = 7\nlogits = \"logits\"\nfeatures = \"features\"";
    let text = MANIFEST.replace("seed = 7", keys);
    // The sums of colours are what the last product works on.
    place.write("eval.toml", text.replace("classes", "layer = \"penultimate\"\nclasses"));
    assert_eq!(eval(&place, &[]).code(), 1);
    for folder in ["logits", "features"] {
        let index = place.read(&format!("{folder}/by-colour.csv"));
        assert_eq!(index.lines().count(), 19);
        assert!(index.starts_with("row,stimulus,probe\n0,s0,none\n1,s0,noise\n"), "{index}");
        assert!(index.ends_with("17,s9,noise\n"), "{index}");
        let bytes = place.bytes(&format!("{folder}/by-colour.npy"));
        assert_eq!(bytes.len(), 128 + 18 * 3 * 4);
        assert!(String::from_utf8_lossy(&bytes[..128]).contains("'shape': (18, 3)"));
        let red = f32::from_le_bytes([bytes[128], bytes[129], bytes[130], bytes[131]]);
        // Sixteen pixels of 200 / 255.
        assert!((red - 16.0 * 200.0 / 255.0).abs() < 1e-4, "{red}");
    }
}

/// Evaluates a real model as a manifest, and returns how often it is right.
fn n_right(folder: &str, onnx: &str, keys: &str, of_model: &str, engine: &str) -> Option<u64> {
    let (data, model) = (real_data(folder)?, real_model(onnx)?);
    if !engines().contains(&engine) {
        return None;
    }
    let text = |path: &Path| {
        path.canonicalize().expect("because it is there").to_string_lossy().into_owned()
    };
    let place = Place::new();
    place.write(
        "eval.toml",
        format!(
            "version = 1\nname = \"real\"\nstimuli = {:?}\n{keys}\n[[model]]\nname = \"real\"\n\
             file = {:?}\n{of_model}\n",
            text(&data.join("stimuli.csv")),
            text(&model)
        ),
    );
    let args = ["eval", "eval.toml", "--format", "json", "--engine", engine];
    let ran = place.run(&args).ok();
    json(&ran)["models"][0]["probes"][0]["n_correct"].as_u64()
}

const CIFAR: &str = r#"classes = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
preprocess = { mean = [0.485, 0.456, 0.406], sd = [0.229, 0.224, 0.225] }"#;

/// Reference: the description of the data.
#[test]
fn resnet_20_is_right_915_times_of_1000_in_onnxruntime() {
    let found = n_right("cifar10h", "cifar10_resnet20.onnx", "", CIFAR, "onnxruntime");
    assert!(matches!(found, None | Some(915)), "{found:?}");
}

/// Reference: the description of the data.
#[test]
fn squeezenet_is_right_61_times_of_100_photographs_of_pets() {
    let model = r#"classes = "imagenet-1k"
preprocess = { resize = "squash", channels = "bgr", scale = 255, mean = [104, 117, 123], sd = [1, 1, 1] }"#;
    let keys = "map = { label = \"imagenet_index\" }\nbatch = 8";
    let found = n_right("pets", "squeezenet_v10_dc.onnx", keys, model, "onnxruntime");
    assert!(matches!(found, None | Some(61)), "{found:?}");
}
