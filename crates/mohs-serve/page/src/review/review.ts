// The page on which somebody accepts or rejects the pictures of a ladder: one at a time or as a
// grid, with the keyboard alone or without it. A decision counts when the server has it on disk;
// one that could not be kept is taken back and said.
import { h } from "../dom";
import {
  clamped, counted, FILTER_KEYS, matching, nextUndecided, parseView, type Picture, renderView, type Verdict, values,
} from "./state";

/** Pictures of the grid on one page. */
const PER_PAGE = 24;

const REASONS = [
  "shows another thing", "too easy for its level", "too hard for its level", "not this attribute", "drawn wrongly",
  "more than one", "text or marks in it",
];

const KEYS: [string, string][] = [
  ["a", "accept and go on"],
  ["r", "reject: then a number, or your own words and Enter"],
  ["u", "undo"],
  ["n", "next undecided"],
  ["← → ↑ ↓", "move"],
  ["Page Up, Page Down", "one page of the grid"],
  ["v or Enter", "one picture or the grid"],
  ["Shift+A", "accept all undecided on this page of the grid"],
  ["f", "filters"],
  ["?", "this list"],
];

const title = document.body.dataset["title"] ?? "";
let pictures: Picture[] = [];
let list: Picture[] = [];
let at = 0;
const view = parseView(location.hash);
const undoable: { picture: Picture; verdict: Verdict; reason: string }[] = [];
let nUnderWay = 0;
/** Decisions go out one after the other: the last word on disk is the last that was said. */
let queue: Promise<unknown> = Promise.resolve();

const progress = h("progress", { max: 1, value: 0, "aria-label": "decided" });
const count = h("span", { class: "count" });
const filters = h("form", { class: "filters" });
const status = h("p", { class: "status", role: "status" });
const main = h("main", { tabindex: -1 });
const reasonText = h("input", { type: "text", maxlength: 300, placeholder: "your own words", "aria-label": "reason in your own words" });
const rejectDialog = h("dialog", { class: "reasons", "aria-label": "Why is it rejected?" });
const helpDialog = h("dialog", { class: "keys", "aria-label": "Keys" });

function button(text: string, key: string, act: () => void, kind = ""): HTMLButtonElement {
  const made = h("button", { type: "button", class: kind, "aria-keyshortcuts": key }, text, " ", h("kbd", {}, key));
  made.addEventListener("click", act);
  return made;
}

/** Counts rest in the header, so that they are seen at any place of the list. */
function showCounts(): void {
  const all = counted(pictures);
  const own = counted(list);
  const nDecided = all.nAccepted + all.nRejected;
  progress.max = Math.max(1, all.n);
  progress.value = nDecided;
  const shown = own.n === all.n ? "" : ` · shown: ${own.nAccepted + own.nRejected} of ${own.n}`;
  count.textContent = `${nDecided} of ${all.n} decided, ${all.nRejected} rejected${shown}`;
}

const WORDS: Record<Verdict, string> = { undecided: "undecided", accepted: "✓ accepted", rejected: "✗ rejected" };

function badge(picture: Picture): HTMLElement {
  return h("span", { class: `badge ${picture.verdict}` }, WORDS[picture.verdict]);
}

function image(picture: Picture): HTMLImageElement {
  const alt = `meant to be: ${picture.label}, ${picture.attribute} ${picture.level}`;
  return h("img", { src: `/pictures/${picture.number}`, alt, decoding: "async" });
}

function showOne(picture: Picture): void {
  const facts: [string, string][] = [
    ["shows", picture.label],
    ["attribute", picture.attribute],
    ["level", picture.step === "" ? picture.level : `${picture.level}, step ${picture.step}`],
    ["prompt", picture.prompt],
    ["reason", picture.verdict === "rejected" ? picture.reason : ""],
    ["id", picture.stimulus],
  ];
  const rows = facts.filter(([, text]) => text !== "").flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]);
  const place = h("p", { class: "place" }, `${at + 1} of ${list.length} `, badge(picture));
  main.replaceChildren(h("section", { class: "one" }, h("figure", {}, image(picture)), h("div", {}, place, h("dl", {}, ...rows))));
  // The next picture is there when it is wanted.
  const next = list[at + 1];
  if (next) new Image().src = `/pictures/${next.number}`;
}

function showGrid(): void {
  const first = Math.floor(at / PER_PAGE) * PER_PAGE;
  const shown = list.slice(first, first + PER_PAGE);
  const cell = (picture: Picture, offset: number) => {
    const isHere = first + offset === at;
    const made = h(
      "button", { type: "button", class: `cell ${picture.verdict}`, tabindex: isHere ? 0 : -1, "aria-current": isHere ? "true" : "false" },
      image(picture), h("span", { class: "caption" }, `${picture.label} · ${picture.attribute} · ${picture.level}`), badge(picture),
    );
    made.addEventListener("click", () => (isHere ? turn(false) : go(first + offset)));
    return h("li", {}, made);
  };
  const nPages = Math.ceil(list.length / PER_PAGE);
  const place = h("p", { class: "place" }, `page ${Math.floor(at / PER_PAGE) + 1} of ${nPages}, picture ${at + 1} of ${list.length}`);
  main.replaceChildren(place, h("ul", { class: "grid" }, ...shown.map(cell)));
  main.querySelector<HTMLElement>('[aria-current="true"]')?.focus();
}

function show(): void {
  history.replaceState(null, "", location.pathname + renderView(view));
  showCounts();
  document.body.classList.toggle("is-grid", view.isGrid);
  const picture = list[at];
  if (!picture) main.replaceChildren(h("p", { class: "empty" }, "No picture fits the filters."));
  else if (view.isGrid) showGrid();
  else showOne(picture);
}

function go(to: number): void {
  at = clamped(to, list.length);
  show();
}

function turn(isGrid: boolean): void {
  view.isGrid = isGrid;
  show();
}

function goOn(): void {
  const next = nextUndecided(list, at);
  if (0 <= next) return go(next);
  go(at);
  status.textContent = list.length === pictures.length ? "All pictures are decided. You can stop `mohs ladder review`." : "All pictures shown are decided.";
}

/** Keeps a decision on disk; false, and taken back, when that fails. */
function keep(picture: Picture, verdict: Verdict, reason: string): Promise<boolean> {
  const before = { verdict: picture.verdict, reason: picture.reason };
  Object.assign(picture, { verdict, reason });
  nUnderWay += 1;
  const sent = queue.then(() => send(picture, verdict, reason, before));
  queue = sent;
  return sent;
}

async function send(picture: Picture, verdict: Verdict, reason: string, before: Pick<Picture, "verdict" | "reason">): Promise<boolean> {
  let isKept = false;
  try {
    const answer = await fetch("/api/verdicts", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ stimulus: picture.stimulus, verdict, reason }),
    });
    isKept = answer.ok;
  } catch {
    // Said below.
  }
  nUnderWay -= 1;
  if (!isKept) {
    Object.assign(picture, before);
    status.textContent = `The decision about ${picture.stimulus} was not kept. Is \`mohs ladder review\` still running?`;
    const place = list.indexOf(picture);
    go(0 <= place ? place : at);
  }
  return isKept;
}

function decide(verdict: Verdict, reason: string): void {
  const picture = list[at];
  if (!picture) return;
  status.textContent = "";
  const before = { picture, verdict: picture.verdict, reason: picture.reason };
  undoable.push(before);
  void keep(picture, verdict, reason).then((isKept) => {
    if (!isKept && undoable.includes(before)) undoable.splice(undoable.indexOf(before), 1);
  });
  goOn();
}

function undo(): void {
  const last = undoable.pop();
  const current = list[at];
  const picture = last?.picture ?? current;
  if (!picture || (!last && picture.verdict === "undecided")) {
    status.textContent = "There is nothing to undo.";
    return;
  }
  status.textContent = `Taken back: ${picture.stimulus}`;
  void keep(picture, last?.verdict ?? "undecided", last?.reason ?? "");
  const place = list.indexOf(picture);
  go(0 <= place ? place : at);
}

async function acceptPage(): Promise<void> {
  if (!view.isGrid) return;
  const first = Math.floor(at / PER_PAGE) * PER_PAGE;
  for (const picture of list.slice(first, first + PER_PAGE).filter((one) => one.verdict === "undecided")) {
    if (!(await keep(picture, "accepted", ""))) return;
    undoable.push({ picture, verdict: "undecided", reason: "" });
  }
  goOn();
}

function reject(): void {
  if (!list[at]) return;
  reasonText.value = "";
  rejectDialog.showModal();
  rejectDialog.querySelector("button")?.focus();
}

function rejectWith(reason: string): void {
  rejectDialog.close();
  decide("rejected", reason);
}

function makeDialogs(): void {
  const numbered = REASONS.map((reason, idx) => h("li", {}, button(reason, String(idx + 1), () => rejectWith(reason))));
  const own = h("form", {}, reasonText, h("button", { type: "submit", class: "bad" }, "Reject"));
  own.addEventListener("submit", (event) => {
    event.preventDefault();
    rejectWith(reasonText.value.trim());
  });
  rejectDialog.append(h("h2", {}, "Why is it rejected?"), h("ol", {}, ...numbered), own, button("Do not reject", "Esc", () => rejectDialog.close()));
  rejectDialog.addEventListener("keydown", (event) => {
    const reason = REASONS[Number(event.key) - 1];
    if (reason === undefined || event.target === reasonText) return;
    event.preventDefault();
    rejectWith(reason);
  });
  const rows = KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]);
  helpDialog.append(h("h2", {}, "Keys"), h("dl", {}, ...rows), button("Close", "Esc", () => helpDialog.close()));
}

function makeFilters(): void {
  const verdicts = ["undecided", "accepted", "rejected"];
  for (const key of FILTER_KEYS) {
    const offered = key === "verdict" ? verdicts : values(pictures, key);
    if (!offered.includes(view.filter[key])) view.filter[key] = "";
    const options = ["", ...offered].map((value) => h("option", { value, selected: value === view.filter[key] }, value === "" ? "all" : value));
    const select = h("select", { name: key }, ...options);
    select.addEventListener("change", () => {
      view.filter[key] = select.value;
      refilter();
    });
    filters.append(h("label", {}, key === "label" ? "class" : key, select));
  }
  filters.addEventListener("submit", (event) => event.preventDefault());
}

/** The list stays as it is while its pictures are decided: nothing moves under one's fingers. */
function refilter(): void {
  const picture = list[at];
  list = matching(pictures, view.filter);
  const place = picture ? list.indexOf(picture) : -1;
  const undecided = nextUndecided(list, -1);
  at = 0 <= place ? place : Math.max(0, undecided);
  status.textContent = "";
  show();
}

function columns(): number {
  const grid = main.querySelector("ul");
  return grid ? getComputedStyle(grid).gridTemplateColumns.split(" ").length : 1;
}

function pressed(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (rejectDialog.open || helpDialog.open || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.matches("select, input")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  const row = view.isGrid ? columns() : 1;
  const acts: Record<string, () => void> = {
    a: () => decide("accepted", ""),
    A: () => void acceptPage(),
    r: reject,
    u: undo,
    n: goOn,
    v: () => turn(!view.isGrid),
    Enter: () => turn(!view.isGrid),
    f: () => filters.querySelector("select")?.focus(),
    "?": () => helpDialog.showModal(),
    ArrowRight: () => go(at + 1),
    ArrowLeft: () => go(at - 1),
    ArrowDown: () => go(at + row),
    ArrowUp: () => go(at - row),
    PageDown: () => go(at + (view.isGrid ? PER_PAGE : 10)),
    PageUp: () => go(at - (view.isGrid ? PER_PAGE : 10)),
    Home: () => go(0),
    End: () => go(list.length - 1),
  };
  const act = acts[event.key];
  // Enter on a button of the bar presses that button.
  if (!act || (event.key === "Enter" && target.matches("footer button, header button"))) return;
  event.preventDefault();
  act();
}

async function start(): Promise<void> {
  const bar = h(
    "footer", {}, button("Accept", "a", () => decide("accepted", ""), "good"), button("Reject", "r", reject, "bad"), button("Undo", "u", undo),
    button("Next", "n", goOn), button("Grid", "v", () => turn(!view.isGrid)), button("Keys", "?", () => helpDialog.showModal(), "keys"),
  );
  document.body.append(h("header", {}, h("h1", {}, title), progress, count, filters), status, main, bar, rejectDialog, helpDialog);
  const answer = await fetch("/api/pictures").catch(() => null);
  if (!answer?.ok) {
    status.textContent = "The pictures cannot be listed. Is `mohs ladder review` still running?";
    return;
  }
  const found = (await answer.json()) as Omit<Picture, "number">[];
  pictures = found.map((picture, number) => ({ ...picture, number }));
  makeDialogs();
  makeFilters();
  document.addEventListener("keydown", pressed);
  addEventListener("beforeunload", (event) => {
    if (0 < nUnderWay) event.preventDefault();
  });
  refilter();
}

void start();
