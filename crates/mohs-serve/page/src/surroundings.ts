// Where the page runs: who sent the participant, which browser and system, what kind of screen. Pure
// functions of what they are given.
import type { JoinRequest, Screen } from "./wire";
import type { Refresh } from "./refresh";

/** Who comes, from the address. */
export type Arrival =
  | { kind: "participant"; recruiter: string | null; recruiter_id: string | null; preview: string | null }
  /** MTurk shows the page before the task is accepted. */
  | { kind: "unaccepted" };

/** Parameters that bring a participant's id, and what the recruiter is called here. */
const RECRUITERS = [
  ["PROLIFIC_PID", "prolific"],
  ["workerId", "mturk"],
  ["participant", "link"],
] as const;

/** Reads the recruiter's parameters. */
export function arrivalFrom(query: string): Arrival {
  const parameters = new URLSearchParams(query);
  const value = (name: string) => parameters.get(name)?.trim() || null;
  const preview = value("preview");
  if (value("assignmentId") === "ASSIGNMENT_ID_NOT_AVAILABLE") return { kind: "unaccepted" };
  const given = RECRUITERS.filter(([name]) => parameters.has(name));
  // One that was left empty is told as such: the server refuses it, because all with it would be one person.
  const [name, recruiter] = given.find(([name]) => value(name) !== null) ?? given[0] ?? [null, null];
  return { kind: "participant", recruiter, recruiter_id: name === null ? null : (value(name) ?? ""), preview };
}

/** Returns kind and version of a browser, e.g. `chromium 156`; no more than that is told. */
export function browserFrom(agent: string): string {
  const found = (pattern: RegExp) => agent.match(pattern)?.[1];
  const firefox = found(/(?:Firefox|FxiOS)\/(\d+)/);
  const chromium = found(/(?:Chrome|Chromium|HeadlessChrome|CriOS)\/(\d+)/);
  const safari = found(/Version\/(\d+)[^ ]* .*Safari/);
  // Every browser on iOS is Safari inside.
  if (/iPhone|iPad|iPod/.test(agent)) return `safari ${found(/OS (\d+)_/) ?? safari ?? "0"}`;
  if (firefox !== undefined) return `firefox ${firefox}`;
  if (chromium !== undefined) return `chromium ${chromium}`;
  if (safari !== undefined) return `safari ${safari}`;
  return "other 0";
}

/** Returns the kind of system, e.g. `linux`. */
export function systemFrom(agent: string): string {
  if (/iPhone|iPad|iPod/.test(agent)) return "ios";
  if (/Android/.test(agent)) return "android";
  if (/CrOS/.test(agent)) return "chromeos";
  if (/Windows/.test(agent)) return "windows";
  if (/Mac OS X|Macintosh/.test(agent)) return "macos";
  return /Linux|X11/.test(agent) ? "linux" : "other";
}

export function joinRequest(arrival: Extract<Arrival, { kind: "participant" }>, resume: string | null, agent: string): JoinRequest {
  const { recruiter, recruiter_id, preview } = arrival;
  return { recruiter, recruiter_id, resume, preview, browser: browserFrom(agent), system: systemFrom(agent) };
}

/** Whether this is a phone: fingers only, on something small. */
export function isPhone(): boolean {
  const isTouchOnly = matchMedia("(pointer: coarse)").matches && !matchMedia("(any-pointer: fine)").matches;
  return isTouchOnly && Math.min(screen.width, screen.height) < 600;
}

export function screenNow(refresh: Refresh): Screen {
  const { period_ms, period_mad_ms, share_late } = refresh;
  return {
    period_ms,
    period_mad_ms,
    share_late,
    width_px: Math.round(innerWidth),
    height_px: Math.round(innerHeight),
    pixel_ratio: devicePixelRatio,
    is_fullscreen: isFullscreen(),
    is_isolated: globalThis.crossOriginIsolated === true,
  };
}

/** What tells this screen from another, so that a calibration is not used on the wrong one. */
export function screenSignature(): string {
  return `${screen.width}x${screen.height}@${devicePixelRatio}`;
}

type OldDocument = Document & { webkitFullscreenElement?: Element | null };
type OldElement = HTMLElement & { webkitRequestFullscreen?: () => void };

export function isFullscreen(): boolean {
  return (document.fullscreenElement ?? (document as OldDocument).webkitFullscreenElement ?? null) !== null;
}

/** Fills the screen, where the browser lets us; must be called from a click or key. */
export async function fillScreen(): Promise<void> {
  if (isFullscreen()) return;
  const root = document.documentElement as OldElement;
  try {
    if (root.requestFullscreen) await root.requestFullscreen({ navigationUI: "hide" });
    else root.webkitRequestFullscreen?.();
  } catch {
    // The trial's report says that it did not fill the screen.
  }
}

export async function leaveFullscreen(): Promise<void> {
  if (!isFullscreen()) return;
  await document.exitFullscreen?.().catch(() => {});
}

/** Returns an address people can be sent to, or nothing: other schemes could run code. */
export function safeUrl(text: string | null): string | null {
  if (text === null) return null;
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
  } catch {
    return null;
  }
}
