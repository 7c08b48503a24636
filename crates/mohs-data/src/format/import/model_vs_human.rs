//! Answers of people and models to degraded pictures, as the model-vs-human benchmark keeps them.
//!
//! One CSV file per observer and session, `<dataset>_<observer>_session_<k>.csv` (or `session-<k>`), with the columns
//! `subj, session, trial, rt, object_response, category, condition, imagename` in any case.
//! Response times are seconds, `NaN` for models; the answer `na` is none. Conditions are spelled
//! as a data frame would print them (`0.10` is `0.1`, `true` is `True`), because the benchmark's
//! lists of conditions are. Humans are called `subject-NN`.
//!
//! Added columns: `dataset`; `observer` (`human` or `model`); `benchmark` (`out` for conditions
//! that the published benchmark leaves out, else `in`); for cue-conflict pictures `texture`.
//!
//! Everybody becomes a participant here; `model_vs_human/models.rs` makes predictions of models.

pub mod models;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use compact_str::{CompactString, format_compact};

use super::foreign::ForeignTable;
use super::{Account, ImportOptions, Imported, Mapping, Unit, finished, mapping, paths};
use crate::{FileError, Trial};

/// Conditions that the published benchmark leaves out: too easy, or too hard for everybody.
const LEFT_OUT: [(&str, &[&str]); 12] = [
    ("colour", &["cr"]),
    ("contrast", &["c100", "c03", "c01"]),
    ("high-pass", &["inf", "0.55", "0.45", "0.4"]),
    ("low-pass", &["0", "15", "40"]),
    ("phase-scrambling", &["0", "150", "180"]),
    ("power-equalisation", &["0"]),
    ("false-colour", &["True"]),
    ("rotation", &["0"]),
    ("eidolonI", &["1-10-10", "64-10-10", "128-10-10"]),
    ("eidolonII", &["1-3-10", "32-3-10", "64-3-10", "128-3-10"]),
    ("eidolonIII", &["1-0-10", "16-0-10", "32-0-10", "64-0-10", "128-0-10"]),
    ("uniform-noise", &["0.0", "0.6", "0.9"]),
];

/// Reads files, or folders of them.
pub fn read(paths: &[PathBuf], options: &ImportOptions) -> Result<Imported<Trial>, FileError> {
    let files = paths::files_of(paths, &["csv"])?;
    let mut account = Account::default();
    let mut trials = Vec::new();
    for file in &files {
        trials.extend(parse(file, paths::bytes_of(file)?, options, &mut account)?);
    }
    account.files = files;
    account.notices.extend(spelled_twice(&trials));
    finished(paths, trials, account, |trial| &trial.id)
}

/// Reads one file in memory; its path gives the data set and stands in errors.
pub fn parse(
    path: &Path,
    bytes: Vec<u8>,
    options: &ImportOptions,
    account: &mut Account,
) -> Result<Vec<Trial>, FileError> {
    let Answers { mut table, mut mapping, dataset } = open(path, bytes, options, account)?;
    let ids = |table: &ForeignTable, row| {
        let session = match table.cell(row, "session") {
            "" => "1",
            session => session,
        };
        format_compact!("{dataset}/{}/{session}", table.cell(row, "subj"))
    };
    // A file without numbers of trials is numbered by its lines.
    let numbers = |table: &ForeignTable, row: usize| match table.cell(row, "trial") {
        "" => CompactString::from((row + 1).to_string()),
        number => number.into(),
    };
    table.set_column("trial", |table, row| {
        format_compact!("{}/{}", ids(table, row), numbers(table, row))
    });
    table.set_column("session", ids);

    for (ours, theirs) in [
        ("trial", "trial"),
        ("session", "session"),
        ("participant", "subj"),
        ("stimulus", STIMULUS),
        ("label", "category"),
        ("condition", "condition"),
        ("response", "object_response"),
    ] {
        mapping.or_column(ours, theirs);
    }
    if table.column("rt").is_some() {
        mapping.or_column("rt_ms", "rt");
        mapping.or_unit("rt_ms", "rt", Unit::Seconds);
    }
    if mapping.no_response.is_empty() {
        mapping.no_response = vec!["na".into()];
    }
    let mut trials: Vec<Trial> = mapping::records(&table, &mapping, &dataset, account)?;
    super::number_within_sessions(&mut trials);
    Ok(trials)
}

/// A file as it is understood whoever answered: the columns checked, conditions spelled, the
/// picture named, and `dataset`, `observer`, `benchmark` and `texture` added.
struct Answers {
    table: ForeignTable,
    mapping: Mapping,
    dataset: String,
}

/// The column made for the picture's own name.
const STIMULUS: &str = "end of imagename";

fn open(
    path: &Path,
    bytes: Vec<u8>,
    options: &ImportOptions,
    account: &mut Account,
) -> Result<Answers, FileError> {
    let mut table = ForeignTable::from_csv(path, bytes)?;
    table.lower_case_names();
    for wanted in ["subj", "object_response", "category", "imagename"] {
        if table.column(wanted).is_none() {
            let hint = "model-vs-human files have the columns subj, session, trial, rt, \
                        object_response, category, condition, imagename"
                .into();
            return Err(table.missing(wanted, hint));
        }
    }
    account.taken_for.insert("model-vs-human answers".into());
    account.n_records += table.rows.len();
    let mapping = options.mapping.clone();
    mapping.carry_over(&mut table)?;
    mapping.filter(&mut table, account)?;

    let observer = (0..table.rows.len()).map(|row| table.cell(row, "subj")).next();
    let dataset = dataset_of(path, observer.unwrap_or_default());
    let conditions = as_a_data_frame_prints(&column(&table, "condition"));
    table.set_column("dataset", |_, _| dataset.as_str().into());
    table.set_column("observer", |table, row| {
        if table.cell(row, "subj").starts_with("subject-") { "human" } else { "model" }.into()
    });
    let left_out = LEFT_OUT.iter().find(|(name, _)| *name == dataset).map_or(&[][..], |(_, c)| *c);
    table.set_column("benchmark", |_, row| {
        if left_out.contains(&conditions[row].as_str()) { "out" } else { "in" }.into()
    });
    if dataset == "cue-conflict" {
        table.set_column("texture", |table, row| texture_of(table.cell(row, "imagename")));
    }
    table.set_column("condition", |_, row| conditions[row].clone());
    table.set_column(STIMULUS, |table, row| image_id(table.cell(row, "imagename")).into());
    Ok(Answers { table, mapping, dataset })
}

/// Names conditions of a data set that its files spell in two ways: a file without `inf` has `1`
/// where another has `1.0`.
fn spelled_twice(trials: &[Trial]) -> Vec<String> {
    let mut spellings: BTreeMap<(&str, u64), BTreeSet<&str>> = BTreeMap::new();
    for trial in trials {
        let (Some(dataset), Some(condition)) = (trial.extra.get("dataset"), &trial.condition)
        else {
            continue;
        };
        if let Ok(number) = condition.parse::<f64>() {
            spellings.entry((dataset, number.to_bits())).or_default().insert(condition);
        }
    }
    let twice = spellings.into_iter().filter(|(_, words)| 1 < words.len());
    let tell = |((dataset, _), words): ((&str, u64), BTreeSet<&str>)| {
        let words: Vec<&str> = words.into_iter().collect();
        format!("{dataset}: its files spell one condition `{}`", words.join("` and `"))
    };
    twice.map(tell).collect()
}

fn column(table: &ForeignTable, name: &str) -> Vec<CompactString> {
    (0..table.rows.len()).map(|row| table.cell(row, name).into()).collect()
}

/// Returns the data set: what stands before `_<observer>_session` in the file's name, else the
/// folder's name.
fn dataset_of(path: &Path, observer: &str) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let before_session = stem.rsplit_once("_session").map(|(before, _)| before);
    let from_name = before_session.and_then(|before| {
        let named = before.strip_suffix(observer).and_then(|name| name.strip_suffix('_'));
        named
            .or_else(|| before.split_once("_subject-").map(|(name, _)| name))
            .or_else(|| before.split_once('_').map(|(name, _)| name))
    });
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
    match (from_name, folder) {
        (Some(name), _) => name.to_owned(),
        (None, Some(folder)) => folder.into_owned(),
        (None, None) => stem.into_owned(),
    }
}

/// Returns the picture's own name: the last part, or the last two where they are `n0…_…`.
fn image_id(imagename: &str) -> &str {
    let Some((before, last)) = imagename.rsplit_once('_') else { return imagename };
    let second_last = before.rsplit_once('_').map_or(before, |(_, part)| part);
    if second_last.starts_with("n0") {
        &imagename[before.len() - second_last.len()..]
    } else {
        last
    }
}

/// Returns the texture of a cue-conflict picture: `clock` of `bird2-clock3.png`.
fn texture_of(imagename: &str) -> CompactString {
    let id = image_id(imagename);
    let stem = id.rsplit_once('.').map_or(id, |(stem, _)| stem);
    let texture = stem.rsplit_once('-').map_or("", |(_, texture)| texture);
    texture.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Spells a column as a data frame prints it after guessing its type: whole numbers, then
/// numbers, then yes and no, else texts as they are.
fn as_a_data_frame_prints(cells: &[CompactString]) -> Vec<CompactString> {
    if let Some(whole) = all(cells, |cell| cell.parse::<i64>().ok()) {
        return whole.iter().map(|n| n.to_string().into()).collect();
    }
    if let Some(real) = all(cells, |cell| cell.parse::<f64>().ok()) {
        // `1.0` keeps its point and infinity is `inf`, as Rust's own spelling has it.
        return real.iter().map(|x| format_compact!("{x:?}")).collect();
    }
    let flags = all(cells, |cell| match cell {
        "true" | "True" | "TRUE" => Some("True"),
        "false" | "False" | "FALSE" => Some("False"),
        _ => None,
    });
    match flags {
        Some(flags) => flags.into_iter().map(CompactString::from).collect(),
        None => cells.to_vec(),
    }
}

fn all<T>(cells: &[CompactString], parse: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    cells.iter().map(|cell| parse(cell)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(cells: &[&str]) -> Vec<CompactString> {
        as_a_data_frame_prints(&cells.iter().map(|cell| (*cell).into()).collect::<Vec<_>>())
    }

    #[test]
    fn conditions_are_spelled_as_a_data_frame_prints_them() {
        assert_eq!(printed(&["0.10", "0.00", "0.35"]), ["0.1", "0.0", "0.35"]);
        assert_eq!(printed(&["1", "inf", "0.7"]), ["1.0", "inf", "0.7"]);
        assert_eq!(printed(&["0", "40"]), ["0", "40"]);
        assert_eq!(printed(&["true", "false"]), ["True", "False"]);
        assert_eq!(printed(&["0", "pow"]), ["0", "pow"]);
    }

    #[test]
    fn a_picture_is_named_by_its_last_parts() {
        let id = image_id("0001_cl_s01_cr_oven_40_n04111531_14126.png");
        assert_eq!(id, "n04111531_14126.png");
        assert_eq!(image_id("0001_s5n_s01_0_bird_00_bird3-bird2.png"), "bird3-bird2.png");
        assert_eq!(image_id("plain.png"), "plain.png");
        assert_eq!(texture_of("0002_s5n_s01_0_bird_00_bird2-clock3.png"), "clock");
    }

    const TWO: &str = "subj,Session,trial,rt,object_response,category,condition,imagename,note\n\
        subject-01,1,1,0.7964,oven,oven,0.10,0001_nse_s01_0.10_oven_10_n04111531_14126.png,x\n\
        subject-01,1,2,NaN,na,bear,0.90,0002_nse_s01_0.90_bear_10_n02134084_5274.png,\n";

    fn read(name: &str, text: &str) -> Result<Vec<Trial>, FileError> {
        let options = ImportOptions::default();
        parse(Path::new(name), text.into(), &options, &mut Account::default())
    }

    #[test]
    fn seconds_become_milliseconds_and_na_no_answer() {
        let trials = read("d/uniform-noise_subject-01_session_1.csv", TWO).unwrap();
        assert!((trials[0].rt().unwrap().value() - 796.4).abs() < 1e-9);
        assert_eq!(trials[1].rt(), None);
        assert_eq!(trials[1].response, None);
        assert_eq!(trials[1].is_correct(), Some(false));
        assert_eq!(trials[0].condition.as_deref(), Some("0.1"));
        assert_eq!(trials[0].id.as_str(), "uniform-noise/subject-01/1/1");
        assert_eq!(trials[0].session.as_str(), "uniform-noise/subject-01/1");
        assert_eq!(trials[1].idx, Some(1));
        let extra: Vec<_> = trials[1].extra.iter().collect();
        let name = "0002_nse_s01_0.90_bear_10_n02134084_5274.png";
        assert_eq!(
            extra,
            [
                ("imagename", name),
                ("note", ""),
                ("dataset", "uniform-noise"),
                ("observer", "human"),
                ("benchmark", "out")
            ]
        );
        assert_eq!(trials[0].extra.get("benchmark"), Some("in"));
    }

    #[test]
    fn models_are_told_from_people() {
        let text = TWO.replace("subject-01,", "resnet50,");
        let trials = read("uniform-noise_resnet50_session_1.csv", &text).unwrap();
        assert_eq!(trials[0].extra.get("observer"), Some("model"));
    }

    #[test]
    fn the_data_set_stands_before_the_observer() {
        let dataset = |name: &str, observer: &str| dataset_of(Path::new(name), observer);
        assert_eq!(
            dataset("raw/cue-conflict_subject-01_session_1.csv", "subject-01"),
            "cue-conflict"
        );
        assert_eq!(dataset("raw/colour_simclr_x1_session-1.csv", "simclr_x1"), "colour");
        assert_eq!(dataset("raw/my_set_vgg16_session-1.csv", "vgg16"), "my_set");
        assert_eq!(dataset("raw/sketch_ResNet_session_2.csv", "resnet"), "sketch");
        assert_eq!(dataset("stylized/one.csv", "resnet"), "stylized");
    }

    #[test]
    fn a_condition_that_files_spell_in_two_ways_is_told_of() {
        let file = |condition: &str| {
            let text = TWO.replace(",0.10,", &format!(",{condition},")).replace(",0.90,", ",3,");
            read("high-pass_subject-01_session_1.csv", &text).unwrap()
        };
        let trials: Vec<Trial> = [file("inf"), file("1")].concat();
        assert_eq!(
            spelled_twice(&trials),
            ["high-pass: its files spell one condition `3` and `3.0`"]
        );
        assert_eq!(spelled_twice(&file("inf")), Vec::<String>::new());
    }

    #[test]
    fn another_table_is_refused_with_the_columns_it_should_have() {
        let error = read("a.csv", "subject,answer\np1,cat\n").unwrap_err();
        insta::assert_snapshot!(error, @"a.csv has no column `subj`; it has: subject, answer");
    }
}
