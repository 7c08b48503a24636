//! `mohs fit`: a small training from the file and from flags, interrupted, resumed and refused; and
//! what `mohs score learning-speed` makes of it.

use std::process::{Command, Stdio};

use mohs_vision::pixels::Rgb8;

use crate::mohs::{Place, Ran};

const PLAN: &str = r#"version = 1
name = "small"
seed = 5
output = "out"
epochs = 4
batch = 16
record = "both"
network = { architecture = "plain", width = 4 }
input = { size = 16 }
train = { world = { seed = 8, n = 64, size = 32 } }
validation = { world = { seed = 9, n = 32, size = 32 } }
augmentation = { flip = true, crop_padding = 2 }
"#;

const FIT: [&str; 4] = ["fit", "fit.toml", "--engine", "rten"];

fn place(plan: &str) -> Place {
    let place = Place::new();
    place.write("fit.toml", plan);
    place
}

/// A place with twelve small pictures of two colours in a folder per class, and a broken one.
fn coloured() -> Place {
    let place = Place::new();
    for (label, colour) in [("red", [200, 40, 40]), ("blue", [40, 40, 200])] {
        std::fs::create_dir_all(place.path(&format!("photos/{label}"))).expect("a folder of ours");
        for n in 0..6_u8 {
            let bytes = colour.map(|byte: u8| byte + 4 * n).repeat(20 * 20);
            let picture = Rgb8::new(20, 20, bytes).expect("because the size fits");
            place.write(&format!("photos/{label}/{n}.png"), picture.to_png());
        }
    }
    place
}

fn outcome(place: &Place, folder: &str) -> (Vec<u8>, Vec<u8>) {
    let bytes = |name: &str| place.bytes(&format!("{folder}/{name}"));
    (bytes("model.onnx"), bytes("predictions.csv"))
}

#[test]
fn a_training_leaves_a_model_and_its_answers_after_each_epoch() {
    let place = place(PLAN);
    let ran = place.run(&FIT).ok();
    assert!(ran.stdout().contains("the model is that of epoch 4"), "{}", ran.all());
    let levels: Vec<usize> =
        ["easy", "medium", "hard"].iter().filter_map(|level| ran.stdout().find(level)).collect();
    assert!(levels.len() == 3 && levels.is_sorted(), "{}", ran.all());
    let rows = place.read("out/predictions.csv");
    assert_eq!(rows.lines().count(), 1 + 4 * (64 + 32));
    assert_eq!(place.read("out/classes.txt").lines().count(), 16);
    assert_eq!(place.read("out/log.csv").lines().count(), 5);
    assert!(!place.path("out/epochs").exists());
    // The model is one like any other.
    let show = place.run(&["network", "show", "out/model.onnx"]).ok();
    assert!(show.stdout().contains("pictures"), "{}", show.all());
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let place = place(PLAN);
    place.run(&FIT).ok();
    let again = [&FIT[..], &["--output", "again"]].concat();
    place.run(&again).ok();
    assert!(outcome(&place, "out") == outcome(&place, "again"));
    let other = [&FIT[..], &["--output", "other", "--seed", "6"]].concat();
    place.run(&other).ok();
    assert!(outcome(&place, "out").0 != outcome(&place, "other").0);
}

#[test]
#[cfg(unix)]
fn a_training_that_was_killed_ends_with_the_same_bytes() {
    let place = place(PLAN);
    let whole = [&FIT[..], &["--output", "whole"]].concat();
    place.run(&whole).ok();
    // Killed as soon as an epoch left something behind, again and again.
    for n_files in 1..4 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mohs"))
            .args(FIT)
            .current_dir(place.path("."))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("because the binary was built for this test");
        let has_left = || place.path(&format!("out/epochs/{n_files:06}.csv")).exists();
        while !has_left() && child.try_wait().expect("a child of ours").is_none() {
            std::thread::yield_now();
        }
        child.kill().expect("a child of ours");
        child.wait().expect("a child of ours");
    }
    place.run(&FIT).ok();
    assert!(outcome(&place, "whole") == outcome(&place, "out"));
    // Once more: there is nothing left to do, and nothing changes.
    place.run(&FIT).ok();
    assert!(outcome(&place, "whole") == outcome(&place, "out"));
}

#[test]
fn another_plan_in_the_same_folder_is_refused_until_restarted() {
    let place = place(PLAN);
    let short = [&FIT[..], &["--epochs", "1"]].concat();
    place.run(&short).ok();
    let before = place.bytes("out/model.onnx");
    let ran = place.run(&[&FIT[..], &["--epochs", "2"]].concat());
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("--restart"), "{}", ran.all());
    assert!(before == place.bytes("out/model.onnx"));
    place.run(&[&FIT[..], &["--epochs", "2", "--restart"]].concat()).ok();
    assert!(before != place.bytes("out/model.onnx"));
}

#[test]
fn flags_alone_train_on_a_folder_and_leave_the_plan() {
    let place = coloured();
    place.write("photos/red/broken.png", "no picture");
    let flags = ["--network", "plain", "--train", "photos", "--size", "16", "--epochs", "3"];
    let ran = place.run(&[&["fit", "--engine", "rten", "--batch", "5"][..], &flags].concat());
    // One picture could not be read.
    assert_eq!(ran.code(), 1, "{}", ran.all());
    assert!(ran.stderr().contains("broken.png"), "{}", ran.all());
    assert_eq!(place.read("fit/classes.txt"), "blue\nred\n");
    let plan = place.read("fit/fit.toml");
    assert!(plan.contains("stimuli = \"../photos\""), "{plan}");
    // The plan that was left does the same again.
    let again = ["fit", "fit/fit.toml", "--engine", "rten", "--output", "again"];
    assert_eq!(place.run(&again).code(), 1);
    assert!(place.bytes("fit/model.onnx") == place.bytes("again/model.onnx"));
}

#[test]
fn a_model_is_given_a_new_classifier_and_only_that_is_trained() {
    let place = coloured();
    place.write("fit.toml", PLAN.replace("epochs = 4", "epochs = 1"));
    place.run(&FIT).ok();
    let refused = ["fit", "--network", "out/model.onnx", "--train", "photos", "--engine", "rten"];
    let ran = place.run(&refused);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("16 outputs") && ran.stderr().contains("--new-head"));
    place.write(
        "tune.toml",
        "version = 1\nname = \"tuned\"\nepochs = 2\nbatch = 4\noutput = \"tuned\"\n\
         network = { file = \"out/model.onnx\", new_head = true, weights = [\"head*\"] }\n\
         train = { stimuli = \"photos\" }\nvalidation = { share = 0.4 }\n",
    );
    let ran = place.run(&["fit", "tune.toml", "--engine", "rten"]).ok();
    assert!(ran.stderr().contains("training 34 weights"), "{}", ran.all());
}

fn refused(ran: &Ran, words: &str) {
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains(words), "{}", ran.all());
}

#[test]
fn what_cannot_be_trained_is_refused_and_nothing_is_written() {
    let place = place(PLAN);
    place.write("bad.toml", PLAN.replace("epochs = 4", "epochs = 0"));
    refused(&place.run(&["fit", "bad.toml"]), "bad.toml:5: `epochs` should be from 1");
    place.write("bad.toml", PLAN.replace("size = 16", "size = 8"));
    refused(&place.run(&["fit", "bad.toml"]), "at least 16 pixels a side");
    place.write("bad.toml", PLAN.replace("batch = 16", "batch = 1"));
    refused(&place.run(&["fit", "bad.toml"]), "at least 2 pictures per step");
    refused(&place.run(&["fit", "--network", "resnet", "--train", "x"]), "found `resnet`");
    refused(&place.run(&["fit", "--network", "plain", "--train", "nowhere"]), "nowhere");
    place.write("bad.toml", PLAN.replace("n = 64", "n = 1"));
    refused(&place.run(&["fit", "bad.toml"]), "at least 2 labels, found 1");
    assert!(!place.path("out/model.onnx").exists() && !place.path("out/checkpoint").exists());
    std::fs::create_dir(place.path("full")).expect("a folder of ours");
    place.write("full/model.onnx", "mine");
    let ran = place.run(&[&FIT[..], &["--output", "full"]].concat());
    refused(&ran, "holds `model.onnx`, which no training wrote");
    assert_eq!(place.read("full/model.onnx"), "mine");
}

#[test]
fn a_loss_that_is_no_number_stops_the_training() {
    let place = place(PLAN);
    let ran = place.run(&[&FIT[..], &["--learning-rate", "1e30"]].concat());
    refused(&ran, "the loss is no number any more in epoch 1");
    assert!(ran.stderr().contains("lower the learning rate"), "{}", ran.all());
}

#[test]
fn learning_speed_is_a_difficulty_of_every_stimulus() {
    let place = place(PLAN);
    place.run(&FIT).ok();
    let ran =
        place.run(&["score", "learning-speed", "out/predictions.csv", "--output", "results"]).ok();
    assert!(ran.stderr().contains("384 predictions read"), "{}", ran.all());
    let rows = place.read("results/difficulty.csv");
    assert_eq!(rows.lines().count(), 1 + 64 + 32);
    assert!(rows.lines().skip(1).all(|row| row.contains("learning-speed")), "{rows}");
    let summary = place.read("results/summary.json");
    assert!(summary.contains("\"n_epochs\": 4"), "{summary}");
    place.write("plain.csv", "stimulus,predicted,label\na,mug,mug\n");
    let ran = place.run(&["score", "learning-speed", "plain.csv"]);
    refused(&ran, "no prediction is of an epoch");
}
