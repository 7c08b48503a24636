// Whether a flash was shown as planned, from stamps alone. In doubt it says so: a trial that is voided
// costs seconds, one that is wrongly believed costs the threshold. The server judges by the same rules
// (report.rs) from what is sent to it.

import { CALM_FRAMES, MOST_LAG_PERIODS } from "./frames";
import type { FlashEvidence } from "./wire";

export type Verdict = "ok" | "long" | "short" | "dropped" | "unknown";

/** Time without a late frame before the image, where the browser does not tell what it presented:
 * what starves a page now and then starves the compositor too, unseen. */
export const QUIET_MS = 1_500;
/** Presented this near to the plan, in periods, it is the plan: screens present at fixed times. */
const NEAR_PERIODS = 0.1;

/** What is known about a flash. */
export type Evidence = {
  frames_planned: number;
  period_ms: number;
  /** Stamp of the first frame with the image. */
  onset_ms: number;
  /** Stamp of the first frame without it. */
  offset_ms: number;
  /** What was noted on the way. */
  flash: FlashEvidence;
  /** Whether page, focus, fullscreen and zoom stayed as they were. */
  was_undisturbed: boolean;
};

/** Frames by which a long exposure may be off: a hundredth. None below a hundred frames. */
export function slack(frames_planned: number): number {
  return Math.floor(frames_planned / 100);
}

/** Judges a flash.
 *
 * - `long`, `short`: more or fewer refreshes than planned, by stamps or by what was presented.
 * - `dropped`: the number is right, but callbacks were missed on the way; or the image may never
 *   have been on screen.
 * - `unknown`: nobody can tell. The page was disturbed, or a change was drawn too late for its
 *   refresh, or frames were uneven around it, or the browser, which tells what it presents, did not. */
export function judge(e: Evidence): { verdict: Verdict; frames_shown: number } {
  const shown = (e.offset_ms - e.onset_ms) / e.period_ms;
  if (!Number.isFinite(shown) || shown < 0) return { verdict: "unknown", frames_shown: 0 };
  const frames_shown = Math.round(shown);
  return { verdict: verdict(e, frames_shown), frames_shown };
}

function verdict(e: Evidence, frames_shown: number): Verdict {
  const { frames_planned, period_ms, flash } = e;
  const allowed = slack(frames_planned);
  if (!e.was_undisturbed) return "unknown";
  const counted = compared(frames_shown, frames_planned, allowed);
  if (counted !== "ok") return counted;
  if (flash.n_callbacks < frames_planned - allowed) return "dropped";
  // Long exposures bear a late frame in their middle: the image stays on.
  const isEven = 0.5 * period_ms <= flash.shortest_gap_ms && flash.longest_gap_ms <= 1.5 * period_ms;
  if (allowed === 0 && !isEven) return "dropped";
  if (flash.calm_frames < CALM_FRAMES || flash.lags_ms.some((lag) => !(lag <= MOST_LAG_PERIODS * period_ms))) return "unknown";
  return presented(e, allowed);
}

function compared(frames: number, planned: number, allowed: number): Verdict {
  if (frames <= 0) return "dropped";
  if (planned + allowed < frames) return "long";
  return frames < planned - allowed ? "short" : "ok";
}

/** What the browser says about its presentations. */
function presented(e: Evidence, allowed: number): Verdict {
  const { frames_planned, period_ms, onset_ms, offset_ms, flash } = e;
  const isQuiet = flash.since_late_ms === null || QUIET_MS <= flash.since_late_ms;
  if (flash.presented_ms.length === 0) return isQuiet ? "ok" : "unknown";
  const [image, mask] = flash.presented_ms;
  if (image == null || mask == null || image < onset_ms || mask < offset_ms) return "unknown";
  const frames = (mask - image) / period_ms;
  const counted = compared(Math.round(frames), frames_planned, allowed);
  if (counted !== "ok" || 0 < allowed || Math.abs(frames - frames_planned) <= NEAR_PERIODS) return counted;
  // Not at fixed times, so refreshes are counted: both came as many of them after their stamps.
  const slot = (after: number) => Math.floor(after / period_ms);
  return slot(image - onset_ms) === slot(mask - offset_ms) ? "ok" : "unknown";
}
