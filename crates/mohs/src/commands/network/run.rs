//! `mohs network run`: what a model says about pictures, as predictions.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use mohs_data::format::{ReadOptions, TableWriter, folder_of_stimuli, read_stimuli};
use mohs_data::{
    Aggregate, AnswerEntry, ClassesEntry, Extra, FailureReason, ModelName, Outcome, Prediction,
    Stimulus,
};
use mohs_score::proportion;
use mohs_vision::input::{self, Channels, InputSpec};
use mohs_vision::labels::{Labels, Strangers, Wanted};
use mohs_vision::network::Network;
use mohs_vision::pixels::{self, PixelsError};
use mohs_vision::run::{self as feeding, Feed, Part};

use crate::commands::import::{check_output, check_overwrites_none};
use crate::commands::score::parse_mapping;
use crate::engine_args::EngineArgs;
use crate::error::CliError;
use crate::ui::Ui;

/// Run a model on pictures, and count how often it is right
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs network run resnet50.onnx --stimuli photos/ --size 224 --classes imagenet.txt
  mohs network run cifar.onnx --stimuli stimuli.csv --output predictions.csv
  mohs network run caffe.onnx --stimuli photos/ --scale 255 --channels bgr \\
                   --mean 104,117,123 --sd 1,1,1 --classes imagenet.txt

The mean and spread are those of ImageNet unless you say otherwise; a model trained with others
gives wrong answers without complaint.")]
pub(crate) struct RunArgs {
    /// The model
    #[arg(value_name = "MODEL.onnx")]
    model: PathBuf,
    /// The pictures: a table, a folder, a COCO file or a list
    #[arg(long, value_name = "PATH")]
    stimuli: PathBuf,
    /// Says which column of the stimuli is meant, e.g. label=imagenet_index (can be repeated)
    #[arg(long, value_name = "OURS=YOURS", value_parser = parse_mapping)]
    map: Vec<(String, String)>,
    /// The model's classes in order, one per line [default: labels that are numbers, or all labels
    /// in alphabetical order if there are as many as outputs]
    #[arg(long, value_name = "FILE")]
    classes: Option<PathBuf>,
    /// What is taken away from each channel, in the order of the channels
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', num_args = 1,
          default_values_t = [0.485, 0.456, 0.406], allow_negative_numbers = true)]
    mean: Vec<f32>,
    /// What each channel is then divided by
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', num_args = 1,
          default_values_t = [0.229, 0.224, 0.225])]
    sd: Vec<f32>,
    /// What white is before the mean is taken away: 1 or 255
    #[arg(long, default_value = "1", value_name = "N", value_parser = parse_scale)]
    scale: f32,
    /// The order of the channels
    #[arg(long, value_enum, default_value_t = Order::Rgb)]
    channels: Order,
    /// Side of the pictures in pixels [default: what the model says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SIDE)))]
    size: Option<u32>,
    /// Pictures at once; answers do not depend on it
    #[arg(long, default_value = "32", value_name = "N")]
    batch: NonZeroUsize,
    /// How many classes to keep with their probabilities
    #[arg(long, default_value_t = 5, value_name = "K")]
    top: usize,
    #[command(flatten)]
    engine: EngineArgs,
    /// Where to write the predictions: .csv or .parquet [default: nowhere]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Pictures with longer sides are a mistake in typing, or in the file.
const MAX_SIDE: u32 = 16_384;

fn parse_scale(text: &str) -> Result<f32, String> {
    match text {
        "1" | "1.0" => Ok(1.0),
        "255" | "255.0" => Ok(255.0),
        other => Err(format!("expected 1 or 255, found `{other}`")),
    }
}

/// The order of the channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Red, green, blue
    Rgb,
    /// Blue, green, red
    Bgr,
}

pub(crate) fn run(args: &RunArgs, ui: &Ui) -> Result<(), CliError> {
    if let Some(output) = &args.output {
        check_output(output)?;
        let inputs = [&args.model, &args.stimuli].into_iter().chain(&args.classes);
        check_overwrites_none(output, inputs)?;
    }
    let network = super::read(&args.model)?;
    if let Some(output) = &args.output {
        check_overwrites_none(output, network.files())?;
    }
    super::say_which_output(&network, ui);
    let spec = spec(args, &network)?;
    let column_map = args.map.iter().cloned().collect();
    let options = ReadOptions { column_map, ..ReadOptions::default() };
    let stimuli = read_stimuli(&args.stimuli, &options)?;
    let engine = args.engine.choose(ui)?;
    let mut answers = network.open(&engine)?;
    ui.say(&format!("running on {} {}", engine.name(), engine.version()));

    let folder = folder_of_stimuli(&args.stimuli);
    let mut teller = Teller {
        labels: None,
        classes: args.classes.clone().map(ClassesEntry::File),
        is_probability: network.answers_with_probabilities(),
        top: args.top.max(1),
        model: ModelName::new(args.model.file_stem().unwrap_or_default().to_string_lossy()),
    };
    let mut writer = match &args.output {
        Some(path) => Some(TableWriter::<Prediction>::create(path, Vec::new().into())?),
        None => None,
    };
    let bar = ui.progress_of_images(stimuli.len(), "running the model");
    let feed = Feed {
        batch: args.batch,
        decoders: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
    };
    let mut count = Count::default();
    let decode = |stimulus: &Stimulus| {
        let part = match pixels::read(&folder.join(&stimulus.file)) {
            Ok(picture) => Part::Numbers(input::prepare(&picture, &spec), ()),
            Err(error) => Part::Known(Err(error)),
        };
        vec![part]
    };
    let answer = |numbers: Vec<f32>, tags: Vec<()>| {
        let rows = answers.rows(numbers, tags.len(), (spec.width, spec.height))?;
        // The first output counts.
        let first = |outputs: Vec<Vec<f32>>| Ok(outputs.into_iter().next().unwrap_or_default());
        Ok::<_, CliError>(rows.into_iter().map(first).collect())
    };
    let deliver = |stimulus: &Stimulus, outcomes: Vec<Result<Vec<f32>, PixelsError>>| {
        for outcome in outcomes {
            if let Ok(row) = &outcome {
                teller.look(row.len(), &stimuli, ui)?;
            }
            let prediction = teller.prediction(stimulus, outcome);
            count.add(&prediction);
            bar.inc(1);
            if let Some(writer) = &mut writer {
                writer.push(&prediction)?;
            }
        }
        Ok(())
    };
    feeding::run(&stimuli, feed, decode, answer, deliver)?;
    bar.finish_and_clear();
    if let (Some(writer), Some(path)) = (writer, &args.output) {
        writer.finish()?;
        ui.say(&format!("written: {}", path.display()));
    }
    ui.data(count.text().as_bytes())?;
    count.complaint().map_or(Ok(()), Err)
}

/// What the model takes.
fn spec(args: &RunArgs, network: &Network) -> Result<InputSpec, CliError> {
    let (width, height) = match (args.size, network.picture_size()?) {
        (None, Some(size)) => size,
        (Some(side), None) => (side, side),
        (Some(side), Some(size)) if size == (side, side) => size,
        (Some(side), Some((width, height))) => {
            return Err(CliError::input(format!(
                "the model takes pictures of {width} × {height} pixels, --size is {side}"
            ))
            .hint("leave --size out"));
        }
        (None, None) => {
            return Err(CliError::input("the model does not say how large its pictures are")
                .hint("give --size, e.g. --size 224"));
        }
    };
    if MAX_SIDE < width.max(height) {
        return Err(CliError::input(format!(
            "the model takes pictures of {width} × {height} pixels; {MAX_SIDE} a side are the most"
        )));
    }
    let three = |name: &str, numbers: &[f32]| {
        <[f32; 3]>::try_from(numbers).map_err(|_| {
            CliError::input(format!("--{name} should be 3 numbers, found {}", numbers.len()))
                .hint(format!("one per channel: --{name} 0.5,0.5,0.5"))
        })
    };
    let (mean, sd) = (three("mean", &args.mean)?, three("sd", &args.sd)?);
    let is_usable = |sd: &f32| sd.is_finite() && *sd != 0.0;
    if !sd.iter().all(is_usable) || !mean.iter().chain([&args.scale]).all(|n| n.is_finite()) {
        return Err(CliError::input("--mean, --sd and --scale should be numbers, and --sd not 0"));
    }
    let channels = match args.channels {
        Order::Rgb => Channels::Rgb,
        Order::Bgr => Channels::Bgr,
    };
    Ok(InputSpec { channels, scale: args.scale, mean, sd, ..InputSpec::imagenet(width, height) })
}

/// Turns rows of numbers into predictions.
struct Teller {
    /// Known once the first answer says how many outputs there are.
    labels: Option<Labels>,
    classes: Option<ClassesEntry>,
    is_probability: bool,
    top: usize,
    model: ModelName,
}

impl Teller {
    /// Finds out what the outputs mean, when the first answer says how many there are.
    fn look(&mut self, n_outputs: usize, stimuli: &[Stimulus], ui: &Ui) -> Result<(), CliError> {
        if self.labels.is_some() {
            return Ok(());
        }
        let wanted = Wanted {
            classes: self.classes.as_ref(),
            answer: &AnswerEntry::AsIs,
            aggregate: Aggregate::Mean,
            folder: Path::new(""),
            strangers: Strangers::Number,
        };
        let truth = stimuli.iter().map(|stimulus| &stimulus.label);
        let labels = Labels::find(&wanted, truth, n_outputs, self.is_probability)?;
        if let Some(note) = labels.note() {
            let remedy = "--classes FILE names them in order, and --map label=COLUMN takes other \
                          labels";
            ui.say(&format!("{note}; {remedy}"));
        }
        self.labels = Some(labels);
        Ok(())
    }

    fn prediction(
        &self,
        stimulus: &Stimulus,
        outcome: Result<Vec<f32>, PixelsError>,
    ) -> Prediction {
        let has_truth = self.labels.as_ref().is_none_or(Labels::has_truth);
        let outcome = match (outcome, &self.labels) {
            (Ok(row), Some(labels)) => labels.outcome(&row, self.top),
            (Ok(_), None) => Outcome::Failed(FailureReason::new("no classes")),
            (Err(error), _) => Outcome::Failed(FailureReason::new(error.to_string())),
        };
        let mut prediction = Prediction {
            model: self.model.clone(),
            stimulus: stimulus.id.clone(),
            probe: Prediction::NO_PROBE.into(),
            condition: None,
            label: has_truth.then(|| stimulus.label.clone()),
            outcome,
            extra: Extra::default(),
        };
        let is_correct = prediction.is_correct();
        if let Outcome::Answered(answer) = &mut prediction.outcome {
            answer.correct = is_correct;
        }
        prediction
    }
}

/// What is said at the end.
#[derive(Default)]
struct Count {
    n_correct: usize,
    n_judged: usize,
    n_answered: usize,
    failures: Vec<String>,
}

impl Count {
    fn add(&mut self, prediction: &Prediction) {
        match &prediction.outcome {
            Outcome::Answered(_) => self.n_answered += 1,
            Outcome::Failed(reason) => {
                self.failures.push(format!("{}: {reason}", prediction.stimulus));
            }
        }
        if let Some(is_correct) = prediction.is_correct() {
            self.n_judged += 1;
            self.n_correct += usize::from(is_correct);
        }
    }

    fn text(&self) -> String {
        match proportion::wilson(self.n_correct, self.n_judged, 0.95) {
            Some(accuracy) => format!(
                "accuracy  {:.3} (95 % {:.3} to {:.3}): {} of {} right\n",
                accuracy.value, accuracy.low, accuracy.high, self.n_correct, self.n_judged
            ),
            None => format!("answered  {}\n", self.n_answered),
        }
    }

    fn complaint(&self) -> Option<CliError> {
        let first = self.failures.first()?;
        let n = self.failures.len();
        let message = format!("{n} of {} stimuli failed", n + self.n_answered);
        Some(CliError::partly(message).hint(format!("the first: {first}")))
    }
}
