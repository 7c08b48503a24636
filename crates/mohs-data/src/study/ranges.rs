//! The ranges of times and counts in `study.toml`: whatever is outside cannot be meant, and would be
//! found by participants. Read in `study.rs`, so that every command refuses the same.

use super::Study;
use crate::Millis;

/// Exposures and beeps end before this; trials say the same of theirs.
const HOUR_MS: f64 = 3_600_000.0;
/// What is shown around a picture, and what is allowed around a beep, in milliseconds.
const LONGEST_MS: f64 = 60_000.0;
/// Of anything that is counted: beyond all studies, and far below what adds up to too much.
const MOST: usize = 1_000_000;
/// Minutes in a day.
const DAY_MINUTES: u32 = 1_440;
/// Minutes in thirty days.
const MONTH_MINUTES: u32 = 43_200;

impl Study {
    /// Hands the first time or count out of its range to `bad`, with the range and what was found.
    pub(super) fn check_ranges<E>(
        &self,
        bad: &impl Fn(&str, &str, String) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check_schedules(bad)?;
        let (flash, beep) = (&self.flash, &self.beep);
        let times = [
            ("flash.fixation_ms", flash.fixation_ms),
            ("flash.mask_ms", flash.mask_ms),
            ("flash.gap_ms", flash.gap_ms),
            ("beep.tolerance_ms", beep.tolerance_ms),
            ("beep.window_ms", beep.window_ms),
        ];
        for (key, time) in times {
            if !(0.0..=LONGEST_MS).contains(&time.value()) {
                let expected = format!("0 to {LONGEST_MS} milliseconds");
                return bad(key, &expected, time.value().to_string());
            }
        }
        self.check_counts(bad)?;
        let page = &self.page;
        let minutes = [
            ("page.minutes", page.minutes, DAY_MINUTES),
            ("page.lease_minutes", Some(page.lease_minutes), MONTH_MINUTES),
        ];
        for (key, found, most) in minutes {
            if let Some(found) = found.filter(|found| !(1..=most).contains(found)) {
                return bad(key, &format!("1 to {most} minutes"), found.to_string());
            }
        }
        self.check_response_times(bad)
    }

    /// Exposures and beeps: ascending, each within its range.
    fn check_schedules<E>(
        &self,
        bad: &impl Fn(&str, &str, String) -> Result<(), E>,
    ) -> Result<(), E> {
        let schedules = [
            ("flash.exposures_ms", &self.flash.exposures_ms, 1.0),
            ("beep.beeps_ms", &self.beep.beeps_ms, 10.0),
        ];
        for (key, times, least) in schedules {
            let is_ascending = times.windows(2).all(|pair| pair[0] < pair[1]);
            let are_in_range = times.iter().all(|ms| (least..HOUR_MS).contains(&ms.value()));
            if times.is_empty() || !is_ascending || !are_in_range {
                let found: Vec<String> = times.iter().map(|ms| ms.value().to_string()).collect();
                let expected =
                    format!("one or more milliseconds, from {least} to below {HOUR_MS}, ascending");
                return bad(key, &expected, found.join(", "));
            }
        }
        Ok(())
    }

    fn check_counts<E>(&self, bad: &impl Fn(&str, &str, String) -> Result<(), E>) -> Result<(), E> {
        let (flash, beep, pairs, rate) = (&self.flash, &self.beep, &self.pairs, &self.rate);
        let counts = [
            ("flash.participants_per_cell", 1, flash.participants_per_cell),
            ("flash.trials_per_participant", 1, flash.trials_per_participant),
            ("beep.practice_trials", 0, beep.practice_trials),
            ("beep.trials_per_block", 1, beep.trials_per_block),
            ("beep.participants", 1, beep.participants),
            ("beep.gate_trials", 0, beep.gate_trials),
            ("pairs.pairs_per_stimulus", 1, pairs.pairs_per_stimulus),
            ("pairs.links_per_group", 0, pairs.links_per_group),
            ("pairs.judgements_per_pair", 1, pairs.judgements_per_pair),
            ("pairs.trials_per_participant", 1, pairs.trials_per_participant),
            ("rate.participants_per_stimulus", 1, rate.participants_per_stimulus),
            ("rate.trials_per_participant", 1, rate.trials_per_participant),
            ("page.trials_between_breaks", 1, self.page.trials_between_breaks),
        ];
        for (key, least, count) in counts {
            if !(least..=MOST).contains(&count) {
                return bad(key, &format!("{least} to {MOST}"), count.to_string());
            }
        }
        Ok(())
    }

    /// No trial would be left between two limits that have changed places.
    fn check_response_times<E>(
        &self,
        bad: &impl Fn(&str, &str, String) -> Result<(), E>,
    ) -> Result<(), E> {
        let (min, max) = (self.exclusions.min_rt_ms, self.exclusions.max_rt_ms);
        let text = |time: Millis| time.value().to_string();
        for (key, time) in [("exclusions.min_rt_ms", min), ("exclusions.max_rt_ms", max)] {
            if let Some(time) = time.filter(|time| time.value() <= 0.0) {
                return bad(key, "milliseconds above 0", text(time));
            }
        }
        match (min, max) {
            (Some(min), Some(max)) if max <= min => {
                let expected = format!("less than exclusions.max_rt_ms, which is {}", text(max));
                bad("exclusions.min_rt_ms", &expected, text(min))
            }
            _ => Ok(()),
        }
    }
}
