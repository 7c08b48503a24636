//! Attacks as text: mean ε by attack and band, easy against hard, models side by side, and how far
//! the attacks can be believed.

use mohs_data::{Estimate, Goal};
use mohs_score::model::robustness::{
    AttackFinding, AttackFindings, AttackTable, EpsilonGroup, Masking,
};

use super::{WIDTH, caveats, one_line, paragraph, section};
use crate::TextTable;
use crate::headline::attacks as headline;
use crate::number::{Unit, bare_p_value, count, counted};
use crate::width::{columns, shorten};

/// Rows listed before the rest is left to other formats.
const MOST_LISTED: usize = 40;
const NAME: usize = 16;
/// Attacks of a model whose bands are listed.
const MOST_WITH_BANDS: usize = 14;

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
    text += &found.tables.iter().filter(is_main).map(easy_and_hard).collect::<String>();
    text += &found.tables.iter().filter(is_main).map(gains).collect::<String>();
    text += &clean(found);
    let others = found.tables.iter().filter(|table| !headline::is_main(table));
    text += &others.map(|table| means(found, table)).collect::<String>();
    text += &masking(found);
    text += &search(found);
    text += &caveats(&found.caveats);
    text
}

fn n_of(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(|| "–".into(), |estimate| count(estimate.n))
}

fn with_interval(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(|| "–".into(), |estimate| Unit::Epsilon.estimate(estimate))
}

fn short(text: &str) -> String {
    shorten(&one_line(text), NAME)
}

/// Returns the name of a band without its range, which does not fit above a column.
fn band_name(found: &AttackFindings, idx: usize, width: usize) -> String {
    let name = one_line(&found.bands[idx].name);
    shorten(name.split(" (").next().unwrap_or(&name), width)
}

fn rest(n: usize) -> String {
    match n.saturating_sub(MOST_LISTED) {
        0 => String::new(),
        n => paragraph(&format!("  {} more with --format csv or json.", count(n))),
    }
}

/// The table of the paper with what each number rests on: attacks down, and under each its bands,
/// one table for each model.
fn means(found: &AttackFindings, table: &AttackTable) -> String {
    let mut text = String::new();
    for model in &found.models {
        let attacks: Vec<&AttackFinding> =
            table.attacks.iter().filter(|attack| attack.model == model.model).collect();
        if attacks.is_empty() {
            continue;
        }
        let reached = if table.goal == Goal::Correct { "corrected" } else { "fooled" };
        let mean_among = format!("mean ε, {reached}");
        let n_of = |group: &EpsilonGroup| {
            format!("{}/{}", count(group.n_fooled), count(group.n_attacked()))
        };
        // Both means take 26 columns at most, gaps and the indent 8.
        let n_width = attacks.iter().map(|attack| columns(&n_of(&attack.overall))).max();
        let name_width = WIDTH.saturating_sub(2 * 26 + 8 + n_width.unwrap_or(0)).min(NAME);
        let headers = ["attack", &mean_among, "mean ε, restricted", "n"];
        let mut rows = TextTable::new(headers).indented(2);
        for (idx, attack) in attacks.iter().take(MOST_LISTED).enumerate() {
            let mut push = |name: String, group: &EpsilonGroup| {
                rows.push([
                    shorten(&name, name_width),
                    with_interval(group.mean_fooled.as_ref()),
                    with_interval(group.restricted_mean.as_ref()),
                    n_of(group),
                ]);
            };
            push(one_line(&attack.attack), &attack.overall);
            // Bands of many attacks are too long to read here; CSV has them all.
            if idx < MOST_WITH_BANDS {
                for (idx, group) in attack.bands.iter().enumerate().take(found.bands.len()) {
                    push(format!("· {}", band_name(found, idx, NAME)), group);
                }
            }
        }
        let name = shorten(&one_line(model.model.as_str()), 24);
        let title = format!("Mean ε, {name} ({})", headline::about(table));
        text += &section(&shorten(&title, WIDTH), &rows);
        text += &rest(attacks.len());
        if MOST_WITH_BANDS < attacks.len() && !found.bands.is_empty() {
            text += &paragraph(&format!(
                "  Bands of {} more with --format csv or json.",
                counted(attacks.len() - MOST_WITH_BANDS, "attack", "attacks")
            ));
        }
    }
    if !text.is_empty() {
        text += &paragraph(&format!(
            "  n: stimuli {} of those attacked; the first mean rests on the former, the restricted \
             one on all, and counts what survives with ε {}.{}",
            if table.goal == Goal::Correct { "corrected" } else { "fooled" },
            Unit::Epsilon.value(table.horizon),
            step_lengths(table)
        ));
    }
    text
}

/// Says which attacks of a table call the length of a step ε, where others stand beside them.
fn step_lengths(table: &AttackTable) -> String {
    let names = table.step_lengths();
    match names.is_empty() {
        true => String::new(),
        false => format!(
            " ε is the length of a step for {}, and not to be held against the others.",
            one_line(&names.join(", "))
        ),
    }
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
    let with_model = |mut headers: Vec<&'static str>| {
        if !is_of_one {
            headers.insert(0, "model");
        }
        TextTable::new(headers).indented(2)
    };
    let mut list = with_model(vec!["attack", "easy − hard in mean ε", "n", "log-rank p"]);
    let mut together = with_model(vec!["attack", "τ", "C", "n"]);
    let mut has_correlations = false;
    for attack in rows.iter().take(MOST_LISTED) {
        let mut name = vec![shorten(&one_line(&attack.attack), 12)];
        if !is_of_one {
            name.insert(0, shorten(&one_line(attack.model.as_str()), 12));
        }
        let cells = [
            with_interval(attack.easy_minus_hard.as_ref()),
            n_of(attack.easy_minus_hard.as_ref()),
            attack.log_rank.as_ref().map_or("–".into(), |test| bare_p_value(test.p_holm)),
        ];
        list.push(name.iter().cloned().chain(cells));
        if let Some(found) = &attack.correlation {
            has_correlations = true;
            let cells = [
                Unit::Plain.estimate(&found.tau_b),
                Unit::Plain.estimate(&found.concordance),
                count(found.tau_b.n),
            ];
            together.push(name.into_iter().chain(cells));
        }
    }
    let correlations = match has_correlations {
        false => String::new(),
        true => {
            let title = format!("ε with difficulty ({})", headline::about(table));
            section(&shorten(&title, WIDTH), &together)
                + &paragraph(
                    "  τ is below 0 and C above 0.5 where harder stimuli are fooled first.",
                )
        }
    };
    let title = format!("Do easier stimuli need more? ({})", headline::about(table));
    section(&title, &list)
        + &rest(rows.len())
        + &paragraph(&format!(
            "  Differences of means restricted to ε {}; p after Holm's correction.",
            Unit::Epsilon.value(table.horizon)
        ))
        + &correlations
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
        let mut list = TextTable::new(["attack", "stimuli", "gain in mean ε", "n"]).indented(2);
        let gains: Vec<_> = table.comparisons.iter().filter(|g| g.second == *second).collect();
        for gain in gains.iter().take(MOST_LISTED) {
            let end = |band: Option<&Option<Estimate>>| band.and_then(Option::as_ref).copied();
            let mut lines = vec![("all", gain.overall)];
            if 1 < gain.bands.len() {
                lines.push(("easiest", end(gain.bands.first())));
                lines.push(("hardest", end(gain.bands.last())));
                lines.push(("easy − hard", gain.easy_minus_hard));
            }
            for (place, (what, estimate)) in lines.iter().enumerate() {
                let attack = if place == 0 { short(&gain.attack) } else { String::new() };
                let cells = [attack, (*what).to_owned(), with_interval(estimate.as_ref())];
                list.push(cells.into_iter().chain([n_of(estimate.as_ref())]));
            }
        }
        let first = gains.first().map(|gain| gain.first.as_str()).unwrap_or_default();
        let title = format!(
            "Gain: {} over {} ({})",
            shorten(&one_line(second.as_str()), 20),
            shorten(&one_line(first), 20),
            headline::about(table)
        );
        text += &section(&shorten(&title, WIDTH), &list);
    }
    text
}

fn clean(found: &AttackFindings) -> String {
    let mut list = TextTable::new(["model", "band", "right", "n"]).indented(2);
    for model in &found.models {
        let bands = model.clean_by_band.iter().enumerate().take(found.bands.len());
        let bands = bands.map(|(idx, share)| (band_name(found, idx, NAME), share.as_ref()));
        let shares = std::iter::once(("all".to_owned(), model.clean.as_ref())).chain(bands);
        for (place, (band, share)) in shares.enumerate() {
            let name = if place == 0 { short(model.model.as_str()) } else { String::new() };
            let share = share.map(|share| share.clustered);
            let right = share.map_or_else(|| "–".into(), |share| Unit::Share.estimate(&share));
            list.push([name, band, right, n_of(share.as_ref())]);
        }
    }
    section("Right answers before any attack", &list)
}

fn masking(found: &AttackFindings) -> String {
    let mut list = TextTable::new(["model", "sign", "share", "n"]).indented(2);
    for model in &found.models {
        let Masking { zero_gradients, random_answers, n_probabilities, black_box_first, .. } =
            &model.masking;
        let signs = [
            ("zero gradient", zero_gradients),
            ("random answers", random_answers),
            ("square comes first", black_box_first),
        ];
        for (place, (sign, share)) in signs.into_iter().enumerate() {
            let name = if place == 0 { short(model.model.as_str()) } else { String::new() };
            let shown = share.as_ref().map_or_else(|| "–".into(), |e| Unit::Share.estimate(e));
            list.push([name, sign.to_owned(), shown, n_of(share.as_ref())]);
        }
        if 0 < *n_probabilities {
            let n = count(*n_probabilities);
            list.push([String::new(), "answers with probabilities".into(), "rows".into(), n]);
        }
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
