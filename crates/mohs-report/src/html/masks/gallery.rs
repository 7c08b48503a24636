//! The objects people agree on least and most, with every outline drawn over the picture.

use mohs_score::human::object_masks::{Example, ObjectMasks};

use super::cell;
use crate::Pictures;
use crate::chart::{outline, paint};
use crate::escape::esc;
use crate::html::section::Section;
use crate::html::sheet::{self, Cell};
use crate::number::{Unit, counted};

/// Returns the gallery, or `None` without objects that several people drew.
pub(super) fn section(found: &ObjectMasks, pictures: &Pictures) -> Option<Section> {
    let n = found.examples.len();
    if n == 0 {
        return None;
    }
    let (least, most) = found.examples.split_at(n.div_ceil(2));
    let group = |title: &str, examples: &[Example]| {
        if examples.is_empty() {
            return String::new();
        }
        let cards: String = examples
            .iter()
            .map(|example| card(example, pictures, found.method.confidence))
            .collect();
        format!(
            "<div class=\"band outlined\"><h3>{title}</h3><ul class=\"cards\">{cards}</ul></div>\n"
        )
    };
    let body = format!(
        "<p class=\"lede\">Thin lines are what people drew, one colour each; the broad pale line is \
         the vote. Least alike first.</p>\n{}{}",
        group("Least alike", least),
        group("Most alike", most)
    );
    let title = "Drawings to look at".into();
    Some(Section { id: "masks-gallery", nav: "Drawings", title, body })
}

fn card(example: &Example, pictures: &Pictures, confidence: f64) -> String {
    let (id, name) = (esc(example.stimulus.as_str()), esc(example.label.as_str()));
    let (width, height) = (example.vote.width(), example.vote.height());
    let picture = pictures.of(&example.stimulus).map_or(String::new(), |thumbnail| {
        format!(
            "<img src=\"{}\" width=\"{}\" height=\"{}\" alt=\"{name}, stimulus {id}\" \
             decoding=\"async\">",
            esc(&thumbnail.data_uri()),
            thumbnail.width,
            thumbnail.height
        )
    });
    let drawings: String = example
        .drawings
        .iter()
        .enumerate()
        .map(|(idx, mask)| {
            let (paint, path) = (paint::set(idx), outline::path(mask));
            format!("<path class=\"drawn\" style=\"--paint:{paint}\" d=\"{path}\"/>")
        })
        .collect();
    let agreement = match cell(Some(example.agreement), confidence, "") {
        Cell::Estimate(estimate) => sheet::value_and_interval(Unit::Share, &estimate),
        _ => format!(
            "<span class=\"est\"><b>{}</b> <span class=\"ci\">no interval</span></span>",
            Unit::Share.value(example.agreement.value)
        ),
    };
    format!(
        "<li><span class=\"picture\">{picture}<svg viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"outlines of {name} on {id}\">\
         <path class=\"voted\" d=\"{vote}\"/>{drawings}</svg></span>\
         <b title=\"{name}\">{name}</b><code title=\"{id}\"><bdi>{id}</bdi></code>\
         <span><i>overlap</i> {agreement}</span><span class=\"n\">n = {n}</span></li>\n",
        vote = outline::path(&example.vote),
        n = counted(example.agreement.n, "person", "people"),
    )
}
