// Flash: a cross, a picture for a few frames, a mask, and then the question what it was.
import { nextFrame, sleep } from "../dom";
import { Grid, type Choice } from "../grid";
import { run } from "../session";
import { Stage } from "../stage";
import { isFullscreen } from "../surroundings";
import { begin, emptyReport, isStillReady, type Task } from "../task";

const flash: Task = {
  name: "flash",
  needsComputer: true,
  flashes: true,
  minWindow: { width: 800, height: 560 },
  mostSide: (width, height) => 0.96 * Math.min(width, height),

  async run(desk, block, media) {
    const { study, watch, outbox } = desk;
    const stage = new Stage(desk.stimulus_px, desk.refresh.period_ms);
    const grid = new Grid(desk.texts, desk.texts.grid.question, false);
    stage.element.append(grid.element);
    desk.onDisturbance = () => stage.disturb();
    const back = () => desk.ui.stage(stage.element);
    back();
    stage.start();
    try {
      let free_ms = performance.now();
      for (const [i, trial] of block.trials.entries()) {
        const pictures = await media.ready(i);
        grid.fill(trial.options);
        if (!(await begin(desk, trial, back, () => sleep(free_ms + study.gap_ms - performance.now())))) return "again";

        const frames = trial.frames ?? Math.max(1, Math.round((trial.exposure_ms ?? 100) / desk.refresh.period_ms));
        const planned = { ...pictures, frames, fixation_ms: study.fixation_ms, mask_ms: study.mask_ms };
        let shown: Awaited<ReturnType<Stage["show"]>>;
        let before: number;
        let wasFull: boolean;
        for (;;) {
          // Nothing is waited for between the last look and here; from here on the stage is told of
          // what comes in between, and the count tells the report.
          outbox.hold();
          before = watch.nDisturbances;
          wasFull = isFullscreen();
          shown = await stage.show(planned);
          outbox.release();
          if (shown.kind === "shown") break;
          if (!(await isStillReady(desk, trial, back))) return "again";
        }

        const wasDisturbed = watch.nDisturbances !== before;
        // Who left in the middle of a trial has not seen it; asking would only frame a guess.
        const choice = wasDisturbed ? null : await asked(grid);
        free_ms = performance.now();
        const { verdict, frames_shown, flash } = await shown.judged();
        await desk.append({
          kind: "trial",
          at_ms: performance.now(),
          report: {
            ...emptyReport(desk, trial),
            response: choice?.option ?? null,
            onset_ms: shown.onset_ms,
            offset_ms: shown.offset_ms,
            response_ms: choice?.response_ms ?? null,
            handled_ms: choice?.handled_ms ?? null,
            input: choice?.input ?? null,
            verdict,
            frames_planned: frames,
            frames_shown,
            stamps_ms: shown.stamps_ms,
            longest_gap_ms: shown.longest_gap_ms,
            was_visible: !wasDisturbed,
            was_fullscreen: wasFull && isFullscreen(),
            flash,
          },
        });
      }
      return "done";
    } finally {
      outbox.release();
      stage.stop();
    }
  },
};

/** Opens the grid and waits for an answer. */
async function asked(grid: Grid): Promise<Choice> {
  const choice = await new Promise<Choice>((resolve) => grid.open(resolve));
  // One frame in which the chosen answer is marked.
  await nextFrame();
  grid.close();
  return choice;
}

void run(flash);
