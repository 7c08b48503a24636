//! Two sets compared: two distributions, the difference with its interval, tests, bands.

use mohs_score::human::set_comparison::{BandShares, SetComparison};

use super::caveats;
use super::chapter::Chapter;
use super::figure::Figure;
use super::overview::{fact, fact_list};
use super::section::Section;
use super::sheet::{self, Cell, Column, Sheet};
use crate::chart::bars::{self, Bar, BarGroup};
use crate::chart::legend::{Entry, Swatch};
use crate::chart::mirrored::{self, Bin, Side};
use crate::chart::{axis, paint};
use crate::escape::esc;
use crate::headline::set_comparison as headline;
use crate::number::{Unit, count, counted, fixed, round_number};

const STIMULI: (&str, &str) = ("stimulus", "stimuli");

pub(super) fn chapter(found: &SetComparison) -> Chapter {
    let front = format!(
        "<p class=\"lede\">{} of {} and {} of {}, by the measure {}. Brackets are {} % intervals.\
         </p>\n{}{}{}",
        counted(found.a.n_stimuli, STIMULI.0, STIMULI.1),
        esc(&found.a.name),
        counted(found.b.n_stimuli, STIMULI.0, STIMULI.1),
        esc(&found.b.name),
        esc(&found.measure),
        fixed(found.confidence * 100.0, 0),
        caveats::list(&found.caveats),
        distributions(found),
        facts(found),
    );
    let sections = [Some(numbers(found)), bands(found), Some(methods(found))];
    Chapter {
        id: "set-comparison",
        name: "Two sets compared",
        answer: headline::answer(found),
        front,
        sections: sections.into_iter().flatten().collect(),
    }
}

fn facts(found: &SetComparison) -> String {
    let unit = headline::unit(found);
    let difference = |estimate: &mohs_data::Estimate| {
        let text = headline::difference(unit, estimate);
        let (value, interval) = text.split_once('[').unwrap_or((&text, ""));
        format!(
            "<span class=\"est\"><b>{}</b> <span class=\"ci\">[{interval}</span></span>",
            value.trim()
        )
    };
    let sets = format!("{} minus {}", esc(&found.a.name), esc(&found.b.name));
    let share = sheet::estimate_of(Unit::Share, &found.p_a_harder, STIMULI);
    fact_list(&[
        fact("Difference of means", &difference(&found.difference_of_means), &sets),
        fact("Difference of medians", &difference(&found.difference_of_medians), &sets),
        fact(&format!("{} is harder", found.a.name), &share, "of pairs drawn at random"),
    ])
}

fn distributions(found: &SetComparison) -> String {
    let unit = headline::unit(found);
    let mut sheet = Sheet::new(vec![
        Column::text("From", "low"),
        Column::text("To", "high"),
        Column::count("First set", "n_a"),
        Column::count("Second set", "n_b"),
    ]);
    let mut bins = Vec::new();
    for bin in &found.histogram {
        let range = format!("{} to {}", unit.value(bin.low), unit.value(bin.high));
        let tip = |name: &str, n| format!("{range} · {name}\n{}", counted(n, STIMULI.0, STIMULI.1));
        sheet.push(vec![
            Cell::Ordered(unit.value(bin.low), bin.low),
            Cell::Ordered(unit.value(bin.high), bin.high),
            Cell::Count(bin.n_a),
            Cell::Count(bin.n_b),
        ]);
        bins.push(Bin {
            low: bin.low,
            high: bin.high,
            above: (bin.n_a, tip(&found.a.name, bin.n_a)),
            below: (bin.n_b, tip(&found.b.name, bin.n_b)),
        });
    }
    let side = |idx: usize, facts: &mohs_score::human::set_comparison::SetFacts| Side {
        name: facts.name.clone(),
        paint: paint::set(idx),
        mark: Some((facts.mean.value, format!("mean {}", unit.value(facts.mean.value)))),
    };
    let (a, b) = (side(0, &found.a), side(1, &found.b));
    let figure = Figure {
        id: "two-distributions",
        title: "How difficulty is spread in both sets",
        caption: format!(
            "{} above the line, {} below, each in shares of its own stimuli; further to the right is \
             harder. Dashed lines are means. Difficulties are measured with noise, which widens both.",
            esc(&found.a.name),
            esc(&found.b.name)
        ),
        sheet,
    };
    figure.html(|canvas| {
        let text = |value: f64| match unit {
            Unit::Share => axis::percent(value),
            _ => round_number(value),
        };
        mirrored::mirrored(canvas, &bins, (&a, &b), "Difficulty", text, figure.title)
    })
}

fn numbers(found: &SetComparison) -> Section {
    let unit = headline::unit(found);
    let mut sets = Sheet::new(vec![
        Column::text("Set", "set"),
        Column::estimate("Mean difficulty", "mean", unit),
        Column::estimate("Median difficulty", "median", unit),
        Column::text("Spread (sd)", "sd"),
        Column::text("Noise in the spread", "noise_share"),
    ]);
    for set in [&found.a, &found.b] {
        sets.push(vec![
            Cell::Text(set.name.clone()),
            Cell::Estimate(set.mean),
            Cell::Estimate(set.median),
            Cell::Ordered(unit.value(set.sd), set.sd),
            Cell::Ordered(Unit::Share.value(set.noise_share), set.noise_share),
        ]);
    }
    let mut tests = Sheet::new(vec![
        Column::text("Test", "test"),
        Column::text("Statistic", "statistic"),
        Column::text("p-value", "p_value"),
    ]);
    for (test, statistic, p) in headline::tests(found) {
        tests.push(vec![Cell::Text(test.into()), Cell::Text(statistic), Cell::Text(p)]);
    }
    let paired = match &found.paired {
        None => "<p>The sets have no stimulus in common.</p>\n".to_owned(),
        Some(paired) => {
            let difference = paired.difference.as_ref().map_or_else(
                || "one pair has no interval".to_owned(),
                |difference| headline::difference(unit, difference),
            );
            let spearman = paired.spearman.map_or_else(String::new, |rho| {
                format!(", and their ranks correlate by {} (Spearman, no interval)", fixed(rho, 2))
            });
            format!(
                "<p>For the {} in both sets, each held against itself, the mean difference is \
                 {}{spearman}.</p>\n",
                counted(paired.n_shared, STIMULI.0, STIMULI.1),
                esc(&difference),
            )
        }
    };
    let body = format!(
        "{}<h3>Tests</h3>\n<p class=\"lede\">A small p-value says that a difference this large would \
         be rare if both sets came from one distribution; it says nothing about its size. \
         n&#160;=&#160;{} and {} stimuli.</p>\n{}{paired}",
        sets.table("Both sets"),
        count(found.a.n_stimuli),
        count(found.b.n_stimuli),
        tests.table("Tests"),
    );
    Section {
        id: "set-comparison-numbers",
        nav: "Numbers",
        title: "Numbers and tests".into(),
        body,
    }
}

fn bands(found: &SetComparison) -> Option<Section> {
    if found.bands.is_empty() {
        return None;
    }
    let bar = |name: &str, idx: usize, band: &str, estimate: mohs_data::Estimate| Bar {
        label: String::new(),
        estimate,
        paint: paint::set(idx),
        is_pale: false,
        tip: format!("{name} · {band}\n{}\nn = {}", Unit::Share.estimate(&estimate), estimate.n),
    };
    let group = |shares: &BandShares| BarGroup {
        label: shares.band.clone(),
        note: String::new(),
        bars: vec![
            bar(&found.a.name, 0, &shares.band, shares.a),
            bar(&found.b.name, 1, &shares.band, shares.b),
        ],
    };
    let groups: Vec<BarGroup> = found.bands.iter().map(group).collect();
    let entries: Vec<Entry> = [&found.a, &found.b]
        .iter()
        .enumerate()
        .map(|(idx, set)| Entry {
            swatch: Swatch::Box,
            paint: paint::set(idx),
            name: set.name.clone(),
        })
        .collect();
    let mut sheet = Sheet::new(vec![
        Column::text("Band", "band"),
        Column::estimate("First set", "share_a", Unit::Share),
        Column::estimate("Second set", "share_b", Unit::Share),
        Column::estimate("Difference", "difference", Unit::Share),
    ]);
    for (idx, shares) in found.bands.iter().enumerate() {
        sheet.push(vec![
            Cell::Ranked(shares.band.clone(), idx),
            Cell::Estimate(shares.a),
            Cell::Estimate(shares.b),
            Cell::Estimate(shares.difference),
        ]);
    }
    let figure = Figure {
        id: "bands-of-both",
        title: "Bands of both sets",
        caption:
            "Share of each set’s stimuli in each band, easiest on the left. Under <i>Numbers</i> \
                  the differences have Newcombe’s intervals. n&#160;=&#160;stimuli."
                .into(),
        sheet,
    };
    let body = figure.html(|canvas| {
        bars::grouped(canvas, &groups, &entries, "Share of stimuli", "Band", figure.title)
    });
    Some(Section { id: "set-comparison-bands", nav: "Bands", title: "Bands".into(), body })
}

fn methods(found: &SetComparison) -> Section {
    let body = format!(
        "<div class=\"prose\"><p>Intervals are percentiles of {} bootstrap draws over stimuli: each \
         draw takes stimuli with replacement, pulls their values towards the set’s mean by the share \
         of the spread that is noise of measurement, and adds fresh noise of each stimulus’s own \
         size. They answer what other stimuli of the same kind would give, not what other people \
         would. Kolmogorov–Smirnov and Mann–Whitney are two-sided. The measurement noise of \
         different stimuli is taken to be independent.</p></div>\n",
        count(found.n_resamples)
    );
    Section {
        id: "set-comparison-methods",
        nav: "Method",
        title: "How it was computed".into(),
        body,
    }
}
