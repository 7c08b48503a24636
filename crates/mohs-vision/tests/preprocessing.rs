//! Preprocessing and probes against what Pillow, torchvision, timm and scipy made of the same
//! pictures (`tools/make_preprocessing_fixtures.py` says with which versions and how).

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use mohs_data::{Parameter, ProbeEntry, Seed};
use mohs_vision::input::{self, InputSpec, Interpolation, Preset, Resize};
use mohs_vision::pixels::{Pixels, Rgb8};
use mohs_vision::probe::{Probe, ProbeKey};
use serde_json::Value;

fn fixtures(key: &str) -> Vec<Value> {
    let text = include_str!("fixtures/preprocessing.json");
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

fn size(case: &Value, key: &str) -> (u32, u32) {
    (side(&case[key][0]), side(&case[key][1]))
}

/// The formula of the pictures.
fn picture(case: &Value) -> Rgb8 {
    let (width, height) = size(case, "size");
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

fn expected_bytes(case: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(word(case, "bytes")).expect("because it is base64")
}

fn expected_numbers(case: &Value) -> Vec<f32> {
    let bytes = BASE64_STANDARD.decode(word(case, "numbers")).expect("because it is base64");
    bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

fn largest_difference(ours: &[f32], theirs: &[f32]) -> f32 {
    assert_eq!(ours.len(), theirs.len());
    ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn resized_pictures_are_pillows_to_the_last_bit() {
    let cases = fixtures("resizes");
    assert!(40 < cases.len());
    for case in &cases {
        let (width, height) = size(case, "to");
        let filter = word(case, "filter");
        let interpolation = Interpolation::parse(filter).expect("because all filters are known");
        let resize = Resize::Squash(width, height);
        let spec = InputSpec { resize, interpolation, ..InputSpec::imagenet(width, height) };
        let ours = input::fit(&picture(case), &spec);
        let what = format!("{filter} {} {} to {}", case["picture"], case["size"], case["to"]);
        assert_eq!(ours.bytes(), expected_bytes(case), "{what}");
    }
}

#[test]
fn presets_are_torchvisions_and_timms() {
    for case in &fixtures("presets") {
        let preset = Preset::parse(word(case, "preset")).expect("because all presets are known");
        let side = side(&case["side"]);
        let ours = input::prepare(&picture(case), &InputSpec::preset(preset, Some((side, side))));
        let difference = largest_difference(&ours, &expected_numbers(case));
        assert!(difference < 1e-5, "{} {}: {difference}", case["preset"], case["size"]);
    }
}

#[test]
fn configurations_of_timm_mean_what_timm_makes_of_them() {
    for case in &fixtures("side_files") {
        let file = case["configuration"].to_string();
        let spec = InputSpec::from_side_file(file.as_bytes(), None).unwrap();
        let ours = input::prepare(&picture(case), &spec);
        let difference = largest_difference(&ours, &expected_numbers(case));
        assert!(difference < 1e-5, "{file} {}: {difference}", case["size"]);
    }
}

#[test]
fn probes_are_torchvisions_and_scipys() {
    let stimulus = "any".into();
    let key = ProbeKey { seed: Seed(0), stimulus: &stimulus };
    for case in &fixtures("probes") {
        let parameters = case["parameters"].as_object().unwrap().iter().map(|(name, value)| {
            let value = match value {
                Value::Bool(switch) => Parameter::Switch(*switch),
                value => Parameter::Number(value.as_f64().unwrap()),
            };
            (name.clone(), value)
        });
        let entry = ProbeEntry {
            name: "p".into(),
            kind: word(case, "kind").into(),
            parameters: parameters.collect(),
        };
        let probe = Probe::parse(&entry).unwrap();
        let ours = probe.apply(&Pixels::from(&picture(case)), &key);
        let difference = largest_difference(ours.planes(), &expected_numbers(case));
        assert!(difference < 2e-6, "{} {}: {difference}", probe.signature(), case["size"]);
    }
}

#[test]
fn numbers_of_a_fitted_picture_are_those_of_preparing_it_at_once() {
    let case = &fixtures("presets")[0];
    let spec = InputSpec::preset(Preset::Clip, Some((20, 12)));
    let fitted = input::fit(&picture(case), &spec);
    assert_eq!((fitted.width(), fitted.height()), (20, 12));
    let at_once = input::prepare(&picture(case), &spec);
    assert_eq!(input::numbers(&Pixels::from(&fitted), &spec), at_once);
}
