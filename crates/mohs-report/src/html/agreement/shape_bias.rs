//! Shape bias: by class of the shape, and by observer.

use mohs_data::Estimate;
use mohs_score::human::agreement::{Agreement, DatasetAgreement, ShapeBias};

use super::super::figure::Figure;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::intervals;
use crate::chart::dots::{self, Dot, DotPanel, DotRow};
use crate::chart::paint;
use crate::escape::esc;
use crate::number::{Unit, count, counted};

/// The first data set with two cues; `None` without.
pub(super) fn section(found: &Agreement) -> Option<Section> {
    let mut with_cues =
        found.datasets.iter().filter_map(|set| Some((set, set.shape_bias.as_ref()?)));
    let (set, bias) = with_cues.next()?;
    let others: Vec<&str> = with_cues.map(|(set, _)| set.name.as_str()).collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" Also measured in: {}; see summary.json.", esc(&others.join(", "))),
    };
    let body = format!(
        "<p class=\"lede\">In <i>{}</i>, pictures have the shape of one class and the texture of \
         another. {} of the answers name the shape, {} the texture.{others}</p>\n{}",
        esc(&set.name),
        count(bias.n_shape),
        count(bias.n_texture),
        figure(found, set, bias)
    );
    let title = "Shape or texture?".into();
    Some(Section { id: "agreement-shape", nav: "Shape bias", title, body })
}

fn figure(found: &Agreement, set: &DatasetAgreement, bias: &ShapeBias) -> String {
    let mut entries: Vec<(&str, String, Option<Estimate>)> =
        vec![("all", "all people".into(), Some(bias.pooled))];
    let mut classes: Vec<_> = bias.by_class.iter().collect();
    classes.sort_by(|a, b| {
        let value = |bias: Option<Estimate>| bias.map_or(f64::INFINITY, |bias| bias.value);
        value(a.shape_bias).total_cmp(&value(b.shape_bias)).then(a.class.cmp(&b.class))
    });
    entries.extend(
        classes.iter().map(|finding| ("class", finding.class.to_string(), finding.shape_bias)),
    );
    entries.extend(
        set.participants
            .iter()
            .map(|person| ("participant", person.participant.to_string(), person.shape_bias)),
    );
    entries.extend(
        set.models.iter().map(|model| ("model", model.model.to_string(), model.shape_bias)),
    );
    let mut sheet = Sheet::new(vec![
        Column::text("Name", "name"),
        Column::text("Kind", "kind"),
        Column::estimate("Shape bias", "shape_bias", Unit::Share),
    ]);
    let mut rows = Vec::new();
    let mut previous = "all";
    for (kind, name, bias) in &entries {
        sheet.push(vec![
            Cell::Text(name.clone()),
            Cell::Text((*kind).to_owned()),
            bias.map_or(Cell::Missing("no answer follows either"), Cell::Estimate),
        ]);
        if let Some(bias) = bias {
            let tip = format!(
                "{name}\n{}\nn = {}",
                Unit::Share.estimate(bias),
                counted(bias.n, "answer", "answers")
            );
            rows.push(DotRow {
                name: name.clone(),
                note: count(bias.n),
                dots: vec![Dot { estimate: *bias, tip }],
                is_apart: *kind != previous,
            });
            previous = kind;
        }
    }
    let panels = [DotPanel {
        title: "Answers that name the shape".into(),
        unit: Unit::Share,
        paint: paint::ACCENT.into(),
    }];
    let figure = Figure {
        id: "agreement-shape-bias",
        title: "Shape bias by class and by observer",
        caption: format!(
            "Share of shape among answers that name the shape or the texture; other answers do not \
             count. All people, each class of the shape, each observer. Lines are {}; the number \
             on the right is n&#160;=&#160;such answers.",
            intervals(found)
        ),
        sheet,
    };
    figure.html(|canvas| dots::rows(canvas, &rows, &panels, None, figure.title))
}
