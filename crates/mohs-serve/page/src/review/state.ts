// What the review page knows, without a document: pictures, filters, counts and where to go next.

export type Verdict = "undecided" | "accepted" | "rejected";

/** A picture of the ladder, as `/api/pictures` lists it; its file is at `/pictures/number`. */
export interface Picture {
  number: number;
  stimulus: string;
  label: string;
  attribute: string;
  level: string;
  step: string;
  prompt: string;
  verdict: Verdict;
  reason: string;
}

/** What is looked at; an empty text means everything. */
export interface Filter {
  label: string;
  attribute: string;
  level: string;
  verdict: string;
}

export const FILTER_KEYS = ["label", "attribute", "level", "verdict"] as const;

export function matching(pictures: readonly Picture[], filter: Filter): Picture[] {
  return pictures.filter((picture) => FILTER_KEYS.every((key) => filter[key] === "" || filter[key] === picture[key]));
}

/** The values of a key in the order they first come, which for levels is from easy to hard. */
export function values(pictures: readonly Picture[], key: (typeof FILTER_KEYS)[number]): string[] {
  return [...new Set(pictures.map((picture) => picture[key]))].filter((value) => value !== "");
}

export interface Counts {
  n: number;
  nAccepted: number;
  nRejected: number;
}

export function counted(pictures: readonly Picture[]): Counts {
  const n = (verdict: Verdict) => pictures.filter((picture) => picture.verdict === verdict).length;
  return { n: pictures.length, nAccepted: n("accepted"), nRejected: n("rejected") };
}

/** The next undecided picture after `from`, from the start again at the end; -1 when all are decided. */
export function nextUndecided(list: readonly Picture[], from: number): number {
  for (let step = 1; step <= list.length; step++) {
    const at = (from + step) % list.length;
    if (list[at]?.verdict === "undecided") return at;
  }
  return -1;
}

/** A place in the list, kept inside it; 0 in an empty one. */
export function clamped(at: number, n: number): number {
  return Math.max(0, Math.min(at, n - 1));
}

export interface View {
  filter: Filter;
  isGrid: boolean;
}

/** Reads a view from the part of the address behind `#`. */
export function parseView(hash: string): View {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  const of = (key: string) => found.get(key) ?? "";
  const filter = { label: of("label"), attribute: of("attribute"), level: of("level"), verdict: of("verdict") };
  return { filter, isGrid: of("view") === "grid" };
}

export function renderView(view: View): string {
  const said = new URLSearchParams();
  for (const key of FILTER_KEYS) if (view.filter[key] !== "") said.set(key, view.filter[key]);
  if (view.isGrid) said.set("view", "grid");
  return said.size === 0 ? "" : `#${said}`;
}
