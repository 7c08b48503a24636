// How large things are on a screen and how far away it is: the arithmetic behind the card and the
// blind spot. Pure.
import { median } from "./refresh";

/** A bank card (ISO/IEC 7810 ID-1). */
export const CARD_WIDTH_MM = 85.6;
export const CARD_HEIGHT_MM = 53.98;

/** Where the blind spot begins, from the point that is looked at (Li et al. 2020). */
const BLIND_SPOT_DEG = 13.5;

/** The distance that is assumed for who does not measure it: a usual desk. */
export const USUAL_DISTANCE_MM = 570;

/** Above this spread of the sweeps, distance is measured again. */
export const MOST_SPREAD = 0.08;

const radians = (deg: number) => (deg * Math.PI) / 180;

export function pxPerMm(card_px: number): number {
  return card_px / CARD_WIDTH_MM;
}

/** A sweep of the dot, in CSS pixels from the square. */
export type Sweep = { direction: "out" | "in"; at_px: number };

export type Distance = { distance_mm: number; spread: number };

/** Returns the distance of the eye: D = s / tan(13.5°).
 *
 * On the way out the key comes a reaction time after the dot vanished, on the way in a reaction time
 * after it came back, so s is the middle between the medians of the two ways and the reaction time
 * cancels. The spread is 1.4826 · MAD / s, with deviations from the median of their own way. Nothing
 * without sweeps of both ways. */
export function distanceFrom(sweeps: readonly Sweep[], px_per_mm: number): Distance | null {
  const out = sweeps.filter(({ direction }) => direction === "out").map(({ at_px }) => at_px / px_per_mm);
  const back = sweeps.filter(({ direction }) => direction === "in").map(({ at_px }) => at_px / px_per_mm);
  if (out.length === 0 || back.length === 0) return null;
  const middleOut = median(out);
  const middleIn = median(back);
  const s = (middleOut + middleIn) / 2;
  if (!(0 < s)) return null;
  const deviations = [...out.map((mm) => Math.abs(mm - middleOut)), ...back.map((mm) => Math.abs(mm - middleIn))];
  return { distance_mm: s / Math.tan(radians(BLIND_SPOT_DEG)), spread: (1.4826 * median(deviations)) / s };
}

/** How far from the square the blind spot begins, at a distance. */
export function blindSpotMm(distance_mm: number): number {
  return distance_mm * Math.tan(radians(BLIND_SPOT_DEG));
}

/** Returns the side of something that spans an angle: 2 · D · tan(θ/2), in CSS pixels. */
export function sidePx(size_deg: number, distance_mm: number, px_per_mm: number): number {
  return 2 * distance_mm * Math.tan(radians(size_deg) / 2) * px_per_mm;
}

/** Returns a side that is a whole number of device pixels and fits into the window. */
export function wholeSidePx(wanted_px: number, window_px: number, pixel_ratio: number): number {
  const side = Math.min(wanted_px, window_px);
  return Math.max(1, Math.round(side * pixel_ratio)) / pixel_ratio;
}
