//! The gallery: stimuli from easiest to hardest, a few per band, evenly along difficulty.

use mohs_score::human::viewing_time::{Band, StimulusFinding, ViewingTime};

use super::section::Section;
use super::sheet;
use crate::Pictures;
use crate::escape::esc;
use crate::number::{Unit, counted};

/// Stimuli shown of one band.
const PER_BAND: usize = 6;

/// Returns the stimuli shown, by band, each from easiest to hardest; bands without stimuli are
/// left out.
pub(super) fn chosen(found: &ViewingTime) -> Vec<(Band, Vec<&StimulusFinding>)> {
    let of_band = |band: Band| {
        let members: Vec<&StimulusFinding> =
            found.stimuli.iter().filter(|finding| finding.band.idx == band.idx).collect();
        (band, evenly(&members, PER_BAND))
    };
    let bands = found.bands.iter().map(|finding| of_band(finding.band));
    bands.filter(|(_, stimuli)| !stimuli.is_empty()).collect()
}

/// Returns `n` members at even steps, the first and the last included.
fn evenly<T: Copy>(members: &[T], n: usize) -> Vec<T> {
    match members.len() {
        len if len <= n => members.to_vec(),
        _ if n < 2 => members.iter().take(n).copied().collect(),
        len => (0..n).map(|idx| members[idx * (len - 1) / (n - 1)]).collect(),
    }
}

/// Returns the gallery, or `None` without stimuli.
pub(super) fn section(found: &ViewingTime, pictures: &Pictures) -> Option<Section> {
    let chosen = chosen(found);
    if chosen.is_empty() {
        return None;
    }
    let bands: String = chosen
        .iter()
        .map(|(band, stimuli)| {
            let n = found.bands.iter().find(|finding| finding.band.idx == band.idx);
            let n = n.map_or(0, |finding| finding.n_stimuli);
            let title = match band.mvt {
                Some(mvt) => format!("Needs {mvt}"),
                None => "Never recognised".into(),
            };
            let cards: String = stimuli.iter().map(|finding| card(finding, pictures)).collect();
            format!(
                "<div class=\"band\" style=\"--paint:var(--band-{})\"><h3>{} <small>{} of {}</small>\
                 </h3><ul class=\"cards\">{cards}</ul></div>\n",
                band.idx,
                esc(&title),
                stimuli.len(),
                counted(n, "stimulus", "stimuli"),
            )
        })
        .collect();
    let body = format!(
        "<p class=\"lede\">Up to {PER_BAND} stimuli per minimum viewing time, taken at even steps \
         along difficulty, easiest first. <i>Wrong</i> is the share of wrong answers, <i>threshold</i> the exposure a \
         typical participant needs, by the model.</p>\n{bands}"
    );
    let title = "Stimuli from easy to hard".into();
    Some(Section { id: "gallery", nav: "Gallery", title, body })
}

fn card(finding: &StimulusFinding, pictures: &Pictures) -> String {
    let id = esc(finding.stimulus.as_str());
    let label = finding.label.as_ref().map(|label| esc(label.as_str()));
    let name = label.as_deref().unwrap_or("no label");
    let picture = match pictures.of(&finding.stimulus) {
        Some(thumbnail) => format!(
            "<img src=\"{}\" width=\"{}\" height=\"{}\" alt=\"{name}, stimulus {id}\" \
             decoding=\"async\" data-stimulus=\"{id}\">",
            esc(&thumbnail.data_uri()),
            thumbnail.width,
            thumbnail.height
        ),
        None => "<span class=\"no-picture\">no picture</span>".into(),
    };
    format!(
        "<li><span class=\"picture\">{picture}</span><b title=\"{name}\">{name}</b>\
         <code title=\"{id}\"><bdi>{id}</bdi></code><span><i>wrong</i> {}</span><span><i>threshold</i> {}</span>\
         <span class=\"n\">n = {}</span></li>\n",
        sheet::value_and_interval(Unit::Share, &finding.difficulty),
        sheet::threshold(finding),
        counted(finding.difficulty.n, "trial", "trials"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_even_and_hold_both_ends() {
        let members: Vec<usize> = (0..101).collect();
        assert_eq!(evenly(&members, 6), [0, 20, 40, 60, 80, 100]);
        assert_eq!(evenly(&members[..3], 6), [0, 1, 2]);
        assert_eq!(evenly::<usize>(&[], 6), [0usize; 0]);
    }
}
