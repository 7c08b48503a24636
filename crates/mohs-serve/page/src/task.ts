// What a task is to the session that runs it, and what the session lends it.
import type { Media } from "./media";
import type { Outbox } from "./outbox";
import type { Refresh } from "./refresh";
import type { Sound } from "./sound";
import type { Texts } from "./texts/en";
import type { Ui } from "./ui";
import type { Watch } from "./watch";
import type { Block, EventBody, PlannedTrial, StudyInfo, TrialReport } from "./wire";

/** What a session lends its task. */
export type Desk = {
  study: StudyInfo;
  texts: Texts;
  ui: Ui;
  outbox: Outbox;
  watch: Watch;
  /** The last measurement of the screen. */
  refresh: Refresh;
  /** Side of a stimulus in CSS pixels. */
  stimulus_px: number;
  /** What the sound check gave; nothing for the ring. */
  sound: Sound | null;
  /** Whether the gate of the beep has warned already. */
  wasWarned: boolean;
  /** Called at once when a trial is spoiled. */
  onDisturbance: () => void;
  append(what: EventBody): Promise<void>;
  /** Shows why the study paused and waits; true when the screen is another one now, so that the rest
   * of the block must be planned anew. */
  pause(): Promise<boolean>;
};

/** How a block ended: through, to be asked for again, or too far from what was asked to go on. */
export type BlockEnd = "done" | "again" | "stop";

export type Task = {
  name: "flash" | "beep" | "pairs" | "rate";
  /** Whether a phone will not do. */
  needsComputer: boolean;
  /** Whether pictures flash, so that photosensitive people must not take part. */
  flashes: boolean;
  /** What the smallest window is. */
  minWindow: { width: number; height: number };
  /** Whether the answers stand below the stimulus. */
  hasAnswersBelow?: boolean;
  /** The largest side of a stimulus that leaves room for the rest, in a window of this size, with answers
   * of this height below. */
  mostSide(width: number, height: number, isRing: boolean, answers: number): number;
  run(desk: Desk, block: Block, media: Media): Promise<BlockEnd>;
};

/** What every report says, for the tasks to add to. */
export function emptyReport(desk: Desk, trial: PlannedTrial): TrialReport {
  return {
    trial: trial.trial,
    response: null,
    onset_ms: 0,
    offset_ms: null,
    response_ms: null,
    handled_ms: null,
    input: null,
    verdict: null,
    frames_planned: null,
    frames_shown: null,
    period_ms: desk.refresh.period_ms,
    stamps_ms: [],
    longest_gap_ms: 0,
    was_visible: true,
    was_fullscreen: true,
    pixel_ratio: devicePixelRatio,
    flash: null,
    beep: null,
  };
}

/** Waits with a pause page for as long as something is in the way of a trial, then brings `back` the
 * stage. False when the rest of the block must be planned anew. */
export async function isReady(desk: Desk, back: () => void): Promise<boolean> {
  while (!desk.watch.isClear) {
    if (await desk.pause()) return false;
    back();
  }
  return true;
}

/** Looks once more after a trial was said to begin; a trial that cannot be shown any more is abandoned. */
export async function isStillReady(desk: Desk, trial: PlannedTrial, back: () => void): Promise<boolean> {
  if (await isReady(desk, back)) return true;
  await desk.append({ kind: "abandoned", at_ms: performance.now(), trial: trial.trial, reason: "screen_changed" });
  return false;
}

/** Says that a trial begins and waits for what `wait` waits for. Writing and waiting take long enough to
 * leave the window, so the last look comes after them: a caller that gets true shows its trial before it
 * waits for anything else. False when the rest of the block must be planned anew. */
export async function begin(desk: Desk, trial: PlannedTrial, back: () => void, wait: () => Promise<void> = async () => {}): Promise<boolean> {
  if (!(await isReady(desk, back))) return false;
  await desk.append({ kind: "trial_start", at_ms: performance.now(), trial: trial.trial });
  await wait();
  return isStillReady(desk, trial, back);
}
