//! Labels: what is decided, what is refused, and which label comes first.

use super::*;

fn labels(names: &[&str]) -> Vec<Label> {
    names.iter().map(Label::new).collect()
}

fn find_with(
    classes: Option<ClassesEntry>,
    answer: AnswerEntry,
    truth: &[&str],
    n_outputs: usize,
) -> Result<Labels, String> {
    let wanted = Wanted {
        classes: classes.as_ref(),
        answer: &answer,
        aggregate: Aggregate::Mean,
        folder: Path::new(""),
        strangers: Strangers::Refuse,
    };
    Labels::find(&wanted, &labels(truth), n_outputs, false).map_err(|error| error.to_string())
}

fn list(names: &[&str]) -> Option<ClassesEntry> {
    Some(ClassesEntry::List(names.iter().map(|&name| name.to_owned()).collect()))
}

fn answer(found: &Labels, row: &[f32]) -> Answer {
    match found.outcome(row, 5) {
        Outcome::Answered(answer) => answer,
        Outcome::Failed(reason) => panic!("{reason}"),
    }
}

#[test]
fn equal_answers_go_to_the_first_class() {
    let found = find_with(list(&["a", "b", "c"]), AnswerEntry::AsIs, &["a"], 3).unwrap();
    let answer = answer(&found, &[1.0, 3.0, 3.0]);
    assert_eq!(answer.predicted, Label::new("b"));
    assert_eq!(answer.top_k.len(), 3);
    let sum = 2.0 + (-2.0_f64).exp();
    assert!((answer.confidence.unwrap() - 1.0 / sum).abs() < 1e-9);
}

#[test]
fn an_answer_that_is_no_number_is_a_failure() {
    let found = find_with(list(&["a", "b"]), AnswerEntry::AsIs, &["a"], 2).unwrap();
    for row in [[f32::NAN, 1.0], [f32::INFINITY, 1.0], [f32::NEG_INFINITY; 2]] {
        assert!(matches!(found.outcome(&row, 1), Outcome::Failed(_)), "{row:?}");
    }
}

#[test]
fn without_classes_numbers_and_whole_sets_of_labels_are_understood() {
    assert!(find_with(None, AnswerEntry::AsIs, &["3", "0"], 4).unwrap().note().is_none());
    let found = find_with(None, AnswerEntry::AsIs, &["dog", "cat"], 2).unwrap();
    assert!(found.note().unwrap().contains("alphabetical"));
    assert_eq!(answer(&found, &[1.0, 0.0]).predicted, Label::new("cat"));
    let wnids = find_with(None, AnswerEntry::AsIs, &["n01440764"], 1000).unwrap();
    assert!(wnids.note().unwrap().contains("WordNet ids"));
    assert_eq!(
        find_with(None, AnswerEntry::AsIs, &["dog", "cat"], 3).unwrap_err(),
        "nothing says what the 3 outputs of the model stand for; the stimuli have 2 labels, from \
         `cat` to `dog`"
    );
}

#[test]
fn what_does_not_fit_is_named() {
    let of = |classes, answer, truth: &[&str], n| find_with(classes, answer, truth, n).unwrap_err();
    assert_eq!(
        of(list(&["cat", "dog"]), AnswerEntry::AsIs, &["dgo"], 2),
        "the label `dgo` is none of the 2 classes in `classes`; did you mean `dog`?"
    );
    assert_eq!(
        of(list(&["cat", "dog"]), AnswerEntry::AsIs, &["dog"], 3),
        "the model has 3 outputs and `classes` has 2 classes; there should be one class per output"
    );
    assert_eq!(
        of(Some(ClassesEntry::ImageNet1k), AnswerEntry::AsIs, &["tench"], 1001),
        "the model has 1001 outputs and imagenet-1k has 1000 classes; there should be one class \
         per output"
    );
    assert_eq!(
        of(None, AnswerEntry::ImageNet16, &["aeroplane"], 1000),
        "the label `aeroplane` is none of the 16 categories of imagenet-16; did you mean \
         `airplane`?"
    );
    assert_eq!(
        of(Some(ClassesEntry::ImageNet1k), AnswerEntry::AsIs, &["crane"], 1000),
        "the label `crane` may mean 134 (n02012849 crane) or 517 (n03126707 crane)"
    );
    assert_eq!(
        of(Some(ClassesEntry::ImageNet1k), AnswerEntry::AsIs, &["0", "tench"], 1000),
        "the labels `0` and `tench` both mean 0 (n01440764 tench, Tinca tinca)"
    );
}

#[test]
fn classes_of_imagenet_are_spelled_as_the_stimuli_spell_them() {
    let imagenet = || Some(ClassesEntry::ImageNet1k);
    let first = |truth: &[&str]| {
        let found = find_with(imagenet(), AnswerEntry::AsIs, truth, 1000).unwrap();
        let mut row = vec![0.0; 1000];
        row[285] = 9.0;
        answer(&found, &row).predicted.to_string()
    };
    assert_eq!(first(&["Egyptian_cat"]), "Egyptian_cat");
    assert_eq!(first(&["tench"]), "Egyptian cat");
    assert_eq!(first(&["n01440764"]), "n02124075");
    assert_eq!(first(&["7"]), "285");
}

#[test]
fn a_subset_shares_the_whole_probability() {
    let classes = list(&["cat", "dog", "cow"]);
    let found = find_with(classes, AnswerEntry::Subset, &["dog", "cat"], 3).unwrap();
    assert_eq!(found.n_labels(), 2);
    let answer = answer(&found, &[1.0, 2.0, 50.0]);
    assert_eq!(answer.predicted, Label::new("dog"));
    let expected = 1.0 / (1.0 + (-1.0_f64).exp());
    assert!((answer.confidence.unwrap() - expected).abs() < 1e-8);
}

#[test]
fn sixteen_categories_are_means_and_ties_go_to_the_later_name() {
    let found = find_with(None, AnswerEntry::ImageNet16, &["cat", "dog"], 1000).unwrap();
    // An airplane, a knife and an oven are one class each.
    let mut row = vec![-50.0; 1000];
    (row[404], row[499], row[766]) = (1.0, 1.0, 1.0);
    assert_eq!(answer(&found, &row).predicted, Label::new("oven"));
    // One sure class among 6 of cats weighs more than one among 109 of dogs.
    let mut row = vec![-50.0; 1000];
    (row[281], row[152]) = (1.0, 2.0);
    assert_eq!(answer(&found, &row).predicted, Label::new("cat"));
}

#[test]
fn a_table_groups_classes_by_mean_largest_or_sum() {
    let folder = tempfile::tempdir().unwrap();
    let table = "class,label\ntabby,cat\nterrier,dog\npoodle,dog\nhound,dog\n";
    std::fs::write(folder.path().join("map.csv"), table).unwrap();
    let classes = list(&["tabby", "terrier", "poodle", "hound", "stone"]);
    let found = |aggregate| {
        let wanted = Wanted {
            classes: classes.as_ref(),
            answer: &AnswerEntry::Table("map.csv".into()),
            aggregate,
            folder: folder.path(),
            strangers: Strangers::Refuse,
        };
        Labels::find(&wanted, &labels(&["cat", "dog"]), 5, true).unwrap()
    };
    let row = [0.3, 0.35, 0.05, 0.1, 0.2];
    let told = |aggregate| {
        let answer = answer(&found(aggregate), &row);
        (answer.predicted.to_string(), answer.confidence.unwrap())
    };
    let (cat, of_cat) = told(Aggregate::Mean);
    assert_eq!(cat, "cat");
    assert!((of_cat - 0.3).abs() < 1e-6);
    let (dog, of_dog) = told(Aggregate::Sum);
    assert_eq!(dog, "dog");
    assert!((of_dog - 0.5).abs() < 1e-6);
    assert!((told(Aggregate::Max).1 - 0.35).abs() < 1e-6);
}

#[test]
fn a_table_with_strangers_or_a_class_twice_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |table: &str| {
        std::fs::write(folder.path().join("map.csv"), table).unwrap();
        let classes = list(&["tabby", "terrier"]);
        let wanted = Wanted {
            classes: classes.as_ref(),
            answer: &AnswerEntry::Table("map.csv".into()),
            aggregate: Aggregate::Mean,
            folder: folder.path(),
            strangers: Strangers::Refuse,
        };
        let error = Labels::find(&wanted, &labels(&["cat"]), 2, true).unwrap_err().to_string();
        error.rsplit_once('/').unwrap().1.to_owned()
    };
    assert_eq!(
        refused("class,label\ntaby,cat\n"),
        "map.csv:2 should name a class of `classes`, found `taby`; did you mean `tabby`?"
    );
    assert_eq!(
        refused("class,label\ntabby,cat\ntabby,dog\n"),
        "map.csv has the class `tabby` twice"
    );
    assert_eq!(refused("class,label\nterrier,dog\n"), "map.csv");
    assert_eq!(
        refused("name,label\nterrier,dog\n"),
        "map.csv:1 should have the columns class and label, found name, label"
    );
}
