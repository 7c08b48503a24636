//! Writes the seeds that are no fixtures: Parquet tables, tiny pictures, and a short summary made
//! from the one on standard input.

use std::error::Error;
use std::fs;
use std::io::{self, Cursor, Read};
use std::path::Path;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use mohs_data::format::{ReadOptions, read_all, write_all};
use mohs_data::{Prediction, Stimulus};
use mohs_report::Summary;

fn main() -> Result<(), Box<dyn Error>> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fixtures = fuzz.join("../crates/mohs-data/fixtures/v1");
    let corpus = fuzz.join("corpus");
    for target in
        ["predictions_parquet", "stimuli_parquet", "summary_json", "summary_render", "picture"]
    {
        fs::create_dir_all(corpus.join(target))?;
    }

    let options = ReadOptions::default();
    let predictions: Vec<Prediction> = read_all(&fixtures.join("predictions.csv"), &options)?;
    write_all(&corpus.join("predictions_parquet/predictions.parquet"), &predictions)?;
    let stimuli: Vec<Stimulus> = read_all(&fixtures.join("stimuli.csv"), &options)?;
    write_all(&corpus.join("stimuli_parquet/stimuli.parquet"), &stimuli)?;

    let mut json = String::new();
    io::stdin().read_to_string(&mut json)?;
    let short = one_line(&shortened(Summary::from_json(&json)?));
    for target in ["summary_json", "summary_render"] {
        fs::write(corpus.join(target).join("summary.json"), &short)?;
    }

    let picture = DynamicImage::ImageRgb8(RgbImage::from_fn(5, 4, |x, y| {
        Rgb([50 * x, 60 * y, 255 - 40 * x].map(|channel| u8::try_from(channel).unwrap_or(u8::MAX)))
    }));
    let formats = [
        (ImageFormat::Png, "rgb.png"),
        (ImageFormat::Jpeg, "rgb.jpeg"),
        (ImageFormat::WebP, "rgb.webp"),
        (ImageFormat::Bmp, "rgb.bmp"),
        (ImageFormat::Gif, "rgb.gif"),
        (ImageFormat::Tiff, "rgb.tiff"),
    ];
    for (format, name) in formats {
        write_picture(&picture, format, &corpus.join("picture").join(name))?;
    }
    let grey16 = DynamicImage::ImageLuma16(picture.to_luma16());
    write_picture(&grey16, ImageFormat::Png, &corpus.join("picture/grey16.png"))?;
    let rgba = DynamicImage::ImageRgba8(picture.to_rgba8());
    write_picture(&rgba, ImageFormat::Png, &corpus.join("picture/rgba.png"))?;
    Ok(())
}

/// Keeps a little of every list, because the fuzzer does best with small inputs.
fn shortened(mut summary: Summary) -> Summary {
    if let Some(viewing_time) = &mut summary.viewing_time {
        viewing_time.model.threshold_prior.truncate(2);
        viewing_time.by_label.truncate(1);
        viewing_time.by_level.truncate(1);
        viewing_time.difficulty_histogram.truncate(2);
        viewing_time.stimuli.truncate(2);
        viewing_time.participants.truncate(1);
    }
    summary
}

fn one_line(summary: &Summary) -> String {
    // Line breaks inside texts are escaped, so that those left are between values.
    summary.to_json().lines().map(str::trim).collect()
}

fn write_picture(
    picture: &DynamicImage,
    format: ImageFormat,
    path: &Path,
) -> Result<(), Box<dyn Error>> {
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, format)?;
    fs::write(path, file.into_inner())?;
    Ok(())
}
