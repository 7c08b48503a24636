//! COCO files: pictures, categories, boxes and outlines in one JSON document.
//!
//! COCO annotates objects; a stimulus has one label. The category that covers most of the picture
//! (by the area of its boxes) names it, and only boxes of that category are kept. Pictures without
//! any annotation have no label: they are listed, not guessed. Crowd regions are left out of
//! labels and boxes.
//!
//! COCO knows no annotators. Where an annotation has a key `participant`, `annotator` or
//! `annotator_id`, that is who drew it, so that one picture can be outlined by several people. Keys
//! of an annotation that mean nothing here are kept with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::document;
use crate::annotation::check_role;
use crate::mask::Segmentation;
use crate::{
    Annotation, BoundingBox, Extra, FileError, Label, Mask, ParticipantId, Problem, Stimulus,
    StimulusId,
};

/// What a COCO file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Coco {
    /// Pictures with a label, in file order. The id is the file name, `image_id` is extra.
    pub stimuli: Vec<Stimulus>,
    /// Outlines, in file order.
    pub annotations: Vec<Annotation>,
    /// File names of pictures nobody annotated.
    pub without_label: Vec<String>,
    /// Outlines of crowds, which are no objects and left out.
    pub n_crowds: usize,
    /// Outlines kept that reach beyond their picture; what sticks out is cut off.
    pub n_outside: usize,
}

#[derive(Deserialize)]
struct Document {
    images: Vec<ImageEntry>,
    #[serde(default)]
    annotations: Vec<ObjectEntry>,
    #[serde(default)]
    categories: Vec<CategoryEntry>,
}

#[derive(Deserialize)]
struct ImageEntry {
    id: i64,
    file_name: String,
    height: Option<u32>,
    width: Option<u32>,
}

#[derive(Deserialize)]
struct CategoryEntry {
    id: i64,
    name: String,
}

#[derive(Deserialize)]
struct ObjectEntry {
    id: Option<i64>,
    image_id: i64,
    category_id: i64,
    bbox: Option<Vec<f64>>,
    segmentation: Option<Value>,
    #[serde(default)]
    iscrowd: u8,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

/// Keys that name who drew an outline, the first one first.
const DRAWN_BY: [&str; 3] = ["participant", "annotator", "annotator_id"];
/// A key that says again what the mask says.
const AREA: &str = "area";

/// Reads a COCO file.
pub fn read(path: &Path) -> Result<Coco, FileError> {
    parse(path, &document::read_text(path, "a COCO file")?)
}

/// Parses the text of a COCO file; `path` is only for errors.
pub fn parse(path: &Path, text: &str) -> Result<Coco, FileError> {
    let document: Document = document::parse_json(path, text)?;
    let mut image_idx_by_id = BTreeMap::new();
    for (idx, image) in document.images.iter().enumerate() {
        let key = format!("images[{idx}]");
        if image.file_name.is_empty() {
            return Err(bad(path, &format!("{key}.file_name"), "a file name", ""));
        }
        if let Some(first) = image_idx_by_id.insert(image.id, idx) {
            let found = format!("{}, as in images[{first}]", image.id);
            return Err(bad(path, &format!("{key}.id"), "an id of its own", &found));
        }
    }
    let names: BTreeMap<i64, &str> =
        document.categories.iter().map(|category| (category.id, &*category.name)).collect();

    let mut objects_by_image: Vec<Vec<&ObjectEntry>> = vec![Vec::new(); document.images.len()];
    let mut annotations = Vec::new();
    let (mut n_crowds, mut n_outside) = (0, 0);
    for (idx, object) in document.annotations.iter().enumerate() {
        let key = format!("annotations[{idx}]");
        let unknown = |what, id: i64, known_in: &str| {
            let (id, known_in) = (id.to_string(), format!("the {known_in} of this file"));
            FileError::new(path, Problem::Unknown { what, id, known_in, nearest: None })
                .in_column(&key)
        };
        let image_idx = *image_idx_by_id
            .get(&object.image_id)
            .ok_or_else(|| unknown("image", object.image_id, "images"))?;
        let name = names
            .get(&object.category_id)
            .ok_or_else(|| unknown("category", object.category_id, "categories"))?;
        objects_by_image[image_idx].push(object);
        let image = &document.images[image_idx];
        let mask = mask_of(image, object).map_err(|problem| {
            FileError::new(path, problem).in_column(&format!("{key}.segmentation"))
        })?;
        if object.iscrowd != 0 {
            n_crowds += 1;
        } else if let Some(mask) = mask {
            n_outside += usize::from(is_outside(image, object));
            check_role(path, &key, &object.extra)?;
            let mut extra = object.extra.clone();
            extra.remove(AREA);
            let participant = drawn_by(&mut extra);
            extra.insert("coco_id".into(), object.id.map_or(Value::Null, Value::from));
            annotations.push(Annotation {
                stimulus: StimulusId::new(&image.file_name),
                participant,
                label: Label::new(name),
                mask,
                extra,
            });
        }
    }

    let mut coco =
        Coco { stimuli: Vec::new(), annotations, without_label: Vec::new(), n_crowds, n_outside };
    for (image, objects) in document.images.iter().zip(&objects_by_image) {
        match label_and_boxes(objects) {
            Some((category, boxes)) => coco.stimuli.push(Stimulus {
                id: StimulusId::new(&image.file_name),
                file: PathBuf::from(&image.file_name),
                label: Label::new(names[&category]),
                dataset: None,
                boxes,
                mask: None,
                attribute: None,
                level: None,
                extra: Extra::from_pairs([("image_id", image.id.to_string())]),
            }),
            None => coco.without_label.push(image.file_name.clone()),
        }
    }
    if coco.stimuli.is_empty() {
        let problem = Problem::BadValue {
            expected: "a COCO file with annotated pictures".into(),
            found: format!("{} pictures without annotation", coco.without_label.len()),
            hint: Some("name the file of instances, not that of captions or of test images".into()),
        };
        return Err(FileError::new(path, problem));
    }
    Ok(coco)
}

fn bad(path: &Path, key: &str, expected: &str, found: &str) -> FileError {
    let problem = Problem::BadValue { expected: expected.into(), found: found.into(), hint: None };
    FileError::new(path, problem).in_column(key)
}

fn mask_of(image: &ImageEntry, object: &ObjectEntry) -> Result<Option<Mask>, Problem> {
    let unlike = |error: serde_json::Error| Problem::Syntax { message: error.to_string() };
    let mask = match &object.segmentation {
        None | Some(Value::Null) => return Ok(None),
        Some(runs @ Value::Object(_)) => {
            let mask = Mask::try_from(Segmentation::deserialize(runs).map_err(unlike)?);
            if let Ok(mask) = &mask {
                check_size(image, mask)?;
            }
            mask
        }
        Some(polygons) => {
            let polygons = Vec::<Vec<f64>>::deserialize(polygons).map_err(unlike)?;
            if polygons.is_empty() {
                return Ok(None);
            }
            let (height, width) = (image.height.unwrap_or(0), image.width.unwrap_or(0));
            Mask::from_polygons(height, width, &polygons)
        }
    };
    mask.map(Some).map_err(Problem::BadMask)
}

/// Makes sure that runs were made for this picture.
fn check_size(image: &ImageEntry, mask: &Mask) -> Result<(), Problem> {
    let (height, width) = (mask.height(), mask.width());
    let expected = (image.height.unwrap_or(height), image.width.unwrap_or(width));
    if expected == (height, width) {
        return Ok(());
    }
    Err(Problem::BadValue {
        expected: format!(
            "runs for {} × {} pixels (height × width), as `{}` has",
            expected.0, expected.1, image.file_name
        ),
        found: format!("{height} × {width}"),
        hint: Some(if expected == (width, height) {
            "`size` is height, then width; are they swapped?".into()
        } else {
            "was the picture resized? Encode the mask for the picture that people saw".into()
        }),
    })
}

/// Returns whether a polygon reaches beyond the picture by more than half a pixel.
fn is_outside(image: &ImageEntry, object: &ObjectEntry) -> bool {
    let (Some(height), Some(width)) = (image.height, image.width) else { return false };
    let Some(polygons) = object.segmentation.as_ref().and_then(Value::as_array) else {
        return false;
    };
    let coordinates =
        polygons.iter().filter_map(Value::as_array).flat_map(|p| p.iter().enumerate());
    coordinates.filter_map(|(idx, value)| Some((idx, value.as_f64()?))).any(|(idx, place)| {
        let side = if idx % 2 == 0 { width } else { height };
        !(-0.5..=f64::from(side) + 0.5).contains(&place)
    })
}

/// Takes out the key that says who drew an outline.
fn drawn_by(extra: &mut Map<String, Value>) -> Option<ParticipantId> {
    let key = DRAWN_BY.iter().find(|key| extra.contains_key(**key))?;
    match extra.remove(*key)? {
        Value::String(name) => Some(ParticipantId::new(name)),
        Value::Number(number) => Some(ParticipantId::new(number.to_string())),
        _ => None,
    }
}

/// Returns the category that covers most, and its boxes; `None` without objects.
fn label_and_boxes(objects: &[&ObjectEntry]) -> Option<(i64, Vec<BoundingBox>)> {
    let mut area_by_category: BTreeMap<i64, f64> = BTreeMap::new();
    for object in objects.iter().filter(|object| object.iscrowd == 0) {
        let area = bounding_box(object).map_or(0.0, |b| b.width * b.height);
        *area_by_category.entry(object.category_id).or_default() += area;
    }
    let mut best: Option<(i64, f64)> = None;
    for (category, area) in area_by_category {
        // Strictly more, so that the lower category id wins a tie.
        if best.is_none_or(|(_, most)| most < area) {
            best = Some((category, area));
        }
    }
    let (category, _) = best?;
    let is_kept = |object: &&&ObjectEntry| object.category_id == category && object.iscrowd == 0;
    let boxes = objects.iter().filter(is_kept).filter_map(|object| bounding_box(object));
    Some((category, boxes.collect()))
}

/// Returns the box; COCO has some without area, which outline nothing.
fn bounding_box(object: &ObjectEntry) -> Option<BoundingBox> {
    let &[x, y, width, height] = object.bbox.as_deref()? else { return None };
    let is_finite = [x, y, width, height].iter().all(|n| n.is_finite());
    (is_finite && 0.0 < width && 0.0 < height).then_some(BoundingBox { x, y, width, height })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"{
      "info": {"year": 2024},
      "images": [
        {"id": 1, "file_name": "a.jpg", "height": 4, "width": 4},
        {"id": 2, "file_name": "b.jpg", "height": 2, "width": 2},
        {"id": 3, "file_name": "empty.jpg", "height": 2, "width": 2}
      ],
      "annotations": [
        {"id": 10, "image_id": 1, "category_id": 7, "bbox": [0, 0, 1, 1],
         "segmentation": {"size": [4, 4], "counts": [0, 1, 15]}},
        {"id": 11, "image_id": 1, "category_id": 8, "bbox": [1, 1, 2, 2],
         "segmentation": [[1, 1, 3, 1, 3, 3, 1, 3]]},
        {"id": 12, "image_id": 2, "category_id": 7, "bbox": [0, 0, 2, 2]}
      ],
      "categories": [{"id": 7, "name": "spoon"}, {"id": 8, "name": "mug"}]
    }"#;

    #[test]
    fn the_largest_category_names_the_picture() {
        let coco = parse(Path::new("instances.json"), SMALL).unwrap();
        let labels: Vec<_> =
            coco.stimuli.iter().map(|s| (s.id.as_str(), s.label.as_str())).collect();
        assert_eq!(labels, [("a.jpg", "mug"), ("b.jpg", "spoon")]);
        assert_eq!(coco.stimuli[0].boxes.len(), 1);
        assert_eq!(coco.stimuli[0].extra.get("image_id"), Some("1"));
        assert_eq!(coco.without_label, ["empty.jpg"]);
    }

    #[test]
    fn runs_and_polygons_become_masks() {
        let coco = parse(Path::new("instances.json"), SMALL).unwrap();
        let areas: Vec<_> =
            coco.annotations.iter().map(|a| (a.label.as_str(), a.mask.area())).collect();
        assert_eq!(areas, [("spoon", 1), ("mug", 4)]);
    }

    #[test]
    fn who_drew_an_outline_and_what_else_is_said_of_it_are_kept() {
        let text = SMALL
            .replacen(
                "\"id\": 10,",
                "\"id\": 10, \"annotator_id\": 3, \"area\": 1, \"zoom\": 2,",
                1,
            )
            .replacen(
                "\"id\": 11,",
                "\"id\": 11, \"participant\": \"ann\", \"role\": \"check\",",
                1,
            );
        let coco = parse(Path::new("instances.json"), &text).unwrap();
        let by: Vec<_> = coco.annotations.iter().map(|a| a.participant.clone().unwrap()).collect();
        assert_eq!(by, ["3".into(), "ann".into()]);
        assert_eq!(coco.annotations[0].extra.get("zoom"), Some(&Value::from(2)));
        assert_eq!(coco.annotations[0].extra.get("area"), None);
        assert_eq!(coco.annotations[1].role(), Ok(crate::Role::Check));
    }

    #[test]
    fn crowds_are_left_out_and_what_sticks_out_is_counted() {
        let text = SMALL.replacen("\"id\": 10,", "\"id\": 10, \"iscrowd\": 1,", 1).replacen(
            "3, 3, 1, 3]",
            "9, 3, 1, 3]",
            1,
        );
        let coco = parse(Path::new("instances.json"), &text).unwrap();
        assert_eq!((coco.annotations.len(), coco.n_crowds, coco.n_outside), (1, 1, 1));
        let coco = parse(Path::new("instances.json"), SMALL).unwrap();
        assert_eq!((coco.annotations.len(), coco.n_crowds, coco.n_outside), (2, 0, 0));
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let error_of = |from: &str, to: &str| {
            let text = SMALL.replacen(from, to, 1);
            parse(Path::new("c.json"), &text).unwrap_err().to_string()
        };
        insta::assert_snapshot!(
            error_of("\"image_id\": 2", "\"image_id\": 20"),
            @"c.json: `annotations[2]` image `20` is not in the images of this file"
        );
        insta::assert_snapshot!(
            error_of("[0, 1, 15]", "[0, 1, 16]"),
            @"c.json: `annotations[0].segmentation` run lengths should add up to 16 pixels, found 17"
        );
        insta::assert_snapshot!(
            error_of("\"id\": 2, \"file_name\"", "\"id\": 1, \"file_name\""),
            @"c.json: `images[1].id` should be an id of its own, found `1, as in images[0]`"
        );
        insta::assert_snapshot!(
            error_of("\"size\": [4, 4]", "\"size\": [2, 8]"),
            @"c.json: `annotations[0].segmentation` should be runs for 4 × 4 pixels (height × width), as `a.jpg` has, found `2 × 8`"
        );
        insta::assert_snapshot!(
            error_of("\"images\"", "\"pictures\""),
            @"c.json:16: missing field `images`"
        );
    }
}
