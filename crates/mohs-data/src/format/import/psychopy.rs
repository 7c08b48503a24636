//! PsychoPy's wide CSV: one row per pass of a loop.
//!
//! The answer stands in `<component>.keys` with `<component>.rt` in seconds and
//! `<component>.corr`. With several such components (instructions have one too) the one with
//! `.corr` is taken, then the one filled in most often; `--map response=other.keys` says it
//! better. Rows are trials when the answer cell is filled in (`None` means no answer) or, in a
//! loop, when a stimulus was shown. The loop's name (`trials` of `trials.thisN`) is the block.

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
    map(&table, &mut mapping)?;
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
    if table.is_filled("loop") {
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

/// Says which columns are ours.
fn map(table: &ForeignTable, mapping: &mut Mapping) -> Result<(), FileError> {
    if !mapping.has("response") {
        let Some(component) = component_of(table) else {
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

/// Returns the component that takes the answer.
fn component_of(table: &ForeignTable) -> Option<String> {
    let n_filled =
        |name: &str| (0..table.rows.len()).filter(|row| !table.cell(*row, name).is_empty()).count();
    let mut best: Option<((bool, usize), String)> = None;
    for component in table.names().iter().filter_map(|name| name.strip_suffix(".keys")) {
        let is_judged = table.is_filled(&format!("{component}.corr"));
        let rank = (is_judged, n_filled(&format!("{component}.keys")));
        if best.as_ref().is_none_or(|(best, _)| *best < rank) {
            best = Some((rank, component.to_owned()));
        }
    }
    best.map(|(_, component)| component)
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
    fn a_file_without_keys_is_refused_with_a_way_out() {
        let error = read("participant,image\np1,a.png\n").unwrap_err();
        assert!(error.to_string().contains("has no column `key_resp.keys`"));
        assert!(error.hint().unwrap().contains("--map response=YOUR_COLUMN"));
    }
}
