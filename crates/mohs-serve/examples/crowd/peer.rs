//! The same crowd against other servers, for races: one submission per trial, as their pages send it.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hyper::Method;

use crate::http::Connection;
use crate::{Options, Tally};

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
        if connection.ask(Method::GET, &path, None, String::new()).await.is_none() {
            return;
        }
    }
    // psiTurk's page sends everything it has each time.
    let mut rows: Vec<serde_json::Value> = Vec::new();
    for idx in 0..N_TRIALS {
        if end.is_some_and(|end| end <= Instant::now()) {
            return;
        }
        let trial = trial(&session, idx);
        let (method, path, body) = if is_psiturk {
            rows.push(trial);
            let body = serde_json::json!({
                "currenttrial": idx, "assignmentId": session, "workerId": session,
                "hitId": "bench", "data": rows, "questiondata": {}, "eventdata": [],
                "useragent": "", "mode": "debug",
            });
            (Method::PUT, format!("/sync/{session}:{session}"), body)
        } else {
            (Method::POST, "/trial".to_owned(), trial)
        };
        let begun = Instant::now();
        loop {
            tally.n_requests.fetch_add(1, Ordering::Relaxed);
            let answer = connection.ask(method.clone(), &path, None, body.to_string()).await;
            match answer {
                Some(answer) if answer.status.is_success() => break,
                Some(answer) => tally.note_refusal(&answer).await,
                None => {}
            }
            if end.is_some_and(|end| end <= Instant::now()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tally.note_ack(begun).await;
    }
    tally.n_complete.fetch_add(1, Ordering::Relaxed);
}

/// A trial with as much in it as ours.
fn trial(session: &str, idx: u32) -> serde_json::Value {
    serde_json::json!({
        "session": session, "idx": idx, "stimulus": format!("stimulus-{idx}"), "exposure_ms": 50,
        "response": "mug", "onset_ms": 1234.5, "offset_ms": 1284.5, "response_ms": 2034.1,
        "handled_ms": 2034.4, "frames_planned": 3, "frames_shown": 3, "period_ms": 16.667,
        "stamps_ms": [1217.8, 1234.5, 1284.5], "longest_gap_ms": 16.7, "was_visible": true,
        "was_fullscreen": true, "pixel_ratio": 1, "input": "mouse", "verdict": "ok",
    })
}
