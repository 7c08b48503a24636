//! Step by step against torchattacks 3.5.1 and 3.2.6, fed with the random numbers they drew
//! (`tools/make_attack_fixtures.py`).

use std::collections::BTreeMap;

use mohs_vision::probe::attack::{Attack, LossName, Luck, Preset, Settings};
use serde_json::Value;

use crate::drive::{Drive, case, engine, fixtures, model};

/// The largest difference of any pixel.
const TOLERANCE: f32 = 1e-5;

struct Fixture {
    cases: Vec<Value>,
    numbers: Vec<f32>,
}

impl Fixture {
    fn read() -> Fixture {
        let text = std::fs::read_to_string(fixtures().join("cases.json"))
            .expect("because the fixture is sound");
        let mut json: Value = serde_json::from_str(&text).expect("because the fixture is sound");
        let bytes =
            std::fs::read(fixtures().join("cases.f32")).expect("because the fixture is sound");
        let numbers = bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four));
        let Value::Array(cases) = json["cases"].take() else { panic!("no cases") };
        Fixture { cases, numbers: numbers.collect() }
    }

    fn picture(&self, offset: &Value, n: usize) -> Vec<f32> {
        let offset = usize::try_from(offset.as_u64().expect("because the fixture is sound"))
            .expect("because the fixture is sound");
        self.numbers[offset..offset + n].to_vec()
    }
}

/// Whether two pictures are the same; else how far off they are, in how many numbers.
fn agree(a: &[f32], b: &[f32], may_round: bool) -> Result<(), String> {
    if a.len() != b.len() {
        return Err("by everything".to_owned());
    }
    let n_off = a.iter().zip(b).filter(|(a, b)| TOLERANCE < (*a - *b).abs()).count();
    let n_allowed = if may_round { a.len() / 50 } else { 0 };
    if n_off <= n_allowed {
        return Ok(());
    }
    Err(format!("by up to {} in {n_off} of {} numbers", distance(a, b), a.len()))
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |most: f32, (a, b)| most.max((a - b).abs()))
}

/// The attack and its settings as a case has them.
fn attack_of(one: &Value) -> (&'static Attack, Settings) {
    let name = match (
        one["attack"].as_str().expect("because the fixture is sound"),
        one["norm"].as_str().expect("because the fixture is sound"),
    ) {
        ("square", "l2") => "square-l2",
        (name, _) => name,
    };
    let attack = Attack::find(name).expect("because the fixture is sound");
    let mut settings = Settings::of(attack, Preset::Torchattacks351);
    for (key, value) in one["settings"].as_object().expect("because the fixture is sound") {
        let key = match key.as_str() {
            "std" => "sd",
            "kernel_sd" => "kernel_sds",
            key => key,
        };
        let value = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        let value = if key == "steps" && value == "0" { "auto".to_owned() } else { value };
        settings.set(attack, key, &value).expect("because the fixture is sound");
    }
    (attack, settings)
}

#[test]
fn every_attack_asks_and_ends_as_torchattacks_does() {
    let fixture = Fixture::read();
    let engine = engine();
    let mut n_checked = BTreeMap::new();
    let (mut wrong, mut n_turned) = (Vec::new(), 0);
    for one in &fixture.cases {
        let white_box = model(one["network"].as_str().expect("because the fixture is sound"));
        let mut oracle = white_box.open(&engine);
        let (attack, settings) = attack_of(one);
        let whole = |key: &str| {
            one[key].as_u64().map(|n| usize::try_from(n).expect("because the fixture is sound"))
        };
        let side = whole("size").expect("because the fixture is sound");
        let n = 3 * side * side;
        let picture = fixture.picture(&one["picture_offset"], n);
        let case = case(
            picture,
            side,
            whole("label").expect("because the fixture is sound"),
            whole("target"),
            &mut oracle,
        );
        let noise = one["noise"].as_object().expect("because the fixture is sound").iter().map(
            |(stream, numbers)| {
                let numbers = numbers
                    .as_array()
                    .expect("because the fixture is sound")
                    .iter()
                    .map(|u| u.as_f64().expect("because the fixture is sound"));
                (stream.parse().expect("because the fixture is sound"), numbers.collect())
            },
        );
        let drive = Drive {
            attack,
            settings: &settings,
            epsilon: one["epsilon"].as_f64().expect("because the fixture is sound"),
            luck: Luck::written(noise.collect()),
        };
        let trace = drive.run(&case, &mut oracle);
        let n_queries = whole("n_queries_recorded").expect("because the fixture is sound");
        let recorded: Vec<Vec<f32>> = {
            let all = fixture.picture(&one["offset"], n * n_queries);
            all.chunks(n).map(<[f32]>::to_vec).collect()
        };
        let title = format!(
            "{} {} ε {} target {}",
            attack.name, one["settings"], one["epsilon"], one["target"]
        );
        // The logits ratio is flat where the model is wrong, and a bump may cancel an older one:
        // what is left is rounding, and signs of it.
        let may_round = settings.loss == LossName::LogitsRatio || attack.name == "square-l2";
        // A square that changes nothing is not asked about.
        let mut next = 0;
        for asked in &trace.asked {
            while next < recorded.len()
                && TOLERANCE < distance(asked, &recorded[next])
                && attack.name == "square"
                && recorded[..next].iter().any(|earlier| distance(earlier, &recorded[next]) <= 1e-7)
            {
                next += 1;
            }
            let theirs = recorded.get(next).map_or(&[][..], Vec::as_slice);
            if let Err(off) = agree(asked, theirs, may_round) {
                wrong.push(format!("{title}: question {next} is off {off}"));
                break;
            }
            if may_round && distance(asked, theirs) > TOLERANCE {
                // From here on the two take other turns.
                n_turned += 1;
                break;
            }
            next += 1;
        }
        let theirs = fixture.picture(&one["returned_offset"], n);
        let is_flat = may_round && {
            let last_asked = trace.asked.last().expect("because the fixture is sound");
            case.is_reached(
                &oracle.answers(&[last_asked]).expect("because the fixture is sound")[0],
            )
        };
        if let Err(off) = agree(&trace.last, &theirs, may_round)
            && !is_flat
        {
            wrong.push(format!("{title}: the end is off {off}"));
        }
        *n_checked.entry(attack.name).or_insert(0) += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_turned <= 3, "{n_turned} cases hang on rounding");
    assert!(16 <= n_checked.len() && 50 <= n_checked.values().sum::<i32>(), "{n_checked:?}");
}
