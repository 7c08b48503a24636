// Rate: a picture that stays, and the question what it is, without hurry.
import { nextFrame, sleep } from "../dom";
import { Grid, type Choice } from "../grid";
import { run } from "../session";
import { Stage } from "../stage";
import { isFullscreen } from "../surroundings";
import { begin, emptyReport, type Task } from "../task";

/** Room above the picture. */
const ABOVE_PX = 16;
/** How much smaller than usual a picture may get for the answers' sake. */
const LEAST_SHARE = 0.6;

const rate: Task = {
  name: "rate",
  needsComputer: false,
  flashes: false,
  minWindow: { width: 320, height: 400 },
  hasAnswersBelow: true,
  mostSide(width, height, _, answers) {
    const side = Math.min(0.86 * width, 0.41 * height);
    const left = height - answers - ABOVE_PX;
    // A little smaller spares scrolling; much smaller would be hard to see.
    return LEAST_SHARE * side <= left ? Math.min(side, left) : side;
  },

  async run(desk, block, media) {
    const stage = new Stage(desk.stimulus_px, desk.refresh.period_ms);
    const grid = new Grid(desk.texts, desk.texts.grid.questionNow, false);
    stage.element.classList.add("with-grid");
    stage.element.append(grid.element);
    const back = () => desk.ui.stage(stage.element);
    back();
    for (const [i, trial] of block.trials.entries()) {
      const pictures = await media.ready(i);
      grid.fill(trial.options);
      if (!(await begin(desk, trial, back))) return "again";
      const before = desk.watch.nDisturbances;
      const wasFull = isFullscreen();
      const onset_ms = await nextFrame();
      stage.picture(pictures.image);
      const choice = await new Promise<Choice>((resolve) => grid.open(resolve));
      const wasVisible = desk.watch.nDisturbances === before;
      // Without hurry, looking away while the picture stands spoils nothing; not being there when the
      // next one comes does.
      desk.watch.settled();
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
          was_visible: wasVisible,
          was_fullscreen: wasFull && isFullscreen(),
        },
      });
      await sleep(desk.study.gap_ms);
    }
    return "done";
  },
};

void run(rate);
