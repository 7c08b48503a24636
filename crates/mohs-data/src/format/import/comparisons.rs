//! Paired judgements in the columns of other tools.
//!
//! Three kinds are told apart by their columns: `left, right, winner` (and a rater), the arena's
//! `model_a, model_b, winner`, and `winner, loser` with an optional `count`, one row standing for
//! that many judgements. The winner is the harder one. Without a rater all judgements are of one
//! participant, `unknown`, and a notice says so.

use std::path::{Path, PathBuf};

use compact_str::{CompactString, format_compact};

use super::foreign::ForeignTable;
use super::{Account, ImportOptions, Imported, finished, mapping, paths, tags_of};
use crate::format::table::Record as _;
use crate::{Comparison, FileError};

const PARTICIPANT: [&str; 11] = [
    "participant",
    "rater",
    "subject",
    "subj",
    "worker",
    "worker_id",
    "annotator",
    "judge",
    "user",
    "observer",
    "rater_id",
];
/// A count above this is no count of judgements.
const MOST_JUDGEMENTS: usize = 1_000_000;

/// Reads files, or folders of them.
pub fn read(paths: &[PathBuf], options: &ImportOptions) -> Result<Imported<Comparison>, FileError> {
    let files = paths::files_of(paths, &["csv", "tsv"])?;
    let mut account = Account::default();
    let mut comparisons = Vec::new();
    for (file, tag) in files.iter().zip(tags_of(&files)) {
        comparisons.extend(parse(file, paths::bytes_of(file)?, &tag, options, &mut account)?);
    }
    account.files = files;
    finished(paths, comparisons, account, |comparison| &comparison.id)
}

/// Reads one file in memory; `path` stands in errors.
pub fn parse(
    path: &Path,
    bytes: Vec<u8>,
    tag: &str,
    options: &ImportOptions,
    account: &mut Account,
) -> Result<Vec<Comparison>, FileError> {
    let mut table = ForeignTable::from_csv(path, bytes)?;
    account.n_records += table.rows.len();
    let mut mapping = options.mapping.clone();
    mapping.carry_over(&mut table)?;
    mapping.filter(&mut table, account)?;
    let has = |name: &str| table.column(name).is_some();
    if has("winner") && has("loser") && !has("left") {
        account.taken_for.insert("winners and losers".into());
        mapping.or_column("left", "winner");
        mapping.or_column("right", "loser");
        mapping.or_constant("harder", "left");
        repeat_counts(&mut table, tag)?;
    } else {
        account.taken_for.insert("pairs with a winner".into());
        for (ours, theirs) in [
            ("left", &["left", "model_a", "item_a", "image_a", "a"][..]),
            ("right", &["right", "model_b", "item_b", "image_b", "b"]),
            ("harder", &["harder", "winner", "choice", "answer", "response"]),
        ] {
            if let Some(theirs) = table.first_of(theirs) {
                mapping.or_column(ours, theirs);
            }
        }
    }
    match table.first_of(&PARTICIPANT) {
        Some(rater) => mapping.or_column("participant", rater),
        None if !mapping.has("participant") => {
            mapping.or_constant("participant", "unknown");
            account.notices.push(format!(
                "{}: no column says who judged; all judgements are of one participant `unknown`",
                path.display()
            ));
        }
        None => {}
    }
    for column in Comparison::SCHEMA.columns {
        if table.column(column.name).is_some() {
            mapping.or_column(column.name, column.name);
        }
    }
    mapping::records(&table, &mapping, tag, account)
}

/// Repeats each row as often as its `count` says, with an id for each judgement.
fn repeat_counts(table: &mut ForeignTable, tag: &str) -> Result<(), FileError> {
    let Some(count) = table.first_of(&["count", "n", "wins"]) else { return Ok(()) };
    let mut rows = Vec::new();
    for row in 0..table.rows.len() {
        let text = table.cell(row, count).trim().trim_end_matches(".0");
        let n: Option<usize> = text.parse().ok();
        let n = n.filter(|n| rows.len() + n <= MOST_JUDGEMENTS).ok_or_else(|| {
            let expected = "a whole number of judgements, at most a million in all";
            table.bad_value(row, count, expected, None)
        })?;
        rows.extend((0..n).map(|k| (row, k)));
    }
    let positions: Vec<usize> = rows.iter().map(|(row, _)| *row).collect();
    table.keep(&positions);
    table.remove_column(count);
    let ids: Vec<CompactString> = rows
        .iter()
        .enumerate()
        .map(|(idx, (_, k))| format_compact!("{tag}-{}-{}", table.rows[idx].place.number(), k + 1))
        .collect();
    if table.column("comparison").is_none() {
        table.set_column("comparison", |_, row| ids[row].clone());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Harder;

    fn read(text: &str) -> Result<Vec<Comparison>, FileError> {
        let options = ImportOptions::default();
        parse(Path::new("c.csv"), text.into(), "c", &options, &mut Account::default())
    }

    fn pairs(text: &str) -> Vec<(String, String, Harder)> {
        let rows = read(text).unwrap();
        rows.iter().map(|c| (c.left.to_string(), c.right.to_string(), c.harder)).collect()
    }

    #[test]
    fn three_kinds_of_columns_are_told_apart() {
        let tie = ("x".to_owned(), "y".to_owned(), Harder::Tie);
        let right = ("x".to_owned(), "y".to_owned(), Harder::Right);
        let left = ("x".to_owned(), "y".to_owned(), Harder::Left);
        assert_eq!(pairs("left,right,winner,rater\nx,y,y,r1\n"), std::slice::from_ref(&right));
        assert_eq!(pairs("model_a,model_b,winner\nx,y,model_b\nx,y,tie (bothbad)\n"), [right, tie]);
        assert_eq!(pairs("winner,loser,count\nx,y,2\n"), [left.clone(), left]);
    }

    #[test]
    fn ids_stand_once_even_where_a_row_stands_for_many() {
        let rows = read("winner,loser,count\nx,y,2\ny,x,1\n").unwrap();
        let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, ["c-2-1", "c-2-2", "c-3-1"]);
    }

    #[test]
    fn a_count_that_is_none_is_refused() {
        insta::assert_snapshot!(
            read("winner,loser,count\nx,y,many\n").unwrap_err(),
            @"c.csv:2: `count` should be a whole number of judgements, at most a million in all, found `many`"
        );
        assert!(read("winner,loser,count\nx,y,99999999999999999999\n").is_err());
    }

    #[test]
    fn a_missing_side_is_named() {
        let error = read("left,winner\nx,x\n").unwrap_err();
        insta::assert_snapshot!(error, @"c.csv has no column `right`; it has: left, winner");
    }
}
