//! What must be refused, and how: no 5xx on any input, nothing of anybody else.

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::Request;
use mohs_data::Task;
use mohs_serve::app::{App, Setup, StartError};
use mohs_serve::bots::{self, Bot, Deed, Transport, join_request};
use mohs_serve::hosted::{Hosted, LaunchError};
use mohs_serve::token::Role;
use mohs_serve::wire::{Ending, EventBody};
use tempfile::TempDir;
use tower::ServiceExt;

use crate::server::{TestServer, first_option};

async fn ask(server: &TestServer, request: Request<Body>) -> (u16, String, hyper::HeaderMap) {
    let response = server.transport.0.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (parts.status.as_u16(), String::from_utf8_lossy(&body).into_owned(), parts.headers)
}

async fn get(server: &TestServer, path: &str) -> (u16, String, hyper::HeaderMap) {
    ask(server, Request::get(path).body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn forged_and_foreign_tokens_are_refused() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let (one, other) = (server.join("p1").await, server.join("p2").await);
    let path = format!("/api/sessions/{}/block", one.joined.session);
    let body = serde_json::json!({"screen": one.screen}).to_string();
    let forged = one.joined.token.replace(".1.", ".2.");
    for (token, status) in [
        (None, 401),
        (Some(forged.as_str()), 401),
        (Some(&other.joined.token), 403),
        (Some(""), 401),
    ] {
        let (found, _) = server.transport.post(&path, token, body.clone()).await.unwrap();
        assert_eq!(found, status);
    }
    let mut request = join_request(None);
    request.resume = Some(forged);
    let error = Bot::join(server.transport.clone(), "study", &request).await.err().unwrap();
    assert_eq!(error.code(), "token_bad");
    request.resume = None;
    request.preview = Some("1.00".into());
    let error = Bot::join(server.transport.clone(), "study", &request).await.err().unwrap();
    assert_eq!(error.code(), "token_bad");
}

#[tokio::test]
async fn trials_of_others_and_made_up_answers_are_refused() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let (mut one, other) = (server.join("p1").await, server.join("p2").await);
    let foreign = other.block().await.unwrap().block.unwrap();
    one.start(&foreign.trials[0]);
    assert_eq!(one.flush().await.unwrap_err().code(), "trial_foreign");
    let mut three = server.join("p3").await;
    let own = three.block().await.unwrap().block.unwrap();
    let mut report = three.report(&own.trials[0], &first_option(&own.trials[0]), 0);
    report.response = Some("'; drop table trial; --".into());
    three.push(&EventBody::Trial { at_ms: 1.0, report });
    assert_eq!(three.flush().await.unwrap_err().code(), "report_bad");
}

#[tokio::test]
async fn a_completion_code_cannot_be_had_for_nothing() {
    let server = TestServer::start(Task::Flash, (24, 3), |_| ()).await;
    let mut bot = server.join("p1").await;
    let end = bot.end(false).await.unwrap();
    assert_eq!((end.is_complete, end.ending, end.code), (false, None, None));
    // Practice is nothing that counts, and neither is a trial that was only begun.
    for n_answered in [4, 0] {
        let block = bot.block().await.unwrap().block.unwrap();
        for (idx, trial) in block.trials.iter().enumerate() {
            bot.start(trial);
            if idx < n_answered {
                bot.answer(trial, &first_option(trial), 0);
            }
        }
        bot.flush().await.unwrap();
    }
    let end = bot.end(true).await.unwrap();
    assert_eq!((end.is_complete, end.ending), (true, Some(Ending::Early)));
    assert_eq!((end.code, end.completion_url), (None, None));
    let again = server.resume("study", &bot.joined.token).await.unwrap();
    assert_eq!((again.joined.ending, &again.joined.code), (Some(Ending::Early), &None));
    assert_eq!(again.block().await.unwrap().block, None);
}

#[tokio::test]
async fn whoever_stops_early_gets_a_code_that_says_so_and_is_sent_nowhere() {
    for fixed in [None, Some("C1234")] {
        let server = TestServer::start(Task::Rate, (24, 3), |study| {
            study.rate.trials_per_participant = 4;
            study.page.completion_url = Some("https://recruiter.example/?cc={code}".into());
            study.page.completion_code = fixed.map(Into::into);
        })
        .await;
        let mut bot = server.join("early").await;
        let block = bot.block().await.unwrap().block.unwrap();
        bot.start(&block.trials[0]);
        bot.answer(&block.trials[0], &first_option(&block.trials[0]), 0);
        bot.flush().await.unwrap();
        let end = bot.end(true).await.unwrap();
        let code = end.code.clone().unwrap();
        assert!(code.starts_with("EARLY-") && code.len() == 16, "{code}");
        assert_eq!((end.ending, &end.completion_url), (Some(Ending::Early), &None));
        assert_eq!(bot.end(true).await.unwrap(), end);
        let mut bot = server.join("all").await;
        let code = bot.take_part(&mut answers).await.unwrap().code.unwrap();
        assert!(fixed.is_none_or(|fixed| fixed == code) && !code.starts_with("EARLY-"), "{code}");
        let again = server.resume("study", &bot.joined.token).await.unwrap();
        let url = again.joined.completion_url;
        assert_eq!(url.unwrap(), format!("https://recruiter.example/?cc={code}"));
    }
}

fn answers(_: &mohs_serve::wire::Block, trial: &mohs_serve::wire::PlannedTrial) -> Deed {
    Deed::Answer { answer: first_option(trial), extra_frames: 0 }
}

#[tokio::test]
async fn what_a_recruiter_did_not_replace_is_nobody() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    for blank in [
        "{{%PROLIFIC_PID%}}",
        "ASSIGNMENT_ID_NOT_AVAILABLE",
        "${e://Field/PID}",
        "[PID]",
        "%PROLIFIC_PID%",
        "undefined",
        "null",
        "None",
        " ",
        "",
    ] {
        let error = server.try_join("study", Some(blank)).await.err().unwrap();
        assert_eq!(error.code(), "id_missing", "{blank}");
        let request = join_request(Some(blank));
        let error = bots::welcome(&server.transport, "study", &request).await.unwrap_err();
        assert_eq!(error.code(), "id_missing", "{blank}");
    }
    // Whoever has a session goes on with it, and those who run the study may look at it.
    let token = server.join("p1").await.joined.token;
    let mut request = join_request(Some("{{%PROLIFIC_PID%}}"));
    request.resume = Some(token);
    Bot::join(server.transport.clone(), "study", &request).await.unwrap();
    request.resume = None;
    request.preview = Some(server.app.secret.preview_token("study", crate::server::NOON_MS + 1));
    Bot::join(server.transport.clone(), "study", &request).await.unwrap();
}

#[tokio::test]
async fn nobody_is_shown_anything_before_they_agreed() {
    for task in [Task::Flash, Task::Beep, Task::Pairs, Task::Rate] {
        let server = TestServer::start(task, (24, 3), |_| ()).await;
        let mut bot = server.try_join("study", Some("p1")).await.unwrap();
        assert_eq!(bot.block().await.unwrap_err().code(), "consent_missing");
        // Other pages are no consent.
        bot.page("gate");
        bot.flush().await.unwrap();
        assert_eq!(bot.block().await.unwrap_err().code(), "consent_missing");
        bot.agree().await.unwrap();
        assert!(bot.block().await.unwrap().block.is_some());
        // Agreed is agreed, on another device too.
        let again = server.try_join("study", Some("p1")).await.unwrap();
        assert!(again.block().await.unwrap().block.is_some());
    }
}

#[tokio::test]
async fn a_link_with_a_slash_at_its_end_leads_to_the_study() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let (status, _, headers) = get(&server, "/s/study/?PROLIFIC_PID=a%20b").await;
    assert_eq!(
        (status, headers["location"].to_str().unwrap()),
        (308, "/s/study?PROLIFIC_PID=a%20b")
    );
}

#[tokio::test]
async fn a_screen_that_can_show_nothing_is_told_so_and_loses_nothing() {
    let server = TestServer::start(Task::Flash, (24, 3), |study| {
        study.flash.exposures_ms = vec![mohs_data::Millis::new(17.0).unwrap()];
    })
    .await;
    let mut bot = server.join("p1").await;
    bot.screen = bots::screen(1_000.0 / 75.0);
    assert_eq!(bot.block().await.unwrap_err().code(), "screen_unfit");
    bot.screen = bots::screen(1_000.0 / 60.0);
    let block = bot.block().await.unwrap();
    bot.screen = bots::screen(1_000.0 / 75.0);
    assert_eq!(bot.block().await.unwrap_err().code(), "screen_unfit");
    bot.screen = bots::screen(1_000.0 / 60.0);
    assert_eq!(bot.block().await.unwrap(), block);
    assert_eq!(block.n_total, 6);
}

#[test]
fn a_study_of_which_usual_screens_can_show_nothing_is_not_hosted() {
    let folder = TempDir::new().unwrap();
    crate::folder::study(folder.path(), "study", Task::Flash, (8, 4), |study| {
        study.flash.exposures_ms =
            [7.0, 25.0].map(|ms| mohs_data::Millis::new(ms).unwrap()).to_vec();
    });
    let Err(error) = Hosted::read(folder.path()) else { panic!("it was taken") };
    assert_eq!(
        error.to_string(),
        "a screen of 60 Hz can show none of the exposures 7, 25 ms within 10 %"
    );
    assert!(error.hint().unwrap().contains("16.7 ms, 33.3 ms"), "{error:?}");
}

#[tokio::test]
async fn nobody_is_told_what_is_hosted_and_browsers_get_a_page() {
    let folder = TempDir::new().unwrap();
    for name in ["one", "two"] {
        crate::folder::study(&folder.path().join(name), name, Task::Rate, (12, 3), |study| {
            study.page.language = if name == "two" { "de" } else { "en" }.into();
        });
    }
    let server = TestServer::over(folder, &["one", "two"]).await;
    let (status, page, _) = get(&server, "/").await;
    assert_eq!(status, 200);
    assert!(!page.contains("/s/"), "{page}");
    assert!(page.contains("the link of that study") && page.contains("class=\"page\""), "{page}");
    let (status, page, _) = get(&server, "/s/three").await;
    assert!(status == 404 && page.contains("<main class=\"page\">"), "{page}");
    for (accepted, expected) in
        [("text/html,*/*;q=0.8", "<main class=\"page\">"), ("*/*", "{\"error\":")]
    {
        let request = Request::get("/nowhere").header("accept", accepted);
        let (status, page, _) = ask(&server, request.body(Body::empty()).unwrap()).await;
        assert!(status == 404 && page.contains(expected), "{page}");
    }
    let (_, page, _) = get(&server, "/s/one").await;
    assert!(page.contains("Please allow JavaScript"), "{page}");
    let (_, page, _) = get(&server, "/s/two").await;
    assert!(page.contains("Bitte erlauben Sie JavaScript"), "{page}");
}

#[tokio::test]
async fn withdrawal_leaves_nothing_but_a_count() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let mut bot = server.join("p1").await;
    let block = bot.block().await.unwrap().block.unwrap();
    bot.start(&block.trials[0]);
    bot.answer(&block.trials[0], &first_option(&block.trials[0]), 0);
    bot.flush().await.unwrap();
    assert!(bot.withdraw().await.unwrap().is_deleted);
    assert!(server.cells().await.iter().all(|cell| *cell == (0, 0)));
    for table in ["event", "trial", "session", "epoch", "conflict"] {
        let sql = format!("select count(*) from {table}");
        let n = server.app.store.read(move |tx| tx.first(&sql, &[], |row| row.whole(0))).await;
        assert_eq!(n.unwrap(), Some(0), "{table}");
    }
    let study = server.app.store.read(|tx| mohs_serve::store::study::find(tx, "study")).await;
    assert_eq!(study.unwrap().unwrap().n_withdrawn, 1);
    assert_eq!(bot.block().await.unwrap_err().code(), "session_withdrawn");
    let mut request = join_request(None);
    request.resume = Some(bot.joined.token.clone());
    let error = Bot::join(server.transport.clone(), "study", &request).await.err().unwrap();
    assert_eq!(error.code(), "session_withdrawn");
}

#[tokio::test]
async fn nothing_of_a_plan_says_what_a_picture_shows() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let bot = server.join("p1").await;
    let mut block = bot.block().await.unwrap().block.unwrap();
    for trial in &mut block.trials {
        trial.options.clear();
    }
    let text = serde_json::to_string(&block).unwrap();
    assert!(!text.contains("label-") && !text.contains("stimulus-"), "{text}");
}

#[tokio::test]
async fn addresses_that_lead_elsewhere_lead_nowhere() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    for path in [
        "/media/../study.toml",
        "/media/%2e%2e%2fstudy.toml",
        "/media/..%5c..%5cetc%5cpasswd.png",
        "/media/0000000000000000000000000000000000000000000000000000000000000000.png",
        "/assets/../../Cargo.toml",
        "/assets/%00",
        "/media/%ff.png",
        "/s/%3Cscript%3E",
        "/admin/..",
        "/nowhere",
    ] {
        let (status, body, _) = get(&server, path).await;
        assert!([401, 404].contains(&status), "{path} {status}");
        assert!(!body.contains("<script>"), "{path}");
    }
    let (status, _, headers) =
        get(&server, &format!("/media/{}.png", server.app.studies["study"].prepared[0].image))
            .await;
    assert_eq!((status, headers["content-type"].to_str().unwrap()), (200, "image/png"));
    assert!(headers["cache-control"].to_str().unwrap().contains("immutable"));
}

#[tokio::test]
async fn bodies_that_are_too_large_or_nonsense_are_refused() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let bot = server.join("p1").await;
    let path = format!("/api/sessions/{}/events", bot.joined.session);
    let token = Some(bot.joined.token.as_str());
    let join = "/api/studies/study/join";
    let event = |seq: u64, body: &str, hash: &str| {
        serde_json::json!({"events": [{"seq": seq, "body": body, "hash": hash}]}).to_string()
    };
    let hash = "0".repeat(64);
    let cases = [
        (path.as_str(), "x".repeat(300_000), 413),
        (&path, "{".into(), 400),
        (&path, "[]".into(), 400),
        (&path, "{\"events\": [], \"more\": 1}".into(), 400),
        (&path, event(0, "{}", &hash), 422),
        (&path, event(4_000_000_000, "{}", &hash), 422),
        (&path, event(1, "{}", &hash), 422),
        (&path, event(1, "{\"kind\":\"page\"}", "zz"), 422),
        (&path, event(1, "{\"kind\":\"context\",\"at_ms\":1,\"change\":\"\\u0000\"}", &hash), 422),
        (join, "{\"browser\": 1}".into(), 400),
        (join, "\u{0}".into(), 400),
        (join, "{\"browser\":\"\",\"system\":\"\",\"extra\":1}".into(), 400),
    ];
    for (path, body, expected) in cases {
        let (status, answer) = server.transport.post(path, token, body.clone()).await.unwrap();
        let answer = String::from_utf8_lossy(&answer);
        assert_eq!(status, expected, "{} {answer}", &body[..body.len().min(80)]);
        assert!(answer.starts_with("{\"error\":"), "{answer}");
    }
}

#[tokio::test]
async fn sql_in_every_field_is_only_text() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let evil = "'); drop table session; -- \" $1 %s \\";
    let mut request = join_request(Some(evil));
    request.recruiter = Some(evil.into());
    request.browser = evil.into();
    request.system = evil.into();
    let mut bot = Bot::join(server.transport.clone(), "study", &request).await.unwrap();
    let choices = [(evil.to_owned(), evil.to_owned())].into();
    bot.push(&EventBody::Page { at_ms: 1.0, page: "a'; drop".into(), choices });
    bot.push(&EventBody::Context { at_ms: 2.0, change: evil.into() });
    bot.agree().await.unwrap();
    let block = bot.block().await.unwrap().block.unwrap();
    let (trial, reason) = (block.trials[0].trial.clone(), evil.into());
    bot.push(&EventBody::Abandoned { at_ms: 3.0, trial, reason });
    assert_eq!(bot.flush().await.unwrap().acked_through, 4);
    for path in ["/s/'; drop table session", "/admin/x' or '1'='1"] {
        let path = path.replace(' ', "%20").replace('\'', "%27");
        let (status, _, _) = get(&server, &path).await;
        assert!([401, 404].contains(&status), "{path} {status}");
    }
    let token = server.app.secret.admin_token(Role::Viewer);
    let page = Request::get("/admin/study").header("cookie", format!("mohs_admin={token}"));
    let (status, body, _) = ask(&server, page.body(Body::empty()).unwrap()).await;
    assert_eq!(status, 200);
    assert!(!body.contains("drop table session; -- \""), "{body}");
}

#[tokio::test]
async fn script_in_names_is_only_text() {
    let folder = TempDir::new().unwrap();
    crate::folder::study(&folder.path().join("study"), "study", Task::Rate, (12, 3), |study| {
        study.page.title = Some("<script>alert(1)</script>".into());
        let labels = ["<img src=x onerror=alert(1)>", "label-0", "label-1", "label-2"];
        study.labels = labels.map(Into::into).to_vec();
    });
    let server = TestServer::over(folder, &["study"]).await;
    let token = server.app.secret.admin_token(Role::Owner);
    for path in ["/s/study", "/admin/study", "/admin"] {
        let request = Request::get(path).header("cookie", format!("mohs_admin={token}"));
        let (status, body, headers) = ask(&server, request.body(Body::empty()).unwrap()).await;
        assert_eq!(status, 200, "{path}");
        assert!(!body.contains("<script>alert") && !body.contains("<img"), "{path}");
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(headers["cross-origin-opener-policy"], "same-origin");
        assert_eq!(headers["cross-origin-embedder-policy"], "require-corp");
    }
}

#[tokio::test]
async fn a_preview_counts_nothing() {
    let server = TestServer::start(Task::Flash, (24, 3), |_| ()).await;
    let mut request = join_request(None);
    let until = crate::server::NOON_MS + 1_000;
    request.preview = Some(server.app.secret.preview_token("study", until));
    let mut bot = Bot::join(server.transport.clone(), "study", &request).await.unwrap();
    assert!(bot.joined.study.preview);
    let answers = |_: &mohs_serve::wire::Block, trial: &mohs_serve::wire::PlannedTrial| {
        let answer = first_option(trial);
        mohs_serve::bots::Deed::Answer { answer, extra_frames: 0 }
    };
    let ended = bot.take_part(&mut { answers }).await.unwrap();
    assert_eq!((ended.n_trials, ended.code), (8, None));
    let end = bot.end(false).await.unwrap();
    assert_eq!((end.ending, end.code), (Some(Ending::Complete), None));
    assert!(server.cells().await.iter().all(|cell| *cell == (0, 0)));
}

#[tokio::test]
async fn machines_can_watch_and_read_about_the_server() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    assert_eq!(get(&server, "/health").await.0, 200);
    let (status, text, _) = get(&server, "/metrics").await;
    assert!(status == 200 && text.contains("mohs_requests_total 2"), "{text}");
    let (_, text, _) = get(&server, "/openapi.json").await;
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
}

/// As when the disk is full: nothing can be written, and everything read.
#[tokio::test]
async fn machines_are_told_when_nothing_can_be_written() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let mohs_serve::store::Place::Sqlite(_) = &server.place else { return };
    let set = |sql: &'static str| server.app.store.write(move |tx| tx.batch(sql));
    set("create trigger full_1 before insert on session begin select raise(abort, 'full'); end; \
         create trigger full_2 before insert on setting begin select raise(abort, 'full'); end")
    .await
    .unwrap();
    // Reading still works, so it is not known before somebody writes.
    assert_eq!(get(&server, "/health").await.0, 200);
    assert!(server.try_join("study", Some("p1")).await.is_err());
    for _ in 0..2 {
        let (status, text, _) = get(&server, "/health").await;
        assert!(status == 503 && text.contains("store_failed"), "{text}");
        // What writes nothing proves nothing.
        server.app.sweep().await.unwrap();
    }
    set("drop trigger full_1; drop trigger full_2").await.unwrap();
    assert_eq!(get(&server, "/health").await.0, 200);
}

#[test]
fn a_study_whose_answers_leave_out_a_right_one_is_not_hosted() {
    let folder = TempDir::new().unwrap();
    crate::folder::study(folder.path(), "study", Task::Flash, (8, 4), |study| {
        study.labels = vec!["label-0".into(), "label-1".into()];
    });
    let Err(error) = Hosted::read(folder.path()) else { panic!("it was taken") };
    assert!(
        matches!(&error, LaunchError::NotOnOffer { n: 2, n_others: 1, label } if label == "label-2")
    );
    assert!(error.hint().unwrap().contains("labels"));
}

#[tokio::test]
async fn a_study_that_has_become_another_task_is_not_mixed_with_what_it_was() {
    let server = TestServer::start(Task::Flash, (8, 4), |_| ()).await;
    let folder = server.folder.path().join("study");
    crate::folder::study(&folder, "study", Task::Rate, (8, 4), |_| ());
    let hosted = vec![std::sync::Arc::new(Hosted::read(&folder).unwrap())];
    let again = App::start(server.app.store.clone(), hosted, Setup::default()).await;
    let Err(StartError::Launch(error)) = again else { panic!("it was started") };
    assert!(matches!(error, LaunchError::OtherTask { found: "rate", .. }));
}
