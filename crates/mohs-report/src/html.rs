//! The HTML report: one file that opens offline and loads nothing.
//!
//! Each chapter is a file in `html/`, [`chapters`] lists them in order; the sections of viewing time
//! are files of their own. Style and script are in
//! `assets/` and are written into the page, with a content security policy that forbids loading
//! anything at all. Without JavaScript everything can be read; with it, tables sort and filter,
//! charts show tips and can be downloaded, and the theme can be chosen.

mod adaptive_test;
mod agreement;
mod attacks;
mod caveats;
mod chapter;
mod distribution;
mod exclusions;
mod exposure;
mod figure;
mod gallery;
mod groups;
mod item_response;
mod label_disagreement;
mod ladder;
mod long_table;
mod masks;
mod methods;
mod models;
mod overview;
mod pairs;
mod participants;
mod quality;
mod section;
mod set_comparison;
mod sheet;
mod speed_accuracy;
mod stimuli;

use mohs_data::StimulusId;
use mohs_score::human::viewing_time::ViewingTime;

use crate::chart::paint;
use crate::escape::esc;
use crate::headline;
use crate::{Pictures, Summary};
use chapter::Chapter;
use section::Section;

const STYLE: &str = include_str!("assets/report.css");
const SCRIPT: &str = include_str!("assets/report.js");

/// Forbids every request; what is written into the page may run, show and style.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; \
                      script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Returns the report as one HTML page.
///
/// `pictures` are shown in the gallery; [`stimuli_for_gallery`] says which are used.
pub fn render_html(summary: &Summary, pictures: &Pictures) -> String {
    let chapters = chapters(summary, pictures);
    let n_bands = summary.viewing_time.as_ref().map_or(0, |found| found.bands.len());
    let title = esc(&summary.title);
    let overview = overview::section(summary, &chapters);
    // The only chapter needs no heading of its own: its answer is the report's answer.
    let (nav, main): (String, String) = match chapters.as_slice() {
        [only] => (
            only.sections.iter().map(Section::nav_item).collect(),
            only.sections.iter().map(Section::html).collect(),
        ),
        many => {
            (many.iter().map(Chapter::nav_item).collect(), many.iter().map(Chapter::html).collect())
        }
    };
    let (nav, main) = (overview.nav_item() + &nav, overview.html() + &main);
    format!(
        "<!doctype html>\n\
         <html lang=\"en\">\n\
         <head>\n\
         <meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"mohs {version}\">\n\
         <title>{title} · mohs</title>\n\
         <style>\n{theme}{STYLE}</style>\n\
         </head>\n\
         <body>\n\
         <a class=\"skip\" href=\"#answer\">Skip to the findings</a>\n\
         <header class=\"top\"><p class=\"brand\"><b>mohs</b> <span>image difficulty report</span></p>\
         <button type=\"button\" class=\"theme\" id=\"theme\" hidden>Theme: system</button></header>\n\
         <div class=\"page\">\n\
         <nav class=\"toc\" aria-label=\"Contents\"><ol>{nav}</ol></nav>\n\
         <main>\n{main}</main>\n\
         </div>\n\
         <footer><p>Made by mohs {version} with seed {seed}. This file is complete: it loads \
         nothing and can be kept, sent and printed.</p></footer>\n\
         <div id=\"tip\" role=\"status\" hidden></div>\n\
         <script>\n{SCRIPT}</script>\n\
         </body>\n\
         </html>\n",
        version = esc(&summary.mohs_version),
        theme = paint::theme_css(n_bands),
        seed = summary.seed,
    )
}

/// Returns the stimuli the galleries of [`render_html`] show, from easiest to hardest, so that only
/// their thumbnails need to be made.
pub fn stimuli_for_gallery(summary: &Summary) -> Vec<StimulusId> {
    let chosen = summary.viewing_time.as_ref().map(gallery::chosen).unwrap_or_default();
    let stimuli = chosen.into_iter().flat_map(|(_, stimuli)| stimuli);
    let mut ids: Vec<StimulusId> = stimuli.map(|finding| finding.stimulus.clone()).collect();
    let surprises = summary.models.as_ref().map(models::stimuli_shown).unwrap_or_default();
    for stimulus in surprises {
        if !ids.contains(stimulus) {
            ids.push(stimulus.clone());
        }
    }
    for example in summary.masks.iter().flat_map(|found| &found.examples) {
        if !ids.contains(&example.stimulus) {
            ids.push(example.stimulus.clone());
        }
    }
    ids
}

/// Returns the chapters there are findings for, in the order they are read.
fn chapters(summary: &Summary, pictures: &Pictures) -> Vec<Chapter> {
    let chapters = [
        summary.viewing_time.as_ref().map(|found| viewing_time(summary, found, pictures)),
        summary.speed_accuracy.as_ref().map(speed_accuracy::chapter),
        summary.pairs.as_ref().map(pairs::chapter),
        summary.item_response.as_ref().map(item_response::chapter),
        summary.label_disagreement.as_ref().map(label_disagreement::chapter),
        summary.agreement.as_ref().map(agreement::chapter),
        summary.masks.as_ref().map(|found| masks::chapter(found, pictures)),
        summary.quality.as_ref().map(quality::chapter),
        summary.set_comparison.as_ref().map(set_comparison::chapter),
        summary.models.as_ref().map(|found| models::chapter(found, pictures)),
        summary.ladder.as_ref().map(ladder::chapter),
        summary.attacks.as_ref().map(|found| attacks::chapter(found, pictures)),
        summary.adaptive_test.as_ref().map(adaptive_test::chapter),
    ];
    chapters.into_iter().flatten().collect()
}

fn viewing_time(summary: &Summary, found: &ViewingTime, pictures: &Pictures) -> Chapter {
    let sections: [Option<Section>; 12] = [
        Some(distribution::section(found)),
        Some(exposure::section(found)),
        exposure::bands_section(found),
        groups::datasets(found),
        groups::labels(found),
        groups::levels(found),
        gallery::section(found, pictures),
        stimuli::section(found),
        participants::section(found),
        Some(exclusions::section(found)),
        caveats::section(found),
        Some(methods::section(summary, found)),
    ];
    Chapter {
        id: "viewing-time",
        name: "Viewing time",
        answer: headline::answer(found),
        front: overview::viewing_time(found),
        sections: sections.into_iter().flatten().collect(),
    }
}

/// Returns the words for the intervals of a report: `95 % intervals`.
fn intervals(found: &ViewingTime) -> String {
    format!("{} % intervals", crate::number::fixed(found.method.confidence * 100.0, 0))
}
