//! Identities between attacks, bounds that all of them keep, and what is the same for every ε.

use mohs_data::{Norm, Seed, StimulusId};
use mohs_vision::probe::attack::{
    ATTACKS, Aim, Case, Kind, Luck, Memory, Move, Preset, Reply, Settings, Start, white_box::Oracle,
};
use proptest::prelude::*;

use crate::drive::{Drive, case, engine, model, no_luck, settings};

const SIDE: usize = 12;

fn luck(attack: &str) -> Luck {
    Luck::new(Seed(5), &StimulusId::new("p"), attack, 0)
}

/// A smooth picture whose colours depend on a number.
fn picture(number: u32) -> Vec<f32> {
    let wave = |idx: usize| {
        let (row, column) = (idx % (SIDE * SIDE) / SIDE, idx % SIDE);
        let phase = f64::from(number) * 0.7 + idx.div_euclid(SIDE * SIDE) as f64;
        #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
        let level = (0.5 + 0.5 * (phase + row as f64 * 0.5 - column as f64 * 0.3).sin()) as f32;
        level
    };
    (0..3 * SIDE * SIDE).map(wave).collect()
}

fn a_case(number: u32, oracle: &mut Oracle<'_>) -> Case {
    let mut case = case(picture(number), SIDE, 0, None, oracle);
    let label = mohs_vision::probe::attack::first_of_largest(&case.clean)
        .expect("because there are five labels");
    case.label = label;
    case.aim = mohs_vision::probe::attack::Aim::Leave(label);
    case
}

fn last(
    name: &str,
    changes: &[(&str, &str)],
    epsilon: f64,
    luck: Luck,
    case: &Case,
    oracle: &mut Oracle<'_>,
) -> Vec<f32> {
    let (attack, settings) = settings(name, changes);
    Drive { attack, settings: &settings, epsilon, luck }.run(case, oracle).last
}

fn assert_same(a: &[f32], b: &[f32]) {
    let most = a.iter().zip(b).fold(0.0, |most: f32, (a, b)| most.max((a - b).abs()));
    assert!(most < 1e-6, "off by {most}");
}

#[test]
fn eotpgd_is_pgd_from_the_same_start_on_a_model_without_randomness() {
    let white_box = model("network.onnx");
    let mut oracle = white_box.open(&engine());
    let case = a_case(1, &mut oracle);
    let eot = last("eotpgd", &[("eot", "4")], 0.02, luck("pgd"), &case, &mut oracle);
    assert_eq!(eot, last("pgd", &[], 0.02, luck("pgd"), &case, &mut oracle));
}

#[test]
fn fgsm_is_one_step_of_pgd_of_length_epsilon() {
    let white_box = model("network.onnx");
    let mut oracle = white_box.open(&engine());
    let case = a_case(2, &mut oracle);
    let one = [("steps", "1"), ("alpha", "8/255"), ("random_start", "false")];
    let pgd = last("pgd", &one, 8.0 / 255.0, no_luck(), &case, &mut oracle);
    assert_same(&pgd, &last("fgsm", &[], 8.0 / 255.0, no_luck(), &case, &mut oracle));
}

#[test]
fn momentum_of_zero_is_the_basic_iterative_method() {
    let white_box = model("network.onnx");
    let mut oracle = white_box.open(&engine());
    let case = a_case(3, &mut oracle);
    let mi = last("mifgsm", &[("decay", "0")], 0.02, no_luck(), &case, &mut oracle);
    assert_same(&mi, &last("bim", &[], 0.02, no_luck(), &case, &mut oracle));
}

#[test]
fn an_epsilon_of_zero_changes_nothing() {
    let white_box = model("network.onnx");
    let mut oracle = white_box.open(&engine());
    let case = a_case(4, &mut oracle);
    for attack in ATTACKS.iter().filter(|attack| attack.kind != Kind::Minimal) {
        let settings = Settings { n_queries: 5, ..Settings::of(attack, Preset::Paper) };
        let drive = Drive { attack, settings: &settings, epsilon: 0.0, luck: luck(attack.name) };
        let trace = drive.run(&case, &mut oracle);
        assert_eq!(trace.last, *case.pixels, "{}", attack.name);
    }
}

/// A model that is sure of itself, or does not look at the picture, has no slope: attacks then ask about
/// pictures all the same, and not about what is no number.
#[test]
fn a_model_without_slopes_is_asked_about_pictures() {
    let case = Case {
        pixels: picture(1).into(),
        width: SIDE,
        height: SIDE,
        label: 0,
        aim: Aim::Leave(0),
        clean: vec![9.0, 0.0, 0.0, 0.0, 0.0].into(),
        is_model_random: false,
    };
    for attack in ATTACKS {
        let mut settings = Settings::of(attack, Preset::Torchattacks351);
        settings.n_queries = settings.n_queries.min(20);
        let mut run = attack.start(Start {
            case: &case,
            settings: &settings,
            epsilon: 0.1,
            luck: luck(attack.name),
            ends_early: false,
        });
        let (mut memory, mut reply) = (Memory::default(), None);
        loop {
            let (pixels, n_slopes) = match run.step(reply, &mut memory) {
                Move::Answer(pixels) => (pixels, 0),
                Move::Gradient(pixels, _) => (pixels, case.pixels.len()),
                Move::End(_) => break,
            };
            let are_levels = pixels.iter().all(|level| (0.0..=1.0).contains(level));
            assert!(are_levels, "{}", attack.name);
            let (logits, gradient) = (case.clean.to_vec(), vec![0.0; n_slopes]);
            reply = Some(Reply { pixels, logits, loss: 0.0, gradient });
        }
    }
}

#[test]
fn another_seed_is_another_start_and_the_same_seed_the_same() {
    let white_box = model("network.onnx");
    let mut oracle = white_box.open(&engine());
    let case = a_case(5, &mut oracle);
    let mut end = |seed: u64| {
        let luck = Luck::new(Seed(seed), &StimulusId::new("p"), "pgd", 0);
        last("pgd", &[("steps", "1")], 0.02, luck, &case, &mut oracle)
    };
    assert_eq!(end(1), end(1));
    assert_ne!(end(1), end(2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn changes_stay_within_epsilon_and_pictures_within_0_and_1(
        number in 0_u32..1_000,
        epsilon in 0.0..0.3_f64,
        newer in any::<bool>(),
    ) {
        let white_box = model("network.onnx");
        let mut oracle = white_box.open(&engine());
        let case = a_case(number, &mut oracle);
        let preset = if newer { Preset::Torchattacks351 } else { Preset::Paper };
        for attack in ATTACKS {
            let mut settings = Settings::of(attack, preset);
            settings.n_queries = 30;
            let drive = Drive { attack, settings: &settings, epsilon, luck: luck(attack.name) };
            let end = drive.run(&case, &mut oracle).last;
            prop_assert!(end.iter().all(|value| (0.0..=1.0).contains(value)), "{}", attack.name);
            if attack.kind == Kind::Minimal {
                continue;
            }
            let size = match attack.norm {
                Norm::Linf => mohs_vision::probe::attack::linf_distance(&case.pixels, &end),
                Norm::L2 => mohs_vision::probe::attack::l2_distance(&case.pixels, &end),
            };
            prop_assert!(f64::from(size) <= epsilon + 1e-6 * epsilon.max(0.1), "{} {size}", attack.name);
        }
    }
}
