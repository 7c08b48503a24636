//! PsychoPy's wide CSV: one row per pass of a loop.
//!
//! The answer stands in `<component>.keys` with `<component>.rt` in seconds and
//! `<component>.corr`. Several components that judge answers (practice often has its own) are
//! read row by row: the one with a value counts. Where none judges, the one filled in most often
//! is taken, because instructions have one too; `--map response=other.keys` says it better. Rows
//! are trials when the answer cell is filled in (`None` means no answer) or, in a loop, when a
//! stimulus was shown. The loop's name (`trials` of `trials.thisN`) is the block; loops called
//! practice or tutorial are the block `practice`.

use std::path::{Path, PathBuf};

use compact_str::CompactString;

use super::foreign::ForeignTable;
use super::{
    Account, ImportOptions, Imported, Mapping, Unit, each_file, mapping, number_within_sessions,
};
use crate::{FileError, Trial};

const STIMULUS: [&str; 14] = [
    "stimulus",
    "image",
    "imageFile",
    "image_file",
    "imagefile",
    "stimFile",
    "stim_file",
    "stim",
    "picture",
    "filename",
    "file",
    "img",
    "image_path",
    "video",
];
const LABEL: [&str; 9] = [
    "corrAns",
    "correctAns",
    "corr_ans",
    "CorrAns",
    "corrResp",
    "corr_resp",
    "correct_response",
    "correctResponse",
    "label",
];

/// Reads files, or folders of them.
pub fn read(paths: &[PathBuf], options: &ImportOptions) -> Result<Imported<Trial>, FileError> {
    each_file(paths, &["csv"], options, parse, |trial| &trial.id)
}

/// Reads one file in memory; `path` stands in errors.
pub fn parse(
    path: &Path,
    bytes: Vec<u8>,
    tag: &str,
    options: &ImportOptions,
    account: &mut Account,
) -> Result<Vec<Trial>, FileError> {
    let mut table = ForeignTable::from_csv(path, bytes)?;
    account.taken_for.insert("PsychoPy's wide CSV".into());
    account.n_records += table.rows.len();
    let mut mapping = options.mapping.clone();
    mapping.carry_over(&mut table)?;
    map(&mut table, &mut mapping, account)?;
    if !mapping.filter(&mut table, account)? {
        choose(&mut table, &mapping, account);
    }
    if table.column("participant").is_some_and(|_| table.is_filled("participant")) {
        mapping.or_column("participant", "participant");
    } else {
        mapping.or_constant("participant", tag);
    }
    table.set_column("participant and session", |table, row| {
        let parts = ["participant", "session", "date"].map(|name| table.cell(row, name));
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { tag.into() } else { parts.join("/").into() }
    });
    mapping.or_column("session", "participant and session");
    table.set_column("loop", loop_of);
    if (0..table.rows.len()).any(|row| is_practice(table.cell(row, "loop"))) {
        table.set_column(BLOCK, |table, row| match table.cell(row, "loop") {
            name if is_practice(name) => "practice".into(),
            name => name.into(),
        });
        mapping.or_column("block", BLOCK);
    } else if table.is_filled("loop") {
        mapping.or_column("block", "loop");
    }
    let mut trials = mapping::records(&table, &mapping, tag, account)?;
    number_within_sessions(&mut trials);
    Ok(trials)
}

/// Returns the loop a row belongs to: the one whose counter is filled in, the innermost last.
fn loop_of(table: &ForeignTable, row: usize) -> CompactString {
    let mut loops = table.names().iter().filter_map(|name| name.strip_suffix(".thisN"));
    let counter = |name: &&str| !table.cell(row, &format!("{name}.thisN")).is_empty();
    loops.rfind(counter).unwrap_or_default().into()
}

/// Where blocks come from when some loops are practice.
const BLOCK: &str = "loop, practice under one name";

fn is_practice(name: &str) -> bool {
    let name = name.to_lowercase();
    name.contains("practice") || name.contains("tutorial")
}

/// Says which columns are ours.
fn map(
    table: &mut ForeignTable,
    mapping: &mut Mapping,
    account: &mut Account,
) -> Result<(), FileError> {
    if !mapping.has("response") {
        let components = components_of(table);
        let Some(component) = merged(table, &components, account) else {
            let hint = "PsychoPy writes answers to columns such as `key_resp.keys`; if yours has \
                        another name: --map response=YOUR_COLUMN"
                .to_owned();
            return Err(table.missing("key_resp.keys", hint));
        };
        mapping.or_column("response", &format!("{component}.keys"));
    }
    let response = mapping.columns.get("response").cloned().unwrap_or_default();
    if let Some((component, _)) = response.rsplit_once('.') {
        let (rt, correct) = (format!("{component}.rt"), format!("{component}.corr"));
        if table.column(&rt).is_some() {
            mapping.or_column("rt_ms", &rt);
            mapping.or_unit("rt_ms", &rt, Unit::Seconds);
        }
        if table.is_filled(&correct) {
            mapping.or_column("correct", &correct);
        }
    }
    if !mapping.has("stimulus") {
        let Some(stimulus) = table.first_of(&STIMULUS) else {
            let hint =
                "say which column names what was shown: --map stimulus=YOUR_COLUMN".to_owned();
            return Err(table.missing("stimulus", hint));
        };
        mapping.or_column("stimulus", stimulus);
    }
    if let Some(label) = table.first_of(&LABEL) {
        mapping.or_column("label", label);
    }
    if table.column("condition").is_some() {
        mapping.or_column("condition", "condition");
    }
    if mapping.no_response.is_empty() {
        mapping.no_response = vec!["None".into()];
    }
    Ok(())
}

/// Returns the components that take answers, the one filled in most often first: all that judge
/// them or, where none does, one.
fn components_of(table: &ForeignTable) -> Vec<String> {
    let n_filled =
        |name: &str| (0..table.rows.len()).filter(|row| !table.cell(*row, name).is_empty()).count();
    let components = table.names().iter().filter_map(|name| name.strip_suffix(".keys"));
    let mut ranked: Vec<(bool, usize, &str)> = components
        .map(|component| {
            let is_judged = table.is_filled(&format!("{component}.corr"));
            (is_judged, n_filled(&format!("{component}.keys")), component)
        })
        .collect();
    ranked.sort_by_key(|(is_judged, n, _)| std::cmp::Reverse((*is_judged, *n)));
    let n_judged = ranked.iter().filter(|(is_judged, ..)| *is_judged).count();
    ranked.into_iter().take(n_judged.max(1)).map(|(.., name)| name.to_owned()).collect()
}

/// Makes one component of several, each row taking the one that has a value; returns its name.
fn merged(
    table: &mut ForeignTable,
    components: &[String],
    account: &mut Account,
) -> Option<String> {
    let [_, _, ..] = components else { return components.first().cloned() };
    let keys = |table: &ForeignTable, row: usize, component: &str| -> CompactString {
        table.cell(row, &format!("{component}.keys")).into()
    };
    let chosen: Vec<Option<&String>> = (0..table.rows.len())
        .map(|row| {
            let is_key = |name: &&String| !["", "None"].contains(&&*keys(table, row, name));
            let is_filled = |name: &&String| !keys(table, row, name).is_empty();
            components.iter().find(is_key).or_else(|| components.iter().find(is_filled))
        })
        .collect();
    let name = components.join(", else ");
    for end in ["keys", "rt", "corr"] {
        table.set_column(&format!("{name}.{end}"), |table, row| {
            chosen[row]
                .map_or("", |component| table.cell(row, &format!("{component}.{end}")))
                .into()
        });
    }
    account.notices.push(format!(
        "{}: answers stand in several components, each row has that of the one with a value: {}",
        table.path.display(),
        components.join(", ")
    ));
    Some(name)
}

fn choose(table: &mut ForeignTable, mapping: &Mapping, account: &mut Account) {
    let mapped = |ours: &str| mapping.columns.get(ours).map_or("", String::as_str).to_owned();
    let (response, stimulus) = (mapped("response"), mapped("stimulus"));
    let kept: Vec<usize> = (0..table.rows.len())
        .filter(|row| {
            let is_shown =
                !table.cell(*row, &stimulus).is_empty() && !loop_of(table, *row).is_empty();
            !table.cell(*row, &response).is_empty() || is_shown
        })
        .collect();
    account.set_aside("without an answer or a stimulus", table.rows.len() - kept.len());
    table.keep(&kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: &str = "\u{feff}imageFile,corrAns,trials.thisRepN,trials.thisN,start.keys,start.rt,\
        key_resp.keys,key_resp.corr,key_resp.rt,participant,session,date,frameRate,\n\
        ,,,,space,1.2,,,,p3,001,2024,60,\n\
        a.png,left,0,0,,,left,1,0.4321,p3,001,2024,60,\n\
        b.png,right,0,1,,,None,0,,p3,001,2024,60,\n";

    fn read(text: &str) -> Result<Vec<Trial>, FileError> {
        let options = ImportOptions::default();
        parse(Path::new("p.csv"), text.into(), "p", &options, &mut Account::default())
    }

    #[test]
    fn answers_of_the_judged_component_become_trials() {
        let trials = read(CSV).unwrap();
        assert_eq!(trials.len(), 2);
        assert!((trials[0].rt().unwrap().value() - 432.1).abs() < 1e-9);
        assert_eq!(trials[0].marked_correct, Some(true));
        assert_eq!(trials[0].label.as_ref().unwrap().as_str(), "left");
        assert_eq!(trials[0].block.as_deref(), Some("trials"));
        assert_eq!(trials[0].session.as_str(), "p3/001/2024");
        assert_eq!(trials[1].response, None);
        assert_eq!(trials[1].idx, Some(1));
        assert_eq!(trials[1].extra.get("frameRate"), Some("60"));
    }

    #[test]
    fn practice_with_a_component_of_its_own_has_answers_too() {
        let csv = "image,corrAns,practice_trials.thisN,trials.thisN,resp_p.keys,resp_p.corr,\
            resp_p.rt,resp.keys,resp.corr,resp.rt,participant\n\
            p.png,f,0,,f,1,0.5,,,,p7\n\
            a.png,j,,0,,,,None,0,,p7\n\
            b.png,j,,1,,,,f,0,0.25,p7\n";
        let mut account = Account::default();
        let options = ImportOptions::default();
        let trials = parse(Path::new("p.csv"), csv.into(), "p", &options, &mut account).unwrap();
        let answers: Vec<_> =
            trials.iter().map(|t| t.response.as_ref().map(|r| r.as_str())).collect();
        assert_eq!(answers, [Some("f"), None, Some("f")]);
        assert_eq!(trials[0].rt(), crate::Millis::new(500.0));
        assert_eq!(trials[0].block.as_deref(), Some("practice"));
        assert_eq!(trials[0].extra.get("loop"), Some("practice_trials"));
        assert_eq!(trials[1].block.as_deref(), Some("trials"));
        assert_eq!(trials[1].marked_correct, Some(false));
        assert!(account.notices[0].ends_with("the one with a value: resp, resp_p"));
    }

    #[test]
    fn a_file_without_keys_is_refused_with_a_way_out() {
        let error = read("participant,image\np1,a.png\n").unwrap_err();
        assert!(error.to_string().contains("has no column `key_resp.keys`"));
        assert!(error.hint().unwrap().contains("--map response=YOUR_COLUMN"));
    }
}
