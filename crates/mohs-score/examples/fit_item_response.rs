//! Times the item response fit alone, for `tools/bench_item_response.py`.
//!
//!     cargo run --release --example fit_item_response -- MATRIX 1pl|2pl [ESTIMATES]
//!
//! MATRIX has one line per stimulus, one character per participant: 1, 0, or a space for no answer.
//! Prints one line of JSON: seconds of the point estimates, seconds with all intervals, and the log
//! of the marginal likelihood. ESTIMATES is written with one `discrimination,intercept` per line.

use std::fmt::Write as _;
use std::time::Instant;

use mohs_data::format::response_matrix::Pattern;
use mohs_data::{ParticipantId, Seed, StimulusId};
use mohs_score::human::item_response::{self, Model, Options, Responses};

#[expect(clippy::print_stdout, reason = "the bench reads this line")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [matrix, model, rest @ ..] = &args[..] else {
        return Err("expected MATRIX 1pl|2pl [ESTIMATES]".into());
    };
    let model = if model == "1pl" { Model::OnePl } else { Model::TwoPl };
    let responses = read(matrix)?;
    let start = Instant::now();
    let points = item_response::fit_points(&responses, model);
    let seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let options = Options { model, confidence: 0.95, n_resamples: 1_000, seed: Seed(1) };
    let findings = item_response::score(&responses, &options);
    let seconds_with_intervals = start.elapsed().as_secs_f64();
    if let Some(path) = rest.first() {
        let mut text = String::new();
        for (a, d) in points.discrimination.iter().zip(&points.intercept) {
            writeln!(text, "{a},{d}")?;
        }
        std::fs::write(path, text)?;
    }
    let n_caveats = findings.caveats.len();
    println!(
        "{{\"seconds\": {seconds}, \"seconds_with_intervals\": {seconds_with_intervals}, \
         \"log_likelihood\": {}, \"n_steps\": {}, \"has_prior\": {}, \"n_caveats\": {n_caveats}}}",
        points.log_likelihood, points.n_steps, points.has_prior
    );
    Ok(())
}

fn read(path: &str) -> Result<Responses, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(path)?;
    let rows: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
    // Zeros in front keep the order of the file in the order of names.
    let stimuli: Vec<StimulusId> =
        (0..rows.len()).map(|idx| StimulusId::new(format!("s{idx:08}"))).collect();
    let n_participants = rows.first().map_or(0, |row| row.len());
    let patterns: Vec<Pattern> = (0..n_participants)
        .map(|participant| Pattern {
            participant: ParticipantId::new(format!("p{participant:08}")),
            n_people: 1,
            answers: rows
                .iter()
                .zip(&stimuli)
                .filter(|(row, _)| row.get(participant).is_some_and(|cell| *cell != b' '))
                .map(|(row, stimulus)| (stimulus.clone(), row[participant] == b'1'))
                .collect(),
        })
        .collect();
    Ok(Responses::from_patterns(&patterns)?)
}
