// What page and server say to each other. Made from crates/mohs-serve/src/wire.rs; change that file,
// not this one.

export type JoinRequest = { 
/**
 * The recruiter that sent the participant: `prolific`, `mturk` or `link`; none for people who
 * just opened the page.
 */
recruiter: string | null, 
/**
 * The participant's id at the recruiter. Stored only as a keyed hash.
 */
recruiter_id: string | null, 
/**
 * The token of an earlier epoch, kept by this browser.
 */
resume: string | null, 
/**
 * A signed link for looking at the study; nothing is counted.
 */
preview: string | null, 
/**
 * Kind of browser, e.g. `chromium 156`; the full user agent is never sent on.
 */
browser: string, 
/**
 * Kind of system, e.g. `linux`.
 */
system: string, };

export type Joined = { 
/**
 * The session.
 */
session: string, 
/**
 * Which opening of the session this is, from 1.
 */
epoch: number, 
/**
 * Bearer token of this epoch; also what resumes the session.
 */
token: string, 
/**
 * Where the session stands.
 */
state: SessionState, 
/**
 * Pages the participant has been through in earlier epochs, e.g. `consent`.
 */
pages_done: Array<string>, 
/**
 * The last calibration of an earlier epoch, as the page sent it.
 */
calibration: Calibration | null, 
/**
 * Trials answered or voided so far, practice apart.
 */
n_done: number, 
/**
 * Trials in all, practice apart.
 */
n_total: number, 
/**
 * Completion code, where the session has ended.
 */
code: string | null, 
/**
 * Where to go at the end, where the session has ended.
 */
completion_url: string | null, 
/**
 * Everything the page needs to know of the study.
 */
study: StudyInfo, };

export type SessionState = "open" | "ended" | "withdrawn";

export type StudyInfo = { 
/**
 * The study's name in addresses.
 */
study: string, 
/**
 * Title of the page.
 */
title: string, 
/**
 * `flash`, `beep`, `pairs` or `rate`.
 */
task: string, 
/**
 * `en` or `de`.
 */
language: string, 
/**
 * The answers, in alphabetical order, for the list in the instructions. Empty for `pairs`.
 */
labels: Array<string>, 
/**
 * Who asks, and how to reach them.
 */
contact: string, 
/**
 * How long it takes.
 */
minutes: number, 
/**
 * What participants get; may be empty.
 */
pay: string, 
/**
 * Age from which people may take part.
 */
min_age: number, 
/**
 * Paragraphs of the study's own consent text; empty means the page's own.
 */
consent: Array<string>, 
/**
 * Paragraphs shown at the end.
 */
debrief: Array<string>, 
/**
 * Trials between breaks.
 */
trials_between_breaks: number, 
/**
 * Whether participants measure screen and distance.
 */
calibrate: boolean, 
/**
 * Whether the task fills the screen.
 */
fullscreen: boolean, 
/**
 * Size of a stimulus in degrees of visual angle, where measured.
 */
size_deg: number, 
/**
 * Size in CSS pixels, where not measured.
 */
size_px: number, 
/**
 * How far an exposure may be off, as a share.
 */
tolerance: number, 
/**
 * Flash: exposures of the study. Others: empty.
 */
exposures_ms: Array<number>, 
/**
 * Flash: cross before the stimulus.
 */
fixation_ms: number, 
/**
 * Flash: mask after it.
 */
mask_ms: number, 
/**
 * Empty screen between an answer and the next trial.
 */
gap_ms: number, 
/**
 * Beep: how the beeps are run.
 */
beep: BeepInfo | null, 
/**
 * Pairs: whether "about the same" is an answer.
 */
ties: boolean, 
/**
 * Whether this is a preview: nothing is counted.
 */
preview: boolean, };

export type BeepInfo = { 
/**
 * In time within this much of the beep.
 */
tolerance_ms: number, 
/**
 * Answers are taken until this long after the beep.
 */
window_ms: number, 
/**
 * `sound`, `visual` or `choice`.
 */
cue: string, 
/**
 * Timed trials after which the gate looks; 0 never.
 */
gate_trials: number, 
/**
 * Share of answers in time below which it speaks up.
 */
gate_share: number, 
/**
 * `warn` or `stop`.
 */
gate: string, };

export type BlockRequest = { 
/**
 * What the screen can do, measured just now.
 */
screen: Screen, };

export type Screen = { 
/**
 * Time between two frames: the median over at least a second.
 */
period_ms: number, 
/**
 * Median absolute deviation of the same.
 */
period_mad_ms: number, 
/**
 * Share of frames that took more than one and a half periods.
 */
share_late: number, 
/**
 * Width of the window in CSS pixels.
 */
width_px: number, 
/**
 * Height of the window in CSS pixels.
 */
height_px: number, 
/**
 * Device pixels in a CSS pixel.
 */
pixel_ratio: number, 
/**
 * Whether the page fills the screen.
 */
is_fullscreen: boolean, 
/**
 * Whether clocks are fine-grained (`crossOriginIsolated`).
 */
is_isolated: boolean, };

export type Calibration = { 
/**
 * CSS pixels in a millimetre, from the card.
 */
px_per_mm: number, 
/**
 * Distance of the eye, from the blind spot; none when skipped.
 */
distance_mm: number | null, 
/**
 * Spread of the distance as a share (robust coefficient of variation).
 */
distance_spread: number | null, 
/**
 * Each sweep: where the dot went or came back, in CSS pixels from the square.
 */
sweeps_px: Array<number>, 
/**
 * Device pixels in a CSS pixel at the time.
 */
pixel_ratio: number, 
/**
 * Side of a stimulus that follows, in CSS pixels.
 */
stimulus_px: number, };

export type BlockAnswer = { 
/**
 * The block; none when nothing is left for this participant.
 */
block: Block | null, 
/**
 * Trials answered or voided so far, practice apart.
 */
n_done: number, 
/**
 * Trials in all, practice apart.
 */
n_total: number, };

export type Block = { 
/**
 * Position in the session, from 0.
 */
block: number, 
/**
 * Whether these trials are practice.
 */
is_practice: boolean, 
/**
 * Beep: when the beep sounds after onset; none in untimed practice.
 */
beep_ms: number | null, 
/**
 * The trials that are left of it.
 */
trials: Array<PlannedTrial>, 
/**
 * Keyed hash of all the above by the server.
 */
signature: string, };

export type PlannedTrial = { 
/**
 * The trial.
 */
trial: string, 
/**
 * Position in the session, from 0.
 */
idx: number, 
/**
 * SHA-256 of the picture; it lies at `/media/HASH.png`. Pairs: the left one.
 */
image: string, 
/**
 * Flash: SHA-256 of the mask.
 */
mask: string | null, 
/**
 * Pairs: SHA-256 of the right picture.
 */
right: string | null, 
/**
 * Flash: exposure that is meant.
 */
exposure_ms: number | null, 
/**
 * Flash: the same in frames of this screen.
 */
frames: number | null, 
/**
 * The answers in the order of this trial. Pairs: `left`, `right` and, where ties are allowed,
 * `tie`.
 */
options: Array<string>, 
/**
 * Pairs: "harder to recognise as …"; none when the two have different labels.
 */
recognise_as: string | null, };

export type EventBatch = { 
/**
 * In any order, new or sent before.
 */
events: Array<Event>, };

export type Event = { 
/**
 * Position in the epoch, from 1, without gaps.
 */
seq: number, 
/**
 * An [`EventBody`] as JSON text, kept as it is.
 */
body: string, 
/**
 * Hexadecimal SHA-256 of the previous event's hash followed by `body`. Before the first stands
 * the SHA-256 of `SESSION/EPOCH`.
 */
hash: string, };

export type EventBody = { "kind": "page", 
/**
 * Page clock, ms since the page's time origin; so are all times below.
 */
at_ms: number, 
/**
 * Which page.
 */
page: string, 
/**
 * Choices made there, e.g. `agreed` = `yes`.
 */
choices: { [key in string]: string }, } | { "kind": "calibration", 
/**
 * When.
 */
at_ms: number, 
/**
 * What came out.
 */
calibration: Calibration, } | { "kind": "trial_start", 
/**
 * When.
 */
at_ms: number, 
/**
 * Which.
 */
trial: string, } | { "kind": "trial", 
/**
 * When.
 */
at_ms: number, 
/**
 * What happened.
 */
report: TrialReport, } | { "kind": "abandoned", 
/**
 * When.
 */
at_ms: number, 
/**
 * Which.
 */
trial: string, 
/**
 * Why, e.g. `reload`.
 */
reason: string, } | { "kind": "context", 
/**
 * When.
 */
at_ms: number, 
/**
 * What, e.g. `hidden`, `visible`, `blur`, `focus`, `left_fullscreen`, `zoom`.
 */
change: string, };

export type TrialReport = { 
/**
 * Which trial.
 */
trial: string, 
/**
 * One of the trial's options; none when time ran out.
 */
response: string | null, 
/**
 * Stamp of the first frame with the stimulus.
 */
onset_ms: number, 
/**
 * Stamp of the first frame without it; none when it stayed until the answer.
 */
offset_ms: number | null, 
/**
 * Stamp of the input event.
 */
response_ms: number | null, 
/**
 * When the input was handled.
 */
handled_ms: number | null, 
/**
 * `key`, `mouse`, `touch` or `pen`.
 */
input: string | null, 
/**
 * Flash: what the page makes of it (`ok`, `long`, `short`, `dropped`, `unknown`). The server
 * checks it against the stamps.
 */
verdict: string | null, 
/**
 * Flash: frames that were planned.
 */
frames_planned: number | null, 
/**
 * Flash: frames on screen, from the stamps.
 */
frames_shown: number | null, 
/**
 * Period of the screen that was counted with.
 */
period_ms: number, 
/**
 * Flash: stamps of the frames around each change (cross, image, mask, end): two before, two
 * after.
 */
stamps_ms: Array<number>, 
/**
 * Longest time between two frames from cross to mask.
 */
longest_gap_ms: number, 
/**
 * Whether the page was visible and focused from start to end.
 */
was_visible: boolean, 
/**
 * Whether it filled the screen from start to end.
 */
was_fullscreen: boolean, 
/**
 * Device pixels in a CSS pixel.
 */
pixel_ratio: number, 
/**
 * Beep: what happened to it.
 */
beep: BeepReport | null, };

export type BeepReport = { 
/**
 * `sound` or `visual`.
 */
cue: string, 
/**
 * When it was meant, on the page's clock.
 */
planned_ms: number, 
/**
 * When it was heard or seen as far as the page can tell, on the page's clock.
 */
sounded_ms: number, 
/**
 * `AudioContext.baseLatency`, in ms.
 */
base_latency_ms: number | null, 
/**
 * `AudioContext.outputLatency`, in ms.
 */
output_latency_ms: number | null, 
/**
 * What the participant was told: `early`, `late` or `ok`.
 */
feedback: string, };

export type Ack = { 
/**
 * Everything up to this event of the epoch is on disk.
 */
acked_through: number, 
/**
 * Events after that which are on disk too.
 */
also_stored: Array<number>, };

export type EndRequest = { 
/**
 * The last event of this epoch.
 */
last_seq: number, 
/**
 * Whether the participant stops before the end (their data are kept).
 */
is_early: boolean, };

export type EndAnswer = { 
/**
 * Whether everything is stored.
 */
is_complete: boolean, 
/**
 * Events of this epoch up to `last_seq` that are not stored.
 */
missing: Array<number>, 
/**
 * Trials of the plan that are neither answered nor voided.
 */
n_trials_left: number, 
/**
 * The completion code.
 */
code: string | null, 
/**
 * Where to go now.
 */
completion_url: string | null, };

export type WithdrawRequest = { 
/**
 * Must be true: everything of this participant in this study is deleted.
 */
delete_my_data: boolean, };

export type Withdrawn = { 
/**
 * Always true.
 */
is_deleted: boolean, };

export type Failure = { 
/**
 * The error.
 */
error: FailureDetail, };

export type FailureDetail = { 
/**
 * E.g. `session_unknown`.
 */
code: string, 
/**
 * For the participant.
 */
message: string, };
