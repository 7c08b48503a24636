//! The table of participants.

use mohs_score::human::viewing_time::ViewingTime;

use super::caveats::{self, Part};
use super::section::Section;
use super::sheet::{Cell, Column, Sheet};
use crate::number::{Unit, count, counted};

/// Rows on paper; `report.css` hides the others there.
const MOST_PRINTED: usize = 20;

/// Returns the table, or `None` without participants.
pub(super) fn section(found: &ViewingTime) -> Option<Section> {
    if found.participants.is_empty() {
        return None;
    }
    let mut sheet = Sheet::new(vec![
        Column::text("Participant", "participant"),
        Column::estimate("Right answers", "accuracy", Unit::Share),
        Column::estimate("At the longest", "accuracy_at_longest", Unit::Share),
        Column::estimate("Ability (log-odds)", "ability", Unit::Plain),
        Column::text("Median rt", "median_rt_ms"),
    ]);
    for finding in &found.participants {
        let at_longest = finding.accuracy_at_longest;
        sheet.push(vec![
            Cell::Text(finding.participant.to_string()),
            Cell::Estimate(finding.accuracy),
            at_longest.map_or(Cell::Missing("no trials there"), Cell::Estimate),
            Cell::Estimate(finding.ability),
            match finding.median_rt {
                Some(rt) => Cell::Ordered(Unit::Time.value(rt.value()), rt.value()),
                None => Cell::Missing("not recorded"),
            },
        ]);
    }
    let table = sheet.table("Participants");
    let printed = match found.participants.len().saturating_sub(MOST_PRINTED) {
        0 => String::new(),
        n => format!(
            "<p class=\"printed\">Printed are {MOST_PRINTED} rows; {} more {} in the file.</p>\n",
            count(n),
            if n == 1 { "is" } else { "are" }
        ),
    };
    let body = format!(
        "<p class=\"lede\">{} with trials that count. An ability of 0 is a typical participant; \
         above is better. <i>At the longest</i> is right answers at the longest exposure. The median rt (response \
         time) is taken over a participant’s own trials and has no interval. n&#160;=&#160;trials.</p>\n{}\
         <div class=\"tall stack first-rows\">{table}</div>\n{printed}",
        counted(found.participants.len(), "participant", "participants"),
        caveats::notes(found, Part::Participants),
    );
    let title = "Participants".into();
    Some(Section { id: "participants", nav: "Participants", title, body })
}
