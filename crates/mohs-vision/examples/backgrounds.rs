//! Fills the backgrounds of photos with masks, writes them, and prints how well the holes hide.
//!
//! `cargo run -p mohs-vision --example backgrounds -- STIMULI.csv FOLDER [ID …]`

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use mohs_data::format::{ReadOptions, folder_of_stimuli, read_stimuli};
use mohs_vision::masks::{self, ObjectPixels};
use mohs_vision::pixels;
use mohs_vision::stimulus::ladder::Photo;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let table = PathBuf::from(arguments.next().ok_or("a table of stimuli is missing")?);
    let output = PathBuf::from(arguments.next().ok_or("a folder for the backgrounds is missing")?);
    let wanted: Vec<String> = arguments.collect();
    std::fs::create_dir_all(&output)?;
    let folder = folder_of_stimuli(&table);
    let mut out = std::io::stdout();
    for stimulus in read_stimuli(&table, &ReadOptions::default())? {
        let id = stimulus.id.as_str();
        if !wanted.is_empty() && !wanted.iter().any(|one| one == id) {
            continue;
        }
        let mask = stimulus.mask.as_deref().unwrap_or(Path::new(""));
        let picture = pixels::read(&folder.join(&stimulus.file))?;
        let mask = masks::read(&folder.join(mask), &ObjectPixels::NotZero)?;
        let begun = Instant::now();
        let photo = Photo::take_apart(&picture, &mask, 512)?;
        let seconds = begun.elapsed().as_secs_f64();
        std::fs::write(output.join(format!("{id}.png")), photo.background().to_png())?;
        let share = photo.share_of_hole();
        let seam = photo.seam();
        writeln!(out, "{id:14} seam {seam:5.2}  hole {share:.2}  {seconds:5.1} s")?;
    }
    Ok(())
}
