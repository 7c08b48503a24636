//! Lists of files and labels as ImageNet uses them: `file label` or `file,label`, a line each.
//!
//! A header is not needed; `ImageId,Class` and the like are recognised and skipped. The boxes of
//! `ImageId,PredictionString` are kept. Labels stay as they are, numbers included.

use std::path::{Path, PathBuf};

use super::{document, image_folder};
use crate::{BoundingBox, Extra, FileError, Label, Problem, Stimulus, StimulusId};

/// What a first line calls its first column, in lower case.
const FILE_NAMES: [&str; 8] =
    ["imageid", "image_id", "image", "file", "filename", "file_name", "path", "stimulus"];
/// What a first line calls its second column, in lower case.
const LABEL_NAMES: [&str; 6] =
    ["class", "label", "target", "category", "class_id", PREDICTION_STRING];
const PREDICTION_STRING: &str = "predictionstring";

/// Stimuli with the line each stands in.
pub type Lined = Vec<(u64, Stimulus)>;

/// Reads a list.
pub fn read(path: &Path) -> Result<Lined, FileError> {
    parse(path, &document::read_text(path, "a list of files and labels")?)
}

/// Parses the text of a list; `path` is only for errors.
pub fn parse(path: &Path, text: &str) -> Result<Lined, FileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut stimuli = Lined::new();
    let mut has_boxes = false;
    // Ids of ImageNet are files without their ending.
    let mut adds_ending = false;
    let mut is_first = true;
    for (line, row) in (1..).zip(text.lines()) {
        let row = row.trim();
        if row.is_empty() {
            continue;
        }
        let Some((file, label)) = split(row) else {
            let hint = "write `mug/a.jpg mug` or `mug/a.jpg,mug`; a table needs a header";
            let problem = Problem::BadValue {
                expected: "a file and its label".into(),
                found: row.chars().take(80).collect(),
                hint: Some(hint.into()),
            };
            return Err(FileError::new(path, problem).at_line(line));
        };
        if std::mem::take(&mut is_first) && is_header(file, label) {
            has_boxes = label.eq_ignore_ascii_case(PREDICTION_STRING);
            adds_ending = file.eq_ignore_ascii_case("imageid");
            continue;
        }
        let (label, boxes) = if has_boxes {
            label_and_boxes(label).ok_or_else(|| {
                let problem = Problem::BadValue {
                    expected: "a class and four numbers per box".into(),
                    found: label.chars().take(80).collect(),
                    hint: None,
                };
                FileError::new(path, problem).at_line(line).in_column("PredictionString")
            })?
        } else {
            (label, Vec::new())
        };
        let needs_ending = adds_ending && !image_folder::is_picture(Path::new(file));
        let stimulus = Stimulus {
            id: StimulusId::new(file),
            file: PathBuf::from(if needs_ending { format!("{file}.JPEG") } else { file.into() }),
            label: Label::new(label),
            dataset: None,
            boxes,
            mask: None,
            attribute: None,
            level: None,
            extra: Extra::default(),
        };
        stimuli.push((line, stimulus));
    }
    if stimuli.is_empty() {
        return Err(FileError::new(path, Problem::NoRows { noun: "file with a label" }));
    }
    Ok(stimuli)
}

/// Returns whether the first line of a text looks like that of a list rather than of a table.
pub(super) fn looks_like_list(first_line: &str) -> bool {
    let first_line = first_line.trim_start_matches('\u{feff}').trim();
    let Some((file, label)) = split(first_line) else { return false };
    let is_imagenet = file.eq_ignore_ascii_case("imageid") && is_header(file, label);
    is_imagenet || (image_folder::is_picture(Path::new(file)) && !label.contains(','))
}

/// Splits at a tab, else at the first comma after the file, else at the last space.
fn split(row: &str) -> Option<(&str, &str)> {
    let (file, label) = if row.contains('\t') {
        row.split_once('\t')?
    } else if row.contains(',') {
        row.rsplit_once(',')?
    } else {
        row.rsplit_once(' ')?
    };
    let unquoted = |cell: &'_ str| -> Option<(usize, usize)> {
        let trimmed = cell.trim();
        let start = cell.find(trimmed)?;
        let is_quoted = 2 <= trimmed.len() && trimmed.starts_with('"') && trimmed.ends_with('"');
        let margin = usize::from(is_quoted);
        Some((start + margin, start + trimmed.len() - margin))
    };
    let (start, end) = unquoted(file)?;
    let file = &file[start..end];
    let (start, end) = unquoted(label)?;
    let label = &label[start..end];
    (!file.is_empty() && !label.is_empty()).then_some((file, label))
}

fn is_header(file: &str, label: &str) -> bool {
    let is_in = |names: &[&str], name: &str| names.iter().any(|n| n.eq_ignore_ascii_case(name));
    is_in(&FILE_NAMES, file) && is_in(&LABEL_NAMES, label)
}

/// Parses `n01440764 10 20 30 40 n01440764 …`: classes with left, top, right and bottom.
fn label_and_boxes(text: &str) -> Option<(&str, Vec<BoundingBox>)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let label = words.first()?;
    let mut boxes = Vec::new();
    for group in words.chunks(5) {
        let [class, numbers @ ..] = group else { return None };
        let numbers: Vec<f64> = numbers.iter().map(|n| n.parse().ok()).collect::<Option<_>>()?;
        let &[left, top, right, bottom] = &numbers[..] else { return None };
        let (width, height) = (right - left, bottom - top);
        let is_sound = numbers.iter().all(|n| n.is_finite()) && 0.0 < width && 0.0 < height;
        if !is_sound || !width.is_finite() || !height.is_finite() {
            return None;
        }
        if class == label {
            boxes.push(BoundingBox { x: left, y: top, width, height });
        }
    }
    Some((label, boxes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let stimuli = parse(Path::new("val.txt"), text).unwrap();
        let pair = |s: &Stimulus| (s.file.to_string_lossy().into(), s.label.to_string());
        stimuli.iter().map(|(_, stimulus)| pair(stimulus)).collect()
    }

    fn pair(file: &str, label: &str) -> (String, String) {
        (file.into(), label.into())
    }

    #[test]
    fn lists_with_spaces_commas_and_tabs_are_read() {
        assert_eq!(
            pairs("val_1.JPEG 65\n\nval_2.JPEG 970\r\n"),
            [pair("val_1.JPEG", "65"), pair("val_2.JPEG", "970")]
        );
        assert_eq!(pairs("a b.png,coffee mug\n"), [pair("a b.png", "coffee mug")]);
        assert_eq!(pairs("\"a,b.png\",\"mug\"\n"), [pair("a,b.png", "mug")]);
        assert_eq!(pairs("a.png\tmug, large\n"), [pair("a.png", "mug, large")]);
    }

    #[test]
    fn a_header_is_not_a_stimulus() {
        assert_eq!(pairs("ImageId,Class\nval_1,n01\n"), [pair("val_1.JPEG", "n01")]);
        assert_eq!(pairs("file,label\na.png,mug\n"), [pair("a.png", "mug")]);
    }

    #[test]
    fn boxes_of_the_prediction_string_are_kept() {
        let text = "ImageId,PredictionString\nval_1,n01 10 20 30 50 n01 1 2 3 4 \n";
        let stimuli = parse(Path::new("LOC_val_solution.csv"), text).unwrap();
        let (_, stimulus) = &stimuli[0];
        assert_eq!(stimulus.label.as_str(), "n01");
        let expected = BoundingBox { x: 10.0, y: 20.0, width: 20.0, height: 30.0 };
        assert_eq!(stimulus.boxes.len(), 2);
        assert_eq!(stimulus.boxes[0], expected);
    }

    #[test]
    fn a_line_without_label_is_refused() {
        let error = parse(Path::new("val.txt"), "a.png 1\nb.png\n").unwrap_err();
        insta::assert_snapshot!(
            format!("{error}\n{}", error.hint().unwrap()),
            @r"
        val.txt:2: should be a file and its label, found `b.png`
        write `mug/a.jpg mug` or `mug/a.jpg,mug`; a table needs a header
        "
        );
        let error = parse(Path::new("val.txt"), "file,label\n").unwrap_err();
        assert!(matches!(error.problem, Problem::NoRows { .. }));
    }

    #[test]
    fn a_table_is_not_a_list() {
        assert!(!looks_like_list("stimulus,file,label"));
        assert!(!looks_like_list("file,label"));
        assert!(looks_like_list("ImageId,Class"));
        assert!(looks_like_list("mug/a.png,mug"));
    }
}
