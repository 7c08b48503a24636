//! The table of stimuli: all of them, sorted, filtered and turned page by page in the browser.
//!
//! Thousands of table rows would make the page slow, so all rows travel as compact JSON and the
//! script draws one page. The first page is also written as plain HTML, for readers without
//! JavaScript; `report.js` draws the same cells.

use mohs_data::Estimate;
use mohs_score::human::viewing_time::{StimulusFinding, ViewingTime};
use serde_json::{Value, json};

use super::caveats::{self, Part};
use super::section::Section;
use super::sheet;
use crate::escape::{esc, json_in_script};
use crate::number::{Unit, count, counted};

/// Rows of the page written as HTML, and of a page in the script.
const PAGE: usize = 25;

/// Returns the table, or `None` without stimuli.
pub(super) fn section(found: &ViewingTime) -> Option<Section> {
    if found.stimuli.is_empty() {
        return None;
    }
    let lists = Lists::of(found);
    let rows: String = found.stimuli.iter().rev().take(PAGE).map(html_row).collect();
    let all = counted(found.stimuli.len(), "stimulus", "stimuli");
    let all_first = match found.stimuli.len() {
        1 => "The one stimulus".into(),
        _ => format!("All {all}, hardest first"),
    };
    let pager = match found.stimuli.len() {
        n if n <= PAGE => all,
        _ => format!("{PAGE} of {all}, the hardest. The others need JavaScript."),
    };
    let body = format!(
        "<p class=\"lede\">{all_first}. The small bars are right answers by exposure, \
         shortest on the left ({exposures}); <i>n</i> is trials. Choose a heading to sort.</p>\n{notes}\
         <div class=\"table-tools\" id=\"stimuli-tools\" hidden>\
         <label>Search <input type=\"search\" id=\"stimuli-search\" placeholder=\"id or class\"></label>\
         {sets}{levels}{bands}{codes}\
         <button type=\"button\" id=\"stimuli-csv\">CSV</button></div>\n\
         <div class=\"scroll\" tabindex=\"0\"><table id=\"stimuli-table\" class=\"stimuli stack\">\
         <caption class=\"hidden\">Stimuli</caption>\
         <thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table></div>\n\
         <p class=\"pager\" id=\"stimuli-pager\">{pager}</p>\n\
         <script type=\"application/json\" id=\"stimuli-data\">{json}</script>\n",
        exposures = esc(&lists.exposures.join(", ")),
        notes = caveats::notes(found, Part::Stimuli),
        sets = choice("stimuli-dataset", "Data set", &lists.datasets),
        levels = choice("stimuli-level", "Attribute", &lists.levels),
        bands = choice("stimuli-band", "Needs", &lists.bands),
        codes = choice("stimuli-caveat", "Caveat", &lists.codes),
        heads = heads(),
        json = json_in_script(&lists.data(found)),
    );
    Some(Section { id: "stimuli", nav: "Stimuli", title: "All stimuli".into(), body })
}

/// Names that rows refer to by position.
struct Lists {
    exposures: Vec<String>,
    bands: Vec<String>,
    datasets: Vec<String>,
    levels: Vec<String>,
    codes: Vec<String>,
}

impl Lists {
    fn of(found: &ViewingTime) -> Self {
        let mut datasets: Vec<String> =
            found.stimuli.iter().filter_map(|finding| finding.dataset.clone()).collect();
        datasets.sort_unstable();
        datasets.dedup();
        let mut levels: Vec<String> = found.stimuli.iter().filter_map(level).collect();
        levels.sort_unstable();
        levels.dedup();
        let mut codes: Vec<String> =
            found.stimuli.iter().flat_map(|finding| finding.caveats.iter().cloned()).collect();
        codes.sort_unstable();
        codes.dedup();
        Self {
            exposures: found.exposures.iter().map(ToString::to_string).collect(),
            bands: found.bands.iter().map(|finding| finding.band.name()).collect(),
            datasets,
            levels,
            codes,
        }
    }

    fn data(&self, found: &ViewingTime) -> Value {
        let rows: Vec<Value> =
            found.stimuli.iter().map(|finding| self.row(found, finding)).collect();
        json!({
            "page": PAGE,
            "exposures": self.exposures,
            "longest_ms": found.exposures.last().map(|longest| longest.value()),
            "bands": self.bands,
            "datasets": self.datasets,
            "levels": self.levels,
            "codes": self.codes,
            "rows": rows,
        })
    }

    /// The order of cells is that of `report.js`.
    fn row(&self, found: &ViewingTime, finding: &StimulusFinding) -> Value {
        let place = |list: &[String], name: &str| list.iter().position(|other| other == name);
        let counts: Vec<usize> = found
            .exposures
            .iter()
            .flat_map(|exposure| {
                let at = finding.counts.iter().find(|count| count.exposure == *exposure);
                at.map_or([0, 0], |count| [count.n_correct, count.n_trials])
            })
            .collect();
        let codes: Vec<Option<usize>> =
            finding.caveats.iter().map(|code| place(&self.codes, code)).collect();
        json!([
            finding.stimulus.as_str(),
            finding.label.as_ref().map(|label| label.as_str()),
            finding.dataset.as_deref().and_then(|name| place(&self.datasets, name)),
            level(finding).and_then(|name| place(&self.levels, &name)),
            finding.band.idx,
            finding.model_band.idx,
            rounded(&finding.threshold_ms, 100.0),
            rounded(&finding.difficulty, 1e5),
            finding.difficulty.n,
            finding.n_errors,
            counts,
            codes,
        ])
    }
}

fn rounded(estimate: &Estimate, steps: f64) -> [f64; 3] {
    [estimate.value, estimate.low, estimate.high].map(|number| (number * steps).round() / steps)
}

fn level(finding: &StimulusFinding) -> Option<String> {
    match (&finding.attribute, &finding.level) {
        (Some(attribute), Some(level)) => Some(format!("{attribute} · {level}")),
        (one, other) => one.clone().or_else(|| other.clone()),
    }
}

fn choice(id: &str, title: &str, names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let options: String = names
        .iter()
        .enumerate()
        .map(|(idx, name)| format!("<option value=\"{idx}\">{}</option>", esc(name)))
        .collect();
    format!(
        "<label>{title} <select id=\"{id}\"><option value=\"\">all</option>{options}</select></label>"
    )
}

/// Key in the script, title and class of each column. The title stands above the column, and on a
/// phone before each number.
const HEADS: [(&str, &str, &str); 7] = [
    ("stimulus", "Stimulus", ""),
    ("label", "Class", ""),
    ("band", "Needs", " class=\"num\""),
    ("difficulty", "Wrong answers", " class=\"num\""),
    ("threshold", "Threshold", " class=\"num\""),
    ("trials", "n", " class=\"num\""),
    ("", "By exposure", ""),
];

fn heads() -> String {
    let head =
        |(key, title, class)| format!("<th scope=\"col\" data-key=\"{key}\"{class}>{title}</th>");
    HEADS.into_iter().map(head).collect()
}

fn html_row(finding: &StimulusFinding) -> String {
    let id = esc(finding.stimulus.as_str());
    let label = esc(finding.label.as_ref().map_or("–", |label| label.as_str()));
    let about: Vec<String> = finding.dataset.clone().into_iter().chain(level(finding)).collect();
    let about = esc(&about.join(", "));
    let numbers = [
        esc(&finding.band.name()),
        sheet::value_and_interval(Unit::Share, &finding.difficulty),
        sheet::threshold(finding),
        count(finding.difficulty.n),
        spark(finding),
    ];
    let numbers: String = numbers
        .iter()
        .zip(&HEADS[2..])
        .map(|(html, (_, title, class))| format!("<td{class} data-head=\"{title}\">{html}</td>"))
        .collect();
    format!(
        "<tr><th scope=\"row\"><code title=\"{id}\"><bdi>{id}</bdi></code></th>\
         <td class=\"about\"><span title=\"{label}\">{label}</span>\
         <small title=\"{about}\">{about}</small><small class=\"codes\">{}</small></td>\
         {numbers}</tr>\n",
        esc(&finding.caveats.join(", ")),
    )
}

/// Returns right answers by exposure as text, which is all that is left without the script.
fn spark(finding: &StimulusFinding) -> String {
    let counts = finding.counts.iter().map(|at| format!("{}/{}", at.n_correct, at.n_trials));
    format!("<small>{}</small>", counts.collect::<Vec<_>>().join(" "))
}
