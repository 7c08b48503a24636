//! `mohs ladder build generate`: a ladder that a writer describes and a painter draws.
//!
//! What it will cost is said before anything is asked. The plan comes first (`plan.toml`, then
//! `prompts.csv`), for people to read and change; then the pictures. Everything that was paid for
//! is in `paid/` before it is used, so that a run that was killed goes on and pays for nothing
//! twice. What cannot be drawn is a row of `pictures.csv` that says why.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mohs_data::format::{ReadOptions, read_all, read_stimuli, write_all};
use mohs_data::{
    Commission, DrawPlan, EndpointEntry, Extra, FileError, Label, Prompt, Stimulus, StimulusId,
    review as reviews,
};
use mohs_vision::commission::{
    CommissionError, PromptCell, Slot, Work, cells_without_prompts, estimate, fill_template,
    propose, slots, write_prompts, writer_entry,
};
use mohs_vision::endpoint::images::{Drawing, ImageOutcome, draw_each};
use mohs_vision::endpoint::{Endpoint, EndpointError};
use mohs_vision::labels;
use mohs_vision::stimulus::sha256;

use super::account::{self, Entry, Outcome};
use super::photos::file_name;
use super::{MADE, REVIEW, SheetRow, finish, make_folders, write_sheets};
use crate::endpoint_key;
use crate::error::CliError;
use crate::ui::Ui;

/// Have a ladder described by a language model and drawn by an image model
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs ladder build generate draw.toml --output ladder --dry-run     what would it cost?
  mohs ladder build generate draw.toml --output ladder --plan-only   then read and change plan.toml
  mohs ladder build generate draw.toml --output ladder

docs/formats/drawing.md says what draw.toml holds. Costs are estimated and said before anything is
paid; give `max_cost` in draw.toml, or --yes. A run that was stopped goes on, and pays for nothing
twice. Pictures that `mohs ladder review` rejected are drawn anew.")]
pub(crate) struct GenerateArgs {
    /// What is wanted, and of whom
    #[arg(value_name = "CONFIG")]
    config: PathBuf,
    /// Folder to make
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Say what would be asked and what it would cost; ask nothing, write nothing
    #[arg(long)]
    dry_run: bool,
    /// Stop when plan.toml and prompts.csv are written
    #[arg(long)]
    plan_only: bool,
    /// Pay what it costs, without `max_cost`
    #[arg(long)]
    yes: bool,
}

const PLAN: &str = "plan.toml";
const PROMPTS: &str = "prompts.csv";
const PAID: &str = "paid";

/// Everything that is known before anything is asked.
struct Desk<'a> {
    args: &'a GenerateArgs,
    commission: Commission,
    classes: Vec<Label>,
    plan: Option<DrawPlan>,
    prompts: Vec<Prompt>,
    rejected: BTreeSet<StimulusId>,
}

pub(super) fn run(args: &GenerateArgs, ui: &Ui) -> Result<(), CliError> {
    let mut desk = Desk::open(args)?;
    let has_paid = args.output.join(PAID).is_dir();
    // Only to look into the ledgers: nobody is asked, so no key is needed.
    let ledger = has_paid.then(|| args.output.join(PAID));
    let lines = {
        let commission = &desk.commission;
        let writer = commission
            .writer
            .as_ref()
            .map(|entry| Endpoint::open(&writer_entry(entry), None, ledger.as_deref(), "writer"));
        let writer = writer.transpose()?;
        let painter = Endpoint::open(&commission.painter, None, ledger.as_deref(), "painter")?;
        estimate(&Work {
            commission,
            classes: &desk.classes,
            plan: desk.plan.as_ref(),
            prompts: &desk.prompts,
            rejected: &desk.rejected,
            writer: writer.as_ref(),
            painter: Some(&painter),
        })
    };
    let told = account::bill(&lines, &desk.commission);
    if args.dry_run {
        return ui.data(format!("{told}Nothing was asked.\n").as_bytes());
    }
    ui.say(told.trim_end());
    let will_ask = lines.iter().any(|line| 0 < line.n_asked());
    if will_ask && !args.yes && desk.commission.max_cost.is_none() {
        return Err(CliError::input("nobody said what this may cost")
            .hint("give `max_cost` in the config, or --yes to pay what it costs"));
    }
    make_folders(&args.output, &[PAID])?;
    let writer = desk.writer()?;
    let painter = desk.painter()?;
    let purse = Purse::new(&desk.commission, writer.as_ref(), &painter);
    purse.before_writing();
    let without = desk.write_plan(writer.as_ref(), ui)?;
    if args.plan_only {
        let (plan, prompts) = (args.output.join(PLAN), args.output.join(PROMPTS));
        ui.say(&format!(
            "{}\n{}\nRead them, change what you like, and run again without --plan-only.",
            plan.display(),
            prompts.display()
        ));
        return complaint(without.len(), 0, 0).map_or(Ok(()), Err);
    }
    purse.before_drawing();
    desk.draw(&painter, &without, &purse, ui)
}

impl<'a> Desk<'a> {
    fn open(args: &'a GenerateArgs) -> Result<Self, CliError> {
        let commission = Commission::read(&args.config)?;
        let folder = args.config.parent().unwrap_or(Path::new(""));
        let classes = labels::names(Some(&commission.classes), folder, [])?;
        let plan_path = args.output.join(PLAN);
        let plan = plan_path.is_file().then(|| DrawPlan::read(&plan_path)).transpose()?;
        let prompts_path = args.output.join(PROMPTS);
        let prompts = match prompts_path.is_file() {
            true => read_all::<Prompt>(&prompts_path, &ReadOptions::default())?,
            false => Vec::new(),
        };
        if let Some(plan) = &plan {
            check_prompts(plan, &prompts, &prompts_path)?;
        }
        let rejected = reviews::rejected(&args.output.join(REVIEW))?;
        Ok(Self { args, commission, classes, plan, prompts, rejected })
    }

    /// Opens the writer, where it is needed.
    fn writer(&self) -> Result<Option<Endpoint>, CliError> {
        let is_written = self.plan.as_ref().is_some_and(|plan| {
            self.commission.template.is_some()
                || cells_without_prompts(plan, &self.prompts).is_empty()
        });
        match &self.commission.writer {
            Some(entry) => {
                // A writer that has nothing to do needs no key.
                let key = match is_written {
                    true => None,
                    false => endpoint_key::read(entry, "writer")?,
                };
                let ledger = self.args.output.join(PAID);
                Ok(Some(Endpoint::open(&writer_entry(entry), key, Some(&ledger), "writer")?))
            }
            None if is_written => Ok(None),
            None => Err(CliError::input("there is no `[writer]` to propose what is missing").hint(
                format!(
                    "add the table [writer] to the config, or write {} and give a `template`",
                    self.args.output.join(PLAN).display()
                ),
            )),
        }
    }

    fn painter(&self) -> Result<Endpoint, CliError> {
        let entry = &self.commission.painter;
        let key = match self.args.plan_only {
            true => None,
            false => endpoint_key::read(entry, "painter")?,
        };
        Ok(Endpoint::open(entry, key, Some(&self.args.output.join(PAID)), "painter")?)
    }

    /// Writes what is missing of plan and prompts; returns which cells have no prompts, and why.
    fn write_plan(
        &mut self,
        writer: Option<&Endpoint>,
        ui: &Ui,
    ) -> Result<Vec<(String, String, String)>, CliError> {
        let plan_path = self.args.output.join(PLAN);
        let plan = match (self.plan.take(), writer) {
            (Some(plan), _) => plan,
            (None, Some(writer)) => {
                let plan = propose(writer, &self.classes, &self.commission).map_err(unusable)?;
                plan.write(&plan_path)?;
                plan
            }
            (None, None) => unreachable!("because a writer was asked for where there is no plan"),
        };
        let wanted: Vec<&str> = self.classes.iter().map(Label::as_str).collect();
        if plan.classes != wanted {
            let shown = plan_path.display();
            ui.say(&format!("{shown} has other classes than the config; the plan decides"));
        }
        let mut without = Vec::new();
        {
            let cells = cells_without_prompts(&plan, &self.prompts);
            let mut made = Vec::new();
            if let Some(template) = &self.commission.template {
                made.extend(cells.iter().flat_map(|cell| fill_template(cell, template)));
            } else if let Some(writer) = writer {
                let bar = ui.progress(cells.len(), "writing prompts");
                let per_step = self.commission.prompts_per_step;
                let delivered = write_prompts(writer, &cells, per_step, |idx, written| {
                    bar.inc(1);
                    match written {
                        Ok(prompts) => made.extend(prompts),
                        Err(why) => without.push(named(&cells[idx], why)),
                    }
                    Ok::<(), EndpointError>(())
                });
                bar.finish_and_clear();
                delivered?;
            }
            // Somebody may have written prompts for some of a cell's steps: theirs hold.
            let place = |of: &Prompt| (of.label.clone(), of.attribute.clone(), of.step);
            let own: BTreeSet<_> = self.prompts.iter().map(place).collect();
            made.retain(|prompt| !own.contains(&place(prompt)));
            if !made.is_empty() {
                self.prompts.extend(made);
                write_all(&self.args.output.join(PROMPTS), &self.prompts)?;
            }
        }
        self.plan = Some(plan);
        Ok(without)
    }

    fn draw(
        &self,
        painter: &Endpoint,
        without: &[(String, String, String)],
        purse: &Purse<'_>,
        ui: &Ui,
    ) -> Result<(), CliError> {
        let Some(plan) = &self.plan else { return Ok(()) };
        let slots = slots(plan, &self.prompts, self.commission.per_level);
        let mut entries = Vec::with_capacity(slots.len());
        let mut drawings: Vec<Drawing> = Vec::new();
        let mut drawn_for = Vec::new();
        for slot in slots {
            let redraw = slot.redraw(&self.rejected, self.commission.redraws);
            let mut entry = self.entry(&slot, redraw.unwrap_or(self.commission.redraws));
            match redraw.map(|redraw| slot.drawing(&self.commission, redraw)) {
                None => {
                    let n = self.commission.redraws + 1;
                    let why = format!("rejected {n} times, and `redraws` allows no more");
                    entry.outcome = Outcome::Rejected(why);
                }
                Some(None) => {
                    let why = without.iter().find(|(class, attribute, _)| {
                        *class == slot.class && *attribute == slot.attribute
                    });
                    let why = why.map_or("prompts.csv has none", |(_, _, why)| why.as_str());
                    entry.outcome = Outcome::Failed(format!("no prompt: {why}"));
                }
                Some(Some(drawing)) => {
                    drawn_for.push(entries.len());
                    drawings.push(drawing);
                }
            }
            entries.push(entry);
        }
        let bar = ui.progress_of_images(drawings.len(), "drawing pictures");
        let mut n_new = 0;
        let delivered = draw_each(painter, &drawings, |idx, (outcome, is_known)| {
            bar.inc(1);
            let entry: &mut Entry = &mut entries[drawn_for[idx]];
            entry.outcome = self.placed(entry, outcome)?;
            n_new += usize::from(!is_known && matches!(entry.outcome, Outcome::Drawn { .. }));
            Ok::<(), CliError>(())
        });
        bar.finish_and_clear();
        account::write(&self.args.output.join("pictures.csv"), &entries)?;
        let made = self.made(&entries)?;
        if 0 < n_new || !self.args.output.join("stimuli.csv").is_file() {
            write_sheets(&self.args.output, &sheets(&made, &self.rejected))?;
        }
        finish(&self.args.output, &made, n_new, ui)?;
        ui.say(&purse.told());
        delivered?;
        let n_of = |is: fn(&Outcome) -> bool| entries.iter().filter(|e| is(&e.outcome)).count();
        let n_failed =
            n_of(|outcome| !matches!(outcome, Outcome::Drawn { .. } | Outcome::NotAsked(_)));
        let n_not_asked = n_of(|outcome| matches!(outcome, Outcome::NotAsked(_)));
        complaint(without.len(), n_failed, n_not_asked).map_or(Ok(()), Err)
    }

    fn entry(&self, slot: &Slot, redraw: u32) -> Entry {
        let has_seed = self.commission.seed_parameter.is_some();
        Entry {
            stimulus: slot.id(redraw),
            label: slot.class.clone(),
            attribute: slot.attribute.clone(),
            level: slot.level,
            step: slot.step,
            redraw,
            prompt: slot.prompt.clone().unwrap_or_default(),
            model: self.commission.painter.model.clone(),
            seed: has_seed.then(|| slot.seed(self.commission.seed.0, redraw)),
            outcome: Outcome::NotAsked("the run ended before its turn".to_owned()),
        }
    }

    /// Gives a picture that was drawn its place among the stimuli.
    fn placed(&self, entry: &Entry, outcome: ImageOutcome) -> Result<Outcome, CliError> {
        let kept = match outcome {
            ImageOutcome::File(kept) => kept,
            ImageOutcome::Refused(why) => return Ok(Outcome::Refused(why)),
            ImageOutcome::Failed(why) => return Ok(Outcome::Failed(why)),
            ImageOutcome::TooDear => {
                return Ok(Outcome::NotAsked("the cap on cost was reached".to_owned()));
            }
            ImageOutcome::Bytes(_) => unreachable!("because the painter keeps its pictures"),
        };
        let bytes = std::fs::read(&kept).map_err(|cause| FileError::cannot_read(&kept, cause))?;
        let ending = kept.extension().unwrap_or_default().to_string_lossy().into_owned();
        let file = PathBuf::from("stimuli")
            .join(format!("{}.{ending}", file_name(entry.stimulus.as_str())));
        place(&kept, &self.args.output.join(&file))?;
        Ok(Outcome::Drawn { file, sha256: sha256(&bytes) })
    }

    /// The pictures there are: those of this plan, and those that were rejected before.
    fn made(&self, entries: &[Entry]) -> Result<Vec<Stimulus>, CliError> {
        let stimulus = |entry: &Entry| {
            let Outcome::Drawn { file, .. } = &entry.outcome else { return None };
            Some(Stimulus {
                id: entry.stimulus.clone(),
                file: file.clone(),
                label: Label::new(&entry.label),
                dataset: Some(self.commission.name.clone()),
                boxes: Vec::new(),
                mask: None,
                attribute: Some(entry.attribute.clone()),
                level: Some(entry.level.to_owned()),
                extra: Extra::from_pairs([
                    ("step", entry.step.to_string()),
                    ("prompt", entry.prompt.clone()),
                    ("painter", entry.model.clone()),
                    ("seed", entry.seed.map(|seed| seed.to_string()).unwrap_or_default()),
                ]),
            })
        };
        let mut made: Vec<Stimulus> = entries.iter().filter_map(stimulus).collect();
        let path = self.args.output.join(MADE);
        if path.is_file() {
            let ids: BTreeSet<StimulusId> = made.iter().map(|one| one.id.clone()).collect();
            let is_kept = |one: &Stimulus| {
                let is_there = self.args.output.join(&one.file).is_file();
                self.rejected.contains(&one.id) && !ids.contains(&one.id) && is_there
            };
            let before = read_stimuli(&path, &ReadOptions::default())?;
            made.extend(before.into_iter().filter(is_kept));
        }
        Ok(made)
    }
}

/// What writer and painter may spend together.
struct Purse<'a> {
    max_cost: Option<f64>,
    writer: Option<(&'a Endpoint, bool)>,
    painter: (&'a Endpoint, bool),
    /// Whether both are one model at one address: their ledgers know each other.
    is_one: bool,
}

impl<'a> Purse<'a> {
    fn new(
        commission: &Commission,
        writer: Option<&'a Endpoint>,
        painter: &'a Endpoint,
    ) -> Purse<'a> {
        let is_free = |entry: Option<&EndpointEntry>| entry.is_none_or(EndpointEntry::is_free);
        Purse {
            max_cost: commission.max_cost,
            writer: writer.map(|writer| (writer, is_free(commission.writer.as_ref()))),
            painter: (painter, is_free(Some(&commission.painter))),
            is_one: writer.is_some_and(|writer| {
                (writer.url(), writer.model()) == (painter.url(), painter.model())
            }),
        }
    }

    fn writer_spent(&self) -> f64 {
        self.writer.map_or(0.0, |(writer, _)| writer.count_all())
    }

    /// Leaves the writer what earlier pictures left.
    fn before_writing(&self) {
        let spent = if self.is_one { 0.0 } else { self.painter.0.count_all() };
        let _ = self.writer_spent();
        if let (Some(cap), Some((writer, false))) = (self.max_cost, self.writer) {
            writer.set_cap((cap - spent).max(0.0));
        }
    }

    /// Leaves the painter what the writer left.
    fn before_drawing(&self) {
        let spent = self.writer_spent();
        // Written before the painter looked into its ledger, it is in there already.
        let own = self.painter.0.count_all();
        if let (Some(cap), (painter, false)) = (self.max_cost, self.painter) {
            let others = if self.is_one { (spent - own).max(0.0) } else { spent };
            painter.set_cap((cap - others).max(0.0));
        }
    }

    /// What was asked and paid, in words.
    fn told(&self) -> String {
        let (painter, writer) = (self.painter.0.tally(), self.writer.map(|(one, _)| one.tally()));
        let writer = writer.unwrap_or_default();
        let n_sent = painter.n_sent + writer.n_sent;
        let n_paid = painter.n_paid + writer.n_paid;
        let now = painter.cost + writer.cost;
        let in_all = match self.is_one {
            true => painter.cost_in_all + writer.cost,
            false => painter.cost_in_all + writer.cost_in_all,
        };
        format!(
            "{n_sent} requests sent, {n_paid} answers paid; this run cost {}, this ladder {} so far",
            account::money(now),
            account::money(in_all)
        )
    }
}

fn named(cell: &PromptCell<'_>, why: String) -> (String, String, String) {
    (cell.class.to_owned(), cell.attribute.name.clone(), why)
}

/// Refuses prompts for something that is not planned: they would silently not be drawn.
fn check_prompts(plan: &DrawPlan, prompts: &[Prompt], path: &Path) -> Result<(), CliError> {
    for prompt in prompts {
        let attribute = plan.attributes.iter().find(|one| one.name == prompt.attribute);
        let wrong = if !plan.classes.iter().any(|class| class == prompt.label.as_str()) {
            format!("the class `{}`", prompt.label)
        } else if attribute.is_none_or(|one| one.steps().all(|s| s.number as u64 != prompt.step)) {
            format!("step {} of the attribute `{}`", prompt.step, prompt.attribute)
        } else {
            continue;
        };
        let path = path.display();
        return Err(CliError::input(format!("{path}: plan.toml has nothing of {wrong}"))
            .hint("remove these rows, or delete the file to have prompts made anew"));
    }
    Ok(())
}

fn unusable(error: CommissionError) -> CliError {
    let message = error.to_string();
    match error {
        CommissionError::Endpoint(error) => error.into(),
        CommissionError::Unusable { .. } => CliError::surroundings(message).hint(
            "run again, name `attributes` yourself, or write plan.toml by hand; what was paid \
             for is kept",
        ),
        CommissionError::Plan { .. } => CliError::surroundings(message)
            .hint("name `attributes` yourself, or write plan.toml by hand"),
    }
}

/// Puts a picture under a second name without a second copy, where the disk allows it.
fn place(kept: &Path, place: &Path) -> Result<(), CliError> {
    let failed = |cause| CliError::from(FileError::cannot_write(place, cause));
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = place.with_file_name(name);
    // What a killed run left behind would be in the way.
    let _ = std::fs::remove_file(&part);
    if std::fs::hard_link(kept, &part).is_err() {
        std::fs::copy(kept, &part).map_err(failed)?;
    }
    let renamed = std::fs::rename(&part, place).map_err(failed);
    // Two names of one file are left as they are by a rename.
    let _ = std::fs::remove_file(&part);
    renamed
}

/// A row per class, with the first picture of each step.
fn sheets(made: &[Stimulus], rejected: &BTreeSet<StimulusId>) -> Vec<(String, SheetRow)> {
    let mut rows: Vec<(String, String, SheetRow)> = Vec::new();
    let mut steps = BTreeSet::new();
    for stimulus in made.iter().filter(|stimulus| !rejected.contains(&stimulus.id)) {
        let attribute = stimulus.attribute.clone().unwrap_or_default();
        let label = stimulus.label.to_string();
        let step = stimulus.extra.get("step").unwrap_or_default().to_owned();
        if !steps.insert((attribute.clone(), label.clone(), step)) {
            continue;
        }
        match rows.iter_mut().find(|(a, l, _)| *a == attribute && *l == label) {
            Some((_, _, row)) => row.stimuli.push(stimulus.clone()),
            None => {
                let row = SheetRow { first: None, stimuli: vec![stimulus.clone()] };
                rows.push((attribute, label, row));
            }
        }
    }
    rows.into_iter().map(|(attribute, _, row)| (attribute, row)).collect()
}

fn complaint(n_cells: usize, n_failed: usize, n_not_asked: usize) -> Option<CliError> {
    if n_cells + n_failed + n_not_asked == 0 {
        return None;
    }
    let parts = [
        (n_cells, "cells have no prompts"),
        (n_failed, "pictures failed"),
        (n_not_asked, "pictures were not asked for"),
    ];
    let said: Vec<String> =
        parts.iter().filter(|(n, _)| 0 < *n).map(|(n, what)| format!("{n} {what}")).collect();
    Some(CliError::partly(said.join(", ")).hint(
        "pictures.csv says why; run again to ask again, raise `max_cost`, or change the prompt in \
         prompts.csv where a picture was refused",
    ))
}
