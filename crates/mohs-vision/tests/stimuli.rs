//! Crops, masks and conditions against what numpy and Pillow made of the same pictures
//! (`tools/make_stimulus_fixtures.py` says with which versions and how).

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use mohs_data::{
    BoundingBox, Crop, Degradation, DegradationKind, MaskForm, PrepareOptions, Seed, StimulusId,
    Task,
};
use mohs_vision::pixels::{Pixels, Rgb8};
use mohs_vision::probe::ProbeKey;
use mohs_vision::stimulus::phase_mask::MaskMaker;
use mohs_vision::stimulus::{StimulusPlan, degrade};
use serde_json::Value;

fn fixtures(key: &str) -> Vec<Value> {
    let text = include_str!("fixtures/stimulus.json");
    let all: Value = serde_json::from_str(text).expect("because the fixtures are JSON");
    all[key].as_array().cloned().expect("because each part is a list")
}

fn word<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().expect("because it is a word")
}

fn side(value: &Value) -> u32 {
    u32::try_from(value.as_u64().expect("because sides are whole numbers"))
        .expect("because sides are small")
}

/// The formula of the pictures.
fn picture(case: &Value, width: u32, height: u32) -> Rgb8 {
    let is_busy = word(case, "picture") == "busy";
    let mut bytes = Vec::new();
    for y in 0..height {
        for x in 0..width {
            for c in 0..3 {
                let level = if is_busy {
                    x * 37 + y * 101 + c * 59 + x * y * 7
                } else {
                    (x * 5 * (c + 1) + y * 3) / 2
                };
                bytes.push(u8::try_from(level % 256).expect("because of the remainder"));
            }
        }
    }
    Rgb8::new(width, height, bytes).expect("because each pixel has three bytes")
}

fn decoded(case: &Value, key: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(word(case, key)).expect("because it is base64")
}

fn noise(case: &Value) -> Vec<f64> {
    let bytes = decoded(case, "noise");
    bytes.as_chunks::<8>().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect()
}

/// Levels may differ by one, and hardly any do: sums are taken in another order, so a number just
/// between two levels may fall on either side.
fn check_levels(ours: &Rgb8, case: &Value, what: &str) {
    let theirs = decoded(case, "bytes");
    assert_eq!(ours.bytes().len(), theirs.len(), "{what}");
    let differences: Vec<u8> =
        ours.bytes().iter().zip(&theirs).map(|(a, b)| a.abs_diff(*b)).collect();
    let n_other = differences.iter().filter(|difference| 0 < **difference).count();
    assert!(differences.iter().all(|difference| *difference <= 1), "{what}");
    assert!(n_other * 100 <= differences.len(), "{what}: {n_other} levels differ");
}

#[test]
fn squares_are_those_of_pillow_to_the_last_bit() {
    let cases = fixtures("crops");
    assert_eq!(cases.len(), 10);
    for case in &cases {
        let (width, height) = (side(&case["size"][0]), side(&case["size"][1]));
        let boxes: Vec<BoundingBox> = case["boxes"]
            .as_array()
            .expect("because boxes are a list")
            .iter()
            .map(|numbers| {
                let number = |at: usize| numbers[at].as_f64().expect("because edges are numbers");
                BoundingBox { x: number(0), y: number(1), width: number(2), height: number(3) }
            })
            .collect();
        let crop = match word(case, "crop") {
            "box" => Crop::Box,
            "whole" => Crop::Whole,
            _ => Crop::Centre,
        };
        let options =
            PrepareOptions { crop, side_px: side(&case["side"]), ..PrepareOptions::default() };
        let plan = StimulusPlan::new(&options, Task::Rate).expect("because nothing is done");
        let file = picture(case, width, height).to_png();
        let ours = plan.square(Path::new("a.png"), &file, &boxes).expect("because it is whole");
        assert_eq!(ours.bytes(), decoded(case, "bytes"), "{crop:?} {width} {height} {boxes:?}");
    }
}

#[test]
fn masks_of_the_same_noise_are_those_of_numpy() {
    for (key, form) in [("paper_masks", MaskForm::Paper), ("code_masks", MaskForm::PublishedCode)] {
        let cases = fixtures(key);
        assert_eq!(cases.len(), 4);
        for case in &cases {
            let side = side(&case["side"]);
            let maker = MaskMaker::new(form, side).expect("because there are masks");
            let (picture, noise) = (picture(case, side, side), noise(case));
            let ours = match form {
                MaskForm::Paper => maker.turned(&picture, &noise),
                _ => maker.replaced(&picture, &noise),
            };
            check_levels(&ours, case, &format!("{form:?} {side}"));
        }
    }
}

#[test]
fn conditions_are_those_of_numpy_and_pillow() {
    let cases = fixtures("degradations");
    assert_eq!(cases.len(), 10);
    for case in &cases {
        let kind = match word(case, "kind") {
            "gray" => DegradationKind::Gray,
            "contrast" => DegradationKind::Contrast,
            _ => DegradationKind::Blur,
        };
        let side = side(&case["side"]);
        let name = format!("{} {}", word(case, "kind"), case["amount"]);
        let condition = Degradation { name: name.clone(), kind, amount: case["amount"].as_f64() };
        let probe = degrade::probe(&condition).expect("because it is sound");
        let id = StimulusId::new("a");
        let key = ProbeKey { seed: Seed(1), stimulus: &id };
        let ours = probe.apply(&Pixels::from(&picture(case, side, side)), &key);
        check_levels(&Rgb8::from(&ours), case, &name);
    }
}
