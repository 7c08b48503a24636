// Pages at the end: saving, the code, withdrawal, and what went wrong.
import { ApiError } from "../api";
import { download, h, paragraphs } from "../dom";
import type { Outbox } from "../outbox";
import { safeUrl } from "../surroundings";
import { button, type Ui } from "../ui";
import type { StudyInfo } from "../wire";

/** After this long, a file is offered. */
const LONG_MS = 120_000;
/** Most savings are over before anybody could read about them. */
const SHORT_MS = 400;

/** Waits until the server has everything, and says so if that takes a while. */
export async function saved(ui: Ui, outbox: Outbox): Promise<void> {
  const drained = outbox.drained();
  const isQuick = await Promise.race([drained.then(() => true), new Promise<boolean>((r) => setTimeout(() => r(false), SHORT_MS))]);
  if (isQuick) return;
  await ui.page<void>({ name: "saving", title: ui.texts.saving.title }, (done, fail) => {
    const { saving } = ui.texts;
    const left = h("p", { class: "large", role: "status" });
    const more = h("div", {});
    const tell = () => (left.textContent = saving.left(outbox.nAnswersUnsaved));
    const stop = outbox.watch(tell);
    const timer = setTimeout(() => {
      more.replaceChildren(h("p", {}, saving.long), h("div", { class: "buttons" }, button(saving.download, () => void offer(outbox), "")));
    }, LONG_MS);
    const over = () => {
      stop();
      clearTimeout(timer);
    };
    tell();
    drained.then(
      () => (over(), done()),
      (error: unknown) => (over(), fail(error)),
    );
    return [left, h("p", {}, saving.keep), more];
  });
}

/** Gives the participant everything that may not be saved, hashes and all. */
export async function offer(outbox: Outbox): Promise<void> {
  download("mohs-answers.json", JSON.stringify({ format: "mohs-events/1", chains: await outbox.everything() }, null, 1));
}

/** Why a session is over: all is done, the participant wished so, or the study's rules did. */
export type Why = "all" | "early" | "stopped";

export function endPage(ui: Ui, study: StudyInfo, code: string | null, completionUrl: string | null, why: Why, outbox: Outbox): void {
  const { consent, end, error, beep } = ui.texts;
  const { hasRefused } = outbox;
  const said = { all: hasRefused ? end.through : end.all, early: end.early, stopped: beep.stop }[why];
  // What could be handed in somewhere is not for previews.
  if (study.preview) return ui.last({ name: "end", title: end.title }, h("p", {}, end.preview), ...paragraphs(study.debrief), h("p", {}, end.close));
  const url = safeUrl(completionUrl);
  const copy = button(end.copy, () => void navigator.clipboard?.writeText(code ?? "").then(() => (copy.textContent = end.copied)), "");
  ui.last(
    { name: "end", title: end.title },
    h("p", {}, said),
    hasRefused && h("div", { class: "caution" }, h("p", {}, error.refused), contactOf(study.contact, consent.facts.contact), button(error.download, () => void offer(outbox), "")),
    ...paragraphs(study.debrief),
    code === null ? h("p", {}, end.noCode) : h("p", {}, end.code),
    code !== null && h("p", { class: "code" }, h("code", {}, code), copy),
    code !== null && url !== null ? h("div", { class: "buttons" }, h("a", { class: "button primary", href: url, rel: "noreferrer" }, end.onward)) : h("p", {}, end.close),
  );
}

/** Whom to send answers to, where that is known. */
function contactOf(contact: string, name: string): HTMLElement | null {
  return contact === "" ? null : h("p", {}, `${name}: ${contact}`);
}

/** There was not one trial for this participant; they get no code. */
export function nothingLeftPage(ui: Ui, study: StudyInfo): void {
  const { nothingLeft } = ui.texts;
  ui.last(
    { name: "nothing-left", title: nothingLeft.title },
    ...paragraphs([nothingLeft.text, nothingLeft.code]),
    study.contact !== "" && h("p", {}, nothingLeft.contact(study.contact)),
  );
}

export function withdrawnPage(ui: Ui): void {
  ui.last({ name: "withdrawn", title: ui.texts.leave.done }, h("p", {}, ui.texts.leave.doneText));
}

/** Says what went wrong, with its stable code. */
export function errorPage(ui: Ui, error: unknown, outbox: Outbox | null, contact: string): void {
  const { texts } = ui;
  const code = error instanceof ApiError ? error.code : "page_failed";
  const message = texts.codes[code] ?? (error instanceof ApiError ? error.message : "");
  // Not a fault: there is nothing to try again.
  const isOver = ["study_closed", "study_full", "screen_unfit", "id_missing", "session_over", "proof_missing"].includes(code);
  const over = texts.error.titles[code] ?? texts.consent.refused.title;
  const hasUnsaved = outbox !== null && 0 < outbox.nUnsaved;
  const hasRefused = outbox !== null && outbox.hasRefused;
  // Then trying again changes nothing.
  const isRefusal = hasRefused && outbox.refusal === error;
  ui.last(
    { name: "error", title: isOver ? over : texts.error.title },
    !isRefusal && message !== "" && h("p", {}, message),
    hasRefused && h("p", {}, texts.error.refused),
    hasRefused && contactOf(contact, texts.consent.facts.contact),
    !isOver && !isRefusal && h("p", {}, texts.error.text),
    // Not called a code, and not said where nothing is wrong: somebody would hand it in.
    !isOver && h("p", { class: "hint" }, `${texts.error.reason}: `, h("code", {}, code)),
    hasUnsaved && h("p", {}, texts.error.safe),
    h(
      "div",
      { class: "buttons" },
      hasRefused && button(texts.error.download, () => void offer(outbox)),
      (!isOver || code === "proof_missing") && button(texts.error.reload, () => location.reload(), hasRefused ? "" : "primary"),
      hasUnsaved && !hasRefused && button(texts.error.download, () => void offer(outbox), ""),
    ),
  );
}
