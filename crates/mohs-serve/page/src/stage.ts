// The stage: one opaque canvas and one loop of animation frames that runs for a whole block. A flash
// is walked through frame by frame from a table made before it; while it runs nothing is allocated,
// no promise is settled, and no element changes but two letters that nobody sees (presented.ts).
import { AFTER, CROSS, DONE, frameTable, IMAGE, MASK, Player, type Phase } from "./frames";
import { h } from "./dom";
import { mayTell, Presented, type Markers } from "./presented";
import { judge, QUIET_MS, type Verdict } from "./verdict";
import type { FlashEvidence } from "./wire";

const GREY = "#808080";
const BLACK = "#000000";

/** A flash to show. */
export type Flash = {
  image: ImageBitmap;
  mask: ImageBitmap | null;
  frames: number;
  fixation_ms: number;
  mask_ms: number;
};

/** What became of it. */
export type Shown =
  | { kind: "not_shown" }
  | {
      kind: "shown";
      onset_ms: number;
      offset_ms: number;
      stamps_ms: number[];
      longest_gap_ms: number;
      /** Judges it, as soon as the browser has told what it presented. */
      judged: () => Promise<{ frames_shown: number; verdict: Verdict; flash: FlashEvidence }>;
    };

export class Stage {
  readonly element: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  /** Side of the canvas in device pixels. */
  readonly side: number;
  private readonly context: CanvasRenderingContext2D;
  private readonly player: Player;
  private readonly presented: Presented;
  private markers: Markers | null = null;
  private request = 0;
  private flash: Flash | null = null;
  private finish: ((shown: Shown) => void) | null = null;
  private drawnPhase: Phase = 0;
  private disturbed = false;
  /** Called on every frame outside flashes, for tasks that draw for themselves. */
  onFrame: ((t: number) => void) | null = null;

  /** `side_px` is the side of a stimulus in CSS pixels, `room` how much larger the canvas is. */
  constructor(
    readonly side_px: number,
    readonly period_ms: number,
    room = 1,
  ) {
    this.player = new Player(period_ms, mayTell() ? 0 : QUIET_MS);
    const ratio = devicePixelRatio;
    this.side = Math.round(side_px * ratio);
    const whole = Math.round(this.side * room);
    this.canvas = h("canvas", { width: whole, height: whole, "aria-hidden": "true" });
    this.canvas.style.width = `${whole / ratio}px`;
    this.canvas.style.height = `${whole / ratio}px`;
    this.context = this.canvas.getContext("2d", { alpha: false, desynchronized: false })!;
    this.context.imageSmoothingEnabled = true;
    this.context.imageSmoothingQuality = "high";
    const corner = h("div", {});
    this.element = h("div", { class: "stage", tabindex: "-1" }, corner, h("div", { class: "stage-centre" }, this.canvas));
    this.presented = new Presented(corner);
    this.blank();
  }

  /** Starts the loop. */
  start(): void {
    if (this.request !== 0) return;
    this.player.resumeAfterPause();
    this.request = requestAnimationFrame(this.tick);
  }

  stop(): void {
    cancelAnimationFrame(this.request);
    this.request = 0;
    this.presented.close();
  }

  /** Shows a flash; resolves when the mask is over, or at once when something came in between. */
  show(flash: Flash): Promise<Shown> {
    const table = frameTable(flash.fixation_ms, flash.frames, flash.mask_ms, this.period_ms);
    this.flash = flash;
    this.disturbed = false;
    this.drawnPhase = 0;
    this.markers = this.presented.prepare();
    return new Promise((resolve) => {
      this.finish = resolve;
      this.player.begin(table);
    });
  }

  /** The page was hidden, left or zoomed. What was not on screen yet is not shown; what was is void. */
  disturb(): void {
    this.disturbed = true;
    if (this.flash === null) return;
    if (this.player.phase < IMAGE) {
      this.end({ kind: "not_shown" });
    } else if (this.player.phase < AFTER && document.visibilityState === "hidden") {
      // No frame will come until the page is back, so the end of the image will never be known.
      this.end(this.result());
    }
  }

  blank(): void {
    this.context.fillStyle = GREY;
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
  }

  cross(): void {
    const { width } = this.canvas;
    const arm = Math.round(this.side * 0.04);
    const thick = Math.max(2, Math.round(this.side * 0.008));
    const middle = width >> 1;
    this.blank();
    this.context.fillStyle = BLACK;
    this.context.fillRect(middle - arm, middle - (thick >> 1), 2 * arm, thick);
    this.context.fillRect(middle - (thick >> 1), middle - arm, thick, 2 * arm);
  }

  picture(bitmap: ImageBitmap): void {
    const from = (this.canvas.width - this.side) >> 1;
    this.context.drawImage(bitmap, from, from, this.side, this.side);
  }

  /** Draws how much of a ring around the picture is closed. */
  ring(share: number, isClosed: boolean): void {
    const middle = this.canvas.width / 2;
    const radius = this.side * 0.76;
    const { context } = this;
    const width = Math.max(4, this.side * 0.03);
    context.lineWidth = width + 2;
    context.strokeStyle = GREY;
    context.beginPath();
    context.arc(middle, middle, radius, 0, 2 * Math.PI);
    context.stroke();
    context.lineWidth = width;
    context.strokeStyle = isClosed ? "#ffffff" : BLACK;
    context.beginPath();
    context.arc(middle, middle, radius, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * Math.min(1, Math.max(0, share)));
    context.stroke();
  }

  private readonly tick = (t: number): void => {
    this.request = requestAnimationFrame(this.tick);
    const phase = this.player.step(t, performance.now());
    if (this.flash === null) {
      this.onFrame?.(t);
      return;
    }
    if (phase === this.drawnPhase) return;
    this.drawnPhase = phase;
    if (phase === CROSS) this.cross();
    else if (phase === IMAGE) this.picture(this.flash.image);
    else if (phase === MASK && this.flash.mask !== null) this.picture(this.flash.mask);
    else if (phase === MASK || phase === AFTER) this.blank();
    if (this.markers !== null && (phase === IMAGE || phase === MASK)) this.markers[phase - IMAGE]!.style.visibility = "visible";
    if (phase === DONE) this.end(this.result());
    else this.player.drawn(performance.now());
  };

  private end(shown: Shown): void {
    const { finish } = this;
    this.flash = null;
    this.finish = null;
    this.player.reset();
    this.blank();
    finish?.(shown);
  }

  private result(): Shown {
    const { player, period_ms, markers } = this;
    const wasCut = player.phase !== DONE;
    const offset_ms = 0 < player.offset ? player.offset : performance.now();
    const known = {
      frames_planned: Math.max(1, Math.round(this.flash?.frames ?? 1)),
      period_ms,
      onset_ms: player.onset,
      offset_ms,
      was_undisturbed: !this.disturbed && !wasCut,
    };
    const noted: FlashEvidence = {
      version: 1,
      n_callbacks: player.imageCallbacks,
      shortest_gap_ms: Number.isFinite(player.shortestShown) ? player.shortestShown : 0,
      longest_gap_ms: player.longestShown,
      calm_frames: player.calmFrames,
      since_late_ms: Number.isFinite(player.sinceLate) ? player.sinceLate : null,
      lags_ms: [player.lags[1]!, player.lags[2]!],
      presented_ms: [],
    };
    return {
      kind: "shown",
      onset_ms: player.onset,
      offset_ms,
      // A trial that was cut off has no stamps for what never came.
      stamps_ms: wasCut ? Array.from(player.stamps).filter((stamp) => 0 < stamp) : Array.from(player.stamps),
      longest_gap_ms: player.longestGap,
      judged: async () => {
        const flash = { ...noted, presented_ms: wasCut ? [] : await this.presented.times(markers) };
        this.presented.clear();
        return { ...judge({ ...known, flash }), flash };
      },
    };
  }
}
