//! What every request can reach: the store, the studies, the secret and the clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::clock::Clock;
use crate::conduct::{launch, lease};
use crate::design;
use crate::error::ApiError;
use crate::hosted::{Hosted, LaunchError};
use crate::limit::Limits;
use crate::store::{Store, StoreError, study};
use crate::token::{Secret, hex, random};

/// A server's state; cheap to clone. None of it is about an experiment that runs.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of a server.
pub struct Parts {
    /// Where data are kept.
    pub store: Store,
    /// The hosted studies by their names in addresses.
    pub studies: BTreeMap<String, Arc<Hosted>>,
    /// The secret of the database.
    pub secret: Secret,
    /// The clock.
    pub clock: Clock,
    /// How often one address may ask.
    pub limits: Limits,
    /// Whether a proxy in front says who asks.
    pub trusts_proxy: bool,
    /// Whether cookies may only travel encrypted.
    pub is_encrypted: bool,
    /// Where people reach the server, as browsers write origins.
    pub public_origin: Option<String>,
    /// Who is told why a request failed.
    pub log: Log,
    /// What was counted since the start.
    pub counts: Counts,
}

/// Is told, in words, why requests fail. No participant, address or token is named.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Counters for `/metrics`.
#[derive(Debug, Default)]
pub struct Counts {
    /// Requests.
    pub n_requests: AtomicU64,
    /// Requests that were refused.
    pub n_refused: AtomicU64,
    /// Requests that failed.
    pub n_failed: AtomicU64,
    /// Events that came in, new or known.
    pub n_events: AtomicU64,
}

/// How a server is set up.
#[derive(Clone)]
pub struct Setup {
    /// The clock.
    pub clock: Clock,
    /// Whether a proxy in front says who asks (`X-Forwarded-For`).
    pub trusts_proxy: bool,
    /// Whether people reach the server over HTTPS.
    pub is_encrypted: bool,
    /// Where people reach the server, as browsers write origins, where that is known.
    pub public_origin: Option<String>,
    /// Whether the store is the study's own: one of another name in it is most likely the same.
    pub has_own_store: bool,
    /// Who is told why requests fail.
    pub log: Log,
}

impl Default for Setup {
    fn default() -> Self {
        let log: Log = Arc::new(|_| ());
        Self {
            clock: Clock::System,
            trusts_proxy: false,
            is_encrypted: false,
            public_origin: None,
            has_own_store: false,
            log,
        }
    }
}

/// Requests of one address per second: a school class behind one address stays far below.
const PER_SECOND: f64 = 100.0;
/// Requests of one address at once: sixty people who load their pictures at the same time.
const BURST: f64 = 6_000.0;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A study cannot be hosted.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

impl App {
    /// Launches studies on a store.
    pub async fn start(
        store: Store,
        hosted: Vec<Arc<Hosted>>,
        setup: Setup,
    ) -> Result<Self, StartError> {
        let now_ms = setup.clock.now_ms();
        let mut studies = BTreeMap::new();
        for hosted in hosted {
            let name = hosted.name.clone();
            if studies.insert(name.clone(), hosted).is_some() {
                return Err(LaunchError::SameName { name }.into());
            }
        }
        let stored = store.write(study::all).await?;
        for hosted in studies.values() {
            let found = hosted.study.task.as_str();
            let known = stored.iter().find(|(name, _)| *name == hosted.name);
            if let Some((name, task)) = known.filter(|(_, task)| task != found) {
                let (name, stored) = (name.clone(), task.clone());
                return Err(LaunchError::OtherTask { name, stored, found }.into());
            }
            // An `id` that was written down is meant; one that follows from the name may not be.
            if setup.has_own_store && hosted.study.id.is_none() {
                let name = hosted.name.clone();
                let others = store.write(move |tx| design::others_instead(tx, &name)).await?;
                if !others.is_empty() {
                    let name = hosted.name.clone();
                    return Err(LaunchError::OtherName { name, others }.into());
                }
            }
            let kept = Arc::clone(hosted);
            let changes = store.write(move |tx| design::keep(tx, &kept)).await?;
            if !changes.is_empty() {
                let name = hosted.name.clone();
                return Err(LaunchError::OtherDesign { name, changes }.into());
            }
            let hosted: Arc<Hosted> = Arc::clone(hosted);
            store.write(move |tx| launch::launch(tx, &hosted, now_ms)).await?;
        }
        let fresh = || hex(&random::<32>());
        let secret = store.write(move |tx| study::setting(tx, "secret", fresh)).await?;
        let secret = Secret::parse(&secret);
        let secret = secret.ok_or(StoreError::Damaged { what: "a secret" })?;
        Ok(Self(Arc::new(Parts {
            store,
            studies,
            secret,
            clock: setup.clock,
            limits: Limits::new(PER_SECOND, BURST),
            trusts_proxy: setup.trusts_proxy,
            is_encrypted: setup.is_encrypted,
            public_origin: setup.public_origin,
            log: setup.log,
            counts: Counts::default(),
        })))
    }

    /// Returns a hosted study.
    pub fn study(&self, name: &str) -> Result<Arc<Hosted>, ApiError> {
        self.studies.get(name).cloned().ok_or(ApiError::StudyUnknown)
    }

    /// Takes back what is promised to people who do not come back.
    pub async fn sweep(&self) -> Result<usize, StoreError> {
        let now_ms = self.clock.now_ms();
        let mut n = 0;
        for hosted in self.studies.values() {
            let hosted = Arc::clone(hosted);
            n += self.store.write(move |tx| lease::sweep(tx, &hosted, now_ms)).await?;
        }
        Ok(n)
    }
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
