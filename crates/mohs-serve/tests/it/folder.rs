//! Study folders with tiny prepared pictures.

use std::path::Path;

use mohs_data::format::write_all;
use mohs_data::{Extra, Label, Millis, Prepared, StimulusId, Study, Task};
use mohs_serve::token::hex;
use sha2::{Digest, Sha256};

/// Writes a picture of one pixel-coloured square and returns its hash.
pub(crate) fn picture(folder: &Path, shade: u32) -> String {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 2, 2);
    encoder.set_color(png::ColorType::Rgb);
    let [_, r, g, b] = shade.to_be_bytes();
    let pixels = [r, g, b].repeat(4);
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
    let hash = hex(&Sha256::digest(&bytes));
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join(format!("{hash}.png")), bytes).unwrap();
    hash
}

/// A study with `n` stimuli of `n_labels` labels; `change` may change what it says.
pub(crate) fn study(
    folder: &Path,
    name: &str,
    task: Task,
    (n, n_labels): (u32, u32),
    change: impl Fn(&mut Study),
) {
    let mut study = Study::new(name, task);
    study.flash.exposures_ms = [17.0, 50.0, 250.0].map(|ms| Millis::new(ms).unwrap()).to_vec();
    study.flash.participants_per_cell = 2;
    study.flash.trials_per_participant = 6;
    study.page.trials_between_breaks = 4;
    study.beep.practice_trials = 2;
    study.beep.trials_per_block = 3;
    study.beep.beeps_ms = [500.0, 900.0].map(|ms| Millis::new(ms).unwrap()).to_vec();
    study.beep.participants = 4;
    change(&mut study);
    let prepared: Vec<Prepared> = (0..n)
        .map(|idx| Prepared {
            stimulus: StimulusId::new(format!("stimulus-{idx:03}")),
            label: Label::new(format!("label-{}", idx % n_labels)),
            condition: None,
            image: picture(&folder.join("prepared"), idx + 1),
            mask: Some(picture(&folder.join("prepared"), idx + 100_000)),
            source: hex(&Sha256::digest(idx.to_be_bytes())),
            attribute: None,
            level: None,
            side_px: 2,
            flashes: Some(1.0),
            extra: Extra::default(),
        })
        .collect();
    std::fs::create_dir_all(folder).unwrap();
    study.write(&folder.join("study.toml")).unwrap();
    write_all(&folder.join("prepared.csv"), &prepared).unwrap();
}
