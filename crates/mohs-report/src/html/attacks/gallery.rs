//! Pictures before and after an attack, with what was changed.

use mohs_score::model::robustness::AttackFindings;

use super::super::section::Section;
use crate::escape::esc;
use crate::number::{Unit, round_number};
use crate::{AttackedPicture, Pictures, Thumbnail};

/// Returns the gallery, or `None` without pictures.
pub(super) fn section(_found: &AttackFindings, pictures: &Pictures) -> Option<Section> {
    if pictures.attacked().is_empty() {
        return None;
    }
    let cards: String = pictures.attacked().iter().map(card).collect();
    let body = format!(
        "<p class=\"lede\">Pictures as the model sees them, rounded to 8 bits. The change in the middle is magnified to \
         be seen, by the factor below it, and grey where nothing was changed; easiest stimuli \
         first.</p>\n<ul class=\"attacked\">{cards}</ul>\n"
    );
    let title = "What fools the model".into();
    Some(Section { id: "attacks-gallery", nav: "Pictures", title, body })
}

fn card(picture: &AttackedPicture) -> String {
    let id = esc(picture.stimulus.as_str());
    let three = [
        (&picture.before, format!("<b>{}</b>", esc(&picture.clean)), "before the attack"),
        (&picture.change, change(picture.factor), "the change"),
        (&picture.after, format!("<b>{}</b>", esc(&picture.answer)), "after the attack"),
    ];
    let figures: String = three
        .iter()
        .map(|(thumbnail, caption, what)| {
            format!(
                "<figure><span class=\"picture\">{}</span><figcaption>{caption}</figcaption></figure>",
                image(thumbnail, &format!("{id}, {what}"))
            )
        })
        .collect();
    let band = picture.band.as_ref().map_or(String::new(), |band| format!(" · {}", esc(band)));
    format!(
        "<li><div class=\"three\">{figures}</div>{} · {} · ε {} ({}){band}<br>\
         <code>{id}</code>, labelled {}</li>\n",
        esc(&picture.model),
        esc(&picture.attack),
        Unit::Epsilon.value(picture.epsilon),
        esc(&picture.norm),
        esc(&picture.label)
    )
}

/// A change below half a step of eight bits is gone once the picture is a file.
fn change(factor: f64) -> String {
    match 0.0 < factor {
        true => format!("change × {}", round_number(factor)),
        false => "too small for 8 bits".into(),
    }
}

/// `alt` is escaped already.
fn image(thumbnail: &Thumbnail, alt: &str) -> String {
    format!(
        "<img src=\"{}\" width=\"{}\" height=\"{}\" alt=\"{alt}\" decoding=\"async\">",
        esc(&thumbnail.data_uri()),
        thumbnail.width,
        thumbnail.height
    )
}
