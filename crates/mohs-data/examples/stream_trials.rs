//! Streams trials of any number through a filter, to show how and to measure how fast.
//!
//! ```text
//! stream_trials make N OUT        writes N made-up trials
//! stream_trials filter IN OUT     keeps right answers after exposures up to 250 ms
//! stream_trials copy IN OUT       turns CSV into Parquet or back
//! ```
//!
//! Prints rows, seconds and peak memory as JSON. `tools/bench_tables.py` runs it.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use mohs_data::format::{ReadOptions, TableReader, TableWriter};
use mohs_data::{Extra, Label, Millis, Task, TimingVerdict, Trial};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let start = Instant::now();
    let (n_read, n_written) = match words[..] {
        ["make", n_rows, output] => make(n_rows.parse()?, Path::new(output))?,
        ["filter", input, output] => stream(Path::new(input), Path::new(output), is_kept)?,
        ["copy", input, output] => stream(Path::new(input), Path::new(output), |_| true)?,
        _ => return Err("usage: stream_trials make N OUT | filter IN OUT | copy IN OUT".into()),
    };
    let seconds = start.elapsed().as_secs_f64();
    let peak_mb = peak_memory_kb().unwrap_or(0) / 1024;
    println!(
        "{{\"n_read\": {n_read}, \"n_written\": {n_written}, \"seconds\": {seconds:.3}, \
         \"peak_mb\": {peak_mb}}}"
    );
    Ok(())
}

fn is_kept(trial: &Trial) -> bool {
    let longest = Millis::new(250.0);
    trial.exposure.is_some() && trial.exposure <= longest && trial.is_correct() == Some(true)
}

/// Reads, filters and writes one row at a time; returns rows read and written.
fn stream(
    input: &Path,
    output: &Path,
    is_kept: fn(&Trial) -> bool,
) -> Result<(u64, u64), Box<dyn Error>> {
    let reader = TableReader::<Trial>::open(input, &ReadOptions::default())?;
    let mut writer = TableWriter::create(output, reader.extra_names())?;
    let (mut n_read, mut n_written) = (0, 0);
    for trial in reader {
        let trial = trial?;
        n_read += 1;
        if is_kept(&trial) {
            writer.push(&trial)?;
            n_written += 1;
        }
    }
    writer.finish()?;
    Ok((n_read, n_written))
}

/// Writes made-up trials; the same number makes the same file.
fn make(n_rows: u64, output: &Path) -> Result<(u64, u64), Box<dyn Error>> {
    const EXPOSURES: [f64; 6] = [17.0, 50.0, 100.0, 150.0, 250.0, 10_000.0];
    let mut writer = TableWriter::create(output, std::sync::Arc::default())?;
    let mut state: u64 = 42;
    let mut draw = |n: u64| {
        // A linear congruential generator (Knuth): enough for filler, and no dependency.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for row in 0..n_rows {
        let (person, stimulus, exposure_idx) = (row / 50, draw(5_000), draw(6));
        let exposure = EXPOSURES[usize::try_from(exposure_idx)?];
        let label = Label::new(format!("label_{:02}", stimulus % 50));
        let is_right = draw(100) < 40 + 10 * exposure_idx;
        let response = match is_right {
            true => label.clone(),
            false => Label::new(format!("label_{:02}", (stimulus + 1 + draw(48)) % 50)),
        };
        let onset = (row % 50) as f64 * 3_000.0 + draw(1_000) as f64 / 10.0;
        writer.push(&Trial {
            id: format!("t{row:08}").as_str().into(),
            session: format!("s{person:06}").as_str().into(),
            participant: format!("p{person:06}").as_str().into(),
            idx: Some(row % 50),
            block: Some("main".into()),
            task: Task::Flash,
            stimulus: format!("img_{stimulus:05}.png").as_str().into(),
            label: Some(label),
            exposure: Millis::new(exposure),
            beep: None,
            condition: None,
            response: Some(response),
            marked_correct: Some(is_right),
            onset: Millis::new(onset),
            offset: Millis::new(onset + exposure),
            responded: Millis::new(onset + 300.0 + draw(20_000) as f64 / 10.0),
            timing: Some(TimingVerdict::Ok),
            extra: Extra::default(),
        })?;
    }
    writer.finish()?;
    Ok((0, n_rows))
}

/// Returns the most memory this process ever held, where the system says so.
fn peak_memory_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
