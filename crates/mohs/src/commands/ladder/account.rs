//! The account of a drawn ladder: what it will cost, and what became of every picture
//! (`pictures.csv`).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mohs_data::format::atomic;
use mohs_data::{Commission, EndpointEntry, StimulusId};
use mohs_report::TextTable;
use mohs_vision::commission::Line;
use mohs_vision::endpoint::Paid;

use crate::commands::eval::quoted;
use crate::error::CliError;

/// One picture that was wanted.
pub(super) struct Entry {
    pub(super) stimulus: StimulusId,
    pub(super) label: String,
    pub(super) attribute: String,
    pub(super) level: &'static str,
    pub(super) step: usize,
    pub(super) redraw: u32,
    pub(super) prompt: String,
    pub(super) model: String,
    pub(super) seed: Option<u32>,
    pub(super) outcome: Outcome,
}

/// What became of it.
pub(super) enum Outcome {
    Drawn { file: PathBuf, sha256: String },
    Refused(String),
    Failed(String),
    NotAsked(String),
    Rejected(String),
}

/// Writes what became of every picture.
pub(super) fn write(path: &Path, entries: &[Entry]) -> Result<(), CliError> {
    let mut text = "stimulus,label,attribute,level,step,redraw,outcome,reason,file,sha256,prompt,\
                    painter,seed,pictures_version\n"
        .to_owned();
    for entry in entries {
        let (outcome, reason, file, hash) = match &entry.outcome {
            Outcome::Drawn { file, sha256 } => {
                ("drawn", "", file.to_string_lossy().into_owned(), sha256.as_str())
            }
            Outcome::Refused(why) => ("refused", why.as_str(), String::new(), ""),
            Outcome::Failed(why) => ("failed", why.as_str(), String::new(), ""),
            Outcome::NotAsked(why) => ("not-asked", why.as_str(), String::new(), ""),
            Outcome::Rejected(why) => ("rejected", why.as_str(), String::new(), ""),
        };
        let texts = [entry.stimulus.as_str(), &entry.label, &entry.attribute].map(quoted);
        let more = [reason, &file, hash, &entry.prompt, &entry.model].map(quoted);
        let seed = entry.seed.map(|seed| seed.to_string()).unwrap_or_default();
        let _ = writeln!(
            text,
            "{},{},{},{},{outcome},{},{seed},1",
            texts.join(","),
            entry.level,
            entry.step,
            entry.redraw,
            more.join(",")
        );
    }
    Ok(atomic::write_file(path, text.as_bytes())?)
}

/// What will be asked for and what it will cost, for people.
pub(super) fn bill(lines: &[Line], commission: &Commission, paid: &Paid) -> String {
    let mut table = TextTable::new([
        "to ask for",
        "requests",
        "known",
        "tokens in",
        "tokens out",
        "pictures",
        "cost",
    ]);
    for line in lines.iter().filter(|line| 0 < line.n) {
        let usage = &line.usage;
        table.push([
            line.what.to_owned(),
            line.n_asked().to_string(),
            line.n_known.to_string(),
            usage.n_input.to_string(),
            usage.n_output.to_string(),
            usage.n_pictures.to_string(),
            money(line.cost),
        ]);
    }
    let total: f64 = lines.iter().map(|line| line.cost).sum();
    let mut entries = commission.writer.iter().chain([&commission.painter]);
    let mut text = format!("{}\n", table.render());
    if entries.all(EndpointEntry::is_free) {
        text.push_str("What it will cost is not known: the config gives no prices.\n");
    } else {
        let _ = writeln!(text, "About {} in all, in the unit of your prices.", money(total));
    }
    if 0.0 < paid.spent() {
        let _ = write!(text, "{} was paid for this folder before", money(paid.cost));
        let doubtful = match paid.n_doubtful {
            0 => String::new(),
            n => {
                format!(", and up to {} for {n} tries without an answer", money(paid.doubtful_cost))
            }
        };
        let _ = writeln!(text, "{doubtful}.");
    }
    if let Some(cap) = commission.max_cost {
        let _ = writeln!(text, "At most {}, what was paid before included.", money(cap));
        if cap < paid.spent() + total {
            text.push_str("That will not be enough for everything.\n");
        }
    }
    text
}

/// An amount, with as many digits as matter.
pub(super) fn money(amount: f64) -> String {
    let digits = if 0.0 < amount && amount < 1.0 { 4 } else { 2 };
    format!("{amount:.digits$}")
}
