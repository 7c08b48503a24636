// When a change was on the screen, as the browser itself says. Chromium tells when an element with
// `elementtiming` was first presented; so a letter in the colour of the ground appears with the image,
// and another one with the mask, in the same frames. Frames that the page drew in time and the
// compositor presented late can be seen in no other way. Other browsers tell nothing.
import { h } from "./dom";

/** How long to wait for the browser's word after an answer. */
const PATIENCE_MS = 500;

type ElementTiming = PerformanceEntry & { renderTime: number; identifier: string };

/** Whether this browser has ever told. One that says it could and never does counts as one that cannot. */
let hasTold = false;
let nMarkers = 0;

export function mayTell(): boolean {
  return globalThis.PerformanceObserver?.supportedEntryTypes?.includes("element") === true;
}

/** The letters of one flash: one for the image, one for the mask. */
export type Markers = readonly [HTMLElement, HTMLElement];

export class Presented {
  private readonly told = new Map<string, number>();
  private observer: PerformanceObserver | null = null;
  private wake: () => void = () => {};

  constructor(private readonly room: HTMLElement) {}

  private observe(): void {
    this.observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as ElementTiming[]) {
        if (0 < entry.renderTime) this.told.set(entry.identifier, entry.renderTime);
      }
      if (0 < this.told.size) hasTold = true;
      this.wake();
    });
    this.observer.observe({ type: "element" });
  }

  /** Puts the letters of a flash into the page, unseen; nothing for browsers that cannot tell. */
  prepare(): Markers | null {
    if (!mayTell()) return null;
    if (this.observer === null) this.observe();
    const marker = () => h("span", { class: "presented", "aria-hidden": "true", elementtiming: `presented-${nMarkers++}` }, "x");
    const markers: Markers = [marker(), marker()];
    this.room.replaceChildren(...markers);
    this.told.clear();
    return markers;
  }

  /** When the two were presented; empty where the browser does not tell. Waits a little for its word. */
  async times(markers: Markers | null): Promise<(number | null)[]> {
    if (markers === null) return [];
    const found = () => markers.map((marker) => this.told.get(marker.getAttribute("elementtiming")!) ?? null);
    const until = performance.now() + PATIENCE_MS;
    while (found().includes(null) && performance.now() < until) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, until - performance.now());
        this.wake = () => (clearTimeout(timer), resolve());
      });
    }
    return hasTold ? found() : [];
  }

  /** Takes the letters away. */
  clear(): void {
    this.room.replaceChildren();
  }

  close(): void {
    this.observer?.disconnect();
    this.clear();
  }
}
