// The card: how many CSS pixels a millimetre has, from a bank card held against the screen.
import { CARD_HEIGHT_MM, CARD_WIDTH_MM, pxPerMm } from "../calibration";
import { h } from "../dom";
import { button, type Ui } from "../ui";

const MIN_PX = 150;
const MAX_PX = 900;
/** What most screens have: 96 CSS pixels to an inch. */
const USUAL_PX = (96 / 25.4) * CARD_WIDTH_MM;

/** Resolves to CSS pixels in a millimetre; nothing for who has no card. */
export function cardPage(ui: Ui): Promise<number | null> {
  const { texts } = ui;
  const { card } = texts;
  return ui.page({ name: "card", title: card.title, isWide: true }, (done) => {
    // A phone is too narrow for a card that lies, so there it stands.
    const isUpright = innerWidth < 500;
    let width = USUAL_PX;
    const handle = h("span", { class: "handle", "aria-hidden": "true" });
    const frame = h("div", { class: "card-frame" }, handle);
    const slider = h("input", { type: "range", id: "card-width", min: MIN_PX, max: MAX_PX, step: "1", "aria-label": card.label });
    const set = (px: number) => {
      width = Math.min(MAX_PX, Math.max(MIN_PX, px));
      const short = (width * CARD_HEIGHT_MM) / CARD_WIDTH_MM;
      frame.style.width = `${isUpright ? short : width}px`;
      frame.style.height = `${isUpright ? width : short}px`;
      slider.value = String(Math.round(width));
      slider.setAttribute("aria-valuetext", card.width(Math.round(width)));
    };
    slider.addEventListener("input", () => set(Number(slider.value)));
    // The slider's own steps are the arrow keys; with shift they are larger.
    slider.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      set(width + step * (event.shiftKey ? 10 : 1));
    });
    let from: { at: number; width: number } | null = null;
    const along = (event: PointerEvent) => (isUpright ? event.clientY : event.clientX);
    frame.addEventListener("pointerdown", (event) => {
      from = { at: along(event), width };
      frame.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    frame.addEventListener("pointermove", (event) => {
      // The frame is centred, so it grows by twice the way of the corner; upright it grows downwards.
      if (from !== null) set(from.width + (along(event) - from.at) * (isUpright ? 1 : 2));
    });
    const drop = () => (from = null);
    frame.addEventListener("pointerup", drop);
    frame.addEventListener("pointercancel", drop);
    set(USUAL_PX);
    return [
      h("p", {}, card.text),
      h("p", { class: "hint" }, card.how),
      h("div", { class: "card-room" }, frame),
      h("div", { class: "slider" }, h("label", { for: "card-width" }, card.label), slider),
      h("div", { class: "buttons" }, button(card.done, () => done(pxPerMm(width))), button(card.noCard, () => done(null), "quiet")),
    ];
  });
}
