//! Label disagreement as text: bands, labels and the hardest stimuli.

use mohs_score::human::label_disagreement::LabelDisagreement;

use super::{caveats, one_line, paragraph, section};
use crate::TextTable;
use crate::headline::label_disagreement as headline;
use crate::number::{Unit, count, fixed};
use crate::width::shorten;

/// Hardest stimuli shown; all of them are in the files.
const MOST_ROWS: usize = 10;

pub(super) fn chapter(found: &LabelDisagreement) -> String {
    let mut text = paragraph(&headline::answer(found));
    text += &paragraph(&format!(
        "{}. Difficulty is the share of people who give another label. Brackets are {} % intervals: \
         Wilson's for a stimulus, a bootstrap over stimuli for means. Who gave which label is not \
         known, so no interval speaks for other people.",
        headline::basis(found),
        fixed(found.method.confidence * 100.0, 0)
    ));
    let mut bands = TextTable::new(["agreement", "stimuli", "share"]).indented(2);
    for band in &found.bands {
        let share = band.share.as_ref().map_or("–".into(), |share| Unit::Share.estimate(share));
        bands.push([one_line(&band.name), count(band.n_stimuli), share]);
    }
    text += &section("Bands, from much agreement to little", &bands);
    let headers = ["label", "stimuli", "disagreement", "usually taken for"];
    let mut labels = TextTable::new(headers).indented(2);
    for label in &found.labels {
        labels.push([
            shorten(&one_line(label.label.as_str()), 24),
            count(label.n_stimuli),
            Unit::Share.estimate(&label.disagreement),
            label.usual_mistake.as_ref().map_or("–".into(), |(mistake, n)| {
                format!("{} ({})", shorten(&one_line(mistake.as_str()), 20), count(*n))
            }),
        ]);
    }
    text += &section("Labels, from least disagreement to most", &labels);
    let headers = ["stimulus", "label", "people", "disagreement", "most say"];
    let mut stimuli = TextTable::new(headers).indented(2);
    for stimulus in found.stimuli.iter().rev().take(MOST_ROWS) {
        stimuli.push([
            shorten(&one_line(stimulus.stimulus.as_str()), 24),
            shorten(&one_line(stimulus.label.as_str()), 16),
            count(stimulus.n_people),
            Unit::Share.estimate(&stimulus.disagreement),
            shorten(&one_line(stimulus.usual.as_str()), 16),
        ]);
    }
    text += &section("Hardest stimuli", &stimuli);
    text + &caveats(&found.caveats)
}
