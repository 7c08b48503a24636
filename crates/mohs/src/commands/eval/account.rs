//! What came out of an evaluation, in text, JSON and CSV: accuracy of each model under each probe,
//! what was asked and what was known, how long it took, and why rows failed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mohs_data::{Estimate, Manifest, ModelName, Outcome};
use mohs_report::TextTable;
use mohs_score::proportion;
use mohs_vision::endpoint;
use mohs_vision::engine::Engine;
use mohs_vision::evaluate::{Lack, Plan, Row, Tally};
use serde_json::json;

use crate::args::Format;
use crate::error::CliError;

/// Everything that is said at the end.
pub(super) struct Account {
    name: String,
    output: PathBuf,
    /// Its name and version; none where all models are behind endpoints.
    engine: Option<(String, String)>,
    seed: u64,
    probes: Vec<(String, String)>,
    models: Vec<ModelAccount>,
    took: Duration,
}

/// What came out of one model.
pub(super) struct ModelAccount {
    name: ModelName,
    cells: Vec<Cell>,
    /// Rows by why they failed, with the first stimulus.
    failures: BTreeMap<String, (usize, String)>,
    /// Kinds of failures.
    lacks: Vec<Lack>,
    tally: Tally,
    /// What it cost, for models behind endpoints.
    spent: Option<endpoint::Tally>,
    took: Duration,
}

/// One model under one probe.
#[derive(Clone, Copy, Default)]
struct Cell {
    n_answered: usize,
    n_failed: usize,
    n_judged: usize,
    n_correct: usize,
}

impl Cell {
    fn accuracy(&self) -> Option<Estimate> {
        proportion::wilson(self.n_correct, self.n_judged, CONFIDENCE)
    }
}

const CONFIDENCE: f64 = 0.95;
/// How many reasons are listed.
const SHOWN: usize = 8;

impl ModelAccount {
    pub(super) fn new(name: ModelName, n_probes: usize) -> Self {
        let (tally, took) = (Tally::default(), Duration::ZERO);
        let cells = vec![Cell::default(); n_probes];
        let (failures, lacks) = (BTreeMap::new(), Vec::new());
        Self { name, cells, failures, lacks, tally, spent: None, took }
    }

    pub(super) fn add(&mut self, row: &Row<'_>) {
        let cell = &mut self.cells[row.probe];
        match &row.prediction.outcome {
            Outcome::Answered(_) => cell.n_answered += 1,
            Outcome::Failed(reason) => {
                cell.n_failed += 1;
                let stimulus = row.prediction.stimulus.to_string();
                // What a model said in its own words differs from row to row; the rows have it.
                let kind = reason.as_str().split(": “").next().unwrap_or_default();
                let entry = self.failures.entry(kind.to_owned()).or_insert((0, stimulus));
                entry.0 += 1;
                let lack = row.lack.unwrap_or(Lack::Broken);
                if !self.lacks.contains(&lack) {
                    self.lacks.push(lack);
                }
            }
        }
        if let Some(is_correct) = row.prediction.is_correct() {
            cell.n_judged += 1;
            cell.n_correct += usize::from(is_correct);
        }
    }

    pub(super) fn end(&mut self, tally: Tally, spent: Option<endpoint::Tally>, took: Duration) {
        (self.tally, self.spent, self.took) = (tally, spent, took);
    }
}

impl Account {
    pub(super) fn new(
        plan: &Plan<'_>,
        manifest: &Manifest,
        output: &Path,
        engine: Option<&Engine>,
    ) -> Self {
        let probe =
            |probe: &mohs_vision::probe::Probe| (probe.name().to_owned(), probe.signature());
        Self {
            name: manifest.name.clone(),
            output: output.to_owned(),
            engine: engine.map(|one| (one.name().to_owned(), one.version().to_owned())),
            seed: manifest.seed.0,
            probes: plan.probes().iter().map(probe).collect(),
            models: Vec::new(),
            took: Duration::ZERO,
        }
    }

    pub(super) fn push(&mut self, model: ModelAccount) {
        self.models.push(model);
    }

    pub(super) fn end(&mut self, took: Duration) {
        self.took = took;
    }

    fn total(&self) -> Tally {
        self.models.iter().fold(Tally::default(), |sum, model| Tally {
            n_asked: sum.n_asked + model.tally.n_asked,
            n_from_cache: sum.n_from_cache + model.tally.n_from_cache,
            n_failed: sum.n_failed + model.tally.n_failed,
            n_batches: sum.n_batches + model.tally.n_batches,
        })
    }

    fn n_rows(&self) -> usize {
        let cells = self.models.iter().flat_map(|model| &model.cells);
        cells.map(|cell| cell.n_answered + cell.n_failed).sum()
    }

    pub(super) fn text(&self) -> String {
        let mut table = TextTable::new(["model", "probe", "accuracy", "95 %", "right", "failed"]);
        for model in &self.models {
            for (cell, (probe, _)) in model.cells.iter().zip(&self.probes) {
                let (accuracy, interval) = match cell.accuracy() {
                    Some(e) => {
                        (format!("{:.3}", e.value), format!("{:.3} to {:.3}", e.low, e.high))
                    }
                    None => (String::new(), String::new()),
                };
                let right = format!("{} of {}", cell.n_correct, cell.n_judged);
                let failed = cell.n_failed.to_string();
                let name = model.name.to_string();
                table.push([name, probe.clone(), accuracy, interval, right, failed]);
            }
        }
        let mut text = table.render();
        let total = self.total();
        let _ = writeln!(
            text,
            "\nasked {} · known already {} · failed {} · {} · {:.1} per second · seed {}",
            total.n_asked,
            total.n_from_cache,
            total.n_failed,
            seconds(self.took),
            per_second(self.n_rows(), self.took),
            self.seed
        );
        for model in &self.models {
            let Some(spent) = &model.spent else { continue };
            text.push_str(&paid(&model.name, spent));
        }
        text
    }

    pub(super) fn json(&self) -> String {
        let model = |model: &ModelAccount| {
            let cell = |(cell, (probe, signature)): (&Cell, &(String, String))| {
                json!({
                    "probe": probe,
                    "does": signature,
                    "n_answered": cell.n_answered,
                    "n_failed": cell.n_failed,
                    "n_judged": cell.n_judged,
                    "n_correct": cell.n_correct,
                    "accuracy": cell.accuracy(),
                })
            };
            let failure = |(reason, (n, first)): (&String, &(usize, String))| json!({ "reason": reason, "n": n, "first": first });
            let spent = model.spent.as_ref().map(|spent| {
                json!({
                    "paid": spent.n_paid,
                    "sent": spent.n_sent,
                    "repeated": spent.n_repeated,
                    "tokens_sent": spent.usage.n_input,
                    "tokens_received": spent.usage.n_output,
                    "cost": spent.cost,
                    "cost_in_all": spent.cost_in_all,
                    "doubtful": spent.n_doubtful,
                    "doubtful_cost": spent.doubtful_cost,
                })
            });
            json!({
                "model": model.name,
                "spent": spent,
                "probes": model.cells.iter().zip(&self.probes).map(cell).collect::<Vec<_>>(),
                "asked": model.tally.n_asked,
                "from_cache": model.tally.n_from_cache,
                "failed": model.tally.n_failed,
                "batches": model.tally.n_batches,
                "seconds": model.took.as_secs_f64(),
                "failures": model.failures.iter().map(failure).collect::<Vec<_>>(),
            })
        };
        let total = self.total();
        let engine = self.engine.as_ref();
        let engine = engine.map(|(name, version)| json!({ "name": name, "version": version }));
        let json = json!({
            "version": 1,
            "name": self.name,
            "output": self.output.display().to_string(),
            "engine": engine,
            "seed": self.seed,
            "rows": self.n_rows(),
            "asked": total.n_asked,
            "from_cache": total.n_from_cache,
            "failed": total.n_failed,
            "batches": total.n_batches,
            "seconds": self.took.as_secs_f64(),
            "models": self.models.iter().map(model).collect::<Vec<_>>(),
        });
        format!("{json:#}\n")
    }

    pub(super) fn csv(&self) -> String {
        let mut text =
            "model,probe,n_answered,n_failed,n_judged,n_correct,accuracy,low,high\n".to_owned();
        for model in &self.models {
            for (cell, (probe, _)) in model.cells.iter().zip(&self.probes) {
                let (name, probe) = (quoted(model.name.as_str()), quoted(probe));
                let Cell { n_answered, n_failed, n_judged, n_correct } = cell;
                let _ =
                    write!(text, "{name},{probe},{n_answered},{n_failed},{n_judged},{n_correct}");
                let _ = match cell.accuracy() {
                    Some(e) => writeln!(text, ",{},{},{}", e.value, e.low, e.high),
                    None => writeln!(text, ",,,"),
                };
            }
        }
        text
    }

    /// Says that rows failed, and why, most frequent reasons first; and what to do, which depends on
    /// whether answers are kept.
    pub(super) fn complaint(&self, is_kept: bool) -> Option<CliError> {
        let n_failed = self.total().n_failed;
        if n_failed == 0 {
            return None;
        }
        let message = format!("{n_failed} of {} rows failed", self.n_rows());
        let mut reasons: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
        for (reason, (n, first)) in self.models.iter().flat_map(|model| &model.failures) {
            reasons.entry(reason).or_insert((0, first)).0 += n;
        }
        let mut ranked: Vec<(&str, (usize, &str))> = reasons.into_iter().collect();
        ranked.sort_by(|(_, (a, _)), (_, (b, _))| b.cmp(a));
        let mut error = CliError::partly(message);
        for (reason, (n, first)) in ranked.iter().take(SHOWN) {
            error = error.cause(format!("{n} × {reason} (first: {first})"));
        }
        if SHOWN < ranked.len() {
            error = error.cause(format!("and {} more reasons", ranked.len() - SHOWN));
        }
        let has = |lacks: &[Lack]| {
            self.models.iter().flat_map(|model| &model.lacks).any(|lack| lacks.contains(lack))
        };
        for (lacks, when_kept, when_not) in HINTS {
            if has(lacks) {
                error = error.hint(if is_kept { *when_kept } else { *when_not });
            }
        }
        Some(error)
    }
}

/// What to do about each kind of failure, where answers are kept and where they are not.
const HINTS: &[(&[Lack], &str, &str)] = &[
    (
        &[Lack::Broken],
        "mend the pictures and run again: only they are asked for anew",
        "mend the pictures and run again: with --no-cache all are asked for anew",
    ),
    (
        &[Lack::NotReached],
        "run the same again: answers are kept, and only what has none is asked for",
        "with --no-cache no answer was kept: the same again asks and pays for all of it",
    ),
    (
        &[Lack::TooDear],
        "raise `cost_cap` and run again: answers are kept",
        "with --no-cache no answer was kept: raise `cost_cap`, and all is asked and paid again",
    ),
    (
        &[Lack::Unmatched, Lack::Refused],
        "refusals and answers that name no class are kept, and the same again asks nothing; another \
         `prompt` or other `parameters` ask everything anew",
        "another `prompt` or other `parameters` may get answers that name a class",
    ),
];

/// What was paid for a model behind an endpoint, and what may have been.
pub(super) fn paid(model: &ModelName, spent: &endpoint::Tally) -> String {
    let mut text = format!(
        "{model}: {} paid calls, {} asked again · {} tokens sent, {} received · cost {:.4}, in all \
         {:.4}\n",
        spent.n_paid,
        spent.n_repeated,
        spent.usage.n_input,
        spent.usage.n_output,
        spent.cost,
        spent.cost_in_all,
    );
    if 0 < spent.n_doubtful {
        let _ = writeln!(
            text,
            "{model}: {} requests may have been paid although no answer came, up to {:.4}",
            spent.n_doubtful, spent.doubtful_cost,
        );
    }
    text
}

/// What a dry run says: for each model its name, its rows, those known, those of missing files.
pub(super) fn dry_run(
    rows: &[(ModelName, usize, usize, usize)],
    output: &Path,
    format: Format,
) -> String {
    let to_ask = |n_rows: usize, n_known: usize, n_missing: usize| {
        n_rows.saturating_sub(n_known + n_missing)
    };
    match format {
        Format::Text => {
            let mut table = TextTable::new(["model", "rows", "known", "to ask", "no file"]);
            for (name, n_rows, n_known, n_missing) in rows {
                let asked = to_ask(*n_rows, *n_known, *n_missing);
                let numbers = [*n_rows, *n_known, asked, *n_missing].map(|n| n.to_string());
                table.push([&[name.to_string()][..], &numbers].concat());
            }
            format!("{}\nwould write {}\nNothing was run.\n", table.render(), output.display())
        }
        Format::Csv => {
            let mut text = "model,rows,known,to_ask,no_file\n".to_owned();
            for (name, n_rows, n_known, n_missing) in rows {
                let asked = to_ask(*n_rows, *n_known, *n_missing);
                let name = quoted(name.as_str());
                let _ = writeln!(text, "{name},{n_rows},{n_known},{asked},{n_missing}");
            }
            text
        }
        Format::Json => {
            let model = |(name, n_rows, n_known, n_missing): &(ModelName, usize, usize, usize)| {
                json!({
                    "model": name,
                    "rows": n_rows,
                    "known": n_known,
                    "to_ask": to_ask(*n_rows, *n_known, *n_missing),
                    "no_file": n_missing,
                })
            };
            let models: Vec<_> = rows.iter().map(model).collect();
            let output = output.display().to_string();
            format!("{:#}\n", json!({ "version": 1, "output": output, "models": models }))
        }
    }
}

/// A cell of a CSV file, with quotes only where needed.
pub(in crate::commands) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

#[expect(clippy::cast_precision_loss, reason = "rows are counted, not measured")]
fn per_second(n: usize, took: Duration) -> f64 {
    n as f64 / took.as_secs_f64().max(1e-9)
}
