//! A trial run: bots take part in a copy of a study, over the same router, and are forgotten.

use std::sync::Arc;

use mohs_data::Seed;
use tokio::task::JoinSet;

use crate::Clock;
use crate::app::{App, Setup, StartError};
use crate::bots::{Bot, Crowd, InProcess, join_request};
use crate::hosted::Hosted;
use crate::router::router;
use crate::store::{Place, Store, StoreError, cell};

/// What came of a trial run.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct TrialRun {
    /// Bots that came.
    pub n_bots: usize,
    /// Bots that did everything.
    pub n_complete: usize,
    /// Bots that left on the way.
    pub n_left: usize,
    /// Bots that came when the study was full.
    pub n_turned_away: usize,
    /// Bots that met an error.
    pub n_failed: usize,
    /// Trials they answered, practice and void ones included.
    pub n_trials: u32,
    /// What fills the study's cells: trials, judgements, or participants of a beep study.
    pub n_done: i64,
    /// The same, as many as the study wants.
    pub n_wanted: i64,
    /// Fullest minus emptiest cell.
    pub spread: i64,
}

/// Bots that take part at the same time.
const TOGETHER: usize = 20;

/// Lets bots take part in a study on a database of their own; some leave, some screens drop frames.
pub async fn trial_run(hosted: Arc<Hosted>, n_bots: usize) -> Result<TrialRun, StartError> {
    let folder = tempfile::tempdir().map_err(|cause| StoreError::Sink(Box::new(cause)))?;
    let place = Place::Sqlite(folder.path().join("trial-run.db"));
    let store = tokio::task::spawn_blocking(move || Store::open(&place)).await;
    let store = store.map_err(|_| StoreError::Closed)??;
    let clock = Clock::standing(0);
    let setup = Setup { clock: clock.clone(), ..Setup::default() };
    let app = App::start(store, vec![Arc::clone(&hosted)], setup).await?;
    let transport = InProcess(router(app.clone()));
    let crowd = Crowd::new(&hosted, Seed(1)).troubled(0.3, 0.05);
    let crowd = Arc::new(crowd);
    let mut run = TrialRun { n_bots, ..TrialRun::default() };
    for first in (0..n_bots).step_by(TOGETHER) {
        // Those who left are given up before the next ones come, as over days in life.
        clock.turn(hosted.lease_ms() + 1);
        let mut together = JoinSet::new();
        for idx in first..n_bots.min(first + TOGETHER) {
            let (crowd, transport) = (Arc::clone(&crowd), transport.clone());
            let study = hosted.name.clone();
            together.spawn(async move {
                let request = join_request(Some(&format!("bot-{idx}")));
                let mut bot = Bot::join(transport, &study, &request).await?;
                bot.take_part(&mut crowd.person(idx)).await
            });
        }
        for ended in together.join_all().await {
            match ended {
                Ok(ended) => {
                    run.n_trials += ended.n_trials;
                    run.n_complete += usize::from(ended.code.is_some());
                    run.n_left += usize::from(ended.code.is_none());
                }
                Err(error) if error.code() == "study_full" => run.n_turned_away += 1,
                Err(_) => run.n_failed += 1,
            }
        }
    }
    let name = hosted.name.clone();
    let cells = app.store.read(move |tx| cell::all(tx, &name)).await?;
    let wanted = cells.iter().filter(|cell| 0 < cell.target);
    let done: Vec<i64> = wanted.clone().map(|cell| cell.n_done).collect();
    run.n_done = done.iter().sum();
    run.n_wanted = wanted.map(|cell| cell.target).sum();
    run.spread = done.iter().max().unwrap_or(&0) - done.iter().min().unwrap_or(&0);
    Ok(run)
}
