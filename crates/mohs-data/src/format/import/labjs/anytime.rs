//! The sequence of screens of SATBench's predecessor: small pictures, five response-time limits.
//!
//! A trial is three rows: `Response` (the picture, answered by key or timed out),
//! `inter-stimulus` (its `correctResponse` holds the name of the picture just shown, such as
//! `0.16_cat_2.png`), and a sequence `Trial_800` that closes them and names the limit. The three
//! share the first parts of `sender_id` (`4_17_0`, `4_17_1`, `4_17`). The part of the picture's
//! name before the class is the condition: noise, blur or colour. `Trial_tutorial_1000` closes
//! the trials of the tutorial, which count as practice and have no beep here.

use compact_str::CompactString;

use super::super::foreign::ForeignTable;
use super::super::{Account, Mapping};
use super::block_of;

/// Rows looked at after a picture for the rest of its trial.
const N_AHEAD: usize = 8;

/// What the rows after a picture say about it.
struct Rest {
    picture: CompactString,
    sequence: CompactString,
    /// The limit; none in the tutorial.
    limit_ms: Option<u32>,
}

/// Returns the limit in a sequence's name, and whether it belongs to the tutorial.
fn limit_of(sender: &str) -> Option<(u32, bool)> {
    let name = sender.strip_prefix("Trial_")?;
    let (digits, is_tutorial) = match name.strip_prefix("tutorial_") {
        Some(digits) => (digits, true),
        None => (name, false),
    };
    Some((digits.parse().ok()?, is_tutorial))
}

/// Returns whether the rows have the predecessor's screens.
pub(super) fn is_it(table: &ForeignTable) -> bool {
    let senders = || (0..table.rows.len()).map(|row| table.cell(row, "sender"));
    senders().any(|sender| sender == "Response")
        && senders().any(|sender| limit_of(sender).is_some())
}

/// Keeps the trials and adds `picture`, `block`, `beep`, `condition` and `sequence`.
pub(super) fn choose(table: &mut ForeignTable, account: &mut Account) {
    account.taken_for.insert("lab.js screens of SATBench's predecessor".into());
    let mut kept = Vec::new();
    let mut rests = Vec::new();
    let mut n_unfinished = 0;
    for row in 0..table.rows.len() {
        if table.cell(row, "sender") != "Response" {
            continue;
        }
        match rest_of(table, row) {
            Some(rest) => {
                kept.push(row);
                rests.push(rest);
            }
            None => n_unfinished += 1,
        }
    }
    account.set_aside(
        "that are screens without a trial",
        table.rows.len() - kept.len() - n_unfinished,
    );
    account.set_aside("unfinished trials at the end of a session", n_unfinished);
    table.keep(&kept);
    table.set_column("picture", |_, row| rests[row].picture.clone());
    table.set_column("sequence", |_, row| rests[row].sequence.clone());
    table.set_column("block", |_, row| rests[row].limit_ms.map_or("tutorial".into(), block_of));
    table.set_column("beep", |_, row| {
        rests[row].limit_ms.map_or_else(CompactString::default, |ms| ms.to_string().into())
    });
    table.set_column("condition", |_, row| {
        rests[row].picture.split_once('_').map_or("", |(condition, _)| condition).into()
    });
}

/// Finds the rows that complete a trial, by the start of their ids.
fn rest_of(table: &ForeignTable, row: usize) -> Option<Rest> {
    let id = table.cell(row, "sender_id");
    let trial = id.rsplit_once('_').map_or(id, |(trial, _)| trial);
    let ahead = || row + 1..table.rows.len().min(row + 1 + N_AHEAD);
    let closing = ahead().find(|next| table.cell(*next, "sender_id") == trial)?;
    let (limit_ms, is_tutorial) = limit_of(table.cell(closing, "sender"))?;
    let picture = (row + 1..closing)
        .find(|next| table.cell(*next, "sender") == "inter-stimulus")
        .map(|next| table.cell(next, "correctResponse"))
        .filter(|picture| !picture.is_empty())?;
    Some(Rest {
        picture: picture.into(),
        sequence: table.cell(closing, "sender").into(),
        limit_ms: (!is_tutorial).then_some(limit_ms),
    })
}

/// Says which columns are ours.
pub(super) fn map(mapping: &mut Mapping) {
    for (ours, theirs) in [
        ("block", "block"),
        ("beep_ms", "beep"),
        ("stimulus", "picture"),
        ("label", "category"),
        ("condition", "condition"),
    ] {
        mapping.or_column(ours, theirs);
    }
    mapping.or_constant("task", "beep");
}
