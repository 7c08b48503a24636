// Whether a flash was shown as planned, from its stamps alone. In doubt it says so: a trial that is
// voided costs seconds, one that is wrongly believed costs the threshold.

import { MOST_LAG_PERIODS } from "./frames";

export type Verdict = "ok" | "long" | "short" | "dropped" | "unknown";

/** What is known about a flash. */
export type Evidence = {
  frames_planned: number;
  period_ms: number;
  /** Stamp of the first frame with the image. */
  onset_ms: number;
  /** Stamp of the first frame without it. */
  offset_ms: number;
  /** Callbacks that found the image on, its own included. */
  n_callbacks: number;
  /** Whether a gap from image to the frame after the change to the mask was not one period. */
  is_uneven: boolean;
  /** Whether frames were even just before the image. */
  was_calm: boolean;
  /** How late after their stamps the image, and then the mask, were drawn and handed on. */
  lag_onset_ms: number;
  lag_offset_ms: number;
  /** Whether page, focus, fullscreen and zoom stayed as they were. */
  was_undisturbed: boolean;
};

/** Frames by which a long exposure may be off: a hundredth. None below a hundred frames. */
export function slack(frames_planned: number): number {
  return Math.floor(frames_planned / 100);
}

/** Judges a flash.
 *
 * - `long`, `short`: more or fewer refreshes than planned.
 * - `dropped`: the number is right, but callbacks were missed on the way; or the image may never
 *   have been on screen.
 * - `unknown`: nobody can tell. The page was disturbed, or a change was drawn too late for its
 *   refresh, or frames were uneven around it. */
export function judge(e: Evidence): { verdict: Verdict; frames_shown: number } {
  const shown = (e.offset_ms - e.onset_ms) / e.period_ms;
  if (!Number.isFinite(shown) || shown < 0) return { verdict: "unknown", frames_shown: 0 };
  const frames_shown = Math.round(shown);
  return { verdict: verdict(e, frames_shown), frames_shown };
}

function verdict(e: Evidence, frames_shown: number): Verdict {
  const allowed = slack(e.frames_planned);
  const mostLag = MOST_LAG_PERIODS * e.period_ms;
  if (!e.was_undisturbed) return "unknown";
  if (frames_shown === 0) return "dropped";
  if (e.frames_planned + allowed < frames_shown) return "long";
  if (frames_shown < e.frames_planned - allowed) return "short";
  if (e.n_callbacks < e.frames_planned - allowed) return "dropped";
  // Long exposures bear a late frame in their middle: the image stays on.
  if (allowed === 0 && e.is_uneven) return "dropped";
  if (!e.was_calm || !(e.lag_onset_ms <= mostLag) || !(e.lag_offset_ms <= mostLag)) return "unknown";
  return "ok";
}
