// Rate: a picture that stays, and the question what it is, without hurry.
import { nextFrame, sleep } from "../dom";
import { Grid, type Choice } from "../grid";
import { run } from "../session";
import { Stage } from "../stage";
import { isFullscreen } from "../surroundings";
import { emptyReport, type Task } from "../task";

const rate: Task = {
  name: "rate",
  needsComputer: false,
  flashes: false,
  minWindow: { width: 320, height: 400 },
  mostSide: (width, height) => Math.min(0.86 * width, 0.41 * height),

  async run(desk, block, media) {
    const stage = new Stage(desk.stimulus_px, desk.refresh.period_ms);
    const grid = new Grid(desk.texts, desk.texts.grid.questionNow, false);
    stage.element.classList.add("with-grid");
    stage.element.append(grid.element);
    desk.ui.stage(stage.element);
    for (const [i, trial] of block.trials.entries()) {
      const pictures = await media.ready(i);
      grid.fill(trial.options);
      while (!desk.watch.isClear) {
        if (await desk.pause()) return "again";
        desk.ui.stage(stage.element);
      }
      await desk.append({ kind: "trial_start", at_ms: performance.now(), trial: trial.trial });
      const before = desk.watch.nDisturbances;
      const wasFull = isFullscreen();
      const onset_ms = await nextFrame();
      stage.picture(pictures.image);
      const choice = await new Promise<Choice>((resolve) => grid.open(resolve));
      await nextFrame();
      grid.close();
      stage.blank();
      await desk.append({
        kind: "trial",
        at_ms: performance.now(),
        report: {
          ...emptyReport(desk, trial),
          response: choice.option,
          onset_ms,
          response_ms: choice.response_ms,
          handled_ms: choice.handled_ms,
          input: choice.input,
          was_visible: desk.watch.nDisturbances === before,
          was_fullscreen: wasFull && isFullscreen(),
        },
      });
      await sleep(desk.study.gap_ms);
      // Without hurry, looking away for a while spoils nothing.
      desk.watch.settled();
    }
    return "done";
  },
};

void run(rate);
