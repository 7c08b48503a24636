//! Item response against the classics, against simulated truth, and its laws.

use std::path::Path;

use mohs_data::format::response_matrix::Pattern;
use mohs_data::{ParticipantId, Seed, StimulusId};
use mohs_score::draw::Draw;
use mohs_score::human::item_response::{
    Error, ItemResponse, Model, Options, Responses, StimulusFinding, fit_points, score,
};
use proptest::prelude::*;

fn options(model: Model) -> Options {
    Options { model, confidence: 0.95, n_resamples: 200, seed: Seed(1) }
}

fn of<'a>(found: &'a ItemResponse, name: &str) -> &'a StimulusFinding {
    let is_it = |finding: &&StimulusFinding| finding.stimulus.as_str() == name;
    found.stimuli.iter().find(is_it).expect("because the stimulus was answered")
}

/// A table of patterns and counts, where it is at hand: a user's clone has none.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn classic(name: &str) -> Option<(Responses, serde_json::Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/oracles");
    let (Ok(table), Ok(expected)) = (
        std::fs::read_to_string(folder.join(format!("{name}.csv"))),
        std::fs::read_to_string(folder.join("expected.json")),
    ) else {
        println!("skipped: no {name}.csv with expected.json at ../shared/data/oracles");
        return None;
    };
    let patterns: Vec<Pattern> = table
        .lines()
        .skip(1)
        .enumerate()
        .map(|(row, line)| {
            let cells: Vec<usize> =
                line.split(',').map(|cell| cell.parse().expect("because it is a count")).collect();
            let (count, answers) = cells.split_last().expect("because the last column counts");
            Pattern {
                participant: ParticipantId::new(format!("pattern-{row}")),
                n_people: *count,
                answers: answers
                    .iter()
                    .enumerate()
                    .map(|(at, y)| (StimulusId::new(format!("q{}", at + 1)), *y == 1))
                    .collect(),
            }
        })
        .collect();
    let expected = serde_json::from_str(&expected).expect("because it is JSON");
    Some((Responses::from_patterns(&patterns).expect("because they are answers"), expected))
}

/// Golden: the fitted values that come with the tables, to a thousandth.
fn check_classic(name: &str, model: Model) {
    let Some((responses, expected)) = classic(name) else { return };
    let expected = &expected[format!("{name}_{}", model.as_str())];
    let found = score(&responses, &options(model));
    let number = |value: &serde_json::Value| value.as_f64().expect("because it is a number");
    let wanted = number(&expected["log_likelihood"]);
    assert!((found.model_fit.log_likelihood - wanted).abs() < 1e-3, "{:?}", found.model_fit);
    for item in 0..5 {
        let finding = of(&found, &format!("q{}", item + 1));
        for (what, estimate) in [
            ("discrimination", finding.discrimination),
            ("intercept", finding.intercept),
            ("difficulty", finding.difficulty.expect("because the items discriminate")),
        ] {
            let wanted = number(&expected[what][item]);
            assert!((estimate.value - wanted).abs() < 1e-3, "{what} {item}: {estimate:?} {wanted}");
        }
    }
    assert!(!found.method.has_prior);
}

#[test]
fn lsat6_is_fitted_as_published() {
    check_classic("lsat6", Model::OnePl);
    check_classic("lsat6", Model::TwoPl);
}

#[test]
fn lsat7_is_fitted_as_published() {
    check_classic("lsat7", Model::OnePl);
    check_classic("lsat7", Model::TwoPl);
}

/// Golden: numpy 2 and scipy 1.17.1, the negative log-likelihood over 281 points from −7 to 7
/// minimised, its Hessian by central differences, inverted.
#[test]
fn standard_errors_are_those_of_the_observed_information() {
    let Some((responses, _)) = classic("lsat7") else { return };
    let found = score(&responses, &options(Model::TwoPl));
    let expected = [
        ("q1", 0.177_195, 0.131_450),
        ("q2", 0.168_764, 0.091_247),
        ("q3", 0.321_077, 0.204_825),
        ("q4", 0.134_120, 0.074_913),
        ("q5", 0.151_134, 0.114_409),
    ];
    let z = 1.959_963_984_540_054;
    for (name, of_a, of_d) in expected {
        let finding = of(&found, name);
        let (a, d) = (finding.discrimination.half_width() / z, finding.intercept.half_width() / z);
        assert!((a - of_a).abs() < 1e-3 && (d - of_d).abs() < 1e-3, "{name}: {a} {d}");
    }
    let found = score(&responses, &options(Model::OnePl));
    let finding = of(&found, "q1");
    let (a, d) = (finding.discrimination.half_width() / z, finding.intercept.half_width() / z);
    assert!((a - 0.064_943).abs() < 5e-4 && (d - 0.100_429).abs() < 5e-4, "{a} {d}");
}

fn pattern(name: &str, n_people: usize, answers: &[u8]) -> Pattern {
    let answers = answers.iter().enumerate().filter(|(_, y)| **y < 2);
    Pattern {
        participant: ParticipantId::new(name),
        n_people,
        answers: answers.map(|(at, y)| (StimulusId::new(format!("s{at:04}")), *y == 1)).collect(),
    }
}

fn responses(patterns: &[Pattern]) -> Responses {
    Responses::from_patterns(patterns).expect("because there are answers")
}

/// By hand: two stimuli, 30 people right on both, 30 wrong on both, 20 each right on one. All is
/// even, so intercepts are 0; one parameter is left, the discrimination, and it must make the model
/// expect 30 % right on both.
#[test]
fn an_even_table_has_difficulty_zero_and_the_expected_share_right_on_both() {
    let table = [
        pattern("a", 30, &[1, 1]),
        pattern("b", 30, &[0, 0]),
        pattern("c", 20, &[1, 0]),
        pattern("d", 20, &[0, 1]),
    ];
    let found = score(&responses(&table), &options(Model::OnePl));
    for finding in &found.stimuli {
        assert!(finding.difficulty.unwrap().value.abs() < 1e-6, "{finding:?}");
        assert!((finding.expected_error.value - 0.5).abs() < 1e-6);
    }
    let a = found.stimuli[0].discrimination.value;
    let (mut both, mut total) = (0.0, 0.0);
    for step in -600..=600 {
        let ability = f64::from(step) / 100.0;
        let weight = (-ability * ability / 2.0).exp();
        both += weight / (1.0 + (-a * ability).exp()).powi(2);
        total += weight;
    }
    assert!((both / total - 0.3).abs() < 1e-5, "{a}: {}", both / total);
    assert_eq!((found.n_participants, found.n_answers), (100, 200));
}

/// Answers of simulated people: discriminations, difficulties, and who sees what.
fn simulated(
    a: &[f64],
    b: &[f64],
    n_people: usize,
    seed: u64,
    sees: impl Fn(usize, usize) -> bool,
) -> (Vec<Pattern>, Vec<f64>) {
    let mut draw = Draw::new(Seed(seed), &[1]);
    let mut abilities = Vec::new();
    let patterns = (0..n_people)
        .map(|person| {
            let ability = draw.normal();
            abilities.push(ability);
            let mut answer = |item: usize| {
                let p = 1.0 / (1.0 + (-a[item] * (ability - b[item])).exp());
                let is_right = draw.chance(p);
                if sees(person, item) { u8::from(is_right) } else { 2 }
            };
            let answers: Vec<u8> = (0..b.len()).map(&mut answer).collect();
            pattern(&format!("p{person:05}"), 1, &answers)
        })
        .collect();
    (patterns, abilities)
}

fn correlation(x: &[f64], y: &[f64]) -> f64 {
    mohs_score::correlation::pearson(x, y).expect("because they vary")
}

#[test]
fn intervals_hold_the_truth_about_as_often_as_they_promise() {
    let n_items = 24;
    let (mut n_a, mut n_b, mut n) = (0, 0, 0);
    for seed in 1..=4 {
        let mut draw = Draw::new(Seed(seed), &[2]);
        let a: Vec<f64> = (0..n_items).map(|_| (0.25 * draw.normal()).exp()).collect();
        let b: Vec<f64> = (0..n_items).map(|_| draw.normal()).collect();
        // Everybody sees half of the stimuli, another half each.
        let (patterns, _) =
            simulated(&a, &b, 500, seed, |p, i| (p + i) % 2 == 0 || (p + i) % 3 == 0);
        let found = score(&responses(&patterns), &options(Model::TwoPl));
        for (item, (a, b)) in a.iter().zip(&b).enumerate() {
            let finding = of(&found, &format!("s{item:04}"));
            let difficulty = finding.difficulty.unwrap();
            n_a +=
                u32::from((finding.discrimination.low..=finding.discrimination.high).contains(a));
            n_b += u32::from((difficulty.low..=difficulty.high).contains(b));
            n += 1;
        }
    }
    println!("of {n}: discrimination held {n_a}, difficulty held {n_b}");
    for held in [n_a, n_b] {
        let share = f64::from(held) / f64::from(n);
        assert!((0.89..=0.995).contains(&share), "{held} of {n}");
    }
}

/// Able people see hard stimuli, others easy ones: the share of wrong answers misleads, the model
/// does not.
#[test]
fn who_saw_what_does_not_bend_difficulties() {
    let n_items = 40;
    let b: Vec<f64> = (0..n_items).map(|item| -2.0 + 4.0 * f64::from(item) / 39.0).collect();
    let a = vec![1.5; b.len()];
    let (all, abilities) = simulated(&a, &b, 600, 3, |_, _| true);
    let seen: Vec<Pattern> = all
        .iter()
        .zip(&abilities)
        .map(|(pattern, ability)| {
            let is_able = 0.0 < *ability;
            let sees = |at: usize| if is_able { 12 <= at } else { at < 28 };
            let answers = pattern.answers.iter().enumerate().filter(|(at, _)| sees(*at));
            Pattern {
                answers: answers.map(|(_, answer)| answer.clone()).collect(),
                ..pattern.clone()
            }
        })
        .collect();
    let found = score(&responses(&seen), &options(Model::OnePl));
    let mut worst: f64 = 0.0;
    for (item, b) in b.iter().enumerate() {
        worst = worst.max((of(&found, &format!("s{item:04}")).difficulty.unwrap().value - b).abs());
    }
    assert!(worst < 0.5, "{worst}");
}

/// With a thousand stimuli each ability is known to a few hundredths: a fixed grid would jump.
#[test]
fn many_stimuli_and_few_people_are_fitted_too() {
    let mut draw = Draw::new(Seed(5), &[2]);
    let b: Vec<f64> = (0..1_200).map(|_| draw.normal()).collect();
    let (patterns, abilities) = simulated(&vec![1.0; b.len()], &b, 20, 5, |_, _| true);
    let points = fit_points(&responses(&patterns), Model::OnePl);
    assert!(0.995 < correlation(&points.ability, &abilities));
    let found: Vec<f64> =
        points.intercept.iter().zip(&points.discrimination).map(|(d, a)| -d / a).collect();
    assert!(0.85 < correlation(&found, &b), "{}", correlation(&found, &b));
    assert!(points.has_prior && points.n_steps < 200, "{}", points.n_steps);
}

#[test]
fn stimuli_all_got_right_or_wrong_have_a_finite_difficulty_and_a_caveat() {
    let table = [
        pattern("a", 10, &[1, 0, 1, 0]),
        pattern("b", 10, &[1, 0, 0, 1]),
        pattern("c", 10, &[1, 0, 1, 1]),
        pattern("d", 10, &[1, 0, 0, 0]),
    ];
    for model in [Model::OnePl, Model::TwoPl] {
        let found = score(&responses(&table), &options(model));
        assert!(found.method.has_prior && found.comparison.is_none());
        let codes: Vec<&str> = found.caveats.iter().map(mohs_data::Caveat::code).collect();
        assert!(codes.contains(&"weak-prior"), "{codes:?}");
        let intercept = |name: &str| of(&found, name).intercept.value;
        assert!(intercept("s0001") < intercept("s0002") && intercept("s0002") < intercept("s0000"));
    }
}

fn mean_and_sd(x: &[f64]) -> (f64, f64) {
    let n = x.iter().map(|_| 1.0).sum::<f64>();
    let mean = x.iter().sum::<f64>() / n;
    (mean, (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt())
}

/// Fits answers of simulated people with abilities of mean 0 and spread 1, so that the scale is
/// known without chance, and checks that the fit has that scale and that intervals hold.
fn check_scale((n_people, n_items): (usize, usize), mean_d: f64, spread_a: f64, seed: u64) {
    let mut draw = Draw::new(Seed(seed), &[4]);
    let drawn: Vec<f64> = (0..n_people).map(|_| draw.normal()).collect();
    let (mean, sd) = mean_and_sd(&drawn);
    let items: Vec<(f64, f64)> = (0..n_items)
        .map(|_| (1.5 * (spread_a * draw.normal()).exp(), mean_d + 1.2 * draw.normal()))
        .collect();
    let patterns: Vec<Pattern> = drawn
        .iter()
        .enumerate()
        .map(|(person, ability)| {
            let ability = (ability - mean) / sd;
            let mut answer =
                |(a, d): &(f64, f64)| draw.chance(1.0 / (1.0 + (-(a * ability + d)).exp()));
            let answers: Vec<u8> = items.iter().map(|item| u8::from(answer(item))).collect();
            pattern(&format!("p{person:05}"), 1, &answers)
        })
        .collect();
    let responses = responses(&patterns);
    for model in [Model::OnePl, Model::TwoPl] {
        if model == Model::OnePl && 0.0 < spread_a {
            continue;
        }
        let found = score(&responses, &options(model));
        let abilities: Vec<f64> = found.participants.iter().map(|p| p.ability.value).collect();
        let (mean_ability, sd_ability) = mean_and_sd(&abilities);
        let a: Vec<f64> = found.stimuli.iter().map(|s| s.discrimination.value).collect();
        let (mean_a, _) = mean_and_sd(&a);
        let (true_a, _) = mean_and_sd(&items.iter().map(|item| item.0).collect::<Vec<_>>());
        let (mut n_held, mut n_known, mut errors) = (0.0, 0.0, Vec::new());
        for (item, (a, d)) in items.iter().enumerate() {
            let finding = of(&found, &format!("s{item:04}"));
            let Some(b) = finding.difficulty else { continue };
            n_known += 1.0;
            n_held += f64::from(u8::from((b.low..=b.high).contains(&(-d / a))));
            errors.push(b.value + d / a);
        }
        errors.sort_by(f64::total_cmp);
        let n_all = items.iter().map(|_| 1.0).sum::<f64>();
        let n_prior = found.stimuli.iter().filter(|s| s.caveats.iter().any(|c| c == "weak-prior"));
        let told = format!(
            "{n_people} x {n_items}, d {mean_d}, spread {spread_a}, {}: a {mean_a:.2} (true \
             {true_a:.2}), ability {mean_ability:.2} ± {sd_ability:.2}, median error {:.2}, held \
             {:.3} of {n_known}, unanimous {}, pooled {}, steps {}",
            model.as_str(),
            errors[errors.len() / 2],
            n_held / n_known,
            n_prior.count(),
            found.method.has_pooling,
            found.method.n_steps,
        );
        // Maximum likelihood overstates discriminations when answers per stimulus are few.
        assert!((0.9..1.2).contains(&(mean_a / true_a)), "{told}");
        assert!(mean_ability.abs() < 0.05 && (sd_ability - 1.0).abs() < 0.07, "{told}");
        assert!(errors[errors.len() / 2].abs() < 0.15, "{told}");
        assert!(0.9 <= n_held / n_known && 0.97 * n_all <= n_known, "{told}");
    }
}

/// More stimuli than people, and many that all got right: the scale is that of the people.
#[test]
fn perfect_stimuli_do_not_move_the_scale() {
    check_scale((30, 500), 2.0, 0.0, 1);
    check_scale((60, 200), 2.0, 0.0, 3);
    check_scale((200, 100), 2.0, 0.0, 4);
}

#[test]
fn stimuli_nobody_gets_right_do_not_move_the_scale() {
    check_scale((30, 500), -1.5, 0.0, 5);
    check_scale((30, 300), 0.0, 0.0, 2);
}

#[test]
fn pooled_discriminations_that_differ_keep_the_scale() {
    check_scale((30, 300), 0.5, 0.3, 6);
    check_scale((100, 60), 1.0, 0.4, 7);
}

/// A stimulus all got right is easier than any that somebody got wrong, and the other way round.
#[test]
fn unanimous_stimuli_are_the_most_extreme_and_leave_the_others_alone() {
    let mut draw = Draw::new(Seed(12), &[2]);
    let b: Vec<f64> = (0..12).map(|_| draw.normal()).collect();
    let (plain, _) = simulated(&vec![1.2; b.len()], &b, 300, 12, |_, _| true);
    let mut extended = plain.clone();
    for pattern in &mut extended {
        pattern.answers.push((StimulusId::new("t-right"), true));
        pattern.answers.push((StimulusId::new("t-wrong"), false));
    }
    for model in [Model::OnePl, Model::TwoPl] {
        let without = score(&responses(&plain), &options(model));
        let found = score(&responses(&extended), &options(model));
        assert_eq!(found.stimuli[0].stimulus.as_str(), "t-right");
        assert_eq!(found.stimuli[13].stimulus.as_str(), "t-wrong");
        assert_eq!(without.stimuli[..], found.stimuli[1..13]);
        assert_eq!(without.comparison, found.comparison);
        let (easy, hard) =
            (found.stimuli[0].difficulty.unwrap(), found.stimuli[13].difficulty.unwrap());
        assert!(1.5 < hard.half_width() && easy.high < 0.0 && 0.0 < hard.low, "{easy:?} {hard:?}");
        let caveat = found.caveats.iter().find(|caveat| caveat.code() == "weak-prior").unwrap();
        assert_eq!(caveat.stimuli().len(), 2);
    }
}

#[test]
fn a_reversed_stimulus_is_called_so() {
    let b = [-1.0, -0.5, 0.0, 0.5, 1.0, 0.2];
    let (mut patterns, _) = simulated(&[1.5; 6], &b, 600, 13, |_, _| true);
    for pattern in &mut patterns {
        pattern.answers[5].1 ^= true;
    }
    let found = score(&responses(&patterns), &options(Model::TwoPl));
    let reversed = of(&found, "s0005");
    assert!(reversed.difficulty.is_none() && reversed.discrimination.high < 0.0, "{reversed:?}");
    assert!(reversed.caveats.contains(&"negative-discrimination".to_owned()), "{reversed:?}");
}

#[test]
fn who_answered_nothing_and_what_nobody_answered_is_counted() {
    let mut table: Vec<Pattern> = (1..=12)
        .map(|row| {
            pattern(&format!("row-{row}"), 1, &[u8::from(row % 3 == 0), u8::from(row % 2 == 0)])
        })
        .collect();
    table.push(pattern("row-13", 2, &[2, 2]));
    let there = ["s0000", "s0001", "s0002"].map(StimulusId::new);
    let found = score(&responses(&table).among(&there), &options(Model::OnePl));
    let wanted =
        mohs_data::Caveat::WithoutAnswers { n_participants: 2, stimuli: vec![there[2].clone()] };
    assert!(found.caveats.iter().any(|caveat| *caveat == wanted), "{:?}", found.caveats);
    let names: Vec<&str> = found.participants.iter().map(|p| p.participant.as_str()).collect();
    assert_eq!(names[..3], ["row-1", "row-2", "row-3"]);
    let few = found.caveats.iter().find(|c| c.code() == "few-answers-per-stimulus").unwrap();
    assert!(!few.message().contains("1PL"), "{}", few.message());
}

#[test]
fn groups_that_share_no_stimulus_are_said_to_be_unlinked() {
    let table = [
        pattern("a", 5, &[1, 0, 2, 2]),
        pattern("b", 5, &[0, 1, 2, 2]),
        pattern("c", 5, &[2, 2, 1, 0]),
        pattern("d", 5, &[2, 2, 0, 1]),
    ];
    let found = score(&responses(&table), &options(Model::OnePl));
    assert!(found.caveats.iter().any(|caveat| caveat.code() == "unlinked-participants"));
}

#[test]
fn too_little_is_refused_and_named() {
    let one = Responses::from_patterns(&[pattern("a", 1, &[1, 0])]);
    assert_eq!(one, Err(Error::TooFewParticipants { n_participants: 1 }));
    let one = Responses::from_patterns(&[pattern("a", 9, &[1])]);
    assert_eq!(one, Err(Error::TooFewStimuli { n_stimuli: 1 }));
    let twice = Responses::from_patterns(&[pattern("a", 1, &[1, 0]), pattern("a", 1, &[0, 1])]);
    assert!(matches!(twice, Err(Error::RepeatedRow { .. })));
    assert!(Responses::from_patterns(&[]).is_err());
}

#[test]
fn threads_and_the_order_of_rows_change_nothing() {
    let mut draw = Draw::new(Seed(8), &[2]);
    let b: Vec<f64> = (0..150).map(|_| draw.normal()).collect();
    let (patterns, _) = simulated(&vec![1.2; b.len()], &b, 60, 8, |p, i| (p + i) % 5 != 0);
    let json = |n_threads: usize, patterns: &[Pattern]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let found = pool.install(|| score(&responses(patterns), &options(Model::TwoPl)));
        serde_json::to_string(&found).unwrap()
    };
    let one = json(1, &patterns);
    assert_eq!(one, json(2, &patterns));
    let mut shuffled = patterns;
    Draw::new(Seed(9), &[3]).shuffle(&mut shuffled);
    shuffled.iter_mut().for_each(|pattern| pattern.answers.reverse());
    assert_eq!(one, json(2, &shuffled));
}

/// Answers of 22 networks to images under graded noise, where the table is at hand.
#[test]
fn networks_find_noisier_images_harder() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/replay/noise_22_networks.csv");
    let Ok(table) = std::fs::read_to_string(path) else {
        println!("skipped: no noise_22_networks.csv at ../shared/data/replay");
        return;
    };
    let rows: Vec<Vec<&str>> =
        table.lines().skip(1).map(|line| line.split(',').collect()).collect();
    // One image in eight is enough to see it.
    let rows: Vec<&Vec<&str>> = rows.iter().step_by(8).collect();
    let patterns: Vec<Pattern> = (3..rows[0].len())
        .map(|network| {
            let answers = rows.iter().filter(|row| !row[network].is_empty());
            Pattern {
                participant: ParticipantId::new(format!("n{network}")),
                n_people: 1,
                answers: answers
                    .map(|row| (StimulusId::new(row[0]), row[network] == row[1]))
                    .collect(),
            }
        })
        .collect();
    let found = score(&responses(&patterns), &options(Model::OnePl));
    let (noise, difficulty): (Vec<f64>, Vec<f64>) = rows
        .iter()
        .filter_map(|row| {
            let is_it = |finding: &&StimulusFinding| finding.stimulus.as_str() == row[0];
            let finding = found.stimuli.iter().find(is_it)?;
            Some((row[2].parse::<f64>().ok()?, finding.difficulty?.value))
        })
        .unzip();
    let rho = mohs_score::correlation::spearman(&noise, &difficulty).unwrap();
    println!("{} images: difficulty against noise, Spearman {rho:.3}", noise.len());
    assert!(0.6 < rho, "{rho}");
}

#[test]
fn stimuli_with_only_one_kind_of_answer_each_are_scored_too() {
    let cells: [[u8; 4]; 4] = [[1, 0, 1, 1], [1, 2, 1, 1], [1, 0, 1, 1], [1, 0, 1, 1]];
    let rows: Vec<Pattern> = cells
        .iter()
        .enumerate()
        .map(|(row, cells)| pattern(&format!("p{row:02}"), 1, cells))
        .collect();
    let responses = Responses::from_patterns(&rows).unwrap();
    for model in [Model::OnePl, Model::TwoPl] {
        let found = score(&responses, &options(model));
        let hard = found.stimuli.iter().map(|row| row.intercept.value).fold(f64::MIN, f64::max);
        assert!(hard.is_finite() && found.stimuli.len() == 4, "{found:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn right_for_wrong_turns_the_scale_and_nothing_is_ever_infinite(
        cells in proptest::collection::vec(proptest::collection::vec(0_u8..3, 4), 4..14),
    ) {
        let table = |turn: bool| -> Vec<Pattern> {
            let turned = |y: &u8| if turn && *y < 2 { 1 - *y } else { *y };
            cells
                .iter()
                .enumerate()
                .map(|(row, cells)| {
                    let cells: Vec<u8> = cells.iter().map(turned).collect();
                    pattern(&format!("p{row:02}"), 1, &cells)
                })
                .collect()
        };
        let (Ok(plain), Ok(turned)) =
            (Responses::from_patterns(&table(false)), Responses::from_patterns(&table(true)))
        else {
            return Ok(());
        };
        let plain = score(&plain, &options(Model::OnePl));
        let turned = score(&turned, &options(Model::OnePl));
        for finding in &plain.stimuli {
            let mirror = of(&turned, finding.stimulus.as_str());
            prop_assert!((finding.intercept.value + mirror.intercept.value).abs() < 1e-3);
            prop_assert!((finding.discrimination.value - mirror.discrimination.value).abs() < 1e-3);
        }
        let json = serde_json::to_string(&plain).unwrap();
        prop_assert!(!json.contains("null,\"low\""));
    }
}
