// Consent: what the study is, and whether the participant may and wants to take part.
import { h, paragraphs } from "../dom";
import type { Task } from "../task";
import { button, type Ui } from "../ui";
import type { StudyInfo } from "../wire";

export type Consent = { agreed: true; choices: Record<string, string> } | { agreed: false };

export function consentPage(ui: Ui, study: StudyInfo, task: Task): Promise<Consent> {
  const { texts } = ui;
  const { consent } = texts;
  return ui.page({ name: "consent", title: study.title || consent.title, canLeave: false }, (done) => {
    const boxes: [string, string][] = [
      ["read", consent.read],
      ["age", consent.old(study.min_age)],
    ];
    if (task.flashes) boxes.push(["photosensitivity", consent.safe]);
    const inputs = boxes.map(([name]) => h("input", { type: "checkbox", id: `box-${name}` }));
    const labels = boxes.map(([name, text], i) => h("div", { class: "tick" }, inputs[i]!, h("label", { for: `box-${name}` }, text)));
    const missing = h("p", { class: "problem", role: "alert" });
    const agree = () => {
      const unticked = inputs.find((input) => !input.checked);
      if (unticked === undefined) {
        const choices = Object.fromEntries(boxes.map(([name]) => [name, name === "photosensitivity" ? "none_known" : "yes"]));
        done({ agreed: true, choices: { ...choices, agreed: "yes" } });
        return;
      }
      missing.textContent = consent.missing;
      unticked.focus();
    };
    const facts: [string, string][] = [
      [consent.facts.minutes, 0 < study.minutes ? consent.minutes(study.minutes) : ""],
      [consent.facts.pay, study.pay],
      [consent.facts.age, consent.age(study.min_age)],
      [consent.facts.contact, study.contact],
    ];
    const known = facts.filter(([, value]) => value !== "");
    const own = study.consent.length === 0;
    return [
      h("dl", { class: "facts" }, ...known.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
      ...(own ? paragraphs([consent.text[task.name], ...consent.rights]) : paragraphs(study.consent)),
      task.flashes && h("p", { class: "caution" }, consent.photosensitive),
      h("div", { class: "ticks", role: "group", "aria-label": consent.title }, ...labels),
      missing,
      h("div", { class: "buttons column" }, button(consent.agree, agree), button(consent.refuse, () => done({ agreed: false }), "quiet")),
    ];
  });
}
