//! Files other tools wrote: delimiters, byte-order marks, line ends, paths, pandas.

use std::path::Path;

use mohs_data::Trial;
use mohs_data::format::{ReadOptions, TableReader, read_all, read_stimuli};

fn read(csv: &str) -> Vec<Trial> {
    let path = Path::new("t.csv");
    let rows = TableReader::from_bytes(path, csv.into(), &ReadOptions::default()).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn semicolons_tabs_line_ends_and_byte_order_marks_do_not_matter() {
    let plain = "participant,stimulus,response,exposure_ms\np1,a b.png,mug,17\np2,c.png,,50\n";
    let expected = read(plain);
    assert_eq!(expected.len(), 2);
    assert_eq!(read(&plain.replace(',', ";")), expected);
    assert_eq!(read(&plain.replace(',', "\t")), expected);
    assert_eq!(read(&plain.replace('\n', "\r\n")), expected);
    assert_eq!(read(&format!("\u{feff}{plain}")), expected);
    assert_eq!(read(plain.trim_end()), expected);
}

#[test]
fn a_path_with_spaces_and_umlauts_works() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("größe 漢字 & co.csv");
    std::fs::write(&path, "participant,stimulus,response\np,a,mug\n").unwrap();
    let trials = read_all::<Trial>(&path, &ReadOptions::default()).unwrap();
    assert_eq!(trials.len(), 1);
    let again = folder.path().join("größe 漢字 & co.parquet");
    mohs_data::format::write_all(&again, &trials).unwrap();
    assert_eq!(read_all::<Trial>(&again, &ReadOptions::default()).unwrap(), trials);
}

#[test]
fn a_quoted_cell_may_hold_lines_and_the_count_stays_right() {
    let csv = "participant,stimulus,response,note\np,a,mug,\"two\nlines\"\np,b,mug,x\n";
    let path = Path::new("t.csv");
    let mut rows =
        TableReader::<Trial>::from_bytes(path, csv.into(), &ReadOptions::default()).unwrap();
    assert_eq!(rows.next().unwrap().unwrap().extra.get("note"), Some("two\nlines"));
    rows.next().unwrap().unwrap();
    assert_eq!(rows.line(), 4);
}

#[test]
fn lines_are_counted_as_an_editor_does() {
    let lines = |csv: &str| -> Vec<u64> {
        let path = Path::new("t.csv");
        let mut rows =
            TableReader::<Trial>::from_bytes(path, csv.into(), &ReadOptions::default()).unwrap();
        let mut lines = Vec::new();
        while let Some(row) = rows.next() {
            row.unwrap();
            lines.push(rows.line());
        }
        lines
    };
    let csv = "participant,stimulus,response\np,a,mug\n\n\np,\"b\nb\",mug\np,c,mug";
    assert_eq!(lines(csv), [2, 5, 7]);
    assert_eq!(lines(&csv.replace('\n', "\r\n")), [2, 5, 7]);
    // A header of one editor above rows of another: no two rows start in the same line.
    let mixed = "participant,stimulus,response\np,a,mug\r\np,b,mug\r\np,c,mug\r\n";
    assert_eq!(lines(mixed), [2, 3, 4]);
    let ragged = "participant,stimulus,response\r\np,a,mug\r\np,b\r\n";
    let path = Path::new("t.csv");
    let rows =
        TableReader::<Trial>::from_bytes(path, ragged.into(), &ReadOptions::default()).unwrap();
    assert_eq!(rows.last().unwrap().unwrap_err().line, Some(3));
}

#[test]
fn model_vs_human_trials_are_read_with_a_map() {
    let csv = "subj,session,trial,rt,object_response,category,condition,imagename\n\
               subject-01,1,1,0.91,bear,bear,0,0001_a.png\n";
    let map = [
        ("participant", "subj"),
        ("stimulus", "imagename"),
        ("label", "category"),
        ("response", "object_response"),
    ];
    let column_map = map.map(|(ours, theirs)| (ours.to_owned(), theirs.to_owned())).into();
    let options = ReadOptions { column_map, ..ReadOptions::default() };
    let mut rows =
        TableReader::<Trial>::from_bytes(Path::new("t.csv"), csv.into(), &options).unwrap();
    let trial = rows.next().unwrap().unwrap();
    assert_eq!(trial.is_correct(), Some(true));
    // Seconds stay seconds: an unknown column is kept, not taken for milliseconds.
    assert_eq!(trial.rt(), None);
    assert_eq!(trial.extra.get("rt"), Some("0.91"));
}

#[test]
fn parquet_from_pandas_and_polars_is_read() {
    let read = |name: &str| {
        let path = Path::new("fixtures/foreign").join(name);
        read_all::<Trial>(&path, &ReadOptions::default()).unwrap()
    };
    let trials = read("pandas.parquet");
    assert_eq!(trials.len(), 3);
    assert_eq!(trials[0].exposure.unwrap().value(), 17.0);
    assert_eq!(trials[1].idx, Some(1));
    assert_eq!(trials[2].response, None);
    assert_eq!(trials[2].marked_correct, Some(false));
    assert_eq!(trials[0].extra.get("site"), Some("Zürich"));
    assert_eq!(read("polars.parquet"), trials);
}

#[test]
fn the_path_decides_how_stimuli_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions::default();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    };
    let ids = |path: &Path| -> Vec<String> {
        read_stimuli(path, &options).unwrap().iter().map(|s| s.id.to_string()).collect()
    };
    write("set/mug/a.png", "");
    assert_eq!(ids(&folder.path().join("set")), ["mug/a.png"]);
    write("set/metadata.csv", "file_name,label,author\nmug/m.png,mug,Ann\n");
    assert_eq!(ids(&folder.path().join("set")), ["mug/m.png"]);
    write("set/stimuli.csv", "file,label\nmug/s.png,mug\n");
    assert_eq!(ids(&folder.path().join("set")), ["mug/s.png"]);
    assert_eq!(ids(&write("val.txt", "v.JPEG 65\n")), ["v.JPEG"]);
    assert_eq!(ids(&write("list.csv", "v.png,mug\n")), ["v.png"]);
    assert_eq!(ids(&write("kaggle.csv", "ImageId,Class\nval_1,n01\n")), ["val_1"]);
    assert_eq!(ids(Path::new("fixtures/v1/stimuli.csv")).len(), 3);
    assert_eq!(ids(Path::new("fixtures/foreign/instances.json")), ["a.jpg", "b.jpg"]);
}
