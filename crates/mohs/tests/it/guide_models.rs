//! The chains of `docs/guide/evaluate-models.md` on real data, and that its figures are what the
//! program prints.

use serde_json::Value;

use crate::mohs::Place;
use crate::real_data::real_data;

const GUIDE: &str = include_str!("../../../../docs/guide/evaluate-models.md");

/// Makes sure that lines of a program's output stand in the guide as they are.
#[track_caller]
fn stands_in_the_guide(output: &str, from: &str, n_lines: usize) {
    let start = output.find(from).unwrap_or_else(|| panic!("no `{from}` in\n{output}"));
    let start = output[..start].rfind('\n').map_or(0, |at| at + 1);
    let lines: Vec<&str> = output[start..].lines().take(n_lines).map(str::trim_end).collect();
    let block = lines.join("\n");
    assert!(GUIDE.contains(&block), "not in the guide:\n{block}");
}

fn json_of(place: &Place, args: &[&str]) -> Value {
    let ran = place.run(&[args, &["--format", "json"]].concat()).ok();
    serde_json::from_str(&ran.stdout()).expect("because --format json prints JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn human_difficulty_of_the_guide_is_what_label_counts_say() {
    let Some(data) = real_data("cifar10h") else { return };
    let (counts, stimuli) = (data.join("human_counts.csv"), data.join("stimuli.csv"));
    let (counts, stimuli) = (counts.to_string_lossy(), stimuli.to_string_lossy());
    let ran = Place::new().run(&["score", "label-counts", &counts, "--stimuli", &stimuli]).ok();
    stands_in_the_guide(&ran.stdout(), "agreement   stimuli", 6);
    stands_in_the_guide(&ran.stdout(), "On average", 3);
}

/// Runs the chain of the guide; the predictions of ResNet-20 are those of `mohs eval`.
#[test]
fn accuracy_by_human_agreement_is_what_the_guide_says() {
    let (Some(data), Some(onnx)) = (real_data("cifar10h"), real_data("onnx")) else { return };
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        skipped();
        return;
    }
    let place = Place::new();
    let path = |folder: &std::path::Path, name: &str| folder.join(name).display().to_string();
    let stimuli = path(&data, "stimuli.csv");
    let counts = path(&data, "human_counts.csv");
    let labels = ["score", "label-counts", &counts, "--stimuli", &stimuli, "--output", "results"];
    place.run(&labels).ok();
    let start = GUIDE.find("version = 1").expect("because the guide has a manifest");
    let end = GUIDE[start..].find("```").expect("because the block ends") + start;
    let manifest = GUIDE[start..end].replace("\"stimuli.csv\"", &format!("{stimuli:?}")).replace(
        "\"cifar10_resnet20.onnx\"",
        &format!("{:?}", path(&onnx, "cifar10_resnet20.onnx")),
    );
    place.write("eval.toml", manifest);
    let ran = place.run(&["eval", "eval.toml"]).ok();
    stands_in_the_guide(&ran.stdout(), "model     probe  accuracy", 3);
    let ran = place.run(&["score", "models", "eval.toml", "--output", "results"]).ok();
    stands_in_the_guide(&ran.stdout(), "resnet20 is right on", 2);
    stands_in_the_guide(&ran.stdout(), "model           right %", 4);
    stands_in_the_guide(&ran.stdout(), "model     too sure by", 3);
    for (band, interval) in [
        ("all agree,456,440", "94.4 to 97.8"),
        ("from 95 %,324,301", "89.6 to 95.2"),
        ("from 80 %,163,131", "73.6 to 85.7"),
        ("below 80 %,57,43", "62.9 to 84.8"),
    ] {
        assert!(place.read("results/model-tables/accuracy.csv").contains(band), "{band}");
        assert!(GUIDE.contains(interval), "{interval}");
    }
    place.run(&["report", "results", "--stimuli", &stimuli]).ok();
}

#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn skipped() {
    println!("skipped: ORT_DYLIB_PATH names no onnxruntime");
}

/// Reference: counts, exact tests and κ by a script with SciPy 1.17.1 over the same file.
#[test]
fn answers_of_22_networks_are_compared_with_correction_and_fall_with_noise() {
    let Some(data) = real_data("replay") else { return };
    let place = Place::new();
    let file = data.join("noise_22_networks.csv");
    let file = file.to_string_lossy();
    let args = ["import", "answers-table", &file, "--map", "condition_value=noise"];
    let outputs = ["--output", "predictions.parquet", "--stimuli-output", "stimuli.csv"];
    place.run(&[&args[..], &outputs].concat()).ok();
    let args = ["score", "models", "predictions.parquet", "--stimuli", "stimuli.csv"];
    let summary = json_of(&place, &[&args[..], &["--resamples", "100"]].concat());
    let found = &summary["models"];
    assert_eq!((&found["n_predictions"], &found["n_stimuli"]), (&98_560.into(), &4_480.into()));
    let models = list(&found["models"]);
    assert_eq!(models.len(), 22);

    // Levels of noise are bands, in order, and each model is worst at the strongest.
    let bands: Vec<&str> =
        list(&found["bands"]).iter().map(|band| band["name"].as_str().unwrap()).collect();
    assert_eq!(bands, ["0", "0.03", "0.05", "0.1", "0.2", "0.35", "0.6", "0.9"]);
    let mean_at = |band: usize| {
        let of = |model: &Value| number(&model["bands"][band]["wilson"]["value"]);
        models.iter().map(of).sum::<f64>() / 22.0
    };
    let means: Vec<f64> = (0..8).map(mean_at).collect();
    assert!(means.windows(2).all(|pair| pair[1] < pair[0]), "{means:?}");
    assert!((means[0] - 0.863_958_166).abs() < 1e-8, "{means:?}");
    assert!((means[7] - 0.264_069_264).abs() < 1e-8, "{means:?}");

    // All pairs, and both corrections as their definitions have them.
    let pairs = list(&found["comparisons"]);
    assert_eq!(pairs.len(), 231);
    let mut by_p: Vec<&Value> = pairs.iter().collect();
    by_p.sort_by(|a, b| number(&a["p"]).total_cmp(&number(&b["p"])));
    let (mut holm, mut bh) = (0.0_f64, vec![1.0_f64; 232]);
    for (idx, pair) in by_p.iter().enumerate().rev() {
        let p = number(&pair["p"]);
        bh[idx] = bh[idx + 1].min(p * 231.0 / (idx + 1) as f64);
        assert!((number(&pair["p_bh"]) - bh[idx]).abs() < 1e-12, "{pair}");
    }
    for (idx, pair) in by_p.iter().enumerate() {
        holm = holm.max((number(&pair["p"]) * (231 - idx) as f64).min(1.0));
        assert!((number(&pair["p_holm"]) - holm).abs() < 1e-12, "{pair}");
    }
    let below = |name: &str| pairs.iter().filter(|pair| number(&pair[name]) < 0.05).count();
    assert_eq!((below("p_exact"), below("p_holm"), below("p_bh")), (209, 201, 209));

    // One pair against SciPy, and two networks that are one: the file has each twice.
    let first = "sixteen35--phase-scrambling-multiple--uniform-noise-multiple--200epochs";
    let second = "sixteen36--rotation-multiple--uniform-noise-multiple--200epochs";
    let of_pair = |rows: &str| {
        let is_it = |pair: &&Value| pair["first"] == first && pair["second"] == second;
        list(&found[rows]).iter().find(is_it).cloned().expect("because all pairs are there")
    };
    let pair = of_pair("comparisons");
    assert_eq!((&pair["n_only_first"], &pair["n_only_second"]), (&191.into(), &201.into()));
    assert!((number(&pair["p_exact"]) - 0.649_475_022_65).abs() < 1e-9, "{pair}");
    let consistency = of_pair("consistency");
    let kappa = number(&consistency["consistency"]["error_consistency"]["value"]);
    assert!((kappa - 0.712_559_545_165).abs() < 1e-9, "{kappa}");
    let is_one = |pair: &&Value| pair["n_only_first"] == 0 && pair["n_only_second"] == 0;
    assert_eq!(pairs.iter().filter(is_one).count(), 2);
}
