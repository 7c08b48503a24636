//! An evaluation that is killed again and again ends with the same file, and asks nothing twice.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mohs_graph::build::Builder;
use mohs_graph::{Dim, ElementType, Tensor, write};
use mohs_vision::pixels::Rgb8;

use crate::eval::{eval, json};
use crate::mohs::Place;

const N_STIMULI: usize = 120;
/// A row in the journal: eight numbers and what stands around them.
const N_BYTES: u64 = 4 + 32 + 8 * 4 + 8;

/// A model that takes some milliseconds per picture, so that there is something to kill.
fn slow_model() -> Vec<u8> {
    const WIDTH: usize = 1024;
    let mut builder = Builder::new("slow");
    let sizes = [3, 16, 16].map(Dim::known);
    let shape = [vec![Dim::symbol("batch")], sizes.to_vec()].concat();
    let x = builder.input("x", ElementType::F32, shape);
    let mut value = builder.reduce_sum(&x, &[2, 3], false).expect("because it fits");
    let layers = [(3, WIDTH), (WIDTH, WIDTH), (WIDTH, WIDTH), (WIDTH, 8)];
    for (layer, (from, to)) in layers.into_iter().enumerate() {
        let mut numbers = Vec::with_capacity(from * to);
        for n in 0..from * to {
            let odd =
                u16::try_from((n * 7919 + layer * 104_729) % 2003).expect("because it is small");
            numbers.push((f32::from(odd) - 1001.0) / 30_000.0);
        }
        let weights = Tensor::f32(vec![from, to], numbers).expect("because it fits");
        let weights = builder.weight(&format!("w{layer}"), weights);
        value = builder.matmul(&value, &weights).expect("because it fits");
    }
    builder.output_as(&value, "logits").expect("because the name is free");
    write::to_bytes(&builder.finish()).expect("because it is small")
}

fn place() -> Place {
    let place = Place::new();
    place.write("model.onnx", slow_model());
    let mut table = "stimulus,file,label\n".to_owned();
    for n in 0..N_STIMULI {
        let byte =
            |k: usize| u8::try_from((n * 31 + k * k * 17) % 251).expect("because it is small");
        let bytes = (0..16 * 16 * 3).map(byte).collect();
        let picture = Rgb8::new(16, 16, bytes).expect("because the size fits");
        place.write(&format!("{n}.png"), picture.to_png());
        table.push_str(&format!("{n}.png,{n}.png,{}\n", n % 8));
    }
    place.write("stimuli.csv", table);
    place.write(
        "eval.toml",
        "version = 1\nname = \"killed\"\nseed = 3\nbatch = 2\n[[model]]\nname = \"slow\"\n\
         file = \"model.onnx\"\npreprocess = { mean = [0, 0, 0], sd = [1, 1, 1] }\n\
         [[probe]]\nname = \"noise\"\nkind = \"gaussian-noise\"\nparameters = { sd = 0.1 }\n\
         [[probe]]\nname = \"none\"\nkind = \"none\"\n",
    );
    place
}

/// How many bytes of answers are kept.
fn n_kept(cache: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(cache) else { return 0 };
    let rows =
        entries.flatten().filter(|entry| entry.path().extension().is_some_and(|e| e == "rows"));
    rows.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// Starts an evaluation and kills it once so many bytes are kept; says whether it was still running.
fn killed(place: &Place, n_bytes: u64) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mohs"))
        .args(["eval", "eval.toml", "--engine", "rten", "--quiet"])
        .current_dir(place.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("because the binary was built for this test");
    let started = Instant::now();
    while n_kept(&place.path(".mohs-cache")) < n_bytes {
        if child.try_wait().expect("because it is ours").is_some() {
            return false;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "nothing is kept");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("because it is ours");
    child.wait().expect("because it is ours");
    true
}

#[test]
fn a_run_that_is_killed_goes_on_and_ends_with_the_same_bytes() {
    let place = place();
    eval(&place, &["--no-cache"]).ok();
    let whole = place.bytes("predictions.csv");
    std::fs::remove_file(place.path("predictions.csv")).unwrap();
    let n_rows = u64::try_from(N_STIMULI * 2).unwrap();
    let mut n_kills = 0;
    for share in [1, 2, 3, 5, 6] {
        n_kills += u32::from(killed(&place, 44 + n_rows * N_BYTES * share / 8));
        assert!(!place.names().contains(&"predictions.csv".to_owned()), "half a file has its name");
    }
    assert!(0 < n_kills, "every run was done before it could be killed");
    let cache = place.path(".mohs-cache");
    let kept = (n_kept(&cache) - 44) / N_BYTES;
    let ran = eval(&place, &["--format", "json"]).ok();
    let asked = json(&ran)["asked"].as_u64().unwrap();
    // Whatever was kept is not asked for again, and nothing is kept twice.
    assert_eq!(asked, n_rows - kept, "{}", ran.all());
    assert_eq!(n_kept(&cache), 44 + n_rows * N_BYTES);
    assert!(place.bytes("predictions.csv") == whole, "the file differs from one run");
    let warm = eval(&place, &["--format", "json"]).ok();
    assert_eq!(json(&warm)["asked"], 0);
    // A torn end, as a full disk leaves it, is cut off.
    let journal = std::fs::read_dir(&cache).unwrap().flatten().map(|entry| entry.path());
    let journal = journal.into_iter().find(|path| path.extension().is_some()).unwrap();
    let bytes = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &bytes[..bytes.len() - 5]).unwrap();
    let ran = eval(&place, &["--format", "json"]).ok();
    assert_eq!(json(&ran)["asked"], 1);
    assert!(place.bytes("predictions.csv") == whole, "the file differs from one run");
}
