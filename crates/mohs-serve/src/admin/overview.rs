//! How a study goes, in numbers: one pass over its cells, sessions and trials.

use std::collections::BTreeMap;

use mohs_data::{Task, Trial};
use mohs_score::human::exclusion;

use crate::export::{self, ExportError};
use crate::hosted::Hosted;
use crate::store::cell::{self, CellRow};
use crate::store::connection::Connection;
use crate::store::session::{self, SessionRow};
use crate::store::study::StudyRow;
use crate::store::{StoreError, event, study};

/// Sessions on the page.
const MOST_SESSIONS: i64 = 200;
/// Trials up to which exclusions are worked out on the page.
const MOST_TRIALS: usize = 200_000;

/// Everything the page of a study shows.
pub(crate) struct Overview {
    pub(crate) study: StudyRow,
    pub(crate) cells: Vec<CellRow>,
    pub(crate) sessions: Vec<SessionRow>,
    pub(crate) n_by_state: BTreeMap<String, usize>,
    /// Who agreed to take part, those who withdrew included.
    pub(crate) n_agreed: i64,
    pub(crate) by_exposure: BTreeMap<Exposure, Counts>,
    pub(crate) by_refresh: BTreeMap<i64, usize>,
    pub(crate) rts_ms: Vec<f64>,
    pub(crate) share_right_by_session: BTreeMap<String, (usize, usize)>,
    pub(crate) exclusions: Vec<(String, String, usize)>,
    pub(crate) conflicts: Vec<(String, u32, u32)>,
    /// Trials that are not void, by session.
    pub(crate) n_good_by_session: BTreeMap<String, usize>,
    pub(crate) n_trials: usize,
    pub(crate) n_void: usize,
}

/// An exposure or beep in whole microseconds, so that it can be sorted.
pub(crate) type Exposure = i64;

/// Trials at one exposure.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) n: usize,
    pub(crate) n_right: usize,
    pub(crate) n_late: usize,
    pub(crate) verdicts: BTreeMap<&'static str, usize>,
}

impl Overview {
    /// Counts.
    pub(crate) fn read(tx: &mut dyn Connection, hosted: &Hosted) -> Result<Self, StoreError> {
        let name = &hosted.name;
        let study = study::find(tx, name)?.ok_or(StoreError::Damaged { what: "a study" })?;
        let n_agreed = session::n_agreed(tx, name)? + study.n_withdrawn;
        let mut overview = Self {
            study,
            n_agreed,
            cells: cell::all(tx, name)?,
            sessions: session::of_study(tx, name, MOST_SESSIONS)?,
            n_by_state: session::n_by_state(tx, name)?,
            by_exposure: BTreeMap::new(),
            by_refresh: BTreeMap::new(),
            rts_ms: Vec::new(),
            share_right_by_session: BTreeMap::new(),
            exclusions: Vec::new(),
            conflicts: event::conflicts(tx, name)?,
            n_good_by_session: BTreeMap::new(),
            n_trials: 0,
            n_void: 0,
        };
        let longest = hosted.study.flash.exposures_ms.last().copied();
        let mut kept: Vec<Trial> = Vec::new();
        let passed = export::each_trial(tx, name, hosted.study.task, &mut |trial| {
            overview.add(trial, longest.map(|ms| ms.value()));
            if kept.len() < MOST_TRIALS {
                kept.push(trial.clone());
            }
            Ok(())
        });
        passed.map_err(|error| match error {
            ExportError::Store(error) => error,
            ExportError::File(error) => StoreError::Sink(Box::new(error)),
        })?;
        overview.rts_ms.sort_by(f64::total_cmp);
        if overview.n_trials <= MOST_TRIALS && hosted.study.task != Task::Pairs {
            let applied = exclusion::apply(&kept, &hosted.study.exclusions);
            for count in &applied.counts {
                let n = applied.exclusions.iter().filter(|one| one.rule == count.rule).count();
                overview.exclusions.push((count.rule.to_string(), count.meaning.clone(), n));
            }
        }
        Ok(overview)
    }

    fn add(&mut self, trial: &Trial, longest_ms: Option<f64>) {
        self.n_trials += 1;
        let exposure = trial.exposure.or(trial.beep);
        #[expect(clippy::cast_possible_truncation, reason = "exposures are below an hour")]
        let key = exposure.map_or(0, |ms| (ms.value() * 1_000.0).round() as i64);
        let counts = self.by_exposure.entry(key).or_default();
        let is_right = trial.is_correct() == Some(true);
        let is_good = trial.extra.get("state") != Some("voided");
        self.n_void += usize::from(!is_good);
        counts.n += usize::from(is_good);
        counts.n_right += usize::from(is_good && is_right);
        if let Some(verdict) = trial.timing {
            *counts.verdicts.entry(verdict.as_str()).or_default() += 1;
        }
        let number = |name: &str| trial.extra.get(name).and_then(|text| text.parse::<f64>().ok());
        if let Some(period) = number("period_ms") {
            let gap = number("longest_gap_ms").unwrap_or_default();
            counts.n_late += usize::from(1.5 * period < gap);
            #[expect(clippy::cast_possible_truncation, reason = "periods are 1 to 1000 ms")]
            let hertz = (1_000.0 / period).round() as i64;
            *self.by_refresh.entry(hertz).or_default() += 1;
        }
        if is_good {
            self.rts_ms.extend(trial.rt().map(|rt| rt.value()));
            let session = trial.session.as_str().to_owned();
            *self.n_good_by_session.entry(session).or_default() += 1;
        }
        let is_longest = trial.exposure.map(|ms| ms.value()) == longest_ms;
        if is_good && (is_longest || trial.exposure.is_none()) {
            let session = trial.session.as_str().to_owned();
            let (n, n_right) = self.share_right_by_session.entry(session).or_default();
            *n += 1;
            *n_right += usize::from(is_right);
        }
    }

    /// Returns the rt below which this share of trials lies.
    pub(crate) fn rt_ms(&self, share: f64) -> Option<f64> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a position in a list"
        )]
        let idx = (share * self.rts_ms.len() as f64) as usize;
        self.rts_ms.get(idx.min(self.rts_ms.len().saturating_sub(1))).copied()
    }
}
