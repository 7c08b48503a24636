// The warning of the beep's gate, and a short exercise: pressing at the signal, without pictures.
import { feedbackFor } from "../adherence";
import { h, sleep } from "../dom";
import type { Desk } from "../task";
import { button } from "../ui";
import type { BeepInfo } from "../wire";

const N_EXERCISES = 8;

/** Resolves to how many of the exercises were in time. */
export async function gateWarningPage(desk: Desk, share: number, beep_ms: number, rules: BeepInfo): Promise<number> {
  const { texts, ui } = desk;
  await ui.page<void>({ name: "gate-warning", title: texts.beep.warnTitle }, (done) => [
    h("p", {}, texts.beep.warn(Math.round(share * 100))),
    rules.gate === "stop" && h("p", {}, texts.beep.warnStop),
    h("p", {}, texts.beep.reminder),
    h("div", { class: "buttons" }, button(texts.beep.reminderGo, () => done())),
  ]);
  let nInTime = 0;
  for (let i = 0; i < N_EXERCISES; i++) if (await exercise(desk, beep_ms, rules, i)) nInTime++;
  await ui.page<void>({ name: "gate-exercise-done", title: texts.beep.warnTitle }, (done) => [
    h("p", {}, texts.beep.reminderDone(nInTime, N_EXERCISES)),
    h("div", { class: "buttons" }, button(texts.next, () => done())),
  ]);
  return nInTime;
}

async function exercise(desk: Desk, beep_ms: number, rules: BeepInfo, i: number): Promise<boolean> {
  const { texts, ui, sound } = desk;
  const note = h("p", { class: "large", role: "status" });
  const meter = h("progress", { max: 1, value: 0, "aria-label": texts.beep.reminderPress });
  const isInTime = await ui.page<boolean>({ name: "gate-exercise", title: texts.beep.counter(i + 1, N_EXERCISES), canLeave: false }, (done) => {
    const heard = performance.now() + 400 + beep_ms;
    sound?.beepAt(heard);
    let isOver = false;
    const press = (stamp: number | null) => {
      if (isOver) return;
      isOver = true;
      const feedback = feedbackFor(stamp, heard, rules.tolerance_ms);
      note.textContent = texts.beep[feedback];
      setTimeout(() => done(feedback === "ok"), 700);
    };
    const target = h(
      "button",
      { type: "button", class: "primary", onpointerdown: (e: PointerEvent) => press(e.timeStamp), onclick: (e: MouseEvent) => press(e.timeStamp) },
      texts.beep.reminderPress,
    );
    const onFrame = (t: number) => {
      if (sound === null) meter.value = Math.min(1, 1 - (heard - t) / (400 + beep_ms));
      if (heard + rules.window_ms < t) press(null);
      else if (!isOver) requestAnimationFrame(onFrame);
    };
    requestAnimationFrame(onFrame);
    setTimeout(() => target.focus());
    return [h("div", { class: "buttons" }, target), sound === null && meter, note];
  });
  await sleep(100);
  return isInTime;
}
