//! Admin pages: who may see and do what.

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::http::request::Builder;
use hyper::{Method, Request};
use mohs_data::{Seed, Task};
use mohs_serve::app::{App, Setup};
use mohs_serve::bots::{Crowd, Deed, InProcess};
use mohs_serve::router::router;
use mohs_serve::token::Role;
use mohs_serve::wire::{Block, PlannedTrial};
use tower::ServiceExt;

use crate::server::{TestServer, first_option};

async fn ask(server: &TestServer, method: Method, path: &str, role: Option<Role>) -> (u16, String) {
    send(server, Request::builder().method(method).uri(path), role, "bots=4").await
}

/// Posts a form as the owner.
async fn ask_with(server: &TestServer, path: &str, form: &'static str) -> (u16, String) {
    send(server, Request::post(path), Some(Role::Owner), form).await
}

async fn send(
    server: &TestServer,
    mut request: Builder,
    role: Option<Role>,
    form: &'static str,
) -> (u16, String) {
    if let Some(role) = role {
        let token = server.app.secret.admin_token(role);
        request = request.header("cookie", format!("other=1; mohs_admin={token}"));
    }
    let request = request.body(Body::from(form)).unwrap();
    let response = server.transport.0.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn viewers_look_and_owners_act() {
    let server = TestServer::start(Task::Flash, (24, 3), |_| ()).await;
    let hosted = server.app.studies["study"].clone();
    let crowd = Crowd::new(&hosted, Seed(3));
    server.join("p1").await.take_part(&mut crowd.person(1)).await.unwrap();
    for (method, path, viewer, owner) in [
        (Method::GET, "/admin", 200, 200),
        (Method::GET, "/admin/study", 200, 200),
        (Method::GET, "/admin/study/export/trials.csv", 200, 200),
        (Method::GET, "/admin/study/export/events.jsonl", 200, 200),
        (Method::GET, "/admin/study/export/sessions.csv", 403, 200),
        (Method::GET, "/admin/study/export/..%2fmohs.db", 404, 404),
        (Method::POST, "/admin/study/close", 403, 303),
        (Method::POST, "/admin/study/open", 403, 303),
        (Method::POST, "/admin/study/trial-run", 403, 200),
        (Method::GET, "/admin/nothing", 404, 404),
    ] {
        assert_eq!(ask(&server, method.clone(), path, None).await.0, 401, "{path}");
        assert_eq!(
            ask(&server, method.clone(), path, Some(Role::Viewer)).await.0,
            viewer,
            "{path}"
        );
        assert_eq!(ask(&server, method, path, Some(Role::Owner)).await.0, owner, "{path}");
    }
    let (_, page) = ask(&server, Method::GET, "/admin/study", Some(Role::Owner)).await;
    assert!(page.contains("6 / 144") && page.contains("Preview as participant"), "{page}");
    let (_, csv) =
        ask(&server, Method::GET, "/admin/study/export/trials.csv", Some(Role::Viewer)).await;
    assert_eq!(csv.lines().count(), 7);
}

/// For participants whose browser is gone: the owner deletes by the session's id or its code.
#[tokio::test]
async fn the_owner_deletes_whose_data_they_are_asked_to() {
    let server = TestServer::start(Task::Flash, (24, 3), |_| ()).await;
    let hosted = server.app.studies["study"].clone();
    let crowd = Crowd::new(&hosted, Seed(3));
    let (mut first, mut second) = (server.join("p1").await, server.join("p2").await);
    first.take_part(&mut crowd.person(1)).await.unwrap();
    let ended = second.take_part(&mut crowd.person(2)).await.unwrap();
    let by_id = format!("whose={}&sure=yes", first.joined.session);
    let by_code = format!("whose=+{}+&sure=yes", ended.code.unwrap());
    let (by_id, by_code): (&'static str, &'static str) = (by_id.leak(), by_code.leak());
    let path = "/admin/study/withdraw";
    let post = |role, form| send(&server, form_post(path), role, form);
    assert_eq!(post(None, by_id).await.0, 401);
    assert_eq!(post(Some(Role::Viewer), by_id).await.0, 403);
    for wrong in [
        "whose=nobody&sure=yes",
        "whose=&sure=yes",
        "sure=yes",
        by_id.strip_suffix("&sure=yes").unwrap(),
    ] {
        assert_eq!(post(Some(Role::Owner), wrong).await.0, 400, "{wrong}");
    }
    let csv = async || {
        ask(&server, Method::GET, "/admin/study/export/trials.csv", Some(Role::Owner)).await.1
    };
    assert_eq!(csv().await.lines().count(), 13);
    assert_eq!(post(Some(Role::Owner), by_id).await.0, 303);
    assert_eq!(csv().await.lines().count(), 7);
    assert_eq!(post(Some(Role::Owner), by_code).await.0, 303);
    assert_eq!(csv().await.lines().count(), 1);
    // Gone is gone, and the cells are open again.
    assert_eq!(post(Some(Role::Owner), by_code).await.0, 400);
    let (_, page) = ask(&server, Method::GET, "/admin/study", Some(Role::Owner)).await;
    assert!(page.contains("0 / 144"), "{page}");
}

#[tokio::test]
async fn a_code_that_all_get_names_nobody_also_while_one_has_it() {
    let server = TestServer::start(Task::Flash, (24, 3), |study| {
        study.page.completion_code = Some("C1ABCDEF".into());
    })
    .await;
    let crowd = Crowd::new(&server.app.studies["study"], Seed(3));
    let ended = server.join("p1").await.take_part(&mut crowd.person(1)).await.unwrap();
    assert_eq!(ended.code.as_deref(), Some("C1ABCDEF"));
    let path = "/admin/study/withdraw";
    let asked = send(&server, form_post(path), Some(Role::Owner), "whose=C1ABCDEF&sure=yes");
    assert_eq!(asked.await.0, 400);
    let (_, page) = ask(&server, Method::GET, "/admin/study", Some(Role::Owner)).await;
    assert!(page.contains("6 / 144"), "{page}");
}

fn form_post(path: &str) -> Builder {
    Request::post(path).header("content-type", "application/x-www-form-urlencoded")
}

#[tokio::test]
async fn who_agreed_is_counted_and_not_who_joined() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    server.try_join("study", Some("p1")).await.unwrap();
    server.join("p2").await;
    server.join("p3").await.withdraw().await.unwrap();
    let (_, page) = ask(&server, Method::GET, "/admin/study", Some(Role::Owner)).await;
    assert!(page.contains("<dt>agreed to take part</dt><dd>2</dd>"), "{page}");
}

#[tokio::test]
async fn a_closed_study_takes_nobody_new() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let old = server.join("p1").await;
    ask(&server, Method::POST, "/admin/study/close", Some(Role::Owner)).await;
    let error = server.try_join("study", Some("p2")).await.err().unwrap();
    assert_eq!(error.code(), "study_closed");
    assert_eq!(server.join("p1").await.joined.session, old.joined.session);
}

/// Closes the study with the owner's cookie and these headers, and returns the status.
async fn close_with(server: &TestServer, headers: &[(&str, &str)]) -> u16 {
    let token = server.app.secret.admin_token(Role::Owner);
    let mut request = Request::post("/admin/study/close")
        .header("host", "127.0.0.1:8080")
        .header("cookie", format!("mohs_admin={token}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::empty()).unwrap();
    server.transport.0.clone().oneshot(request).await.unwrap().status().as_u16()
}

/// Other ports and subdomains are the same site to a browser, which sends our cookie along.
#[tokio::test]
async fn forms_of_other_sites_change_nothing() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let site = "sec-fetch-site";
    for headers in [
        vec![(site, "same-site")],
        vec![(site, "cross-site")],
        vec![(site, "nonsense")],
        // What the browser says of itself weighs more than what may follow from a host.
        vec![(site, "same-site"), ("origin", "http://127.0.0.1:8080")],
        vec![("origin", "http://127.0.0.1:9090")],
        vec![("origin", "https://127.0.0.1:8080")],
        vec![("origin", "http://evil.example")],
        vec![("origin", "null")],
        vec![("origin", "")],
    ] {
        assert_eq!(close_with(&server, &headers).await, 403, "{headers:?}");
    }
    let is_open = |server: &TestServer| {
        let store = server.app.store.clone();
        async move {
            let study = store.read(|tx| mohs_serve::store::study::find(tx, "study")).await;
            study.unwrap().unwrap().is_open
        }
    };
    assert!(is_open(&server).await);
    for headers in [
        vec![],
        vec![(site, "same-origin")],
        vec![(site, "none")],
        vec![(site, "same-origin"), ("origin", "null")],
        vec![("origin", "http://127.0.0.1:8080")],
    ] {
        assert_eq!(close_with(&server, &headers).await, 303, "{headers:?}");
    }
    assert!(!is_open(&server).await);
}

#[tokio::test]
async fn forms_come_from_where_people_reach_the_server() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let hosted = server.app.studies.values().cloned().collect();
    let public_origin = Some("https://lab.example.org".into());
    let setup = Setup { is_encrypted: true, public_origin, ..Setup::default() };
    let app = App::start(server.app.store.clone(), hosted, setup).await.unwrap();
    let server = TestServer { transport: InProcess(router(app.clone())), app, ..server };
    for (origin, status) in [
        ("https://lab.example.org", 303),
        ("https://LAB.example.org", 303),
        ("https://127.0.0.1:8080", 303),
        ("http://lab.example.org", 403),
        ("https://other.example.org", 403),
        ("https://lab.example.org:8443", 403),
    ] {
        assert_eq!(close_with(&server, &[("origin", origin)]).await, status, "{origin}");
    }
}

/// With no referrer, browsers say `Origin: null` of forms of our own.
#[tokio::test]
async fn admin_pages_let_browsers_say_where_a_form_comes_from() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    for (path, policy) in [("/admin/study", "same-origin"), ("/s/study", "no-referrer")] {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = server.transport.0.clone().oneshot(request).await.unwrap();
        assert_eq!(response.headers()["referrer-policy"], policy, "{path}");
    }
}

#[tokio::test]
async fn as_many_bots_come_as_there_can_be() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    for (bots, status) in [
        ("bots=-1", 400),
        ("bots=abc", 400),
        ("bots=0", 400),
        ("bots=501", 400),
        ("bots=100000000", 400),
        ("bots=", 400),
        ("", 400),
        ("bots=2", 200),
    ] {
        let (found, page) = ask_with(&server, "/admin/study/trial-run", bots).await;
        assert_eq!(found, status, "{bots}");
        assert!(status == 200 || page.contains("a number from 1 to 500, found"), "{page}");
    }
}

#[tokio::test]
async fn what_counts_is_told_apart_from_what_is_void() {
    let server = TestServer::start(Task::Flash, (24, 3), |_| ()).await;
    let mut bot = server.join("p1").await;
    let mut n = 0;
    let mut once_late = |block: &Block, trial: &PlannedTrial| {
        n += u32::from(!block.is_practice);
        let extra_frames = u32::from(!block.is_practice && n == 2);
        Deed::Answer { answer: first_option(trial), extra_frames }
    };
    bot.take_part(&mut once_late).await.unwrap();
    let (_, page) = ask(&server, Method::GET, "/admin/study", Some(Role::Owner)).await;
    assert!(page.contains("5 trials count, 1 void; rt"), "{page}");
    let (_, csv) =
        ask(&server, Method::GET, "/admin/study/export/sessions.csv", Some(Role::Owner)).await;
    let line: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(line[3..6], ["6", "5", "6"], "{csv}");
    assert!(page.contains("6 / 6</td><td class=\"n\">5</td>"), "{page}");
}

#[tokio::test]
async fn a_login_turns_a_link_into_a_cookie() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let token = server.app.secret.admin_token(Role::Owner);
    let request = Request::get(format!("/admin/login?token={token}")).body(Body::empty()).unwrap();
    let response = server.transport.0.clone().oneshot(request).await.unwrap();
    let cookie = response.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let (status, _) = ask(&server, Method::GET, "/admin/login?token=owner.00", None).await;
    assert_eq!(status, 401);
}

#[tokio::test]
async fn pages_about_pairs_speak_of_no_right_answer_and_no_form_that_they_lack() {
    for (task, has) in [(Task::Pairs, false), (Task::Flash, true)] {
        let server = TestServer::start(task, (24, 3), |_| ()).await;
        let (_, page) = ask(&server, Method::GET, "/admin/study", Some(Role::Owner)).await;
        assert_eq!(page.contains("right at longest"), has, "{page}");
        assert_eq!(page.contains("--to bids"), has, "{page}");
        assert!(page.contains("/admin/study/export/sessions.csv"), "{page}");
        let (_, page) = ask(&server, Method::GET, "/admin/study", Some(Role::Viewer)).await;
        assert!(!page.contains("sessions.csv"), "{page}");
    }
}

/// Sessions have six trials here, and leavers leave within them.
#[tokio::test]
async fn three_in_ten_bots_leave_however_short_the_study_is() {
    let server = TestServer::start(Task::Rate, (24, 3), |study| {
        study.rate.trials_per_participant = 6;
        study.rate.participants_per_stimulus = 100;
    })
    .await;
    let hosted = server.app.studies["study"].clone();
    let crowd = Crowd::new(&hosted, Seed(3)).troubled(0.3, 0.0);
    let mut n_left = 0;
    for idx in 0..60 {
        let mut bot = server.join(&format!("p{idx}")).await;
        n_left += u32::from(bot.take_part(&mut crowd.person(idx)).await.unwrap().code.is_none());
    }
    assert!((10..=26).contains(&n_left), "{n_left} of 60");
}
