//! Predictions of other tools and label counts as people meet them, on small files and on real
//! data.

use std::path::Path;

use mohs_data::format::{ReadOptions, read_all};
use mohs_data::{Difficulty, Prediction, Stimulus};

use crate::mohs::Place;
use crate::real_data::real_data;

const WIDE: &str =
    "stimulus,category,noise,alexnet,vgg\n1/a.png,cat,0.0,cat,\n1/b.png,dog,0.35,cat,dog\n";

fn predictions(path: &Path) -> Vec<Prediction> {
    read_all(path, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_dry_run_of_a_wide_table_says_what_it_understood_and_writes_nothing() {
    let place = Place::new();
    place.write("wide.csv", WIDE);
    let args = ["import", "answers-table", "wide.csv", "--map", "condition_value=noise"];
    let extra = ["--stimuli-output", "stimuli.csv", "--dry-run"];
    let ran = place.run(&[&args[..], &extra].concat()).ok();
    assert_eq!(place.names(), ["wide.csv"]);
    assert_eq!(ran.stderr(), "");
    insta::assert_snapshot!(ran.stdout());
}

#[test]
fn a_wide_table_becomes_predictions_and_stimuli_that_can_be_checked() {
    let place = Place::new();
    place.write("wide.csv", WIDE);
    let args = ["import", "answers-table", "wide.csv", "--map", "condition_value=noise"];
    let extra = ["-o", "predictions.parquet", "--stimuli-output", "stimuli.csv"];
    let ran = place.run(&[&args[..], &extra].concat()).ok();
    assert_eq!(ran.stdout(), "");
    assert!(ran.stderr().ends_with("written: stimuli.csv with 2 stimuli\n"), "{}", ran.stderr());
    assert_eq!(predictions(&place.path("predictions.parquet")).len(), 4);
    place.run(&["check", "predictions.parquet"]).ok();
    let stimuli: Vec<Stimulus> =
        read_all(&place.path("stimuli.csv"), &ReadOptions::default()).unwrap();
    assert_eq!(stimuli[1].label.as_str(), "dog");
    assert_eq!(stimuli[1].attribute.as_deref(), Some("noise"));
    assert_eq!(stimuli[1].level.as_deref(), Some("0.35"));
}

#[test]
fn imagenet_x_takes_labels_from_stimuli_and_names_from_a_file() {
    let place = Place::new();
    place.write(
        "x.csv",
        "file_name,predicted_class,predicted_probability\nb.JPEG,1,0.9\na.JPEG,1,0.8\n",
    );
    place.write("stimuli.csv", "stimulus,file,label\nA,val/a.JPEG,tench\nB,val/b.JPEG,goldfish\n");
    place.write("names.txt", "tench\ngoldfish\n");
    let args = ["import", "imagenet-x", "x.csv", "--stimuli", "stimuli.csv"];
    place.run(&[&args[..], &["--classes", "names.txt", "-o", "p.csv", "--quiet"]].concat()).ok();
    let rows = predictions(&place.path("p.csv"));
    let told: Vec<(&str, &str, Option<bool>)> =
        rows.iter().map(|r| (r.model.as_str(), r.stimulus.as_str(), r.is_correct())).collect();
    assert_eq!(told, [("x", "B", Some(true)), ("x", "A", Some(false))]);
}

/// Runs a command that must fail with exit code 2 and leave nothing behind.
fn refused(files: &[(&str, &str)], args: &[&str]) -> String {
    let place = Place::new();
    for (name, content) in files {
        place.write(name, content);
    }
    let before = place.names();
    let ran = place.run(args);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert_eq!(place.names(), before, "nothing may be written");
    assert_eq!(ran.stdout(), "");
    ran.stderr()
}

#[test]
fn bad_predictions_are_refused_with_their_place_and_a_hint() {
    let wide = [("wide.csv", WIDE)];
    let twice = [("m.csv", "stimulus,predicted\na,cat\na,dog\n")];
    let import = |format: &'static str, file: &'static str| ["import", format, file, "-o", "p.csv"];
    let with = |args: [&'static str; 5], more: &[&'static str]| [&args[..], more].concat();
    let all = [
        refused(&twice, &import("predictions", "m.csv")),
        refused(&wide, &import("predictions", "wide.csv")),
        refused(&wide, &import("imagenet-x", "wide.csv")),
        refused(&wide, &import("model-vs-human-models", "wide.csv")),
        refused(&wide, &import("response-matrix", "wide.csv")),
        refused(&wide, &with(import("answers-table", "wide.csv"), &["--models", "resnet"])),
        refused(&wide, &with(import("predictions", "wide.csv"), &["--models", "vgg"])),
        refused(&wide, &with(import("csv", "wide.csv"), &["--stimuli", "s.csv"])),
        refused(&wide, &with(import("answers-table", "wide.csv"), &["--stimuli-output", "p.csv"])),
        refused(&wide, &with(import("answers-table", "wide.csv"), &["--stimuli-output", "s.json"])),
        refused(
            &[("w.csv", "stimulus,vgg\na,cat\n")],
            &with(import("answers-table", "w.csv"), &["--stimuli-output", "s.csv"]),
        ),
        refused(&wide, &with(import("answers-table", "wide.csv"), &["--stimuli", "none.csv"])),
        refused(&wide, &with(import("answers-table", "wide.csv"), &["--classes", "none.txt"])),
    ];
    insta::assert_snapshot!(all.join("----\n"));
}

const COUNTS: &str = "stimulus,cat,dog,cow\na,45,4,1\nb,50,0,0\nc,10,40,0\n";
const STIMULI: &str = "stimulus,file,label\na,a.png,cat\nb,b.png,cat\nc,c.png,cat\n";

#[test]
fn label_counts_give_difficulties_in_every_format() {
    let place = Place::new();
    place.write("counts.csv", COUNTS);
    place.write("stimuli.csv", STIMULI);
    let args = ["score", "label-counts", "counts.csv", "--stimuli", "stimuli.csv"];
    let text = place.run(&[&args[..], &["--output", "out"]].concat()).ok();
    insta::assert_snapshot!(text.stdout());
    let json = place.run(&[&args[..], &["--format", "json"]].concat()).ok();
    assert_eq!(json.stdout(), place.read("out/summary.json"));
    let csv = place.run(&[&args[..], &["--format", "csv"]].concat()).ok();
    assert!(csv.stdout().starts_with("stimulus,label,n_people,n_label,disagreement,"));
    assert!(place.read("out/difficulty.csv").contains("label-disagreement"));
    place.run(&["check", "out/difficulty.csv"]).ok();
    place.run(&["report", "out/summary.json", "--output", "out/report.html"]).ok();
    assert!(place.read("out/report.html").contains("Stimuli by how many people agree"));
}

#[test]
fn bad_label_counts_are_refused_with_a_hint() {
    let files = [("counts.csv", COUNTS), ("other.csv", "stimulus,file,label\na,a.png,Cat\n")];
    let args = ["score", "label-counts", "counts.csv"];
    let all = [
        refused(&files, &args),
        refused(&files, &[&args[..], &["--stimuli", "other.csv"]].concat()),
        refused(&files, &[&args[..], &["--bands", "0.5,0.9"]].concat()),
        refused(&files, &["score", "label-counts", "other.csv"]),
        refused(&files, &["score", "label-counts", "none.csv"]),
    ];
    insta::assert_snapshot!(all.join("----\n"));
}

/// Reference: counted by a script over the same two files.
#[test]
fn real_label_counts_of_small_pictures_give_bands_of_agreement() {
    let Some(folder) = real_data("cifar10h") else { return };
    let place = Place::new();
    let counts = folder.join("human_counts.csv");
    let stimuli = folder.join("stimuli.csv");
    let (counts, stimuli) = (counts.to_string_lossy(), stimuli.to_string_lossy());
    let args = ["score", "label-counts", &counts, "--stimuli", &stimuli, "--output", "out"];
    place.run(&args).ok();
    let rows: Vec<Difficulty> =
        read_all(&place.path("out/difficulty.csv"), &ReadOptions::default()).unwrap();
    let n = |band: &str| rows.iter().filter(|row| row.band.as_deref() == Some(band)).count();
    let bands = ["all agree", "from 95 %", "from 80 %", "below 80 %"];
    assert_eq!(bands.map(n), [456, 324, 163, 57]);
    let mean = rows.iter().map(|row| row.estimate.value).sum::<f64>() / rows.len() as f64;
    assert!((mean - 0.046_277_289_465).abs() < 1e-9, "{mean}");
    let differs = |row: &&Difficulty| row.extra.get("usual_label") != row.extra.get("label");
    assert_eq!(rows.iter().filter(differs).count(), 10);
}

/// Reference: counted by a script over the same file.
#[test]
fn real_answers_of_22_networks_come_through_one_short_command() {
    let Some(folder) = real_data("replay") else { return };
    let place = Place::new();
    let file = folder.join("noise_22_networks.csv");
    let file = file.to_string_lossy();
    let args = ["import", "answers-table", &file, "--map", "condition_value=noise"];
    let ran = place.run(&[&args[..], &["-o", "p.parquet", "--stimuli-output", "s.csv"]].concat());
    assert!(ran.ok().stderr().contains("22 models, their answers"));
    let rows = predictions(&place.path("p.parquet"));
    assert_eq!(rows.len(), 22 * 4_480);
    let n_right = rows.iter().filter(|row| row.is_correct() == Some(true)).count();
    let n_silent = rows.iter().filter(|row| row.answer().is_none()).count();
    assert_eq!((n_right, n_silent), (60_389, 0));
}
