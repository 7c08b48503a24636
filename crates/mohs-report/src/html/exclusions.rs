//! What was set aside, by rule.

use mohs_score::human::viewing_time::{ExclusionCount, ViewingTime};

use super::caveats::{self, Part};
use super::section::Section;
use crate::escape::esc;
use crate::number::{count, counted};

pub(super) fn section(found: &ViewingTime) -> Section {
    let body = format!(
        "<p class=\"lede\">{} read, {} counted. Rules are applied in this order; a trial is set \
         aside once, by the first rule that says so.</p>\n{}{}",
        counted(found.n_trials_read, "trial", "trials"),
        count(found.n_trials),
        caveats::notes(found, Part::Exclusions),
        table(&found.exclusions),
    );
    Section { id: "exclusions", nav: "Exclusions", title: "What was set aside".into(), body }
}

/// Returns the table of rules and what each took, or a sentence when there was no rule.
pub(super) fn table(exclusions: &[ExclusionCount]) -> String {
    let rows: String = exclusions
        .iter()
        .map(|rule| {
            format!(
                "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td class=\"num\">{}</td>\
                 <td class=\"num\">{}</td></tr>\n",
                esc(&rule.rule),
                esc(&rule.meaning),
                count(rule.n_participants),
                count(rule.n_trials)
            )
        })
        .collect();
    let n_aside: usize = exclusions.iter().map(|rule| rule.n_trials).sum();
    match rows.is_empty() {
        true => "<p>No rule was applied: every trial counts.</p>\n".to_owned(),
        false => format!(
            "<div class=\"scroll\" tabindex=\"0\"><table><caption class=\"hidden\">Exclusions by \
             rule</caption><thead><tr><th scope=\"col\">Rule</th><th scope=\"col\">Meaning</th>\
             <th scope=\"col\" class=\"num\">Participants</th>\
             <th scope=\"col\" class=\"num\">Trials</th></tr></thead><tbody>\n{rows}</tbody>\
             <tfoot><tr><th scope=\"row\" colspan=\"2\">Set aside in all</th><td></td>\
             <td class=\"num\">{}</td></tr></tfoot></table></div>\n",
            count(n_aside)
        ),
    }
}
