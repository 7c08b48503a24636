//! What is written is read back, whatever stands in the cells and whichever format holds them.

use std::fmt::Debug;
use std::path::Path;

use mohs_data::format::table::Record;
use mohs_data::format::{ReadOptions, read_all, write_all};
use mohs_data::{
    Answer, BoundingBox, Comparison, Condition, Difficulty, Estimate, Excluded, Exclusion, Extra,
    FailureReason, Harder, Label, Millis, Outcome, Prediction, Sides, Stimulus, Study, Task,
    TimingVerdict, Trial,
};
use proptest::prelude::*;

/// Text that is not empty: quotes, delimiters, newlines and every script, but no NUL, and no blanks
/// at the ends, which CSV does not keep.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z0-9_./ -]{1,12}",
        1 => "[\",;\t\r\n'|:\\\\=#]{1,6}",
        1 => "[^\\x00]{1,8}",
        1 => Just("\u{feff}é ü 漢字 🦀".to_owned()),
        1 => Just("NaN".to_owned()),
    ]
    .prop_map(|text| text.trim_matches([' ', '\t']).to_owned())
    .prop_filter("not empty", |text| !text.is_empty())
}

fn real() -> impl Strategy<Value = f64> {
    prop_oneof![
        -1e6..1e6,
        any::<f64>().prop_filter("finite", |x| x.is_finite()),
        prop::sample::select(vec![
            0.0,
            -0.0,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            0.1 + 0.2,
            1e15,
            1e16,
            1e-7,
            9_007_199_254_740_993.0,
        ]),
    ]
}

fn millis() -> impl Strategy<Value = Millis> {
    real().prop_map(|ms| Millis::new(ms).unwrap())
}

fn whole() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..100, 0_u64..=i64::MAX as u64]
}

fn probability() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..=1.0, prop::sample::select(vec![0.0, 1.0, 5e-324])]
}

/// Rows that share their extra columns, as the rows of one file do.
fn table<R: Debug + Clone + 'static>(
    row: impl Strategy<Value = R> + Clone + 'static,
    set_extra: fn(&mut R, Extra),
) -> impl Strategy<Value = Vec<R>> {
    let names = prop::collection::btree_set("x[a-z é\"',]{0,5}z", 0..4);
    (names, Just(row)).prop_flat_map(move |(names, row)| {
        let names: Vec<String> = names.into_iter().rev().collect();
        let cells = prop::collection::vec(prop_oneof![Just(String::new()), text()], names.len());
        let row = (row, cells).prop_map(move |(mut row, cells)| {
            set_extra(&mut row, Extra::from_pairs(names.iter().map(|n| n.as_str()).zip(cells)));
            row
        });
        prop::collection::vec(row, 0..6)
    })
}

/// Writes CSV, Parquet and CSV again; everything read is equal, and so are the CSV bytes.
fn check<R: Record + PartialEq + Debug>(rows: &[R]) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let read = |path: &Path| read_all::<R>(path, &ReadOptions::default()).unwrap();

    write_all(&file("a.csv"), rows).unwrap();
    let from_csv = read(&file("a.csv"));
    prop_assert_eq!(&from_csv[..], rows);

    write_all(&file("b.parquet"), &from_csv).unwrap();
    let from_parquet = read(&file("b.parquet"));
    prop_assert_eq!(&from_parquet[..], rows);

    write_all(&file("c.csv"), &from_parquet).unwrap();
    let bytes = |name: &str| std::fs::read(file(name)).unwrap();
    prop_assert_eq!(bytes("a.csv"), bytes("c.csv"));
    Ok(())
}

fn trials() -> impl Strategy<Value = Vec<Trial>> {
    let option_text = || prop::option::of(text());
    let option_label = || prop::option::of(text().prop_map(Label::new));
    let ids = (text(), text(), text(), text());
    let design = (
        prop::option::of(whole()),
        option_text(),
        prop::sample::select(&Task::WORDS[..]),
        prop::option::of((1.0..3.6e6).prop_map(|ms| Millis::new(ms).unwrap())),
        prop::option::of((10.0..3_600_000.0).prop_map(|ms| Millis::new(ms).unwrap())),
        option_text(),
    );
    let answer = (option_label(), option_label(), prop::option::of(any::<bool>()));
    let times = (
        prop::option::of(millis()),
        prop::option::of(millis()),
        prop::option::of(millis()),
        prop::option::of(prop::sample::select(&TimingVerdict::WORDS[..])),
    );
    let row = (ids, design, answer, times).prop_map(|(ids, design, answer, times)| {
        let (id, session, participant, stimulus) = ids;
        let (idx, block, (_, task), exposure, beep, condition) = design;
        let (label, response, marked) = answer;
        let (onset, offset, responded, timing) = times;
        // A file may not contradict itself, so a mark agrees with label and response.
        let marked_correct = match (&label, &response, marked) {
            (Some(label), Some(response), Some(_)) => Some(label == response),
            (_, _, marked) => marked,
        };
        Trial {
            id: id.as_str().into(),
            session: session.as_str().into(),
            participant: participant.as_str().into(),
            idx,
            block,
            task,
            stimulus: stimulus.as_str().into(),
            label,
            exposure,
            beep,
            condition,
            response,
            marked_correct,
            onset,
            offset,
            responded,
            timing: timing.map(|(_, verdict)| verdict),
            extra: Extra::default(),
        }
    });
    table(row.boxed(), |row, extra| row.extra = extra)
}

fn stimuli() -> impl Strategy<Value = Vec<Stimulus>> {
    let option_text = || prop::option::of(text());
    let side = || prop_oneof![1e-300..1e300, 1.0..500.0];
    let bounding_box = (real(), real(), side(), side())
        .prop_map(|(x, y, width, height)| BoundingBox { x, y, width, height });
    let row = (
        (text(), text(), text(), option_text(), option_text(), option_text(), option_text()),
        prop::collection::vec(bounding_box, 0..3),
    )
        .prop_map(|((id, file, label, dataset, mask, attribute, level), boxes)| Stimulus {
            id: id.as_str().into(),
            file: file.into(),
            label: label.as_str().into(),
            dataset,
            boxes,
            mask: mask.map(Into::into),
            attribute,
            level,
            extra: Extra::default(),
        });
    table(row.boxed(), |row, extra| row.extra = extra)
}

fn exclusions() -> impl Strategy<Value = Vec<Exclusion>> {
    let row = (text(), text(), any::<bool>(), prop_oneof![Just(String::new()), text()]).prop_map(
        |(rule, id, is_trial, detail)| {
            let id = id.as_str();
            let excluded = match is_trial {
                true => Excluded::Trial(id.into()),
                false => Excluded::Participant(id.into()),
            };
            Exclusion { rule, excluded, detail, extra: Extra::default() }
        },
    );
    table(row.boxed(), |row, extra| row.extra = extra)
}

fn difficulties() -> impl Strategy<Value = Vec<Difficulty>> {
    let estimate = (real(), real(), real(), 0.001..0.999, 0_usize..1_000_000).prop_map(
        |(value, a, b, confidence, n)| {
            Estimate::new(value, a.min(b), a.max(b), confidence, n).unwrap()
        },
    );
    let caveats = prop::collection::vec("[a-z-]{1,12}", 0..3);
    let row = (text(), text(), estimate, prop::option::of(text()), caveats).prop_map(
        |(stimulus, measure, estimate, band, caveats)| Difficulty {
            stimulus: stimulus.as_str().into(),
            measure,
            estimate,
            band,
            caveats,
            extra: Extra::default(),
        },
    );
    table(row.boxed(), |row, extra| row.extra = extra)
}

fn comparisons() -> impl Strategy<Value = Vec<Comparison>> {
    let sides = prop_oneof![
        (text(), text()).prop_filter("two stimuli", |(left, right)| left != right),
        Just(("right".to_owned(), "left".to_owned())),
    ];
    let row = (
        (text(), text(), sides, prop::sample::select(&Harder::WORDS[..])),
        (prop::option::of(text()), prop::option::of(millis()), prop::option::of(millis())),
        (0_u64..1_000, prop::sample::select(&Sides::WORDS[..])),
    )
        .prop_map(
            |(
                (id, participant, (left, right), (_, harder)),
                (question, onset, responded),
                (count, (_, sides)),
            )| {
                Comparison {
                    id: id.as_str().into(),
                    participant: participant.as_str().into(),
                    left: left.as_str().into(),
                    right: right.as_str().into(),
                    harder,
                    question,
                    onset,
                    responded,
                    count,
                    sides,
                    extra: Extra::default(),
                }
            },
        );
    table(row.boxed(), |row, extra| row.extra = extra)
}

fn predictions() -> impl Strategy<Value = Vec<Prediction>> {
    let label = || text().prop_map(Label::new);
    let answer = (
        label(),
        prop::option::of(probability()),
        prop::collection::vec((label(), real()), 0..4),
        prop::option::of(any::<bool>()),
    )
        .prop_map(|(predicted, confidence, top_k, correct)| {
            Outcome::Answered(Answer { predicted, confidence, top_k, correct })
        });
    let failed = text().prop_map(|reason| Outcome::Failed(FailureReason::new(reason)));
    let condition =
        (text(), real()).prop_map(|(name, value)| Condition { name: name.into(), value });
    let row = (
        (text(), text(), text(), prop::option::of(condition), prop::option::of(label())),
        prop_oneof![answer, failed],
    )
        .prop_map(|((model, stimulus, probe, condition, label), outcome)| Prediction {
            model: model.as_str().into(),
            stimulus: stimulus.as_str().into(),
            probe: probe.into(),
            condition,
            label,
            outcome,
            extra: Extra::default(),
        });
    table(row.boxed(), |row, extra| row.extra = extra)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn trials_come_back(rows in trials()) { check(&rows)?; }

    #[test]
    fn stimuli_come_back(rows in stimuli()) { check(&rows)?; }

    #[test]
    fn exclusions_come_back(rows in exclusions()) { check(&rows)?; }

    #[test]
    fn difficulties_come_back(rows in difficulties()) { check(&rows)?; }

    #[test]
    fn comparisons_come_back(rows in comparisons()) { check(&rows)?; }

    #[test]
    fn predictions_come_back(rows in predictions()) { check(&rows)?; }
}

#[test]
fn extra_columns_keep_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trials.csv");
    let csv = "zeta,participant,lab,stimulus,response,alpha\n1,p1,B12,a.png,mug,x\n";
    std::fs::write(&path, csv).unwrap();
    let trials = read_all::<Trial>(&path, &ReadOptions::default()).unwrap();
    for name in ["again.csv", "again.parquet"] {
        let again = folder.path().join(name);
        write_all(&again, &trials).unwrap();
        let trials = read_all::<Trial>(&again, &ReadOptions::default()).unwrap();
        let extra: Vec<_> = trials[0].extra.iter().collect();
        assert_eq!(extra, [("zeta", "1"), ("lab", "B12"), ("alpha", "x")]);
    }
}

#[test]
fn many_row_groups_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exclusions.parquet");
    let row = |n: usize| Exclusion {
        rule: "too-fast".into(),
        excluded: Excluded::Trial(n.to_string().as_str().into()),
        detail: String::new(),
        extra: Extra::default(),
    };
    let rows: Vec<Exclusion> = (0..250_000).map(row).collect();
    write_all(&path, &rows).unwrap();
    assert!(read_all::<Exclusion>(&path, &ReadOptions::default()).unwrap() == rows);
}

#[test]
fn a_study_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.toml");
    let mut study = Study::new("pilot “1”", Task::Beep);
    study.labels = vec!["mug".into(), "café \"au lait\"".into()];
    study.exclusions.min_rt_ms = Millis::new(150.0);
    study.exclusions.timing = vec![TimingVerdict::Dropped];
    study.score.guess_rate = Some(0.02);
    study.write(&path).unwrap();
    assert_eq!(Study::read(&path).unwrap(), study);
}
