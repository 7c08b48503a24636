//! Caveats: reasons to trust a number less, with the evidence inside.
//!
//! Doubt about data is data: measures collect caveats, reports print them beside the number they
//! weaken. They are not log lines and not errors. Their sentences stand in `message.rs`.

mod message;

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
    /// Predictions are about stimuli that the table of stimuli does not have.
    UnknownStimuli {
        /// Stimuli concerned.
        n_stimuli: usize,
        /// Stimuli that models were shown.
        n_all: usize,
    },
    /// Some stimuli that models were shown have no difficulty.
    StimuliWithoutDifficulty {
        /// Stimuli concerned.
        n_stimuli: usize,
        /// Stimuli that models were shown.
        n_all: usize,
    },
    /// Some stimuli have a difficulty, but their file puts them in no band.
    StimuliWithoutBand {
        /// Stimuli concerned.
        n_stimuli: usize,
        /// Stimuli that models were shown.
        n_all: usize,
    },
    /// Some difficulties are of stimuli that no model was shown.
    DifficultiesUnused {
        /// Stimuli concerned.
        n_stimuli: usize,
    },
    /// Some rows have no answer.
    FailedPredictions {
        /// Rows concerned.
        n_predictions: usize,
        /// Rows in all.
        n_all: usize,
    },
    /// Nothing says whether some answers are right.
    UnjudgedPredictions {
        /// Rows concerned.
        n_predictions: usize,
        /// Rows in all.
        n_all: usize,
    },
    /// Predictions cover several probes or settings, and findings rest on one of them.
    PartOfPredictions {
        /// Which, in words.
        which: String,
        /// Rows used.
        n_predictions: usize,
        /// Rows in all.
        n_all: usize,
    },
    /// Some models have no row at all for some stimuli, so that models are held against each other
    /// on different ones.
    ModelsSawOthers {
        /// Models with fewer rows than there are stimuli, each with its rows.
        models: Vec<(String, usize)>,
        /// Stimuli in all.
        n_all: usize,
    },
    /// Some bands have few stimuli.
    FewInBand {
        /// The bands.
        bands: Vec<String>,
        /// Stimuli below which this is said.
        n_wanted: usize,
    },
    /// Few classes: intervals that draw classes are rough.
    FewClasses {
        /// How many there are.
        n_classes: usize,
    },
    /// There were too few questions for strata as fine as they could be.
    CoarseStrata {
        /// By what stimuli were put together instead.
        by: String,
    },
    /// A model that answers in words named no class, or refused.
    AnswersWithoutClass {
        /// Answers that name no class.
        n_unmatched: usize,
        /// Refusals.
        n_refused: usize,
        /// Stimuli that were asked.
        n_all: usize,
        /// Whether they count as wrong; else they are left out.
        are_wrong: bool,
    },
    /// An estimate is known to be off on average.
    BiasedEstimator {
        /// The estimator.
        estimator: String,
    },
    /// The budget was spent before an interval was as narrow as wanted.
    WidthNotReached {
        /// The width wanted.
        wanted: f64,
        /// The width there is.
        found: f64,
    },
    /// Stimuli come from more than two data sets, so there is no one gap.
    SeveralDatasets {
        /// Their names.
        datasets: Vec<String>,
    },
    /// Some pairs of models hardly ever differ.
    FewDiscordant {
        /// Pairs concerned.
        n_pairs: usize,
        /// Stimuli with one right and one wrong below which this is said.
        n_wanted: usize,
    },
    /// Epochs of one training depend on each other.
    EpochsDepend,
    /// Some answers have no confidence.
    ConfidenceMissing {
        /// Models concerned.
        models: Vec<String>,
    },
    /// Nothing says how hard the stimuli are.
    NoDifficulty,
    /// Some attacks have no outcome.
    FailedAttacks {
        /// Rows concerned.
        n_rows: usize,
        /// Rows in all.
        n_all: usize,
    },
    /// Some attacks leave more than half of the stimuli as they are.
    ManySurvived {
        /// Models and attacks concerned.
        attacks: Vec<String>,
    },
    /// Attacks were tried up to different ε.
    HorizonsDiffer {
        /// The smallest.
        smallest: f64,
        /// The largest.
        largest: f64,
        /// The one that restricted means end at.
        used: f64,
        /// Attacks that went no further than that, while others did.
        #[serde(default)]
        cut_by: Vec<String>,
    },
    /// ε is the length of a step for some attacks and the whole change for others.
    StepLengths {
        /// Attacks whose ε is the length of a step.
        attacks: Vec<String>,
    },
    /// Some examples are of models, stimuli or attacks that no row is about.
    ForeignExamples {
        /// Examples concerned.
        n_examples: usize,
        /// Examples in all.
        n_all: usize,
    },
    /// Some bands have few stimuli that could be attacked.
    FewAttacked {
        /// The bands.
        bands: Vec<String>,
        /// Stimuli below which this is said.
        n_wanted: usize,
    },
    /// Some numbers come from the fast search, and nothing says how often it errs.
    FastNotAudited {
        /// Rows concerned.
        n_rows: usize,
        /// Rows in all.
        n_all: usize,
    },
    /// The gradients of some models may not tell how robust they are.
    MaskedGradients {
        /// Models concerned.
        models: Vec<String>,
    },
    /// Rows about the same model and stimulus disagree on the answer before any attack.
    CleanAnswersDiffer {
        /// Pairs of model and stimulus concerned.
        n_pairs: usize,
    },
    /// Some stimuli stand beside the ladder.
    StimuliWithoutLevel {
        /// Stimuli concerned.
        n_stimuli: usize,
        /// Stimuli in all.
        n_all: usize,
    },
    /// The order of levels names some that no stimulus has.
    LevelsWithoutStimuli {
        /// The levels.
        levels: Vec<String>,
    },
    /// Stimuli of some levels were shown to no model.
    LevelsNotShown {
        /// The levels.
        levels: Vec<String>,
    },
    /// Some levels stand for several that tie.
    LevelsTied {
        /// The levels.
        levels: Vec<String>,
    },
    /// Some cells of a ladder lack a level.
    IncompleteCells {
        /// Cells concerned.
        n_cells: usize,
        /// Cells in all.
        n_all: usize,
    },
    /// Some cells of a ladder have one stimulus at each level.
    SingleChains {
        /// Cells concerned.
        n_cells: usize,
        /// Complete cells in all.
        n_all: usize,
    },
    /// Too few models to correlate anything over them.
    FewModels {
        /// How many there are.
        n_models: usize,
        /// Models below which this is said.
        n_wanted: usize,
    },
    /// Some models do clearly better at a level than at the one before it.
    LevelsNotHarder {
        /// Models concerned.
        models: Vec<String>,
    },
    /// No group of stimuli that people compared has two levels.
    LevelsNotJudged,
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
            Self::UnknownStimuli { .. } => "unknown-stimuli",
            Self::StimuliWithoutDifficulty { .. } => "stimuli-without-difficulty",
            Self::StimuliWithoutBand { .. } => "stimuli-without-band",
            Self::DifficultiesUnused { .. } => "difficulties-unused",
            Self::FailedPredictions { .. } => "failed-predictions",
            Self::UnjudgedPredictions { .. } => "unjudged-predictions",
            Self::PartOfPredictions { .. } => "part-of-predictions",
            Self::ModelsSawOthers { .. } => "models-saw-others",
            Self::FewInBand { .. } => "few-in-band",
            Self::FewClasses { .. } => "few-classes",
            Self::SeveralDatasets { .. } => "several-datasets",
            Self::FewDiscordant { .. } => "few-discordant",
            Self::EpochsDepend => "epochs-depend",
            Self::ConfidenceMissing { .. } => "confidence-missing",
            Self::NoDifficulty => "no-difficulty",
            Self::FailedAttacks { .. } => "failed-attacks",
            Self::ManySurvived { .. } => "many-survived",
            Self::HorizonsDiffer { .. } => "horizons-differ",
            Self::StepLengths { .. } => "step-lengths",
            Self::ForeignExamples { .. } => "foreign-examples",
            Self::FewAttacked { .. } => "few-attacked",
            Self::FastNotAudited { .. } => "fast-not-audited",
            Self::MaskedGradients { .. } => "masked-gradients",
            Self::CleanAnswersDiffer { .. } => "clean-answers-differ",
            Self::StimuliWithoutLevel { .. } => "stimuli-without-level",
            Self::LevelsWithoutStimuli { .. } => "levels-without-stimuli",
            Self::LevelsNotShown { .. } => "levels-not-shown",
            Self::LevelsTied { .. } => "levels-tied",
            Self::IncompleteCells { .. } => "incomplete-cells",
            Self::SingleChains { .. } => "single-chains",
            Self::FewModels { .. } => "few-models",
            Self::LevelsNotHarder { .. } => "levels-not-harder",
            Self::LevelsNotJudged => "levels-not-judged",
            Self::CoarseStrata { .. } => "coarse-strata",
            Self::AnswersWithoutClass { .. } => "answers-without-class",
            Self::BiasedEstimator { .. } => "biased-estimator",
            Self::WidthNotReached { .. } => "width-not-reached",
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
