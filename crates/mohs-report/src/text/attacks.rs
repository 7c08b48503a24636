//! Attacks as text: mean ε by attack and band, easy against hard, models side by side, and how far
//! the attacks can be believed.

use mohs_data::{Estimate, Goal};
use mohs_score::model::robustness::{
    AttackFinding, AttackFindings, AttackTable, EpsilonGroup, Masking,
};

use super::{WIDTH, caveats, one_line, paragraph, section};
use crate::TextTable;
use crate::headline::attacks as headline;
use crate::number::{Unit, bare_p_value, count, counted, fixed};
use crate::width::shorten;

/// Rows listed before the rest is left to other formats.
const MOST_LISTED: usize = 40;
const NAME: usize = 16;

pub(super) fn chapter(found: &AttackFindings) -> String {
    let mut text = paragraph(&headline::answer(found));
    text += &paragraph(&format!(
        "{} {}. Brackets are {}.",
        headline::more(found),
        headline::basis(found),
        headline::intervals(found)
    ));
    let is_main = |table: &&AttackTable| headline::is_main(table);
    text += &found.tables.iter().filter(is_main).map(|t| means(found, t)).collect::<String>();
    if let Some(table) = headline::main_table(found) {
        text += &easy_and_hard(table);
        text += &gains(table);
    }
    text += &clean(found);
    let others = found.tables.iter().filter(|table| !headline::is_main(table));
    text += &others.map(|table| means(found, table)).collect::<String>();
    text += &masking(found);
    text += &search(found);
    text += &caveats(&found.caveats);
    text
}

fn epsilon(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(|| "–".into(), |estimate| Unit::Epsilon.value(estimate.value))
}

fn with_interval(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(|| "–".into(), |estimate| Unit::Epsilon.estimate(estimate))
}

fn short(text: &str) -> String {
    shorten(&one_line(text), NAME)
}

/// Returns the name of a band without its range, which does not fit above a column.
fn band_name(found: &AttackFindings, idx: usize) -> String {
    let name = one_line(&found.bands[idx].name);
    shorten(name.split(" (").next().unwrap_or(&name), 7)
}

fn rest(n: usize) -> String {
    match n.saturating_sub(MOST_LISTED) {
        0 => String::new(),
        n => paragraph(&format!("  {} more with --format csv or json.", count(n))),
    }
}

/// The table of the paper: attacks down, bands across, one for each model.
fn means(found: &AttackFindings, table: &AttackTable) -> String {
    let mut text = String::new();
    // Indent, name, the columns `all`, `fooled` and `survived`, then bands of nine columns.
    let room = WIDTH.saturating_sub(2 + NAME + 10 + 8 + 10);
    let n_bands = found.bands.len().min(room / 9);
    let shown = super::models::evenly(found.bands.len(), n_bands);
    for model in &found.models {
        let attacks: Vec<&AttackFinding> =
            table.attacks.iter().filter(|attack| attack.model == model.model).collect();
        if attacks.is_empty() {
            continue;
        }
        let mut headers = vec!["attack".to_owned(), "all".to_owned()];
        headers.extend(shown.iter().map(|idx| band_name(found, *idx)));
        let reached = if table.goal == Goal::Correct { "corrected" } else { "fooled" };
        headers.extend([reached.to_owned(), "survived".to_owned()]);
        let mut rows = TextTable::new(headers).indented(2);
        for attack in attacks.iter().take(MOST_LISTED) {
            let mean = |group: &EpsilonGroup| epsilon(group.mean_fooled.as_ref());
            let mut cells = vec![short(&attack.attack), mean(&attack.overall)];
            cells.extend(shown.iter().map(|idx| attack.bands.get(*idx).map_or("–".into(), mean)));
            cells.extend([count(attack.overall.n_fooled), count(attack.overall.n_survived)]);
            rows.push(cells);
        }
        let what = match table.goal {
            Goal::Correct => "Mean ε among the corrected",
            Goal::Fool | Goal::Target => "Mean ε among the fooled",
        };
        let name = shorten(&one_line(model.model.as_str()), 24);
        let title = format!("{what}, {name} ({})", headline::about(table));
        text += &section(&shorten(&title, WIDTH), &rows);
        text += &rest(attacks.len());
    }
    if shown.len() < found.bands.len() {
        text.push_str(&paragraph(&format!(
            "  {} of {} bands fit here; all of them with --format csv or json.",
            count(shown.len()),
            count(found.bands.len())
        )));
    }
    text
}

fn easy_and_hard(table: &AttackTable) -> String {
    let rows: Vec<&AttackFinding> =
        table.attacks.iter().filter(|attack| attack.easy_minus_hard.is_some()).collect();
    let is_too_few = |attack: &&AttackFinding| {
        attack.easy_minus_hard.is_none()
            && 1 < attack.bands.len()
            && 0 < attack.overall.n_fooled + attack.overall.n_survived
    };
    let too_few = match table.attacks.iter().filter(is_too_few).count() {
        0 => String::new(),
        n => paragraph(&format!(
            "  No difference between easy and hard for {}: fewer than two stimuli in a band have no \
             spread, and so no interval.",
            counted(n, "attack", "attacks")
        )),
    };
    if rows.is_empty() {
        return too_few;
    }
    let is_of_one = headline::is_of_one_model(table);
    let mut headers = vec!["attack", "easy − hard in mean ε", "log-rank p", "τ"];
    if !is_of_one {
        headers.insert(0, "model");
    }
    let mut list = TextTable::new(headers).indented(2);
    for attack in rows.iter().take(MOST_LISTED) {
        let tau = attack.correlation.as_ref().map(|found| &found.tau_b);
        let mut cells = vec![
            shorten(&one_line(&attack.attack), 12),
            with_interval(attack.easy_minus_hard.as_ref()),
            attack.log_rank.as_ref().map_or("–".into(), |test| bare_p_value(test.p_holm)),
            tau.map_or("–".into(), |tau| Unit::Plain.value(tau.value)),
        ];
        if !is_of_one {
            cells.insert(0, shorten(&one_line(attack.model.as_str()), 12));
        }
        list.push(cells);
    }
    section("Do easier stimuli need more?", &list)
        + &rest(rows.len())
        + &paragraph(&format!(
            "  Means count survivors with ε {}; p after Holm's correction; τ of ε with difficulty.",
            Unit::Epsilon.value(table.horizon)
        ))
        + &too_few
}

fn gains(table: &AttackTable) -> String {
    if table.comparisons.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    let mut seconds: Vec<_> = table.comparisons.iter().map(|gain| &gain.second).collect();
    seconds.dedup();
    for second in seconds {
        let mut list =
            TextTable::new(["attack", "all", "easiest", "hardest", "easy − hard"]).indented(2);
        let gains: Vec<_> = table.comparisons.iter().filter(|g| g.second == *second).collect();
        for gain in gains.iter().take(MOST_LISTED) {
            let end = |band: Option<&Option<Estimate>>| epsilon(band.and_then(Option::as_ref));
            let is_banded = 1 < gain.bands.len();
            list.push([
                short(&gain.attack),
                epsilon(gain.overall.as_ref()),
                end(gain.bands.first().filter(|_| is_banded)),
                end(gain.bands.last().filter(|_| is_banded)),
                with_interval(gain.easy_minus_hard.as_ref()),
            ]);
        }
        let first = gains.first().map(|gain| gain.first.as_str()).unwrap_or_default();
        let title = format!(
            "Gain in mean ε: {} over {}",
            shorten(&one_line(second.as_str()), 24),
            shorten(&one_line(first), 24)
        );
        text += &section(&title, &list);
    }
    text
}

fn clean(found: &AttackFindings) -> String {
    let mut headers = vec!["model".to_owned(), "right %".to_owned()];
    let shown = super::models::evenly(found.bands.len(), found.bands.len().min(5));
    headers.extend(shown.iter().map(|idx| band_name(found, *idx)));
    let mut list = TextTable::new(headers).indented(2);
    let share = |e: &Estimate| fixed(e.value * 100.0, 1);
    for model in &found.models {
        let overall = model.clean.as_ref().map_or_else(
            || "–".into(),
            |clean| {
                format!("{} {}", share(&clean.clustered), Unit::Share.interval(&clean.clustered))
            },
        );
        let mut cells = vec![short(model.model.as_str()), overall];
        cells.extend(shown.iter().map(|idx| {
            let band = model.clean_by_band.get(*idx).and_then(Option::as_ref);
            band.map_or_else(|| "–".into(), |band| share(&band.clustered))
        }));
        list.push(cells);
    }
    section("Right answers before any attack", &list)
}

fn masking(found: &AttackFindings) -> String {
    let mut list =
        TextTable::new(["model", "zero gradient", "random", "probabilities", "square first"])
            .indented(2);
    let share = |share: Option<&Estimate>| {
        share.map_or_else(|| "–".into(), |share| Unit::Share.value(share.value))
    };
    for model in &found.models {
        let Masking { zero_gradients, random_answers, n_probabilities, black_box_first, .. } =
            &model.masking;
        list.push([
            short(model.model.as_str()),
            share(zero_gradients.as_ref()),
            share(random_answers.as_ref()),
            count(*n_probabilities),
            share(black_box_first.as_ref()),
        ]);
    }
    section("Signs of masked gradients", &list)
}

fn search(found: &AttackFindings) -> String {
    let (n_forward, n_gradient) = headline::n_calls(found);
    let attacks = || found.tables.iter().flat_map(|table| &table.attacks);
    let (mut n, mut n_wrong) = (0, 0);
    for audit in attacks().filter_map(|attack| attack.audit.as_ref()) {
        n += audit.disagreement.n;
        n_wrong += audit.n_too_large + audit.n_too_small;
    }
    let audited = match n {
        0 => String::new(),
        n => format!(
            " The fast search disagrees with the exact one on {} of {} audited rows.",
            count(n_wrong),
            count(n)
        ),
    };
    let fast: usize = attacks().map(|attack| attack.n_fast).sum();
    let fast = match fast {
        0 => String::new(),
        n => format!(" {} rows rest on the fast search.", count(n)),
    };
    let text = format!(
        "Models were asked for {} answers and {} gradients.{fast}{audited}",
        count(n_forward),
        count(n_gradient)
    );
    paragraph(&text)
}
