//! Admin pages: who may see and do what.

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::{Method, Request};
use mohs_data::{Seed, Task};
use mohs_serve::bots::Crowd;
use mohs_serve::token::Role;
use tower::ServiceExt;

use crate::server::TestServer;

async fn ask(server: &TestServer, method: Method, path: &str, role: Option<Role>) -> (u16, String) {
    let mut request = Request::builder().method(method).uri(path);
    if let Some(role) = role {
        let token = server.app.secret.admin_token(role);
        request = request.header("cookie", format!("other=1; mohs_admin={token}"));
    }
    let request = request.body(Body::from("bots=4")).unwrap();
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

#[tokio::test]
async fn a_closed_study_takes_nobody_new() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let old = server.join("p1").await;
    ask(&server, Method::POST, "/admin/study/close", Some(Role::Owner)).await;
    let error = server.try_join("study", Some("p2")).await.err().unwrap();
    assert_eq!(error.code(), "study_closed");
    assert_eq!(server.join("p1").await.joined.session, old.joined.session);
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
