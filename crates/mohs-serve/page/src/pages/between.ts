// Pages between blocks: practice, breaks, a pause after something came in between, coming back.
import { h } from "../dom";
import { button, type Ui } from "../ui";
import type { Block, StudyInfo } from "../wire";

function bar(ui: Ui, done: number, total: number): HTMLElement | null {
  if (total === 0) return null;
  const text = ui.texts.pause.progress(done, total);
  return h("div", { class: "progress" }, h("progress", { max: total, value: Math.min(done, total), "aria-label": text }), h("p", {}, text));
}

export function welcomeBackPage(ui: Ui, done: number, total: number): Promise<void> {
  const { welcomeBack } = ui.texts;
  return ui.page({ name: "welcome-back", title: welcomeBack.title }, (finish) => [
    h("p", {}, welcomeBack.text),
    0 < total && bar(ui, done, total),
    h("div", { class: "buttons" }, button(ui.texts.next, () => finish())),
  ]);
}

export function practicePage(ui: Ui, block: Block, isBeep: boolean): Promise<void> {
  const { practice, instructions } = ui.texts;
  return ui.page({ name: "practice", title: practice.title }, (finish) => [
    h("p", {}, practice.text(block.trials.length)),
    isBeep && block.beep_ms === null && h("p", {}, practice.untimed),
    h("div", { class: "buttons" }, button(instructions.start, () => finish())),
  ]);
}

export function practiceOverPage(ui: Ui): Promise<void> {
  const { practice, next } = ui.texts;
  return ui.page({ name: "practice-over", title: practice.over }, (finish) => [
    h("p", {}, practice.overText),
    h("div", { class: "buttons" }, button(next, () => finish())),
  ]);
}

export function breakPage(ui: Ui, study: StudyInfo, done: number, total: number): Promise<void> {
  const { pause, next } = ui.texts;
  return ui.page({ name: "break", title: pause.title }, (finish) => [
    h("p", {}, pause.text),
    study.calibrate && h("p", {}, pause.sit),
    bar(ui, done, total),
    h("div", { class: "buttons" }, button(next, () => finish())),
  ]);
}

/** Said before a block whose beep comes at another time than before. */
export function beepBlockPage(ui: Ui, beep_ms: number, language: string): Promise<void> {
  const { beepBlock, instructions } = ui.texts;
  const seconds = (beep_ms / 1000).toLocaleString(language, { minimumFractionDigits: 1, maximumFractionDigits: 2 });
  return ui.page({ name: "beep-block", title: beepBlock.title }, (finish) => [
    h("p", {}, beepBlock.text(seconds)),
    h("div", { class: "buttons" }, button(instructions.start, () => finish())),
  ]);
}

/** Resolves to whether the screen should be measured again. */
export function pausePage(ui: Ui, study: StudyInfo, isZoomed: boolean): Promise<"go" | "measure"> {
  const { pause, next } = ui.texts;
  return ui.page({ name: "pause", title: pause.lost }, (finish) => [
    h("p", {}, isZoomed ? pause.zoom : pause.lostText),
    study.fullscreen && h("p", {}, pause.fullscreen),
    h(
      "div",
      { class: "buttons" },
      button(next, () => finish("go")),
      isZoomed && study.calibrate && button(pause.measure, () => finish("measure"), ""),
    ),
  ]);
}
