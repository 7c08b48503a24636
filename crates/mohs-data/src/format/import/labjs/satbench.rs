//! SATBench's sequence of screens: a tutorial and five blocks, each begun by a screen of its own.
//!
//! A row with the sender `Screen0`, `Screen400`, `Screen600`, `Screen800` or `Screen1000` begins a
//! block; the beep comes 500 ms after the number in its name. `ScreenCategorizationTutorial`
//! begins the tutorial, which has no beep. Trials are rows with the sender `Stimulus & Response`.
//! Blocks may come in either order, and versions of the study differ in the rows between them, so
//! that row numbers mean nothing.
//!
//! Of each timed block the first 210 trials count, of the tutorial the first 50, and of either
//! the first 10 are warm-up: 200 and 40 are kept, as in the published analysis.

use compact_str::CompactString;

use super::super::foreign::ForeignTable;
use super::super::{Account, Mapping};
use super::block_of;

const TRIAL: &str = "Stimulus & Response";
/// The beep comes this long after the time in the name of the block's screen.
const BEEP_AFTER_MS: u32 = 500;
const N_TIMED: usize = 210;
const N_TUTORIAL: usize = 50;
const N_WARM_UP: usize = 10;

/// A run of trials that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Tutorial,
    Timed { beep_ms: u32 },
}

impl Block {
    /// Returns the block that a screen begins.
    fn begun_by(sender: &str) -> Option<Self> {
        let name = sender.strip_prefix("Screen")?;
        if name.contains("Tutorial") {
            return Some(Self::Tutorial);
        }
        let after: u32 = name.parse().ok()?;
        Some(Self::Timed { beep_ms: after.checked_add(BEEP_AFTER_MS)? })
    }

    fn n_trials(self) -> usize {
        match self {
            Self::Tutorial => N_TUTORIAL,
            Self::Timed { .. } => N_TIMED,
        }
    }

    fn name(self) -> CompactString {
        match self {
            Self::Tutorial => "tutorial".into(),
            Self::Timed { beep_ms } => block_of(beep_ms),
        }
    }
}

/// Returns whether the rows have SATBench's screens.
pub(super) fn is_it(table: &ForeignTable) -> bool {
    let senders = || (0..table.rows.len()).map(|row| table.cell(row, "sender"));
    senders().any(|sender| sender == TRIAL)
        && senders().any(|sender| matches!(Block::begun_by(sender), Some(Block::Timed { .. })))
}

/// Keeps the trials and adds the columns `block`, `beep` and, if warm-up is kept, `warm_up`.
pub(super) fn choose(table: &mut ForeignTable, keep_warm_up: bool, account: &mut Account) {
    account.taken_for.insert("SATBench's sequence of lab.js screens".into());
    let mut current: Option<(Block, usize)> = None;
    let mut kept: Vec<(usize, Block, bool)> = Vec::new();
    let (mut n_before, mut n_beyond, mut n_warm_up) = (0, 0, 0);
    let mut runs: Vec<(Block, usize)> = Vec::new();
    for row in 0..table.rows.len() {
        let sender = table.cell(row, "sender");
        if let Some(block) = Block::begun_by(sender) {
            // A page and a screen of one block may carry one name; the second begins nothing new.
            if current.is_none_or(|(open, n)| open != block || 0 < n) {
                runs.push((block, 0));
            }
            current = Some((block, 0));
        }
        if sender != TRIAL {
            continue;
        }
        let Some((block, n_so_far)) = &mut current else {
            n_before += 1;
            continue;
        };
        let position = *n_so_far;
        *n_so_far += 1;
        if let Some((_, n)) = runs.last_mut() {
            *n += 1;
        }
        if block.n_trials() <= position {
            n_beyond += 1;
        } else if position < N_WARM_UP && !keep_warm_up {
            n_warm_up += 1;
        } else {
            kept.push((row, *block, position < N_WARM_UP));
        }
    }
    let n_screens = table.rows.len() - kept.len() - n_before - n_beyond - n_warm_up;
    account.set_aside("that are screens without a trial", n_screens);
    account.set_aside("that are trials before the first block", n_before);
    account.set_aside("warm-up trials, the first 10 of each block and tutorial", n_warm_up);
    account.set_aside("trials beyond the first 210 of a block or 50 of a tutorial", n_beyond);
    for (block, n) in runs.iter().filter(|(block, n)| *n < block.n_trials()) {
        account.notices.push(format!(
            "{}: block `{}` has {n} trials, expected {}",
            table.path.display(),
            block.name(),
            block.n_trials()
        ));
    }
    let rows: Vec<usize> = kept.iter().map(|(row, ..)| *row).collect();
    let order = first_filled(table, "order");
    table.keep(&rows);
    table.set_column("block", |_, row| kept[row].1.name());
    table.set_column("beep", |_, row| match kept[row].1 {
        Block::Tutorial => CompactString::default(),
        Block::Timed { beep_ms } => beep_ms.to_string().into(),
    });
    if keep_warm_up {
        table.set_column("warm_up", |_, row| kept[row].2.to_string().into());
    }
    if !order.is_empty() {
        table.set_column("order", |table, row| match table.cell(row, "order") {
            "" => order.clone(),
            own => own.into(),
        });
    }
}

fn first_filled(table: &ForeignTable, name: &str) -> CompactString {
    let mut cells = (0..table.rows.len()).map(|row| table.cell(row, name));
    cells.find(|cell| !cell.is_empty()).unwrap_or_default().into()
}

/// Says which columns are ours.
pub(super) fn map(table: &ForeignTable, mapping: &mut Mapping) {
    for (ours, theirs) in [("block", "block"), ("beep_ms", "beep"), ("stimulus", "filename")] {
        mapping.or_column(ours, theirs);
    }
    if let Some(label) = table.first_of(&["category", "correctResponse"]) {
        mapping.or_column("label", label);
    }
    if table.column("mode").is_some() {
        mapping.or_column("condition", "mode");
    }
    mapping.or_constant("task", "beep");
}
