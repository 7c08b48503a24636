// The blind spot: how far away the eye is. A dot moves at a constant speed in millimetres per
// second, out until it vanishes and back until it returns.
import { blindSpotMm, distanceFrom, MOST_SPREAD, USUAL_DISTANCE_MM, type Sweep } from "../calibration";
import { h } from "../dom";
import { button, type Ui } from "../ui";

const N_SWEEPS = 6;
const SPEED_MM_PER_S = 22;
/** How long the dot goes on unseen before it turns around. */
const BEYOND_S = 0.7;
/** After so many rounds with too much spread, the last one has to do, with its spread. */
const MOST_ROUNDS = 3;

export type Measured = { distance_mm: number; spread: number; sweeps_px: number[] };

/** Resolves to the distance; nothing when skipped. */
export async function distancePage(ui: Ui, px_per_mm: number): Promise<Measured | null> {
  const { distance: texts } = ui.texts;
  const wanted = await ui.page<boolean>({ name: "distance", title: texts.title }, (done) => [
    h("ol", {}, ...texts.steps.map((step) => h("li", {}, step))),
    h("p", { class: "hint" }, texts.skipNote),
    h("div", { class: "buttons" }, button(texts.start, () => done(true)), button(texts.skip, () => done(false), "quiet")),
  ]);
  if (!wanted) return null;
  let message = "";
  for (let round = 1; ; round++) {
    const sweeps = await sweepsPage(ui, px_per_mm, message);
    if (sweeps === null) return null;
    const found = distanceFrom(sweeps, px_per_mm);
    if (found !== null && (found.spread <= MOST_SPREAD || MOST_ROUNDS <= round)) {
      await ui.page<void>({ name: "distance-done", title: texts.title }, (done) => [
        h("p", {}, texts.done(Math.round(found.distance_mm / 10))),
        h("div", { class: "buttons" }, button(ui.texts.next, () => done())),
      ]);
      return { ...found, sweeps_px: sweeps.map(({ at_px }) => at_px) };
    }
    message = texts.spread;
  }
}

/** Runs the sweeps; nothing when the participant skips. */
function sweepsPage(ui: Ui, px_per_mm: number, message: string): Promise<Sweep[] | null> {
  const { distance: texts } = ui.texts;
  return ui.page({ name: "sweeps", title: texts.title, isWide: true }, (done) => {
    const square = h("span", { class: "square", "aria-hidden": "true" });
    const dot = h("span", { class: "dot", "aria-hidden": "true" });
    const field = h("button", { type: "button", class: "sweep-field", "aria-label": texts.field }, square, dot);
    const say = h("p", { class: "say", role: "status" }, message === "" ? texts.vanish : message);
    const count = h("p", { class: "hint" }, texts.round(1, N_SWEEPS));
    const speed = SPEED_MM_PER_S * px_per_mm;
    const sweeps: Sweep[] = [];
    let direction: "out" | "in" = "out";
    let startAt = 0.5 * blindSpotMm(USUAL_DISTANCE_MM) * px_per_mm;
    let at = startAt;
    let turnAt: number | null = null;
    let began = 0;
    let lastTime = 0;
    let isOver = false;

    const begin = (from: number, way: "out" | "in", t: number) => {
      direction = way;
      startAt = from;
      at = from;
      began = t;
      turnAt = null;
    };
    const position = (t: number) => startAt + ((direction === "out" ? 1 : -1) * speed * (t - began)) / 1000;
    const onFrame = (t: number) => {
      if (isOver) return;
      if (!field.isConnected && lastTime !== 0) {
        // Someone reads another page, e.g. whether to stop; the sweep begins anew afterwards.
        began = t;
        startAt = at;
        requestAnimationFrame(onFrame);
        return;
      }
      if (began === 0) began = t;
      lastTime = t;
      at = position(t);
      const room = field.clientWidth - 40;
      if (direction === "out" && turnAt !== null && turnAt <= at) begin(at, "in", t);
      else if (direction === "out" && room < at) {
        say.textContent = texts.closer;
        begin(0.5 * room, "out", t);
      } else if (direction === "in" && at < 0.15 * room) {
        // It came back long ago, unnoticed.
        sweeps.pop();
        begin(0.3 * room, "out", t);
      }
      dot.style.transform = `translateX(${-at}px)`;
      requestAnimationFrame(onFrame);
    };
    const finish = (result: Sweep[] | null) => {
      isOver = true;
      done(result);
    };
    const press = (stamp: number) => {
      // Already on its way beyond: this press says nothing.
      if (began === 0 || turnAt !== null || N_SWEEPS <= sweeps.length) return;
      const at_px = position(stamp);
      // A press right after the turn is the echo of the one before.
      if (Math.abs(at_px - startAt) < 0.15 * speed) return;
      sweeps.push({ direction, at_px });
      if (direction === "out") {
        turnAt = at_px + speed * BEYOND_S;
        say.textContent = texts.reappear;
      } else {
        begin(Math.max(0, at_px * 0.6), "out", stamp);
        say.textContent = texts.vanish;
      }
      count.textContent = texts.round(Math.min(N_SWEEPS, sweeps.length + 1), N_SWEEPS);
      if (sweeps.length === N_SWEEPS) finish(sweeps);
    };
    field.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      field.focus();
      press(event.timeStamp);
    });
    field.addEventListener("keydown", (event) => {
      if ((event.key !== " " && event.key !== "Enter") || event.repeat) return;
      event.preventDefault();
      press(event.timeStamp);
    });
    field.addEventListener("click", (event) => event.preventDefault());
    requestAnimationFrame(onFrame);
    setTimeout(() => field.focus());
    return [say, field, count, h("div", { class: "buttons" }, button(texts.skip, () => finish(null), "quiet"))];
  });
}
