//! `mohs ladder build generate`: a ladder that a writer describes and a painter draws.
//!
//! What it will cost is said before anything is asked. The plan comes first (`plan.toml`, then
//! `prompts.csv`), for people to read and change; then the pictures. Everything that was paid for
//! is in `paid/` before it is used, so that a run that was killed goes on and pays for nothing
//! twice. What cannot be drawn is a row of `pictures.csv` that says why.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mohs_data::format::{ReadOptions, read_all, read_stimuli, write_all};
use mohs_data::{
    Commission, DrawPlan, EndpointEntry, Extra, FileError, Label, Prompt, Stimulus, StimulusId,
    review as reviews,
};
use mohs_vision::commission::{
    CommissionError, PromptCell, Remedy, Slot, Unwritten, Work, cells_without_prompts, estimate,
    fill_template, propose, slots, write_prompts, writer_entry,
};
use mohs_vision::endpoint::images::{self, Drawing, ImageOutcome, draw_each};
use mohs_vision::endpoint::{Endpoint, EndpointError, Paid, Secret, paid_in, remove_empty_ledgers};
use mohs_vision::labels;
use mohs_vision::stimulus::sha256;

use super::account::{self, Entry, Outcome};
use super::photos::file_name;
use super::units::Verdicts;
use super::{
    Kind, MADE, REVIEW, SheetRow, check_kind, finish, make_folders, remove_empty, say_forgotten,
    unlisted, write_sheets,
};
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

pub(super) const PLAN: &str = "plan.toml";
const PROMPTS: &str = "prompts.csv";
pub(super) const PAID: &str = "paid";
/// The column of the stimuli that only drawn ones have.
pub(super) const PAINTED_BY: &str = "painter";
/// What the ledgers of the two are called.
const WRITER: &str = "writer";
const PAINTER: &str = "painter";

/// Everything that is known before anything is asked.
struct Desk<'a> {
    args: &'a GenerateArgs,
    commission: Commission,
    classes: Vec<Label>,
    plan: Option<DrawPlan>,
    prompts: Vec<Prompt>,
    rejected: BTreeSet<StimulusId>,
}

/// What writer and painter are asked with; none for who needs none or has nothing to do.
struct Keys {
    writer: Option<Secret>,
    painter: Option<Secret>,
}

pub(super) fn run(args: &GenerateArgs, ui: &Ui) -> Result<(), CliError> {
    let mut desk = Desk::open(args)?;
    let lines = {
        let commission = &desk.commission;
        let ledger = args.output.join(PAID);
        let writer = commission.writer.as_ref();
        let writer = writer.map(|entry| Endpoint::look(&writer_entry(entry), &ledger));
        let writer = writer.transpose()?;
        let painter = Endpoint::look(&commission.painter, &ledger)?;
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
    let paid = paid_for(&args.output, &desk.commission)?;
    let told = account::bill(&lines, &desk.commission, &paid);
    if args.dry_run {
        return ui.data(format!("{told}Nothing was asked.\n").as_bytes());
    }
    ui.say(told.trim_end());
    let will_ask = lines.iter().any(|line| 0 < line.n_asked());
    if will_ask && !args.yes && desk.commission.max_cost.is_none() {
        return Err(CliError::input("nobody said what this may cost")
            .hint("give `max_cost` in the config, or --yes to pay what it costs"));
    }
    // A key that is missing is said before anything is made.
    let [.., pictures] = &lines;
    let keys = desk.keys(0 < pictures.n_asked())?;
    make_folders(&args.output, Kind::Drawn, &[PAID])?;
    let ran = desk.run(keys, ui);
    let paid = args.output.join(PAID);
    remove_empty_ledgers(&paid).map_err(EndpointError::from)?;
    // One that holds something stays.
    let _ = std::fs::remove_dir(&paid);
    remove_empty(&args.output);
    ran
}

impl<'a> Desk<'a> {
    fn run(&mut self, keys: Keys, ui: &Ui) -> Result<(), CliError> {
        let args = self.args;
        let (writer, painter) = self.endpoints(keys, ui)?;
        let commission = self.commission.clone();
        let purse = Purse {
            commission: &commission,
            folder: &args.output,
            writer: writer.as_ref(),
            painter: &painter,
        };
        purse.before_writing()?;
        let written = self.write_plan(writer.as_ref(), ui);
        if written.is_err() || args.plan_only {
            ui.say(&purse.told()?);
        }
        let without = written?;
        if args.plan_only {
            for path in [PLAN, PROMPTS].map(|name| args.output.join(name)) {
                if path.is_file() {
                    ui.say(&path.display().to_string());
                }
            }
            ui.say("Read what there is, change what you like, and run again without --plan-only.");
            return Missing { without: &without, ..Missing::default() }.complaint();
        }
        purse.before_drawing()?;
        self.draw(&painter, &without, &purse, ui)
    }

    fn open(args: &'a GenerateArgs) -> Result<Self, CliError> {
        check_kind(&args.output, Kind::Drawn)?;
        let commission = Commission::read(&args.config)?;
        let folder = args.config.parent().unwrap_or(Path::new(""));
        let classes = labels::names(Some(&commission.classes), folder, [])?;
        Commission::check_classes(&args.config, &classes)?;
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

    /// Reads the keys of those who have something to do.
    fn keys(&self, will_draw: bool) -> Result<Keys, CliError> {
        let is_written = self.plan.as_ref().is_some_and(|plan| {
            self.commission.template.is_some()
                || cells_without_prompts(plan, &self.prompts).is_empty()
        });
        let writer = match &self.commission.writer {
            _ if is_written => None,
            Some(entry) => endpoint_key::read(entry, WRITER)?,
            None => {
                return Err(CliError::input("there is no `[writer]` to propose what is missing")
                    .hint(format!(
                        "add the table [writer] to the config, or write {} and give a `template`",
                        self.args.output.join(PLAN).display()
                    )));
            }
        };
        let painter = match will_draw && !self.args.plan_only {
            true => endpoint_key::read(&self.commission.painter, PAINTER)?,
            false => None,
        };
        Ok(Keys { writer, painter })
    }

    /// Opens writer and painter with what they were paid for.
    fn endpoints(&self, keys: Keys, ui: &Ui) -> Result<(Option<Endpoint>, Endpoint), CliError> {
        let paid = self.args.output.join(PAID);
        let telling = |mut endpoint: Endpoint| {
            endpoint.tell_waits(ui.teller());
            endpoint
        };
        let writer = self.commission.writer.as_ref();
        let writer = writer
            .map(|entry| Endpoint::open(&writer_entry(entry), keys.writer, Some(&paid), WRITER))
            .transpose()?;
        let painter = &self.commission.painter;
        let painter = Endpoint::open(painter, keys.painter, Some(&paid), PAINTER)?;
        Ok((writer.map(telling), telling(painter)))
    }

    /// Writes what is missing of plan and prompts; returns which cells have no prompts, and why.
    fn write_plan(
        &mut self,
        writer: Option<&Endpoint>,
        ui: &Ui,
    ) -> Result<Vec<Unwritable>, CliError> {
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
                        Err(why) => without.push(Unwritable::new(&cells[idx], why)),
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
        without: &[Unwritable],
        purse: &Purse<'_>,
        ui: &Ui,
    ) -> Result<(), CliError> {
        let Some(plan) = &self.plan else { return Ok(()) };
        let slots = slots(plan, &self.prompts, self.commission.per_level);
        let mut entries = Vec::with_capacity(slots.len());
        let mut wanted: Vec<(usize, Drawing)> = Vec::new();
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
                    let cell = without
                        .iter()
                        .find(|cell| cell.class == slot.class && cell.attribute == slot.attribute);
                    let why = cell.map_or("prompts.csv has none", |cell| cell.why.text.as_str());
                    entry.outcome = Outcome::Failed(format!("no prompt: {why}"));
                }
                Some(Some(drawing)) => wanted.push((entries.len(), drawing)),
            }
            entries.push(entry);
        }
        // What is known first: it is in the tables whatever ends the run.
        wanted.sort_by_cached_key(|(_, drawing)| !painter.knows(&images::key(painter, drawing)));
        let (drawn_for, drawings): (Vec<usize>, Vec<Drawing>) = wanted.into_iter().unzip();
        let replaced = Replaced {
            files: self.made_before()?.into_iter().map(|one| (one.id, one.file)).collect(),
            verdicts: Verdicts::new(self.args.output.join(REVIEW)),
        };
        let bar = ui.progress_of_images(drawings.len(), "drawing pictures");
        let (mut n_new, mut n_given_up) = (0, 0);
        let delivered = draw_each(painter, &drawings, |idx, (outcome, is_known)| {
            bar.inc(1);
            let entry: &mut Entry = &mut entries[drawn_for[idx]];
            n_given_up += usize::from(matches!(outcome, ImageOutcome::GivenUp(_)));
            entry.outcome = self.placed(entry, outcome, &replaced)?;
            n_new += usize::from(!is_known && matches!(entry.outcome, Outcome::Drawn { .. }));
            Ok::<(), Ended>(())
        });
        bar.finish_and_clear();
        let ended = match delivered {
            Ok(()) => None,
            Err(Ended::ByPainter(error)) => Some(error),
            // The tables would be without what was not delivered.
            Err(Ended::Here(error)) => return Err(error),
        };
        account::write(&self.args.output.join("pictures.csv"), &entries)?;
        let made = self.made(&entries)?;
        let unlisted = match ended {
            None => self.unlisted(&made, &entries)?,
            Some(_) => Vec::new(),
        };
        let has_table = self.args.output.join("stimuli.csv").is_file();
        if 0 < n_new + unlisted.len() || !has_table {
            write_sheets(&self.args.output, &sheets(&made, &self.rejected))?;
        }
        say_forgotten(replaced.verdicts, ui);
        // A run that got nowhere leaves the tables of the one before.
        if !(has_table && made.is_empty() && ended.is_some()) {
            finish(&self.args.output, &made, n_new, &unlisted, ui)?;
        }
        ui.say(&purse.told()?);
        let useless = match ended {
            Some(error) if !matches!(error, EndpointError::Unusable { .. }) => {
                return Err(error.into());
            }
            useless => useless,
        };
        let n_of = |is: fn(&Outcome) -> bool| entries.iter().filter(|e| is(&e.outcome)).count();
        let n_failed =
            n_of(|outcome| !matches!(outcome, Outcome::Drawn { .. } | Outcome::NotAsked(_)));
        let n_not_asked = n_of(|outcome| matches!(outcome, Outcome::NotAsked(_)));
        Missing { without, n_failed, n_given_up, n_not_asked, useless, is_listed: true }.complaint()
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
    fn placed(
        &self,
        entry: &Entry,
        outcome: ImageOutcome,
        replaced: &Replaced,
    ) -> Result<Outcome, CliError> {
        let kept = match outcome {
            ImageOutcome::File(kept) => kept,
            ImageOutcome::Refused(why) => return Ok(Outcome::Refused(why)),
            ImageOutcome::Failed(why) | ImageOutcome::GivenUp(why) => {
                return Ok(Outcome::Failed(why));
            }
            ImageOutcome::TooDear => {
                return Ok(Outcome::NotAsked("the cap on cost was reached".to_owned()));
            }
            ImageOutcome::Bytes(_) => unreachable!("because the painter keeps its pictures"),
        };
        let bytes = std::fs::read(&kept).map_err(|cause| FileError::cannot_read(&kept, cause))?;
        let ending = kept.extension().unwrap_or_default().to_string_lossy().into_owned();
        let file = PathBuf::from("stimuli")
            .join(format!("{}.{ending}", file_name(entry.stimulus.as_str())));
        // Another painter may send files with another ending.
        let before = self.args.output.join(replaced.files.get(&entry.stimulus).unwrap_or(&file));
        replaced.verdicts.before_replacing(&before, &entry.stimulus, &bytes)?;
        place(&kept, &self.args.output.join(&file))?;
        Ok(Outcome::Drawn { file, sha256: sha256(&bytes) })
    }

    /// Pictures of an earlier run that this plan has no place for, or another file; those of places
    /// for which nothing could be drawn now stay.
    fn unlisted(&self, made: &[Stimulus], entries: &[Entry]) -> Result<Vec<PathBuf>, CliError> {
        let is_open = |entry: &&Entry| !matches!(entry.outcome, Outcome::Drawn { .. });
        let open = entries.iter().filter(is_open).map(|entry| &entry.stimulus);
        let open: BTreeSet<&StimulusId> = open.collect();
        unlisted(&self.args.output, made, |earlier| open.contains(&earlier.id))
    }

    /// What earlier runs made.
    fn made_before(&self) -> Result<Vec<Stimulus>, CliError> {
        let path = self.args.output.join(MADE);
        Ok(match path.is_file() {
            true => read_stimuli(&path, &ReadOptions::default())?,
            false => Vec::new(),
        })
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
                    (PAINTED_BY, entry.model.clone()),
                    ("seed", entry.seed.map(|seed| seed.to_string()).unwrap_or_default()),
                ]),
            })
        };
        let mut made: Vec<Stimulus> = entries.iter().filter_map(stimulus).collect();
        let ids: BTreeSet<StimulusId> = made.iter().map(|one| one.id.clone()).collect();
        let is_kept = |one: &Stimulus| {
            let is_there = self.args.output.join(&one.file).is_file();
            self.rejected.contains(&one.id) && !ids.contains(&one.id) && is_there
        };
        made.extend(self.made_before()?.into_iter().filter(is_kept));
        Ok(made)
    }
}

/// Counts everything that was paid for a folder, by whichever writer and painter.
///
/// Ledgers of older versions have no prices: theirs are those of the present writer and painter.
fn paid_for(output: &Path, commission: &Commission) -> Result<Paid, EndpointError> {
    let entry_of = |slot: &str| match slot {
        WRITER => commission.writer.as_ref(),
        _ => Some(&commission.painter),
    };
    Ok(paid_in(&output.join(PAID), entry_of)?)
}

/// What writer and painter may spend together.
///
/// What was spent is read from the ledgers whenever it matters: they know of writers and painters
/// of earlier runs, too, and two that are one model at one address share theirs.
struct Purse<'a> {
    commission: &'a Commission,
    folder: &'a Path,
    writer: Option<&'a Endpoint>,
    painter: &'a Endpoint,
}

impl Purse<'_> {
    /// Leaves the writer what everybody else left.
    fn before_writing(&self) -> Result<(), EndpointError> {
        self.leave(self.commission.writer.as_ref(), self.writer)
    }

    /// Leaves the painter what everybody else left.
    fn before_drawing(&self) -> Result<(), EndpointError> {
        self.leave(Some(&self.commission.painter), Some(self.painter))
    }

    fn leave(
        &self,
        entry: Option<&EndpointEntry>,
        endpoint: Option<&Endpoint>,
    ) -> Result<(), EndpointError> {
        let is_paid = entry.is_some_and(|entry| !entry.is_free());
        if let (Some(cap), Some(endpoint), true) = (self.commission.max_cost, endpoint, is_paid) {
            // Its cap is about its own ledgers.
            let others = paid_for(self.folder, self.commission)?.spent() - endpoint.spent();
            let left = (cap - others).max(0.0);
            let own = entry.and_then(|entry| entry.cost_cap);
            endpoint.set_cap(own.map_or(left, |own| own.min(left)));
        }
        Ok(())
    }

    /// What was asked and paid, in words.
    fn told(&self) -> Result<String, EndpointError> {
        let (painter, writer) = (self.painter.tally(), self.writer.map(Endpoint::tally));
        let writer = writer.unwrap_or_default();
        let n_sent = painter.n_sent + writer.n_sent;
        let n_paid = painter.n_paid + writer.n_paid;
        let paid = paid_for(self.folder, self.commission)?;
        Ok(format!(
            "{n_sent} requests sent, {n_paid} answers paid, {} tries that may have been paid so far; this \
             run cost {}, this ladder {}, and up to {} for these tries",
            paid.n_doubtful,
            account::money(painter.cost + writer.cost),
            account::money(paid.cost),
            account::money(paid.doubtful_cost)
        ))
    }
}

/// A class and an attribute that the writer gave no prompts for.
struct Unwritable {
    class: String,
    attribute: String,
    why: Unwritten,
}

impl Unwritable {
    fn new(cell: &PromptCell<'_>, why: Unwritten) -> Self {
        Self { class: cell.class.to_owned(), attribute: cell.attribute.name.clone(), why }
    }
}

/// What earlier runs made, and what somebody decided about it.
struct Replaced {
    files: BTreeMap<StimulusId, PathBuf>,
    verdicts: Verdicts,
}

/// What ended the drawing.
enum Ended {
    ByPainter(EndpointError),
    Here(CliError),
}

impl From<EndpointError> for Ended {
    fn from(error: EndpointError) -> Self {
        Ended::ByPainter(error)
    }
}

impl From<CliError> for Ended {
    fn from(error: CliError) -> Self {
        Ended::Here(error)
    }
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
        CommissionError::Unusable { why, .. } => {
            let error = match why.remedy {
                Remedy::Pay => CliError::partly(message),
                Remedy::AskAgain | Remedy::AskOtherwise => CliError::surroundings(message),
            };
            error
                .hint(remedied(why.remedy))
                .hint("or name `attributes` yourself, or write plan.toml by hand")
        }
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
                let stimuli = vec![stimulus.clone()];
                let row = SheetRow { name: label.clone(), first: None, stimuli };
                rows.push((attribute, label, row));
            }
        }
    }
    rows.into_iter().map(|(attribute, _, row)| (attribute, row)).collect()
}

/// What to do where the writer gave nothing.
fn remedied(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::AskAgain => "run the same again to ask again; what was paid for is kept",
        Remedy::Pay => "raise `max_cost` and run again; what was paid for is kept",
        Remedy::AskOtherwise => {
            "what the writer answered is kept, and the same again asks nothing: change its `model` or \
             its `parameters` to ask anew, e.g. `parameters = { max_tokens = 4000, temperature = 1 }`"
        }
    }
}

/// What a run leaves open.
#[derive(Default)]
struct Missing<'a> {
    without: &'a [Unwritable],
    n_failed: usize,
    /// Those of them that the painter is not asked for again.
    n_given_up: usize,
    n_not_asked: usize,
    /// A painter that answers, and not with pictures.
    useless: Option<EndpointError>,
    /// Whether pictures.csv lists it.
    is_listed: bool,
}

/// How many cells are named.
const SHOWN: usize = 8;

impl Missing<'_> {
    /// Says what is missing, if anything is.
    fn complaint(&self) -> Result<(), CliError> {
        let Self { without, n_failed, n_given_up, n_not_asked, useless, is_listed } = self;
        if without.len() + n_failed + n_not_asked == 0 && useless.is_none() {
            return Ok(());
        }
        let parts = [
            (without.len(), "cells have no prompts"),
            (*n_failed, "pictures failed"),
            (*n_not_asked, "pictures were not asked for"),
        ];
        let said: Vec<String> =
            parts.iter().filter(|(n, _)| 0 < *n).map(|(n, what)| format!("{n} {what}")).collect();
        let mut error = CliError::partly(said.join(", "));
        for Unwritable { class, attribute, why } in without.iter().take(SHOWN) {
            error = error.cause(format!("`{class}`, `{attribute}`: {}", why.text));
        }
        if SHOWN < without.len() {
            error = error.cause(format!("and {} more cells", without.len() - SHOWN));
        }
        if let Some(useless) = useless {
            error = error.cause(useless.to_string()).hint(
                "take another painter, or say in its `parameters` how pictures should come, e.g. \
                 `response_format = \"b64_json\"`",
            );
        } else if *is_listed && *n_given_up < n_failed + n_not_asked {
            error = error.hint(
                "pictures.csv says why; run again to ask again, raise `max_cost`, or change the \
                 prompt in prompts.csv where a picture was refused",
            );
        }
        if 0 < *n_given_up {
            error = error.hint(format!(
                "the painter sent no picture for {n_given_up} of them however often it was asked, and \
                 the same again asks for none of these: change their prompts in prompts.csv, or the \
                 painter's `model` or `parameters`, to ask anew"
            ));
        }
        let remedies: BTreeSet<Remedy> = without.iter().map(|cell| cell.why.remedy).collect();
        for remedy in &remedies {
            error = error.hint(remedied(*remedy));
        }
        if remedies.contains(&Remedy::AskOtherwise) {
            error = error.hint("or write these rows of prompts.csv by hand");
        }
        Err(error)
    }
}
