//! Answers of models to degraded pictures, as predictions.
//!
//! The same files as people's, read in the same way, so that stimuli have the same ids. Rows of
//! people (`subject-NN`) are set aside. The answer `na` stays an answer, a wrong one, as the
//! benchmark counts it. A condition that is a number in all files of its data set becomes the
//! condition of that name; any other becomes the probe `<dataset>/<condition>`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use compact_str::{CompactString, format_compact};

use super::{Answers, STIMULUS, open};
use crate::format::import::predictions::{Gathered, PredictionOptions, finish};
use crate::format::import::{Account, Imported, paths};
use crate::{FileError, Prediction};

/// Reads files, or folders of them.
pub fn read(
    paths: &[PathBuf],
    options: &PredictionOptions<'_>,
) -> Result<Imported<Prediction>, FileError> {
    let files = paths::files_of(paths, &["csv"])?;
    let mut account = Account::default();
    let mut opened = Vec::new();
    for file in &files {
        opened.push(open(file, paths::bytes_of(file)?, &options.import, &mut account)?);
    }
    account.files = files;
    // One file of a data set may lack the word that makes its conditions texts.
    let in_words: BTreeSet<String> =
        opened.iter().filter(|file| has_words(file)).map(|file| file.dataset.clone()).collect();
    let mut gathered = Gathered::default();
    for file in opened {
        let is_text = in_words.contains(&file.dataset);
        predictions(file, is_text, options, &mut account, &mut gathered)?;
    }
    finish(paths, gathered, account, options)
}

/// Returns whether some condition is not a finite number.
fn has_words(file: &Answers) -> bool {
    let conditions = (0..file.table.rows.len()).map(|row| file.table.cell(row, "condition"));
    let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
    conditions.into_iter().any(|text| !text.is_empty() && !is_number(text))
}

fn predictions(
    file: Answers,
    is_text: bool,
    options: &PredictionOptions<'_>,
    account: &mut Account,
    gathered: &mut Gathered,
) -> Result<(), FileError> {
    let Answers { mut table, mut mapping, dataset } = file;
    let n_before = table.rows.len();
    let of_models: Vec<usize> =
        (0..n_before).filter(|row| table.cell(*row, "observer") == "model").collect();
    account.set_aside(
        "of people: `mohs import model-vs-human` makes trials of them",
        n_before - of_models.len(),
    );
    table.keep(&of_models);
    if table.rows.is_empty() {
        return Ok(());
    }
    table.remove_column("observer");
    let is_nothing = |text: &str| text.is_empty() || text.eq_ignore_ascii_case("nan");
    if (0..table.rows.len()).all(|row| is_nothing(table.cell(row, "rt"))) {
        table.remove_column("rt");
    }
    if is_text {
        table.set_column("probe of condition", |table, row| match table.cell(row, "condition") {
            "" => CompactString::default(),
            condition => format_compact!("{dataset}/{condition}"),
        });
        mapping.or_column("probe", "probe of condition");
    } else if table.is_filled("condition") && !mapping.has("condition_value") {
        table.set_column("data set, where there is a condition", |table, row| {
            match table.cell(row, "condition") {
                "" => CompactString::default(),
                _ => dataset.as_str().into(),
            }
        });
        mapping.or_column("condition", "data set, where there is a condition");
        mapping.or_column("condition_value", "condition");
    }
    for (ours, theirs) in [
        ("model", "subj"),
        ("stimulus", STIMULUS),
        ("label", "category"),
        ("predicted", "object_response"),
    ] {
        mapping.or_column(ours, theirs);
    }
    gathered.add(table, mapping, options, account)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes files into a folder and reads it.
    fn read_folder(files: &[(&str, &str)]) -> Result<Imported<Prediction>, FileError> {
        let folder = tempfile::tempdir().expect("because tests may write temporary files");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("because the folder is ours");
        }
        read(&[folder.path().to_owned()], &PredictionOptions::default())
    }

    const HEADER: &str = "subj,session,trial,rt,object_response,category,condition,imagename\n";

    fn file(rows: &str) -> String {
        format!("{HEADER}{rows}")
    }

    #[test]
    fn numbers_are_conditions_and_words_are_probes() {
        let noise = file(
            "vgg,1,1,NaN,oven,oven,0.10,0001_nse_dnn_0.10_oven_10_n04111531_14126.png\n\
             vgg,1,2,NaN,na,bear,0.90,0002_nse_dnn_0.90_bear_10_n02134084_5274.png\n",
        );
        let colour = file("vgg,1,1,NaN,oven,oven,cr,0001_cl_dnn_cr_oven_40_n04111531_14126.png\n");
        let people =
            file("subject-01,1,1,0.7,oven,oven,cr,0001_cl_s01_cr_oven_40_n04111531_1.png\n");
        let imported = read_folder(&[
            ("uniform-noise_vgg_session-1.csv", &noise),
            ("colour_vgg_session-1.csv", &colour),
            ("colour_subject-01_session_1.csv", &people),
        ])
        .unwrap();
        let rows = &imported.rows;
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0].probe, "colour/cr");
        assert_eq!(rows[0].condition, None);
        let set = rows[1].condition.as_ref().unwrap();
        assert_eq!((set.name.as_str(), set.value), ("uniform-noise", 0.1));
        assert_eq!(rows[1].probe, Prediction::NO_PROBE);
        assert_eq!(rows[1].stimulus.as_str(), "n04111531_14126.png");
        // No answer is a wrong answer, as the benchmark counts it.
        assert_eq!(rows[2].answer().unwrap().predicted.as_str(), "na");
        assert_eq!(rows[2].is_correct(), Some(false));
        assert_eq!(rows[2].extra.get("benchmark"), Some("out"));
        assert!(!imported.account.kept.contains("rt"), "times that are all NaN say nothing");
        let (why, n) = imported.account.set_aside.iter().next().unwrap();
        assert!(why.starts_with("of people") && *n == 1, "{why}");
    }

    #[test]
    fn a_word_in_one_file_makes_conditions_words_in_all_of_its_data_set() {
        let row = |model: &str, condition: &str| {
            file(&format!(
                "{model},1,1,NaN,oven,oven,{condition},1_hp_dnn_x_oven_1_n04111531_1.png\n"
            ))
        };
        let imported = read_folder(&[
            ("high-pass_vgg_session-1.csv", &row("vgg", "inf")),
            ("high-pass_vit_session-1.csv", &row("vit", "3")),
        ])
        .unwrap();
        let probes: Vec<&str> = imported.rows.iter().map(|row| row.probe.as_str()).collect();
        assert_eq!(probes, ["high-pass/inf", "high-pass/3"]);
    }

    #[test]
    fn files_of_people_only_are_refused() {
        let people = file("subject-01,1,1,0.7,oven,oven,0,1_cl_s01_cr_oven_40_n04111531_1.png\n");
        let error = read_folder(&[("colour_subject-01_session_1.csv", &people)]).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("should be at least one prediction, found"), "{said}");
        assert!(said.contains("1 rows of people"), "{said}");
    }

    #[test]
    fn stimuli_are_called_as_in_trials_of_people() {
        let text = file("m,1,1,NaN,oven,oven,0,0001_cl_dnn_cr_oven_40_n04111531_14126.png\n");
        let path = std::path::Path::new("sketch_m_session-1.csv");
        let options = crate::format::import::ImportOptions::default();
        let trials =
            super::super::parse(path, text.clone().into(), &options, &mut Account::default());
        let imported = read_folder(&[("sketch_m_session-1.csv", &text)]).unwrap();
        assert_eq!(imported.rows[0].stimulus, trials.unwrap()[0].stimulus);
    }
}
