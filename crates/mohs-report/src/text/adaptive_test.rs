//! Adaptive tests, as text.

use mohs_score::adaptive::ladder::{AdaptiveTestFinding, GroupFinding};
use mohs_score::simulate::ladder::{DesignComparison, Errors};

use super::{caveats, one_line, paragraph, section};
use crate::TextTable;
use crate::headline::adaptive_test as headline;
use crate::number::{Unit, count, fixed};
use crate::width::shorten;

pub(super) fn chapter(found: &AdaptiveTestFinding) -> String {
    let mut text = paragraph(&one_line(&headline::answer(found)));
    text += &paragraph(&one_line(&headline::how(found)));
    text += &paragraph(&headline::saved(found));
    text += &paragraph(&format!(
        "Brackets are {} % intervals for what a full run would say.",
        fixed(found.confidence * 100.0, 0)
    ));
    text += &section("What was asked", &rounds(found));
    let has_full = found.overall.full_accuracy.is_some();
    let all = std::iter::once(&found.overall).chain(&found.attributes).chain(&found.by_level);
    text += &section("What the model knows", &groups(all, has_full));
    if let Some(designs) = &found.designs {
        text += &section("Designs compared", &designs_table(designs));
        text += &paragraph(&about(designs));
    }
    text += &caveats(&found.caveats);
    text
}

fn rounds(found: &AdaptiveTestFinding) -> TextTable {
    let mut headers = vec!["round".to_owned(), "asked".to_owned()];
    headers.extend(found.levels.iter().map(|(level, _)| shorten(&one_line(level), 12)));
    headers.push("right".to_owned());
    let mut table = TextTable::new(headers).indented(2);
    for (idx, round) in found.rounds.iter().enumerate() {
        let mut cells = vec![(idx + 1).to_string(), count(round.n_by_level.iter().sum())];
        cells.extend(round.n_by_level.iter().map(|n| count(*n)));
        cells.push(count(round.n_right));
        table.push(cells);
    }
    table
}

fn groups<'a>(groups: impl Iterator<Item = &'a GroupFinding>, has_full: bool) -> TextTable {
    let mut headers = vec!["", "asked", "of", "accuracy", "score"];
    if has_full {
        headers.extend(["full run", "held"]);
    }
    let mut table = TextTable::new(headers).indented(2);
    for group in groups {
        let mut cells = vec![
            shorten(&one_line(&headline::name(group)), 22),
            count(group.accuracy.n),
            count(group.n_stimuli),
            Unit::Share.estimate(&group.accuracy),
            group.score.as_ref().map_or_else(String::new, |score| Unit::Share.estimate(score)),
        ];
        if has_full {
            cells
                .push(group.full_accuracy.map_or_else(String::new, |full| Unit::Share.value(full)));
            cells.push(match headline::holds(group) {
                Some(true) => "yes".into(),
                Some(false) => "no".into(),
                None => String::new(),
            });
        }
        table.push(cells);
    }
    table
}

/// Returns designs beside each other, as text.
pub fn designs_text(found: &DesignComparison) -> String {
    format!("{}\n\n{}", about(found), designs_table(found).render())
}

fn about(found: &DesignComparison) -> String {
    format!(
        "{} models{} on {} stimuli in {} strata, budget {}, {} resamples, seed {}. bias in points, \
         mse in points², x is the mse over that of the first row (for cells: of their roots), held is \
         how often {} % intervals held the truth.",
        count(found.n_models),
        if found.is_simulated { ", simulated," } else { "" },
        count(found.n_stimuli),
        count(found.n_strata),
        Unit::Share.value(found.budget),
        count(found.n_resamples),
        found.seed,
        fixed(found.confidence * 100.0, 0)
    )
}

fn designs_table(found: &DesignComparison) -> TextTable {
    let mut table = TextTable::new([
        "design",
        "asked",
        "acc. bias",
        "mse",
        "x",
        "held",
        "score bias",
        "mse",
        "x",
        "held",
        "cell rmse",
        "x",
        "held",
    ])
    .indented(2);
    for arm in &found.arms {
        let held = |errors: &Errors| {
            errors.coverage.map_or_else(|| "-".to_owned(), |share| fixed(share.value * 100.0, 1))
        };
        let mut cells = vec![headline::arm(arm), fixed(arm.share_asked * 100.0, 1)];
        for errors in [&arm.accuracy, &arm.score] {
            cells.extend([
                format!("{}{}", if 0.0 <= errors.bias { "+" } else { "" }, fixed(errors.bias, 2)),
                fixed(errors.mse, 2),
                fixed(errors.ratio, 2),
                held(errors),
            ]);
        }
        cells.extend([
            fixed(arm.cells.mse.sqrt(), 2),
            fixed(arm.cells.ratio.sqrt(), 2),
            held(&arm.cells),
        ]);
        table.push(cells);
    }
    table
}
