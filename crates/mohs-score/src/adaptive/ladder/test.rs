//! The test itself: rounds of questions, and answers in return.
//!
//! A test asks nobody: whoever runs it takes [`AdaptiveTest::next_round`], gets the answers in any
//! way there is and hands them back. Given the same answers it asks the same questions, so a run
//! that was stopped goes on when its answers are played back.

use mohs_data::Seed;

use super::design::Design;
use super::estimator::EstimatorKind;
use super::gre::Gre;
use super::logit::Logit;
use super::neyman::{self, Done, Remaining};
use super::population::{Ladder, LadderError, StrataBy};
use super::record::{Asked, Question, Record, Sample, Why};
use super::reference_models::Hints;
use super::{static_k, top_up};
use crate::draw::Draw;
use crate::proportion::{normal_quantile, real};

/// Strata are asked at least so often, or their variance would be unknown.
pub(super) const LEAST: usize = 2;
/// Where rounds end, as shares of the strata: small at first, because the first ones know nothing.
const ROUND_ENDS: [f64; 8] = [0.05, 0.12, 0.22, 0.35, 0.5, 0.66, 0.83, 1.0];
/// Rounds a fit goes on for after each round of questions.
const N_FIT_ROUNDS: usize = 4;

const ORDER: u64 = 30;
const COUNT: u64 = 31;
const CHOICE: u64 = 32;

/// An interval that is narrow enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Width {
    /// From end to end, between 0 and 1.
    pub value: f64,
    /// How often intervals made this way hold the truth.
    pub confidence: f64,
    /// Whether each attribute's accuracy should be known that well, or only the overall one.
    pub by_attribute: bool,
    /// Whose intervals they are.
    pub estimator: EstimatorKind,
}

impl Width {
    /// How many plain answers make such intervals at most, half of them right being the worst, when
    /// there are so many stimuli.
    pub(super) fn n_plain(&self, n_attributes: usize, n_stimuli: usize) -> usize {
        let z = normal_quantile(0.5 + self.confidence / 2.0);
        let n_groups = if self.by_attribute { n_attributes.max(1) } else { 1 };
        let size = real(n_stimuli) / real(n_groups);
        let unlimited = (z / self.value).powi(2);
        // Of few stimuli a part of them tells more.
        let n = unlimited * size / (unlimited + size);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count, at most that of the stimuli"
        )]
        let n = (n * real(n_groups)).ceil() as usize;
        n
    }
}

/// A test under way.
#[derive(Debug, Clone)]
pub struct AdaptiveTest<'a> {
    record: Record<'a>,
    course: Course<'a>,
    open: Vec<(usize, Question)>,
    n_planned: usize,
    n_allowed: usize,
}

#[derive(Debug, Clone)]
enum Course<'a> {
    Strata(Box<Strata<'a>>),
    Sittings(Gre),
}

/// Strata in random order, in rounds.
#[derive(Debug, Clone)]
struct Strata<'a> {
    order: Vec<usize>,
    ends: Vec<usize>,
    /// Fixed from the start; `None` when each round is planned.
    counts: Option<Vec<usize>>,
    width: Option<Width>,
    n_left: usize,
    /// Questions each stratum has had.
    n_drawn: Vec<usize>,
    fit: Logit<'a>,
    forecasts: Vec<f64>,
    has_references: bool,
    seed: Seed,
}

impl<'a> AdaptiveTest<'a> {
    /// Plans a test that may ask a share of the ladder; `hints` must be about the same ladder.
    pub fn new(
        ladder: &'a Ladder,
        hints: Option<&'a Hints>,
        design: &Design,
        budget: f64,
        width: Option<Width>,
        seed: Seed,
    ) -> Result<Self, LadderError> {
        let n_asked = n_asked(ladder, budget)?;
        if let Some(width) = &width
            && !(0.0 < width.value && width.value < 1.0)
        {
            return Err(LadderError::Width { found: width.value });
        }
        if let Some(width) = &width {
            width.estimator.check(design)?;
            let has_none = ladder.strata_by() == StrataBy::Level && 1 < ladder.attributes().len();
            if width.by_attribute && has_none {
                return Err(LadderError::WidthOfNoAttribute);
            }
        }
        let mut record = Record {
            ladder,
            hints,
            asked: Vec::new(),
            samples: vec![Sample::default(); ladder.strata().len()],
            sittings: Vec::new(),
            n_rounds: 0,
        };
        let mut n_planned = n_asked;
        let course = match design {
            Design::Gre { routing } => {
                let gre = Gre::new(ladder, routing, budget, seed)?;
                n_planned = gre.n_questions();
                record.sittings = gre.sittings();
                Course::Sittings(gre)
            }
            Design::Static { per_stratum } => {
                let mut draw = Draw::new(seed, &[COUNT]);
                let counts = static_k::counts(ladder, *per_stratum, n_asked, LEAST, &mut draw)?;
                n_planned = counts.iter().sum();
                let mut strata = Strata::new(ladder, hints, n_asked, seed);
                strata.counts = Some(counts);
                Course::Strata(Box::new(strata))
            }
            Design::Neyman => {
                let at_least = ladder.n_at_least(LEAST);
                if n_asked < at_least {
                    let n_stimuli = ladder.n_stimuli();
                    return Err(LadderError::TooFew { n_asked, n_stimuli, at_least });
                }
                let mut strata = Strata::new(ladder, hints, n_asked, seed);
                strata.width = width;
                Course::Strata(Box::new(strata))
            }
        };
        Ok(Self { record, course, open: Vec::new(), n_planned, n_allowed: n_asked })
    }

    /// Returns how many stimuli the design asks, at most. Designs that give a number of questions by
    /// themselves may go beyond the budget.
    pub fn n_planned(&self) -> usize {
        self.n_planned
    }

    /// Returns how many stimuli the budget allows.
    pub fn n_allowed(&self) -> usize {
        self.n_allowed
    }

    /// Returns the questions of the next round; none when the test is over.
    pub fn next_round(&mut self) -> Result<Vec<Question>, LadderError> {
        self.open = match &mut self.course {
            Course::Strata(strata) => strata.next_round(&mut self.record),
            Course::Sittings(gre) => gre.next_round(&self.record.sittings)?,
        };
        self.record.n_rounds += usize::from(!self.open.is_empty());
        Ok(self.open.iter().map(|(_, question)| *question).collect())
    }

    /// Takes the answers to the last round: right, wrong, or none at all, in order.
    pub fn answer(&mut self, answers: &[Option<bool>]) {
        for ((place, question), is_right) in std::mem::take(&mut self.open).into_iter().zip(answers)
        {
            self.record.asked.push(Asked { question, is_right: *is_right });
            let Some(is_right) = *is_right else { continue };
            let stimulus = question.stimulus;
            let stratum = match &self.course {
                Course::Strata(_) => place,
                Course::Sittings(_) => {
                    let level = self.record.ladder.places()[stimulus].level_idx;
                    let sitting = &mut self.record.sittings[place];
                    sitting.answers.push((level, is_right));
                    sitting.strata[level]
                }
            };
            let position = self.record.ladder.strata()[stratum].stimuli.binary_search(&stimulus);
            let position = position.expect("because the question came from this stratum");
            self.record.samples[stratum].answers.push((position, is_right));
        }
    }

    /// Ends the test.
    pub fn into_record(self) -> Record<'a> {
        self.record
    }
}

/// Returns how many stimuli a budget buys, at least one.
pub(super) fn n_asked(ladder: &Ladder, budget: f64) -> Result<usize, LadderError> {
    if !(0.0 < budget && budget <= 1.0) {
        return Err(LadderError::Budget { found: budget });
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count, positive and small"
    )]
    // A share such as 0.1 is not exact; it should buy 10 of 100.
    let n = (budget * real(ladder.n_stimuli()) + 1e-9).floor() as usize;
    Ok(n.max(1))
}

impl<'a> Strata<'a> {
    fn new(ladder: &'a Ladder, hints: Option<&'a Hints>, n_left: usize, seed: Seed) -> Self {
        let mut order: Vec<usize> = (0..ladder.strata().len()).collect();
        Draw::new(seed, &[ORDER]).shuffle(&mut order);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a count"
        )]
        let end = |share: &f64| (share * real(order.len())).round() as usize;
        let mut ends: Vec<usize> = ROUND_ENDS.iter().map(end).filter(|end| 0 < *end).collect();
        ends.dedup();
        let forecasts =
            hints.map_or_else(|| vec![0.5; ladder.n_stimuli()], |hints| hints.shares.clone());
        Self {
            order,
            ends,
            counts: None,
            width: None,
            n_left,
            n_drawn: vec![0; ladder.strata().len()],
            fit: Logit::new(ladder, hints.map(|hints| &hints.features)),
            forecasts,
            has_references: hints.is_some(),
            seed,
        }
    }

    fn next_round(&mut self, record: &mut Record<'a>) -> Vec<(usize, Question)> {
        let round = record.n_rounds;
        let Some(end) = self.ends.get(round).copied() else { return self.top_up(record) };
        let start = if round == 0 { 0 } else { self.ends[round - 1] };
        if 0 < round {
            self.fit.fit(&record.answers(), N_FIT_ROUNDS);
            self.forecasts = self.fit.forecasts();
        }
        let now: Vec<usize> = self.order[start..end].to_vec();
        let counts = self.counts_now(record, round, &now, &self.order[end..]);
        let mut questions = Vec::new();
        for (idx, n) in now.into_iter().zip(counts) {
            let stimuli = &record.ladder.strata()[idx].stimuli;
            let sample = &mut record.samples[idx];
            sample.round = round;
            sample.forecasts = stimuli.iter().map(|stimulus| self.forecasts[*stimulus]).collect();
            questions.extend(self.draw_up_to(record, idx, n, round));
        }
        questions.sort_by_key(|(_, question)| question.stimulus);
        questions
    }

    /// More questions where a requested width was not reached.
    fn top_up(&mut self, record: &Record<'a>) -> Vec<(usize, Question)> {
        let round = record.n_rounds;
        let Some(width) = &self.width else { return Vec::new() };
        if self.n_left == 0 || self.ends.len() + top_up::MOST_ROUNDS <= round {
            return Vec::new();
        }
        let mut draw = Draw::new(self.seed, &[COUNT, round as u64]);
        let totals = top_up::totals(record, width, &self.n_drawn, self.n_left, &mut draw);
        let mut questions = Vec::new();
        for (idx, n) in totals.into_iter().enumerate() {
            questions.extend(self.draw_up_to(record, idx, n, round));
        }
        questions.sort_by_key(|(_, question)| question.stimulus);
        questions
    }

    /// Draws from a stratum until it has had `n` questions.
    fn draw_up_to(
        &mut self,
        record: &Record<'a>,
        idx: usize,
        n: usize,
        round: usize,
    ) -> Vec<(usize, Question)> {
        let stimuli = &record.ladder.strata()[idx].stimuli;
        let before = std::mem::replace(&mut self.n_drawn[idx], n);
        self.n_left -= (n - before).min(self.n_left);
        let sample = &record.samples[idx];
        let is_forecast = 0 < sample.round || self.has_references;
        // The same stream however many are drawn, so that more of them begin with the same ones.
        let mut draw = Draw::new(self.seed, &[CHOICE, idx as u64]);
        let positions = chosen(stimuli.len(), n, &mut draw).into_iter().skip(before);
        positions
            .map(|position| {
                let forecast = is_forecast.then_some(sample.forecasts[position]);
                let of = stimuli.len();
                let why = match before {
                    0 => Why::Drawn { n, of, forecast },
                    _ => Why::DrawnAgain { n: n - before, of: of - before, forecast },
                };
                (idx, Question { stimulus: stimuli[position], round, why })
            })
            .collect()
    }

    fn counts_now(
        &self,
        record: &Record<'a>,
        round: usize,
        now: &[usize],
        later: &[usize],
    ) -> Vec<usize> {
        if let Some(counts) = &self.counts {
            return now.iter().map(|idx| counts[*idx]).collect();
        }
        let ladder = record.ladder;
        let mut spreads = neyman::spreads(ladder, &self.forecasts);
        if round == 0 && !self.has_references {
            spreads.fill(0.5);
        }
        let (n_left, least) = (self.n_left, LEAST);
        let remaining = Remaining { ladder, now, later, spreads: &spreads, n_left, least };
        let mut draw = Draw::new(self.seed, &[COUNT, round as u64]);
        match &self.width {
            None => remaining.by_budget(&mut draw),
            Some(width) => {
                let done = Done { n_drawn: &self.n_drawn, excess: top_up::excess(record) };
                remaining.by_width(width, &done, &mut draw)
            }
        }
    }
}

/// Draws `n` of the positions `0..size`.
fn chosen(size: usize, n: usize, draw: &mut Draw) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..size).collect();
    let n = n.min(size);
    for idx in 0..n {
        positions.swap(idx, idx + draw.below(size - idx));
    }
    positions.truncate(n);
    positions
}

#[cfg(test)]
mod tests {
    use super::super::population::{Place, Tags};
    use super::super::reference_models::ReferenceModels;
    use super::super::{Kind, interval};
    use super::*;

    fn ladder(n_classes: usize, n_each: usize) -> Ladder {
        let mut tags = Vec::new();
        for class in 0..n_classes {
            for attribute in ["size", "style"] {
                for level in ["easy", "medium", "hard"] {
                    let tag = Tags {
                        class: format!("{class:02}"),
                        attribute: Some(attribute.into()),
                        level: Some(level.into()),
                    };
                    tags.extend(vec![tag; n_each]);
                }
            }
        }
        Ladder::new(&tags, &[]).unwrap()
    }

    /// Ten attributes of one class, so that strata are attributes at levels.
    fn ladder_of_attributes(n_each: usize) -> Ladder {
        let mut tags = Vec::new();
        for attribute in 0..10 {
            for level in ["easy", "medium", "hard"] {
                let tag = Tags {
                    class: "mug".into(),
                    attribute: Some(format!("{attribute}")),
                    level: Some(level.into()),
                };
                tags.extend(vec![tag; n_each]);
            }
        }
        Ladder::new(&tags, &[]).unwrap()
    }

    /// Answers that depend on the level alone.
    fn answers_by_level(ladder: &Ladder, p: [f64; 3], seed: u64) -> Vec<bool> {
        let mut draw = Draw::new(Seed(seed), &[8]);
        ladder.places().iter().map(|place| draw.chance(p[place.level_idx])).collect()
    }

    /// Answers that depend on level and class.
    fn answers(ladder: &Ladder, seed: u64) -> Vec<bool> {
        let mut draw = Draw::new(Seed(seed), &[7]);
        let p = |class: usize, level: usize| [0.95, 0.7, 0.3][level] - 0.02 * real(class % 10);
        ladder
            .places()
            .iter()
            .map(|place| draw.chance(p(place.class_idx, place.level_idx)))
            .collect()
    }

    fn run<'a>(
        ladder: &'a Ladder,
        hints: Option<&'a Hints>,
        design: &Design,
        budget: f64,
        width: Option<Width>,
        truth: &[bool],
    ) -> Result<Record<'a>, LadderError> {
        let mut test = AdaptiveTest::new(ladder, hints, design, budget, width, Seed(3))?;
        loop {
            let questions = test.next_round()?;
            if questions.is_empty() {
                return Ok(test.into_record());
            }
            let told: Vec<Option<bool>> =
                questions.iter().map(|question| Some(truth[question.stimulus])).collect();
            test.answer(&told);
        }
    }

    #[test]
    fn every_design_asks_its_budget_and_nothing_twice() {
        let ladder = ladder(20, 12);
        let truth = answers(&ladder, 1);
        for name in Design::NAMES {
            let design = Design::parse(name).unwrap();
            let record = run(&ladder, None, &design, 0.25, None, &truth).unwrap();
            let mut asked: Vec<usize> =
                record.asked().iter().map(|asked| asked.question.stimulus).collect();
            assert_eq!(asked.len(), ladder.n_stimuli() / 4, "{name}");
            asked.sort_unstable();
            asked.dedup();
            assert_eq!(asked.len(), ladder.n_stimuli() / 4, "{name}");
            assert_eq!(record.n_rounds(), if name.starts_with("gre") { 2 } else { 8 }, "{name}");
        }
    }

    #[test]
    fn given_the_same_answers_the_same_is_asked() {
        let ladder = ladder(8, 12);
        let truth = answers(&ladder, 2);
        let once = run(&ladder, None, &Design::Neyman, 0.3, None, &truth).unwrap();
        let again = run(&ladder, None, &Design::Neyman, 0.3, None, &truth).unwrap();
        assert_eq!(once, again);
    }

    #[test]
    fn asking_everything_leaves_no_doubt() {
        let ladder = ladder(3, 4);
        let truth = answers(&ladder, 3);
        let record = run(&ladder, None, &Design::Neyman, 1.0, None, &truth).unwrap();
        let group = ladder.group(Kind::Accuracy, |_| true).unwrap();
        let moments = EstimatorKind::ControlVariate.of(&record).unwrap().estimate(&group).unwrap();
        let share = real(truth.iter().filter(|right| **right).count()) / real(truth.len());
        let found = interval(&moments, 0.95).unwrap();
        assert!((found.value - share).abs() < 1e-12 && found.half_width() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_width_is_reached_with_fewer_questions() {
        let ladder = ladder(20, 40).with_strata(StrataBy::AttributeLevel);
        let truth = answers(&ladder, 4);
        let width = Width {
            value: 0.06,
            confidence: 0.95,
            by_attribute: false,
            estimator: EstimatorKind::ControlVariate,
        };
        let record = run(&ladder, None, &Design::Neyman, 0.5, Some(width), &truth).unwrap();
        let group = ladder.group(Kind::Accuracy, |_| true).unwrap();
        let moments = EstimatorKind::ControlVariate.of(&record).unwrap().estimate(&group).unwrap();
        let found = 2.0 * interval(&moments, 0.95).unwrap().half_width();
        assert!((0.05..0.0605).contains(&found), "{found}");
        assert!(record.asked().len() < 900, "{}", record.asked().len());
    }

    /// Recovery: intervals hold the truth as often as they promise, with a width or without.
    #[test]
    fn intervals_hold_the_truth() {
        let ladder = ladder(10, 12);
        let by_level = ladder.clone().with_strata(StrataBy::AttributeLevel);
        for (ladder, width) in [
            (&ladder, None),
            (&by_level, None),
            (
                &by_level,
                Some(Width {
                    value: 0.12,
                    confidence: 0.95,
                    by_attribute: false,
                    estimator: EstimatorKind::ControlVariate,
                }),
            ),
        ] {
            let group = ladder.group(Kind::Accuracy, |_| true).unwrap();
            let (mut n_held, n) = (0, 400);
            for seed in 0..n {
                let truth = answers(ladder, 100 + seed);
                let mut test =
                    AdaptiveTest::new(ladder, None, &Design::Neyman, 0.3, width, Seed(seed))
                        .unwrap();
                loop {
                    let questions = test.next_round().unwrap();
                    if questions.is_empty() {
                        break;
                    }
                    let told: Vec<_> = questions.iter().map(|q| Some(truth[q.stimulus])).collect();
                    test.answer(&told);
                }
                let record = test.into_record();
                let moments =
                    EstimatorKind::ControlVariate.of(&record).unwrap().estimate(&group).unwrap();
                let found = interval(&moments, 0.95).unwrap();
                let share = real(truth.iter().filter(|right| **right).count()) / real(truth.len());
                n_held += usize::from(found.low <= share && share <= found.high);
            }
            // 400 draws of 0.95 have a standard error of 0.011.
            assert!((366..=394).contains(&n_held), "{n_held} {width:?}");
        }
    }

    /// Each stratum is asked once, so what was seen at a level must say something about attributes
    /// that were not asked there yet.
    #[test]
    fn coarse_strata_without_references_are_asked_by_how_answers_vary() {
        let ladder = ladder_of_attributes(48);
        let mut n_asked = [0; 3];
        for seed in 0..10 {
            let truth = answers_by_level(&ladder, [0.98, 0.9, 0.5], seed);
            let record = run(&ladder, None, &Design::Neyman, 0.25, None, &truth).unwrap();
            for asked in record.asked() {
                n_asked[ladder.places()[asked.question.stimulus].level_idx] += 1;
            }
        }
        let [easy, medium, hard] = n_asked;
        assert!(1.1 * real(easy) < real(medium), "{n_asked:?}");
        assert!(1.3 * real(medium) < real(hard), "{n_asked:?}");
    }

    /// Recovery: near 0 and 100 % intervals hold the truth, and none is the whole range.
    #[test]
    fn intervals_near_the_ends_are_neither_nothing_nor_everything() {
        let ladder = ladder_of_attributes(48);
        let group = ladder.group(Kind::Accuracy, |_| true).unwrap();
        for kind in [EstimatorKind::ControlVariate, EstimatorKind::Stratified] {
            for p in [[0.0; 3], [0.02, 0.0, 0.0], [0.02, 0.01, 0.005], [1.0, 0.995, 0.98]] {
                let (mut n_held, n) = (0, 200);
                for seed in 0..n {
                    let truth = answers_by_level(&ladder, p, seed);
                    let record = run(&ladder, None, &Design::Neyman, 0.25, None, &truth).unwrap();
                    let moments = kind.of(&record).unwrap().estimate(&group).unwrap();
                    let found = interval(&moments, 0.95).unwrap();
                    assert!(found.high - found.low < 0.08, "{kind:?} {p:?} {found:?}");
                    let share =
                        real(truth.iter().filter(|right| **right).count()) / real(truth.len());
                    n_held += usize::from(found.low <= share && share <= found.high);
                }
                // 200 draws of 0.95 have a standard error of 0.015.
                assert!(184 <= n_held, "{n_held} {kind:?} {p:?}");
            }
        }
    }

    /// Recovery: one attribute's hard stimuli are half right, all others nearly always. Its variance is
    /// ten times the mean of its level, and all of it stands in one stratum.
    #[test]
    fn intervals_of_an_attribute_unlike_the_others_hold_the_truth() {
        let ladder = ladder_of_attributes(48);
        let unlike = |place: &Place| place.attribute_idx == 0 && place.level_idx == 2;
        for kind in [Kind::Accuracy, Kind::Score] {
            let group = ladder.group(kind, |place| place.attribute_idx == 0).unwrap();
            let (mut n_held, n) = (0, 400);
            for seed in 0..n {
                let mut draw = Draw::new(Seed(seed), &[9]);
                let truth: Vec<bool> = ladder
                    .places()
                    .iter()
                    .map(|place| draw.chance(if unlike(place) { 0.5 } else { 0.99 }))
                    .collect();
                let design = Design::parse("static-12").unwrap();
                let record = run(&ladder, None, &design, 0.25, None, &truth).unwrap();
                let moments = EstimatorKind::Stratified.of(&record).unwrap().estimate(&group);
                let found = interval(&moments.unwrap(), 0.95).unwrap();
                let value = |(idx, weight): &(usize, f64)| {
                    let stimuli = &ladder.strata()[*idx].stimuli;
                    let n_right = stimuli.iter().filter(|stimulus| truth[**stimulus]).count();
                    weight * real(n_right) / real(stimuli.len())
                };
                let share: f64 = group.strata.iter().map(value).sum();
                n_held += usize::from(found.low <= share && share <= found.high);
            }
            // 400 draws of 0.95 have a standard error of 0.011.
            assert!((366..=394).contains(&n_held), "{n_held} {kind:?}");
        }
    }

    /// Who never saw a wrong answer cannot rule out that there is none, whatever forecasts say.
    #[test]
    fn intervals_of_models_that_are_always_right_or_wrong_hold_that() {
        let ladder = ladder(2, 24).with_strata(StrataBy::AttributeLevel);
        for (is_right, seed) in [(true, 1), (true, 2), (false, 3), (false, 4)] {
            let truth = vec![is_right; ladder.n_stimuli()];
            let design = Design::Neyman;
            let mut test =
                AdaptiveTest::new(&ladder, None, &design, 0.1, None, Seed(seed)).unwrap();
            loop {
                let questions = test.next_round().unwrap();
                if questions.is_empty() {
                    break;
                }
                let told: Vec<_> = questions.iter().map(|q| Some(truth[q.stimulus])).collect();
                test.answer(&told);
            }
            let record = test.into_record();
            for kind in [Kind::Accuracy, Kind::Score] {
                let group = ladder.group(kind, |_| true).unwrap();
                for estimator in [EstimatorKind::ControlVariate, EstimatorKind::Aipw] {
                    let moments = estimator.of(&record).unwrap().estimate(&group).unwrap();
                    let found = interval(&moments, 0.95).unwrap();
                    let truth = f64::from(u8::from(is_right));
                    assert!(found.low <= truth && truth <= found.high, "{estimator:?} {found:?}");
                    assert!(found.high - found.low < 0.5, "{found:?}");
                }
            }
        }
    }

    #[test]
    fn widths_of_attributes_need_strata_of_attributes() {
        let ladder = ladder_of_attributes(48);
        let width = Width {
            value: 0.5,
            confidence: 0.95,
            by_attribute: true,
            estimator: EstimatorKind::ControlVariate,
        };
        // 15 plain answers would do, but 30 strata ask two each.
        let fine = ladder.clone().with_strata_for(0.5, Some(width)).unwrap();
        assert_ne!(fine.strata_by(), StrataBy::Level);
        let coarse = ladder.with_strata(StrataBy::Level);
        let refused = AdaptiveTest::new(&coarse, None, &Design::Neyman, 0.5, Some(width), Seed(1))
            .map(|_| ());
        assert_eq!(refused, Err(LadderError::WidthOfNoAttribute));
    }

    /// The interval that is shown is that of the estimator that was asked for.
    #[test]
    fn a_width_is_that_of_the_estimator_that_is_shown() {
        let ladder = ladder(20, 40).with_strata(StrataBy::AttributeLevel);
        let truth = answers(&ladder, 4);
        // References that are right, so that the plain mean knows much less than the others.
        let models = (0..5).map(|idx| {
            let right: Vec<Option<bool>> = truth.iter().copied().map(Some).collect();
            (idx.to_string(), right)
        });
        let hints = ReferenceModels::new(models.collect()).unwrap().hints(&ladder);
        for estimator in [EstimatorKind::Stratified, EstimatorKind::ControlVariate] {
            let width = Width { value: 0.06, confidence: 0.95, by_attribute: false, estimator };
            let design = Design::Neyman;
            let record = run(&ladder, Some(&hints), &design, 0.9, Some(width), &truth).unwrap();
            let group = ladder.group(Kind::Accuracy, |_| true).unwrap();
            let moments = estimator.of(&record).unwrap().estimate(&group).unwrap();
            let found = 2.0 * interval(&moments, 0.95).unwrap().half_width();
            assert!(found <= 0.06, "{estimator:?} {found}");
        }
    }

    #[test]
    fn budgets_widths_and_small_classes_are_checked() {
        let ladder = ladder(2, 3);
        let truth = answers(&ladder, 5);
        let error = |design: &str, budget: f64| {
            let design = Design::parse(design).unwrap();
            run(&ladder, None, &design, budget, None, &truth).unwrap_err().to_string()
        };
        assert_eq!(
            error("neyman", 0.0),
            "the budget should be a share above 0 and at most 1, found 0"
        );
        assert_eq!(
            error("neyman", 1.5),
            "the budget should be a share above 0 and at most 1, found 1.5"
        );
        assert_eq!(
            error("neyman", 0.25),
            "a budget of 9 of 36 stimuli is too small; at least 24 are needed"
        );
        assert_eq!(
            error("static-4", 0.25),
            "class `00`, attribute `size`, level `easy` has 3 stimuli, but the design may ask 4"
        );
        assert_eq!(
            error("gre", 0.25),
            "class `00`, attribute `size`, level `easy` has 3 stimuli, but the design may ask 6"
        );
        let coarse = ladder.clone().with_finest_strata(5, LEAST).unwrap_err();
        assert_eq!(coarse, LadderError::TooFew { n_asked: 5, n_stimuli: 36, at_least: 6 });
    }

    #[test]
    fn a_wide_interval_takes_coarse_strata() {
        let by = |value| {
            let width = Width {
                value,
                confidence: 0.95,
                by_attribute: false,
                estimator: EstimatorKind::ControlVariate,
            };
            ladder(20, 12).with_strata_for(0.5, Some(width)).unwrap().strata_by()
        };
        // 91 and 1,078 plain answers of 1,440; 120 strata of class, attribute and level ask 240.
        assert_eq!(by(0.2), StrataBy::AttributeLevel);
        assert_eq!(by(0.03), StrataBy::ClassAttributeLevel);
        // 2 × 85 answers of 2 × 720 for two attributes: finer strata would ask 240.
        let width = Width {
            value: 0.2,
            confidence: 0.95,
            by_attribute: true,
            estimator: EstimatorKind::ControlVariate,
        };
        let ladder = ladder(20, 12).with_strata_for(1.0, Some(width)).unwrap();
        assert_eq!(ladder.strata_by(), StrataBy::AttributeLevel);
    }

    #[test]
    fn a_test_says_before_how_many_it_asks_and_how_many_it_may() {
        for (n_each, design, n_planned) in [
            (12, "neyman", 36),
            (12, "static", 36),
            (12, "static-3", 36),
            (12, "gre", 36),
            (8, "static-3", 36),
            (8, "gre", 36),
            (8, "neyman", 24),
        ] {
            let (ladder, design) = (ladder(2, n_each), Design::parse(design).unwrap());
            let test = AdaptiveTest::new(&ladder, None, &design, 0.25, None, Seed(1)).unwrap();
            let found = (test.n_planned(), test.n_allowed());
            assert_eq!(found, (n_planned, 3 * n_each), "{} of {n_each}", design.name());
        }
    }

    #[test]
    fn strata_get_coarser_until_the_budget_suffices() {
        let by = |n_asked| ladder(2, 3).with_finest_strata(n_asked, LEAST).unwrap().strata_by();
        assert_eq!(by(24), StrataBy::ClassAttributeLevel);
        assert_eq!(by(23), StrataBy::AttributeLevel);
        assert_eq!(by(11), StrataBy::Level);
    }

    #[test]
    fn a_question_without_an_answer_is_counted_and_left_out() {
        let ladder = ladder(4, 12);
        let truth = answers(&ladder, 6);
        let mut test =
            AdaptiveTest::new(&ladder, None, &Design::Neyman, 0.3, None, Seed(1)).unwrap();
        loop {
            let questions = test.next_round().unwrap();
            if questions.is_empty() {
                break;
            }
            let told: Vec<Option<bool>> = questions
                .iter()
                .map(|question| (question.stimulus % 12 != 5).then_some(truth[question.stimulus]))
                .collect();
            test.answer(&told);
        }
        let record = test.into_record();
        assert!(0 < record.n_failed());
        let group = ladder.group(Kind::Accuracy, |_| true).unwrap();
        let moments = EstimatorKind::ControlVariate.of(&record).unwrap().estimate(&group).unwrap();
        assert_eq!(moments.n_asked + record.n_failed(), record.asked().len());
    }

    #[test]
    fn references_that_know_narrow_the_interval() {
        let ladder = ladder(20, 12);
        let truth = answers(&ladder, 7);
        let noisy = |salt: u64| {
            let mut draw = Draw::new(Seed(salt), &[]);
            let answer = |right: &bool| Some(if draw.chance(0.85) { *right } else { !*right });
            (salt.to_string(), truth.iter().map(answer).collect())
        };
        let references = ReferenceModels::new((0..5).map(noisy).collect()).unwrap();
        let hints = references.hints(&ladder);
        let width = |hints| {
            let record = run(&ladder, hints, &Design::Neyman, 0.25, None, &truth).unwrap();
            let group = ladder.group(Kind::Accuracy, |_| true).unwrap();
            let kind = EstimatorKind::ControlVariate;
            let moments = kind.of(&record).unwrap().estimate(&group).unwrap();
            interval(&moments, 0.95).unwrap().half_width()
        };
        assert!(width(Some(&hints)) < 0.75 * width(None));
    }
}
