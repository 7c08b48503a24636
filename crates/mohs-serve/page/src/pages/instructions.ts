// Instructions: what the participant will do, and the answers there are.
import { breakable, h } from "../dom";
import type { Task } from "../task";
import { button, type Ui } from "../ui";
import type { StudyInfo } from "../wire";

export function instructionsPage(ui: Ui, study: StudyInfo, task: Task): Promise<void> {
  const { instructions: texts } = ui.texts;
  const hints = task.name === "pairs" ? [texts.keysPairs, ...(study.ties ? [texts.keysTie] : [])] : [texts.keysGrid];
  return ui.page({ name: "instructions", title: texts.title }, (done) => [
    h("ol", {}, ...texts[task.name].map((step) => h("li", {}, step))),
    ...hints.map((hint) => h("p", { class: "hint keys" }, hint)),
    0 < study.labels.length && h("h2", {}, texts.labels),
    0 < study.labels.length && h("ul", { class: "labels" }, ...study.labels.map((label) => h("li", {}, ...breakable(label)))),
    h("div", { class: "buttons" }, button(texts.start, () => done())),
  ]);
}
