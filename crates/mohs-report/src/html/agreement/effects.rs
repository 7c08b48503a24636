//! Participant and stimulus effects: how much each of the two matters.

use mohs_score::human::agreement::{Agreement, DatasetAgreement, MixedLogistic};

use super::super::figure::Figure;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::intervals;
use crate::chart::Canvas;
use crate::chart::dots::{self, Dot, DotPanel, DotRow};
use crate::chart::paint;
use crate::number::{Unit, count, counted};

/// Rows drawn; more are under the numbers.
const MOST_ROWS: usize = 60;

/// Spreads by data set; `None` when none could be told.
pub(super) fn section(found: &Agreement) -> Option<Section> {
    let sets: Vec<(&DatasetAgreement, &MixedLogistic)> =
        found.datasets.iter().filter_map(|set| Some((set, set.effects.as_ref()?))).collect();
    if sets.is_empty() {
        return None;
    }
    let mut sheet = Sheet::new(vec![
        Column::text("Data set", "dataset"),
        Column::estimate("Spread of stimuli", "stimulus_sd", Unit::Plain),
        Column::estimate("Spread of participants", "participant_sd", Unit::Plain),
    ]);
    let mut rows = Vec::new();
    for (set, effects) in &sets {
        let (stimuli, people) = (effects.stimulus_sd, effects.participant_sd);
        sheet.push(vec![
            Cell::Text(set.name.clone()),
            Cell::Estimate(stimuli),
            Cell::Estimate(people),
        ]);
        let tip = |what: &str, estimate, n: String| {
            format!("{}\n{what} {}\nn = {n}", set.name, Unit::Plain.estimate(&estimate))
        };
        rows.push(DotRow {
            name: set.name.clone(),
            note: format!("{} · {}", count(stimuli.n), count(people.n)),
            dots: vec![
                Dot {
                    estimate: stimuli,
                    tip: tip("stimuli", stimuli, counted(stimuli.n, "stimulus", "stimuli")),
                },
                Dot {
                    estimate: people,
                    tip: tip(
                        "participants",
                        people,
                        counted(people.n, "participant", "participants"),
                    ),
                },
            ],
            is_apart: false,
        });
    }
    rows.truncate(MOST_ROWS);
    let panel = |title: &str, paint: &str| DotPanel {
        title: title.into(),
        unit: Unit::Plain,
        paint: paint.into(),
    };
    let panels = [
        panel("Stimuli, log-odds", paint::ACCENT),
        panel("Participants, log-odds", "var(--accent-2)"),
    ];
    let figure = Figure {
        id: "agreement-spreads",
        title: "How much stimuli and participants differ",
        caption: format!(
            "Standard deviations of stimulus and participant effects on the log-odds of a right \
             answer, conditions taken off: at 1, a stimulus one deviation harder takes a right \
             answer from 50&#160;% to 27&#160;%. Lines are {}, by profile likelihood; the numbers \
             on the right are n&#160;=&#160;stimuli · participants. The axes differ.",
            intervals(found)
        ),
        sheet,
    };
    let chart = figure.html(|canvas| match canvas {
        Canvas::Wide => dots::rows(canvas, &rows, &panels, None, figure.title),
        Canvas::Narrow => (0..panels.len())
            .map(|idx| dots::rows(canvas, &rows, &panels, Some(idx), figure.title))
            .collect(),
    });
    let title = "Participants and stimuli".into();
    Some(Section { id: "agreement-effects", nav: "Effects", title, body: chart })
}
