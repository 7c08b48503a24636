// Beep: a picture that stays, and an answer that is asked for at a beep, or when a ring closes.
import { feedbackFor, Gate, type Feedback } from "../adherence";
import { h, nextFrame, sleep } from "../dom";
import { Grid, type Choice } from "../grid";
import { gateWarningPage } from "../pages/warning";
import { run } from "../session";
import { Stage } from "../stage";
import { isFullscreen } from "../surroundings";
import { emptyReport, isReady, isStillReady, type Desk, type Task } from "../task";
import type { Scheduled } from "../sound";
import type { BeepInfo, Block } from "../wire";

/** How long the participant sees whether they were in time. */
const FEEDBACK_MS = 600;
/** Room around the picture for the ring. */
export const RING_ROOM = 1.6;

/** Room above the picture. */
const ABOVE_PX = 16;
/** How much smaller than usual a picture may get for the answers' sake. */
const LEAST_SHARE = 0.4;

/** What was seen of the stimulus and the signal. */
type Answered = {
  onset_ms: number;
  offset_ms: number;
  choice: Choice | null;
  planned_ms: number;
  heard_ms: number;
  longestGap: number;
};

const DEFAULTS: BeepInfo = { tolerance_ms: 100, window_ms: 200, cue: "choice", gate_trials: 0, gate_share: 0, gate: "warn" };

let gate: Gate | null = null;

const beep: Task = {
  name: "beep",
  needsComputer: true,
  flashes: true,
  minWindow: { width: 800, height: 600 },
  hasAnswersBelow: true,
  mostSide(width, height, isRing, answers) {
    const side = Math.min(0.92 * width, 0.5 * height);
    // Who must be on time cannot scroll.
    return Math.max(LEAST_SHARE * side, Math.min(side, height - answers - ABOVE_PX)) / (isRing ? RING_ROOM : 1);
  },

  async run(desk, block, media) {
    const rules = desk.study.beep ?? DEFAULTS;
    gate ??= new Gate(rules, desk.wasWarned);
    const stage = new Stage(desk.stimulus_px, desk.refresh.period_ms, desk.sound === null ? RING_ROOM : 1);
    const grid = new Grid(desk.texts, desk.texts.grid.questionNow, true);
    const counter = h("p", { class: "counter" });
    const note = h("p", { class: "feedback", role: "status" });
    const start = h("button", { type: "button", class: "start-cross hidden", "aria-label": desk.texts.beep.start });
    stage.element.classList.add("with-grid", "beep");
    stage.element.querySelector(".stage-centre")!.append(start);
    const hint = h("p", { class: "start-hint hidden", "aria-hidden": "true" }, desk.texts.beep.start);
    stage.element.append(counter, note, grid.element, hint);
    const back = () => desk.ui.stage(stage.element);
    back();
    stage.start();
    try {
      for (const [i, trial] of block.trials.entries()) {
        const pictures = await media.ready(i);
        grid.fill(trial.options);
        counter.textContent = desk.texts.beep.counter(i + 1, block.trials.length);
        for (let isBegun = false; ; ) {
          if (!(await (isBegun ? isStillReady(desk, trial, back) : isReady(desk, back)))) return "again";
          if (!(await started(stage, start, hint, desk))) continue;
          await desk.sound?.wake();
          if (!isBegun) await desk.append({ kind: "trial_start", at_ms: performance.now(), trial: trial.trial });
          isBegun = true;
          // Both took a while. Whoever left in it presses again; else the picture comes at once.
          if (desk.watch.isClear) break;
        }
        const before = desk.watch.nDisturbances;
        const wasFull = isFullscreen();
        desk.outbox.hold();
        const answered = await answer(desk, stage, grid, pictures.image, block.beep_ms, rules);
        const isTimed = block.beep_ms !== null;
        const feedback = isTimed ? feedbackFor(answered.choice?.response_ms ?? null, answered.heard_ms, rules.tolerance_ms) : "ok";
        const wasVisible = desk.watch.nDisturbances === before;
        const isKept = desk.append({
          kind: "trial",
          at_ms: performance.now(),
          report: {
            ...emptyReport(desk, trial),
            response: answered.choice?.option ?? null,
            onset_ms: answered.onset_ms,
            offset_ms: answered.offset_ms,
            response_ms: answered.choice?.response_ms ?? null,
            handled_ms: answered.choice?.handled_ms ?? null,
            input: answered.choice?.input ?? null,
            longest_gap_ms: answered.longestGap,
            was_visible: wasVisible,
            was_fullscreen: wasFull && isFullscreen(),
            beep: !isTimed
              ? null
              : {
                  cue: desk.sound === null ? "visual" : "sound",
                  planned_ms: answered.planned_ms,
                  sounded_ms: answered.heard_ms,
                  base_latency_ms: desk.sound?.base_latency_ms ?? null,
                  output_latency_ms: desk.sound?.output_latency_ms ?? null,
                  feedback,
                },
          },
        });
        // Only now: what comes in may say that the session went on elsewhere.
        desk.outbox.release();
        await isKept;
        if (isTimed) {
          await tell(desk, note, feedback, answered.choice === null);
          const isStop = wasVisible && !block.is_practice && (await passGate(desk, block, rules, feedback, stage)) === "stop";
          if (isStop) return "stop";
        }
        await sleep(Math.max(0, desk.study.gap_ms - (isTimed ? FEEDBACK_MS : 0)));
      }
      return "done";
    } finally {
      desk.outbox.release();
      stage.onFrame = null;
      stage.stop();
    }
  },
};

/** Shows the cross and waits for a click on it, or Enter. False when something came in between. */
function started(stage: Stage, start: HTMLButtonElement, hint: HTMLElement, desk: Desk): Promise<boolean> {
  stage.cross();
  start.classList.remove("hidden");
  hint.classList.remove("hidden");
  start.focus({ preventScroll: true });
  return new Promise((resolve) => {
    const finish = (isStarted: boolean) => {
      start.onclick = null;
      start.classList.add("hidden");
      hint.classList.add("hidden");
      desk.onDisturbance = () => {};
      resolve(isStarted);
    };
    desk.onDisturbance = () => finish(false);
    start.onclick = () => finish(true);
  });
}

/** Shows the picture, signals, and waits for an answer until the window is over. */
function answer(desk: Desk, stage: Stage, grid: Grid, image: ImageBitmap, beep_ms: number | null, rules: BeepInfo): Promise<Answered> {
  const { sound } = desk;
  return new Promise((resolve) => {
    let onset = 0;
    let last = 0;
    let longestGap = 0;
    let choice: Choice | null = null;
    let scheduled: Scheduled | null = null;
    stage.onFrame = (t) => {
      if (onset === 0) {
        stage.blank();
        stage.picture(image);
        onset = t;
        last = t;
        if (beep_ms !== null && sound !== null) scheduled = sound.beepAt(onset + beep_ms);
        grid.open((chosen) => (choice = chosen));
        return;
      }
      longestGap = Math.max(longestGap, t - last);
      last = t;
      const planned = onset + (beep_ms ?? 0);
      if (beep_ms !== null && sound === null) stage.ring((t - onset) / beep_ms, planned <= t);
      const isOver = beep_ms !== null && planned + rules.window_ms < t;
      if (choice === null && !isOver) return;
      stage.onFrame = null;
      const heard_ms = scheduled === null || sound === null ? planned : sound.heardAt(scheduled);
      // An answer before the beep leaves nothing to be signalled.
      if (choice !== null && choice.response_ms < heard_ms) scheduled?.cancel();
      grid.close();
      stage.blank();
      resolve({ onset_ms: onset, offset_ms: t, choice, planned_ms: planned, heard_ms, longestGap });
    };
  });
}

async function tell(desk: Desk, note: HTMLElement, feedback: Feedback, hasNone: boolean): Promise<void> {
  const { texts } = desk;
  note.textContent = hasNone ? texts.beep.noAnswer : texts.beep[feedback];
  note.className = `feedback ${feedback}`;
  await sleep(FEEDBACK_MS);
  note.textContent = "";
}

async function passGate(desk: Desk, block: Block, rules: BeepInfo, feedback: Feedback, stage: Stage): Promise<"go" | "stop"> {
  const says = gate?.note(feedback) ?? "go";
  if (says !== "warn") return says;
  const share = gate!.share;
  const inTime = await gateWarningPage(desk, share, block.beep_ms ?? 1_000, rules);
  gate!.again();
  await desk.append({
    kind: "page",
    at_ms: performance.now(),
    page: "gate_warning",
    choices: { share: share.toFixed(3), practice_in_time: String(inTime) },
  });
  desk.ui.stage(stage.element);
  await nextFrame();
  return "go";
}

void run(beep);
