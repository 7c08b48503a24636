//! Caveats: reasons to trust a number less, with the evidence inside.
//!
//! Doubt about data is data: measures collect caveats, reports print them beside the number they
//! weaken. They are not log lines and not errors.

use serde::{Deserialize, Serialize};

use crate::{Millis, StimulusId};

/// A reason for less trust.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Caveat {
    /// Some stimuli have so few trials at an exposure that the counting rule is a coin flip.
    TooFewTrials {
        /// Stimuli concerned.
        stimuli: Vec<StimulusId>,
        /// Trials per exposure below which this is said.
        n_wanted: usize,
    },
    /// Some stimuli were recognised at a short exposure and not at a longer one.
    NonMonotone {
        /// Stimuli concerned.
        stimuli: Vec<StimulusId>,
    },
    /// Some stimuli have more trials at one exposure than at another, or none at some.
    UnbalancedExposures {
        /// Stimuli concerned.
        stimuli: Vec<StimulusId>,
    },
    /// Few participants: intervals over participants are rough.
    FewParticipants {
        /// How many there are.
        n_participants: usize,
    },
    /// A large share of the data was set aside.
    ManyExclusions {
        /// Share of trials.
        share: f64,
    },
    /// Bands were made from the same trials that are shown by band.
    BandsFromSameTrials,
    /// Guess rate was not given and is taken from the labels seen, or made up when there are none.
    GuessRateAssumed {
        /// The rate used.
        guess_rate: f64,
        /// Labels seen.
        n_labels: usize,
    },
    /// Guessing comes close to the criterion, or meets it.
    CriterionNearGuessing {
        /// The criterion of the counting rule.
        criterion: f64,
        /// Chance of a right guess.
        guess_rate: f64,
        /// The criterion thresholds are given for instead.
        model_criterion: f64,
    },
    /// Some participants saw a stimulus more than once, and all showings count.
    RepeatedStimuli {
        /// Trials that were not the first with their stimulus.
        n_trials: usize,
    },
    /// The model-based fit stopped before it settled.
    FitNotConverged {
        /// Rounds made.
        n_rounds: usize,
    },
    /// Some exposures are reported by their plan because nobody measured them.
    ExposuresNotMeasured {
        /// Share of trials without a timing verdict.
        share: f64,
    },
    /// Shown times differ from planned exposures.
    UnevenFrames {
        /// Share of trials whose verdict is not `ok`.
        share: f64,
    },
    /// The data are simulated.
    Simulated,
    /// No participant saw more than one exposure, or the like: an effect cannot be told apart.
    NotIdentified {
        /// What cannot be told.
        what: String,
    },
    /// Some stimuli have trials but do not stand in the table of stimuli, or the reverse.
    StimuliWithoutTrials {
        /// How many.
        n_stimuli: usize,
    },
    /// The longest exposure is so short that "never recognised" may just mean "not yet".
    LongestExposureShort {
        /// The longest exposure tested.
        longest: Millis,
    },
    /// Comparisons fall into groups that no comparison joins.
    SeveralComponents {
        /// How many.
        n_components: usize,
    },
    /// Some stimuli only won or only lost against others, so that a prior decides how far apart
    /// they are.
    SeparatedJudgements {
        /// Stimuli of the components concerned.
        stimuli: Vec<StimulusId>,
        /// Those that were called harder in every judgement.
        #[serde(default)]
        only_won: Vec<StimulusId>,
        /// Those that were called harder in none.
        #[serde(default)]
        only_lost: Vec<StimulusId>,
        /// Components concerned.
        n_components: usize,
        /// Standard deviation of the prior, in log-odds.
        prior_sd: f64,
    },
    /// Judgements of different questions were put together.
    SeveralQuestions {
        /// How many questions.
        n_questions: usize,
    },
    /// One side of the screen is favoured.
    PositionBias {
        /// What standing on the left adds, in log-odds.
        left_log_odds: f64,
    },
    /// Ties could not be given a parameter of their own and count half for each.
    TiesSplit,
    /// Only one participant is named, so the bootstrap draws judgements, not people.
    JudgementsResampled,
    /// Intervals over people are much wider than those that take judgements for independent.
    PeopleDiffer {
        /// How many times.
        ratio: f64,
    },
    /// Some participants' judgements agree with everybody else's no better than a coin.
    JudgesAtChance {
        /// How many.
        n_participants: usize,
    },
    /// Stimuli have levels, but nothing says in which order.
    LevelsWithoutOrder,
    /// Some objects were outlined by so few people that a vote means little.
    FewDrawings {
        /// Stimuli concerned.
        stimuli: Vec<StimulusId>,
        /// People per object below which this is said.
        n_wanted: usize,
    },
    /// On some objects no pixel was marked by a majority.
    NoMajority {
        /// Stimuli concerned.
        stimuli: Vec<StimulusId>,
    },
    /// People outlined different things on some stimuli.
    DrawingsDisagree {
        /// Stimuli concerned.
        stimuli: Vec<StimulusId>,
        /// Mean overlap between two people below which this is said.
        below: f64,
    },
    /// Some people drew fewer objects of the exam than others.
    ExamsDiffer {
        /// How many people.
        n_participants: usize,
    },
    /// Some objects have no reference although others have.
    ObjectsWithoutReference {
        /// How many.
        n_objects: usize,
    },
    /// A large share of the drawings was set aside.
    ManyDrawingsSetAside {
        /// Share of drawings.
        share: f64,
    },
    /// Many trials got no answer in time.
    TimeOuts {
        /// Share of timed trials.
        share: f64,
        /// Whether they count as errors; else they are set aside.
        are_errors: bool,
    },
    /// At some beeps accuracy lies below guessing.
    BelowGuessing {
        /// The beeps.
        beeps: Vec<Millis>,
        /// Chance of a right guess.
        guess_rate: f64,
    },
    /// Some participants gave most of their answers far from the beep.
    FarFromBeep {
        /// Participants concerned.
        n_participants: usize,
        /// Participants in all.
        n_all: usize,
        /// Whether they were set aside for it.
        is_set_aside: bool,
    },
    /// Some answers have no response time.
    ResponseTimesMissing {
        /// Share of answers.
        share: f64,
    },
    /// A fitted curve ended at the bound of what is searched.
    CurveAtBound {
        /// The curves concerned.
        curves: Vec<String>,
    },
    /// A fitted curve still rises at the longest time tested.
    AsymptoteNotReached {
        /// The curves concerned.
        curves: Vec<String>,
    },
    /// Some stimuli were answered rightly by all or wrongly by all: only a prior makes their
    /// difficulty finite.
    WeakPrior {
        /// Stimuli concerned.
        stimuli: Vec<StimulusId>,
    },
    /// Own discriminations have no finite estimate, so they are drawn together.
    PooledDiscriminations {
        /// Whether their mean needs a prior as well.
        is_centred: bool,
    },
    /// Able participants are more often wrong on some stimuli.
    NegativeDiscrimination {
        /// Stimuli concerned.
        stimuli: Vec<StimulusId>,
    },
    /// Some participants or stimuli have no answer and are left out.
    WithoutAnswers {
        /// Participants without an answer.
        n_participants: usize,
        /// Stimuli without an answer.
        stimuli: Vec<StimulusId>,
    },
    /// Some stimuli do not tell able participants from others, so they have no difficulty.
    DiscriminationTooLow {
        /// Stimuli concerned.
        stimuli: Vec<StimulusId>,
    },
    /// Some stimuli have fewer answers than their model needs to be steady.
    FewAnswersPerStimulus {
        /// Stimuli concerned.
        stimuli: Vec<StimulusId>,
        /// Answers below which this is said.
        n_wanted: usize,
        /// Whether the model is already the steadier one.
        is_1pl: bool,
    },
    /// Answers to some stimuli do not scatter as the model says.
    ItemMisfit {
        /// Stimuli concerned.
        stimuli: Vec<StimulusId>,
    },
    /// Groups of participants share no stimulus.
    UnlinkedParticipants {
        /// Groups.
        n_parts: usize,
    },
    /// Intervals leave out part of the uncertainty.
    ApproximateErrors,
    /// Some evidence about data quality is not in the file.
    NotRecorded {
        /// What is missing.
        what: Vec<String>,
    },
    /// Many participants are flagged.
    ManyFlagged {
        /// Flagged ones.
        n_flagged: usize,
        /// Of how many.
        n_participants: usize,
    },
    /// The order of trials is not in the file.
    TrialOrderAssumed {
        /// Share of trials concerned.
        share: f64,
    },
    /// The two sets have stimuli in common.
    SetsOverlap {
        /// Stimuli in both.
        n_shared: usize,
    },
    /// A set is small.
    FewStimuli {
        /// Stimuli in the smaller set.
        n_stimuli: usize,
    },
    /// Some difficulties have no interval of their own.
    NoOwnIntervals {
        /// Stimuli concerned.
        n_stimuli: usize,
    },
    /// Differences between stimuli of a set are mostly noise of measurement.
    NoisyDifficulties {
        /// The set.
        set: String,
        /// Share of the variance that is noise.
        share: f64,
    },
    /// Two participants only: intervals cannot vary them.
    HoldsForTheseParticipants {
        /// Data sets concerned.
        datasets: Vec<String>,
    },
    /// Some pairs saw partly different stimuli.
    PartlySharedStimuli {
        /// Pairs concerned.
        n_pairs: usize,
    },
    /// Some pairs share too few stimuli.
    PairsNotCompared {
        /// Pairs concerned.
        n_pairs: usize,
        /// Stimuli they should share in a condition.
        n_wanted: usize,
    },
    /// Some pairs share too few stimuli in some conditions.
    PairConditionsNotCompared {
        /// Conditions of pairs concerned.
        n: usize,
        /// Stimuli a pair should share in a condition.
        n_wanted: usize,
    },
    /// There are so many pairs that only some were looked at.
    PairsSampled {
        /// All pairs.
        n_pairs: usize,
        /// Pairs looked at.
        n_used: usize,
    },
    /// Trials of a block or phase called practice or tutorial do not count.
    PracticeSetAside {
        /// Trials concerned.
        n_trials: usize,
    },
    /// In some pairs both are always right, or always wrong.
    NoRoomForKappa {
        /// Pairs concerned.
        n_pairs: usize,
    },
    /// Participant and stimulus effects rest on some of the participants.
    EffectsOfSample {
        /// Data set concerned.
        dataset: String,
        /// Participants used.
        n_participants: usize,
    },
    /// Stimuli differ so much, on so few answers each, that the fit of effects is rough.
    LaplaceIsRough {
        /// Data sets concerned.
        datasets: Vec<String>,
    },
}

impl Caveat {
    /// Returns the stable code, as in files.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooFewTrials { .. } => "too-few-trials",
            Self::NonMonotone { .. } => "non-monotone",
            Self::UnbalancedExposures { .. } => "unbalanced-exposures",
            Self::FewParticipants { .. } => "few-participants",
            Self::ManyExclusions { .. } => "many-exclusions",
            Self::BandsFromSameTrials => "bands-from-same-trials",
            Self::GuessRateAssumed { .. } => "guess-rate-assumed",
            Self::CriterionNearGuessing { .. } => "criterion-near-guessing",
            Self::RepeatedStimuli { .. } => "repeated-stimuli",
            Self::FitNotConverged { .. } => "fit-not-converged",
            Self::ExposuresNotMeasured { .. } => "exposures-not-measured",
            Self::UnevenFrames { .. } => "uneven-frames",
            Self::Simulated => "simulated",
            Self::NotIdentified { .. } => "not-identified",
            Self::StimuliWithoutTrials { .. } => "stimuli-without-trials",
            Self::LongestExposureShort { .. } => "longest-exposure-short",
            Self::SeveralComponents { .. } => "several-components",
            Self::SeparatedJudgements { .. } => "separated-judgements",
            Self::SeveralQuestions { .. } => "several-questions",
            Self::PositionBias { .. } => "position-bias",
            Self::TiesSplit => "ties-split",
            Self::JudgementsResampled => "judgements-resampled",
            Self::PeopleDiffer { .. } => "people-differ",
            Self::JudgesAtChance { .. } => "judges-at-chance",
            Self::LevelsWithoutOrder => "levels-without-order",
            Self::FewDrawings { .. } => "few-drawings",
            Self::NoMajority { .. } => "no-majority",
            Self::DrawingsDisagree { .. } => "drawings-disagree",
            Self::ExamsDiffer { .. } => "exams-differ",
            Self::ObjectsWithoutReference { .. } => "objects-without-reference",
            Self::ManyDrawingsSetAside { .. } => "many-drawings-set-aside",
            Self::TimeOuts { .. } => "time-outs",
            Self::BelowGuessing { .. } => "below-guessing",
            Self::FarFromBeep { .. } => "far-from-beep",
            Self::ResponseTimesMissing { .. } => "response-times-missing",
            Self::CurveAtBound { .. } => "curve-at-bound",
            Self::AsymptoteNotReached { .. } => "asymptote-not-reached",
            Self::WeakPrior { .. } => "weak-prior",
            Self::PooledDiscriminations { .. } => "pooled-discriminations",
            Self::NegativeDiscrimination { .. } => "negative-discrimination",
            Self::WithoutAnswers { .. } => "without-answers",
            Self::DiscriminationTooLow { .. } => "discrimination-too-low",
            Self::FewAnswersPerStimulus { .. } => "few-answers-per-stimulus",
            Self::ItemMisfit { .. } => "item-misfit",
            Self::UnlinkedParticipants { .. } => "unlinked-participants",
            Self::ApproximateErrors => "approximate-errors",
            Self::NotRecorded { .. } => "not-recorded",
            Self::ManyFlagged { .. } => "many-flagged",
            Self::TrialOrderAssumed { .. } => "trial-order-assumed",
            Self::SetsOverlap { .. } => "sets-overlap",
            Self::FewStimuli { .. } => "few-stimuli",
            Self::NoOwnIntervals { .. } => "no-own-intervals",
            Self::NoisyDifficulties { .. } => "noisy-difficulties",
            Self::HoldsForTheseParticipants { .. } => "holds-for-these-participants",
            Self::PartlySharedStimuli { .. } => "partly-shared-stimuli",
            Self::PairsNotCompared { .. } => "pairs-not-compared",
            Self::PairConditionsNotCompared { .. } => "pair-conditions-not-compared",
            Self::PracticeSetAside { .. } => "practice-set-aside",
            Self::PairsSampled { .. } => "pairs-sampled",
            Self::NoRoomForKappa { .. } => "no-room-for-kappa",
            Self::EffectsOfSample { .. } => "effects-of-sample",
            Self::LaplaceIsRough { .. } => "laplace-is-rough",
        }
    }

    /// Returns one sentence for people, with the advice.
    pub fn message(&self) -> String {
        match self {
            Self::TooFewTrials { stimuli, n_wanted } => format!(
                "{} fewer than {n_wanted} trials at some exposure, where the counting rule is close \
                 to a coin flip; look at the model-based threshold instead.",
                stimuli_have(stimuli.len())
            ),
            Self::NonMonotone { stimuli } => format!(
                "{} been recognised at one exposure and not at a longer one; the rules `stays` and \
                 `first` disagree there.",
                stimuli_have(stimuli.len())
            ),
            Self::UnbalancedExposures { stimuli } => format!(
                "{} unequal numbers of trials over exposures; compare `balanced_difficulty`, which \
                 weighs exposures equally, or the model-based threshold.",
                stimuli_have(stimuli.len())
            ),
            Self::FewParticipants { n_participants } => format!(
                "Only {n_participants} participant{}: intervals over participants are rough and \
                 probably too narrow.",
                if *n_participants == 1 { "" } else { "s" }
            ),
            Self::ManyExclusions { share } => {
                format!("{:.0} % of the trials were set aside; see the exclusions.", share * 100.0)
            }
            Self::BandsFromSameTrials => "Bands are made from the same trials that are shown by \
                                          band, so differences between bands look larger than \
                                          they would on fresh trials."
                .into(),
            Self::GuessRateAssumed { guess_rate, n_labels } if 2 <= *n_labels => format!(
                "The guess rate was not given; {guess_rate:.3} is used, one over the {n_labels} \
                 labels seen."
            ),
            Self::GuessRateAssumed { guess_rate, .. } => format!(
                "Nothing says how many answers there were to choose from; a guess rate of \
                 {guess_rate:.2} is a placeholder. Give the real one with --guess-rate."
            ),
            Self::CriterionNearGuessing { criterion, guess_rate, model_criterion } => format!(
                "Guessing is right {:.0} % of the time, so a criterion of {:.0} % hardly tells \
                 recognition from guessing; thresholds are given for {:.0} % instead.",
                guess_rate * 100.0,
                criterion * 100.0,
                model_criterion * 100.0
            ),
            Self::RepeatedStimuli { n_trials } => format!(
                "{n_trials} trials show a participant a stimulus seen before, and count; set \
                 `repeated_stimuli = true` under [exclusions] to count first showings only."
            ),
            Self::FitNotConverged { n_rounds } => {
                format!("The model-based fit had not settled after {n_rounds} rounds.")
            }
            Self::ExposuresNotMeasured { share } => format!(
                "{:.0} % of the trials have no record of what the screen really showed; planned \
                 exposures are taken at their word.",
                share * 100.0
            ),
            Self::UnevenFrames { share } => {
                format!("{:.1} % of the trials were not shown for the time planned.", share * 100.0)
            }
            Self::Simulated => "These are simulated people, not people.".into(),
            Self::NotIdentified { what } => format!("The data cannot tell {what}."),
            Self::StimuliWithoutTrials { n_stimuli } => {
                format!("{} no trials and no score.", stimuli_have(*n_stimuli))
            }
            Self::LongestExposureShort { longest } => format!(
                "The longest exposure was {longest}; stimuli that need longer cannot be told \
                 from stimuli nobody ever recognises."
            ),
            Self::SeveralComponents { n_components } => format!(
                "The comparisons fall into {n_components} groups that no comparison joins: \
                 difficulties count from the mean of their own group and are never compared \
                 between groups; pairs across groups would join them."
            ),
            Self::SeparatedJudgements { stimuli, only_won, only_lost, n_components, prior_sd } => {
                format!(
                    "{} to {n_components} group{} in which some only won or only lost against the \
                 others{}, so that the data set no limit to the distance; a prior with a standard \
                 deviation of {prior_sd} does. Trust the order more than the distances, or collect \
                 more judgements of these pairs.",
                    if stimuli.len() == 1 {
                        "1 stimulus belongs".to_owned()
                    } else {
                        format!("{} stimuli belong", stimuli.len())
                    },
                    if *n_components == 1 { "" } else { "s" },
                    separated(only_won, only_lost)
                )
            }
            Self::SeveralQuestions { n_questions } => format!(
                "Judgements of {n_questions} questions were put together; give one with \
                 --question to keep them apart."
            ),
            Self::PositionBias { left_log_odds } => format!(
                "The {} side is favoured by {:.2} log-odds; with sides balanced at random this \
                 adds noise only, otherwise use --account-for-position.",
                if 0.0 < *left_log_odds { "left" } else { "right" },
                left_log_odds.abs()
            ),
            Self::TiesSplit => "There are too few answers beside ties to say how readily people \
                                call a pair equal; ties count half for each."
                .into(),
            Self::JudgementsResampled => "Only one participant is named, so the bootstrap draws \
                                          single judgements; its intervals do not cover how \
                                          people differ."
                .into(),
            Self::PeopleDiffer { ratio } => format!(
                "Intervals over people are {ratio:.1} times as wide as those that take judgements \
                 for independent: people differ, so read the intervals of the bootstrap."
            ),
            Self::JudgesAtChance { n_participants } => format!(
                "The judgements of {n_participants} participant{} agree with everybody else's no \
                 better than a coin; look at the table of participants.",
                if *n_participants == 1 { "" } else { "s" }
            ),
            Self::LevelsWithoutOrder => {
                "Stimuli have levels, but nothing says in which order; give \
                                         it with --levels, from easiest to hardest."
                    .into()
            }
            Self::FewDrawings { stimuli, n_wanted } => format!(
                "{} been outlined by fewer than {n_wanted} people: of two drawings the vote is what \
                 both mark, and one drawing has nothing to agree with; ask for three or more, best \
                 an odd number.",
                stimuli_have(stimuli.len())
            ),
            Self::NoMajority { stimuli } => format!(
                "{} no pixel that most people marked, so no voted object; look at the drawings, \
                 people may have outlined different things.",
                stimuli_have(stimuli.len())
            ),
            Self::DrawingsDisagree { stimuli, below } => format!(
                "{} drawings that overlap by less than {:.0} % on average; look at them before \
                 you use their votes.",
                stimuli_have(stimuli.len()),
                below * 100.0
            ),
            Self::ExamsDiffer { n_participants } => format!(
                "{n_participants} participant{} drew only part of the exam; passing means less for \
                 them.",
                if *n_participants == 1 { "" } else { "s" }
            ),
            Self::ObjectsWithoutReference { n_objects } => format!(
                "{n_objects} object{} no reference, so what is said about references leaves them \
                 out.",
                if *n_objects == 1 { " has" } else { "s have" }
            ),
            Self::ManyDrawingsSetAside { share } => {
                format!("{:.0} % of the drawings were set aside; see by which rule.", share * 100.0)
            }
            Self::TimeOuts { share, are_errors: true } => format!(
                "{:.0} % of the trials counted got no answer and count as errors; where people were \
                 too slow rather than wrong, accuracy looks worse than it is. \
                 `--time-outs excluded` sets them aside.",
                share * 100.0
            ),
            Self::TimeOuts { share, are_errors: false } => format!(
                "{:.0} % of the trials that would count got no answer and are set aside; where people passed \
                 over what they did not know, accuracy looks better than it is. \
                 `--time-outs errors` counts them.",
                share * 100.0
            ),
            Self::BelowGuessing { beeps, guess_rate } => format!(
                "At {} accuracy lies below the {:.1} % that guessing gives, as it does when \
                 time-outs count as errors.",
                listed(beeps.iter().map(ToString::to_string)),
                guess_rate * 100.0
            ),
            Self::FarFromBeep { n_participants, n_all, is_set_aside } => format!(
                "{n_participants} of {n_all} participants gave more than half of their answers \
                 more than 100 ms from the beep, or not at all, and {}.",
                if *is_set_aside {
                    "are set aside; in a study whose beep is a deadline, `--window published-code` \
                     keeps them"
                } else {
                    "count; `--window paper` sets them aside"
                }
            ),
            Self::ResponseTimesMissing { share } => format!(
                "{:.0} % of the answers have no response time; the window cannot judge them, and a \
                 block without any is placed at its beep.",
                share * 100.0
            ),
            Self::CurveAtBound { curves } => format!(
                "The fit for {} ended at the bound of what is searched: the blocks do not say \
                 where the rise lies or how sudden it is. More blocks around the rise would.",
                listed(curves.iter().cloned())
            ),
            Self::AsymptoteNotReached { curves } => format!(
                "For {} accuracy still rises at the longest time tested, so the asymptote is a \
                 guess beyond the data; a longer beep would show it.",
                listed(curves.iter().cloned())
            ),
            Self::WeakPrior { stimuli } => format!(
                "{} answered rightly by all or wrongly by all, so only a weak prior keeps the \
                 difficulty finite (intercept: that of the others ± 3; discrimination: the typical \
                 one). It is extreme for certain; how extreme, the answers do not say. The other \
                 stimuli are fitted without it.",
                if stimuli.len() == 1 {
                    "1 stimulus was".into()
                } else {
                    format!("{} stimuli were", stimuli.len())
                }
            ),
            Self::PooledDiscriminations { is_centred } => format!(
                "Without a prior some discriminations would be infinite, so all are drawn towards \
                 their mean (± 30 %){}. The two models are not compared. Prefer the 1PL \
                 model unless you need discriminations.",
                if *is_centred { ", and the mean towards 1 ± 1" } else { "" }
            ),
            Self::NegativeDiscrimination { stimuli } => format!(
                "{} a negative discrimination and therefore no difficulty: able participants are \
                 more often wrong. Look for a wrong or reversed label.",
                stimuli_have(stimuli.len())
            ),
            Self::WithoutAnswers { n_participants, stimuli } => {
                let counted = |n: usize, one: &str, many: &str| {
                    (0 < n).then(|| format!("{n} {}", if n == 1 { one } else { many }))
                };
                let left_out = [
                    counted(*n_participants, "participant", "participants"),
                    counted(stimuli.len(), "stimulus", "stimuli"),
                ];
                let left_out: Vec<String> = left_out.into_iter().flatten().collect();
                format!("Left out for want of any answer: {}.", left_out.join(" and "))
            }
            Self::DiscriminationTooLow { stimuli } => format!(
                "{} a discrimination near 0 (below 0.1) and therefore no difficulty: able participants are \
                 hardly more often right. Look for a wrong label or an ambiguous picture.",
                stimuli_have(stimuli.len())
            ),
            Self::FewAnswersPerStimulus { stimuli, n_wanted, is_1pl } => format!(
                "{} fewer than {n_wanted} answers, where this model's estimates are unsteady; {}.",
                stimuli_have(stimuli.len()),
                if *is_1pl {
                    "trust the intervals, not the values alone"
                } else {
                    "trust the intervals, and prefer the 1PL model"
                }
            ),
            Self::ItemMisfit { stimuli } => format!(
                "{} answers that scatter more or less than the model says (infit); look at these \
                 stimuli before you trust their difficulty.",
                stimuli_have(stimuli.len())
            ),
            Self::UnlinkedParticipants { n_parts } => format!(
                "Participants fall into {n_parts} groups without a stimulus in common. Difficulties \
                 are comparable across groups only if the groups are equally able."
            ),
            Self::ApproximateErrors => "Intervals of difficulty and discrimination are made for \
                                        each stimulus as if the others were known; they are \
                                        somewhat too narrow."
                .into(),
            Self::NotRecorded { what } => {
                format!("Not recorded, and therefore not judged: {}.", what.join(", "))
            }
            Self::ManyFlagged { n_flagged, n_participants } => format!(
                "{n_flagged} of {n_participants} participants are flagged; when that many are, \
                 suspect the task or the file before the people."
            ),
            Self::TrialOrderAssumed { share } => format!(
                "{:.0} % of the trials have neither position nor onset; streaks are counted in the \
                 order of their ids.",
                share * 100.0
            ),
            Self::SetsOverlap { n_shared } => format!(
                "The two sets have {n_shared} stimuli in common. The tests take the sets to be \
                 independent; for the shared stimuli look at the paired difference."
            ),
            Self::FewStimuli { n_stimuli } => format!(
                "A set has only {n_stimuli} stimuli; intervals over stimuli are rough and probably \
                 too narrow."
            ),
            Self::NoOwnIntervals { n_stimuli } => format!(
                "{} no interval, so the noise of their measurement is unknown and taken as 0.",
                stimuli_have(*n_stimuli)
            ),
            Self::NoisyDifficulties { set, share } => format!(
                "{:.0} % of the differences between stimuli within `{set}` is noise of measurement, \
                 which blurs the distributions: the sets are further apart than they look.",
                share * 100.0
            ),
            Self::HoldsForTheseParticipants { datasets } => format!(
                "Two participants only ({}): intervals of their agreement hold for other stimuli, \
                 not for other people.",
                datasets.join(", ")
            ),
            Self::PartlySharedStimuli { n_pairs } => format!(
                "{} partly different stimuli and {} compared on those both saw.",
                if *n_pairs == 1 { "1 pair saw".into() } else { format!("{n_pairs} pairs saw") },
                if *n_pairs == 1 { "is" } else { "are" }
            ),
            Self::PairsNotCompared { n_pairs, n_wanted } => format!(
                "{} fewer than {n_wanted} stimuli in every condition and {} not compared.",
                if *n_pairs == 1 {
                    "1 pair shares".into()
                } else {
                    format!("{n_pairs} pairs share")
                },
                if *n_pairs == 1 { "is" } else { "are" }
            ),
            Self::PairConditionsNotCompared { n, n_wanted } => format!(
                "{n} time{} two people share fewer than {n_wanted} stimuli in a condition and are \
                 compared in other conditions only.",
                if *n == 1 { "" } else { "s" }
            ),
            Self::PracticeSetAside { n_trials } => format!(
                "{n_trials} practice trial{} set aside.",
                if *n_trials == 1 { " is" } else { "s are" }
            ),
            Self::PairsSampled { n_pairs, n_used } => format!(
                "There are {n_pairs} pairs; {n_used} of them, drawn at random, were compared."
            ),
            Self::NoRoomForKappa { n_pairs } => format!(
                "In {n_pairs} pair{} both were always right, or always wrong, in some condition; \
                 error consistency is 1 there by convention, says nothing, and raises the means it \
                 is part of.",
                if *n_pairs == 1 { "" } else { "s" }
            ),
            Self::EffectsOfSample { dataset, n_participants } => format!(
                "Participant and stimulus effects of `{dataset}` rest on {n_participants} \
                 participants drawn at random."
            ),
            Self::LaplaceIsRough { datasets } => format!(
                "Few answers per stimulus, most of them alike ({}): the spread of stimuli is \
                 probably too large there, and the intervals of both spreads too narrow.",
                datasets.join(", ")
            ),
        }
    }

    /// Returns the stimuli concerned, empty when it is about the whole.
    pub fn stimuli(&self) -> &[StimulusId] {
        match self {
            Self::TooFewTrials { stimuli, .. }
            | Self::NonMonotone { stimuli }
            | Self::UnbalancedExposures { stimuli }
            | Self::SeparatedJudgements { stimuli, .. }
            | Self::FewDrawings { stimuli, .. }
            | Self::NoMajority { stimuli }
            | Self::DrawingsDisagree { stimuli, .. }
            | Self::WeakPrior { stimuli }
            | Self::NegativeDiscrimination { stimuli }
            | Self::WithoutAnswers { stimuli, .. }
            | Self::DiscriminationTooLow { stimuli }
            | Self::FewAnswersPerStimulus { stimuli, .. }
            | Self::ItemMisfit { stimuli } => stimuli,
            _ => &[],
        }
    }
}

/// Names of stimuli listed before the rest is only counted.
const MOST_NAMED: usize = 3;

/// Returns which stimuli only won and which only lost, in brackets; nothing where only groups did.
fn separated(only_won: &[StimulusId], only_lost: &[StimulusId]) -> String {
    let part = |what: &str, stimuli: &[StimulusId]| {
        let named = stimuli.iter().take(MOST_NAMED).map(|id| format!("`{id}`"));
        let more = stimuli.len().saturating_sub(MOST_NAMED);
        let rest = (0 < more).then(|| format!("{more} more"));
        let names: Vec<String> = named.chain(rest).collect();
        (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
    };
    let parts: Vec<String> = part("always harder", only_won)
        .into_iter()
        .chain(part("never harder", only_lost))
        .collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
}

fn stimuli_have(n: usize) -> String {
    if n == 1 { "1 stimulus has".into() } else { format!("{n} stimuli have") }
}

fn listed(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

/// Caveats collected while computing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Caveats(Vec<Caveat>);

impl Caveats {
    /// Adds a caveat, unless it is there already.
    pub fn add(&mut self, caveat: Caveat) {
        if !self.0.contains(&caveat) {
            self.0.push(caveat);
        }
    }

    /// Returns the caveats in the order they came up.
    pub fn iter(&self) -> impl Iterator<Item = &Caveat> {
        self.0.iter()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
