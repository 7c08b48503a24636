//! Writes a report of a made-up study, to look at: `report.html` and its companions.
//!
//! `cargo run -p mohs-report --example preview [n_stimuli | models:N | summary.json] [folder]`; the
//! folder is `out/report-preview` unless another is given.

#[path = "../tests/it/fixture.rs"]
mod fixture;
#[path = "../tests/it/models_fixture.rs"]
mod models_fixture;

use std::path::Path;

use fixture::{Shape, USUAL};
use models_fixture::{MANY, Models};

use mohs_report::{
    Pictures, Summary, Thumbnail, render_csv, render_html, render_text, stimuli_for_gallery,
};

fn main() -> std::io::Result<()> {
    let wish = std::env::args().nth(1);
    let summary = match wish.as_deref() {
        Some(path) if path.ends_with(".json") => {
            let json = std::fs::read_to_string(path)?;
            Summary::from_json(&json).map_err(std::io::Error::other)?
        }
        Some(wish) if wish.starts_with("models:") => {
            let n_models = wish.trim_start_matches("models:").parse().unwrap_or(MANY.n_models);
            models_fixture::summary(Models { n_models, ..MANY })
        }
        wish => {
            let n_stimuli = wish.and_then(|n| n.parse().ok()).unwrap_or(USUAL.n_stimuli);
            fixture::summary(Shape { n_stimuli, ..USUAL })
        }
    };
    let stimuli = stimuli_for_gallery(&summary);
    // One stimulus is left without a picture on purpose.
    let pictures: Pictures =
        (0u32..).zip(stimuli).skip(1).map(|(idx, stimulus)| (stimulus, picture(idx))).collect();

    let folder = std::env::args().nth(2).unwrap_or_else(|| "out/report-preview".into());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("report.html"), render_html(&summary, &pictures))?;
    std::fs::write(folder.join("report.txt"), render_text(&summary))?;
    std::fs::write(folder.join("stimuli.csv"), render_csv(&summary))?;
    std::fs::write(folder.join("summary.json"), summary.to_json())
}

fn picture(idx: u32) -> Thumbnail {
    let (hue, size) = (idx * 47 % 360, 20 + idx % 5 * 9);
    let svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='96' height='96'>\
         <rect width='96' height='96' fill='hsl({hue} 30% 70%)'/>\
         <circle cx='48' cy='52' r='{size}' fill='hsl({hue} 45% 38%)'/></svg>"
    );
    Thumbnail { mime: "image/svg+xml", bytes: svg.into_bytes(), width: 96, height: 96 }
}
