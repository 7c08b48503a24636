//! Every way a file can be wrong, and the words in which that is said.

use std::path::Path;

use mohs_data::check::{TrialChecks, read_trials};
use mohs_data::format::{ReadOptions, TableReader, read_all, read_stimuli};
use mohs_data::{FileError, Manifest, Stimulus, Study, Trial};

/// Says what is wrong and what to do, as the command line would.
fn words(error: &FileError) -> String {
    match error.hint() {
        Some(hint) => format!("{error}\nhint: {hint}"),
        None => error.to_string(),
    }
}

/// Reads bytes as trials and returns the complaint.
fn complaint(name: &str, bytes: impl AsRef<[u8]>) -> String {
    complaint_with(name, bytes, &ReadOptions::default())
}

fn complaint_with(name: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    let rows = TableReader::<Trial>::from_bytes(Path::new(name), bytes.as_ref().to_vec(), options);
    let trials: Result<Vec<Trial>, FileError> = rows.and_then(Iterator::collect);
    words(&trials.unwrap_err())
}

/// Reads bytes as trials of one stimulus and returns the complaint.
fn complaint_with_stimuli(csv: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trials.csv");
    std::fs::write(&path, csv).unwrap();
    let stimuli_path = folder.path().join("stimuli.csv");
    std::fs::write(&stimuli_path, "stimulus,file,label\nmug.png,mug.png,mug\ncup,c.png,cup\n")
        .unwrap();
    let stimuli = read_stimuli(&stimuli_path, &ReadOptions::default()).unwrap();
    let checks = TrialChecks {
        stimuli: Some(&stimuli),
        stimuli_name: "stimuli.csv".into(),
        ..TrialChecks::default()
    };
    let error = read_trials(&path, &checks).unwrap_err();
    words(&error).replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn a_missing_column_is_named_with_a_map() {
    insta::assert_snapshot!(complaint("t.csv", "subj,image,response\np1,a,mug\n"), @r"
    t.csv:1: has no column `participant`; it has: subj, image, response
    hint: rename `subj` to `participant`, or say so on the command line: --map participant=subj
    ");
    insta::assert_snapshot!(complaint("t.csv", "participant,x,response\np1,a,mug\n"), @r"
    t.csv:1: has no column `stimulus`; it has: participant, x, response
    hint: add the column, or map one of yours to it: --map stimulus=YOUR_COLUMN
    ");
    insta::assert_snapshot!(complaint("t.csv", "participnat,stimulus\np1,a\n"), @r"
    t.csv:1: has no column `participant`; it has: participnat, stimulus
    hint: rename `participnat` to `participant`, or say so on the command line: --map participant=participnat
    ");
}

#[test]
fn a_column_a_command_needs_is_named_with_its_unit() {
    let options = ReadOptions { require: vec!["exposure_ms"], ..ReadOptions::default() };
    let read = |csv: &str| complaint_with("t.csv", csv, &options);
    insta::assert_snapshot!(read("participant,stimulus,response,exposure\np,a,mug,0.017\n"), @r"
    t.csv:1: has no column `exposure_ms`; it has: participant, stimulus, response, exposure
    hint: rename `exposure` to `exposure_ms` and give it in milliseconds, or say so on the command line: --map exposure_ms=exposure
    ");
    insta::assert_snapshot!(read("participant,stimulus,response,duration\np,a,mug,17\n"), @r"
    t.csv:1: has no column `exposure_ms`; it has: participant, stimulus, response, duration
    hint: rename `duration` to `exposure_ms` and give it in milliseconds, or say so on the command line: --map exposure_ms=duration
    ");
}

#[test]
fn a_map_to_nothing_is_refused() {
    let map = |ours: &str, theirs: &str| ReadOptions {
        column_map: [(ours.to_owned(), theirs.to_owned())].into(),
        ..ReadOptions::default()
    };
    let csv = "subj,stimulus,response\np,a,mug\n";
    insta::assert_snapshot!(complaint_with("t.csv", csv, &map("participant", "subject")), @r"
    t.csv:1: has no column `subject`; it has: subj, stimulus, response
    hint: did you mean --map participant=subj?
    ");
    insta::assert_snapshot!(complaint_with("t.csv", csv, &map("particpant", "subj")), @r"
    t.csv:1: column `particpant` is not in the columns of trials
    hint: did you mean `participant`?
    ");
}

#[test]
fn a_wrong_unit_is_not_guessed() {
    let read = |cell: &str| {
        let csv = format!("participant,stimulus,response,exposure_ms\np,a,mug,{cell}\n");
        complaint("t.csv", csv)
    };
    insta::assert_snapshot!(read("17ms"), @r"
    t.csv:2: `exposure_ms` should be a number of milliseconds, found `17ms`
    hint: the unit belongs to the column name (`exposure_ms`); write the bare number
    ");
    insta::assert_snapshot!(read("0.017"), @r"
    t.csv:2: `exposure_ms` should be milliseconds between 1 and 3600000, found `0.017`
    hint: are these seconds? Multiply by 1000; imports can say --unit exposure_ms=s
    ");
    insta::assert_snapshot!(read("17000000"), @r"
    t.csv:2: `exposure_ms` should be milliseconds between 1 and 3600000, found `17000000`
    hint: are these microseconds? Divide by 1000; imports can say --unit exposure_ms=us
    ");
    insta::assert_snapshot!(read("\"16,7\""), @r"
    t.csv:2: `exposure_ms` should be a number of milliseconds, found `16,7`
    hint: write decimals with a point, not a comma
    ");
    insta::assert_snapshot!(read("NaN"), @r"
    t.csv:2: `exposure_ms` should be a number of milliseconds, found `NaN`
    hint: leave the cell empty when there is no value
    ");
    insta::assert_snapshot!(read("inf"), @"t.csv:2: `exposure_ms` should be a number of milliseconds, found `inf`");
    insta::assert_snapshot!(read("-5"), @"t.csv:2: `exposure_ms` should be milliseconds between 1 and 3600000, found `-5`");
}

#[test]
fn beeps_and_response_times_that_nobody_has_are_refused() {
    let read = |column: &str, cell: &str| {
        complaint("t.csv", format!("participant,stimulus,response,{column}\np,a,mug,{cell}\n"))
    };
    insta::assert_snapshot!(read("beep_ms", "0.5"), @r"
    t.csv:2: `beep_ms` should be milliseconds between 10 and 3600000, found `0.5`
    hint: are these seconds? Multiply by 1000; imports can say --unit beep_ms=s
    ");
    insta::assert_snapshot!(read("beep_ms", "-500"), @r"
    t.csv:2: `beep_ms` should be milliseconds between 10 and 3600000, found `-500`
    hint: leave the cell empty in trials without a beep
    ");
    insta::assert_snapshot!(read("rt_ms", "-300"), @r"
    t.csv:2: `rt_ms` should be milliseconds from 0 to 1000000000, found `-300`
    hint: leave the cell empty where nobody answered
    ");
    insta::assert_snapshot!(read("rt_ms", "1700000000000"), @r"
    t.csv:2: `rt_ms` should be milliseconds from 0 to 1000000000, found `1700000000000`
    hint: is this a clock instead of a time from onset? Clocks are `onset_ms` and `response_ms`
    ");
}

#[test]
fn blanks_around_cells_and_lines_of_blanks_mean_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(
        &path,
        "participant, stimulus, response, label\np1, a, cat,cat \n  \np1,b,\tcat,cat\n",
    )
    .unwrap();
    let trials: Vec<mohs_data::Trial> =
        mohs_data::format::read_all(&path, &mohs_data::format::ReadOptions::default()).unwrap();
    assert_eq!(trials.len(), 2);
    assert!(trials.iter().all(|trial| trial.is_correct() == Some(true)));
    assert_eq!(trials[1].id.as_str(), "line-4");
}

#[test]
fn frames_need_a_refresh_rate() {
    let csv = "participant,stimulus,response,exposure_frames\np,a,mug,1\n";
    insta::assert_snapshot!(complaint("t.csv", csv), @r"
    t.csv:2: `refresh_hz` should be the screen's refresh rate beside `exposure_frames`, found nothing
    hint: add a column `refresh_hz`, e.g. 60, or give `exposure_ms`
    ");
    let csv = "participant,stimulus,response,exposure_frames,refresh_hz\np,a,mug,1,0\n";
    insta::assert_snapshot!(complaint("t.csv", csv), @"t.csv:2: `refresh_hz` should be a positive rate, found `0`");
}

#[test]
fn cells_of_the_wrong_kind_are_named() {
    let read = |column: &str, cell: &str| {
        complaint("t.csv", format!("participant,stimulus,response,{column}\np,a,mug,{cell}\n"))
    };
    insta::assert_snapshot!(read("idx", "-1"), @"t.csv:2: `idx` should be a whole number, 0 or more, found `-1`");
    insta::assert_snapshot!(read("correct", "yes"), @"t.csv:2: `correct` should be 1 or 0 (true or false), found `yes`");
    insta::assert_snapshot!(read("task", "flush"), @r"
    t.csv:2: `task` should be one of flash, beep, pairs, masks, rate, found `flush`
    hint: did you mean `flash`?
    ");
    insta::assert_snapshot!(read("timing", "late"), @"t.csv:2: `timing` should be one of ok, long, short, dropped, unknown, found `late`");
    insta::assert_snapshot!(read("trials_version", "one"), @"t.csv:2: `trials_version` should be a version number, found `one`");
    insta::assert_snapshot!(complaint("t.csv", "participant,stimulus,response\n,a,mug\n"), @r"
    t.csv:2: `participant` should be filled in, found nothing
    hint: remove the row or fill in the cell
    ");
}

#[test]
fn a_row_that_contradicts_itself_is_refused() {
    let csv = "participant,stimulus,label,response,correct\np,a,mug,cup,1\n";
    insta::assert_snapshot!(complaint("t.csv", csv), @r"
    t.csv:2: `correct` says 1 but the response is `cup` and the label `mug`
    hint: drop the column `correct` to compare response and label, or drop `label` to trust the column
    ");
}

#[test]
fn trials_need_an_answer() {
    insta::assert_snapshot!(complaint("t.csv", "participant,stimulus\np,a\n"), @r"
    t.csv:2: `response` should be the participant's answer, found nothing
    hint: add a column `response` (empty where time ran out), or a column `correct` with 1 and 0
    ");
}

#[test]
fn what_is_not_text_is_recognised() {
    insta::assert_snapshot!(complaint("t.csv", b"\x89PNG\r\n\x1a\n\0\0"), @r"
    t.csv should be text, found a PNG picture
    hint: name a CSV file, or give a Parquet file the ending .parquet
    ");
    insta::assert_snapshot!(complaint("t.csv", b"participant,stim\0ulus\n"), @r"
    t.csv should be text, found binary data
    hint: name a CSV file, or give a Parquet file the ending .parquet
    ");
    insta::assert_snapshot!(complaint("t.csv", b"PAR1\x15\x04"), @r"
    t.csv should be text, found a Parquet file
    hint: name a CSV file, or give a Parquet file the ending .parquet
    ");
    insta::assert_snapshot!(complaint("t.csv", b"PK\x03\x04\x14"), @r"
    t.csv should be text, found a ZIP archive or spreadsheet
    hint: name a CSV file, or give a Parquet file the ending .parquet
    ");
    insta::assert_snapshot!(complaint("t.csv", b"\xff\xfep\0a\0"), @r"
    t.csv should be text, found UTF-16 text, not UTF-8
    hint: save the file as UTF-8; spreadsheets call it `CSV UTF-8`
    ");
    insta::assert_snapshot!(
        complaint("t.csv", b"participant,stimulus,response\np,a,mug\np,caf\xe9,mug\n"), @r"
        t.csv:3: should be text, found bytes that are not UTF-8
        hint: save the file as UTF-8; spreadsheets call it `CSV UTF-8`
        ");
    insta::assert_snapshot!(complaint("t.parquet", "participant,stimulus\n"), @r"
    t.parquet should be a Parquet file, found other data
    hint: the ending of a file says how it is read; name the right file
    ");
}

#[test]
fn an_empty_file_and_a_bare_header_are_told_apart() {
    insta::assert_snapshot!(complaint("t.csv", ""), @r"
    t.csv is empty; expected a table of trials
    hint: was the export interrupted? See docs/formats for what belongs here
    ");
    insta::assert_snapshot!(complaint("t.csv", " \n\n"), @r"
    t.csv is empty; expected a table of trials
    hint: was the export interrupted? See docs/formats for what belongs here
    ");
    insta::assert_snapshot!(complaint("t.parquet", ""), @r"
    t.parquet is empty; expected a Parquet table
    hint: was the export interrupted? See docs/formats for what belongs here
    ");
    insta::assert_snapshot!(complaint_with_stimuli("participant,stimulus,response\n"), @r"
    trials.csv has a header but no rows; expected at least one trial
    hint: was the export interrupted? See docs/formats for what belongs here
    ");
}

#[test]
fn a_ragged_row_and_a_double_column_are_named() {
    let csv = "participant,stimulus,response\np,a,mug\np,b,coffee, black\n";
    insta::assert_snapshot!(complaint("t.csv", csv), @r"
    t.csv:3: should have 3 cells, found 4
    hint: a comma inside a cell needs quotes around the cell
    ");
    insta::assert_snapshot!(complaint("t.csv", "participant,stimulus,lab,lab\np,a,1,2\n"), @r"
    t.csv:1: has two columns called `lab`
    hint: rename or remove one of them
    ");
}

#[test]
fn a_newer_version_is_refused() {
    let csv = "participant,stimulus,response,trials_version\np,a,mug,1\np,b,mug,2\n";
    insta::assert_snapshot!(complaint("t.csv", csv), @r"
    t.csv:3: `trials_version` is trials version 2; this mohs reads up to version 1
    hint: update mohs to read this file
    ");
    let study = Study::parse(Path::new("study.toml"), "version = 2\nname = \"a\"\nfuture = 1\n");
    insta::assert_snapshot!(words(&study.unwrap_err()), @r"
    study.toml:1: `version` is study version 2; this mohs reads up to version 1
    hint: update mohs to read this file
    ");
    let manifest = Manifest::parse(Path::new("eval.toml"), "version = 2\nfuture = 1\n");
    insta::assert_snapshot!(words(&manifest.unwrap_err()), @r"
    eval.toml:1: `version` is manifest version 2; this mohs reads up to version 1
    hint: update mohs to read this file
    ");
}

#[test]
fn a_newer_parquet_file_is_refused() {
    let path = Path::new("fixtures/foreign/newer.parquet");
    let error = read_all::<Trial>(path, &ReadOptions::default()).unwrap_err();
    insta::assert_snapshot!(words(&error), @r"
    fixtures/foreign/newer.parquet:1: `trials_version` is trials version 2; this mohs reads up to version 1
    hint: update mohs to read this file
    ");
}

#[test]
fn a_trial_id_stands_once() {
    let csv = "trial,participant,stimulus,response\n1,p,mug.png,mug\n2,p,cup,cup\n1,p,cup,cup\n";
    insta::assert_snapshot!(complaint_with_stimuli(csv), @r"
    trials.csv:4: trial `1` stands twice; first in line 2
    hint: was a file appended twice? Ids must be unique within a file
    ");
}

#[test]
fn an_unknown_stimulus_is_named_with_the_nearest() {
    let csv = "participant,stimulus,response\np,mug.png,mug\np,mug.jpg,mug\n";
    insta::assert_snapshot!(complaint_with_stimuli(csv), @r"
    trials.csv:3: stimulus `mug.jpg` is not in stimuli.csv
    hint: did you mean `mug.png`?
    ");
}

#[test]
fn an_unknown_label_is_named_with_the_nearest() {
    let csv = "participant,stimulus,response\np,mug.png,mgu\n";
    insta::assert_snapshot!(complaint_with_stimuli(csv), @r"
    trials.csv:2: response `mgu` is not in the labels of stimuli.csv
    hint: did you mean `mug`?
    ");
    let csv = "participant,stimulus,label,response\np,mug.png,cup,mug\n";
    insta::assert_snapshot!(complaint_with_stimuli(csv), @r"
    trials.csv:2: stimulus `mug.png` has the label `cup` here and `mug` in stimuli.csv
    hint: make the labels agree, or drop the column `label` here
    ");
    let csv = "participant,stimulus,correct,response\np,mug.png,1,cup\n";
    insta::assert_snapshot!(complaint_with_stimuli(csv), @r"
    trials.csv:2: `correct` says 1 but the response is `cup` and `mug.png` shows `mug`
    hint: drop the column `correct`, or correct the label of the stimulus
    ");
}

#[test]
fn an_answer_nobody_can_judge_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "participant,stimulus,response\np,a,\np,b,mug\n").unwrap();
    let error = read_trials(&path, &TrialChecks::default()).unwrap_err();
    insta::assert_snapshot!(
        words(&error).replace(&format!("{}/", folder.path().display()), ""), @r"
        t.csv:3: should be an answer that can be judged: nothing says what is right, found `mug`
        hint: add a column `label` or `correct`, or give the labels: --stimuli stimuli.csv
        ");
}

#[test]
fn a_stimulus_id_stands_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stimuli.csv");
    std::fs::write(&path, "file,label\na.png,mug\nb.png,cup\na.png,mug\n").unwrap();
    let error = read_stimuli(&path, &ReadOptions::default()).unwrap_err();
    insta::assert_snapshot!(
        words(&error).replace(&format!("{}/", folder.path().display()), ""), @r"
        stimuli.csv:4: stimulus `a.png` stands twice; first in line 2
        hint: was a file appended twice? Ids must be unique within a file
        ");
}

#[test]
fn a_bad_box_is_named() {
    let csv = "file,label,boxes\na.png,mug,1 2 3\n";
    let mut rows = TableReader::<Stimulus>::from_bytes(
        Path::new("s.csv"),
        csv.into(),
        &ReadOptions::default(),
    )
    .unwrap();
    insta::assert_snapshot!(words(&rows.next().unwrap().unwrap_err()), @"s.csv:2: `boxes` should be `x y width height` in pixels, several boxes joined by `;`, found `1 2 3`");
}

#[test]
fn a_path_that_leads_nowhere_is_the_callers_input() {
    let error = read_all::<Trial>(Path::new("no/such.csv"), &ReadOptions::default()).unwrap_err();
    assert!(!error.is_environment());
    insta::assert_snapshot!(words(&error), @r"
    no/such.csv cannot be read
    hint: check the path; relative paths start at the current folder
    ");
    let error = read_all::<Trial>(Path::new("fixtures"), &ReadOptions::default()).unwrap_err();
    insta::assert_snapshot!(words(&error), @r"
    fixtures cannot be read
    hint: this is a folder; name a file in it
    ");
}

#[test]
fn a_study_with_a_slip_names_the_line() {
    let text = "version = 1\nname = \"a\"\ntask = \"flash\"\n[score]\ncriterium = 0.5\n";
    insta::assert_snapshot!(words(&Study::parse(Path::new("s.toml"), text).unwrap_err()), @"s.toml:5: unknown field `criterium`, expected one of `criterion`, `rule`, `guess_rate`, `confidence`, `n_resamples`");
    let text = "version = 1\nname = \"a\"\ntask = \"flash\"\n[flash]\nexposures_ms = [50, 17]\n";
    insta::assert_snapshot!(words(&Study::parse(Path::new("s.toml"), text).unwrap_err()), @r"
    s.toml:5: `flash.exposures_ms` should be one or more milliseconds, from 1 to below 3600000, ascending, found `50, 17`
    hint: docs/formats/study.md has every key with its range
    ");
}

#[test]
fn times_and_counts_of_a_study_have_ranges() {
    let head = "version = 1\nname = \"a\"\ntask = \"flash\"\n";
    let parsed = |rest: &str| Study::parse(Path::new("s.toml"), &format!("{head}{rest}"));
    for (rest, expected) in [
        (
            "[flash]\nexposures_ms = [3600000]",
            "from 1 to below 3600000, ascending, found `3600000`",
        ),
        ("[flash]\nfixation_ms = -500", "0 to 60000 milliseconds, found `-500`"),
        ("[flash]\nfixation_ms = 1e12", "0 to 60000 milliseconds, found `1000000000000`"),
        ("[flash]\ngap_ms = -400", "0 to 60000 milliseconds, found `-400`"),
        ("[flash]\nmask_ms = 60001", "0 to 60000 milliseconds, found `60001`"),
        ("[flash]\nparticipants_per_cell = 99999999999", "1 to 1000000, found `99999999999`"),
        ("[beep]\nbeeps_ms = [9]", "from 10 to below 3600000, ascending, found `9`"),
        ("[beep]\ntolerance_ms = -1", "0 to 60000 milliseconds, found `-1`"),
        ("[beep]\nwindow_ms = -1", "0 to 60000 milliseconds, found `-1`"),
        ("[beep]\ngate_trials = 2000000", "0 to 1000000, found `2000000`"),
        ("[page]\nminutes = 0", "1 to 1440 minutes, found `0`"),
        ("[page]\nlease_minutes = 0", "1 to 43200 minutes, found `0`"),
        ("[page]\nlease_minutes = 50000", "1 to 43200 minutes, found `50000`"),
        ("[page]\nlease_minutes = 99999999999", "expected a whole number, 4294967295 or less"),
        (
            "[exclusions]\nmin_rt_ms = 500\nmax_rt_ms = 100",
            "less than exclusions.max_rt_ms, which is 100, found `500`",
        ),
        ("[exclusions]\nmin_rt_ms = 0", "milliseconds above 0, found `0`"),
        (
            "[screen]\nshort_exposures_in = [\"chrome\"]",
            "a list of chromium, firefox, safari, other, found `chrome`\n\
             hint: did you mean `chromium`?",
        ),
        ("[screen]\nshort_exposures_in = [\"Firefx\"]", "hint: did you mean `firefox`?"),
        (
            "[page]\ncompletion_url = \"https://x.org/{CODE}\"",
            "no other placeholder than {code}, found",
        ),
        ("[safety]\nflash_override = \"\"", "s.toml:5: `safety.flash_override` should be who"),
        (
            "[safety]\nflash_override = \" \\t - \"",
            "who approved it, in words, found `\" \\t - \"`",
        ),
    ] {
        let error = words(&parsed(rest).unwrap_err());
        assert!(error.contains(expected), "{rest}: {error}");
    }
    for rest in [
        "[flash]\nfixation_ms = 0\nmask_ms = 60000",
        "[page]\nminutes = 1\nlease_minutes = 43200",
        "[exclusions]\nmin_rt_ms = 100\nmax_rt_ms = 100.5",
        "[screen]\nshort_exposures_in = []",
    ] {
        assert!(parsed(rest).is_ok(), "{rest}");
    }
}

#[test]
fn a_parquet_file_cut_anywhere_is_an_error_and_never_a_panic() {
    let bytes = std::fs::read("fixtures/v1/trials.parquet").unwrap();
    for end in (4..bytes.len()).step_by(64) {
        let error = complaint("t.parquet", &bytes[..end]);
        assert!(error.starts_with("t.parquet is damaged"), "cut at {end}: {error}");
    }
    insta::assert_snapshot!(complaint("t.parquet", &bytes[..bytes.len() / 2]), @r"
    t.parquet is damaged or cut short: Parquet error: Invalid Parquet file. Corrupt footer
    hint: copy or export the file again; nothing was read from it
    ");
}

#[test]
fn a_parquet_file_with_any_byte_turned_is_rows_or_an_error() {
    let bytes = std::fs::read("fixtures/v1/trials.parquet").unwrap();
    for position in (0..bytes.len()).step_by(7) {
        let mut bytes = bytes.clone();
        bytes[position] ^= 0x55;
        let path = Path::new("t.parquet");
        let rows = TableReader::<Trial>::from_bytes(path, bytes, &ReadOptions::default());
        // Either is fine; what matters is that we get here, in bounded time.
        let _ = rows.map(|rows| rows.take(1_000).count());
    }
}

#[test]
fn a_parquet_file_that_makes_the_decoder_panic_is_an_error() {
    // Found by fuzzing parquet 60.1: `decoder.rs:374` and `bit_util.rs:392`.
    for name in ["decoder_panics.parquet", "bit_reader_panics.parquet"] {
        let bytes = std::fs::read(Path::new("fixtures/foreign").join(name)).unwrap();
        let error = complaint(name, bytes);
        assert!(error.contains("damaged or cut short"), "{error}");
    }
}
