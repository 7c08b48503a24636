//! Tables of predictions as other tools write them, worked by hand.

use std::path::Path;

use super::super::Unit;
use super::*;
use crate::format::write_all;
use crate::{Outcome, StimulusId};

type Reader = fn(
    &Path,
    Vec<u8>,
    &PredictionOptions<'_>,
    &mut Account,
    &mut Gathered,
) -> Result<(), FileError>;

/// Reads files in memory with one reader, as a command would.
fn read_with(
    reader: Reader,
    files: &[(&str, &str)],
    options: &PredictionOptions<'_>,
) -> Result<Imported<Prediction>, FileError> {
    let (mut account, mut gathered) = (Account::default(), Gathered::default());
    for (name, text) in files {
        reader(Path::new(name), text.as_bytes().to_vec(), options, &mut account, &mut gathered)?;
    }
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| (*name).into()).collect();
    finish(&paths, gathered, account, options)
}

fn mapped_by(maps: &[(&str, &str)]) -> PredictionOptions<'static> {
    let columns = maps.iter().map(|(ours, theirs)| ((*ours).into(), (*theirs).into())).collect();
    let mapping = Mapping { columns, ..Mapping::default() };
    let import = ImportOptions { mapping, ..ImportOptions::default() };
    PredictionOptions { import, ..PredictionOptions::default() }
}

fn stimulus(id: &str, file: &str, label: &str) -> Stimulus {
    Stimulus {
        id: StimulusId::new(id),
        file: file.into(),
        label: Label::new(label),
        dataset: None,
        boxes: vec![],
        mask: None,
        attribute: None,
        level: None,
        extra: crate::Extra::default(),
    }
}

/// Says rows shortly: model, stimulus, probe, condition, label, answer, correct.
fn told(rows: &[Prediction]) -> String {
    let tell = |row: &Prediction| {
        let set = row.condition.as_ref().map(|set| format!(" {}={}", set.name, set.value));
        let label = row.label.as_ref().map_or("?", Label::as_str);
        let said = match &row.outcome {
            Outcome::Answered(answer) => {
                let sure = answer.confidence.map(|p| format!(" at {p}")).unwrap_or_default();
                format!("{}{sure}", answer.predicted)
            }
            Outcome::Failed(reason) => format!("failed: {reason}"),
        };
        let judged =
            row.is_correct().map_or("unjudged", |right| ["wrong", "right"][usize::from(right)]);
        let set = set.unwrap_or_default();
        format!("{} {} {}{set}: {label} -> {said} ({judged})\n", row.model, row.stimulus, row.probe)
    };
    rows.iter().map(tell).collect()
}

fn error_of(result: Result<Imported<Prediction>, FileError>) -> String {
    let error = result.unwrap_err();
    format!("{error}\n  {}\n", error.hint().unwrap_or_default())
}

const IMAGENET_X: &str = "file_name,predicted_class,predicted_probability\n\
    ILSVRC2012_val_00000001.JPEG,65,0.75\nILSVRC2012_val_00000002.JPEG,970,0.5\n";

#[test]
fn an_imagenet_x_file_joins_labels_by_file_in_any_order() {
    let stimuli = [
        stimulus("snow", "val/ILSVRC2012_val_00000002.JPEG", "795"),
        stimulus("snake", "val/ILSVRC2012_val_00000001.JPEG", "65"),
        stimulus("dog", "val/ILSVRC2012_val_00000003.JPEG", "230"),
    ];
    let options = PredictionOptions {
        stimuli: Some(&stimuli),
        stimuli_name: "stimuli.csv".into(),
        ..PredictionOptions::default()
    };
    let files = [("x/resnet50.csv", IMAGENET_X)];
    let imported = read_with(imagenet_x::parse, &files, &options).unwrap();
    insta::assert_snapshot!(told(&imported.rows), @r"
    resnet50 snake none: 65 -> 65 at 0.75 (right)
    resnet50 snow none: 795 -> 970 at 0.5 (wrong)
    ");
    assert_eq!(
        imported.account.notices,
        [
            "2 rows found their stimulus by the name of its file",
            "1 of 3 stimuli have no prediction"
        ]
    );
}

#[test]
fn numbered_classes_get_names_and_gaps_do_not_spoil_numbers() {
    let names: String = (0..=970).map(|class| format!("class {class}\n")).collect();
    let classes = ClassNames::parse(Path::new("names.txt"), &names).unwrap();
    let options = PredictionOptions { classes: Some(&classes), ..PredictionOptions::default() };
    let imported = read_with(imagenet_x::parse, &[("m.csv", IMAGENET_X)], &options).unwrap();
    assert!(told(&imported.rows).contains("-> class 65 at 0.75"));
    // A data frame with a gap writes all numbers with a point.
    let gaps = "image_id,label,pred\na,65.0,65.0\nb,7.0,\n";
    let imported = read_with(parse, &[("m.csv", gaps)], &mapped_by(&[])).unwrap();
    insta::assert_snapshot!(told(&imported.rows), @r"
    m a none: 65 -> 65 (right)
    m b none: 7 -> failed: no answer (unjudged)
    ");
    let few = ClassNames::parse(Path::new("few.txt"), "cat\ndog\n").unwrap();
    let options = PredictionOptions { classes: Some(&few), ..PredictionOptions::default() };
    insta::assert_snapshot!(
        error_of(read_with(imagenet_x::parse, &[("m.csv", IMAGENET_X)], &options)),
        @r"
    m.csv:2: should be a class from 0 to 1, as few.txt has them, found `65`
      do the names belong to this model? Numbers start at 0
    "
    );
}

#[test]
fn usual_names_are_understood_in_csv_and_json() {
    let csv = "Model,image_id,file_name,true_label,pred,prob,severity,note\n\
               vit,a,a.png,cat,cat,0.9,3,x\nvit,b,b.png,dog,,,3,\n";
    let json = "{\"image_id\":\"b\",\"model\":\"vit\",\"label\":\"dog\",\"pred\":\"cat\",\
                \"topk\":[[\"cat\",0.5],[\"dog\",0.25]],\"severity\":1}\n\n\
                {\"image_id\":\"a\",\"model\":\"vit\",\"label\":\"cat\",\"pred\":\"cat\",\
                \"topk\":{\"cow\":0.1,\"cat\":0.9},\"severity\":1}\n";
    let files = [("a.csv", csv), ("b.jsonl", json)];
    let imported = read_with(parse, &files, &mapped_by(&[])).unwrap();
    insta::assert_snapshot!(told(&imported.rows), @r"
    vit a none severity=3: cat -> cat at 0.9 (right)
    vit b none severity=3: dog -> failed: no answer (unjudged)
    vit b none severity=1: dog -> cat (wrong)
    vit a none severity=1: cat -> cat (right)
    ");
    assert_eq!(imported.rows[0].extra.get("file_name"), Some("a.png"));
    assert_eq!(imported.rows[0].extra.get("note"), Some("x"));
    let top_k = &imported.rows[3].answer().unwrap().top_k;
    assert_eq!(top_k, &[(Label::new("cat"), 0.9), (Label::new("cow"), 0.1)]);
}

#[test]
fn parquet_is_read_like_csv() {
    let csv = "stimulus,predicted,confidence\na,cat,0.5\nb,dog,0.25\n";
    let rows = read_with(parse, &[("m.csv", csv)], &mapped_by(&[])).unwrap().rows;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.parquet");
    write_all(&path, &rows).unwrap();
    let again = read(&[path], &mapped_by(&[])).unwrap().rows;
    assert_eq!(told(&again), told(&rows));
}

#[test]
fn a_table_may_only_say_what_was_right() {
    let csv = "model,stimulus,correct\nm,a,1\nm,b,0\nm,c,\n";
    let imported = read_with(parse, &[("m.csv", csv)], &mapped_by(&[])).unwrap();
    insta::assert_snapshot!(told(&imported.rows), @r"
    m a none: ? -> (right) (right)
    m b none: ? -> (wrong) (wrong)
    m c none: ? -> failed: no answer (unjudged)
    ");
    assert!(imported.account.notices[0].starts_with("2 answers are known only as"));
}

#[test]
fn an_answer_that_stands_twice_is_refused_with_both_places() {
    let csv = "stimulus,predicted\na,cat\nb,cat\n";
    let json = "{\"model\":\"m\",\"stimulus\":\"b\",\"predicted\":\"dog\"}\n";
    insta::assert_snapshot!(
        error_of(read_with(parse, &[("m.csv", csv), ("more.jsonl", json)], &mapped_by(&[]))),
        @r"
    more.jsonl:1: prediction `m × b × none` stands twice; first in m.csv:3
      was a file named twice, or are probes and conditions missing? Map them with --map probe=YOUR_COLUMN or --map condition_value=YOUR_COLUMN; two models need two names
    "
    );
}

#[test]
fn bad_tables_are_refused_with_their_place_and_a_hint() {
    let error =
        |name: &str, text: &str| error_of(read_with(parse, &[(name, text)], &mapped_by(&[])));
    let all = [
        error("m.csv", "picture,said\na,cat\n"),
        error("m.csv", "stimulus,predicted,confidence\na,cat,91\n"),
        error("m.csv", "stimulus,predicted,top_k\na,cat,\"[\"\"cat\"\"]\"\n"),
        error("m.csv", "stimulus,correct\na,perhaps\n"),
        error("m.jsonl", "{\"stimulus\":\"a\",\"predicted\":\"cat\"}\n{\"stimulus\":"),
        error("m.csv", "stimulus,predicted\n"),
        error_of(read_with(imagenet_x::parse, &[("m.csv", "image,class\na,1\n")], &mapped_by(&[]))),
    ];
    insta::assert_snapshot!(all.concat());
}

#[test]
fn labels_that_contradict_the_stimuli_are_refused_and_other_stimuli_set_aside() {
    let stimuli = [stimulus("a", "a.png", "cat")];
    let options = |stimuli| PredictionOptions {
        stimuli: Some(stimuli),
        stimuli_name: "stimuli.csv".into(),
        ..PredictionOptions::default()
    };
    let csv = "stimulus,label,predicted\nz,cow,cow\na,dog,cat\n";
    insta::assert_snapshot!(
        error_of(read_with(parse, &[("m.csv", csv)], &options(&stimuli))),
        @r"
    m.csv:3: stimulus `a` has the label `dog` here and `cat` in stimuli.csv
      make the labels agree, or leave theirs out with `--map label=`; `--classes` names numbered classes
    "
    );
    let csv = csv.replace("dog", "cat");
    let imported = read_with(parse, &[("m.csv", &csv)], &options(&stimuli)).unwrap();
    assert_eq!(told(&imported.rows), "m a none: cat -> cat (right)\n");
    assert_eq!(
        imported.account.set_aside.iter().next().map(|(why, n)| (why.as_str(), *n)),
        Some(("about stimuli that are not in stimuli.csv", 1))
    );
    let others = [stimulus("q", "q.png", "cat")];
    insta::assert_snapshot!(
        error_of(read_with(parse, &[("m.csv", &csv)], &options(&others))),
        @r"
    m.csv:2: stimulus `z` is not in stimuli.csv, and none of the other 1 is
      did you mean `q`?
    "
    );
}

#[test]
fn answers_that_are_no_label_raise_a_doubt() {
    let csv = "stimulus,label,predicted\na,cat,3\nb,dog,5\n";
    let imported = read_with(parse, &[("m.csv", csv)], &mapped_by(&[])).unwrap();
    insta::assert_snapshot!(
        imported.account.notices.join("\n"),
        @"no answer is one of the labels (answers are like `3`, labels like `cat`), so all count as wrong; --classes names numbered classes"
    );
}

const WIDE: &str =
    "stimulus,category,noise,alexnet,vgg\n1/a.png,cat,0.0,cat,\n1/b.png,dog,0.35,cat,dog\n";

#[test]
fn a_wide_table_has_a_model_per_column() {
    let options = mapped_by(&[("condition_value", "noise")]);
    let imported = read_with(answers_table::parse, &[("wide.csv", WIDE)], &options).unwrap();
    insta::assert_snapshot!(told(&imported.rows), @r"
    alexnet 1/a.png none noise=0: cat -> cat (right)
    alexnet 1/b.png none noise=0.35: dog -> cat (wrong)
    vgg 1/a.png none noise=0: cat -> failed: no answer (unjudged)
    vgg 1/b.png none noise=0.35: dog -> dog (right)
    ");
    let account = imported.account;
    assert_eq!(account.n_records, 2);
    assert_eq!(account.sources["model"].first().unwrap(), "the names of the columns");
    assert!(account.taken_for.contains("one row per stimulus, 2 models, their answers"));
}

#[test]
fn models_of_a_wide_table_can_be_named_and_the_rest_is_kept() {
    let options = PredictionOptions { models: vec!["vgg".into()], ..mapped_by(&[]) };
    let imported = read_with(answers_table::parse, &[("wide.csv", WIDE)], &options).unwrap();
    assert_eq!(imported.rows.len(), 2);
    assert_eq!(imported.rows[1].extra.get("noise"), Some("0.35"));
    assert_eq!(imported.rows[1].extra.get("alexnet"), Some("cat"));
    let wrong = PredictionOptions { models: vec!["vg".into()], ..mapped_by(&[]) };
    insta::assert_snapshot!(
        [
            error_of(read_with(answers_table::parse, &[("wide.csv", WIDE)], &wrong)),
            error_of(read_with(
                answers_table::parse,
                &[("wide.csv", WIDE)],
                &mapped_by(&[("predicted", "vgg")])
            )),
            error_of(read_with(
                answers_table::parse,
                &[("wide.csv", "stimulus,label\na,cat\n")],
                &mapped_by(&[])
            )),
            error_of(read_with(
                answers_table::parse,
                &[("wide.csv", "picture,vgg\na,cat\n")],
                &mapped_by(&[])
            )),
            error_of(read_with(
                answers_table::parse,
                &[("wide.csv", WIDE)],
                &mapped_by(&[("condition_value", "category")])
            )),
        ]
        .concat()
    );
}

#[test]
fn ones_and_zeros_say_what_was_right_unless_they_are_labels() {
    let csv = "stimulus,label,m\na,cat,1\nb,dog,0\n";
    let imported = read_with(answers_table::parse, &[("w.csv", csv)], &mapped_by(&[])).unwrap();
    insta::assert_snapshot!(told(&imported.rows), @r"
    m a none: cat -> (right) (right)
    m b none: dog -> (wrong) (wrong)
    ");
    let binary = "stimulus,label,m\na,1,1\nb,0,1\n";
    let imported = read_with(answers_table::parse, &[("w.csv", binary)], &mapped_by(&[])).unwrap();
    insta::assert_snapshot!(told(&imported.rows), @r"
    m a none: 1 -> 1 (right)
    m b none: 0 -> 1 (wrong)
    ");
}

#[test]
fn a_matrix_has_a_model_per_row_and_lines_say_the_same() {
    let csv = "model,a.png,b.png\nvgg,1,0\nvit,,1\n";
    let lines = "{\"subject_id\":\"vgg\",\"responses\":{\"a.png\":1,\"b.png\":0}}\n\
                 {\"subject_id\":\"vit\",\"responses\":{\"a.png\":null,\"b.png\":1.0}}\n";
    let read = |name: &str, text: &str| {
        read_with(response_matrix::parse, &[(name, text)], &mapped_by(&[]))
    };
    let imported = read("m.csv", csv).unwrap();
    assert_eq!(told(&imported.rows), told(&read("m.jsonlines", lines).unwrap().rows));
    insta::assert_snapshot!(told(&imported.rows), @r"
    vgg a.png none: ? -> (right) (right)
    vgg b.png none: ? -> (wrong) (wrong)
    vit b.png none: ? -> (right) (right)
    ");
    let all = [
        error_of(read("m.csv", "who,a.png\nvgg,1\n")),
        error_of(read("m.csv", "model,a.png\nvgg,cat\n")),
        error_of(read("m.jsonl", "{\"subject_id\":\"vgg\",\"responses\":[1]}\n")),
        error_of(read("m.jsonl", "{\"subject_id\":\"vgg\",\"responses\":{\"a\":2}}\n")),
        error_of(read("m.csv", "model,a.png\nvgg,1\nvgg,1\n")),
    ];
    insta::assert_snapshot!(all.concat());
}

#[test]
fn a_unit_of_time_means_nothing_to_predictions() {
    let mut options = mapped_by(&[]);
    options.import.mapping.units.insert("rt_ms".into(), Unit::Seconds);
    insta::assert_snapshot!(
        error_of(read_with(parse, &[("m.csv", "stimulus,predicted\na,cat\n")], &options)),
        @r"
    m.csv column `rt_ms` is not in the columns of predictions
      check the spelling, upper and lower case too, or add it there
    "
    );
}
