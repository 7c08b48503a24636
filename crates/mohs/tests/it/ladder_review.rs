//! `mohs ladder review`: the page behind its link, decisions that survive a kill, and stimuli
//! without what was rejected.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::mohs::Place;

struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Server {
    fn start(place: &Place) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mohs"))
            .args(["ladder", "review", "rungs"])
            .current_dir(place.path("."))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("because the binary was built for this test");
        let stderr = child.stderr.take().expect("because it is piped");
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        let link = lines.find(|line| line.starts_with("http://")).expect("because it says so");
        // It goes on speaking to nobody.
        std::thread::spawn(move || lines.for_each(drop));
        let rest = link.strip_prefix("http://").expect("because it was found by it");
        let (address, token) = rest.split_once("/login?token=").expect("because of its form");
        Server { child, address: address.to_owned(), token: token.to_owned() }
    }

    /// Sends a request; returns everything that comes back.
    fn ask(&self, method: &str, path: &str, cookie: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("because it listens");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nCookie: {cookie}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("because it listens");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("because it answers");
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn cookie(&self) -> String {
        let answer = self.ask("GET", &format!("/login?token={}", self.token), "", "");
        let line = answer.lines().find(|line| line.starts_with("set-cookie: "));
        let line = line.unwrap_or_else(|| panic!("{answer}"));
        assert!(line.contains("HttpOnly; SameSite=Strict"), "{line}");
        line["set-cookie: ".len()..].split(';').next().unwrap_or_default().to_owned()
    }

    fn decide(&self, cookie: &str, stimulus: &str, verdict: &str, reason: &str) -> String {
        let body = serde_json::json!({
            "stimulus": stimulus, "verdict": verdict, "reason": reason,
        });
        self.ask("POST", "/api/verdicts", cookie, &body.to_string())
    }

    fn kill(mut self) {
        self.child.kill().expect("because it is ours");
        self.child.wait().expect("because it is ours");
    }
}

const WORLD: [&str; 13] = [
    "ladder",
    "build",
    "world",
    "rungs",
    "--scenes",
    "1",
    "--size",
    "48",
    "--classes",
    "mug,bird",
    "--attributes",
    "size",
    "--quiet",
];

#[test]
fn decisions_survive_a_kill_and_rejected_pictures_are_left_out() {
    let place = Place::new();
    place.run(&WORLD).ok();
    let all = place.read("rungs/stimuli.csv");
    let server = Server::start(&place);
    let cookie = server.cookie();
    let kept = server.decide(&cookie, "mug-size-01-3", "rejected", "drawn, \"wrongly\"\nit is");
    assert!(kept.starts_with("HTTP/1.1 204"), "{kept}");
    server.decide(&cookie, "mug-size-01-4", "rejected", "");
    server.decide(&cookie, "mug-size-01-4", "accepted", "");
    server.decide(&cookie, "bird-size-01-1", "rejected", "");
    server.kill();
    let rows = place.read("rungs/review.csv");
    assert_eq!(rows.lines().count(), 5, "{rows}");
    assert!(rows.contains("mug-size-01-3,rejected,\"drawn, \"\"wrongly\"\" it is\","), "{rows}");
    // A second look goes on where the first was stopped.
    let server = Server::start(&place);
    let cookie = server.cookie();
    let list = server.ask("GET", "/api/pictures", &cookie, "");
    assert!(list.contains("\"drawn, \\\"wrongly\\\" it is\""), "{list}");
    server.decide(&cookie, "bird-size-01-1", "undecided", "");
    server.kill();
    let ran = place.run(&["ladder", "review", "rungs", "--apply"]).ok();
    assert!(ran.stderr().contains("17 pictures, 1 rejected ones left out"), "{}", ran.all());
    let used = place.read("rungs/stimuli.csv");
    assert!(!used.contains("mug-size-01-3,") && used.contains("bird-size-01-1,"), "{used}");
    assert_eq!(place.read("rungs/made.csv"), all);
    // Building again keeps to the review.
    let again = place.run(&WORLD[..12]).ok();
    assert!(again.stderr().contains("17 pictures, 0 of them new, 1 more are"), "{}", again.all());
    assert_eq!(place.read("rungs/stimuli.csv"), used);
}

#[test]
fn nothing_is_shown_or_taken_without_the_link() {
    let place = Place::new();
    place.run(&WORLD).ok();
    let server = Server::start(&place);
    let cookie = server.cookie();
    for path in ["/", "/api/pictures", "/pictures/0"] {
        for wrong in ["", "mohs_review_=x", &cookie[..cookie.len() - 1]] {
            let answer = server.ask("GET", path, wrong, "");
            assert!(answer.starts_with("HTTP/1.1 401"), "{path}: {answer}");
        }
        let answer = server.ask("GET", path, &cookie, "");
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        assert!(answer.contains("content-security-policy: default-src 'none'; script-src 'self'"));
        assert!(answer.contains("x-frame-options: DENY"), "{answer}");
    }
    let wrong = server.ask("GET", "/login?token=0000", "", "");
    assert!(wrong.starts_with("HTTP/1.1 401") && !wrong.contains("set-cookie"), "{wrong}");
    let refused = server.decide("", "mug-size-01-3", "rejected", "");
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    for (stimulus, verdict, reason) in [
        ("mug-size-01-33", "rejected", "".to_owned()),
        ("mug-size-01-3", "maybe", "".to_owned()),
        ("mug-size-01-3", "rejected", "x".repeat(301)),
    ] {
        let answer = server.decide(&cookie, stimulus, verdict, &reason);
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    for path in ["/pictures/18", "/pictures/-1", "/pictures/..%2f..%2fdraw.toml", "/etc/passwd"] {
        let answer = server.ask("GET", path, &cookie, "");
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    let second = place.run(&["ladder", "review", "rungs"]);
    assert_eq!(second.code(), 3, "{}", second.all());
    assert!(second.stderr().contains("another review of this folder"), "{}", second.all());
    assert_eq!(place.read("rungs/review.csv").lines().count(), 1);
    server.kill();
}

#[test]
fn a_folder_without_a_ladder_or_with_pictures_gone_is_refused() {
    let place = Place::new();
    let ran = place.run(&["ladder", "review", "."]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr().contains("holds no ladder"), "{}", ran.all());
    place.run(&WORLD).ok();
    std::fs::remove_file(place.path("rungs/stimuli/mug-size-01-5.png")).unwrap();
    let ran = place.run(&["ladder", "review", "rungs"]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr().contains("the picture of `mug-size-01-5` is not there"), "{}", ran.all());
}
