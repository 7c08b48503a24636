//! jsPsych data, as JSON or CSV.
//!
//! One row per trial of jsPsych, which is any screen. Trials in our sense are those with a right
//! answer (`correct_response` or `correct` filled in) or, where a study writes neither, those with
//! a stimulus and an answer or a response time; `--where` says it better. `rt` is milliseconds
//! from onset, `null` when nobody answered. Nested answers stay JSON text. Older versions write
//! `key_press` or `button_pressed`; it counts in rows whose `response` is empty. A stimulus that
//! is HTML with a picture, or a list of files, goes by the path of the first.

use std::path::{Path, PathBuf};

use compact_str::CompactString;

use super::foreign::ForeignTable;
use super::{
    Account, ImportOptions, Imported, Mapping, each_file, json_rows, mapping,
    number_within_sessions, paths,
};
use crate::format::csv_rows::not_text;
use crate::{FileError, Problem, Trial};

/// Columns in which studies write who took part, most telling first.
const PARTICIPANT: [&str; 11] = [
    "participant",
    "participant_id",
    "subject_id",
    "subject",
    "PROLIFIC_PID",
    "prolific_pid",
    "prolific_id",
    "workerId",
    "worker_id",
    "run_id",
    "ID",
];
const LABEL: [&str; 4] = ["correct_response", "correctResponse", "correct_answer", "label"];

/// Columns with the answer, newest version of jsPsych first.
const ANSWER: [&str; 3] = ["response", "key_press", "button_pressed"];

/// Reads files, or folders of them.
pub fn read(paths: &[PathBuf], options: &ImportOptions) -> Result<Imported<Trial>, FileError> {
    each_file(paths, &["json", "csv", "txt"], options, parse, |trial| &trial.id)
}

/// Reads one file in memory; `path` tells CSV from JSON and stands in errors.
pub fn parse(
    path: &Path,
    bytes: Vec<u8>,
    tag: &str,
    options: &ImportOptions,
    account: &mut Account,
) -> Result<Vec<Trial>, FileError> {
    let tables = if paths::has_ending(path, &["csv", "tsv"]) {
        vec![ForeignTable::from_csv(path, bytes)?]
    } else {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(FileError::new(path, Problem::Empty { expected: "a jsPsych export" }));
        }
        if let Some(looks_like) = not_text(&bytes) {
            return Err(FileError::new(path, Problem::NotText { looks_like }));
        }
        let text = String::from_utf8(bytes).map_err(|_| {
            let looks_like = "bytes that are not UTF-8".into();
            FileError::new(path, Problem::NotText { looks_like })
        })?;
        json_rows::sessions(path, &text, &mut account.notices)?
    };
    account.taken_for.insert("jsPsych data".into());
    let n_tables = tables.len();
    let mut trials = Vec::new();
    for (idx, table) in tables.into_iter().enumerate() {
        account.n_records += table.rows.len();
        let tag = if n_tables == 1 { tag.to_owned() } else { format!("{tag}-{}", idx + 1) };
        trials.extend(session(table, &tag, options, account)?);
    }
    number_within_sessions(&mut trials);
    Ok(trials)
}

fn session(
    mut table: ForeignTable,
    tag: &str,
    options: &ImportOptions,
    account: &mut Account,
) -> Result<Vec<Trial>, FileError> {
    if table.column("trial_type").is_none() {
        let hint = "jsPsych writes a column `trial_type`; lab.js exports are `labjs`".to_owned();
        return Err(table.missing("trial_type", hint));
    }
    let mut mapping = options.mapping.clone();
    mapping.carry_over(&mut table)?;
    // What jsPsych writes as null in CSV is a word there, and nothing in JSON.
    for name in ["rt", "correct", "stimulus", "correct_response"].iter().chain(&ANSWER).copied() {
        if table.column(name).is_some() {
            table.set_column(name, |table, row| match table.cell(row, name) {
                "null" => "".into(),
                cell => cell.into(),
            });
        }
    }
    gather_answers(&mut table, &mut mapping, account);
    let participant = table.first_of(&PARTICIPANT).filter(|name| table.is_filled(name));
    let id_everywhere = participant.map(|name| fill_down(&mut table, name));
    if !mapping.filter(&mut table, account)? {
        choose(&mut table, account);
    }
    match participant {
        Some(name) if id_everywhere.is_some() => mapping.or_column("participant", name),
        _ => mapping.or_constant("participant", tag),
    }
    map(&table, &mut mapping)?;
    unwrap_stimuli(&mut table, &mut mapping, account);
    mapping::records(&table, &mapping, tag, account)
}

/// Copies who took part to rows that do not say it: some studies ask once.
fn fill_down(table: &mut ForeignTable, name: &str) {
    let first = (0..table.rows.len()).map(|row| table.cell(row, name));
    let first = CompactString::from(first.into_iter().find(|c| !c.is_empty()).unwrap_or(""));
    table.set_column(name, |table, row| match table.cell(row, name) {
        "" => first.clone(),
        own => own.into(),
    });
}

/// Takes the answer from the first column of a row that has one, where several are filled in.
fn gather_answers(table: &mut ForeignTable, mapping: &mut Mapping, account: &mut Account) {
    let filled: Vec<&str> = ANSWER.into_iter().filter(|name| table.is_filled(name)).collect();
    let [first, others @ ..] = filled.as_slice() else { return };
    let is_later = |row: &usize| {
        table.cell(*row, first).is_empty()
            && others.iter().any(|name| !table.cell(*row, name).is_empty())
    };
    let n_later = (0..table.rows.len()).filter(is_later).count();
    if n_later == 0 || mapping.has("response") {
        mapping.or_column("response", first);
        return;
    }
    let joined = filled.join(", else ");
    table.set_column(&joined, |table, row| {
        let mut cells = filled.iter().map(|name| table.cell(row, name));
        cells.find(|cell| !cell.is_empty()).unwrap_or_default().into()
    });
    mapping.or_column("response", &joined);
    let rows = if n_later == 1 { "row has its" } else { "rows have their" };
    account.notices.push(format!(
        "{}: {n_later} {rows} answer in `{}`, not in `{first}`",
        table.path.display(),
        others.join("` or `")
    ));
}

/// Where stimuli come from when they stand inside something else.
const PATHS: &str = "path inside stimulus";

/// Takes paths out of HTML and lists.
fn unwrap_stimuli(table: &mut ForeignTable, mapping: &mut Mapping, account: &mut Account) {
    let Some(column) = mapping.columns.get("stimulus").cloned() else { return };
    let is_inside = |row: &usize| path_inside(table.cell(*row, &column)).is_some();
    let n = (0..table.rows.len()).filter(is_inside).count();
    if n == 0 {
        return;
    }
    table.set_column(PATHS, |table, row| {
        let cell = table.cell(row, &column);
        path_inside(cell).unwrap_or_else(|| cell.into())
    });
    mapping.columns.insert("stimulus".into(), PATHS.into());
    let stimuli = if n == 1 { "stimulus is" } else { "stimuli are" };
    account.notices.push(format!(
        "{}: {n} {stimuli} HTML or a list; the first path inside names what was shown",
        table.path.display()
    ));
}

/// Returns the first path in `<img src="…">`, or the first text of a list in JSON.
fn path_inside(cell: &str) -> Option<CompactString> {
    if cell.starts_with('[') {
        let list: Vec<serde_json::Value> = serde_json::from_str(cell).ok()?;
        return Some(list.first()?.as_str()?.into());
    }
    if !cell.trim_start().starts_with('<') {
        return None;
    }
    let (_, rest) = cell.split_once("src=")?;
    let quote = rest.chars().next().filter(|c| ['"', '\''].contains(c))?;
    let (path, _) = rest[1..].split_once(quote)?;
    (!path.is_empty()).then(|| path.into())
}

fn choose(table: &mut ForeignTable, account: &mut Account) {
    let answer = LABEL.iter().chain(&["correct"]).copied();
    let answer: Vec<&str> = answer.filter(|name| table.is_filled(name)).collect();
    let has = |row: usize, name: &str| !table.cell(row, name).is_empty();
    let kept: Vec<usize> = (0..table.rows.len())
        .filter(|row| {
            if answer.is_empty() {
                let is_answered = ANSWER.iter().any(|name| has(*row, name));
                has(*row, "stimulus") && (is_answered || has(*row, "rt"))
            } else {
                answer.iter().any(|name| has(*row, name))
            }
        })
        .collect();
    let why = if answer.is_empty() {
        "without stimulus and answer".to_owned()
    } else {
        format!("without a value in `{}`", answer.join("` or `"))
    };
    account.set_aside(why, table.rows.len() - kept.len());
    table.keep(&kept);
}

fn map(table: &ForeignTable, mapping: &mut Mapping) -> Result<(), FileError> {
    let present = |names: &[&'static str]| table.first_of(names);
    if !mapping.has("stimulus") {
        let Some(stimulus) = present(&["stimulus", "image", "stimulus_id", "filename"]) else {
            let hint =
                "say which column names what was shown: --map stimulus=YOUR_COLUMN".to_owned();
            return Err(table.missing("stimulus", hint));
        };
        mapping.or_column("stimulus", stimulus);
    }
    for (ours, theirs) in [
        ("response", &ANSWER[..]),
        ("label", &LABEL),
        ("correct", &["correct"]),
        ("rt_ms", &["rt"]),
        ("condition", &["condition"]),
        ("block", &["block"]),
        ("session", &["session_id", "SESSION_ID"]),
    ] {
        if let Some(theirs) = present(theirs) {
            mapping.or_column(ours, theirs);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Millis;

    const JSON: &str = r#"[
      {"trial_type":"html-keyboard-response","trial_index":0,"stimulus":"<p>Welcome</p>","rt":900,"response":" ","subject_id":"p7"},
      {"trial_type":"image-keyboard-response","trial_index":1,"stimulus":"cat.png","rt":512.5,"response":"f","correct_response":"f","correct":true,"task":"test"},
      {"trial_type":"image-keyboard-response","trial_index":2,"stimulus":"dog.png","rt":null,"response":null,"correct_response":"j","correct":false,"task":"test"},
      {"trial_type":"survey-text","trial_index":3,"rt":3000,"response":{"Q0":"fine"}}
    ]"#;

    fn read(path: &str, text: &str, options: &ImportOptions) -> Result<Vec<Trial>, FileError> {
        parse(Path::new(path), text.into(), "f", options, &mut Account::default())
    }

    #[test]
    fn trials_are_the_rows_with_a_right_answer() {
        let trials = read("d.json", JSON, &ImportOptions::default()).unwrap();
        assert_eq!(trials.len(), 2);
        assert_eq!(trials[0].participant.as_str(), "p7");
        assert_eq!(trials[0].rt(), Millis::new(512.5));
        assert_eq!(trials[1].response, None);
        assert_eq!(trials[1].rt(), None);
        assert_eq!(trials[1].marked_correct, Some(false));
        assert_eq!(trials[0].extra.get("source_task"), Some("test"));
        assert_eq!(trials[0].extra.get("trial_index"), Some("1"));
    }

    #[test]
    fn csv_says_null_with_a_word() {
        let csv = "trial_type,trial_index,stimulus,rt,response,correct_response,correct\n\
                   image-keyboard-response,0,cat.png,512.5,f,f,true\n\
                   image-keyboard-response,1,dog.png,null,null,j,false\n";
        let trials = read("d.csv", csv, &ImportOptions::default()).unwrap();
        assert_eq!(trials[0].participant.as_str(), "f");
        assert_eq!(trials[1].response, None);
        assert_eq!(trials[1].rt(), None);
    }

    #[test]
    fn the_user_says_which_rows_are_trials_and_nested_answers_stay_json() {
        let mut options = ImportOptions::default();
        options.mapping.only = vec![("trial_type".into(), "survey-text".into())];
        options.mapping.constants.insert("stimulus".into(), "survey".into());
        options.mapping.columns.insert("label".into(), String::new());
        let trials = read("d.json", JSON, &options).unwrap();
        assert_eq!(trials.len(), 1);
        assert_eq!(trials[0].response.as_ref().unwrap().as_str(), r#"{"Q0":"fine"}"#);
    }

    #[test]
    fn an_older_answer_counts_where_there_is_no_response() {
        let json = r#"[
          {"trial_type":"survey-text","response":{"Q0":"x"}},
          {"trial_type":"a","stimulus":"<img src=\"img/1.png\">","rt":300,"key_press":70,"correct":true},
          {"trial_type":"a","stimulus":["2.mp4","2.webm"],"rt":null,"key_press":null,"correct":false}
        ]"#;
        let mut account = Account::default();
        let options = ImportOptions::default();
        let trials = parse(Path::new("d.json"), json.into(), "f", &options, &mut account).unwrap();
        assert_eq!(trials[0].response.as_ref().unwrap().as_str(), "70");
        assert_eq!(trials[1].response, None);
        assert_eq!(trials[0].stimulus.as_str(), "img/1.png");
        assert_eq!(trials[1].stimulus.as_str(), "2.mp4");
        assert_eq!(
            account.notices,
            [
                "d.json: 1 row has its answer in `key_press`, not in `response`",
                "d.json: 2 stimuli are HTML or a list; the first path inside names what was shown"
            ]
        );
    }

    #[test]
    fn another_json_is_refused() {
        let error = read("d.json", r#"[{"sender":"Screen0"}]"#, &ImportOptions::default());
        insta::assert_snapshot!(
            error.unwrap_err(),
            @"d.json:1: has no column `trial_type`; it has: sender"
        );
        let cut = &JSON[..JSON.len() / 2];
        assert!(read("d.json", cut, &ImportOptions::default()).is_err());
    }
}
