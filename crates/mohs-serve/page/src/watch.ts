// Watches what can spoil a trial: visibility, focus, fullscreen and zoom. A trial asks whether
// anything happened since it began; the session gets every change as an event.
import { isFullscreen } from "./surroundings";

export class Watch {
  /** Counts changes for the worse; a trial compares before and after. */
  nDisturbances = 0;
  /** Whether the page was hidden, lost focus, left fullscreen or was zoomed, and nobody has dealt
   * with it yet. */
  needsPause = false;
  /** Device pixels in a CSS pixel when the stimulus was sized. */
  private ratio = devicePixelRatio;
  private wasFullscreen = isFullscreen();
  private readonly stop = new AbortController();

  constructor(
    private readonly tell: (change: string) => void,
    /** Whether leaving fullscreen disturbs. */
    private readonly mustFill: () => boolean,
    /** Called at once when a trial is spoiled. */
    private readonly onDisturbance: () => void,
  ) {
    const options = { signal: this.stop.signal };
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden") this.disturb("hidden");
      else this.tell("visible");
    }, options);
    addEventListener("blur", () => this.disturb("blur"), options);
    addEventListener("focus", () => this.tell("focus"), options);
    const onFullscreen = () => {
      const isFull = isFullscreen();
      if (isFull === this.wasFullscreen) return;
      this.wasFullscreen = isFull;
      if (isFull) this.tell("entered_fullscreen");
      else if (this.mustFill()) this.disturb("left_fullscreen");
      else this.tell("left_fullscreen");
    };
    document.addEventListener("fullscreenchange", onFullscreen, options);
    document.addEventListener("webkitfullscreenchange", onFullscreen, options);
    addEventListener("resize", () => {
      if (devicePixelRatio === this.ratio) return;
      this.ratio = devicePixelRatio;
      this.disturb("zoom");
    }, options);
  }

  /** Whether a trial may begin. */
  get isClear(): boolean {
    return document.visibilityState === "visible" && !this.needsPause;
  }

  settled(): void {
    this.needsPause = false;
    this.ratio = devicePixelRatio;
    this.wasFullscreen = isFullscreen();
  }

  close(): void {
    this.stop.abort();
  }

  private disturb(change: string): void {
    this.nDisturbances++;
    this.needsPause = true;
    this.onDisturbance();
    this.tell(change);
  }
}
