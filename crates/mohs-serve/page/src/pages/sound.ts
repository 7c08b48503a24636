// The sound check: whether the beep can be heard, or a ring should stand in for it.
import { h } from "../dom";
import { LATE_OUTPUT_MS, Sound } from "../sound";
import { button, type Ui } from "../ui";

export type SoundChoice = { sound: Sound | null; choices: Record<string, string> };

/** `cue` is the study's: `sound`, `visual` or `choice`. */
export function soundPage(ui: Ui, cue: string): Promise<SoundChoice> {
  const { sound: texts } = ui.texts;
  return ui.page({ name: "sound", title: texts.title }, (done) => {
    let sound: Sound | null = null;
    const say = h("p", { class: "problem", role: "status" });
    const heard = button(texts.heard, () => done({ sound, choices: choicesFrom(sound) }));
    heard.disabled = true;
    const play = async () => {
      sound ??= await Sound.start();
      if (sound === null) {
        say.textContent = texts.none;
        return;
      }
      sound.beepAt(performance.now() + 100);
      heard.disabled = false;
      say.textContent = LATE_OUTPUT_MS < (sound.output_latency_ms ?? 0) ? texts.late : "";
    };
    const ring = button(texts.visual, () => done({ sound: null, choices: { cue: "visual" } }), "");
    const mayRing = cue === "choice";
    return [
      h("p", {}, texts.text),
      h("div", { class: "buttons" }, button(texts.play, () => void play(), ""), heard),
      say,
      mayRing && h("p", {}, texts.visualText),
      mayRing && h("div", { class: "buttons" }, ring),
    ];
  });
}

function choicesFrom(sound: Sound | null): Record<string, string> {
  const ms = (value: number | null | undefined) => (value == null ? "unknown" : value.toFixed(1));
  return { cue: "sound", base_latency_ms: ms(sound?.base_latency_ms), output_latency_ms: ms(sound?.output_latency_ms) };
}
