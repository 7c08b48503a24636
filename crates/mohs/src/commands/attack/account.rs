//! What came out of attacks, in text, JSON and CSV: how many pictures each attack fooled, how often
//! the model was asked, and what trying the whole grid would have asked.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use mohs_data::{FastAnswer, MinEpsilon, Search};
use mohs_report::TextTable;
use mohs_vision::engine::Engine;
use mohs_vision::evaluate::side_table::cell;
use mohs_vision::min_epsilon::{Planned, Tally};
use mohs_vision::probe::attack::{ATTACKS, Kind, Preset, SETTINGS, Settings};
use serde_json::json;

use super::AttackArgs;
use super::request::Request;
use crate::args::Format;
use crate::error::CliError;

/// A slope costs about as much as three answers.
const COST_OF_GRADIENT: u64 = 3;
/// How many reasons are listed.
const SHOWN: usize = 8;

/// Everything that is said at the end.
pub(super) struct Account {
    attacks: Vec<Planned>,
    /// Models in the order of the rows.
    models: Vec<String>,
    /// By place of the model and of the attack.
    lines: BTreeMap<(usize, usize), Line>,
    corrected: BTreeMap<String, Line>,
    failures: BTreeMap<String, (usize, String)>,
    tally: Tally,
    took: Duration,
    seed: u64,
    engine: String,
    output: String,
}

/// One model under one attack.
#[derive(Default, Clone, Copy)]
struct Line {
    n_found: usize,
    n_survived: usize,
    n_not_attacked: usize,
    n_failed: usize,
    n_forward: u64,
    n_gradient: u64,
    n_audited: usize,
    n_other: usize,
}

impl Line {
    fn add(&mut self, row: &MinEpsilon) {
        match row.search {
            Search::Found { .. } => self.n_found += 1,
            Search::Survived { .. } => self.n_survived += 1,
            Search::NotAttacked => self.n_not_attacked += 1,
            Search::Failed(_) => self.n_failed += 1,
        }
        self.n_forward += row.n_forward;
        self.n_gradient += row.n_gradient;
        if let Some(fast) = row.fast {
            self.n_audited += 1;
            let is_same = match fast {
                FastAnswer::Found(epsilon) => row.epsilon() == Some(epsilon),
                FastAnswer::Survived => row.epsilon().is_none(),
            };
            self.n_other += usize::from(!is_same);
        }
    }

    fn n_attacked(&self) -> usize {
        self.n_found + self.n_survived
    }

    fn cost(&self) -> u64 {
        self.n_forward + COST_OF_GRADIENT * self.n_gradient
    }
}

impl Account {
    pub(super) fn new(request: &Request, args: &AttackArgs, engine: &Engine) -> Account {
        Account {
            attacks: request.attacks().to_vec(),
            models: Vec::new(),
            lines: BTreeMap::new(),
            corrected: BTreeMap::new(),
            failures: BTreeMap::new(),
            tally: Tally::default(),
            took: Duration::ZERO,
            seed: args.seed,
            engine: format!("{} {}", engine.name(), engine.version()),
            output: args.output.display().to_string(),
        }
    }

    pub(super) fn add(&mut self, row: &MinEpsilon) {
        let place = self.attacks.iter().position(|planned| planned.attack.name == row.attack);
        let known = self.models.iter().position(|model| *model == row.model.as_str());
        let model = known.unwrap_or_else(|| {
            self.models.push(row.model.to_string());
            self.models.len() - 1
        });
        let key = (model, place.unwrap_or(usize::MAX));
        self.lines.entry(key).or_default().add(row);
        self.note_failure(row);
    }

    fn note_failure(&mut self, row: &MinEpsilon) {
        if let Search::Failed(reason) = &row.search {
            let first = row.stimulus.to_string();
            self.failures.entry(reason.to_string()).or_insert((0, first)).0 += 1;
        }
    }

    pub(super) fn add_corrected(&mut self, row: &MinEpsilon) {
        let name = format!("{} {}", row.model, row.attack);
        self.corrected.entry(name).or_default().add(row);
        self.note_failure(row);
    }

    pub(super) fn count(&mut self, tally: Tally) {
        let calls = &mut self.tally.calls;
        calls.n_answers += tally.calls.n_answers;
        calls.n_gradients += tally.calls.n_gradients;
        calls.n_filling += tally.calls.n_filling;
        self.tally.n_known += tally.n_known;
    }

    pub(super) fn end(&mut self, took: Duration) {
        self.took = took;
    }

    /// The complaint that some rows failed, if some did.
    pub(super) fn complaint(&self) -> Option<CliError> {
        let n: usize = self.failures.values().map(|(n, _)| n).sum();
        let (reason, (_, first)) = self.failures.iter().next()?;
        let text = format!("{n} rows failed, such as that of `{first}`: {reason}");
        Some(CliError::partly(text).hint("failed rows are in the output with their reasons"))
    }

    pub(super) fn shown(&self, format: Format) -> Result<String, CliError> {
        Ok(match format {
            Format::Text => self.text(),
            Format::Csv => self.csv(),
            Format::Json => self.json(),
        })
    }

    /// What trying the whole grid would ask for all pictures of a line: answers and slopes.
    fn sweep_of(&self, place: usize, line: &Line) -> Option<(u64, u64)> {
        let planned = self.attacks.get(place)?;
        let (answers, slopes) = planned.calls_of_sweep()?;
        let n = line.n_attacked() as u64;
        Some((answers * n, slopes * n))
    }

    fn text(&self) -> String {
        let header = [
            "model",
            "attack",
            "attacked",
            "reached",
            "survived",
            "not attacked",
            "failed",
            "answers",
            "gradients",
            "of a sweep",
            "audited",
            "other ε",
        ];
        let mut table = TextTable::new(header);
        for ((model, place), line) in &self.lines {
            let share = self.sweep_of(*place, line).and_then(|(answers, slopes)| {
                let whole = answers + COST_OF_GRADIENT * slopes;
                #[expect(clippy::cast_precision_loss, reason = "counts of calls are small")]
                let ratio = whole as f64 / line.cost() as f64;
                (0 < line.cost() && 0 < whole).then(|| format!("1/{ratio:.1}"))
            });
            table.push([
                self.models[*model].clone(),
                self.attacks.get(*place).map_or("?", |planned| planned.attack.name).to_owned(),
                line.n_attacked().to_string(),
                line.n_found.to_string(),
                line.n_survived.to_string(),
                line.n_not_attacked.to_string(),
                line.n_failed.to_string(),
                line.n_forward.to_string(),
                line.n_gradient.to_string(),
                share.unwrap_or_else(|| "–".to_owned()),
                if 0 < line.n_audited { line.n_audited.to_string() } else { "–".to_owned() },
                if 0 < line.n_audited { line.n_other.to_string() } else { "–".to_owned() },
            ]);
        }
        let mut text = table.render();
        for (name, line) in &self.corrected {
            let _ =
                writeln!(text, "put right by {name}: {} of {}", line.n_found, line.n_attacked());
        }
        for (reason, (n, first)) in self.failures.iter().take(SHOWN) {
            let _ = writeln!(text, "failed: {n} × {reason} (first: {first})");
        }
        let calls = self.tally.calls;
        let _ = writeln!(
            text,
            "asked now: {} answers, {} gradients, {} to fill up batches; {} attempts were known; \
             {:.1} s; seed {}",
            calls.n_answers,
            calls.n_gradients,
            calls.n_filling,
            self.tally.n_known,
            self.took.as_secs_f64(),
            self.seed
        );
        text
    }

    fn csv(&self) -> String {
        let mut text = "model,attack,n_attacked,n_found,n_survived,n_not_attacked,n_failed,\
                        n_forward,n_gradient,sweep_forward,sweep_gradient,n_audited,n_other\n"
            .to_owned();
        for ((model, place), line) in &self.lines {
            let (answers, slopes) = self.sweep_of(*place, line).unwrap_or((0, 0));
            let name = self.attacks.get(*place).map_or("?", |planned| planned.attack.name);
            let _ = writeln!(
                text,
                "{},{name},{},{},{},{},{},{},{},{answers},{slopes},{},{}",
                cell(&self.models[*model]),
                line.n_attacked(),
                line.n_found,
                line.n_survived,
                line.n_not_attacked,
                line.n_failed,
                line.n_forward,
                line.n_gradient,
                line.n_audited,
                line.n_other
            );
        }
        text
    }

    fn json(&self) -> String {
        let line = |((model, place), line): (&(usize, usize), &Line)| {
            let planned = self.attacks.get(*place);
            let sweep = self.sweep_of(*place, line);
            json!({
                "model": self.models[*model],
                "attack": planned.map(|planned| planned.attack.name),
                "settings": planned.map(|planned| planned.attack.signature(&planned.settings)),
                "grid": planned.map(|planned| planned.grid.to_string()),
                "n_attacked": line.n_attacked(),
                "n_found": line.n_found,
                "n_survived": line.n_survived,
                "n_not_attacked": line.n_not_attacked,
                "n_failed": line.n_failed,
                "n_forward": line.n_forward,
                "n_gradient": line.n_gradient,
                "sweep_forward": sweep.map(|(answers, _)| answers),
                "sweep_gradient": sweep.map(|(_, slopes)| slopes),
                "n_audited": line.n_audited,
                "n_other": line.n_other,
            })
        };
        let failures = self
            .failures
            .iter()
            .map(|(reason, (n, first))| json!({ "reason": reason, "n": n, "first": first }));
        let corrected = self.corrected.iter().map(|(name, line)| {
            json!({ "attack": name, "n_attacked": line.n_attacked(), "n_found": line.n_found })
        });
        let calls = self.tally.calls;
        let all = json!({
            "output": self.output,
            "engine": self.engine,
            "seed": self.seed,
            "seconds": self.took.as_secs_f64(),
            "asked": {
                "answers": calls.n_answers,
                "gradients": calls.n_gradients,
                "filling": calls.n_filling,
                "known_attempts": self.tally.n_known,
            },
            "attacks": self.lines.iter().map(line).collect::<Vec<_>>(),
            "corrected": corrected.collect::<Vec<_>>(),
            "failures": failures.collect::<Vec<_>>(),
        });
        let mut text = serde_json::to_string_pretty(&all).expect("because keys are text");
        text.push('\n');
        text
    }
}

/// The attacks with their settings, for people who choose.
pub(super) fn list(format: Format) -> Result<String, CliError> {
    let kind = |kind: Kind| match kind {
        Kind::WhiteBox => "gradients",
        Kind::BlackBox => "answers only",
        Kind::Minimal => "gradients, no grid",
    };
    let settings = |preset| {
        move |attack: &mohs_vision::probe::attack::Attack| {
            attack.signature(&Settings::of(attack, preset))
        }
    };
    let (paper, newer) = (settings(Preset::Paper), settings(Preset::Torchattacks351));
    match format {
        Format::Json => {
            let one = |attack: &&mohs_vision::probe::attack::Attack| {
                json!({
                    "name": attack.name,
                    "also_called": attack.also_called,
                    "about": attack.about,
                    "norm": attack.norm.as_str(),
                    "needs": kind(attack.kind),
                    "can_aim": attack.is_targetable,
                    "paper": paper(attack),
                    "torchattacks-3.5.1": newer(attack),
                })
            };
            let all: Vec<_> = ATTACKS.iter().map(one).collect();
            let mut text = serde_json::to_string_pretty(&all).expect("because keys are text");
            text.push('\n');
            Ok(text)
        }
        Format::Csv => Err(CliError::input("--list has no CSV form").hint("use --format json")),
        Format::Text => {
            let mut text = String::new();
            for attack in ATTACKS {
                let aims = if attack.is_targetable { ", can aim" } else { "" };
                let _ = writeln!(
                    text,
                    "{}: {} ({}, {}{aims})\n  paper:              {}\n  torchattacks-3.5.1: {}",
                    attack.name,
                    attack.about,
                    attack.norm,
                    kind(attack.kind),
                    paper(attack),
                    newer(attack)
                );
            }
            text.push_str("\nsettings\n");
            for info in SETTINGS {
                let _ = writeln!(text, "  {}: {}", info.name, info.expected);
            }
            Ok(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use mohs_data::{Extra, FailureReason, Goal, How, Norm};

    use super::*;

    #[test]
    fn a_correction_that_failed_is_complained_about() {
        let mut account = Account {
            attacks: Vec::new(),
            models: Vec::new(),
            lines: BTreeMap::new(),
            corrected: BTreeMap::new(),
            failures: BTreeMap::new(),
            tally: Tally::default(),
            took: Duration::ZERO,
            seed: 1,
            engine: String::new(),
            output: String::new(),
        };
        assert!(account.complaint().is_none());
        account.add_corrected(&MinEpsilon {
            model: "m".into(),
            stimulus: "s".into(),
            attack: "fgsm".into(),
            norm: Norm::Linf,
            goal: Goal::Correct,
            settings: "".into(),
            label: "mug".into(),
            clean: Some("cup".into()),
            search: Search::Failed(FailureReason::new("no number")),
            how: How::Exact,
            fast: None,
            n_forward: 1,
            n_gradient: 1,
            flags: Vec::new(),
            extra: Extra::default(),
        });
        assert!(account.complaint().is_some());
    }
}
