// A flash as a table of frames, and the player that walks through it one animation frame at a time.
// Pure: stamps go in, the phase to draw comes out. Nothing is allocated while a trial runs.

/** How many refreshes each phase lasts. */
export type FrameTable = { cross: number; image: number; mask: number };

/** Returns the table of a trial. Cross and mask are rounded to whole frames, at least one. */
export function frameTable(fixation_ms: number, frames: number, mask_ms: number, period_ms: number): FrameTable {
  const whole = (ms: number) => Math.max(1, Math.round(ms / period_ms));
  return { cross: whole(fixation_ms), image: Math.max(1, Math.round(frames)), mask: whole(mask_ms) };
}

/** What is on screen. */
export const IDLE = 0, CROSS = 1, IMAGE = 2, MASK = 3, AFTER = 4, DONE = 5;
export type Phase = typeof IDLE | typeof CROSS | typeof IMAGE | typeof MASK | typeof AFTER | typeof DONE;

/** Even frames in a row before the image may appear. */
export const CALM_FRAMES = 6;
/** A callback that begins later than this after its stamp, in periods, may miss its refresh. Found with
 * traces of Chromium under load: with 0.5 and less, no frame that was presented late passed. */
export const MOST_LAG_PERIODS = 0.4;
/** How much of the strain of late frames is left with each frame: a half after half a second. */
const STRAIN_LEFT = 0.98;
/** About as many late frames in the last second before the image may appear. A page that is often
 * late runs on a machine that is short of time, and its compositor is late too, unseen. */
const MOST_STRAIN = 2;
/** Callbacks after the change to the mask that are looked at. */
const FRAMES_AFTER = 3;
/** Exposures from here on bear a late frame. */
const LONG_FRAMES = 100;
/** Refreshes after which it appears all the same; the verdict knows. */
const MOST_POSTPONED = 60;
/** The number of a refresh is counted anew from here on, so that an error of the period in the fifth
 * digit does not add up over an exposure of ten seconds. */
const ANCHOR_FRAMES = 30;

/** Stamps kept for each of the four changes: two frames before, the frame itself, one after. */
export const STAMPS_PER_CHANGE = 4;

export class Player {
  phase: Phase = IDLE;
  /** Cross, image, mask, end: two stamps before each change, two from it on. */
  readonly stamps = new Float64Array(4 * STAMPS_PER_CHANGE);
  /** For each change, how late it was: until drawing was finished, or until one of the next callbacks
   * began, whichever took longer after its stamp. What blocks the page right after drawing keeps the
   * frame from the screen just as well, and what starves the page now and then starves the rest of the
   * browser too, which the page cannot see. Counted from the least that was seen, as some browsers' stamps are
   * always old. */
  readonly lags = new Float64Array(4);
  longestGap = 0;
  /** Callbacks that found the image on, its own included. */
  imageCallbacks = 0;
  /** Shortest and longest gap from the image to the frame after the change to the mask. */
  shortestShown = Infinity;
  longestShown = 0;
  /** Even frames in a row just before the image came; none when too many frames before were late. */
  calmFrames = 0;
  /** Time from the last late frame to the image; infinite when there was none. */
  sinceLate = Infinity;

  private table: FrameTable = { cross: 1, image: 1, mask: 1 };
  private readonly period: number;
  private readonly quiet: number;
  private readonly mostPostponed: number;
  private lastLate = -Infinity;
  private last = NaN;
  private beforeLast = NaN;
  private anchor = 0;
  private anchorK = 0;
  private calm = 0;
  private afterSlot = -1;
  private framesAfterMask = 0;
  private isWanted = false;
  private leastLag = Infinity;
  private strain = 0;

  /** `quiet_ms` is the time without a late frame that the image waits for. */
  constructor(period_ms: number, quiet_ms = 0) {
    this.period = period_ms;
    this.quiet = quiet_ms;
    this.mostPostponed = Math.max(MOST_POSTPONED, Math.ceil((1.5 * quiet_ms) / period_ms));
  }

  /** Arms the player; the cross comes with the next frame. */
  begin(table: FrameTable): void {
    this.table = table;
    this.stamps.fill(0);
    this.lags.fill(0);
    this.longestGap = 0;
    this.imageCallbacks = 0;
    this.shortestShown = Infinity;
    this.longestShown = 0;
    this.calmFrames = 0;
    this.sinceLate = Infinity;
    this.afterSlot = -1;
    this.phase = IDLE;
    this.isWanted = true;
  }

  /** Back to an empty screen, whatever was on. */
  reset(): void {
    this.phase = IDLE;
    this.isWanted = false;
  }

  get onset(): number {
    return this.stamps[STAMPS_PER_CHANGE + 2]!;
  }

  get offset(): number {
    return this.stamps[2 * STAMPS_PER_CHANGE + 2]!;
  }

  /** Takes the stamp of a frame and the time its callback began; returns what to draw on it. */
  step(t: number, now: number): Phase {
    const gap = t - this.last;
    if (now - t < this.leastLag) this.leastLag = now - t;
    const lag = now - t - this.leastLag;
    if (0 <= this.afterSlot) {
      this.stamps[this.afterSlot] = t;
      this.note(this.phase, lag);
      this.afterSlot = -1;
    }
    if (CROSS <= this.phase && this.phase <= MASK && this.longestGap < gap) this.longestGap = gap;
    const isEven = 0.5 * this.period <= gap && gap <= 1.5 * this.period;
    const isLate = !isEven || MOST_LAG_PERIODS * this.period < lag;
    this.strain = STRAIN_LEFT * this.strain + (isLate ? 1 : 0);
    // The first frame after a pause has none before it to be late after.
    if (isLate && !Number.isNaN(gap)) this.lastLate = t;
    switch (this.phase) {
      case IDLE:
        if (this.isWanted && !Number.isNaN(this.beforeLast)) {
          this.calm = 0;
          this.change(CROSS, t);
        }
        break;
      case CROSS: {
        this.calm = isLate ? 0 : this.calm + 1;
        const k = this.refreshes(t);
        // A late frame before the image only makes the cross longer, which does no harm.
        const isCalm = CALM_FRAMES <= this.calm && this.strain < MOST_STRAIN;
        const isDue = this.table.cross <= k && isCalm && this.quiet <= t - this.lastLate;
        if (isDue || this.table.cross + this.mostPostponed <= k) {
          this.calmFrames = this.strain < MOST_STRAIN ? this.calm : 0;
          this.sinceLate = t - this.lastLate;
          this.change(IMAGE, t);
          this.imageCallbacks = 1;
        }
        break;
      }
      case IMAGE:
        this.noteGap(gap);
        // A late frame in the middle of a long exposure does no harm.
        if (this.table.image < LONG_FRAMES) this.note(IMAGE, lag);
        if (this.table.image <= this.refreshes(t)) {
          this.change(MASK, t);
          this.framesAfterMask = 0;
        } else this.imageCallbacks++;
        break;
      case MASK:
        // A gap right after the change says that its frame may have come late.
        if (this.framesAfterMask < FRAMES_AFTER) {
          if (this.framesAfterMask === 0) this.noteGap(gap);
          this.note(MASK, lag);
          this.framesAfterMask++;
        }
        if (this.table.mask <= this.refreshes(t)) this.change(AFTER, t);
        break;
      case AFTER:
        this.phase = DONE;
        this.isWanted = false;
        break;
      case DONE:
        break;
    }
    this.beforeLast = this.last;
    this.last = t;
    return this.phase;
  }

  /** Takes the time when a frame that changed something was drawn. */
  drawn(now: number): void {
    if (CROSS <= this.phase && this.phase <= AFTER) this.lags[this.phase - 1] = now - this.last - this.leastLag;
  }

  /** Forgets stamps from before a pause, in which no frames came. */
  resumeAfterPause(): void {
    this.strain = 0;
    this.lastLate = -Infinity;
    this.last = NaN;
    this.beforeLast = NaN;
  }

  private note(change: Phase, lag: number): void {
    if (CROSS <= change && change <= AFTER && this.lags[change - 1]! < lag) this.lags[change - 1] = lag;
  }

  private noteGap(gap: number): void {
    if (gap < this.shortestShown) this.shortestShown = gap;
    if (this.longestShown < gap) this.longestShown = gap;
  }

  private refreshes(t: number): number {
    const k = this.anchorK + Math.round((t - this.anchor) / this.period);
    if (ANCHOR_FRAMES <= k - this.anchorK) {
      this.anchor = t;
      this.anchorK = k;
    }
    return k;
  }

  private change(to: Phase, t: number): void {
    const base = (to - 1) * STAMPS_PER_CHANGE;
    this.stamps[base] = this.beforeLast;
    this.stamps[base + 1] = this.last;
    this.stamps[base + 2] = t;
    this.afterSlot = base + 3;
    this.anchor = t;
    this.anchorK = 0;
    this.phase = to;
  }
}
