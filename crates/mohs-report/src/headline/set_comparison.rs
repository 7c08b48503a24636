//! Is one set harder than the other? In plain sentences.

use mohs_data::Estimate;
use mohs_score::human::set_comparison::SetComparison;

use crate::number::Unit;

/// Returns how numbers of the measure are shown: difficulty by viewing time is a share.
pub(crate) fn unit(found: &SetComparison) -> Unit {
    if found.measure == "viewing-time" { Unit::Share } else { Unit::Plain }
}

/// Returns a difference in the unit of the measure, with its sign.
pub(crate) fn difference(unit: Unit, estimate: &Estimate) -> String {
    let sign = if 0.0 < estimate.value { "+" } else { "" };
    let text = unit.estimate(estimate).replacen(" %", " points", 1);
    format!("{sign}{text}")
}

/// Returns the answer to "is A harder than B?", two sentences.
pub(crate) fn answer(found: &SetComparison) -> String {
    let (a, b) = (&found.a.name, &found.b.name);
    let unit = unit(found);
    let by = difference(unit, &found.difference_of_means);
    let verdict = match found.is_a_harder() {
        Some(true) => format!("{a} is harder than {b}: the mean difficulty differs by {by}."),
        Some(false) => format!("{a} is easier than {b}: the mean difficulty differs by {by}."),
        None => format!(
            "No clear difference between {a} and {b}: the mean difficulty differs by {by}, and the \
             interval holds zero."
        ),
    };
    format!(
        "{verdict} A stimulus drawn from {a} is harder than one from {b} {} of the time.",
        Unit::Share.estimate(&found.p_a_harder)
    )
}

/// Returns what the tests say, in words that claim no more.
pub(crate) fn tests(found: &SetComparison) -> [(&'static str, String, String); 2] {
    let exact = |is_exact: bool| if is_exact { "exact" } else { "large samples" };
    let row = |name, letter: &str, test: &mohs_score::human::set_comparison::TwoSampleTest| {
        (
            name,
            format!("{letter} = {}", crate::number::round_number(test.statistic)),
            format!("{} ({})", crate::number::p_value(test.p_value), exact(test.is_exact)),
        )
    };
    [
        row("Kolmogorov–Smirnov: any difference", "D", &found.kolmogorov_smirnov),
        row("Mann–Whitney: a shift", "U", &found.mann_whitney),
    ]
}
