//! Tests of paired judgements as a whole: worked values, laws, planted trouble.

use mohs_data::{Extra, Label, ParticipantId, Sides, TrialId};
use proptest::prelude::*;

use super::*;
use crate::draw::Draw;

fn row(participant: &str, left: &str, right: &str, harder: Harder) -> Comparison {
    Comparison {
        id: TrialId::new("c"),
        participant: ParticipantId::new(participant),
        left: left.into(),
        right: right.into(),
        harder,
        question: None,
        onset: None,
        responded: None,
        count: 1,
        sides: Sides::Shown,
        extra: Extra::default(),
    }
}

fn times(n: u64, comparison: Comparison) -> Comparison {
    Comparison { count: n, ..comparison }
}

fn stimulus(id: &str, level: &str) -> Stimulus {
    Stimulus {
        id: id.into(),
        file: id.into(),
        label: Label::new("mug"),
        dataset: None,
        boxes: vec![],
        mask: None,
        attribute: Some("size".into()),
        level: Some(level.into()),
        extra: Extra::default(),
    }
}

fn options() -> Options {
    Options { n_resamples: 100, ..Options::default() }
}

fn scored(comparisons: &[Comparison], options: &Options) -> Result<PairedJudgements, Error> {
    score(&Input { comparisons, stimuli: &[], options, seed: Seed(1) })
}

fn difficulty(found: &PairedJudgements, id: &str) -> Estimate {
    found
        .stimuli
        .iter()
        .find(|f| f.stimulus.as_str() == id)
        .expect("because it is there")
        .difficulty
}

#[test]
fn two_stimuli_have_the_odds_they_won_by() {
    let comparisons =
        [times(30, row("p", "a", "b", Harder::Left)), times(10, row("q", "b", "a", Harder::Left))];
    let found = scored(&comparisons, &options()).unwrap();
    let half = 3_f64.ln() / 2.0;
    assert!((difficulty(&found, "a").value - half).abs() < 1e-9);
    assert!((difficulty(&found, "b").value + half).abs() < 1e-9);
    // Information: 40 · ¾ · ¼ = 7.5, so the difference has a standard error of 1/√7.5.
    let difference = found.difference(&"a".into(), &"b".into()).unwrap();
    assert!((difference.value - 3_f64.ln()).abs() < 1e-9);
    assert!((difference.half_width() - 1.959_964 / 7.5_f64.sqrt()).abs() < 1e-5);
}

#[test]
fn a_cycle_is_a_tie() {
    let comparisons = [
        row("p", "a", "b", Harder::Left),
        row("p", "b", "c", Harder::Left),
        row("q", "c", "a", Harder::Left),
    ];
    let found = scored(&comparisons, &options()).unwrap();
    assert!(found.stimuli.iter().all(|f| f.difficulty.value.abs() < 1e-9));
}

#[test]
fn an_unbeaten_stimulus_is_refused_or_kept_finite_with_a_caveat() {
    let comparisons = [row("p", "a", "b", Harder::Left), row("q", "a", "b", Harder::Left)];
    let found = scored(&comparisons, &options()).unwrap();
    assert!(found.components[0].is_separated);
    assert_eq!(found.components[0].prior_sd, Some(PRIOR_SD));
    assert!(found.caveats.iter().any(|c| c.code() == "separated-judgements"));
    assert_eq!(found.difficulties()[0].caveats, ["separated-judgements"]);
    let never = Options { prior: Prior::Never, ..options() };
    insta::assert_snapshot!(
        scored(&comparisons, &never).unwrap_err(),
        @"1 of 1 components are separated: in that of `a` some stimuli only won or only lost against the others, so that their difficulty has no finite estimate"
    );
    let bad = Options { prior: Prior::Always { sd: 0.0 }, ..options() };
    assert_eq!(scored(&comparisons, &bad), Err(Error::BadPrior { sd: 0.0 }));
}

/// Two wins of two with a prior of precision `p`: 2 (1 - s(2d)) = p d, for the harder of the two.
#[test]
fn the_prior_stands_where_it_should() {
    let comparisons = [times(2, row("p", "a", "b", Harder::Left))];
    let found = scored(&comparisons, &options()).unwrap();
    let d = difficulty(&found, "a").value;
    let left = 2.0 * (1.0 - 1.0 / (1.0 + (-2.0 * d).exp()));
    assert!((left - d / (PRIOR_SD * PRIOR_SD)).abs() < 1e-8, "{d}");
}

#[test]
fn stimuli_of_different_components_are_not_compared() {
    let comparisons = [
        row("p", "a", "b", Harder::Left),
        row("q", "a", "b", Harder::Right),
        row("p", "x", "y", Harder::Left),
        row("q", "x", "y", Harder::Right),
    ];
    let found = scored(&comparisons, &options()).unwrap();
    assert_eq!(found.components.len(), 2);
    insta::assert_snapshot!(
        found.difference(&"a".into(), &"y".into()).unwrap_err(),
        @"no chain of comparisons joins `a` (component 1) and `y` (component 2), so nothing can be said about their difference"
    );
    insta::assert_snapshot!(
        found.difference(&"a".into(), &"z".into()).unwrap_err(),
        @"nobody judged the stimulus `z`"
    );
    assert!(found.difference(&"x".into(), &"y".into()).is_ok());
    assert!(found.caveats.iter().any(|c| c.code() == "several-components"));
    let rows = found.difficulties();
    assert_eq!(rows[3].extra.get("component"), Some("2"));
    assert_eq!(rows[3].measure, "bradley-terry");
}

/// Equal stimuli and as many ties as either answer: ν is 1.
#[test]
fn the_tie_parameter_is_the_odds_of_a_tie_between_equals() {
    let comparisons = [
        times(20, row("p", "a", "b", Harder::Left)),
        times(20, row("q", "a", "b", Harder::Right)),
        times(20, row("q", "a", "b", Harder::Tie)),
    ];
    let found = scored(&comparisons, &options()).unwrap();
    assert!((found.tie_parameter.unwrap().value - 1.0).abs() < 1e-9);
    assert!(difficulty(&found, "a").value.abs() < 1e-9);
    let half = Options { ties: Ties::Half, ..options() };
    assert_eq!(scored(&comparisons, &half).unwrap().tie_parameter, None);
}

#[test]
fn nothing_but_ties_makes_equals() {
    let found = scored(&[times(9, row("p", "a", "b", Harder::Tie))], &options()).unwrap();
    assert!(difficulty(&found, "a").value.abs() < 1e-9);
    assert_eq!(found.tie_parameter, None);
    assert!(!found.components[0].is_separated);
}

/// `a` beats `c`, and ties alone lead back: the tie parameter and the distance of `a` and `c` can
/// grow together for ever, so ties are split.
#[test]
fn ties_that_alone_hold_a_component_together_are_split() {
    let comparisons = [
        row("p", "a", "c", Harder::Left),
        row("p", "a", "b", Harder::Tie),
        row("q", "b", "c", Harder::Tie),
    ];
    let found = scored(&comparisons, &options()).unwrap();
    assert!(!found.components[0].is_separated);
    assert_eq!(found.tie_parameter, None);
    assert!(found.caveats.iter().any(|c| c.code() == "ties-split"));
    assert!(0.0 < difficulty(&found, "a").value && difficulty(&found, "b").value.abs() < 1e-9);
}

/// Both orders are shown; "left" is answered 3 times of 4 whatever stands there.
#[test]
fn a_bias_for_the_left_is_found_and_not_taken_for_difficulty() {
    let comparisons = [
        times(30, row("p", "a", "b", Harder::Left)),
        times(10, row("p", "a", "b", Harder::Right)),
        times(30, row("q", "b", "a", Harder::Left)),
        times(10, row("q", "b", "a", Harder::Right)),
    ];
    let found = scored(&comparisons, &options()).unwrap();
    let position = found.position.unwrap();
    assert!((position.share_left.value - 0.75).abs() < 1e-12);
    assert!((position.left_advantage.unwrap().value - 3_f64.ln()).abs() < 1e-8);
    assert!(found.caveats.iter().any(|c| c.code() == "position-bias"));
}

#[test]
fn unbalanced_sides_are_put_right_on_request() {
    // `a` stands on the left far more often, and people favour the left: a looks harder.
    let comparisons = [
        times(60, row("p", "a", "b", Harder::Left)),
        times(20, row("q", "a", "b", Harder::Right)),
        times(3, row("p", "b", "a", Harder::Left)),
        times(1, row("q", "b", "a", Harder::Right)),
    ];
    let naive = scored(&comparisons, &options()).unwrap();
    assert!(0.4 < difficulty(&naive, "a").value);
    let options = Options { accounts_for_position: true, ..options() };
    let found = scored(&comparisons, &options).unwrap();
    assert!(difficulty(&found, "a").value.abs() < 1e-8);
}

#[test]
fn everybody_says_left_has_no_finite_advantage() {
    let comparisons =
        [times(5, row("p", "a", "b", Harder::Left)), times(5, row("q", "b", "a", Harder::Left))];
    let position = scored(&comparisons, &options()).unwrap().position.unwrap();
    assert_eq!(position.left_advantage, None);
    assert!((position.share_left.value - 1.0).abs() < 1e-12 && position.share_left.low < 0.8);
}

#[test]
fn unknown_sides_have_no_bias() {
    let unsided = Comparison { sides: Sides::Unknown, ..row("p", "a", "b", Harder::Left) };
    let found =
        scored(&[unsided.clone(), Comparison { harder: Harder::Right, ..unsided }], &options());
    let found = found.unwrap();
    assert_eq!(found.position, None);
    assert_eq!(found.method.resampled, Resampled::Judgements);
    assert!(found.caveats.iter().any(|c| c.code() == "judgements-resampled"));
}

/// Three people on one pair, two agree: of three pairs of judgements one agrees, κ = (⅓ - ½) / ½.
/// On the other pair all agree: 3 of 3. Both weigh the same.
#[test]
fn agreement_counts_judgements_of_the_same_pair_whatever_the_side() {
    let comparisons = [
        row("p", "a", "b", Harder::Left),
        row("q", "b", "a", Harder::Right),
        row("r", "a", "b", Harder::Right),
        row("p", "b", "c", Harder::Left),
        row("q", "c", "b", Harder::Right),
        row("r", "b", "c", Harder::Left),
    ];
    let agreement = scored(&comparisons, &options()).unwrap().agreement.unwrap();
    assert_eq!(agreement.n_pairs, 2);
    assert!((agreement.observed.value - 2.0 / 3.0).abs() < 1e-12);
    assert!((agreement.expected - 0.5).abs() < 1e-12);
    assert!((agreement.kappa.unwrap().value - 1.0 / 3.0).abs() < 1e-12);
}

#[test]
fn one_who_answers_the_other_way_round_stands_out() {
    let mut comparisons = Vec::new();
    for participant in ["p", "q", "r", "contrary"] {
        for (left, right) in [("c", "b"), ("b", "a"), ("c", "a")] {
            let harder = if participant == "contrary" { Harder::Right } else { Harder::Left };
            comparisons.push(times(10, row(participant, left, right, harder)));
        }
    }
    let found = scored(&comparisons, &options()).unwrap();
    let agreement = |id: &str| {
        let of = |p: &&ParticipantFinding| p.participant.as_str() == id;
        found.participants.iter().find(of).unwrap().agreement_with_rest.unwrap()
    };
    assert!(agreement("contrary").high < 0.2);
    assert!(0.8 < agreement("p").low);
    assert!(found.caveats.iter().any(|c| c.code() == "judges-at-chance"));
}

#[test]
fn a_question_can_be_chosen_and_several_are_said() {
    let asked = |question: &str, harder| Comparison {
        question: Some(question.into()),
        ..row("p", "a", "b", harder)
    };
    let comparisons = [
        times(3, asked("colour", Harder::Left)),
        times(1, asked("colour", Harder::Right)),
        times(9, asked("shape", Harder::Right)),
    ];
    let both = scored(&comparisons, &options()).unwrap();
    assert!(both.caveats.iter().any(|c| c.code() == "several-questions"));
    let colour = Options { question: Some("colour".into()), ..options() };
    let found = scored(&comparisons, &colour).unwrap();
    assert_eq!(found.n_judgements, 4);
    assert!((found.difference(&"a".into(), &"b".into()).unwrap().value - 3_f64.ln()).abs() < 1e-9);
    let other = Options { question: Some("size".into()), ..options() };
    insta::assert_snapshot!(
        scored(&comparisons, &other).unwrap_err(),
        @"no comparison answers the question `size`; there are: colour, shape"
    );
}

#[test]
fn no_judgement_is_an_error_and_a_count_of_zero_is_no_judgement() {
    assert_eq!(scored(&[], &options()), Err(Error::NoJudgements { n_rows: 0 }));
    let none = [times(0, row("p", "a", "b", Harder::Left))];
    assert_eq!(scored(&none, &options()), Err(Error::NoJudgements { n_rows: 1 }));
}

#[test]
fn levels_without_an_order_are_said() {
    let comparisons = [row("p", "a", "b", Harder::Left), row("q", "a", "b", Harder::Right)];
    let stimuli = [stimulus("a", "much"), stimulus("b", "little"), stimulus("silent", "little")];
    let found = |options: &Options| {
        score(&Input { comparisons: &comparisons, stimuli: &stimuli, options, seed: Seed(1) })
            .unwrap()
    };
    let plain = found(&options());
    assert_eq!(plain.levels, None);
    assert!(plain.caveats.iter().any(|c| c.code() == "levels-without-order"));
    assert!(plain.caveats.iter().any(|c| c.code() == "stimuli-without-trials"));
    assert_eq!(plain.components[0].name.as_deref(), Some("mug · size"));
    let ordered = Options { levels: vec!["little".into(), "much".into()], ..options() };
    let levels = found(&ordered).levels.unwrap();
    assert_eq!(levels.levels[0].level, "little");
}

/// Issue 3: of 200 planted cases, disconnected, separated, both or neither, all are told.
#[test]
fn two_hundred_planted_cases_are_all_handled() {
    let (mut n_separated, mut n_disconnected) = (0, 0);
    for case in 0..200_u64 {
        let mut draw = Draw::new(Seed(3), &[case]);
        let n_groups = 1 + draw.below(4);
        let mut comparisons = Vec::new();
        let mut separated = vec![false; n_groups];
        for (group, is_separated) in separated.iter_mut().enumerate() {
            let n = 2 + draw.below(6);
            let name = |idx: usize| format!("g{group}-{idx:02}");
            // A cycle of wins chains everybody; noise on top keeps it so.
            for idx in 0..n {
                comparisons.push(row("p", &name(idx), &name((idx + 1) % n), Harder::Left));
                comparisons.push(row("q", &name(idx), &name((idx + 1) % n), Harder::Right));
            }
            for _ in 0..3 * n {
                let (a, b) = (draw.below(n), draw.below(n));
                if a != b {
                    let harder = if draw.chance(0.5) { Harder::Left } else { Harder::Tie };
                    comparisons.push(row("r", &name(a), &name(b), harder));
                }
            }
            *is_separated = draw.chance(0.5);
            if *is_separated {
                // A second chained block that loses to the first every time.
                let other = |idx: usize| format!("g{group}-z{idx}");
                comparisons.push(row("p", &other(0), &other(1), Harder::Left));
                comparisons.push(row("q", &other(0), &other(1), Harder::Right));
                for _ in 0..=draw.below(4) {
                    comparisons.push(row(
                        "p",
                        &name(draw.below(n)),
                        &other(draw.below(2)),
                        Harder::Left,
                    ));
                }
            }
        }
        draw.shuffle(&mut comparisons);
        let options = Options { n_resamples: 2, ..Options::default() };
        let found = scored(&comparisons, &options).unwrap();
        assert_eq!(found.components.len(), n_groups, "case {case}");
        let found_separated: Vec<bool> =
            found.components.iter().map(|component| component.is_separated).collect();
        assert_eq!(found_separated, separated, "case {case}");
        let is_said = |code: &str| found.caveats.iter().any(|caveat| caveat.code() == code);
        assert_eq!(is_said("several-components"), 1 < n_groups, "case {case}");
        assert_eq!(is_said("separated-judgements"), separated.contains(&true), "case {case}");
        let never = Options { prior: Prior::Never, ..options };
        let refused = scored(&comparisons, &never);
        assert_eq!(
            matches!(refused, Err(Error::Separated { .. })),
            separated.contains(&true),
            "case {case}: {refused:?}"
        );
        for a in &found.stimuli {
            for b in &found.stimuli {
                let difference = found.difference(&a.stimulus, &b.stimulus);
                assert_eq!(difference.is_ok(), a.component == b.component, "case {case}");
            }
        }
        n_separated += usize::from(separated.contains(&true));
        n_disconnected += usize::from(1 < n_groups);
    }
    assert!(50 < n_separated && 50 < n_disconnected);
}

fn any_comparisons() -> impl Strategy<Value = Vec<Comparison>> {
    let one = (0..4_usize, 0..7_usize, 1..7_usize, 0..3_usize, 1..4_u64).prop_map(
        |(participant, left, step, answer, count)| {
            let right = (left + step) % 7;
            let comparison = row(
                &format!("p{participant}"),
                &format!("s{left}"),
                &format!("s{right}"),
                [Harder::Left, Harder::Right, Harder::Tie][answer],
            );
            times(count, comparison)
        },
    );
    proptest::collection::vec(one, 1..60)
}

fn few() -> Options {
    Options { n_resamples: 20, ..Options::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_order_of_rows_does_not_matter(comparisons in any_comparisons(), seed in 0_u64..99) {
        let found = scored(&comparisons, &few()).unwrap();
        let mut shuffled = comparisons;
        Draw::new(Seed(seed), &[]).shuffle(&mut shuffled);
        prop_assert_eq!(found, scored(&shuffled, &few()).unwrap());
    }

    #[test]
    fn one_thread_and_two_find_the_same(comparisons in any_comparisons()) {
        let run = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| serde_json::to_string(&scored(&comparisons, &few()).unwrap()).unwrap())
        };
        prop_assert_eq!(run(1), run(2));
    }

    /// The opposite question has the opposite answer.
    #[test]
    fn turning_every_answer_turns_every_difficulty(comparisons in any_comparisons()) {
        let turned: Vec<Comparison> = comparisons
            .iter()
            .map(|comparison| {
                let harder = match comparison.harder {
                    Harder::Left => Harder::Right,
                    Harder::Right => Harder::Left,
                    Harder::Tie => Harder::Tie,
                };
                Comparison { harder, ..comparison.clone() }
            })
            .collect();
        let (found, turned) = (scored(&comparisons, &few()).unwrap(), scored(&turned, &few()).unwrap());
        for finding in &found.stimuli {
            let other = difficulty(&turned, finding.stimulus.as_str());
            prop_assert!((finding.difficulty.value + other.value).abs() < 1e-6);
        }
    }

    /// Swapping the two of a pair changes who stands left, not who is harder.
    #[test]
    fn sides_do_not_matter_to_difficulty_or_agreement(comparisons in any_comparisons()) {
        let swapped: Vec<Comparison> = comparisons
            .iter()
            .enumerate()
            .map(|(idx, comparison)| {
                if idx % 2 == 0 {
                    return comparison.clone();
                }
                let harder = match comparison.harder {
                    Harder::Left => Harder::Right,
                    Harder::Right => Harder::Left,
                    Harder::Tie => Harder::Tie,
                };
                let (left, right) = (comparison.right.clone(), comparison.left.clone());
                Comparison { left, right, harder, ..comparison.clone() }
            })
            .collect();
        let (found, swapped) = (scored(&comparisons, &few()).unwrap(), scored(&swapped, &few()).unwrap());
        for finding in &found.stimuli {
            let other = difficulty(&swapped, finding.stimulus.as_str());
            prop_assert!((finding.difficulty.value - other.value).abs() < 1e-9);
        }
        let kappa = |found: &PairedJudgements| found.agreement.as_ref()?.kappa.map(|k| k.value);
        match (kappa(&found), kappa(&swapped)) {
            (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-12 && a <= 1.0),
            (a, b) => prop_assert_eq!(a, b),
        }
    }

    /// Difficulties sum to zero in each component, and every number is an estimate in order.
    #[test]
    fn components_are_centred_and_nothing_is_infinite(comparisons in any_comparisons()) {
        let found = scored(&comparisons, &few()).unwrap();
        for component in &found.components {
            let members = found.stimuli.iter().filter(|f| f.component == component.number);
            let sum: f64 = members.map(|f| f.difficulty.value).sum();
            prop_assert!(sum.abs() < 1e-8);
        }
        let json = serde_json::to_string(&found).unwrap();
        prop_assert!(!json.contains("null,null"));
        prop_assert_eq!(serde_json::from_str::<PairedJudgements>(&json).unwrap(), found);
    }
}

#[test]
fn an_order_that_lacks_a_level_is_refused() {
    let comparisons = [row("p", "a", "b", Harder::Left), row("q", "b", "a", Harder::Left)];
    let stimuli = [stimulus("a", "low"), stimulus("b", "high")];
    let options = Options { levels: vec!["low".into()], ..options() };
    let input =
        Input { comparisons: &comparisons, stimuli: &stimuli, options: &options, seed: Seed(1) };
    let Err(Error::UnknownLevels { unknown, .. }) = score(&input) else { panic!("accepted") };
    assert_eq!(unknown, ["high"]);
}

#[test]
fn who_only_won_is_named() {
    let comparisons = [row("p", "a", "b", Harder::Left), row("q", "a", "b", Harder::Left)];
    let found = scored(&comparisons, &options()).unwrap();
    let caveat = found.caveats.iter().find(|c| c.code() == "separated-judgements").unwrap();
    let message = caveat.message();
    assert!(message.contains("(always harder: `a`; never harder: `b`)"), "{message}");
}
