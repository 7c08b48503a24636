//! Two sets compared, as text.

use mohs_score::human::set_comparison::SetComparison;

use super::{caveats, one_line, paragraph, section};
use crate::TextTable;
use crate::headline::set_comparison as headline;
use crate::number::{Unit, count, fixed};
use crate::width::shorten;

pub(super) fn chapter(found: &SetComparison) -> String {
    let unit = headline::unit(found);
    let mut text = paragraph(&one_line(&headline::answer(found)));
    text += &paragraph(&format!(
        "By the measure {}. Brackets are {} % intervals over stimuli.",
        one_line(&found.measure),
        fixed(found.confidence * 100.0, 0)
    ));
    let mut sets = TextTable::new(["set", "stimuli", "mean", "median"]).indented(2);
    for set in [&found.a, &found.b] {
        sets.push([
            shorten(&one_line(&set.name), 22),
            count(set.n_stimuli),
            unit.estimate(&set.mean),
            unit.estimate(&set.median),
        ]);
    }
    sets.push([
        "difference".into(),
        String::new(),
        headline::difference(unit, &found.difference_of_means),
        headline::difference(unit, &found.difference_of_medians),
    ]);
    text += &section("Difficulty", &sets);
    let mut tests = TextTable::new(["test", "statistic", "p-value"]).indented(2);
    for (test, statistic, p) in headline::tests(found) {
        tests.push([test.to_owned(), statistic, p]);
    }
    text += &section("Tests", &tests);
    if let Some(difference) = found.paired.as_ref().and_then(|paired| paired.difference.as_ref()) {
        text += &paragraph(&format!(
            "Stimuli in both sets: {}; each held against itself, the mean difference is {}.",
            count(difference.n),
            headline::difference(unit, difference)
        ));
    }
    text += &bands(found);
    text += &caveats(&found.caveats);
    text
}

fn bands(found: &SetComparison) -> String {
    if found.bands.is_empty() {
        return String::new();
    }
    let mut table = TextTable::new(["band", "first set", "second set", "difference"]).indented(2);
    for shares in &found.bands {
        table.push([
            shorten(&one_line(&shares.band), 12),
            Unit::Share.value(shares.a.value),
            Unit::Share.value(shares.b.value),
            headline::difference(Unit::Share, &shares.difference),
        ]);
    }
    section("Shares of bands", &table)
}
