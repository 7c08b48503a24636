//! Measures of attacks: worked by hand, against simulated truth, and the laws all of them keep.

use mohs_data::{
    Caveat, Difficulty, Estimate, Extra, FailureReason, FastAnswer, Flag, Goal, How, MinEpsilon,
    Norm, Search, Seed,
};
use mohs_score::draw::Draw;
use mohs_score::model::ScoreError;
use mohs_score::model::robustness::{
    AttackError, AttackFindings, Input, Options, score, standings,
};

const HORIZON: f64 = 0.05;

/// Everything a scoring reads.
#[derive(Default, Clone)]
struct World {
    rows: Vec<MinEpsilon>,
    difficulties: Vec<Difficulty>,
    options: Options,
}

impl World {
    fn input(&self) -> Input<'_> {
        Input {
            rows: &self.rows,
            stimuli: &[],
            difficulties: &self.difficulties,
            options: &self.options,
            seed: Seed(1),
        }
    }

    fn try_score(&self) -> Result<AttackFindings, AttackError> {
        score(&self.input())
    }

    fn score(&self) -> AttackFindings {
        self.try_score().expect("because the world can be scored")
    }

    fn has(&self, code: &str) -> bool {
        self.score().caveats.iter().any(|caveat: &Caveat| caveat.code() == code)
    }
}

fn row(model: &str, stimulus: &str, attack: &str, search: Search) -> MinEpsilon {
    let is_attacked = matches!(search, Search::Found { .. } | Search::Survived { .. });
    MinEpsilon {
        model: model.into(),
        stimulus: stimulus.into(),
        attack: attack.into(),
        norm: Norm::Linf,
        goal: Goal::Fool,
        settings: "steps=10".into(),
        label: ["mug", "key", "sock"][stimulus.len() % 3].into(),
        clean: Some(
            if is_attacked { ["mug", "key", "sock"][stimulus.len() % 3] } else { "shoe" }.into(),
        ),
        search,
        how: How::Exact,
        fast: None,
        n_forward: 10,
        n_gradient: if attack == "square" { 0 } else { 100 },
        flags: Vec::new(),
        extra: Extra::default(),
    }
}

fn found(epsilon: f64) -> Search {
    Search::Found { epsilon, answer: None }
}

fn survived() -> Search {
    Search::Survived { up_to: HORIZON }
}

fn difficulty(stimulus: &str, value: f64, band: Option<&str>) -> Difficulty {
    Difficulty {
        stimulus: stimulus.into(),
        measure: "viewing-time".into(),
        estimate: Estimate { value, low: value, high: value, confidence: 0.95, n: 7 },
        band: band.map(Into::into),
        caveats: Vec::new(),
        extra: Extra::default(),
    }
}

/// Four easy stimuli fooled at 0.02, 0.03, 0.04 and not at all, four hard ones at 0.01 each but one
/// that is wrong to begin with.
fn eight() -> World {
    let mut world =
        World { options: Options { n_resamples: 200, ..Options::default() }, ..World::default() };
    let easy = [found(0.02), found(0.03), found(0.04), survived()];
    let hard = [found(0.01), found(0.01), found(0.01), Search::NotAttacked];
    for (idx, (a, b)) in easy.into_iter().zip(hard).enumerate() {
        for (band, value, search) in [("easy", 0.1, a), ("hard", 0.8, b)] {
            let id = format!("{band}{idx}");
            world.rows.push(row("m", &id, "pgd", search));
            world.difficulties.push(difficulty(&id, value, Some(band)));
        }
    }
    world
}

#[test]
fn eight_stimuli_worked_by_hand() {
    let found = eight().score();
    assert_eq!((found.n_rows, found.n_found, found.n_survived, found.n_not_attacked), (8, 6, 1, 1));
    let table = &found.tables[0];
    assert!((table.horizon - HORIZON).abs() < 1e-12);
    let attack = &table.attacks[0];
    let [easy, hard] = &attack.bands[..] else { panic!("two bands") };
    assert_eq!((easy.n_fooled, easy.n_survived, hard.n_fooled, hard.n_not_attacked), (3, 1, 3, 1));
    // Among the fooled 0.03; with the survivor at 0.05: (0.02 + 0.03 + 0.04 + 0.05) / 4.
    assert!((easy.mean_fooled.unwrap().value - 0.03).abs() < 1e-12);
    assert!((easy.restricted_mean.unwrap().value - 0.035).abs() < 1e-12);
    assert!((hard.restricted_mean.unwrap().value - 0.01).abs() < 1e-12);
    assert!((attack.easy_minus_hard.unwrap().value - 0.025).abs() < 1e-12);
    // Every hard stimulus is fooled before every easy one; pairs within a band are of equal
    // difficulty, and of them those of hard stimuli are tied in ε.
    let correlation = attack.correlation.as_ref().unwrap();
    let known = 12.0 + 6.0;
    assert!((correlation.tau_b.value + 12.0 / (known * 12.0_f64).sqrt()).abs() < 1e-12);
    assert!((correlation.concordance.value - 15.0 / 18.0).abs() < 1e-12);
    assert_eq!(correlation.spearman, None);
    // At 0.01 all three hard ones of seven fall; after that none is left to compare.
    let expected = 3.0 - 3.0 * 3.0 / 7.0;
    let variance = 3.0 * 4.0 / 6.0 * (3.0 / 7.0) * (4.0 / 7.0);
    let test = attack.log_rank.as_ref().unwrap();
    assert!((test.chi_squared - expected * expected / variance).abs() < 1e-9);
    assert!(0.0 < attack.trend.as_ref().unwrap().z);
    assert_eq!(found.models[0].clean.as_ref().unwrap().n_right, 7);
    assert_eq!((attack.n_forward, attack.n_gradient), (80, 800));
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let world = eight();
    let mut turned = world.clone();
    turned.rows.reverse();
    turned.difficulties.reverse();
    assert_eq!(world.score(), turned.score());
}

#[test]
fn one_thread_or_two_give_the_same() {
    let world = eight();
    let on = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| world.score())
    };
    assert_eq!(on(1), on(2));
}

#[test]
fn other_norms_goals_kinds_and_settings_stand_apart() {
    let mut world = eight();
    let change = |change: &dyn Fn(&mut MinEpsilon)| -> Vec<MinEpsilon> {
        let mut rows = eight().rows;
        rows.iter_mut().for_each(change);
        rows
    };
    let main = world.score().tables[0].clone();
    world.rows.extend(change(&|row| row.norm = Norm::L2));
    world.rows.extend(change(&|row| row.goal = Goal::Correct));
    world.rows.extend(change(&|row| {
        row.attack = "fmn".into();
        // Only rows that came to something say that they are bounds.
        if matches!(row.search, Search::Found { .. }) {
            row.how = How::Bound;
        }
    }));
    let found = world.score();
    let kinds: Vec<_> = found.tables.iter().map(|t| (t.goal, t.is_bound, t.norm)).collect();
    assert_eq!(
        kinds,
        [
            (Goal::Fool, false, Norm::Linf),
            (Goal::Fool, false, Norm::L2),
            (Goal::Fool, true, Norm::Linf),
            (Goal::Correct, false, Norm::Linf),
        ]
    );
    assert_eq!(found.tables[0], main);
    world.rows.extend(change(&|row| row.settings = "steps=40".into()));
    let found = world.score();
    let names: Vec<&str> = found.tables[0].attacks.iter().map(|a| a.attack.as_str()).collect();
    assert_eq!(names, ["pgd (steps=10)", "pgd (steps=40)"]);
}

#[test]
fn a_horizon_is_the_smallest_that_all_groups_share() {
    let mut world = eight();
    let mut further = eight().rows;
    for row in &mut further {
        row.attack = "fgsm".into();
        // As far as 0.03 only, so that one more survives.
        let is_attacked = !matches!(row.search, Search::NotAttacked);
        if is_attacked && row.epsilon().is_none_or(|epsilon| 0.03 < epsilon) {
            row.search = Search::Survived { up_to: 0.03 };
        }
    }
    world.rows.extend(further);
    let found = world.score();
    assert!((found.tables[0].horizon - 0.03).abs() < 1e-12);
    assert!(world.has("horizons-differ"));
    // Cut off at 0.03: (0.02 + 0.03 + 0.03 + 0.03) / 4.
    let easy = &found.tables[0].attacks[0].bands[0];
    assert!((easy.restricted_mean.unwrap().value - 0.0275).abs() < 1e-12);
    assert!((easy.mean_fooled.unwrap().value - 0.03).abs() < 1e-12);
}

#[test]
fn an_attack_that_another_cuts_short_keeps_its_own_numbers_and_the_cut_is_told() {
    let mut world = eight();
    for row in &mut eight().rows {
        let search = match row.search {
            Search::NotAttacked => Search::NotAttacked,
            _ => Search::Survived { up_to: 0.01 },
        };
        world.rows.push(MinEpsilon { attack: "square".into(), search, ..row.clone() });
    }
    let alone = eight().score().tables[0].attacks[0].clone();
    let found = world.score();
    let cut = found.tables[0].attacks[0].clone();
    let own = cut.alone.unwrap();
    assert!((own.horizon - HORIZON).abs() < 1e-12);
    assert_eq!((own.overall, own.bands), (alone.overall, alone.bands));
    // At 0.01 the three hard ones are fooled, and four are left.
    let at_horizon = cut.overall.at_horizon.unwrap();
    assert_eq!((at_horizon.n_survived, at_horizon.n_unknown), (4, 0));
    let caveat = found.caveats.iter().find(|caveat| caveat.code() == "horizons-differ").unwrap();
    let text = caveat.message();
    assert!(text.contains("square (m) went no further") && text.contains("end at 0.01"), "{text}");
}

#[test]
fn attacks_that_cut_nothing_are_not_blamed_for_the_end_of_a_table() {
    let mut world = World::default();
    for idx in 0..4 {
        let stimulus = format!("s{idx}");
        let end = |up_to| if idx == 0 { Search::Survived { up_to } } else { found(0.02) };
        world.rows.push(row("m", &stimulus, "fgsm", found(0.01)));
        world.rows.push(row("m", &stimulus, "pgd", end(0.05)));
        world.rows.push(row("m", &stimulus, "square", end(0.1)));
        world.rows.push(row("m", &stimulus, "tpgd", Search::NotAttacked));
    }
    let found = world.score();
    assert!((found.tables[0].horizon - 0.05).abs() < 1e-12);
    let caveat = found.caveats.iter().find(|caveat| caveat.code() == "horizons-differ").unwrap();
    let Caveat::HorizonsDiffer { cut_by, .. } = caveat else { panic!("by its code") };
    assert_eq!(cut_by, &["pgd (m)"]);
}

/// Three stimuli, all fooled at 0.01 where 0.05 was tried: what the next would take is not known to be
/// 0.01 at most.
#[test]
fn a_small_group_that_is_fooled_early_keeps_the_doubt_above() {
    let found = eight().score();
    let hard = &found.tables[0].attacks[0].bands[1];
    let mean = hard.mean_fooled.unwrap();
    assert_eq!(hard.restricted_mean, hard.mean_fooled);
    assert!((mean.value - 0.01).abs() < 1e-12 && 0.02 < mean.high && mean.high <= HORIZON);
}

#[test]
fn a_survivor_that_was_tried_less_far_is_not_known_to_survive() {
    let mut world = World::default();
    for idx in 1_u8..=9 {
        world.rows.push(row("m", &format!("s{idx}"), "pgd", found(f64::from(idx) / 100.0)));
    }
    world.rows.push(row("m", "s10", "pgd", survived()));
    let found = world.score();
    assert!((found.tables[0].horizon - 0.09).abs() < 1e-12);
    let at_horizon = found.tables[0].attacks[0].overall.at_horizon.unwrap();
    assert_eq!((at_horizon.n_survived, at_horizon.n_unknown), (0, 1));
    assert!(world.has("horizons-differ"));
}

#[test]
fn steps_of_epsilon_beside_changes_of_epsilon_are_a_caveat() {
    let mut world = eight();
    let mut rows = eight().rows;
    for row in &mut rows {
        (row.attack, row.settings) = ("fgsm".into(), "steps=1".into());
    }
    world.rows.extend(rows.iter().cloned());
    assert!(!world.has("step-lengths"));
    rows.iter_mut().for_each(|row| row.settings = "steps=2".into());
    world.rows.truncate(8);
    world.rows.extend(rows);
    assert!(world.has("step-lengths"));
    world.rows.drain(..8);
    assert!(!world.has("step-lengths"));
}

#[test]
fn a_second_model_is_compared_on_what_both_get_right() {
    let mut world = eight();
    for row in eight().rows {
        let search = match row.search {
            // Wrong for the first model; what the second does there must not count.
            Search::NotAttacked => found(0.001),
            Search::Found { epsilon, .. } if row.stimulus.as_str().starts_with("easy") => {
                found(epsilon + 0.01)
            }
            other => other,
        };
        let clean = Some(row.label.clone());
        world.rows.push(MinEpsilon { model: "defended".into(), search, clean, ..row });
    }
    let found = world.score();
    let gain = &found.tables[0].comparisons[0];
    assert_eq!((gain.first.as_str(), gain.second.as_str(), gain.n_stimuli), ("m", "defended", 7));
    // Easy: + 0.01 on three of four; hard: nothing.
    assert!((gain.bands[0].unwrap().value - 0.0075).abs() < 1e-12);
    assert!(gain.bands[1].unwrap().value.abs() < 1e-12);
    assert!((gain.easy_minus_hard.unwrap().value - 0.0075).abs() < 1e-12);
    let clean = &found.clean_comparisons[0];
    assert!((clean.bands[1].unwrap().value - 0.25).abs() < 1e-12);
    assert!((clean.easy_minus_hard.unwrap().value + 0.25).abs() < 1e-12);
}

#[test]
fn doubts_are_said() {
    let mut world = eight();
    assert!(
        world.has("few-attacked") && !world.has("many-survived") && !world.has("no-difficulty")
    );
    world.rows.push(row(
        "m",
        "easy9",
        "pgd",
        Search::Failed(FailureReason::new("cannot read easy9")),
    ));
    assert!(world.has("failed-attacks") && world.has("stimuli-without-difficulty"));
    assert_eq!(world.score().failures[0].reason, "cannot read …");
    for row in &mut world.rows {
        row.how = How::Fast;
    }
    assert!(world.has("fast-not-audited"));
    (world.rows[0].how, world.rows[0].fast) = (How::Audited, Some(FastAnswer::Survived));
    assert!(!world.has("fast-not-audited"));
    let audit = world.score().tables[0].attacks[0].audit.clone().unwrap();
    assert_eq!((audit.disagreement.n, audit.n_too_large), (1, 1));
    world.rows[1].flags = vec![Flag::ZeroGradient];
    assert!(world.has("masked-gradients"));
    for row in &mut world.rows {
        row.search = survived();
    }
    assert!(world.has("many-survived"));
    world.difficulties.clear();
    assert!(world.has("no-difficulty"));
    let found = world.score();
    assert!(found.bands.is_empty() && found.tables[0].attacks[0].correlation.is_none());
    assert_eq!(found.tables[0].attacks[0].curves.len(), 1);
}

#[test]
fn a_model_that_is_always_wrong_has_no_numbers_and_breaks_nothing() {
    let mut world = eight();
    for row in &mut world.rows {
        (row.search, row.clean) = (Search::NotAttacked, Some("shoe".into()));
    }
    let found = world.score();
    let attack = &found.tables[0].attacks[0];
    assert!(attack.overall.restricted_mean.is_none() && attack.curves.is_empty());
    assert!(attack.easy_minus_hard.is_none() && attack.log_rank.is_none());
    assert_eq!(found.models[0].clean.as_ref().unwrap().n_right, 0);
}

#[test]
fn mistakes_are_named() {
    let refused = |change: &dyn Fn(&mut World)| {
        let mut world = eight();
        change(&mut world);
        world.try_score().unwrap_err()
    };
    assert_eq!(refused(&|world| world.rows.clear()), AttackError::NoRows);
    let twice = refused(&|world| world.rows.push(world.rows[0].clone()));
    assert!(matches!(twice, AttackError::RepeatedRow { .. }), "{twice}");
    let failed = Search::Failed(FailureReason::new("no file"));
    let none = refused(&|world| world.rows.iter_mut().for_each(|row| row.search = failed.clone()));
    assert!(matches!(none, AttackError::OnlyFailures { n_rows: 8, .. }), "{none}");
    let others = refused(&|world| {
        world
            .difficulties
            .iter_mut()
            .for_each(|row| row.stimulus = format!("x{}", row.stimulus).as_str().into());
    });
    assert!(matches!(others, AttackError::OtherStimuli { .. }), "{others}");
    let measure = refused(&|world| world.options.difficulty_measure = Some("guess".into()));
    assert!(matches!(measure, AttackError::Join(ScoreError::UnknownMeasure { .. })), "{measure}");
    let option = refused(&|world| world.options.confidence = 1.0);
    assert!(matches!(option, AttackError::Join(ScoreError::BadOption { .. })), "{option}");
}

#[test]
fn standings_go_from_easy_to_hard() {
    let world = eight();
    let all = standings(&world.input()).unwrap();
    assert_eq!(all.len(), 8);
    assert_eq!(all[0].band, Some((0, "easy".into())));
    assert_eq!(all[7].band, Some((1, "hard".into())));
}

#[test]
fn findings_come_back_from_json_as_they_went() {
    let found = eight().score();
    let json = serde_json::to_string(&found).unwrap();
    assert!(!json.contains("NaN"));
    assert_eq!(serde_json::from_str::<AttackFindings>(&json).unwrap(), found);
}

/// Twelve classes that differ, exponential ε around 0.02 on easy and 0.012 on hard stimuli, and
/// survivors beyond 0.05: the interval of the difference holds the truth about as often as promised.
#[test]
fn the_difference_of_easy_and_hard_is_recovered() {
    let (n_runs, n_classes, n_each) = (120, 16, 6);
    // E[min(ε, E)] of an exponential of mean μ times a class effect of 0.8, 1 or 1.2 in equal parts.
    let mean = |mu: f64| {
        let of = |mu: f64| mu * (1.0 - (-HORIZON / mu).exp());
        (of(0.8 * mu) + of(mu) + of(1.2 * mu)) / 3.0
    };
    let truth = mean(0.02) - mean(0.012);
    let mut n_held = 0;
    for run in 0..n_runs {
        let mut draw = Draw::new(Seed(41), &[run]);
        let mut world = World {
            options: Options { n_resamples: 200, ..Options::default() },
            ..World::default()
        };
        for class in 0..n_classes {
            let effect = [0.8, 1.0, 1.2][draw.below(3)];
            for idx in 0..2 * n_each {
                let (band, mu) = if idx < n_each { ("easy", 0.02) } else { ("hard", 0.012) };
                let epsilon = -mu * effect * (1.0 - draw.uniform()).ln();
                let id = format!("{band}-{class}-{idx}");
                let search = if epsilon <= HORIZON { found(epsilon) } else { survived() };
                let label = format!("class {class}");
                world.rows.push(MinEpsilon {
                    label: label.as_str().into(),
                    clean: Some(label.as_str().into()),
                    ..row("m", &id, "pgd", search)
                });
                world.difficulties.push(difficulty(
                    &id,
                    if band == "easy" { 0.1 } else { 0.9 },
                    Some(band),
                ));
            }
        }
        let found = world.score().tables[0].attacks[0].easy_minus_hard.unwrap();
        n_held += usize::from(found.low <= truth && truth <= found.high);
    }
    assert!((107..=120).contains(&n_held), "{n_held} of {n_runs}");
}
