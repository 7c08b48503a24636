//! Paired judgements against other programs' numbers, and against simulated people whose truth is
//! known. The golden numbers and their origin are in `fixtures/golden/bradley_terry.json`.

use mohs_data::{Comparison, Extra, Harder, Label, Seed, Sides, Stimulus, StimulusId};
use mohs_score::human::bradley_terry::network::{Pair, Tally};
use mohs_score::human::bradley_terry::{Input, Options, PairedJudgements, Prior, Ties, fit, score};
use mohs_score::simulate::pairs::{Setting, comparisons};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    n_stimuli: usize,
    judgements: Vec<(usize, usize, usize)>,
    choix_ilsr_pairwise: Vec<f64>,
    choix_opt_pairwise_alpha_0_08: Vec<f64>,
    statsmodels_variances: Vec<f64>,
    statsmodels_left_advantage: f64,
    statsmodels_left_advantage_se: f64,
    scipy_davidson_difficulties: Vec<f64>,
    scipy_davidson_nu: f64,
}

fn golden() -> Golden {
    let text = include_str!("../../fixtures/golden/bradley_terry.json");
    serde_json::from_str(text).expect("because the fixture is ours")
}

fn comparison(left: usize, right: usize, answer: usize, idx: usize) -> Comparison {
    Comparison {
        id: format!("c{idx}").as_str().into(),
        participant: format!("p{}", idx % 20).as_str().into(),
        left: format!("s{left:02}").as_str().into(),
        right: format!("s{right:02}").as_str().into(),
        harder: [Harder::Left, Harder::Right, Harder::Tie][answer],
        question: None,
        onset: None,
        responded: None,
        count: 1,
        sides: Sides::Shown,
        extra: Extra::default(),
    }
}

fn rows(golden: &Golden, with_ties: bool) -> Vec<Comparison> {
    let kept = golden.judgements.iter().filter(|(_, _, answer)| with_ties || *answer != 2);
    kept.enumerate().map(|(idx, (l, r, answer))| comparison(*l, *r, *answer, idx)).collect()
}

fn scored(comparisons: &[Comparison], stimuli: &[Stimulus], options: &Options) -> PairedJudgements {
    score(&Input { comparisons, stimuli, options, seed: Seed(1) })
        .expect("because it can be scored")
}

fn by_id(found: &PairedJudgements) -> Vec<(f64, f64)> {
    let mut stimuli: Vec<_> = found.stimuli.iter().collect();
    stimuli.sort_by(|a, b| a.stimulus.cmp(&b.stimulus));
    stimuli.iter().map(|f| (f.difficulty.value, f.difficulty.half_width())).collect()
}

fn largest_difference(found: &PairedJudgements, expected: &[f64]) -> f64 {
    let found = by_id(found);
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|((d, _), e)| (d - e).abs()).fold(0.0, f64::max)
}

fn few() -> Options {
    Options { n_resamples: 20, ..Options::default() }
}

#[test]
fn difficulties_are_those_of_choix() {
    let golden = golden();
    let plain = scored(&rows(&golden, false), &[], &few());
    let difference = largest_difference(&plain, &golden.choix_ilsr_pairwise);
    println!("largest difference from choix 0.4.1 ilsr_pairwise: {difference:.1e}");
    assert!(difference < 1e-6);
    // choix subtracts alpha · |d|², so alpha = 0.08 is a prior with a standard deviation of 2.5.
    let options = Options { prior: Prior::Always { sd: 2.5 }, ..few() };
    let penalised = scored(&rows(&golden, false), &[], &options);
    let difference = largest_difference(&penalised, &golden.choix_opt_pairwise_alpha_0_08);
    println!("largest difference from choix 0.4.1 opt_pairwise: {difference:.1e}");
    assert!(difference < 1e-6);
}

#[test]
fn intervals_and_the_advantage_of_the_left_are_those_of_a_logistic_regression() {
    let golden = golden();
    let found = scored(&rows(&golden, false), &[], &few());
    for ((_, half_width), variance) in by_id(&found).iter().zip(&golden.statsmodels_variances) {
        let z = 1.959_963_984_540_054;
        assert!((half_width - z * variance.sqrt()).abs() < 1e-6);
    }
    let advantage = found.position.unwrap().left_advantage.unwrap();
    assert!((advantage.value - golden.statsmodels_left_advantage).abs() < 1e-6);
    let se = advantage.half_width() / 1.959_963_984_540_054;
    assert!((se - golden.statsmodels_left_advantage_se).abs() < 1e-6);
}

#[test]
fn ties_are_those_of_a_general_optimiser_on_davidsons_likelihood() {
    let golden = golden();
    let found = scored(&rows(&golden, true), &[], &few());
    // A simplex search stops within about 1e-6.
    assert!(largest_difference(&found, &golden.scipy_davidson_difficulties) < 2e-6);
    assert!((found.tie_parameter.unwrap().value - golden.scipy_davidson_nu).abs() < 1e-6);
    assert_eq!(golden.n_stimuli, found.n_stimuli);
}

/// True difficulties, pairs to judge, and the table of stimuli.
type Ladder = (Vec<(StimulusId, f64)>, Vec<(usize, usize)>, Vec<Stimulus>);

/// The design of the hierarchical paper: 9 stimuli of a class and attribute, three per level, each
/// pair of different levels once per participant.
fn ladder(n_groups: usize, step: f64) -> Ladder {
    let (mut truth, mut pairs, mut table) = (Vec::new(), Vec::new(), Vec::new());
    for group in 0..n_groups {
        for idx in 0..9 {
            let level = idx / 3;
            let id = format!("g{group:03}-{idx}");
            let spread = [-0.4, 0.1, 0.3][idx % 3];
            let level_step = [-step, 0.0, step][level];
            truth.push((StimulusId::new(&id), level_step + spread));
            table.push(Stimulus {
                id: StimulusId::new(&id),
                file: id.as_str().into(),
                label: Label::new(format!("class-{group}")),
                dataset: None,
                boxes: vec![],
                mask: None,
                attribute: Some("occlusion".into()),
                level: Some(["easy", "medium", "hard"][level].into()),
                extra: Extra::default(),
            });
        }
        for a in 0..9 {
            for b in 0..a {
                if a / 3 != b / 3 {
                    pairs.push((group * 9 + a, group * 9 + b));
                }
            }
        }
    }
    (truth, pairs, table)
}

fn setting(n_participants: usize, seed: u64) -> Setting {
    Setting { n_participants, left_bias: 0.4, lapse_rate: 0.0, seed: Seed(seed) }
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_promise() {
    let (truth, pairs, table) = ladder(30, 1.0);
    let (mut n_fisher, mut n_bootstrap, mut n) = (0, 0, 0);
    for seed in 1..=3 {
        let rows = comparisons(&truth, &pairs, &setting(20, seed));
        let options =
            Options { accounts_for_position: true, n_resamples: 200, ..Options::default() };
        let found = scored(&rows, &table, &options);
        let advantage = found.position.unwrap().left_advantage.unwrap();
        assert!(advantage.low < 0.4 && 0.4 < advantage.high, "{advantage:?}");
        for group in 0..30 {
            let mean = truth[group * 9..group * 9 + 9].iter().map(|t| t.1).sum::<f64>() / 9.0;
            for (id, truth) in &truth[group * 9..group * 9 + 9] {
                let finding = found.stimuli.iter().find(|f| f.stimulus == *id).unwrap();
                let truth = truth - mean;
                let covers = |low: f64, high: f64| usize::from(low <= truth && truth <= high);
                let people = finding.difficulty_by_people.unwrap();
                n_fisher += covers(finding.difficulty.low, finding.difficulty.high);
                n_bootstrap += covers(people.low, people.high);
                n += 1;
            }
        }
    }
    let share = |covered: i32| f64::from(covered) / f64::from(n);
    let (fisher, bootstrap) =
        (share(i32::try_from(n_fisher).unwrap()), share(i32::try_from(n_bootstrap).unwrap()));
    println!("95 % intervals hold the truth: Fisher {fisher:.3}, bootstrap {bootstrap:.3} of {n}");
    assert!((0.93..=0.97).contains(&fisher), "{fisher}");
    assert!((0.90..=0.98).contains(&bootstrap), "{bootstrap}");
}

/// Ten groups of the paper's design, two people each: many groups separate, and nothing breaks.
#[test]
fn the_papers_design_has_components_separation_and_correlations() {
    let (truth, pairs, table) = ladder(10, 1.6);
    let rows = comparisons(&truth, &pairs, &setting(2, 5));
    let found = scored(&rows, &table, &Options { n_resamples: 100, ..Options::default() });
    assert_eq!(found.components.len(), 10);
    assert!(found.components.iter().any(|component| component.is_separated));
    let levels = found.levels.as_ref().unwrap();
    let means: Vec<f64> = levels.levels.iter().map(|l| l.difficulty.unwrap().value).collect();
    assert!(means[0] < means[1] && means[1] < means[2], "{means:?}");
    for correlations in [&levels.overall, &levels.within] {
        for r in [correlations.pearson, correlations.spearman, correlations.kendall] {
            assert!(0.5 < r.unwrap().value);
        }
    }
    assert_eq!(levels.overall.pearson.unwrap().n, 90);
    assert_eq!(levels.within.kendall.unwrap().n, 10);
}

/// Four statistics journals citing each other, with Biometrika as the reference.
#[test]
fn journals_have_the_strengths_of_the_textbook() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/oracles/citations_wins.csv");
    if !file.is_file() {
        println!("skipped: no real data at ../shared/data/oracles");
        return;
    }
    let rows = mohs_data::check::read_comparisons(&file, &mohs_data::Checks::default()).unwrap();
    let found = scored(&rows, &[], &Options::default());
    let expected = std::fs::read_to_string(file.with_file_name("expected.json")).unwrap();
    let expected: serde_json::Value = serde_json::from_str(&expected).unwrap();
    let journals = expected["citations_bradley_terry_reference_Biometrika"].as_object().unwrap();
    assert_eq!(journals.len(), 3);
    for (journal, strength) in journals {
        let against = found.difference(&journal.as_str().into(), &"Biometrika".into()).unwrap();
        assert!((against.value - strength.as_f64().unwrap()).abs() < 1e-3, "{journal}");
    }
    assert_eq!(found.n_judgements, 3_727);
    assert_eq!(found.position, None);
}

/// A network of the benchmark's size, to the top.
#[test]
fn nine_hundred_stimuli_are_fitted_to_the_top() {
    let mut draw = mohs_score::draw::Draw::new(Seed(2), &[]);
    let truth: Vec<f64> = (0..900).map(|_| draw.normal()).collect();
    let pairs: Vec<Pair> = (0..5_400)
        .map(|idx| {
            // A ring joins everybody, the rest is chance.
            let first = idx % 900;
            let second =
                if idx < 900 { (first + 1) % 900 } else { (first + 1 + draw.below(899)) % 900 };
            let p = 1.0 / (1.0 + (truth[second] - truth[first]).exp());
            let wins = f64::from(draw.chance(p));
            let tally = Tally { first: wins, second: 1.0 - wins, tied: 0.0 };
            Pair { first, second, is_sided: false, tally }
        })
        .collect();
    let fit = fit(900, &pairs, Ties::Davidson, Prior::default()).unwrap();
    println!("{} rounds, gradient {:.1e}", fit.n_rounds, fit.gradient);
    assert!(fit.gradient < 1e-8);
    let r = mohs_score::correlation::pearson(&fit.difficulty, &truth).unwrap();
    assert!(0.75 < r, "{r}");
}
