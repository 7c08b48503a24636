//! Predictions beside stimuli, difficulty and labels: the one table all measures of models read.
//!
//! Joins by the stimulus' id and loses nothing silently: what fails, what nobody can judge and
//! what has no difficulty is counted. It refuses rows that say two things about the same model,
//! stimulus, probe and condition. The order of rows decides the order of models and nothing else.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use mohs_data::{Difficulty, Label, ModelName, Outcome, Prediction, Stimulus, StimulusId};

use super::bands::{self, Bands};
use super::{FailureCount, Input, ScoreError, View};
use crate::human::agreement::by_number;

/// Name of the condition whose values are the passes of a training.
pub(super) const EPOCH: &str = "epoch";

/// Everything joined.
pub(super) struct Table<'a> {
    /// In the order of their first rows.
    pub(super) models: Vec<&'a ModelName>,
    /// All stimuli that some row is about, sorted by band, class and id; those without a band last.
    pub(super) stimuli: Vec<Shown<'a>>,
    /// Classes, counting each stimulus without a label as one of its own.
    pub(super) n_classes: usize,
    /// All rows.
    pub(super) rows: Vec<Row<'a>>,
    /// What each model did in the view.
    pub(super) answers: Vec<Answers>,
    /// Which rows that is.
    pub(super) view: View,
    /// The same in words, where some rows had to be chosen.
    pub(super) chosen: Option<String>,
    /// The bands, where there are any.
    pub(super) bands: Option<Bands>,
    /// Difficulties of stimuli that no row is about.
    pub(super) n_unused_difficulties: usize,
    /// Stimuli that the table of stimuli, if there is one, does not have.
    pub(super) n_unknown_stimuli: usize,
}

/// A stimulus that some model was shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) id: &'a StimulusId,
    pub(super) label: Option<&'a Label>,
    pub(super) stimulus: Option<&'a Stimulus>,
    pub(super) difficulty: Option<&'a Difficulty>,
    pub(super) class_idx: usize,
    pub(super) band_idx: Option<usize>,
}

/// A row with its places in the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) model_idx: usize,
    pub(super) stimulus_idx: usize,
    pub(super) prediction: &'a Prediction,
    /// `None` when the model failed or nothing says what is right.
    pub(super) is_right: Option<bool>,
}

/// What one model did in the view, by stimulus.
pub(super) struct Answers {
    /// 1 where there is an answer that can be judged.
    pub(super) judged: Vec<u8>,
    /// 1 where it is right.
    pub(super) right: Vec<u8>,
    /// Where its row stands among all rows, if it has one.
    pub(super) row: Vec<Option<u32>>,
}

impl Answers {
    /// Returns answers and right ones among some stimuli.
    pub(super) fn counts(&self, places: std::ops::Range<usize>) -> (usize, usize) {
        let sum = |bits: &[u8]| bits.iter().map(|bit| usize::from(*bit)).sum();
        (sum(&self.judged[places.clone()]), sum(&self.right[places]))
    }
}

impl<'a> Table<'a> {
    /// Joins the data.
    pub(super) fn new(input: &Input<'a>) -> Result<Self, ScoreError> {
        let predictions = input.predictions;
        check_failures(predictions)?;
        let (models, model_idx) = models(predictions);
        let stimulus_by_id = stimulus_by_id(input.stimuli)?;
        let difficulty_by_id =
            difficulty_by_id(input.difficulties, input.options.difficulty_measure.as_deref())?;
        let (mut stimuli, first_place) = shown(predictions, &stimulus_by_id, &difficulty_by_id);
        let bands = bands::assign(&mut stimuli, input.options.n_bands);
        let n_classes = classes(&mut stimuli);
        let mut order: Vec<usize> = (0..stimuli.len()).collect();
        order.sort_by_key(|idx| {
            let shown = &stimuli[*idx];
            (shown.band_idx.unwrap_or(usize::MAX), shown.class_idx, shown.id)
        });
        let mut place = vec![0; stimuli.len()];
        for (new, old) in order.iter().enumerate() {
            place[*old] = new;
        }
        let stimuli: Vec<Shown<'a>> = order.iter().map(|idx| stimuli[*idx]).collect();
        let rows: Vec<Row<'a>> = predictions
            .iter()
            .map(|prediction| {
                let stimulus_idx = place[first_place[&prediction.stimulus]];
                let known = stimuli[stimulus_idx].stimulus.map(|stimulus| &stimulus.label);
                let by_join = || Some(*known? == prediction.answer()?.predicted);
                Row {
                    model_idx: model_idx[&prediction.model],
                    stimulus_idx,
                    prediction,
                    is_right: prediction.is_correct().or_else(by_join),
                }
            })
            .collect();
        check_repeats(&rows)?;
        let (viewed, view, chosen) = view(&rows);
        let answers = answers(&rows, &viewed, models.len(), stimuli.len());
        let is_unknown = |shown: &&Shown<'_>| shown.stimulus.is_none();
        let n_unknown = stimuli.iter().filter(is_unknown).count();
        Ok(Self {
            n_unused_difficulties: difficulty_by_id.len()
                - stimuli.iter().filter(|shown| shown.difficulty.is_some()).count(),
            n_unknown_stimuli: if input.stimuli.is_empty() { 0 } else { n_unknown },
            models,
            stimuli,
            n_classes,
            rows,
            answers,
            view,
            chosen,
            bands,
        })
    }

    /// Returns where the stimuli of a band stand.
    pub(super) fn band(&self, band_idx: usize) -> std::ops::Range<usize> {
        let key = |shown: &Shown<'_>| shown.band_idx.unwrap_or(usize::MAX);
        self.stimuli.partition_point(|shown| key(shown) < band_idx)
            ..self.stimuli.partition_point(|shown| key(shown) <= band_idx)
    }

    /// Returns how many bands there are.
    pub(super) fn n_bands(&self) -> usize {
        self.bands.as_ref().map_or(0, |bands| bands.names.len())
    }

    /// Returns the answer behind a cell of the view.
    pub(super) fn answer(
        &self,
        model_idx: usize,
        stimulus_idx: usize,
    ) -> Option<&'a mohs_data::Answer> {
        let row = self.answers[model_idx].row[stimulus_idx]?;
        self.rows[row as usize].prediction.answer()
    }

    /// Returns the reasons of failed rows, the most frequent first.
    pub(super) fn failures(&self) -> Vec<FailureCount> {
        failures(self.rows.iter().filter_map(|row| match &row.prediction.outcome {
            Outcome::Failed(reason) => Some((reason.as_str(), &row.prediction.stimulus)),
            Outcome::Answered(_) => None,
        }))
    }
}

/// Returns the reasons of failed rows, the most frequent first.
pub(super) fn failures<'a>(
    failed: impl Iterator<Item = (&'a str, &'a StimulusId)>,
) -> Vec<FailureCount> {
    let mut by_reason: BTreeMap<String, (usize, &StimulusId)> = BTreeMap::new();
    for (reason, id) in failed {
        let reason = match id.as_str() {
            "" => reason.to_owned(),
            name => reason.replace(name, "…"),
        };
        let count = by_reason.entry(reason).or_insert((0, id));
        count.0 += 1;
        count.1 = count.1.min(id);
    }
    let mut counts: Vec<FailureCount> = by_reason
        .into_iter()
        .map(|(reason, (n, example))| FailureCount { reason, n, example: example.clone() })
        .collect();
    counts.sort_by(|a, b| b.n.cmp(&a.n).then(a.reason.cmp(&b.reason)));
    counts
}

fn check_failures(predictions: &[Prediction]) -> Result<(), ScoreError> {
    let mut reasons = predictions.iter().map(|prediction| match &prediction.outcome {
        Outcome::Answered(_) => None,
        Outcome::Failed(reason) => Some(reason),
    });
    match reasons.next() {
        None => Err(ScoreError::NoPredictions),
        Some(Some(first)) if reasons.all(|reason| reason.is_some()) => {
            Err(ScoreError::OnlyFailures {
                n_predictions: predictions.len(),
                reason: first.to_string(),
            })
        }
        Some(_) => Ok(()),
    }
}

fn models(predictions: &[Prediction]) -> (Vec<&ModelName>, BTreeMap<&ModelName, usize>) {
    let mut models = Vec::new();
    let mut idx_by_model = BTreeMap::new();
    for prediction in predictions {
        idx_by_model.entry(&prediction.model).or_insert_with(|| {
            models.push(&prediction.model);
            models.len() - 1
        });
    }
    (models, idx_by_model)
}

pub(super) fn stimulus_by_id(
    stimuli: &[Stimulus],
) -> Result<HashMap<&StimulusId, &Stimulus>, ScoreError> {
    let mut by_id = HashMap::with_capacity(stimuli.len());
    for stimulus in stimuli {
        if by_id.insert(&stimulus.id, stimulus).is_some() {
            return Err(ScoreError::RepeatedStimulus { stimulus: stimulus.id.clone() });
        }
    }
    Ok(by_id)
}

/// Returns the difficulties of the measure asked for, or of the only one there is.
pub(super) fn difficulty_by_id<'a>(
    difficulties: &'a [Difficulty],
    wanted: Option<&str>,
) -> Result<HashMap<&'a StimulusId, &'a Difficulty>, ScoreError> {
    let measures: BTreeSet<&str> = difficulties.iter().map(|row| row.measure.as_str()).collect();
    let known = || measures.iter().map(|measure| (*measure).to_owned()).collect();
    let measure = match wanted {
        Some(wanted) if !measures.contains(wanted) => {
            let wanted = wanted.to_owned();
            return Err(ScoreError::UnknownMeasure { wanted, measures: known() });
        }
        Some(wanted) => Some(wanted),
        None if 1 < measures.len() => {
            return Err(ScoreError::SeveralMeasures { measures: known() });
        }
        None => measures.first().copied(),
    };
    let mut by_id = HashMap::new();
    for row in difficulties.iter().filter(|row| Some(row.measure.as_str()) == measure) {
        if by_id.insert(&row.stimulus, row).is_some() {
            return Err(ScoreError::RepeatedDifficulty {
                stimulus: row.stimulus.clone(),
                measure: row.measure.clone(),
            });
        }
    }
    Ok(by_id)
}

/// Returns the stimuli rows are about, by id, and the place of each.
fn shown<'a>(
    predictions: &'a [Prediction],
    stimulus_by_id: &HashMap<&StimulusId, &'a Stimulus>,
    difficulty_by_id: &HashMap<&StimulusId, &'a Difficulty>,
) -> (Vec<Shown<'a>>, HashMap<&'a StimulusId, usize>) {
    let mut label_by_id: HashMap<&StimulusId, Option<&Label>> = HashMap::new();
    let mut ids: Vec<&StimulusId> = Vec::new();
    for prediction in predictions {
        let label = label_by_id.entry(&prediction.stimulus).or_insert_with(|| {
            ids.push(&prediction.stimulus);
            None
        });
        // Should rows disagree, any fixed choice does: this is only about groups.
        *label = match (*label, &prediction.label) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b.as_ref()),
        };
    }
    ids.sort_unstable();
    let stimuli = ids
        .iter()
        .map(|id| {
            let stimulus = stimulus_by_id.get(id).copied();
            Shown {
                id,
                label: stimulus.map(|stimulus| &stimulus.label).or(label_by_id[id]),
                stimulus,
                difficulty: difficulty_by_id.get(id).copied(),
                class_idx: 0,
                band_idx: None,
            }
        })
        .collect();
    (stimuli, ids.into_iter().enumerate().map(|(idx, id)| (id, idx)).collect())
}

/// Numbers the classes and returns how many there are.
pub(super) fn classes(stimuli: &mut [Shown<'_>]) -> usize {
    let labels: BTreeSet<&Label> = stimuli.iter().filter_map(|shown| shown.label).collect();
    let idx_by_label: BTreeMap<&Label, usize> =
        labels.into_iter().enumerate().map(|(idx, label)| (label, idx)).collect();
    let mut n = idx_by_label.len();
    for shown in stimuli {
        shown.class_idx = shown.label.map_or(n, |label| idx_by_label[label]);
        n += usize::from(shown.label.is_none());
    }
    n
}

/// What makes a row the only one of its kind.
fn key<'a>(row: &Row<'a>) -> (usize, usize, &'a str, Option<(&'a str, u64)>) {
    let condition = row.prediction.condition.as_ref();
    let condition = condition.map(|condition| (condition.name.as_str(), condition.value.to_bits()));
    (row.model_idx, row.stimulus_idx, row.prediction.probe.as_str(), condition)
}

fn check_repeats(rows: &[Row<'_>]) -> Result<(), ScoreError> {
    let mut seen = HashSet::with_capacity(rows.len());
    let Some(repeated) = rows.iter().find(|row| !seen.insert(key(row))) else { return Ok(()) };
    let condition = repeated.prediction.condition.as_ref();
    Err(ScoreError::RepeatedPrediction {
        model: repeated.prediction.model.clone(),
        stimulus: repeated.prediction.stimulus.clone(),
        probe: repeated.prediction.probe.to_string(),
        condition: condition.map(|condition| format!("{} {}", condition.name, condition.value)),
        n: rows.iter().filter(|row| key(row) == key(repeated)).count(),
    })
}

/// Returns the rows to look at, and what they are.
fn view(rows: &[Row<'_>]) -> (Vec<usize>, View, Option<String>) {
    let has_none = |row: &Row<'_>| row.prediction.probe == Prediction::NO_PROBE;
    let is_plain = |row: &Row<'_>| has_none(row) && row.prediction.condition.is_none();
    let places = |keep: &dyn Fn(&Row<'_>) -> bool| -> Vec<usize> {
        (0..rows.len()).filter(|idx| keep(&rows[*idx])).collect()
    };
    let viewed = |places: Vec<usize>, probe: Option<&str>, condition, chosen| {
        let probe = probe.map(ToOwned::to_owned);
        let view = View { probe, condition, n_predictions: places.len() };
        (places, view, chosen)
    };
    let plain = places(&is_plain);
    if !plain.is_empty() {
        return viewed(plain, Some(Prediction::NO_PROBE), None, None);
    }
    let mut cells = HashSet::with_capacity(rows.len());
    let probes: BTreeSet<&str> = rows.iter().map(|row| row.prediction.probe.as_str()).collect();
    if rows.iter().all(|row| cells.insert((row.model_idx, row.stimulus_idx))) {
        let probe = (probes.len() == 1).then(|| probes.first().copied()).flatten();
        let first = &rows[0].prediction.condition;
        let is_same = rows.iter().all(|row| row.prediction.condition == *first);
        let condition = first.as_ref().filter(|_| is_same);
        let condition = condition.map(|at| (at.name.to_string(), at.value));
        return viewed((0..rows.len()).collect(), probe, condition, None);
    }
    let probe = if probes.contains(Prediction::NO_PROBE) {
        Prediction::NO_PROBE
    } else {
        probes.iter().copied().min_by(|a, b| by_number(a, b)).unwrap_or(Prediction::NO_PROBE)
    };
    let of_probe = move |row: &Row<'_>| row.prediction.probe == probe;
    let without = places(&|row| of_probe(row) && row.prediction.condition.is_none());
    if !without.is_empty() {
        let chosen = Some(format!("the probe `{probe}`"));
        return viewed(without, Some(probe), None, chosen);
    }
    let conditions = || {
        let of_probe = rows.iter().filter(|row| of_probe(row));
        of_probe.filter_map(|row| Some((row.model_idx, row.prediction.condition.as_ref()?)))
    };
    let names: BTreeSet<&str> = conditions().map(|(_, at)| at.name.as_str()).collect();
    let name = if names.contains(EPOCH) { EPOCH } else { names.first().copied().unwrap_or(EPOCH) };
    let values = || conditions().filter(|(_, at)| at.name == name);
    if name == EPOCH {
        // Each model's own last epoch: training may have stopped early.
        let mut last: BTreeMap<usize, f64> = BTreeMap::new();
        for (model_idx, at) in values() {
            let value = last.entry(model_idx).or_insert(at.value);
            *value = value.max(at.value);
        }
        let is_last = |row: &Row<'_>| {
            let at = row.prediction.condition.as_ref();
            let is_at = |value: &f64| at.is_some_and(|at| at.name == name && *value <= at.value);
            of_probe(row) && last.get(&row.model_idx).is_some_and(is_at)
        };
        let latest = last.values().copied().fold(f64::NEG_INFINITY, f64::max);
        let chosen = Some("the last epoch of each model".to_owned());
        return viewed(places(&is_last), Some(probe), Some((name.to_owned(), latest)), chosen);
    }
    let smallest = values().map(|(_, at)| at.value).fold(f64::INFINITY, f64::min);
    let is_smallest = |row: &Row<'_>| {
        let at = row.prediction.condition.as_ref();
        of_probe(row) && at.is_some_and(|at| at.name == name && at.value <= smallest)
    };
    let chosen = Some(format!("the probe `{probe}` with {name} {smallest}"));
    viewed(places(&is_smallest), Some(probe), Some((name.to_owned(), smallest)), chosen)
}

fn answers(rows: &[Row<'_>], viewed: &[usize], n_models: usize, n_stimuli: usize) -> Vec<Answers> {
    let mut answers: Vec<Answers> = (0..n_models)
        .map(|_| Answers {
            judged: vec![0; n_stimuli],
            right: vec![0; n_stimuli],
            row: vec![None; n_stimuli],
        })
        .collect();
    for row_idx in viewed {
        let row = &rows[*row_idx];
        let of_model = &mut answers[row.model_idx];
        of_model.row[row.stimulus_idx] = u32::try_from(*row_idx).ok();
        of_model.judged[row.stimulus_idx] = u8::from(row.is_right.is_some());
        of_model.right[row.stimulus_idx] = u8::from(row.is_right == Some(true));
    }
    answers
}
