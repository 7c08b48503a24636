//! `mohs prepare`: what participants are shown, made once, and the flash linter.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::mohs::{Place, Ran};

/// A study of drawn pictures with these lines instead of `side_px = 224`.
fn study(task: &str, n_pictures: &str, lines: &str) -> Place {
    let place = Place::new();
    place.run(&["init", task, "study", "--world", n_pictures, "--size", "40", "--quiet"]).ok();
    change(&place, "side_px = 224", lines);
    place
}

fn change(place: &Place, from: &str, to: &str) {
    let text = place.read("study/study.toml");
    assert!(text.contains(from), "{text}");
    place.write("study/study.toml", text.replacen(from, to, 1));
}

fn prepare(place: &Place) -> Ran {
    place.run(&["prepare", "study"])
}

fn n_pictures(place: &Place) -> usize {
    let Ok(entries) = std::fs::read_dir(place.path("study/prepared")) else { return 0 };
    entries.flatten().filter(|entry| entry.path().extension().is_some_and(|e| e == "png")).count()
}

#[test]
fn pictures_are_made_once_and_changed_ones_again() {
    let place = study("flash", "12", "side_px = 32");
    let first = prepare(&place).ok();
    insta::assert_snapshot!(without_size(&first.stderr()), @"study/prepared.csv: 12 stimuli with masks, 32 × 32 pixels, at most 1 flash in a second, SIZE; 24 pictures made");
    assert_eq!(first.stdout(), "");
    assert_eq!(n_pictures(&place), 24);
    let table = place.bytes("study/prepared.csv");
    let again = prepare(&place).ok();
    assert!(again.stderr().contains("nothing to make"), "{}", again.all());
    assert!(table == place.bytes("study/prepared.csv"));
    // A damaged picture is made again, under its name.
    let name = place.read("study/prepared.csv").lines().nth(1).map(|row| image_of(row).to_owned());
    let file = format!("study/prepared/{}.png", name.expect("because there are rows"));
    let sound = place.bytes(&file);
    place.write(&file, &sound[..sound.len() / 2]);
    assert!(prepare(&place).ok().stderr().contains("2 pictures made"));
    assert!(sound == place.bytes(&file));
    assert!(table == place.bytes("study/prepared.csv"));
    // Another seed gives other masks of the same pictures.
    change(&place, "seed = 1", "seed = 2");
    let stale = place.run(&["check", "study"]);
    assert_eq!(stale.code(), 2, "{}", stale.all());
    assert!(stale.stderr().contains("out of date"), "{}", stale.all());
    prepare(&place).ok();
    assert_eq!(n_pictures(&place), 36);
    place.run(&["check", "study"]).ok();
}

fn image_of(row: &str) -> &str {
    row.split(',').find(|cell| cell.len() == 64).expect("because a row names its picture")
}

/// Sizes in megabytes depend on how well pictures are packed.
fn without_size(text: &str) -> String {
    let parts = text.split(", ").map(|part| match part.split_once(" MB") {
        Some((_, rest)) => format!("SIZE{rest}"),
        None => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join(", ")
}

#[test]
fn every_task_starts_checks_and_prepares() {
    for task in ["flash", "beep", "pairs", "rate"] {
        let place = study(task, "16", "side_px = 24");
        place.run(&["check", "study"]).ok();
        prepare(&place).ok();
        let n_masks = if task == "flash" { 16 } else { 0 };
        assert_eq!(n_pictures(&place), 16 + n_masks, "{task}");
        let checked = place.run(&["check", "study"]).ok();
        assert!(checked.stdout().contains("prepared.csv: 16 stimuli"), "{}", checked.all());
        place.run(&["check", "study/prepared.csv"]).ok();
    }
}

#[test]
fn conditions_are_rows_of_their_own() {
    let lines = "side_px = 24\n[[prepare.condition]]\nname = \"plain\"\nkind = \"colour\"\n\
                 [[prepare.condition]]\nname = \"noisy\"\nkind = \"noise\"\namount = 0.16\n\
                 [[prepare.condition]]\nname = \"soft\"\nkind = \"blur\"\namount = 2\n";
    let place = study("beep", "6", "side_px = 24");
    change(&place, "seed = 1\n", "");
    change(&place, "side_px = 24", lines);
    let ran = prepare(&place).ok();
    assert!(ran.stderr().contains("6 stimuli in 3 conditions"), "{}", ran.all());
    assert_eq!(n_pictures(&place), 18);
    assert_eq!(place.read("study/prepared.csv").matches(",noisy,").count(), 6);
    change(&place, "amount = 2", "amount = 20");
    let ran = prepare(&place);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("`soft`"), "{}", ran.all());
}

#[test]
fn broken_pictures_are_named_and_the_others_prepared() {
    let place = study("flash", "6", "side_px = 16");
    let table = place.read("study/stimuli.csv");
    let ids: Vec<&str> = table.lines().skip(1).map(|row| row.split(',').next().unwrap()).collect();
    let picture = |at: usize| format!("study/stimuli/{}.png", ids[at]);
    let whole = place.bytes(&picture(0));
    place.write(&picture(0), &whole[..whole.len() / 2]);
    std::fs::remove_file(place.path(&picture(1))).expect("because it is ours");
    let row = table.lines().nth(3).expect("because there are six");
    let with_box = row.split(',').find(|cell| cell.split(' ').count() == 4).expect("because drawn");
    place.write("study/stimuli.csv", table.replace(row, &row.replace(with_box, "400 0 9 9")));
    let ran = prepare(&place);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    let told = ran.stderr();
    assert!(told.contains("3 of 6 stimuli cannot be shown"), "{told}");
    for (id, reason) in [(ids[0], "whole png"), (ids[1], "cannot be read: "), (ids[2], "400 0 9 9")]
    {
        let line = told.lines().find(|line| line.contains(&format!("`{id}`")));
        assert!(line.is_some_and(|line| line.contains(reason)), "{told}");
    }
    let prepared = place.read("study/prepared.csv");
    assert_eq!(prepared.lines().count(), 4, "{prepared}");
    assert!(ids[..3].iter().all(|id| !prepared.contains(id)), "{prepared}");
}

#[test]
fn a_study_that_flashes_too_often_needs_a_reason() {
    let place = study("flash", "4", "side_px = 16");
    for key in ["fixation_ms", "mask_ms", "gap_ms"] {
        change(&place, &format!("{key} = 500"), &format!("{key} = 20"));
    }
    // White pictures on grey: each trial is a flash.
    let table = place.read("study/stimuli.csv");
    for id in table.lines().skip(1).map(|row| row.split(',').next().unwrap()) {
        let white =
            mohs_vision::pixels::Rgb8::new(40, 40, vec![255; 4800]).expect("because it fits");
        place.write(&format!("study/stimuli/{id}.png"), white.to_png());
    }
    let ran = prepare(&place);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    assert!(ran.stderr().contains("at most 3 times in any second"), "{}", ran.all());
    let checked = place.run(&["check", "study"]);
    assert_eq!(checked.code(), 1, "{}", checked.all());
    change(&place, "[page]", "[safety]\nflash_override = \"approval 12\"\n\n[page]");
    let ran = prepare(&place).ok();
    assert!(ran.stderr().contains("allowed because: approval 12"), "{}", ran.all());
    place.run(&["check", "study"]).ok();
}

/// Starts a preparation and kills it once so many pictures are there; says whether it was running.
fn killed(place: &Place, n: usize) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mohs"))
        .args(["prepare", "study", "--quiet"])
        .current_dir(place.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("because the binary was built for this test");
    let started = Instant::now();
    while n_pictures(place) < n {
        if child.try_wait().expect("because it is ours").is_some() {
            return false;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "nothing is made");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("because it is ours");
    child.wait().expect("because it is ours");
    true
}

#[test]
fn a_killed_run_goes_on_and_ends_with_the_same_bytes() {
    const N: usize = 40;
    let lines = "side_px = 128";
    let whole = study("flash", "40", lines);
    prepare(&whole).ok();
    let place = study("flash", "40", lines);
    let mut n_kills = 0;
    for share in [1, 2, 4, 6] {
        n_kills += u32::from(killed(&place, 2 * N * share / 8));
    }
    assert!(0 < n_kills, "every run was done before it could be killed");
    assert!(!place.path("study/prepared.csv").exists(), "half a table has its name");
    let kept = n_pictures(&place);
    let ran = prepare(&place).ok();
    // What a kill left without its line in the journal is made again: one stimulus per thread and
    // kill at most.
    let n_made: usize = ran
        .stderr()
        .split("; ")
        .find_map(|part| part.trim().strip_suffix(" pictures made")?.parse().ok())
        .expect("because something was left to make");
    assert!(n_made <= 2 * N - kept + 2 * 4 * 8 && n_made < 2 * N, "{n_made} of {kept}");
    assert!(whole.bytes("study/prepared.csv") == place.bytes("study/prepared.csv"));
    for row in place.read("study/prepared.csv").lines().skip(1) {
        let file = format!("study/prepared/{}.png", image_of(row));
        assert!(whole.bytes(&file) == place.bytes(&file));
    }
}
