//! Probes worked by hand, and the laws that they keep.

use mohs_data::{Parameter, ProbeEntry, Seed, StimulusId};
use proptest::prelude::*;

use super::{KINDS, Probe, ProbeError, ProbeKey};
use crate::pixels::{Pixels, to_byte};

fn entry(kind: &str, parameters: &[(&str, &str)]) -> ProbeEntry {
    let parameters = parameters
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Parameter::Text((*value).to_owned())))
        .collect();
    ProbeEntry { name: "p".into(), kind: kind.into(), parameters }
}

fn probe(kind: &str, parameters: &[(&str, &str)]) -> Probe {
    Probe::parse(&entry(kind, parameters)).expect("because the test says what is allowed")
}

fn apply(probe: &Probe, pixels: &Pixels, stimulus: &str) -> Pixels {
    probe.apply(pixels, &ProbeKey { seed: Seed(5), stimulus: &StimulusId::new(stimulus) })
}

fn flat(side: u32, level: f32) -> Pixels {
    Pixels::new(side, side, vec![level; side as usize * side as usize * 3])
        .expect("because the level is inside")
}

/// A picture of 8 bits in which every channel differs.
fn busy(width: u32, height: u32) -> Pixels {
    let level = |n: u32| u8::try_from((n * 73 + n / 7 * 31) % 256).expect("because of the rest");
    let planes = (0..width * height * 3).map(|n| f32::from(level(n)) / 255.0).collect();
    Pixels::new(width, height, planes).expect("because levels are inside")
}

/// One example of each kind.
fn one_of_each() -> Vec<Probe> {
    let given = |kind: &str| match kind {
        "contrast" => vec![("factor", "0.3")],
        "gaussian-noise" | "satbench-noise" => vec![("sd", "0.2")],
        "uniform-noise" => vec![("width", "0.35")],
        "salt-and-pepper" => vec![("share", "0.2")],
        "gaussian-blur" => vec![("sigma", "1.5")],
        "low-pass" | "high-pass" => vec![("sd", "2")],
        "rotation" => vec![("degrees", "90")],
        _ => vec![],
    };
    KINDS.iter().map(|kind| probe(kind.name, &given(kind.name))).collect()
}

fn moments(numbers: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = f64::from(u32::try_from(numbers.clone().count()).expect("because tests are small"));
    let mean = numbers.clone().sum::<f64>() / n;
    (mean, (numbers.map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt())
}

/// What was added to a flat picture of level one half.
fn noise_of(probe: &Probe, side: u32, stimulus: &str) -> Vec<f64> {
    let changed = apply(probe, &flat(side, 0.5), stimulus);
    changed.planes().iter().map(|&x| f64::from(x) - 0.5).collect()
}

#[test]
fn nothing_is_done_by_none() {
    let pixels = busy(7, 5);
    assert_eq!(apply(&Probe::none(), &pixels, "a"), pixels);
    assert!(Probe::none().is_none() && Probe::none().name() == "none");
}

#[test]
fn grey_levels_are_pillows() {
    // Pillow 13: Image.new("RGB", (1, 1), colour).convert("L").
    let luma = |red: f32, green: f32, blue: f32| {
        let pixels = Pixels::new(1, 1, vec![red / 255.0, green / 255.0, blue / 255.0]).unwrap();
        to_byte(apply(&probe("grayscale", &[]), &pixels, "a").planes()[0])
    };
    let levels = [luma(255.0, 0.0, 0.0), luma(0.0, 255.0, 0.0), luma(0.0, 0.0, 255.0)];
    assert_eq!(levels, [76, 150, 29]);
    assert_eq!(luma(10.0, 200.0, 30.0), 124);
}

#[test]
fn contrast_pulls_towards_the_mean_luminance() {
    // Black and white: the mean luminance is half of 0.9999.
    let pixels = Pixels::new(2, 1, vec![0.0, 1.0, 0.0, 1.0, 0.0, 1.0]).unwrap();
    let changed = apply(&probe("contrast", &[("factor", "0.2")]), &pixels, "a");
    let expected = [0.8 * 0.49995, 0.2 + 0.8 * 0.49995];
    for (x, expected) in changed.planes().iter().zip(expected.iter().cycle()) {
        assert!((f64::from(*x) - expected).abs() < 1e-6, "{x}");
    }
    let same = apply(&probe("contrast", &[("factor", "1")]), &busy(6, 6), "a");
    assert_eq!(same, busy(6, 6));
}

#[test]
fn blur_of_a_single_point_is_the_kernel() {
    let mut planes = vec![0.0; 25 * 3];
    planes[12] = 1.0;
    let pixels = Pixels::new(5, 5, planes).unwrap();
    let blurred = apply(&probe("gaussian-blur", &[("sigma", "1"), ("kernel", "3")]), &pixels, "a");
    let (far, near) = ((-0.5_f64).exp(), 1.0);
    let sum = 2.0 * far + near;
    let at = |x: usize, y: usize| f64::from(blurred.planes()[y * 5 + x]);
    assert!((at(2, 2) - 1.0 / (sum * sum)).abs() < 1e-7);
    assert!((at(1, 2) - far / (sum * sum)).abs() < 1e-7);
    assert!((at(1, 1) - far * far / (sum * sum)).abs() < 1e-7);
    assert_eq!(blurred.planes()[0].to_bits(), 0);
}

#[test]
fn noise_has_the_spread_that_was_asked_for() {
    // 90 000 numbers: the standard error of the sd is 0.24 %, of the mean 0.33 % of it.
    let probe = probe("gaussian-noise", &[("sd", "0.1")]);
    let noise = noise_of(&probe, 173, "mug");
    let (mean, sd) = moments(noise.iter().copied());
    assert!(mean.abs() < 0.0013 && (sd / 0.1 - 1.0).abs() < 0.01, "{mean} {sd}");
    // The three channels are drawn separately.
    assert_ne!(noise[0].to_bits(), noise[173 * 173].to_bits());
}

#[test]
fn truncated_noise_is_narrower_by_the_known_factor() {
    let given = [("sd", "0.1"), ("truncated", "2"), ("mono", "true")];
    let noise = noise_of(&probe("gaussian-noise", &given), 300, "mug");
    assert!(noise.iter().all(|x| x.abs() <= 0.2 + 1e-6));
    let (_, sd) = moments(noise[..90_000].iter().copied());
    assert!((sd / 0.1 / 0.879_625_661 - 1.0).abs() < 0.01, "{sd}");
    assert_eq!(noise[..90_000], noise[90_000..180_000], "one plane for all channels");
}

#[test]
fn satbench_noise_lies_around_the_middle() {
    let given = [("sd", "0.04")];
    let probe = probe("satbench-noise", &given);
    assert_eq!(probe.signature(), "satbench-noise contrast=0.1 draw=0 sd=0.04 truncated=2");
    let changed = apply(&probe, &flat(200, 0.8), "mug");
    let (mean, sd) = moments(changed.planes().iter().map(|&x| f64::from(x)));
    // A flat picture becomes 0.1 · 0.5 + 0.9 · 0.49995.
    assert!((mean - 0.499_955).abs() < 0.0007, "{mean}");
    assert!((sd / (0.04 * 0.879_625_661) - 1.0).abs() < 0.01, "{sd}");
    let [red, green, blue] = changed.channels();
    assert!(red == green && green == blue);
}

#[test]
fn uniform_noise_fills_its_width() {
    let noise = noise_of(&probe("uniform-noise", &[("width", "0.3")]), 150, "mug");
    let (mean, sd) = moments(noise.iter().copied());
    assert!(mean.abs() < 0.003 && (sd / (0.3 / 3.0_f64.sqrt()) - 1.0).abs() < 0.01, "{mean} {sd}");
    assert!(noise.iter().all(|x| x.abs() <= 0.3 + 1e-6));
}

#[test]
fn salt_and_pepper_fall_on_whole_pixels() {
    let probe = probe("salt-and-pepper", &[("share", "0.4")]);
    let changed = apply(&probe, &flat(200, 0.5), "mug");
    let [red, green, blue] = changed.channels();
    assert!(red == green && green == blue);
    let n_of = |level: f32| red.iter().filter(|x| x.to_bits() == level.to_bits()).count();
    // 40 000 pixels, 8 000 of each expected, standard error 80.
    assert!(n_of(0.0).abs_diff(8000) < 320 && n_of(1.0).abs_diff(8000) < 320);
    assert_eq!(n_of(0.0) + n_of(1.0) + n_of(0.5), 40_000);
}

#[test]
fn what_is_clamped_is_counted() {
    let key = ProbeKey { seed: Seed(5), stimulus: &StimulusId::new("a") };
    let counted = probe("gaussian-noise", &[("sd", "0.1")]).apply_counted(&flat(100, 1.0), &key);
    assert!((counted.share - 0.5).abs() < 0.02, "{}", counted.share);
    let counted = probe("grayscale", &[]).apply_counted(&flat(10, 1.0), &key);
    assert!(counted.share.abs() < 1e-12);
}

#[test]
fn noise_depends_on_seed_stimulus_and_draw_and_on_nothing_else() {
    let pixels = flat(8, 0.5);
    for probe in one_of_each() {
        let first = apply(&probe, &pixels, "a");
        let other = apply(&probe, &pixels, "b");
        // Others in between change nothing.
        assert_eq!(apply(&probe, &pixels, "a"), first, "{}", probe.signature());
        assert_eq!(other != first, probe.kind().is_random(), "{}", probe.signature());
        let key = ProbeKey { seed: Seed(6), stimulus: &StimulusId::new("a") };
        assert_eq!(probe.apply(&pixels, &key) != first, probe.kind().is_random());
    }
    let draw = |draw: &str| probe("gaussian-noise", &[("sd", "0.1"), ("draw", draw)]);
    assert_ne!(apply(&draw("0"), &pixels, "a"), apply(&draw("1"), &pixels, "a"));
}

#[test]
fn stronger_noise_is_the_same_noise_made_larger() {
    let weak = noise_of(&probe("gaussian-noise", &[("sd", "0.02")]), 20, "a");
    let strong = noise_of(&probe("gaussian-noise", &[("sd", "0.04")]), 20, "a");
    assert!(weak.iter().zip(&strong).all(|(weak, strong)| (2.0 * weak - strong).abs() < 1e-6));
}

#[test]
fn a_flat_picture_stays_flat_when_blurred() {
    let pixels = flat(20, 0.3);
    for (kind, name) in [("gaussian-blur", "sigma"), ("low-pass", "sd")] {
        let mut given = vec![(name, "3")];
        if kind == "low-pass" {
            given.push(("background", "0.3"));
        }
        let blurred = apply(&probe(kind, &given), &pixels, "a");
        assert!(blurred.planes().iter().all(|x| (x - 0.3).abs() < 1e-6), "{kind}");
    }
}

#[test]
fn low_and_high_pass_add_up_to_the_picture() {
    let pixels = busy(24, 18);
    let given = [("sd", "1.2"), ("background", "0.5")];
    let low = apply(&probe("low-pass", &given), &pixels, "a");
    let high = apply(&probe("high-pass", &given), &pixels, "a");
    // Where nothing was clamped the sum differs from the picture by one number per channel.
    for channel in 0..3 {
        let n = 24 * 18;
        let range = channel * n..(channel + 1) * n;
        let shifts: Vec<f32> = range
            .filter(|&at| 0.0 < high.planes()[at] && high.planes()[at] < 1.0)
            .map(|at| high.planes()[at] + low.planes()[at] - pixels.planes()[at])
            .collect();
        assert!(n / 2 < shifts.len());
        assert!(shifts.iter().all(|shift| (shift - shifts[0]).abs() < 1e-5));
    }
}

#[test]
fn four_quarter_turns_bring_a_picture_back() {
    let quarter = probe("rotation", &[("degrees", "90")]);
    let mut pixels = Pixels::new(2, 1, vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).unwrap();
    let turned = apply(&quarter, &pixels, "a");
    assert_eq!((turned.width(), turned.height()), (1, 2));
    assert_eq!(turned.planes(), [0.2, 0.1, 0.4, 0.3, 0.6, 0.5]);
    for _ in 0..4 {
        pixels = apply(&quarter, &pixels, "a");
    }
    assert_eq!(pixels.planes(), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]);
}

#[test]
fn mistakes_are_named_with_what_there_is() {
    let error = |kind: &str, parameters: &[(&str, &str)]| {
        Probe::parse(&entry(kind, parameters)).unwrap_err().to_string()
    };
    let unknown = error("gaussian", &[]);
    assert!(unknown.starts_with("`kind` of the probe `p` should be one of `none`, "), "{unknown}");
    assert!(unknown.contains("`gaussian-noise`") && unknown.ends_with("found `gaussian`"));
    assert_eq!(
        error("gaussian-blur", &[("sigma", "3"), ("size", "7")]),
        "the probe `p` (gaussian-blur) should have the parameters `sigma`, `kernel`, found `size`"
    );
    assert_eq!(
        error("gaussian-blur", &[("sigma", "3"), ("kernel", "8")]),
        "`kernel` of the probe `p` (gaussian-blur) should be an odd number from 1 to 9999, or \
         `auto`, found `8`"
    );
    assert_eq!(
        error("gaussian-noise", &[]),
        "the probe `p` (gaussian-noise) should have the parameter `sd` (a number from 0 to 10), \
         found none"
    );
    assert_eq!(
        error("grayscale", &[("sd", "1")]),
        "the probe `p` (grayscale) should have the parameters none at all, found `sd`"
    );
}

#[test]
fn fractions_and_defaults_stand_in_the_signature() {
    let probe = probe("gaussian-noise", &[("sd", "51/255")]);
    assert_eq!(probe.signature(), "gaussian-noise draw=0 mono=false sd=0.2 truncated=none");
}

#[test]
fn a_probe_that_does_not_fit_the_pictures_says_so() {
    let blur = probe("gaussian-blur", &[("sigma", "3"), ("kernel", "49")]);
    assert_eq!(blur.check(224, 224), Ok(()));
    let error = blur.check(24, 32).unwrap_err();
    assert!(matches!(&error, ProbeError::DoesNotFit { .. }));
    assert_eq!(
        error.to_string(),
        "the probe `p` should meet pictures with sides above 24 pixels, half of its kernel, found \
         pictures of 24 × 32 pixels"
    );
    assert!(probe("rotation", &[("degrees", "90")]).check(24, 32).is_err());
    assert_eq!(probe("rotation", &[("degrees", "180")]).check(24, 32), Ok(()));
}

#[test]
fn the_page_of_probes_lists_every_kind_and_parameter() {
    let page = include_str!("../../../../docs/formats/probes.md");
    let expected = super::kind::page_table();
    assert!(page.contains(&expected), "docs/formats/probes.md should contain\n{expected}");
}

proptest! {
    #[test]
    fn grey_is_idempotent(levels in proptest::collection::vec(0_u8..=255, 12)) {
        let planes = levels.iter().map(|&level| f32::from(level) / 255.0).collect();
        let pixels = Pixels::new(2, 2, planes).expect("because levels are inside");
        let once = apply(&probe("grayscale", &[]), &pixels, "a");
        prop_assert_eq!(&apply(&probe("grayscale", &[]), &once, "a"), &once);
    }

    #[test]
    fn every_probe_stays_inside(width in 1_u32..12, height in 1_u32..12) {
        let pixels = busy(width, height);
        for probe in one_of_each() {
            let changed = apply(&probe, &pixels, "a");
            let planes = changed.planes().to_vec();
            prop_assert!(Pixels::new(changed.width(), changed.height(), planes).is_some());
            prop_assert_eq!(changed.n_pixels(), pixels.n_pixels());
        }
    }
}
