//! The HTML report: one file that opens offline and loads nothing.
//!
//! Each section is a file in `html/`; [`sections`] lists them in order. Style and script are in
//! `assets/` and are written into the page, with a content security policy that forbids loading
//! anything at all. Without JavaScript everything can be read; with it, tables sort and filter,
//! charts show tips and can be downloaded, and the theme can be chosen.

mod caveats;
mod distribution;
mod exclusions;
mod exposure;
mod figure;
mod gallery;
mod groups;
mod methods;
mod overview;
mod participants;
mod section;
mod sheet;
mod stimuli;

use mohs_data::StimulusId;
use mohs_score::human::viewing_time::ViewingTime;

use crate::chart::paint;
use crate::escape::esc;
use crate::{Pictures, Summary};
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
    let sections = sections(summary, pictures);
    let n_bands = summary.viewing_time.as_ref().map_or(0, |found| found.bands.len());
    let title = esc(&summary.title);
    let nav: String = sections.iter().map(Section::nav_item).collect();
    let main: String = sections.iter().map(Section::html).collect();
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

/// Returns the stimuli the gallery of [`render_html`] shows, from easiest to hardest, so that only
/// their thumbnails need to be made.
pub fn stimuli_for_gallery(summary: &Summary) -> Vec<StimulusId> {
    let chosen = summary.viewing_time.as_ref().map(gallery::chosen).unwrap_or_default();
    let stimuli = chosen.into_iter().flat_map(|(_, stimuli)| stimuli);
    stimuli.map(|finding| finding.stimulus.clone()).collect()
}

/// Returns the sections in the order they are read.
fn sections(summary: &Summary, pictures: &Pictures) -> Vec<Section> {
    let Some(found) = &summary.viewing_time else { return vec![overview::empty(summary)] };
    let sections: [Option<Section>; 13] = [
        Some(overview::section(summary, found)),
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
    sections.into_iter().flatten().collect()
}

/// Returns the words for the intervals of a report: `95 % intervals`.
fn intervals(found: &ViewingTime) -> String {
    format!("{} % intervals", crate::number::fixed(found.method.confidence * 100.0, 0))
}
