//! The main table of a chapter as CSV, numbers unrounded. Each chapter is a file in `csv/`.

mod adaptive_test;
mod agreement;
mod attacks;
mod item_response;
mod label_disagreement;
mod ladder;
mod masks;
mod models;
mod pairs;
mod quality;
mod set_comparison;
mod speed_accuracy;
mod viewing_time;

pub use adaptive_test::{AskedRow, asked_csv, designs_csv};
pub use agreement::render_stimulus_effects;
pub use attacks::{ATTACK_TABLES, attack_tables};
pub use ladder::{LADDER_TABLES, ladder_tables};

use crate::Summary;
pub use masks::{annotators_csv, objects_csv};
pub use models::{MODEL_TABLES, model_tables};

/// Returns the main table of the first chapter there are findings for; nothing without findings.
pub fn render_csv(summary: &Summary) -> String {
    let Summary {
        viewing_time,
        speed_accuracy,
        pairs,
        item_response,
        label_disagreement,
        agreement,
        masks,
        quality,
        set_comparison,
        models,
        ladder,
        attacks,
        adaptive_test,
        ..
    } = summary;
    let tables = [
        viewing_time.as_ref().map(viewing_time::rows),
        speed_accuracy.as_ref().map(speed_accuracy::rows),
        pairs.as_ref().map(pairs::rows),
        item_response.as_ref().map(item_response::rows),
        label_disagreement.as_ref().map(label_disagreement::rows),
        agreement.as_ref().map(agreement::rows),
        masks.as_ref().map(masks::objects_csv),
        quality.as_ref().map(quality::rows),
        set_comparison.as_ref().map(set_comparison::rows),
        models.as_ref().map(models::rows),
        ladder.as_ref().map(ladder::rows),
        attacks.as_ref().map(attacks::rows),
        adaptive_test.as_ref().map(adaptive_test::rows),
    ];
    tables.into_iter().flatten().next().unwrap_or_default()
}
