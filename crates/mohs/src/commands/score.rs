//! `mohs score`: difficulty and other findings from what people and models did. One measure, one file in
//! `score/`; reading and writing are shared.

mod agreement;
pub(crate) mod attacks;
mod compare;
mod input;
mod item_response;
mod label_counts;
mod ladder;
mod learning_speed;
mod masks;
mod models;
mod output;
mod pairs;
mod quality;
mod speed_accuracy;
mod viewing_time;

use clap::Subcommand;
use mohs_data::Trial;

pub(crate) use input::parse_mapping;
pub(crate) use output::{Files, OutputArgs, finish, write};
pub(crate) use viewing_time::{exposures_in_words, score};

use crate::error::CliError;
use crate::ui::Ui;

/// Compute difficulty and other findings from what people and models did
#[derive(Debug, clap::Args)]
pub(crate) struct ScoreArgs {
    #[command(subcommand)]
    measure: Measure,
}

#[derive(Debug, Subcommand)]
enum Measure {
    ViewingTime(viewing_time::ViewingTimeArgs),
    SpeedAccuracy(speed_accuracy::SpeedAccuracyArgs),
    Pairs(pairs::PairsArgs),
    ItemResponse(item_response::ItemResponseArgs),
    LabelCounts(label_counts::LabelCountsArgs),
    Agreement(agreement::AgreementArgs),
    Masks(masks::MasksArgs),
    Quality(quality::QualityArgs),
    LearningSpeed(learning_speed::LearningSpeedArgs),
    Compare(compare::CompareArgs),
    Models(models::ModelsArgs),
    Ladder(ladder::LadderArgs),
    Attacks(attacks::AttacksArgs),
}

pub(crate) fn run(args: &ScoreArgs, ui: &Ui) -> Result<(), CliError> {
    match &args.measure {
        Measure::ViewingTime(args) => viewing_time::run(args, ui),
        Measure::SpeedAccuracy(args) => speed_accuracy::run(args, ui),
        Measure::Pairs(args) => pairs::run(args, ui),
        Measure::ItemResponse(args) => item_response::run(args, ui),
        Measure::LabelCounts(args) => label_counts::run(args, ui),
        Measure::Agreement(args) => agreement::run(args, ui),
        Measure::Masks(args) => masks::run(args, ui),
        Measure::Quality(args) => quality::run(args, ui),
        Measure::LearningSpeed(args) => learning_speed::run(args, ui),
        Measure::Compare(args) => compare::run(args, ui),
        Measure::Models(args) => models::run(args, ui),
        Measure::Ladder(args) => ladder::run(args, ui),
        Measure::Attacks(args) => attacks::run(args, ui),
    }
}

/// The extra column that tells simulated trials from real ones.
pub(crate) const SOURCE: &str = "source";
/// What it says of simulated trials.
pub(crate) const SIMULATED: &str = "simulated";

/// Returns whether some of the trials come from simulated people.
fn is_simulated(trials: &[Trial]) -> bool {
    trials.iter().any(|trial| trial.extra.get(SOURCE) == Some(SIMULATED))
}
