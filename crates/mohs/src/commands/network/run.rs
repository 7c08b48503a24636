//! `mohs network run`: what a model says about pictures, as predictions.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use mohs_data::format::{ReadOptions, TableWriter, folder_of_stimuli, read_stimuli};
use mohs_data::{Answer, Extra, FailureReason, Label, ModelName, Outcome, Prediction, Stimulus};
use mohs_graph::{Graph, Tensor};
use mohs_score::proportion;
use mohs_vision::input::{self, Channels, InputSpec};
use mohs_vision::network::{Answers, Network};
use mohs_vision::pixels;
use mohs_vision::run::{self as feeding, Feed};

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
        classes: None,
        is_probability: ends_in_softmax(network.graph()),
        top: args.top.max(1),
        model: ModelName::new(args.model.file_stem().unwrap_or_default().to_string_lossy()),
    };
    let mut writer = match &args.output {
        Some(path) => Some(TableWriter::<Prediction>::create(path, Vec::new().into())?),
        None => None,
    };
    let bar = ui.progress(stimuli.len(), "running the model");
    let feed = Feed {
        batch: args.batch,
        decoders: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
    };
    let mut count = Count::default();
    let decode = |stimulus: &Stimulus| {
        let picture = pixels::read(&folder.join(&stimulus.file))?;
        Ok::<_, pixels::PixelsError>(input::prepare(&picture, &spec))
    };
    let answer = |numbers: Vec<f32>, n: usize| ask(&mut answers, numbers, n, &spec);
    let deliver = |stimulus: &Stimulus, outcome: Result<Vec<f32>, pixels::PixelsError>| {
        if let Ok(row) = &outcome
            && teller.classes.is_none()
        {
            teller.classes = Some(Classes::find(args.classes.as_deref(), &stimuli, row.len(), ui)?);
        }
        let prediction = teller.prediction(stimulus, outcome);
        count.add(&prediction);
        bar.inc(1);
        writer.as_mut().map_or(Ok(()), |writer| writer.push(&prediction)).map_err(CliError::from)
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
    Ok(InputSpec { width, height, channels, scale: args.scale, mean, sd })
}

/// Has a batch answered: one row of numbers per picture.
fn ask(
    answers: &mut Answers,
    numbers: Vec<f32>,
    n: usize,
    spec: &InputSpec,
) -> Result<Vec<Vec<f32>>, CliError> {
    let shape = vec![n, 3, spec.height as usize, spec.width as usize];
    let pictures =
        Tensor::f32(shape, numbers).map_err(|error| CliError::input(error.to_string()))?;
    let rows = answers.answer(&pictures)?;
    let numbers = rows.as_f32().unwrap_or_default();
    let is_one_row_each = rows.shape().first() == Some(&n) && numbers.len() % n == 0;
    if !is_one_row_each || numbers.len() < n {
        return Err(CliError::input(format!(
            "the model should answer with one row of f32 per picture, found {} {:?} for {n}",
            rows.element_type(),
            rows.shape()
        )));
    }
    Ok(numbers.chunks(numbers.len() / n).map(<[f32]>::to_vec).collect())
}

/// Whether the answers are probabilities already.
fn ends_in_softmax(graph: &Graph) -> bool {
    let makers = graph.makers();
    let mut name = graph.outputs.first().map(|port| port.name.as_str());
    while let Some(node) = name.and_then(|name| makers.get(name)).map(|&idx| &graph.nodes[idx]) {
        match node.op.as_str() {
            "Softmax" => return true,
            "Identity" | "Reshape" | "Flatten" | "Squeeze" => name = node.input(0),
            _ => return false,
        }
    }
    false
}

/// The names of the classes in the order of the outputs.
struct Classes {
    names: Vec<Label>,
    /// Whether labels of stimuli are such names.
    has_labels: bool,
}

impl Classes {
    fn find(
        file: Option<&Path>,
        stimuli: &[Stimulus],
        n_outputs: usize,
        ui: &Ui,
    ) -> Result<Classes, CliError> {
        let mut labels: Vec<&Label> = stimuli.iter().map(|stimulus| &stimulus.label).collect();
        labels.sort_unstable();
        labels.dedup();
        if let Some(file) = file {
            return Classes::from_file(file, &labels, n_outputs);
        }
        let numbers: Vec<Label> = (0..n_outputs).map(|n| Label::new(n.to_string())).collect();
        if labels.iter().all(|label| numbers.contains(label)) {
            return Ok(Classes { names: numbers, has_labels: true });
        }
        if labels.len() == n_outputs {
            let names: Vec<Label> = labels.into_iter().cloned().collect();
            ui.say(&format!(
                "classes: the {n_outputs} labels in alphabetical order, from `{}` to `{}`; \
                 --classes FILE gives another order",
                names[0],
                names[names.len() - 1]
            ));
            return Ok(Classes { names, has_labels: true });
        }
        ui.say(&format!(
            "the model has {n_outputs} outputs and there are {} labels: answers are numbers of \
             outputs, and nobody knows which are right; --classes FILE names them, or --map \
             label=COLUMN has their numbers",
            labels.len()
        ));
        Ok(Classes { names: numbers, has_labels: false })
    }

    fn from_file(path: &Path, labels: &[&Label], n_outputs: usize) -> Result<Classes, CliError> {
        let text = std::fs::read_to_string(path).map_err(|cause| {
            CliError::input(format!("cannot read the classes {}", path.display())).because(cause)
        })?;
        let names: Vec<Label> = text
            .trim_start_matches('\u{feff}')
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(Label::new)
            .collect();
        if names.len() != n_outputs {
            let (path, found) = (path.display(), names.len());
            return Err(CliError::input(format!(
                "{path} should have {n_outputs} classes, one per output, found {found}"
            )));
        }
        if let Some(unknown) = labels.iter().find(|label| !names.contains(label)) {
            return Err(CliError::input(format!(
                "the label `{unknown}` is none of the classes in {}",
                path.display()
            ))
            .hint("labels of stimuli are written as in the file of classes"));
        }
        Ok(Classes { names, has_labels: true })
    }
}

/// Turns rows of numbers into predictions.
struct Teller {
    /// Known once the first answer says how many outputs there are.
    classes: Option<Classes>,
    is_probability: bool,
    top: usize,
    model: ModelName,
}

impl Teller {
    fn prediction(
        &self,
        stimulus: &Stimulus,
        outcome: Result<Vec<f32>, pixels::PixelsError>,
    ) -> Prediction {
        let has_labels = self.classes.as_ref().is_none_or(|classes| classes.has_labels);
        let outcome = match (outcome, &self.classes) {
            (Ok(row), Some(classes)) => self.outcome(&row, &classes.names),
            (Ok(_), None) => Outcome::Failed(FailureReason::new("no classes")),
            (Err(error), _) => Outcome::Failed(FailureReason::new(error.to_string())),
        };
        let mut prediction = Prediction {
            model: self.model.clone(),
            stimulus: stimulus.id.clone(),
            probe: Prediction::NO_PROBE.into(),
            condition: None,
            label: has_labels.then(|| stimulus.label.clone()),
            outcome,
            extra: Extra::default(),
        };
        let is_correct = prediction.is_correct();
        if let Outcome::Answered(answer) = &mut prediction.outcome {
            answer.correct = is_correct;
        }
        prediction
    }

    fn outcome(&self, row: &[f32], names: &[Label]) -> Outcome {
        let probabilities = if self.is_probability {
            row.iter().map(|&number| f64::from(number)).collect()
        } else {
            softmax(row)
        };
        if !probabilities.iter().all(|number: &f64| number.is_finite()) {
            return Outcome::Failed(FailureReason::new("the answer is not a number"));
        }
        let mut ranked: Vec<usize> = (0..row.len().min(names.len())).collect();
        ranked.sort_by(|&a, &b| row[b].total_cmp(&row[a]).then(a.cmp(&b)));
        let top_k: Vec<(Label, f64)> = ranked
            .iter()
            .take(self.top)
            .map(|&idx| (names[idx].clone(), probabilities[idx].clamp(0.0, 1.0)))
            .collect();
        match top_k.first().cloned() {
            Some((predicted, confidence)) => Outcome::Answered(Answer {
                predicted,
                confidence: Some(confidence),
                top_k,
                correct: None,
            }),
            None => Outcome::Failed(FailureReason::new("the model answers with nothing")),
        }
    }
}

fn softmax(row: &[f32]) -> Vec<f64> {
    let highest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f64> = row.iter().map(|&number| f64::from(number - highest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_answers_go_to_the_first_class() {
        let teller =
            Teller { classes: None, is_probability: false, top: 2, model: ModelName::new("m") };
        let names = ["a", "b", "c"].map(Label::new);
        let Outcome::Answered(answer) = teller.outcome(&[1.0, 3.0, 3.0], &names) else {
            panic!("an answer")
        };
        assert_eq!(answer.predicted, names[1]);
        assert_eq!(answer.top_k.len(), 2);
        let sum = 2.0 + (-2.0_f64).exp();
        assert!((answer.confidence.unwrap() - 1.0 / sum).abs() < 1e-12);
    }

    #[test]
    fn an_answer_that_is_no_number_is_a_failure() {
        let teller =
            Teller { classes: None, is_probability: false, top: 1, model: ModelName::new("m") };
        let outcome = teller.outcome(&[f32::NAN, 1.0], &["a", "b"].map(Label::new));
        assert!(matches!(outcome, Outcome::Failed(_)));
    }
}
