// How often the screen refreshes, from the stamps of animation frames. The estimate bears with long
// frames; collecting the stamps is at the end of the file.

/** What stamps say about a screen. */
export type Refresh = {
  /** Time between two refreshes. */
  period_ms: number;
  /** Median absolute deviation of the times between frames. */
  period_mad_ms: number;
  /** Share of frames that took more than one and a half periods. */
  share_late: number;
  n_frames: number;
};

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const mid = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[mid]! : (sorted[mid - 1]! + sorted[mid]!) / 2;
}

/** Returns the refresh period, or nothing for fewer than 20 frames.
 *
 * The median of single gaps is as coarse as the browser's clock, up to a millisecond. So each frame
 * gets its number k by rounding with that median, and the period is the median slope
 * (tⱼ − tᵢ) / (kⱼ − kᵢ) over frames half a recording apart. */
export function estimateRefresh(stamps_ms: readonly number[]): Refresh | null {
  const gaps = stamps_ms.slice(1).map((t, i) => t - stamps_ms[i]!);
  if (gaps.length < 20) return null;
  const rough = median(gaps);
  if (!(0 < rough)) return null;
  const numbers = [0];
  for (const gap of gaps) numbers.push(numbers.at(-1)! + Math.max(0, Math.round(gap / rough)));
  const half = stamps_ms.length >> 1;
  const slopes = stamps_ms.slice(half).map((t, i) => (t - stamps_ms[i]!) / (numbers[i + half]! - numbers[i]!));
  const period_ms = median(slopes.filter(Number.isFinite));
  return {
    period_ms,
    period_mad_ms: median(gaps.map((gap) => Math.abs(gap - rough))),
    share_late: gaps.filter((gap) => 1.5 * period_ms < gap).length / gaps.length,
    n_frames: gaps.length,
  };
}

/** Whether the browser seems to save power: WebKit and others halve the rate to 30 frames. */
export function isThrottled(refresh: Refresh): boolean {
  return 1000 / 36 < refresh.period_ms;
}

/** Whether two measurements may be of the same screen in the same mode. */
export function isSameRefresh(a: Refresh, b: Refresh): boolean {
  return Math.abs(a.period_ms / b.period_ms - 1) < 0.02;
}

/** What the first look at a screen may be wrong by, as a share of an exposure. */
const ROOM = 0.005;

/** Whether a screen can show one of these exposures; true without any. The server's rule
 * (`frames_for` in allocate.rs) with a little room, as it measures again and has the last word; with none
 * for the measurement that the server has. */
export function canShowAny(exposures_ms: readonly number[], period_ms: number, tolerance: number, room = ROOM): boolean {
  const canShow = (ms: number) => Math.abs(Math.max(1, Math.round(ms / period_ms)) * period_ms - ms) <= (tolerance + room) * ms + 1e-9;
  return exposures_ms.length === 0 || exposures_ms.some(canShow);
}

/** Watches frames for a while. Long enough for sixty frames, whatever the rate; gives up after six
 * times as long, as frames stop while the page is hidden. */
export function measureRefresh(for_ms: number): Promise<Refresh | null> {
  return new Promise((resolve) => {
    const stamps: number[] = [];
    const finish = () => {
      clearTimeout(timer);
      cancelAnimationFrame(request);
      // The first frames still carry the cost of whatever came before.
      resolve(estimateRefresh(stamps.slice(3)));
    };
    const timer = setTimeout(finish, for_ms * 6);
    const onFrame = (t: number) => {
      stamps.push(t);
      if (for_ms <= t - stamps[0]! && 63 <= stamps.length) finish();
      else request = requestAnimationFrame(onFrame);
    };
    let request = requestAnimationFrame(onFrame);
  });
}
