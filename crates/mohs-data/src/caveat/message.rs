//! Caveats in sentences: what weakens a number, and what to do about it.
//!
//! Nothing is decided here; `caveat.rs` has the reasons and their evidence.

use super::Caveat;
use crate::StimulusId;

impl Caveat {
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
            Self::CoarseStrata { by } => format!(
                "Two questions of every class, attribute and level would be more than the budget, or \
                 the width that is wanted, takes, so stimuli are drawn by {by} alone; estimates stay \
                 unbiased, intervals get wider."
            ),
            Self::AnswersWithoutClass { n_unmatched, n_refused, n_all, are_wrong } => format!(
                "Of {n_all} answers, {n_unmatched} name no class and {n_refused} are refusals; they {}.",
                if *are_wrong { "count as wrong" } else { "are left out" }
            ),
            Self::BiasedEstimator { estimator } => format!(
                "The estimator `{estimator}` is off on average and its intervals do not hold what \
                 they promise; it is here to be compared with."
            ),
            Self::WidthNotReached { wanted, found } => format!(
                "The interval is {:.1} points wide, {:.1} were wanted. A larger budget or better \
                 references would narrow it.",
                found * 100.0,
                wanted * 100.0
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
            Self::UnknownStimuli { n_stimuli, n_all } => format!(
                "Predictions about {n_stimuli} of {n_all} stimuli have no row in the table of \
                 stimuli; they count, but without data set, attribute and level."
            ),
            Self::StimuliWithoutDifficulty { n_stimuli, n_all } => format!(
                "{n_stimuli} of the {n_all} stimuli that models were shown have no difficulty; they \
                 count in the whole and stand in no band."
            ),
            Self::StimuliWithoutBand { n_stimuli, n_all } => format!(
                "{n_stimuli} of the {n_all} stimuli that models were shown have a difficulty but no \
                 band; they count in the whole only."
            ),
            Self::DifficultiesUnused { n_stimuli } => format!(
                "{} a difficulty, but no model was shown {}.",
                stimuli_have(*n_stimuli),
                if *n_stimuli == 1 { "it" } else { "them" }
            ),
            Self::FailedPredictions { n_predictions, n_all } => format!(
                "{n_predictions} of {n_all} predictions failed. They are counted and not averaged; \
                 if hard stimuli fail more often, accuracy looks better than it is."
            ),
            Self::UnjudgedPredictions { n_predictions, n_all } => format!(
                "Nothing says whether {n_predictions} of {n_all} predictions are right: give the \
                 stimuli with their labels, or a column `label` or `correct`."
            ),
            Self::PartOfPredictions { which, n_predictions, n_all } => format!(
                "Models saw stimuli more than once. Findings rest on {which}: {n_predictions} of \
                 {n_all} predictions; the others stand in the tables by probe and condition."
            ),
            Self::ModelsSawOthers { models, n_all } => format!(
                "Models are compared on different stimuli: of {n_all}, there are rows of {}. What is \
                 missing may be what a model gets wrong; run each on all of them.",
                models
                    .iter()
                    .map(|(model, n)| format!("`{model}` for {n}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            Self::FewInBand { bands, n_wanted } => format!(
                "Fewer than {n_wanted} stimuli in {}; the intervals there are wide for good reason.",
                bands.iter().map(|band| format!("`{band}`")).collect::<Vec<_>>().join(", ")
            ),
            Self::FewClasses { n_classes } => {
                format!("Only {n_classes} classes: intervals that draw classes are rough.")
            }
            Self::SeveralDatasets { datasets } => format!(
                "Stimuli come from {} data sets ({}); say which two to compare to see the gap \
                 between them.",
                datasets.len(),
                datasets.join(", ")
            ),
            Self::FewDiscordant { n_pairs, n_wanted } => format!(
                "{} on fewer than {n_wanted} stimuli; so few can hardly show which model is better.",
                if *n_pairs == 1 {
                    "1 pair of models differs".into()
                } else {
                    format!("{n_pairs} pairs of models differ")
                }
            ),
            Self::EpochsDepend => "Epochs of one training depend on each other, and one training \
                                   is one draw: how early a stimulus is learned holds for this run."
                .into(),
            Self::ConfidenceMissing { models } => format!(
                "Some answers of {} have no confidence and do not count in calibration.",
                models.join(", ")
            ),
            Self::NoDifficulty => "Nothing says how hard the stimuli are for people: there are no \
                                   bands and no trend. Give the difficulties to see them."
                .into(),
            Self::FailedAttacks { n_rows, n_all } => format!(
                "{n_rows} of {n_all} attacks failed. They are counted and not averaged; if hard \
                 stimuli fail more often, means are off."
            ),
            Self::ManySurvived { attacks } => format!(
                "More than half of the stimuli survive {}: the restricted mean there is mostly the \
                 largest ε that was tried, and the mean among the fooled is that of the weakest.",
                named_or_counted(attacks, "attacks")
            ),
            Self::HorizonsDiffer { smallest, largest, used, cut_by } => {
                let cut = match cut_by.is_empty() {
                    true => String::new(),
                    false => format!(
                        ": {} went no further, and what is fooled only beyond it counts as \
                         survived",
                        named_or_counted(cut_by, "attacks")
                    ),
                };
                let short = match smallest < used {
                    true => " Survivors that were tried less far count up to where they were.",
                    false => "",
                };
                format!(
                    "Attacks were tried up to different ε, from {smallest} to {largest}. \
                     Restricted means and areas end at {used}, up to which all can be \
                     compared{cut}.{short}"
                )
            }
            Self::StepLengths { attacks } => format!(
                "ε is the length of a step for {}, and the whole change may be several times as \
                 large; for the other attacks beside it, ε is the whole change. They cannot be held \
                 against each other.",
                named_or_counted(attacks, "attacks")
            ),
            Self::ForeignExamples { n_examples, n_all } => format!(
                "{n_examples} of {n_all} examples are of a model, stimulus or attack that no row is \
                 about; they are not shown."
            ),
            Self::FewAttacked { bands, n_wanted } => format!(
                "Fewer than {n_wanted} stimuli that a model gets right in {}; the intervals there \
                 are wide for good reason.",
                bands.iter().map(|band| format!("`{band}`")).collect::<Vec<_>>().join(", ")
            ),
            Self::FastNotAudited { n_rows, n_all } => format!(
                "{n_rows} of {n_all} rows come from the fast search and none of their attack's was \
                 audited: how often it misses a smaller ε is not known."
            ),
            Self::MaskedGradients { models } => format!(
                "The gradients of {} may be masked: attacks that follow them say less than they \
                 seem to.",
                named_or_counted(models, "models")
            ),
            Self::CleanAnswersDiffer { n_pairs } => format!(
                "Rows disagree on the answer before any attack, for {n_pairs} {} of model and \
                 stimulus; the first row counts.",
                if *n_pairs == 1 { "pair" } else { "pairs" }
            ),
            Self::StimuliWithoutLevel { n_stimuli, n_all } => format!(
                "{n_stimuli} of the {n_all} stimuli that models were shown have no level; they stand \
                 beside the ladder and count nowhere in it."
            ),
            Self::LevelsWithoutStimuli { levels } => format!(
                "No stimulus has the level {}: the ladder is made of the others.",
                listed(levels.iter().map(|level| format!("`{level}`")))
            ),
            Self::LevelsNotShown { levels } => format!(
                "No model was asked about a stimulus of the level {}, so there are no chains and no \
                 weighted score; name the other levels alone to leave it out.",
                listed(levels.iter().map(|level| format!("`{level}`")))
            ),
            Self::LevelsTied { levels } => format!(
                "Tags that tie were put together into one level: {}.",
                listed(levels.iter().map(|level| format!("`{level}`")))
            ),
            Self::IncompleteCells { n_cells, n_all } => format!(
                "{n_cells} of {n_all} cells lack a level. No chain can be made there: they count in \
                 accuracies and weighted scores, and not in patterns and hierarchical learning scores."
            ),
            Self::SingleChains { n_cells, n_all } => format!(
                "{n_cells} of {n_all} cells have one stimulus at each level, so a single chain decides \
                 about each; their mean is right on average, a single cell says next to nothing."
            ),
            Self::FewModels { n_models, n_wanted } => format!(
                "{n_models} {} too few to say whether accuracy and hierarchical learning go together; \
                 that takes at least {n_wanted}.",
                if *n_models == 1 { "model is" } else { "models are" }
            ),
            Self::LevelsNotHarder { models } => format!(
                "{} clearly better at a level than at the easier one before it: the levels are not in \
                 the order of difficulty for {}.",
                match models.as_slice() {
                    [only] => format!("{only} does"),
                    many => format!("{} do", named_or_counted(many, "models")),
                },
                if models.len() == 1 { "it" } else { "them" }
            ),
            Self::LevelsNotJudged => "People compared no two stimuli of different levels that a chain \
                                      of comparisons joins, so nothing can be said about the levels."
                .into(),
        }
    }
}

/// Names a few, and counts them where they are many.
fn named_or_counted(names: &[String], noun: &str) -> String {
    if names.len() <= MOST_NAMED {
        return names.join(", ");
    }
    let rest = names.len() - MOST_NAMED;
    format!("{} {noun} ({}, and {rest} more)", names.len(), names[..MOST_NAMED].join(", "))
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
