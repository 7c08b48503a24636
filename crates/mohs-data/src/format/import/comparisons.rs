//! Paired judgements in the columns of other tools.
//!
//! Three kinds are told apart by their columns: `left, right, winner` (and a rater), the arena's
//! `model_a, model_b, winner`, and `winner, loser` with an optional `count`, one row standing for
//! that many judgements. The winner is the harder one. Without a rater all judgements are of one
//! participant, `unknown`, and a notice says so.

use std::path::{Path, PathBuf};

use super::foreign::ForeignTable;
use super::{Account, ImportOptions, Imported, each_file, mapping};
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
/// Reads files, or folders of them.
pub fn read(paths: &[PathBuf], options: &ImportOptions) -> Result<Imported<Comparison>, FileError> {
    each_file(paths, &["csv", "tsv"], options, parse, |comparison| &comparison.id)
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
        mapping.or_constant("sides", "unknown");
        if let Some(count) = table.first_of(&["count", "n", "wins"]) {
            mapping.or_column("count", count);
        }
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
        assert_eq!(pairs("winner,loser,count\nx,y,2\n"), [left]);
    }

    #[test]
    fn a_row_that_stands_for_many_keeps_its_count_and_has_no_sides() {
        let rows = read("winner,loser,count\nx,y,2\ny,x,1\n").unwrap();
        assert_eq!(rows.iter().map(|row| row.count).collect::<Vec<_>>(), [2, 1]);
        assert!(rows.iter().all(|row| row.sides == crate::comparison::Sides::Unknown));
    }

    #[test]
    fn a_count_that_is_none_is_refused() {
        insta::assert_snapshot!(
            read("winner,loser,count\nx,y,many\n").unwrap_err(),
            @"c.csv:2: `count` should be a whole number, 0 or more, found `many`"
        );
        assert!(read("winner,loser,count\nx,y,99999999999999999999\n").is_err());
    }

    #[test]
    fn a_missing_side_is_named() {
        let error = read("left,winner\nx,x\n").unwrap_err();
        insta::assert_snapshot!(error, @"c.csv has no column `right`; it has: left, winner");
    }
}
