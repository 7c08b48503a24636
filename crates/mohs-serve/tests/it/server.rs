//! A server for one test.

use std::path::Path;
use std::sync::Arc;

use mohs_data::{Study, Task};
use mohs_serve::Clock;
use mohs_serve::app::{App, Setup};
use mohs_serve::bots::{Answer, Bot, BotError, InProcess, join_request};
use mohs_serve::hosted::Hosted;
use mohs_serve::router::router;
use mohs_serve::store::{Place, Store};
use mohs_serve::wire::{JoinRequest, PlannedTrial};
use tempfile::TempDir;

/// A server with its folder and its clock.
pub(crate) struct TestServer {
    pub(crate) app: App,
    pub(crate) clock: Clock,
    pub(crate) folder: TempDir,
    pub(crate) place: Place,
    pub(crate) transport: InProcess,
}

/// Any time.
pub(crate) const NOON_MS: i64 = 1_800_000_000_000;

impl TestServer {
    /// Hosts one study called `study`.
    pub(crate) async fn start(task: Task, counts: (u32, u32), change: impl Fn(&mut Study)) -> Self {
        let folder = TempDir::new().unwrap();
        super::folder::study(&folder.path().join("study"), "study", task, counts, change);
        Self::over(folder, &["study"]).await
    }

    /// Hosts studies that are in a folder already.
    pub(crate) async fn over(folder: TempDir, studies: &[&str]) -> Self {
        let place = fresh_place(folder.path());
        let clock = Clock::standing(NOON_MS);
        let app = start(folder.path(), studies, &place, &clock).await;
        let transport = InProcess(router(app.clone()));
        Self { app, clock, folder, place, transport }
    }

    /// Starts a second server on the same database, as after a crash.
    pub(crate) async fn another(&self, studies: &[&str]) -> InProcess {
        let app = start(self.folder.path(), studies, &self.place, &self.clock).await;
        InProcess(router(app))
    }

    /// Joins and agrees.
    pub(crate) async fn join(&self, id: &str) -> Bot<InProcess> {
        let mut bot = self.try_join("study", Some(id)).await.unwrap();
        bot.agree().await.unwrap();
        bot
    }

    pub(crate) async fn try_join(
        &self,
        study: &str,
        id: Option<&str>,
    ) -> Result<Bot<InProcess>, BotError> {
        Bot::join(self.transport.clone(), study, &join_request(id)).await
    }

    /// Comes back as the browser of an earlier epoch does, with the token that it kept.
    pub(crate) async fn resume(
        &self,
        study: &str,
        token: &str,
    ) -> Result<Bot<InProcess>, BotError> {
        let request = JoinRequest { resume: Some(token.into()), ..join_request(None) };
        Bot::join(self.transport.clone(), study, &request).await
    }

    /// Returns how full each cell is: done and leased.
    pub(crate) async fn cells(&self) -> Vec<(i64, i64)> {
        let read = self.app.store.read(|tx| mohs_serve::store::cell::all(tx, "study")).await;
        read.unwrap().iter().map(|cell| (cell.n_done, cell.n_leased)).collect()
    }
}

async fn start(folder: &Path, studies: &[&str], place: &Place, clock: &Clock) -> App {
    let hosted = studies.iter().map(|name| Arc::new(Hosted::read(&folder.join(name)).unwrap()));
    let hosted: Vec<Arc<Hosted>> = hosted.collect();
    let opened = place.clone();
    let store = tokio::task::spawn_blocking(move || Store::open(&opened)).await.unwrap().unwrap();
    let setup = Setup { clock: clock.clone(), ..Setup::default() };
    App::start(store, hosted, setup).await.unwrap()
}

/// Returns a database of its own: a file, or a schema of the Postgres that the environment names.
fn fresh_place(folder: &Path) -> Place {
    match std::env::var("MOHS_TEST_POSTGRES") {
        Err(_) => Place::Sqlite(folder.join("mohs.db")),
        Ok(url) => {
            let schema = format!("t{}", mohs_serve::token::fresh_id());
            let at = url.clone();
            let make = format!("create schema {schema}");
            let made = std::thread::spawn(move || {
                postgres::Client::connect(&at, postgres::NoTls).unwrap().batch_execute(&make)
            });
            made.join().unwrap().unwrap();
            let sign = if url.contains('?') { '&' } else { '?' };
            Place::Postgres(format!("{url}{sign}options=-csearch_path%3D{schema}"))
        }
    }
}

/// Returns the first answer on offer.
pub(crate) fn first_option(trial: &PlannedTrial) -> Answer {
    Answer::new(trial.options.first().cloned(), 700.0)
}
