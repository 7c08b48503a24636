//! Folders for other tools: what stands where, checked by the rules their validators check.

use std::collections::BTreeSet;
use std::path::Path;

use mohs_data::Trial;
use mohs_data::format::export::{Description, bids, psych_ds};
use mohs_data::format::{ReadOptions, TableReader, read_all};
use serde_json::Value;

const CSV: &str = "trial,session,participant,idx,block,task,stimulus,label,beep_ms,condition,\
    response,onset_ms,response_ms,note,onset\n\
    t1,s1,p-1,0,beep-500,beep,a.png,cat,500,0.1,cat,1000,1500.5,plain,x\n\
    t2,s1,p-1,1,beep-500,beep,b.png,dog,500,0.1,,3000,,\"tab\there, comma\",y\n\
    t3,s2,p-1,0,,rate,a.png,cat,,,dog,10,900,,\n\
    t4,s3,p_1,0,,rate,a.png,cat,,,cat,0,700,,\n\
    t5,s3,p_1,1,,rate,b.png,dog,,,dog,0,650,,\n";

fn trials() -> Vec<Trial> {
    let options = ReadOptions::default();
    let rows = TableReader::from_bytes(Path::new("t.csv"), CSV.into(), &options).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn about() -> Description {
    Description {
        name: "My study: no. 1".into(),
        description: "Five trials by hand".into(),
        authors: vec!["A. Person".into()],
        written_by: "0.0.0".into(),
    }
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&text(path)).unwrap()
}

/// Paths of all files below a folder, with `/`.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let relative = path.strip_prefix(folder).unwrap();
                found.insert(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found
}

#[test]
fn a_bids_folder_has_a_table_per_participant_session_and_task() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("bids");
    bids::write(&folder, &trials(), &about()).unwrap();
    let expected = [
        "README.md",
        "dataset_description.json",
        "participants.json",
        "participants.tsv",
        "sub-p1/ses-s1/beh/sub-p1_ses-s1_task-beep_events.tsv",
        "sub-p1/ses-s2/beh/sub-p1_ses-s2_task-rate_events.tsv",
        "sub-p1/sub-p1_sessions.json",
        "sub-p1/sub-p1_sessions.tsv",
        "sub-p1x2/ses-s3/beh/sub-p1x2_ses-s3_task-rate_events.tsv",
        "sub-p1x2/sub-p1x2_sessions.json",
        "sub-p1x2/sub-p1x2_sessions.tsv",
        "task-beep_events.json",
        "task-rate_events.json",
    ];
    assert_eq!(files(&folder), expected.into_iter().map(ToOwned::to_owned).collect());
    assert_eq!(
        text(&folder.join("participants.tsv")),
        "participant_id\tsource_id\nsub-p1\tp-1\nsub-p1x2\tp_1\n"
    );
    insta::assert_snapshot!(
        text(&folder.join("sub-p1/ses-s1/beh/sub-p1_ses-s1_task-beep_events.tsv")).replace('\t', "|"),
        @r"
    onset|duration|trial_type|response_time|trial|idx|block|stimulus|label|response|correct|exposure|beep|condition|timing|note|source_onset
    1|n/a|0.1|0.5005|t1|0|beep-500|a.png|cat|cat|1|n/a|0.5|0.1|n/a|plain|x
    3|n/a|0.1|n/a|t2|1|beep-500|b.png|dog|n/a|0|n/a|0.5|0.1|n/a|tab here, comma|y
    "
    );
    // Two trials at clock zero: the clock starts anew with each, and says nothing of when.
    let anew = text(&folder.join("sub-p1x2/ses-s3/beh/sub-p1x2_ses-s3_task-rate_events.tsv"));
    assert!(anew.lines().skip(1).all(|line| line.starts_with("n/a\t")), "{anew}");
    let sidecar = json(&folder.join("task-beep_events.json"));
    let header = text(&folder.join("sub-p1/ses-s1/beh/sub-p1_ses-s1_task-beep_events.tsv"));
    for column in header.lines().next().unwrap().split('\t') {
        assert!(sidecar[column]["Description"].is_string(), "{column} is not described");
    }
}

#[test]
fn one_session_each_needs_no_folder_of_sessions() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("bids");
    bids::write(&folder, &trials()[..2], &about()).unwrap();
    assert!(folder.join("sub-p1/beh/sub-p1_task-beep_events.tsv").is_file());
}

/// The rules of the Psych-DS validator that can fail for us: name of the data file, required
/// keys, and columns of the data that are exactly the variables of the description.
#[test]
fn a_psych_ds_folder_keeps_the_rules_of_its_validator() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("psych ds");
    psych_ds::write(&folder, &trials(), &about()).unwrap();
    let expected =
        ["CHANGES.md", "README.md", "data/study-Mystudyno1_data.csv", "dataset_description.json"];
    assert_eq!(files(&folder), expected.into_iter().map(ToOwned::to_owned).collect());
    let description = json(&folder.join("dataset_description.json"));
    assert_eq!(description["@context"], "https://schema.org/");
    assert_eq!(description["@type"], "Dataset");
    for key in ["name", "description"] {
        assert!(description[key].as_str().is_some_and(|text| !text.is_empty()), "{key}");
    }
    let variables = description["variableMeasured"].as_array().unwrap();
    assert!(variables.iter().all(|variable| variable["@type"] == "PropertyValue"));
    let variables: BTreeSet<&str> = variables.iter().map(|v| v["name"].as_str().unwrap()).collect();
    let data = folder.join("data/study-Mystudyno1_data.csv");
    let table = text(&data);
    let columns: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    assert_eq!(variables, columns.iter().copied().collect());
    assert_eq!(columns.len(), variables.len(), "no column stands twice");
    let back: Vec<Trial> = read_all(&data, &ReadOptions::default()).unwrap();
    assert_eq!(back, trials());
}

#[test]
fn a_folder_that_holds_something_is_left_alone() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("mine.txt"), "mine").unwrap();
    let error = bids::write(place.path(), &trials(), &about()).unwrap_err();
    assert!(error.to_string().contains("new or empty"), "{error}");
    assert!(psych_ds::write(place.path(), &trials(), &about()).is_err());
    assert_eq!(files(place.path()).len(), 1);
}
