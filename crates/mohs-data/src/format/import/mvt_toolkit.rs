//! Answers of the published viewing-time toolkit: its notebook's CSV, or the fields of its store.
//!
//! The name of a video says what was shown: `<image>_phase_90_<f>_30_30.mp4` is the picture for
//! `f` of 60 frames a second, so 1, 3, 6, 9, 15 and 600 frames are 17, 50, 100, 150, 250 and
//! 10,000 ms. Spaces in answers become underscores, as in class names. `response_time` is
//! milliseconds from the grid of answers to the click, not from the onset of the picture.
//!
//! Raw fields may come as CSV, as an array of JSON, or as one JSON object from store keys
//! (`<link>:worker_id:<participant>:response:<n>`) to fields. They have no labels: name the
//! toolkit's manifest (`video_data_….json`) among the files, or join labels later with
//! `--stimuli`. Network addresses of participants are never kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use compact_str::{CompactString, ToCompactString};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::foreign::ForeignTable;
use super::{
    Account, ImportOptions, Imported, Mapping, Unit, finished, mapping, number_within_sessions,
    paths, tags_of,
};
use crate::format::document;
use crate::{FileError, Frames, Problem, Trial};

/// The toolkit's videos.
const FRAMES_PER_SECOND: f64 = 60.0;
/// The toolkit's own exposures, in frames and in milliseconds; no number stands in both.
const USUAL_FRAMES: [f64; 6] = [1.0, 3.0, 6.0, 9.0, 15.0, 600.0];
const USUAL_MS: [f64; 6] = [17.0, 50.0, 100.0, 150.0, 250.0, 10_000.0];
/// Columns that identify a person's connection.
const PERSONAL: [&str; 5] = ["ip", "ip_address", "client_ip", "remote_address", "user_ip"];

/// One video of the manifest.
#[derive(Debug, Clone, Deserialize)]
struct Video {
    video: String,
    image: Option<String>,
    label: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Manifest {
    Wrapped { videos: Vec<Video> },
    Bare(Vec<Video>),
}

/// What is known of a video, by its name.
#[derive(Debug, Default)]
pub struct Videos(BTreeMap<String, Video>);

impl Videos {
    /// Reads a text as the toolkit's manifest; `false` when it is something else.
    pub fn learn(&mut self, text: &str) -> bool {
        let Ok(manifest) = serde_json::from_str::<Manifest>(text) else { return false };
        let (Manifest::Wrapped { videos } | Manifest::Bare(videos)) = manifest;
        let is_manifest = videos.iter().any(|video| video.label.is_some());
        if is_manifest {
            self.0.extend(videos.into_iter().map(|video| (base_name(&video.video).into(), video)));
        }
        is_manifest
    }
}

/// Reads files, or folders of them; manifests among them give labels.
pub fn read(paths: &[PathBuf], options: &ImportOptions) -> Result<Imported<Trial>, FileError> {
    let files = paths::files_of(paths, &["csv", "json"])?;
    let mut account = Account::default();
    let mut videos = Videos::default();
    let mut tables = Vec::new();
    for (file, tag) in files.iter().zip(tags_of(&files)) {
        let is_json = paths::has_ending(file, &["json"]);
        if is_json && videos.learn(&document::read_text(file, "answers or a manifest")?) {
            continue;
        }
        tables.push((file, tag));
    }
    let mut trials = Vec::new();
    for (file, tag) in tables {
        let bytes = paths::bytes_of(file)?;
        trials.extend(parse(file, bytes, &tag, &videos, options, &mut account)?);
    }
    account.files = files;
    finished(paths, trials, account, |trial| &trial.id)
}

/// Reads one file of answers in memory; `path` tells CSV from JSON and stands in errors.
pub fn parse(
    path: &Path,
    bytes: Vec<u8>,
    tag: &str,
    videos: &Videos,
    options: &ImportOptions,
    account: &mut Account,
) -> Result<Vec<Trial>, FileError> {
    let mut table = if paths::has_ending(path, &["json"]) {
        from_json(path, bytes)?
    } else {
        ForeignTable::from_csv(path, bytes)?
    };
    account.taken_for.insert("answers of the viewing-time toolkit".into());
    account.n_records += table.rows.len();
    for name in PERSONAL {
        if table.remove_column(name) {
            account.notices.push(format!("`{name}` is personal and not kept"));
        }
    }
    let mut mapping = options.mapping.clone();
    mapping.carry_over(&mut table)?;
    mapping.filter(&mut table, account)?;
    map(&mut table, videos, &mut mapping)?;
    if mapping.columns.get("rt_ms").is_some_and(|column| column == "response_time") {
        let text = "rt is counted from the grid of answers, not from the onset of the picture";
        if !account.notices.iter().any(|notice| notice == text) {
            account.notices.push(text.into());
        }
    }
    let mut trials = mapping::records(&table, &mapping, tag, account)?;
    number_within_sessions(&mut trials);
    Ok(trials)
}

/// Reads an array of objects, or an object of objects by store key.
fn from_json(path: &Path, bytes: Vec<u8>) -> Result<ForeignTable, FileError> {
    let text = String::from_utf8(bytes).map_err(|_| {
        let looks_like = "bytes that are not UTF-8".into();
        FileError::new(path, Problem::NotText { looks_like })
    })?;
    let objects: Vec<Map<String, Value>> = match document::parse_json(path, &text)? {
        Value::Array(rows) => rows
            .into_iter()
            .filter_map(|row| match row {
                Value::Object(fields) => Some(fields),
                _ => None,
            })
            .collect(),
        Value::Object(by_key) => by_key
            .into_iter()
            .filter_map(|(key, value)| match value {
                Value::Object(fields) => with_key(&key, fields),
                _ => None,
            })
            .collect(),
        other => {
            let found = other.to_string().chars().take(40).collect();
            let expected = "an array of answers, or an object from store keys to fields".into();
            return Err(FileError::new(path, Problem::WrongKind { expected, found }));
        }
    };
    Ok(ForeignTable::from_objects(path, None, &objects))
}

/// Adds what the key of an answer in the store says; other keys of the store are no answers.
fn with_key(key: &str, mut fields: Map<String, Value>) -> Option<Map<String, Value>> {
    let (link, rest) = key.split_once(":worker_id:")?;
    let (participant, n) = rest.rsplit_once(":response:")?;
    for (name, value) in [("link_id", link), ("worker_id", participant), ("trial_num", n)] {
        fields.entry(name).or_insert_with(|| Value::String(value.into()));
    }
    Some(fields)
}

/// Adds columns that follow from others and says which are ours.
fn map(table: &mut ForeignTable, videos: &Videos, mapping: &mut Mapping) -> Result<(), FileError> {
    let video = table.first_of(&["video", "video_num", "video_name"]);
    let known = |table: &ForeignTable, row: usize| {
        video.and_then(|video| videos.0.get(base_name(table.cell(row, video))))
    };
    if !mapping.has("stimulus") {
        match (table.first_of(&["image", "image_name", "stimulus"]), video) {
            (Some(image), _) => mapping.or_column("stimulus", image),
            (None, Some(video)) => {
                table.set_column("image of video", |table, row| {
                    let image = known(table, row).and_then(|video| video.image.as_deref());
                    image.unwrap_or(parts_of(table.cell(row, video)).0).into()
                });
                mapping.or_column("stimulus", "image of video");
            }
            (None, None) => {
                let hint = "the toolkit names the picture in `image` or in the name of its `video`";
                return Err(table.missing("video", hint.into()));
            }
        }
    }
    map_exposure(table, video, mapping)?;
    if table.is_filled("label") {
        mapping.or_column("label", "label");
    } else if !videos.0.is_empty() && !mapping.has("label") {
        table.set_column("label of video", |table, row| {
            let label = known(table, row).and_then(|video| video.label.as_deref());
            label.unwrap_or_default().into()
        });
        mapping.or_column("label", "label of video");
    }
    if table.column("response").is_some() {
        table.set_column("response", |table, row| {
            table.cell(row, "response").trim().replace(' ', "_").into()
        });
        mapping.or_column("response", "response");
    }
    let participant = table.first_of(&["worker_id", "workerID", "worker", "participant"]);
    if let Some(participant) = participant {
        mapping.or_column("participant", participant);
        let link = table.first_of(&["link_id", "link", "linkID"]);
        table.set_column("link and participant", |table, row| {
            let link = link.map_or("", |link| table.cell(row, link));
            let parts = [link, table.cell(row, participant), table.cell(row, "assignment_id")];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            parts.join("/").into()
        });
        mapping.or_column("session", "link and participant");
    }
    for (ours, theirs) in
        [("idx", "trial_num"), ("rt_ms", "response_time"), ("correct", "is_correct")]
    {
        if table.column(theirs).is_some() {
            mapping.or_column(ours, theirs);
        }
    }
    mapping.or_constant("task", "flash");
    Ok(())
}

/// Finds the exposure: in the name of the video, else in a column whose unit its values tell.
fn map_exposure(
    table: &mut ForeignTable,
    video: Option<&str>,
    mapping: &mut Mapping,
) -> Result<(), FileError> {
    if mapping.has("exposure_ms") {
        return Ok(());
    }
    let is_named = |table: &ForeignTable, video: &str| {
        let mut rows = 0..table.rows.len();
        !table.rows.is_empty() && rows.all(|row| parts_of(table.cell(row, video)).1.is_some())
    };
    if let Some(video) = video.filter(|video| is_named(table, video)) {
        table.set_column("frames of video", |table, row| {
            let frames = parts_of(table.cell(row, video)).1.map(Frames);
            let exposure = frames.and_then(|frames| frames.at(FRAMES_PER_SECOND));
            exposure.map_or_else(CompactString::default, |ms| ms.value().to_compact_string())
        });
        mapping.or_column("exposure_ms", "frames of video");
        return Ok(());
    }
    let names = ["image_duration", "duration", "exposure", "image_duration_ms", "duration_ms"];
    let Some(column) = table.first_of(&names) else {
        let hint = "exposures stand in the name of the `video` or in `image_duration`".to_owned();
        return Err(table.missing("video", hint));
    };
    mapping.or_column("exposure_ms", column);
    if mapping.units.contains_key("exposure_ms") || column.ends_with("_ms") {
        return Ok(());
    }
    let values: Vec<f64> =
        (0..table.rows.len()).filter_map(|row| table.cell(row, column).parse().ok()).collect();
    let all_in = |usual: &[f64]| {
        let is_in = |x: &f64| usual.iter().any(|y| (x - y).abs() < 1e-9);
        !values.is_empty() && values.iter().all(is_in)
    };
    if all_in(&USUAL_FRAMES) {
        mapping.or_unit("exposure_ms", column, Unit::Frames { hz: FRAMES_PER_SECOND });
    } else if !all_in(&USUAL_MS) {
        let hint = "say the unit: --unit exposure_ms=frames@60 or --unit exposure_ms=ms".into();
        let expected = "the toolkit's exposures, all in frames or all in milliseconds";
        let odd = |row: &usize| {
            let value: Option<f64> = table.cell(*row, column).parse().ok();
            value.is_none_or(|x| !USUAL_FRAMES.iter().any(|y| (x - y).abs() < 1e-9))
        };
        let row = (0..table.rows.len()).find(odd).unwrap_or(0);
        if table.rows.is_empty() {
            return Ok(());
        }
        return Err(table.bad_value(row, column, expected, Some(hint)));
    }
    Ok(())
}

/// Returns the picture and the frames in `<image>_phase_<cross>_<frames>_<mask>_<white>.mp4`.
fn parts_of(video: &str) -> (&str, Option<u32>) {
    let name = base_name(video);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let Some((image, plan)) = stem.rsplit_once("_phase_") else { return (stem, None) };
    let mut numbers = plan.split('_').map(|part| part.parse::<u32>().ok());
    let frames = numbers.nth(1).flatten();
    (image, frames)
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Millis;

    fn read(path: &str, text: &str, videos: &Videos) -> Result<Vec<Trial>, FileError> {
        let (options, mut account) = (ImportOptions::default(), Account::default());
        parse(Path::new(path), text.into(), "m", videos, &options, &mut account)
    }

    const RAW: &str = "link_id,trial_num,video_num,response,response_time,worker_id,ip,px2mm\n\
        ab12cd34,0,mug_7_phase_90_1_30_30.mp4,coffee mug,812,W1,10.0.0.1,3.78\n\
        ab12cd34,1,n02_cat_phase_90_600_30_30.mp4,cat,500,W1,10.0.0.1,3.78\n";

    #[test]
    fn the_name_of_a_video_gives_picture_and_exposure() {
        let trials = read("r.csv", RAW, &Videos::default()).unwrap();
        let exposures: Vec<f64> = trials.iter().map(|t| t.exposure.unwrap().value()).collect();
        assert_eq!(exposures, [17.0, 10_000.0]);
        assert_eq!(trials[0].stimulus.as_str(), "mug_7");
        assert_eq!(trials[1].stimulus.as_str(), "n02_cat");
        assert_eq!(trials[0].response.as_ref().unwrap().as_str(), "coffee_mug");
        assert_eq!(trials[0].participant.as_str(), "W1");
        assert_eq!(trials[0].session.as_str(), "ab12cd34/W1");
        assert_eq!(trials[0].extra.get("ip"), None);
        assert_eq!(trials[0].extra.get("px2mm"), Some("3.78"));
        let all = [1, 3, 6, 9, 15, 600].map(|f| Frames(f).at(FRAMES_PER_SECOND));
        assert_eq!(all, USUAL_MS.map(Millis::new));
    }

    #[test]
    fn the_manifest_gives_labels() {
        let mut videos = Videos::default();
        let manifest = r#"{"classes":["coffee_mug"],"videos":[{"video":
            "mug_7_phase_90_1_30_30.mp4","image":"mug_7.jpg","label":"coffee_mug"}]}"#;
        assert!(videos.learn(manifest));
        let trials = read("r.csv", RAW, &videos).unwrap();
        assert_eq!(trials[0].is_correct(), Some(true));
        assert_eq!(trials[0].stimulus.as_str(), "mug_7.jpg");
        assert_eq!(trials[1].label, None);
    }

    #[test]
    fn the_notebooks_table_says_its_unit_by_its_values() {
        let csv = |a: &str, b: &str| {
            format!(
                "worker_id,image,label,image_duration,response,is_correct\n\
                 W1,a.jpg,cat,{a},cat,True\nW1,b.jpg,dog,{b},cat,False\n"
            )
        };
        let exposures = |text: &str| -> Vec<f64> {
            let trials = read("n.csv", text, &Videos::default()).unwrap();
            trials.iter().map(|t| t.exposure.unwrap().value()).collect()
        };
        assert_eq!(exposures(&csv("17", "10000")), [17.0, 10_000.0]);
        assert_eq!(exposures(&csv("1", "600")), [17.0, 10_000.0]);
        let error = read("n.csv", &csv("1", "50"), &Videos::default()).unwrap_err();
        assert!(error.hint().unwrap().contains("--unit exposure_ms=frames@60"), "{error}");
    }

    #[test]
    fn keys_of_the_store_say_who_answered() {
        let json = r#"{"ab12cd34:worker_id:W9:response:3": {"video":
            "x_phase_90_3_30_30.mp4", "response": "cat", "response_time": "640"},
            "ab12cd34:worker_id:W9:responses": ["3"]}"#;
        let trials = read("dump.json", json, &Videos::default()).unwrap();
        assert_eq!(trials.len(), 1);
        assert_eq!(trials[0].participant.as_str(), "W9");
        assert_eq!(trials[0].idx, Some(3));
        assert_eq!(trials[0].exposure, Millis::new(50.0));
    }
}
