//! From a model's outputs to labels of stimuli: which class each output stands for, how classes
//! become the labels that stimuli have, and which label a row of outputs puts first.
//!
//! Everything is decided before a model runs: a list that does not fit the outputs, a label that no
//! class stands for and a name that two classes share are errors that name the offender. Nothing is
//! matched by likeness.

mod file;
pub mod imagenet;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use mohs_data::{
    Aggregate, Answer, AnswerEntry, ClassesEntry, FailureReason, Label, Outcome, nearest,
};

use imagenet::{Found, Notation};

/// Labels and classes that do not fit.
#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    /// A file could not be read.
    #[error("cannot read the classes {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{}{} should {expected}, found {found}", path.display(), line.map_or(String::new(), |line| format!(":{line}")))]
    NotUnderstood {
        /// The file.
        path: PathBuf,
        /// The line, where there is one.
        line: Option<usize>,
        /// What it should have or be.
        expected: String,
        /// What it has or is.
        found: String,
    },
    /// There are more or fewer classes than outputs.
    #[error(
        "the model has {n_outputs} outputs and {origin} has {found} classes; there should be one \
         class per output"
    )]
    WrongCount {
        /// Where the classes come from.
        origin: String,
        /// How many outputs the model has.
        n_outputs: usize,
        /// How many classes there are.
        found: usize,
    },
    /// A class stands twice.
    #[error("{origin} has the class `{class}` twice")]
    Twice {
        /// Where the classes come from.
        origin: String,
        /// The class.
        class: String,
    },
    /// A label of a stimulus is none that the model can give.
    #[error("the label `{label}` is none of the {n_known} {origin}{}", alike(nearest.as_deref()))]
    UnknownLabel {
        /// The label.
        label: Label,
        /// How many there are.
        n_known: usize,
        /// Where they come from.
        origin: String,
        /// The most similar one.
        nearest: Option<String>,
    },
    /// A label stands for several classes.
    #[error("the label `{label}` may mean {}", meanings.join(" or "))]
    Ambiguous {
        /// The label.
        label: String,
        /// What it may mean.
        meanings: Vec<String>,
    },
    /// Two labels stand for one class, so that one of them can never be predicted.
    #[error("the labels `{first}` and `{second}` both mean {meaning}")]
    SameClass {
        /// A label.
        first: Label,
        /// Another.
        second: Label,
        /// The class.
        meaning: String,
    },
    /// Nothing says which class an output stands for.
    #[error(
        "nothing says what the {n_outputs} outputs of the model stand for; the stimuli have \
         {n_labels} labels, from `{first}` to `{last}`"
    )]
    NoClasses {
        /// How many outputs the model has.
        n_outputs: usize,
        /// How many labels stimuli have.
        n_labels: usize,
        /// The first label.
        first: Label,
        /// The last one.
        last: Label,
    },
}

fn alike(nearest: Option<&str>) -> String {
    nearest.map_or(String::new(), |nearest| format!("; did you mean `{nearest}`?"))
}

/// What a model's outputs should be read with.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The model's own classes; `None` to see whether labels fit the outputs as they are.
    pub classes: Option<&'a ClassesEntry>,
    /// How classes become labels of stimuli.
    pub answer: &'a AnswerEntry,
    /// How the probabilities of several classes become that of their label.
    pub aggregate: Aggregate,
    /// Where files lie.
    pub folder: &'a Path,
    /// What is done when nothing says which class an output stands for.
    pub strangers: Strangers,
}

/// What is done when nothing says which class an output stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strangers {
    /// That is an error.
    Refuse,
    /// Answers are places of outputs, and nobody knows which are right.
    Number,
}

/// How a row of outputs becomes an answer.
#[derive(Clone, Debug)]
pub struct Labels {
    groups: Vec<Group>,
    rule: Rule,
    is_probability: bool,
    has_truth: bool,
    note: Option<String>,
}

/// How a row of outputs becomes one number per label.
#[derive(Clone, PartialEq, Debug)]
pub enum Reading {
    /// Each output is a class; labels are found by [`Labels::label_of`].
    All,
    /// These outputs, in this order.
    Some(Vec<usize>),
    /// Sums of probabilities of outputs with weights, one sum per label.
    Weighted(Vec<Vec<(usize, f32)>>),
    /// The largest of several outputs.
    Largest,
}

/// A label and the outputs that stand for it.
#[derive(Clone, PartialEq, Debug)]
struct Group {
    label: Label,
    outputs: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    /// One output per label; probabilities over all outputs.
    All,
    /// One output per label; probabilities over these outputs only.
    Some,
    /// Several outputs per label.
    Grouped { aggregate: Aggregate, last_of_equals: bool },
}

/// The model's classes with where they come from.
struct Classes {
    names: Vec<Label>,
    origin: String,
    is_imagenet: bool,
}

/// Returns the names that a model may answer with: its own classes, or the labels of the stimuli in
/// alphabetical order. Every label of a stimulus must be among them.
pub fn names<'a>(
    classes: Option<&ClassesEntry>,
    folder: &Path,
    stimuli: impl IntoIterator<Item = &'a Label>,
) -> Result<Vec<Label>, LabelError> {
    let mut labels: Vec<&Label> = stimuli.into_iter().collect();
    labels.sort_unstable();
    labels.dedup();
    let (names, origin) = match classes {
        None => return Ok(labels.into_iter().cloned().collect()),
        Some(ClassesEntry::ImageNet1k) => {
            ((0..imagenet::N_CLASSES).map(imagenet::name).collect(), "imagenet-1k".to_owned())
        }
        Some(ClassesEntry::List(names)) => {
            (names.iter().map(Label::new).collect(), "the manifest".to_owned())
        }
        Some(ClassesEntry::File(path)) => {
            let path = folder.join(path);
            (file::classes(&path)?, path.display().to_string())
        }
    };
    let groups: Vec<Group> =
        names.iter().map(|label| Group { label: label.clone(), outputs: Vec::new() }).collect();
    check_known(&labels, &groups, &format!("classes of {origin}"))?;
    Ok(names)
}

impl Labels {
    /// Finds out how the outputs of a model become labels of stimuli, `stimuli` being their labels
    /// in any order.
    ///
    /// `is_probability` says that the outputs are probabilities already.
    pub fn find<'a>(
        wanted: &Wanted<'_>,
        stimuli: impl IntoIterator<Item = &'a Label>,
        n_outputs: usize,
        is_probability: bool,
    ) -> Result<Labels, LabelError> {
        let mut labels: Vec<&Label> = stimuli.into_iter().collect();
        labels.sort_unstable();
        labels.dedup();
        let grouped = |groups, aggregate, last_of_equals| Labels {
            groups,
            rule: Rule::Grouped { aggregate, last_of_equals },
            is_probability,
            has_truth: true,
            note: None,
        };
        match wanted.answer {
            AnswerEntry::ImageNet16 => {
                check_imagenet(n_outputs)?;
                let groups: Vec<Group> = imagenet::sixteen()
                    .into_iter()
                    .map(|(label, outputs)| Group { label, outputs })
                    .collect();
                check_known(&labels, &groups, "categories of imagenet-16")?;
                // The published code sorts upwards and turns the order round.
                Ok(grouped(groups, Aggregate::Mean, true))
            }
            AnswerEntry::Table(path) => {
                let path = wanted.folder.join(path);
                let classes = own_classes(wanted, n_outputs)?;
                let groups = groups_of(&path, file::pairs(&path)?, &classes)?;
                check_known(&labels, &groups, &format!("labels in {}", path.display()))?;
                Ok(grouped(groups, wanted.aggregate, false))
            }
            AnswerEntry::AsIs | AnswerEntry::Subset => {
                let mut found = one_by_one(wanted, &labels, n_outputs, is_probability)?;
                if *wanted.answer == AnswerEntry::Subset {
                    found.groups.retain(|group| labels.contains(&&group.label));
                    found.rule = Rule::Some;
                }
                Ok(found)
            }
        }
    }

    /// What was decided without being told, in words; `None` when nothing was.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Whether labels of stimuli are among those the model can give.
    pub fn has_truth(&self) -> bool {
        self.has_truth
    }

    /// How many labels the model can give.
    pub fn n_labels(&self) -> usize {
        self.groups.len()
    }

    /// Returns the label of a class, counted as [`Labels::reading`] counts them.
    pub fn label_of(&self, class: usize) -> Option<&Label> {
        let is_it = |group: &&Group| group.outputs.first() == Some(&class);
        match self.rule {
            Rule::All => self.groups.iter().find(is_it),
            Rule::Some | Rule::Grouped { .. } => self.groups.get(class),
        }
        .map(|group| &group.label)
    }

    /// All labels that can be answered.
    pub fn all(&self) -> impl Iterator<Item = &Label> {
        self.groups.iter().map(|group| &group.label)
    }

    /// Returns the class of a label, counted as [`Labels::reading`] counts them.
    pub fn class_of(&self, label: &Label) -> Option<usize> {
        let place = self.groups.iter().position(|group| group.label == *label)?;
        match self.rule {
            Rule::All => self.groups[place].outputs.first().copied(),
            Rule::Some | Rule::Grouped { .. } => Some(place),
        }
    }

    /// Returns how outputs become one number per label, as arithmetic.
    pub fn reading(&self) -> Reading {
        match self.rule {
            Rule::All => Reading::All,
            Rule::Some => Reading::Some(self.groups.iter().map(|group| group.outputs[0]).collect()),
            Rule::Grouped { aggregate: Aggregate::Max, .. } => Reading::Largest,
            Rule::Grouped { aggregate, .. } => {
                let weight = |group: &Group| match aggregate {
                    #[expect(clippy::cast_precision_loss, reason = "models have few outputs")]
                    Aggregate::Mean => 1.0 / group.outputs.len() as f32,
                    Aggregate::Sum | Aggregate::Max => 1.0,
                };
                let weighted = |group: &Group| {
                    group.outputs.iter().map(|&output| (output, weight(group))).collect()
                };
                Reading::Weighted(self.groups.iter().map(weighted).collect())
            }
        }
    }

    /// Reads a row of outputs: the first `top_k` labels with their probabilities.
    ///
    /// Of equals the first counts, except in `imagenet-16`, where it is the last. Probabilities have
    /// nine significant digits; models compute with seven.
    pub fn outcome(&self, row: &[f32], top_k: usize) -> Outcome {
        if row.iter().any(|number| number.is_nan()) {
            return Outcome::Failed(FailureReason::new("the answer is not a number"));
        }
        let probabilities = self.probabilities(row);
        if !probabilities.iter().all(|number| number.is_finite()) {
            return Outcome::Failed(FailureReason::new("the answer is not a number"));
        }
        let mut ranked: Vec<usize> = (0..self.groups.len()).collect();
        match self.rule {
            // Outputs tell classes apart that are equally improbable.
            Rule::All | Rule::Some => {
                let output = |group: usize| row[self.groups[group].outputs[0]];
                ranked.sort_by(|&a, &b| output(b).total_cmp(&output(a)).then(a.cmp(&b)));
            }
            Rule::Grouped { last_of_equals, .. } => ranked.sort_by(|&a, &b| {
                let order = probabilities[b].total_cmp(&probabilities[a]);
                order.then(if last_of_equals { b.cmp(&a) } else { a.cmp(&b) })
            }),
        }
        let top_k: Vec<(Label, f64)> = ranked
            .iter()
            .take(top_k.max(1))
            .map(|&idx| (self.groups[idx].label.clone(), rounded(probabilities[idx])))
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

    /// The probability of each label.
    fn probabilities(&self, row: &[f32]) -> Vec<f64> {
        let picked = |rows: &[f64]| -> Vec<f64> {
            self.groups.iter().map(|group| rows[group.outputs[0]]).collect()
        };
        let all = || -> Vec<f64> {
            if self.is_probability {
                row.iter().map(|&number| f64::from(number)).collect()
            } else {
                softmax(row)
            }
        };
        match self.rule {
            Rule::All => picked(&all()),
            Rule::Some if self.is_probability => {
                let picked = picked(&all());
                let sum: f64 = picked.iter().sum();
                // No probability at all is spread over all, as a softmax would do.
                let share = |number: f64| {
                    if 0.0 < sum { number / sum } else { 1.0 / picked.len() as f64 }
                };
                picked.iter().map(|&number| share(number)).collect()
            }
            Rule::Some => {
                let picked: Vec<f32> =
                    self.groups.iter().map(|group| row[group.outputs[0]]).collect();
                softmax(&picked)
            }
            Rule::Grouped { aggregate, .. } => {
                let all = all();
                let of = |group: &Group| {
                    let members = group.outputs.iter().map(|&output| all[output]);
                    match aggregate {
                        Aggregate::Mean => members.sum::<f64>() / group.outputs.len() as f64,
                        Aggregate::Sum => members.sum(),
                        Aggregate::Max => members.fold(0.0, f64::max),
                    }
                };
                self.groups.iter().map(of).collect()
            }
        }
    }
}

/// Nine significant digits, within [0, 1].
fn rounded(probability: f64) -> f64 {
    let text = format!("{:.8e}", probability.clamp(0.0, 1.0));
    text.parse().expect("because it was just written as a number")
}

/// Turns outputs into probabilities.
///
/// p_i = exp(x_i − max x) / Σ_j exp(x_j − max x); infinities are handed on as what is not finite.
pub fn softmax(row: &[f32]) -> Vec<f64> {
    let highest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f64> =
        row.iter().map(|&number| (f64::from(number) - f64::from(highest)).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

/// One label per output.
fn one_by_one(
    wanted: &Wanted<'_>,
    labels: &[&Label],
    n_outputs: usize,
    is_probability: bool,
) -> Result<Labels, LabelError> {
    let of = |names: Vec<Label>, has_truth: bool, note: Option<String>| Labels {
        groups: names
            .into_iter()
            .enumerate()
            .map(|(output, label)| Group { label, outputs: vec![output] })
            .collect(),
        rule: Rule::All,
        is_probability,
        has_truth,
        note,
    };
    let numbers = || (0..n_outputs).map(|n| Label::new(n.to_string())).collect::<Vec<_>>();
    match wanted.classes {
        Some(ClassesEntry::ImageNet1k) => {
            check_imagenet(n_outputs)?;
            let (names, notation) = imagenet_names(labels)?;
            let note = format!("labels are read as {} of ImageNet", notation.as_str());
            Ok(of(names, true, Some(note)))
        }
        Some(_) => {
            let classes = own_classes(wanted, n_outputs)?;
            let found = of(classes.names, true, None);
            check_known(labels, &found.groups, &format!("classes in {}", classes.origin))?;
            Ok(found)
        }
        None => {
            let numbers = numbers();
            if labels.iter().all(|label| numbers.contains(label)) {
                return Ok(of(numbers, true, None));
            }
            let is_wnid = |label: &&&Label| Notation::of(label.as_str()) == Notation::Wnid;
            if n_outputs == imagenet::N_CLASSES && labels.iter().all(|label| is_wnid(&label)) {
                let (names, notation) = imagenet_names(labels)?;
                let note = format!("labels are read as {} of ImageNet", notation.as_str());
                return Ok(of(names, true, Some(note)));
            }
            if labels.len() == n_outputs {
                let names: Vec<Label> = labels.iter().copied().cloned().collect();
                let note = format!(
                    "classes: the {n_outputs} labels in alphabetical order, from `{}` to `{}`",
                    names[0],
                    names[names.len() - 1]
                );
                return Ok(of(names, true, Some(note)));
            }
            if wanted.strangers == Strangers::Number {
                let note = format!(
                    "the model has {n_outputs} outputs and there are {} labels: answers are \
                     numbers of outputs, and nobody knows which are right",
                    labels.len()
                );
                return Ok(of(numbers, false, Some(note)));
            }
            let label = |at: Option<&&Label>| at.map_or(Label::new(""), |&label| label.clone());
            Err(LabelError::NoClasses {
                n_outputs,
                n_labels: labels.len(),
                first: label(labels.first()),
                last: label(labels.last()),
            })
        }
    }
}

fn check_imagenet(n_outputs: usize) -> Result<(), LabelError> {
    if n_outputs == imagenet::N_CLASSES {
        return Ok(());
    }
    let (origin, found) = ("imagenet-1k".to_owned(), imagenet::N_CLASSES);
    Err(LabelError::WrongCount { origin, n_outputs, found })
}

/// The classes of ImageNet, those of stimuli spelled as the stimuli spell them.
fn imagenet_names(labels: &[&Label]) -> Result<(Vec<Label>, Notation), LabelError> {
    let notation = labels.first().map_or(Notation::Name, |label| Notation::of(label.as_str()));
    let mut names: Vec<Label> = (0..imagenet::N_CLASSES)
        .map(|idx| match notation {
            Notation::Index => Label::new(idx.to_string()),
            Notation::Wnid => Label::new(imagenet::CLASSES[idx].wnid),
            Notation::Name => imagenet::name(idx),
        })
        .collect();
    let mut label_by_class: BTreeMap<usize, &Label> = BTreeMap::new();
    for &label in labels {
        let idx = imagenet_class(label)?;
        if let Some(first) = label_by_class.insert(idx, label) {
            return Err(LabelError::SameClass {
                first: first.clone(),
                second: label.clone(),
                meaning: imagenet_meaning(idx),
            });
        }
        names[idx] = label.clone();
    }
    Ok((names, notation))
}

fn imagenet_meaning(idx: usize) -> String {
    let class = &imagenet::CLASSES[idx];
    format!("{idx} ({} {})", class.wnid, class.names.join(", "))
}

fn imagenet_class(label: &Label) -> Result<usize, LabelError> {
    match imagenet::find(label.as_str()) {
        Found::One(idx) => Ok(idx),
        Found::Several(classes) => Err(LabelError::Ambiguous {
            label: label.to_string(),
            meanings: classes.into_iter().map(imagenet_meaning).collect(),
        }),
        Found::None => {
            let known = imagenet::CLASSES.iter().flat_map(|class| class.names.iter().copied());
            Err(LabelError::UnknownLabel {
                label: label.clone(),
                n_known: imagenet::N_CLASSES,
                origin: "classes of imagenet-1k".to_owned(),
                nearest: nearest(label.as_str(), known),
            })
        }
    }
}

/// The model's own classes, as many as it has outputs.
fn own_classes(wanted: &Wanted<'_>, n_outputs: usize) -> Result<Classes, LabelError> {
    let classes = match wanted.classes {
        None => Classes {
            names: (0..n_outputs).map(|n| Label::new(n.to_string())).collect(),
            origin: format!("the places from 0 to {}", n_outputs.saturating_sub(1)),
            is_imagenet: n_outputs == imagenet::N_CLASSES,
        },
        Some(ClassesEntry::ImageNet1k) => {
            check_imagenet(n_outputs)?;
            Classes {
                names: (0..imagenet::N_CLASSES).map(imagenet::name).collect(),
                origin: "imagenet-1k".to_owned(),
                is_imagenet: true,
            }
        }
        Some(ClassesEntry::List(names)) => Classes {
            names: names.iter().map(Label::new).collect(),
            origin: "`classes`".to_owned(),
            is_imagenet: false,
        },
        Some(ClassesEntry::File(path)) => {
            let path = wanted.folder.join(path);
            Classes {
                names: file::classes(&path)?,
                origin: path.display().to_string(),
                is_imagenet: false,
            }
        }
    };
    let Classes { names, origin, .. } = &classes;
    if names.len() != n_outputs {
        let (origin, found) = (origin.clone(), names.len());
        return Err(LabelError::WrongCount { origin, n_outputs, found });
    }
    let mut sorted: Vec<&Label> = names.iter().collect();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(LabelError::Twice { origin: origin.clone(), class: pair[0].to_string() });
    }
    Ok(classes)
}

/// Groups classes by their labels, in the order in which labels first stand.
fn groups_of(
    path: &Path,
    pairs: Vec<file::Pair>,
    classes: &Classes,
) -> Result<Vec<Group>, LabelError> {
    let place_by_class: BTreeMap<&Label, usize> =
        classes.names.iter().enumerate().map(|(idx, name)| (name, idx)).collect();
    let mut group_by_label: BTreeMap<Label, usize> = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut is_used = vec![false; classes.names.len()];
    for pair in pairs {
        let output = match place_by_class.get(&pair.class) {
            Some(&output) => output,
            None if classes.is_imagenet => imagenet_class(&pair.class)?,
            None => {
                let known = classes.names.iter().map(Label::as_str);
                let near = nearest(pair.class.as_str(), known);
                return Err(LabelError::NotUnderstood {
                    path: path.to_owned(),
                    line: Some(pair.line),
                    expected: format!("name a class of {}", classes.origin),
                    found: format!("`{}`{}", pair.class, alike(near.as_deref())),
                });
            }
        };
        if std::mem::replace(&mut is_used[output], true) {
            let origin = path.display().to_string();
            return Err(LabelError::Twice { origin, class: pair.class.to_string() });
        }
        let group = *group_by_label.entry(pair.label.clone()).or_insert_with(|| {
            groups.push(Group { label: pair.label, outputs: Vec::new() });
            groups.len() - 1
        });
        groups[group].outputs.push(output);
    }
    Ok(groups)
}

fn check_known(labels: &[&Label], groups: &[Group], origin: &str) -> Result<(), LabelError> {
    let known: std::collections::BTreeSet<&Label> =
        groups.iter().map(|group| &group.label).collect();
    match labels.iter().find(|label| !known.contains(*label)) {
        None => Ok(()),
        Some(&unknown) => Err(LabelError::UnknownLabel {
            label: unknown.clone(),
            n_known: known.len(),
            origin: origin.to_owned(),
            nearest: nearest(unknown.as_str(), known.iter().map(|label| label.as_str())),
        }),
    }
}

#[cfg(test)]
mod tests;
