//! Whole files held against each other: joins and counts.

use mohs_data::check::{Checks, fill_labels, read_comparisons, read_predictions, read_trials};
use mohs_data::format::{ReadOptions, read_stimuli};
use mohs_data::{Harder, Problem, Sides, Stimulus};

fn stimuli() -> Vec<Stimulus> {
    read_stimuli("fixtures/v1/stimuli.csv".as_ref(), &ReadOptions::default()).unwrap()
}

fn in_folder(text: &str, run: impl FnOnce(&std::path::Path)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    std::fs::write(&path, text).unwrap();
    run(&path);
}

#[test]
fn labels_are_joined_from_the_stimuli() {
    let stimuli = stimuli();
    let checks = Checks { stimuli: Some(&stimuli), ..Checks::default() };
    let id = &stimuli[0].id;
    in_folder(&format!("participant,stimulus,response\np,{id},mug\n"), |path| {
        let trials = read_trials(path, &checks).unwrap();
        assert_eq!(trials[0].label.as_ref(), Some(&stimuli[0].label));
        assert_eq!(trials[0].is_correct(), Some(true));
        let mut bare = trials.clone();
        bare[0].label = None;
        fill_labels(&mut bare, &stimuli);
        assert_eq!(bare, trials);
    });
}

#[test]
fn labels_of_the_study_may_hold_more_than_the_stimuli_show() {
    let stimuli = stimuli();
    let labels = ["mug", "cup", "bowl", "spoon"].map(str::to_owned);
    let checks = Checks { stimuli: Some(&stimuli), labels: Some(&labels), ..Checks::default() };
    let id = &stimuli[0].id;
    in_folder(&format!("participant,stimulus,response\np,{id},spoon\n"), |path| {
        assert_eq!(read_trials(path, &checks).unwrap()[0].is_correct(), Some(false));
    });
}

#[test]
fn a_prediction_stands_once_per_model_stimulus_probe_and_condition() {
    let checks = Checks::default();
    let csv = "model,stimulus,probe,condition,condition_value,predicted\n\
               m,a,pgd,epsilon,1,mug\nm,a,pgd,epsilon,2,mug\nm,a,none,,,mug\nn,a,none,,,mug\n";
    in_folder(csv, |path| assert_eq!(read_predictions(path, &checks).unwrap().len(), 4));
    in_folder(&format!("{csv}m,a,pgd,epsilon,1,cup\n"), |path| {
        let error = read_predictions(path, &checks).unwrap_err();
        assert_eq!(error.line, Some(6));
        insta::assert_snapshot!(error.problem, @"prediction `m × a × pgd × epsilon 1` stands twice; first in line 2");
    });
}

#[test]
fn comparisons_name_known_stimuli() {
    let stimuli = stimuli();
    let checks =
        Checks { stimuli: Some(&stimuli), stimuli_name: "s.csv".into(), ..Checks::default() };
    let id = &stimuli[0].id;
    in_folder(&format!("participant,left,right,harder\np,{id},nothing,left\n"), |path| {
        let error = read_comparisons(path, &checks).unwrap_err();
        assert!(matches!(error.problem, Problem::Unknown { what: "stimulus", .. }));
    });
    in_folder("participant,left,right,harder\np,a,a,left\n", |path| {
        let error = read_comparisons(path, &Checks::default()).unwrap_err();
        insta::assert_snapshot!(error.problem, @"`a` stands on both sides");
    });
}

#[test]
fn winners_and_losers_are_comparisons_whose_sides_are_unknown() {
    in_folder("winner,loser,count\nb,a,3\na,c,\n", |path| {
        let rows = read_comparisons(path, &Checks::default()).unwrap();
        assert_eq!((rows[0].left.as_str(), rows[0].right.as_str()), ("a", "b"));
        assert_eq!((rows[0].harder, rows[0].count), (Harder::Right, 3));
        assert_eq!((rows[0].sides, rows[0].participant.as_str()), (Sides::Unknown, "unnamed"));
        assert_eq!((rows[1].harder, rows[1].count), (Harder::Left, 1));
    });
    in_folder("winner,loser\na,a\n", |path| {
        let error = read_comparisons(path, &Checks::default()).unwrap_err();
        insta::assert_snapshot!(error.problem, @"`a` is winner and loser");
    });
    in_folder("winner,loser,count\na,b,many\n", |path| {
        let error = read_comparisons(path, &Checks::default()).unwrap_err();
        assert_eq!(error.line, Some(2));
        insta::assert_snapshot!(error.problem, @"should be a whole number, 0 or more, found `many`");
    });
}
