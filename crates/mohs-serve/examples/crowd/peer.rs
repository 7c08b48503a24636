//! The same crowd against other servers, for races: of each trial it sends what their pages send.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::http::{Connection, Question};
use crate::{Options, Tally, count};

/// Trials of one participant, as many as a flash study asks for.
const N_TRIALS: u32 = 50;

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded; charset=UTF-8";

/// A request: method, path, type and body.
type Request = (&'static str, String, &'static str, Vec<u8>);

/// Takes part at a `toolkit`, `lean` or `psiturk` server.
pub(crate) async fn take_part(
    peer: &str,
    participant: u64,
    end: Option<Instant>,
    options: &Options,
    tally: &Tally,
) {
    let mut connection = Connection::to(&options.address);
    let session = format!("bot-{}-{participant}", options.seed);
    if peer == "psiturk" {
        let ids = format!("workerId={session}&hitId=bench&assignmentId={session}&mode=debug");
        let path = format!("/exp?{ids}");
        let question = Question { path: &path, method: "GET", ..Question::default() };
        if connection.ask(&question).await.is_none() {
            return;
        }
    }
    let is_over = || end.is_some_and(|end| end <= Instant::now());
    for idx in 0..N_TRIALS {
        if is_over() {
            return;
        }
        let requests = match peer {
            "toolkit" => of_toolkit(&session, idx).to_vec(),
            "psiturk" => vec![of_psiturk(&session, idx)],
            _ => vec![("POST", "/trial".into(), JSON, json(&Trial::new(&session, idx)))],
        };
        let begun = Instant::now();
        for (method, path, content_type, body) in &requests {
            loop {
                count(&tally.n_requests);
                let question = Question { method, path, content_type, token: None, body };
                match connection.ask(&question).await {
                    Some(answer) if answer.is_success() => break,
                    Some(answer) => tally.note_refusal(&answer),
                    None => {}
                }
                if is_over() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        tally.note_ack(begun);
    }
    count(&tally.n_complete);
}

/// What the page of the viewing-time paper's toolkit sends of each trial, one after the other: how far
/// the participant is, and the answer with the screen, the browser and all ids.
fn of_toolkit(session: &str, idx: u32) -> [Request; 2] {
    let progress = format!(
        "assignment_id={session}&timestamp%5Btrial_num%5D={idx}\
         &timestamp%5Bstart_time%5D=1795062383373"
    );
    let answer = format!(
        "link_id=k3v9x0qa&trial_num={idx}&video_num=stimulus-{idx}_phase_90_3_30_30.mp4\
         &video=stimulus-{idx}_phase_90_3_30_30.mp4&response=coffee+mug&task_length=50\
         &response_time=2034&total_elapsed_time=123456&video_height=412\
         &view_distance=612.3456789012&px2mm=3.7795&screen_width_px=1920&screen_height_px=1080\
         &window_width_px=1903&window_height_px=969&device_pixel_ratio=1&color_depth=24\
         &user_agent=Mozilla%2F5.0+(X11%3B+Linux+x86_64)+AppleWebKit%2F537.36+(KHTML%2C+like+Gecko)\
         +Chrome%2F150.0.0.0+Safari%2F537.36\
         &assignment_id={session}&hit_id=3HIT0BENCH&worker_id={session}"
    );
    [("/update_timestamp", progress), ("/submit_response", answer)]
        .map(|(path, body)| ("POST", path.to_owned(), FORM, body.into_bytes()))
}

/// What psiTurk's page sends: all trials so far.
fn of_psiturk(session: &str, idx: u32) -> Request {
    let rows: Vec<Trial<'_>> = (0..=idx).map(|idx| Trial::new(session, idx)).collect();
    let body = serde_json::json!({
        "currenttrial": idx, "assignmentId": session, "workerId": session,
        "hitId": "bench", "data": rows, "questiondata": {}, "eventdata": [],
        "useragent": "", "mode": "debug",
    });
    ("PUT", format!("/sync/{session}:{session}"), JSON, json(&body))
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("because trials are plain data")
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
