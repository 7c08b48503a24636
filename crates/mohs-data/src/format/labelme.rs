//! LabelMe files: one JSON document per picture, with the shapes somebody drew on it.
//!
//! Polygons, rectangles and circles are filled at pixel centres, as in [`Mask::from_polygons`].
//! Shapes of the kind `mask` hold a small PNG; this crate knows no pixels, so the caller decodes it.
//! Points and lines outline nothing: they are counted and left out. The stimulus is the file name
//! in `imagePath`, without folders. LabelMe does not say who drew; with
//! [`Drawn::ByFolder`] the folder a file lies in names the participant.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::document;
use crate::annotation::check_role;
use crate::{Annotation, FileError, Label, Mask, MaskError, ParticipantId, Problem, StimulusId};

/// What LabelMe files hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LabelMe {
    /// Outlines, in the order of the files and of the shapes in them.
    pub annotations: Vec<Annotation>,
    /// Points and lines, which outline nothing.
    pub n_left_out: usize,
}

/// What says who drew an outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Drawn {
    /// Nothing.
    #[default]
    BySomebody,
    /// The name of the folder the file lies in.
    ByFolder,
}

/// Turns the text of a `mask` shape, a PNG in base 64, into its pixels; `Err` says what is wrong.
pub type DecodeMask<'a> = &'a dyn Fn(&str) -> Result<Mask, String>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    shapes: Vec<Shape>,
    image_path: String,
    image_height: Option<u32>,
    image_width: Option<u32>,
}

#[derive(Deserialize)]
struct Shape {
    label: String,
    points: Vec<(f64, f64)>,
    /// Files of the first versions have none: their shapes are polygons.
    shape_type: Option<String>,
    #[serde(default)]
    mask: Option<String>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

/// Reads LabelMe files; a folder stands for all `.json` files below it, sorted by path.
pub fn read(paths: &[PathBuf], drawn: Drawn, decode: DecodeMask<'_>) -> Result<LabelMe, FileError> {
    let mut labelme = LabelMe::default();
    for path in json_files(paths)? {
        let text = document::read_text(&path, "a LabelMe file")?;
        let participant = match drawn {
            Drawn::BySomebody => None,
            Drawn::ByFolder => Some(folder_name(&path)?),
        };
        let of_file = parse(&path, &text, participant.as_ref(), decode)?;
        labelme.annotations.extend(of_file.annotations);
        labelme.n_left_out += of_file.n_left_out;
    }
    Ok(labelme)
}

/// Parses the text of one LabelMe file; `path` is only for errors.
pub fn parse(
    path: &Path,
    text: &str,
    participant: Option<&ParticipantId>,
    decode: DecodeMask<'_>,
) -> Result<LabelMe, FileError> {
    let document: Document = document::parse_json(path, text)?;
    let name = document.image_path.rsplit(['/', '\\']).next().unwrap_or_default();
    let bad = |key: &str, expected: &str, found: &str, hint: &str| {
        let hint = Some(hint.into());
        let problem = Problem::BadValue { expected: expected.into(), found: found.into(), hint };
        FileError::new(path, problem).in_column(key)
    };
    if name.is_empty() {
        return Err(bad("imagePath", "the name of a picture", "", "save it again in LabelMe"));
    }
    let size = document.image_height.zip(document.image_width);
    let Some((height, width)) = size else {
        let hint = "save the file again in LabelMe 3 or newer, which writes the size";
        return Err(bad("imageHeight", "the picture's height and width in pixels", "", hint));
    };
    let mut labelme = LabelMe::default();
    for (idx, shape) in document.shapes.into_iter().enumerate() {
        let place = format!("shapes[{idx}]");
        check_role(path, &place, &shape.extra)?;
        let mask = mask_of(&shape, height, width, decode)
            .map_err(|problem| FileError::new(path, problem).in_column(&place))?;
        let Some(mask) = mask else {
            labelme.n_left_out += 1;
            continue;
        };
        labelme.annotations.push(Annotation {
            stimulus: StimulusId::new(name),
            participant: participant.cloned(),
            label: Label::new(&shape.label),
            mask,
            extra: shape.extra.into_iter().filter(|(_, value)| !says_nothing(value)).collect(),
        });
    }
    Ok(labelme)
}

/// Returns the pixels of a shape; `None` for points and lines.
fn mask_of(
    shape: &Shape,
    height: u32,
    width: u32,
    decode: DecodeMask<'_>,
) -> Result<Option<Mask>, Problem> {
    let kind = shape.shape_type.as_deref().unwrap_or("polygon");
    let wrong_points = |expected: &str| Problem::BadValue {
        expected: format!("a {kind} of {expected}"),
        found: format!("{} points", shape.points.len()),
        hint: Some("draw the shape again, or delete it".into()),
    };
    let mask = match (kind, shape.points.as_slice()) {
        ("polygon", points) => {
            let flat = points.iter().flat_map(|(x, y)| [*x, *y]).collect();
            Mask::from_polygons(height, width, &[flat]).map_err(|error| match error {
                MaskError::BadPolygon { .. } => wrong_points("three or more points"),
                error => Problem::BadMask(error),
            })
        }
        ("rectangle", points @ ([_, _] | [_, _, _, _])) => {
            let corners = rectangle(points);
            Mask::from_polygons(height, width, &[corners]).map_err(Problem::BadMask)
        }
        ("rectangle", _) => Err(wrong_points("two corners")),
        ("circle", [centre, edge]) => {
            let radius = (edge.0 - centre.0).hypot(edge.1 - centre.1);
            Mask::from_circle(height, width, *centre, radius).map_err(Problem::BadMask)
        }
        ("circle", _) => Err(wrong_points("a centre and a point on the edge")),
        ("mask", [corner, ..]) => {
            let text = shape.mask.as_deref().unwrap_or_default();
            let patch = decode(text).map_err(|found| Problem::BadValue {
                expected: "a PNG picture in base 64 under `mask`".into(),
                found,
                hint: Some("save the file again in LabelMe".into()),
            })?;
            #[expect(clippy::cast_possible_truncation, reason = "a cast saturates; cut off below")]
            let corner = (corner.0.round() as i64, corner.1.round() as i64);
            let is_near = |at: i64| at.abs() <= i64::from(Mask::MAX_SIDE);
            if !(is_near(corner.0) && is_near(corner.1)) {
                return Err(wrong_points("a corner inside the picture"));
            }
            Mask::from_patch(height, width, corner, &patch).map_err(Problem::BadMask)
        }
        ("mask", []) => Err(wrong_points("two corners")),
        ("point" | "points" | "line" | "linestrip", _) => return Ok(None),
        (unknown, _) => Err(Problem::BadValue {
            expected: "a polygon, rectangle, circle or mask".into(),
            found: unknown.into(),
            hint: Some("turn the shape into a polygon, or delete it".into()),
        }),
    };
    mask.map(Some)
}

/// Returns the corners of a rectangle given by two opposite corners, or by all four.
fn rectangle(points: &[(f64, f64)]) -> Vec<f64> {
    match points {
        [(x0, y0), (x1, y1)] => vec![*x0, *y0, *x1, *y0, *x1, *y1, *x0, *y1],
        corners => corners.iter().flat_map(|(x, y)| [*x, *y]).collect(),
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn folder_name(path: &Path) -> Result<ParticipantId, FileError> {
    let name = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    name.map(ParticipantId::new).ok_or_else(|| {
        let problem = Problem::BadValue {
            expected: "in a folder named after who drew it".into(),
            found: path.display().to_string(),
            hint: Some("put the files of each participant into a folder of their own".into()),
        };
        FileError::new(path, problem)
    })
}

/// Returns the files named, and those in the folders named.
fn json_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, FileError> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let n_before = files.len();
        let mut folders = vec![path.clone()];
        while let Some(folder) = folders.pop() {
            let cannot_read = |cause| FileError::cannot_read(&folder, cause);
            for entry in std::fs::read_dir(&folder).map_err(cannot_read)? {
                let entry = entry.map_err(cannot_read)?;
                let kind = entry.file_type().map_err(cannot_read)?;
                let path = entry.path();
                if kind.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "json") {
                    files.push(path);
                }
            }
        }
        if files.len() == n_before {
            let problem = Problem::BadValue {
                expected: "a folder of LabelMe files".into(),
                found: "no file ending in .json".into(),
                hint: Some("name the folder LabelMe saved its files in".into()),
            };
            return Err(FileError::new(path, problem));
        }
        files[n_before..].sort();
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"{
      "version": "5.4.1", "flags": {},
      "shapes": [
        {"label": "mug", "points": [[1, 1], [3, 1], [3, 3], [1, 3]], "group_id": 7,
         "description": "", "shape_type": "polygon", "flags": {}, "mask": null},
        {"label": "cup", "points": [[3, 3], [1, 1]], "shape_type": "rectangle"},
        {"label": "ball", "points": [[2, 2], [4, 2]], "shape_type": "circle"},
        {"label": "dot", "points": [[2, 2]], "shape_type": "point"},
        {"label": "leaf", "points": [[2, 2], [3, 3]], "shape_type": "mask", "mask": "PNG"}
      ],
      "imagePath": "..\\pictures\\a.jpg", "imageData": null, "imageHeight": 4, "imageWidth": 5
    }"#;

    fn decode(text: &str) -> Result<Mask, String> {
        if text != "PNG" {
            return Err("nonsense".into());
        }
        Ok(Mask::from_counts(2, 2, &[1, 3]).unwrap())
    }

    fn parsed(text: &str) -> Result<LabelMe, FileError> {
        parse(Path::new("a.json"), text, None, &decode)
    }

    #[test]
    fn every_shape_with_an_inside_becomes_a_mask() {
        let labelme = parsed(SMALL).unwrap();
        let found: Vec<_> =
            labelme.annotations.iter().map(|a| (a.label.as_str(), a.mask.area())).collect();
        assert_eq!(found, [("mug", 4), ("cup", 4), ("ball", 12), ("leaf", 3)]);
        assert_eq!(labelme.n_left_out, 1);
        let first = &labelme.annotations[0];
        assert_eq!((first.stimulus.as_str(), first.mask.width()), ("a.jpg", 5));
        // What says something is kept; empty texts, empty lists and nulls say nothing.
        assert_eq!(first.extra.keys().collect::<Vec<_>>(), ["group_id"]);
    }

    #[test]
    fn the_folder_may_say_who_drew() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["bo", "ann"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join("a.json"), SMALL).unwrap();
        }
        let labelme = read(&[folder.path().to_owned()], Drawn::ByFolder, &decode).unwrap();
        let by: Vec<_> = labelme.annotations.iter().map(|a| a.participant.clone()).collect();
        assert_eq!((by.len(), &by[0], &by[7]), (8, &Some("ann".into()), &Some("bo".into())));
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let error_of = |from: &str, to: &str| {
            let error = parsed(&SMALL.replacen(from, to, 1)).unwrap_err();
            format!("{error} [{}]", error.hint().unwrap_or_default())
        };
        insta::assert_snapshot!(
            error_of("[1, 1], [3, 1], [3, 3], [1, 3]", "[1, 1]"),
            @"a.json: `shapes[0]` should be a polygon of three or more points, found `1 points` [draw the shape again, or delete it]"
        );
        insta::assert_snapshot!(
            error_of("\"rectangle\"", "\"oval\""),
            @"a.json: `shapes[1]` should be a polygon, rectangle, circle or mask, found `oval` [turn the shape into a polygon, or delete it]"
        );
        insta::assert_snapshot!(
            error_of("\"imageHeight\": 4", "\"imageHeight\": null"),
            @"a.json: `imageHeight` should be the picture's height and width in pixels, found nothing [save the file again in LabelMe 3 or newer, which writes the size]"
        );
        insta::assert_snapshot!(
            error_of("\"PNG\"", "\"GIF\""),
            @"a.json: `shapes[4]` should be a PNG picture in base 64 under `mask`, found `nonsense` [save the file again in LabelMe]"
        );
        insta::assert_snapshot!(
            error_of("\"imageHeight\": 4", "\"imageHeight\": 0"),
            @"a.json: `shapes[0]` a mask should be from 1 to 32768 pixels wide and high, found 5 × 0 [give the size of the picture in pixels, height first]"
        );
        insta::assert_snapshot!(error_of("\"shapes\"", "\"shape\""), @"a.json:12: missing field `shapes` []");
    }
}
