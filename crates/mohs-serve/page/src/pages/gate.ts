// The gate: whether browser, window and screen can do what the task needs.
import { h } from "../dom";
import { canShowAny, isThrottled, measureRefresh, type Refresh } from "../refresh";
import { browserFrom } from "../surroundings";
import type { Task } from "../task";
import { button, type Ui } from "../ui";
import type { StudyInfo } from "../wire";

/** Long enough for the rate to be known to a tenth of a hertz. */
const MEASURE_MS = 1_500;

/** More exposures than this are not listed. */
const MOST_NAMED = 6;

export type Passed = { refresh: Refresh; choices: Record<string, string> };

/** What one line of the list says. */
type Finding = { name: string; text: string; state: "ok" | "doubt" | "bad" };

export const hz = (refresh: Refresh) => String(Math.round(10_000 / refresh.period_ms) / 10);

/** Resolves when the participant goes on. A screen that cannot show this study is told so here, before
 * anybody has worked for nothing. */
export async function gatePage(ui: Ui, study: StudyInfo, task: Task): Promise<Passed> {
  for (;;) {
    const passed = await checkPage(ui, study, task);
    if (passed.choices !== null) return passed;
    await unfitPage(ui, passed.refresh, study, false);
  }
}

/** Says that this screen cannot show any exposure of the study; resolves when it shall be measured again. */
export function unfitPage(ui: Ui, refresh: Refresh, study: StudyInfo, hasAnswers: boolean): Promise<void> {
  const { unfit, gate } = ui.texts;
  const exposures = study.exposures_ms.map((ms) => ms.toLocaleString(study.language, { maximumFractionDigits: 1 }));
  return ui.page({ name: "unfit", title: unfit.title(String(Math.round(1000 / refresh.period_ms))) }, (done) => [
    h("p", {}, 0 < exposures.length && exposures.length <= MOST_NAMED ? unfit.exposures(exposures.join(", ")) : unfit.text),
    h("p", {}, unfit.todo),
    h("ul", {}, ...unfit.steps.map((step) => h("li", {}, step))),
    h("p", {}, unfit.noCode),
    hasAnswers && h("p", {}, unfit.kept),
    h("div", { class: "buttons" }, button(gate.recheck, () => done())),
  ]);
}

/** Says that this browser may not show any exposure of the study; another one goes on. */
export function unfitBrowserPage(ui: Ui, hasAnswers: boolean): Promise<never> {
  const { unfit, computer } = ui.texts;
  const copy = button(computer.copy, () => void navigator.clipboard?.writeText(location.href).then(() => (copy.textContent = computer.copied)));
  return ui.page({ name: "unfit", title: unfit.browser.title }, () => [
    h("p", {}, unfit.browser.text),
    h("p", {}, unfit.browser.todo),
    h("p", { class: "address" }, location.href),
    h("p", {}, unfit.browser.noCode),
    hasAnswers && h("p", {}, unfit.kept),
    h("div", { class: "buttons" }, copy),
  ]);
}

/** Without `choices` the screen cannot show the study. */
type Checked = Passed | { refresh: Refresh; choices: null };

function checkPage(ui: Ui, study: StudyInfo, task: Task): Promise<Checked> {
  const { texts } = ui;
  const { gate } = texts;
  return ui.page<Checked>({ name: "gate", title: gate.title }, (done) => {
    const list = h("ul", { class: "checks", "aria-live": "polite" });
    const buttons = h("div", { class: "buttons" });
    let refresh: Refresh | null = null;
    let nTries = 0;

    const look = async () => {
      buttons.replaceChildren();
      list.replaceChildren(h("li", { class: "checking" }, gate.checking));
      refresh = await measureRefresh(MEASURE_MS);
      nTries++;
      if (refresh !== null && !canShowAny(study.exposures_ms, refresh.period_ms, study.tolerance)) return done({ refresh, choices: null });
      show();
    };
    const show = () => {
      const findings = [browserFinding(), sizeFinding(), screenFinding()];
      const mark = { ok: "✓", doubt: "!", bad: "✗" };
      list.replaceChildren(
        ...findings.map(({ name, text, state }) =>
          h("li", { class: state }, h("span", { class: "mark", "aria-hidden": "true" }, mark[state]), h("strong", {}, name), h("span", {}, text)),
        ),
      );
      const isBad = findings.some(({ state }) => state === "bad");
      // Who cannot change it should not be kept out for ever: what the screen cannot do is not asked.
      const mayPass = refresh !== null && (!isBad || 1 < nTries);
      const pass = () => done({ refresh: refresh!, choices: choicesFrom(findings) });
      if (!isBad) buttons.replaceChildren(button(texts.next, pass));
      else buttons.replaceChildren(button(gate.recheck, () => void look()), ...(mayPass ? [button(gate.anyway, pass, "")] : []));
    };
    const browserFinding = (): Finding => {
      const kind = browserFrom(navigator.userAgent);
      const name = kind.charAt(0).toUpperCase() + kind.slice(1);
      const isBest = kind.startsWith("chromium") || task.name !== "flash";
      return { name: gate.browser, text: isBest ? gate.browserOk(name) : gate.browserOther(name), state: isBest ? "ok" : "doubt" };
    };
    const sizeFinding = (): Finding => {
      const { width, height } = task.minWindow;
      // Filling the screen makes room, so it is the screen that counts.
      const w = study.fullscreen ? Math.max(innerWidth, screen.width) : innerWidth;
      const hgt = study.fullscreen ? Math.max(innerHeight, screen.height) : innerHeight;
      const isFine = width <= w && height <= hgt;
      return { name: gate.size, text: isFine ? gate.sizeOk(w, hgt) : gate.sizeSmall(w, hgt, width, height), state: isFine ? "ok" : "bad" };
    };
    const screenFinding = (): Finding => {
      if (refresh === null) return { name: gate.screen, text: gate.screenNone, state: "bad" };
      const isSlow = task.needsComputer && isThrottled(refresh);
      return { name: gate.screen, text: isSlow ? gate.screenSlow(hz(refresh)) : gate.screenOk(hz(refresh)), state: isSlow ? "bad" : "ok" };
    };
    void look();
    return [
      h("p", {}, gate.tips),
      list,
      study.fullscreen && h("p", {}, gate.fullscreen),
      buttons,
    ];
  });
}

function choicesFrom(findings: readonly Finding[]): Record<string, string> {
  const [browser, size, screen] = findings;
  return { browser: browser!.state, window: size!.state, screen: screen!.state };
}
