// Pages before a session: inside another page, in another tab, on a phone.
import { h } from "../dom";
import { button, type Ui } from "../ui";

/** Inside a frame: opens a window of its own. */
export function launchPage(ui: Ui): void {
  const { launch } = ui.texts;
  const link = h("a", { class: "button primary", href: location.href, target: "_blank", rel: "noopener" }, launch.button);
  ui.last({ name: "launch", title: launch.title }, h("p", {}, launch.text), h("div", { class: "buttons" }, link));
}

/** MTurk's preview: nothing begins before the task is accepted. */
export function unacceptedPage(ui: Ui): void {
  const { launch } = ui.texts;
  ui.last({ name: "unaccepted", title: launch.title }, h("p", {}, launch.text), h("p", {}, launch.preview));
}

export function computerPage(ui: Ui): void {
  const { computer } = ui.texts;
  const copy = button(computer.copy, () => void navigator.clipboard?.writeText(location.href).then(() => (copy.textContent = computer.copied)));
  ui.last({ name: "computer", title: computer.title }, h("p", {}, computer.text), h("p", { class: "address" }, location.href), h("div", { class: "buttons" }, copy));
}

/** Another tab is at work; resolves when this one shall take over. */
export function otherTabPage(ui: Ui): Promise<void> {
  const { elsewhere } = ui.texts;
  return ui.page({ name: "other-tab", title: elsewhere.title, canLeave: false }, (done) => [
    h("p", {}, elsewhere.text),
    h("div", { class: "buttons" }, button(elsewhere.button, () => done())),
  ]);
}

/** Another tab or device has taken over. */
export function takenPage(ui: Ui, text: string): void {
  const { elsewhere } = ui.texts;
  ui.last(
    { name: "taken", title: elsewhere.title },
    h("p", {}, text),
    h("div", { class: "buttons" }, button(elsewhere.button, goOnHere, "")),
  );
}

/** Loads the page again, which then takes over without asking once more. */
function goOnHere(): void {
  history.replaceState({ goesOn: true }, "");
  location.reload();
}
