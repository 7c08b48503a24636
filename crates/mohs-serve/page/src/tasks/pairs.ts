// Pairs: two pictures, and the question which is harder to recognise.
import { breakable, h, nextFrame, sleep } from "../dom";
import { run } from "../session";
import { isFullscreen } from "../surroundings";
import { begin, emptyReport, type Desk, type Task } from "../task";
import type { Pictures } from "../media";
import type { PlannedTrial } from "../wire";

type Choice = { option: string; response_ms: number; handled_ms: number; input: string };

/** Narrower windows have the pictures one above the other, as the style sheet does. */
const STACKED_BELOW_PX = 700;

/** What question, names and the button for ties take of a window's height. */
const BESIDES_PX = 220;

const KEYS: Record<string, string> = { ArrowLeft: "left", ArrowRight: "right", ArrowDown: "tie" };

const pairs: Task = {
  name: "pairs",
  needsComputer: false,
  flashes: false,
  minWindow: { width: 320, height: 400 },
  mostSide: (width, height) => (width < STACKED_BELOW_PX ? Math.min(0.8 * width, 0.31 * height) : Math.min(0.44 * width, 0.6 * height, Math.max(0.4 * height, height - BESIDES_PX))),

  async run(desk, block, media) {
    for (const [i, trial] of block.trials.entries()) {
      const pictures = await media.ready(i);
      if (!(await begin(desk, trial, () => {}))) return "again";
      const before = desk.watch.nDisturbances;
      const wasFull = isFullscreen();
      const { onset_ms, choice } = await asked(desk, trial, pictures);
      const wasVisible = desk.watch.nDisturbances === before;
      // Without hurry, looking away while the pictures stand spoils nothing; not being there when the
      // next ones come does.
      desk.watch.settled();
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

async function asked(desk: Desk, trial: PlannedTrial, pictures: Pictures): Promise<{ onset_ms: number; choice: Choice }> {
  const { texts } = desk;
  const question = trial.recognise_as === null ? texts.pairs.questionAny : texts.pairs.question(trial.recognise_as);
  const left = canvasOf(pictures.image, desk.stimulus_px);
  const right = canvasOf(pictures.right ?? pictures.image, desk.stimulus_px);
  const isStacked = innerWidth < STACKED_BELOW_PX;
  const first = isStacked ? texts.pairs.upper : texts.pairs.left;
  const second = isStacked ? texts.pairs.lower : texts.pairs.right;
  const mayTie = trial.options.includes("tie");
  const listening = new AbortController();
  const stage = h("div", { class: "stage pairs" });
  let isShown = false;
  const chosen = new Promise<Choice>((resolve) => {
    let isOver = false;
    const choose = (option: string, response_ms: number, input: string) => {
      // An answer before the pictures is no answer.
      if (isOver || !isShown) return;
      isOver = true;
      resolve({ option, response_ms, handled_ms: performance.now(), input });
    };
    const side = (option: string, name: string, canvas: HTMLCanvasElement | null) => {
      let down: PointerEvent | null = null;
      return h(
        "button",
        {
          type: "button",
          class: `side ${option}`,
          onpointerdown: (event: PointerEvent) => (down = isShown ? event : null),
          onclick: (event: MouseEvent) => choose(option, down?.timeStamp ?? event.timeStamp, event.detail === 0 ? "key" : (down?.pointerType ?? "mouse")),
        },
        canvas,
        h("span", {}, name),
      );
    };
    stage.append(
      h("h1", { class: "question", tabindex: "-1" }, ...breakable(question)),
      h("div", { class: "sides" }, side("left", first, left), side("right", second, right)),
    );
    if (mayTie) stage.append(side("tie", texts.pairs.tie, null));
    addEventListener(
      "keydown",
      (event) => {
        const option = KEYS[event.key];
        if (option === undefined || event.repeat || !trial.options.includes(option)) return;
        event.preventDefault();
        choose(option, event.timeStamp, "key");
      },
      { signal: listening.signal },
    );
    desk.ui.stage(stage);
    stage.querySelector<HTMLElement>("h1")!.focus({ preventScroll: true });
  });
  const onset_ms = await nextFrame();
  isShown = true;
  stage.classList.add("open");
  const choice = await chosen;
  listening.abort();
  desk.ui.stage(h("div", { class: "stage pairs" }));
  return { onset_ms, choice };
}

function canvasOf(bitmap: ImageBitmap, side_px: number): HTMLCanvasElement {
  const side = Math.round(side_px * devicePixelRatio);
  const canvas = h("canvas", { width: side, height: side, "aria-hidden": "true" });
  canvas.style.width = `${side / devicePixelRatio}px`;
  canvas.getContext("2d", { alpha: false })!.drawImage(bitmap, 0, 0, side, side);
  return canvas;
}

void run(pairs);
