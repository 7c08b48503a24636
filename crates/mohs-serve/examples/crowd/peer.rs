//! The same crowd against other servers, for races: one submission per trial, as their pages send it.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::http::{Connection, Question};
use crate::{Options, Tally, count};

/// Trials of one participant, as many as a flash study asks for.
const N_TRIALS: u32 = 50;

/// Takes part at a `reference` (Node, Express, Redis) or `psiturk` server.
pub(crate) async fn take_part(
    peer: &str,
    participant: u64,
    end: Option<Instant>,
    options: &Options,
    tally: &Tally,
) {
    let mut connection = Connection::to(&options.address);
    let session = format!("bot-{}-{participant}", options.seed);
    let is_psiturk = peer == "psiturk";
    if is_psiturk {
        let ids = format!("workerId={session}&hitId=bench&assignmentId={session}&mode=debug");
        let path = format!("/exp?{ids}");
        let question = Question { method: "GET", path: &path, token: None, body: b"" };
        if connection.ask(&question).await.is_none() {
            return;
        }
    }
    // psiTurk's page sends everything it has each time.
    let mut rows: Vec<Trial<'_>> = Vec::new();
    let sync = format!("/sync/{session}:{session}");
    for idx in 0..N_TRIALS {
        if end.is_some_and(|end| end <= Instant::now()) {
            return;
        }
        let trial = Trial::new(&session, idx);
        let (method, path, body) = if is_psiturk {
            rows.push(trial);
            let body = serde_json::json!({
                "currenttrial": idx, "assignmentId": session, "workerId": session,
                "hitId": "bench", "data": rows, "questiondata": {}, "eventdata": [],
                "useragent": "", "mode": "debug",
            });
            ("PUT", sync.as_str(), serde_json::to_vec(&body))
        } else {
            ("POST", "/trial", serde_json::to_vec(&trial))
        };
        let body = body.expect("because trials are plain data");
        let begun = Instant::now();
        loop {
            count(&tally.n_requests);
            match connection.ask(&Question { method, path, token: None, body: &body }).await {
                Some(answer) if answer.is_success() => break,
                Some(answer) => tally.note_refusal(&answer),
                None => {}
            }
            if end.is_some_and(|end| end <= Instant::now()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tally.note_ack(begun);
    }
    count(&tally.n_complete);
}

/// A trial with as much in it as ours.
#[derive(Serialize)]
struct Trial<'a> {
    session: &'a str,
    idx: u32,
    stimulus: String,
    exposure_ms: u32,
    response: &'a str,
    onset_ms: f64,
    offset_ms: f64,
    response_ms: f64,
    handled_ms: f64,
    frames_planned: u32,
    frames_shown: u32,
    period_ms: f64,
    stamps_ms: [f64; 3],
    longest_gap_ms: f64,
    was_visible: bool,
    was_fullscreen: bool,
    pixel_ratio: u32,
    input: &'a str,
    verdict: &'a str,
}

impl<'a> Trial<'a> {
    fn new(session: &'a str, idx: u32) -> Self {
        Self {
            session,
            idx,
            stimulus: format!("stimulus-{idx}"),
            exposure_ms: 50,
            response: "mug",
            onset_ms: 1234.5,
            offset_ms: 1284.5,
            response_ms: 2034.1,
            handled_ms: 2034.4,
            frames_planned: 3,
            frames_shown: 3,
            period_ms: 16.667,
            stamps_ms: [1217.8, 1234.5, 1284.5],
            longest_gap_ms: 16.7,
            was_visible: true,
            was_fullscreen: true,
            pixel_ratio: 1,
            input: "mouse",
            verdict: "ok",
        }
    }
}
