// What page and server say to each other. Mirrors crates/mohs-serve/src/wire.rs, in the form ts-rs
// prints; change that file, not this one.

export type JoinRequest = { recruiter: string | null, recruiter_id: string | null, resume: string | null, preview: string | null, browser: string, system: string, };

export type Welcome = { is_known: boolean, study: StudyInfo, };

export type Joined = { session: string, epoch: number, token: string, state: SessionState, pages_done: Array<string>, calibration: Calibration | null, n_done: number, n_total: number, ending: Ending | null, code: string | null, completion_url: string | null, study: StudyInfo, };

export type SessionState = "open" | "ended" | "withdrawn";

export type Ending = "complete" | "early" | "nothing_left";

export type StudyInfo = { study: string, title: string, task: string, language: string, labels: Array<string>, contact: string, minutes: number, pay: string, min_age: number, consent: Array<string>, debrief: Array<string>, trials_between_breaks: number, calibrate: boolean, fullscreen: boolean, size_deg: number, size_px: number, tolerance: number, exposures_ms: Array<number>, fixation_ms: number, mask_ms: number, gap_ms: number, beep: BeepInfo | null, ties: boolean, preview: boolean, };

export type BeepInfo = { tolerance_ms: number, window_ms: number, cue: string, gate_trials: number, gate_share: number, gate: string, };

export type BlockRequest = { screen: Screen, };

export type Screen = { period_ms: number, period_mad_ms: number, share_late: number, width_px: number, height_px: number, pixel_ratio: number, is_fullscreen: boolean, is_isolated: boolean, };

export type Calibration = { px_per_mm: number, distance_mm: number | null, distance_spread: number | null, sweeps_px: Array<number>, pixel_ratio: number, stimulus_px: number, };

export type BlockAnswer = { block: Block | null, n_done: number, n_total: number, };

export type Block = { block: number, is_practice: boolean, beep_ms: number | null, trials: Array<PlannedTrial>, signature: string, };

export type PlannedTrial = { trial: string, idx: number, image: string, mask: string | null, right: string | null, exposure_ms: number | null, frames: number | null, options: Array<string>, recognise_as: string | null, };

export type EventBatch = { events: Array<Event>, };

export type Event = { seq: number, body: string, hash: string, };

export type EventBody = { "kind": "page", at_ms: number, page: string, choices: { [key in string]: string }, } | { "kind": "calibration", at_ms: number, calibration: Calibration, } | { "kind": "trial_start", at_ms: number, trial: string, } | { "kind": "trial", at_ms: number, report: TrialReport, } | { "kind": "abandoned", at_ms: number, trial: string, reason: string, } | { "kind": "context", at_ms: number, change: string, };

export type TrialReport = { trial: string, response: string | null, onset_ms: number, offset_ms: number | null, response_ms: number | null, handled_ms: number | null, input: string | null, verdict: string | null, frames_planned: number | null, frames_shown: number | null, period_ms: number, stamps_ms: Array<number>, longest_gap_ms: number, was_visible: boolean, was_fullscreen: boolean, pixel_ratio: number, flash: FlashEvidence | null, beep: BeepReport | null, };

export type FlashEvidence = { version: number, n_callbacks: number, shortest_gap_ms: number, longest_gap_ms: number, calm_frames: number, since_late_ms: number | null, lags_ms: Array<number>, presented_ms: Array<number | null>, };

export type BeepReport = { cue: string, planned_ms: number, sounded_ms: number, base_latency_ms: number | null, output_latency_ms: number | null, feedback: string, };

export type Ack = { acked_through: number, also_stored: Array<number>, is_elsewhere: boolean, };

export type EndRequest = { last_seq: number, is_early: boolean, };

export type EndAnswer = { is_complete: boolean, missing: Array<number>, n_trials_left: number, ending: Ending | null, code: string | null, completion_url: string | null, };

export type WithdrawRequest = { delete_my_data: boolean, };

export type Withdrawn = { is_deleted: boolean, };

export type Failure = { error: FailureDetail, };

export type FailureDetail = { code: string, message: string, };
