//! Other tools' files: synthetic exports with known content, and nonsense.

use std::path::{Path, PathBuf};

use mohs_data::format::import::predictions::{
    self, ClassNames, Gathered, PredictionOptions, answers_table, imagenet_x, response_matrix,
};
use mohs_data::format::import::{
    Account, ImportOptions, Imported, Mapping, comparisons, jspsych, labjs, model_vs_human,
    mvt_toolkit, own_columns, psychopy,
};
use mohs_data::format::{ReadOptions, read_all, write_all};
use mohs_data::{FileError, Task, Trial};
use proptest::prelude::*;
use serde_json::{Value, json};

/// How an export with SATBench's screens is laid out.
#[derive(Clone, Copy)]
struct Layout {
    is_descending: bool,
    /// The older version of the study has three rows more in the tutorial and in one block.
    is_older: bool,
}

const BLOCKS: [u32; 5] = [0, 400, 600, 800, 1000];

/// Writes the screens of one participant as JATOS exports them; returns where blocks begin.
fn satbench(layout: Layout, participant: &str) -> (Vec<Value>, Vec<usize>) {
    let order = if layout.is_descending { -1 } else { 1 };
    let mut rows = vec![
        json!({"sender": "Agreement", "sender_type": "html.Page", "consent": 1, "age": "31",
               "url": {"srid": participant}, "meta": {"labjs_version": "20.2.4"}}),
        json!({"sender": "Instructions for Categorization Tutorial", "sender_type": "html.Page"}),
    ];
    let mut starts = Vec::new();
    let mut clock = 1_000.0;
    let mut trials = |rows: &mut Vec<Value>, n: usize, beep: Option<f64>, tag: &str| {
        for looper in 0..n {
            let category = ["car", "cat", "dog"][looper % 3];
            let mode = ["0", "0.04", "0.16"][looper % 3];
            let mut row = json!({
                "sender": "Stimulus & Response", "sender_type": "html.Screen",
                "sender_id": format!("3_{looper}_0"), "looper": looper, "category": category,
                "mode": mode, "filename": format!("{looper}_{tag}_{mode}_{category}.JPEG"),
                "correctResponse": category, "order": order, "time_show": clock,
            });
            // Every seventh trial runs out of time.
            let duration = beep.map_or(2_000.0, |beep| beep + looper as f64 % 50.0);
            if looper % 7 == 6 {
                let end = clock + beep.unwrap_or(9_800.0) + 200.0;
                row["ended_on"] = "timeout".into();
                row["time_end"] = end.into();
                row["duration"] = (end - clock).into();
                row["correct"] = false.into();
            } else {
                let answer = if looper % 5 == 0 { "oven" } else { category };
                row["response"] = answer.into();
                row["response_action"] = format!("click button#{answer}").into();
                row["ended_on"] = "response".into();
                row["time_end"] = (clock + duration).into();
                row["duration"] = duration.into();
                row["correct"] = (answer == category).into();
            }
            clock += 5_000.0;
            rows.push(row);
            rows.push(json!({"sender": "inter-stimulus", "sender_type": "canvas.Screen",
                             "looper": looper, "response": "cross", "order": order}));
            rows.push(json!({"sender": "Trial", "sender_type": "flow.Sequence",
                             "looper": looper, "order": order}));
        }
    };
    starts.push(rows.len());
    rows.push(json!({"sender": "ScreenCategorizationTutorial", "sender_type": "canvas.Screen"}));
    trials(&mut rows, if layout.is_older { 51 } else { 50 }, None, "tutorial");
    rows.push(json!({"sender": "Tutorial", "sender_type": "flow.Loop"}));
    if layout.is_descending {
        rows.push(json!({"sender": "Order", "sender_type": "html.Page", "order": order}));
    }
    let mut blocks = BLOCKS;
    if layout.is_descending {
        blocks.reverse();
    }
    for (position, block) in blocks.into_iter().enumerate() {
        rows.push(json!({"sender": format!("Instructions{block}"), "sender_type": "html.Page"}));
        starts.push(rows.len());
        rows.push(json!({"sender": format!("Screen{block}"), "sender_type": "canvas.Screen"}));
        let is_longer = layout.is_older && position == if layout.is_descending { 3 } else { 0 };
        let n = if is_longer { 211 } else { 210 };
        trials(&mut rows, n, Some(f64::from(block) + 500.0), &format!("block{block}"));
        rows.push(json!({"sender": "Loop", "sender_type": "flow.Loop"}));
    }
    (rows, starts)
}

fn labjs_of(text: &str, options: &ImportOptions) -> Result<Imported<Trial>, FileError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jatos_results.txt");
    std::fs::write(&path, text).unwrap();
    labjs::read(&[path], options)
}

fn n_in_block(trials: &[Trial], block: &str) -> usize {
    trials.iter().filter(|trial| trial.block.as_deref() == Some(block)).count()
}

#[test]
fn every_layout_of_satbench_gives_200_trials_a_block_and_40_of_the_tutorial() {
    // Start rows that the published notebooks print, for each layout.
    let expected = [
        (false, false, [2, 155, 788, 1421, 2054, 2687]),
        (true, false, [2, 156, 789, 1422, 2055, 2688]),
        (false, true, [2, 158, 794, 1427, 2060, 2693]),
        (true, true, [2, 159, 792, 1425, 2058, 2694]),
    ];
    for (is_descending, is_older, expected_starts) in expected {
        let (rows, starts) = satbench(Layout { is_descending, is_older }, "2501");
        assert_eq!(starts, expected_starts, "the generator follows the published rows");
        let text = format!("{}\n", Value::from(rows));
        let Imported { rows: trials, account } =
            labjs_of(&text, &ImportOptions::default()).unwrap();
        assert_eq!(n_in_block(&trials, "tutorial"), 40);
        for beep in [500, 900, 1100, 1300, 1500] {
            let block = format!("beep-{beep}");
            assert_eq!(n_in_block(&trials, &block), 200, "{block}");
            let is_meant = |trial: &&Trial| trial.block.as_deref() == Some(&block);
            let mut beeps = trials.iter().filter(is_meant).map(|trial| trial.beep.unwrap().value());
            assert!(beeps.all(|ms| ms == f64::from(beep)));
        }
        assert_eq!(trials.len(), 5 * 200 + 40);
        assert_eq!(
            account.set_aside["warm-up trials, the first 10 of each block and tutorial"],
            60
        );
        let order = if is_descending { "-1" } else { "1" };
        assert!(trials.iter().all(|trial| trial.extra.get("order") == Some(order)));
        assert!(trials.iter().all(|trial| trial.participant.as_str() == "2501"));
        assert!(trials.iter().all(|trial| trial.task == Task::Beep));
        let tutorial = trials.iter().find(|t| t.block.as_deref() == Some("tutorial")).unwrap();
        assert_eq!(tutorial.beep, None);
        // The first trial kept is the eleventh, whose condition is the second of three.
        assert_eq!(tutorial.condition.as_deref(), Some("0.04"));
        assert_eq!(tutorial.stimulus.as_str(), "10_tutorial_0.04_cat.JPEG");
        let silent = trials.iter().filter(|trial| trial.response.is_none()).count();
        assert!(trials.iter().all(|t| t.response.is_some() || t.is_correct() == Some(false)));
        assert!(trials.iter().all(|trial| trial.response.is_some() == trial.rt().is_some()));
        assert!(0 < silent);
    }
}

#[test]
fn warm_up_can_be_kept_and_is_marked() {
    let (rows, _) = satbench(Layout { is_descending: false, is_older: false }, "1");
    let options = ImportOptions { keep_warm_up: true, ..ImportOptions::default() };
    let trials = labjs_of(&Value::from(rows).to_string(), &options).unwrap().rows;
    assert_eq!(trials.len(), 5 * 210 + 50);
    let marked = trials.iter().filter(|trial| trial.extra.get("warm_up") == Some("true")).count();
    assert_eq!(marked, 60);
}

#[test]
fn several_participants_stand_on_several_lines_and_remarks_are_skipped() {
    let layout = Layout { is_descending: true, is_older: true };
    let one = Value::from(satbench(layout, "7").0).to_string();
    let two = Value::from(satbench(layout, "8").0).to_string();
    let text = format!("{one}\nExported by JATOS\n{two}\n{two}\n");
    let Imported { rows: trials, account } = labjs_of(&text, &ImportOptions::default()).unwrap();
    assert_eq!(trials.len(), 3 * 1040);
    let sessions: std::collections::BTreeSet<&str> =
        trials.iter().map(|trial| trial.session.as_str()).collect();
    assert_eq!(sessions.into_iter().collect::<Vec<_>>(), ["7", "8", "8/2"]);
    assert_eq!(account.notices.len(), 1);
    assert!(account.notices[0].contains(":2: skipped"), "{:?}", account.notices);
}

#[test]
fn an_unfinished_block_is_told_of() {
    let (mut rows, starts) = satbench(Layout { is_descending: false, is_older: false }, "1");
    rows.truncate(starts[5] + 1 + 3 * 90);
    let imported = labjs_of(&Value::from(rows).to_string(), &ImportOptions::default()).unwrap();
    assert_eq!(n_in_block(&imported.rows, "beep-1500"), 80);
    let notice = &imported.account.notices[0];
    assert!(notice.ends_with("block `beep-1500` has 90 trials, expected 210"), "{notice}");
}

#[test]
fn a_mark_that_contradicts_the_answer_is_left_out_and_told_of() {
    let (mut rows, _) = satbench(Layout { is_descending: false, is_older: false }, "1");
    let trial = rows.iter_mut().filter(|row| row["sender"] == "Stimulus & Response").nth(51 + 10);
    let trial = trial.unwrap();
    assert_eq!(trial["response"], trial["category"]);
    trial["correct"] = 0.0.into();
    let imported = labjs_of(&Value::from(rows).to_string(), &ImportOptions::default()).unwrap();
    assert_eq!(imported.rows.len(), 1040);
    let unmarked: Vec<_> = imported.rows.iter().filter(|t| t.marked_correct.is_none()).collect();
    assert_eq!(unmarked.len(), 1);
    assert_eq!(unmarked[0].is_correct(), Some(true));
    assert!(imported.account.notices[0].contains("in 1 trials"), "{:?}", imported.account.notices);
}

#[test]
fn answers_given_on_other_screens_can_be_carried_to_the_trials() {
    let (rows, _) = satbench(Layout { is_descending: false, is_older: false }, "1");
    let text = Value::from(rows).to_string();
    let mut options = ImportOptions::default();
    options.mapping.carry = vec!["age".into()];
    let trials = labjs_of(&text, &options).unwrap().rows;
    assert!(trials.iter().all(|trial| trial.extra.get("age") == Some("31")));
    options.mapping.carry = vec!["agee".into()];
    let error = labjs_of(&text, &options).unwrap_err();
    assert_eq!(error.hint().as_deref(), Some("did you mean --carry age?"));
}

/// The rows of one trial of SATBench's predecessor.
fn anytime_trial(block: u32, trial: u32, sequence: &str, picture: &str, said: &str) -> [Value; 3] {
    let category = picture.split('_').nth(1).unwrap();
    let id = format!("{block}_{trial}");
    let mut shown = json!({"sender": "Response", "sender_type": "canvas.Screen",
        "sender_id": format!("{id}_0"), "category": category, "looper": trial,
        "time_show": 1000.0, "time_render": 990.0, "time_end": 1400.0, "duration": 400.0,
        "ended_on": "timeout"});
    if !said.is_empty() {
        shown["ended_on"] = "response".into();
        shown["response"] = said.into();
        shown["correctResponse"] = category.into();
        shown["correct"] = (said == category).into();
    }
    [
        shown,
        json!({"sender": "inter-stimulus", "sender_id": format!("{id}_1"), "category": category,
               "response": "space", "correctResponse": picture, "correct": false}),
        json!({"sender": sequence, "sender_type": "flow.Sequence", "sender_id": id}),
    ]
}

#[test]
fn screens_of_satbenchs_predecessor_are_understood() {
    let mut rows = vec![json!({"sender": "Study", "url": {"srid": "733"}})];
    rows.extend(anytime_trial(2, 0, "Trial_tutorial_1000", "0.0_cat_1.png", "cat"));
    rows.extend(anytime_trial(4, 0, "Trial_800", "0.16_dog_2.png", "cat"));
    rows.extend(anytime_trial(4, 1, "Trial_800", "0.04_cat_3.png", ""));
    let mut early = anytime_trial(4, 2, "Trial_200", "0.04_cat_4.png", "cat");
    for gone in ["time_show", "time_render", "duration"] {
        early[0].as_object_mut().unwrap().remove(gone);
    }
    rows.extend(early);
    // The browser was closed before the last trial ended.
    rows.extend(anytime_trial(4, 3, "Trial_200", "0.04_cat_5.png", "cat").into_iter().take(1));
    let text = Value::from(rows).to_string();
    let Imported { rows: trials, account } = labjs_of(&text, &ImportOptions::default()).unwrap();
    let seen: Vec<_> = trials
        .iter()
        .map(|t| {
            let response = t.response.as_ref().map(|label| label.as_str());
            (
                t.block.as_deref().unwrap(),
                t.stimulus.as_str(),
                t.condition.as_deref().unwrap(),
                response,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("tutorial", "0.0_cat_1.png", "0.0", Some("cat")),
            ("beep-800", "0.16_dog_2.png", "0.16", Some("cat")),
            ("beep-800", "0.04_cat_3.png", "0.04", None),
            ("beep-200", "0.04_cat_4.png", "0.04", Some("cat")),
        ]
    );
    assert_eq!(trials[1].rt().unwrap().value(), 400.0);
    assert_eq!(trials[2].rt(), None);
    assert_eq!(trials[2].shown().unwrap().value(), 400.0);
    assert_eq!(trials[1].offset, None);
    assert_eq!(trials[2].extra.get("duration"), Some("400.0"));
    assert_eq!(trials[3].rt(), None);
    assert!(account.notices[0].contains("1 answer came before"), "{:?}", account.notices);
    assert_eq!(account.set_aside["unfinished trials at the end of a session"], 1);
}

#[test]
fn any_other_study_is_read_by_the_usual_names_or_says_what_is_missing() {
    let text = json!([
        {"sender": "Welcome", "response": "ok"},
        {"sender": "Probe", "image": "a.png", "response": "cat", "correctResponse": "cat",
         "correct": true, "duration": 321.5, "ended_on": "response"},
        {"sender": "Probe", "image": "b.png", "correctResponse": "dog", "ended_on": "timeout",
         "duration": 1000.0, "response": null}
    ]);
    let trials = labjs_of(&text.to_string(), &ImportOptions::default()).unwrap().rows;
    assert_eq!(trials.len(), 2);
    assert_eq!(trials[0].participant.as_str(), "jatos_results");
    assert_eq!(trials[0].rt().unwrap().value(), 321.5);
    assert_eq!(trials[1].rt(), None);
    let text = json!([{"sender": "Probe", "pic": "a.png", "response": "cat"}]);
    let error = labjs_of(&text.to_string(), &ImportOptions::default()).unwrap_err();
    assert!(error.hint().unwrap().contains("--map stimulus=YOUR_COLUMN"));
}

#[test]
fn what_was_imported_reads_back_the_same() {
    let (rows, _) = satbench(Layout { is_descending: true, is_older: false }, "1");
    let imported = labjs_of(&Value::from(rows).to_string(), &ImportOptions::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["t.csv", "t.parquet"] {
        let path = folder.path().join(name);
        write_all(&path, &imported.rows).unwrap();
        let back: Vec<Trial> = read_all(&path, &ReadOptions::default()).unwrap();
        assert_eq!(back, imported.rows);
    }
}

#[test]
fn files_of_a_folder_are_read_in_order_and_ids_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    for (name, who) in [("b/data.csv", "p2"), ("a/data.csv", "p1"), ("a/.hidden.csv", "no")] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("participant,stimulus,correct\n{who},x.png,1\n")).unwrap();
    }
    let options = ImportOptions::default();
    let imported = own_columns::read(&[folder.path().to_owned()], &options).unwrap();
    let who: Vec<&str> = imported.rows.iter().map(|trial| trial.participant.as_str()).collect();
    assert_eq!(who, ["p1", "p2"]);
    assert_ne!(imported.rows[0].id, imported.rows[1].id);
    let twice = [folder.path().join("a/data.csv"), folder.path().join("a/data.csv")];
    let error = own_columns::read(&twice, &options).unwrap_err();
    assert!(error.hint().unwrap().contains("named twice"), "{error}");
    let none = tempfile::tempdir().unwrap();
    let error = own_columns::read(&[none.path().to_owned()], &options).unwrap_err();
    assert!(error.to_string().contains("files ending in .csv"), "{error}");
}

/// Every reader on the same bytes under a name that makes it read them.
fn every_reader(bytes: &[u8]) {
    let options = ImportOptions::default();
    let csv = Path::new("a_b_session_1.csv");
    let json = Path::new("a.json");
    let account = Account::default;
    let tell = |error: FileError| (error.to_string(), error.hint());
    for path in [csv, json] {
        let bytes = || bytes.to_vec();
        let mut sittings = labjs::Sittings::default();
        let _ = labjs::parse(path, bytes(), &options, &mut sittings, &mut account()).map_err(tell);
        let _ = jspsych::parse(path, bytes(), "t", &options, &mut account()).map_err(tell);
        let videos = mvt_toolkit::Videos::default();
        let _ =
            mvt_toolkit::parse(path, bytes(), "t", &videos, &options, &mut account()).map_err(tell);
    }
    let bytes = || bytes.to_vec();
    let _ = model_vs_human::parse(csv, bytes(), &options, &mut account()).map_err(tell);
    let _ = psychopy::parse(csv, bytes(), "t", &options, &mut account()).map_err(tell);
    let _ = own_columns::parse(csv, bytes(), "t", &options, &mut account()).map_err(tell);
    let _ = comparisons::parse(csv, bytes(), "t", &options, &mut account()).map_err(tell);
    if let Ok(text) = std::str::from_utf8(&bytes()) {
        let _ = Mapping::parse(Path::new("m.toml"), text).map_err(tell);
    }
    every_reader_of_predictions(&bytes());
}

/// Gives bytes to every reader of predictions, as CSV and as lines of JSON.
fn every_reader_of_predictions(bytes: &[u8]) {
    let options = PredictionOptions::default();
    for parse in
        [predictions::parse, imagenet_x::parse, answers_table::parse, response_matrix::parse]
    {
        for name in ["m.csv", "m.jsonl", "m.parquet"] {
            let (mut account, mut gathered) = (Account::default(), Gathered::default());
            let parsed =
                parse(Path::new(name), bytes.to_vec(), &options, &mut account, &mut gathered);
            if let Err(error) = parsed {
                let _ = (error.to_string(), error.hint());
            }
        }
    }
    let _ = ClassNames::parse(Path::new("c.json"), &String::from_utf8_lossy(bytes));
}

#[test]
fn files_without_content_are_refused_by_every_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("empty.csv");
    std::fs::write(&path, "").unwrap();
    let (paths, options) = ([path], ImportOptions::default());
    assert!(model_vs_human::read(&paths, &options).is_err());
    assert!(labjs::read(&paths, &options).is_err());
    assert!(jspsych::read(&paths, &options).is_err());
    assert!(psychopy::read(&paths, &options).is_err());
    assert!(mvt_toolkit::read(&paths, &options).is_err());
    assert!(own_columns::read(&paths, &options).is_err());
    assert!(comparisons::read(&paths, &options).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        every_reader(&bytes);
    }

    #[test]
    fn no_table_with_known_words_makes_a_reader_panic(
        rows in prop::collection::vec(prop::collection::vec(
            prop::sample::select(vec![
                "subj", "trial", "rt", "object_response", "category", "condition", "imagename",
                "sender", "Response", "Trial_200", "sender_id", "1_2_3", "trial_type", "stimulus",
                "response", "video", "x_phase_1_2_3_4.mp4", "worker_id", "winner", "loser",
                "count", "-1", "1e400", "NaN", "key_resp.keys", "trials.thisN", "left", "right",
                "participant", "", "image_duration", "Screen0", "Stimulus & Response", "true",
                "model", "predicted", "confidence", "top_k", "correct", "file_name",
                "predicted_class", "{\"a\":1}", "[[1,2]]", "responses", "0.5", "65.0",
            ]), 5..6), 1..6)
    ) {
        let text: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
        every_reader(text.join("\n").as_bytes());
        let names = &rows[0];
        let objects: Vec<Value> = rows[1..]
            .iter()
            .map(|row| {
                let pairs = names.iter().zip(row);
                pairs.map(|(name, cell)| ((*name).to_owned(), Value::from(*cell))).collect()
            })
            .collect();
        every_reader(Value::from(objects).to_string().as_bytes());
    }
}
