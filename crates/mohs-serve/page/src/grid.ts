// The grid of answers: one button each, by mouse, touch or keyboard. Arrow keys move, letters jump
// to what begins with them, Enter chooses. Laid out before it is shown, so that showing it is cheap.
import { breakable, h, wholeParts } from "./dom";
import type { Texts } from "./texts/en";

/** What was chosen, and when: page clock, ms. */
export type Choice = { option: string; response_ms: number; handled_ms: number; input: string };

/** Letters typed within this time make one word. */
const TYPING_MS = 1_500;

/** Returns the position of the first option from `from` on that begins with what was typed, around
 * the end; failing that, of one with a later word that does. */
export function jumpTo(options: readonly string[], typed: string, from: number): number | null {
  const wanted = typed.toLocaleLowerCase();
  const order = options.map((_, i) => (from + i) % options.length);
  const begins = order.find((i) => options[i]!.toLocaleLowerCase().startsWith(wanted));
  const within = order.find((i) => options[i]!.toLocaleLowerCase().split(/[\s_-]/).some((word) => word.startsWith(wanted)));
  return begins ?? within ?? null;
}

/** Returns where an arrow key leads in a grid that is filled row by row; it stays at the borders. */
export function moveIn(n: number, columns: number, at: number, key: string): number {
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - columns, ArrowDown: at + columns, Home: 0, End: n - 1 }[key];
  return to === undefined || to < 0 || n <= to ? at : to;
}

/** Narrower buttons than this break most words. */
const MIN_BUTTON_PX = 132;
const MIN_NARROW_BUTTON_PX = 108;

/** Returns the number of columns that leaves the fewest holes in the last row, the widest of those;
 * more than half as many as fit, so that the grid stays low. */
export function columnsFor(n: number, most: number): number {
  const widest = Math.max(1, Math.min(most, n));
  const holes = (columns: number) => (columns - (n % columns)) % columns;
  let best = widest;
  for (let columns = widest; widest / 2 < columns; columns--) if (holes(columns) < holes(best)) best = columns;
  return best;
}

/** Returns how many columns of this width fit beside each other. */
export function columnsThatFit(width: number, column: number, gap: number): number {
  return Math.max(1, Math.floor((width + gap) / (column + gap)));
}

/** Returns how high a grid with these answers is that stands below something. */
export function heightOf(texts: Texts, options: readonly string[]): number {
  const grid = new Grid(texts, texts.grid.questionNow, false);
  const stage = h("div", { class: "stage with-grid hidden" }, grid.element);
  document.body.append(stage);
  grid.fill(options);
  const height = grid.element.offsetHeight;
  stage.remove();
  return height;
}

export class Grid {
  readonly element: HTMLElement;
  private readonly list: HTMLElement;
  private readonly typedNote: HTMLElement;
  /** Stands after the last answer; while it is out of sight, `more` says so. */
  private readonly end = h("div", { class: "grid-end" });
  private readonly more: HTMLElement;
  private watchingEnd: IntersectionObserver | null = null;
  /** Widths of words, in pixels of this page's font. */
  private readonly widths = new Map<string, number>();
  private measuring: CanvasRenderingContext2D | null = null;
  private buttons: HTMLButtonElement[] = [];
  private options: readonly string[] = [];
  private at = 0;
  private typed = "";
  private typedAt = -Infinity;
  private isOpen = false;
  private onChoice: ((choice: Choice) => void) | null = null;
  private down: { option: HTMLElement; stamp: number; kind: string } | null = null;

  /** `onDown`: a press counts when it begins, not when it ends. */
  constructor(
    private readonly texts: Texts,
    question: string,
    private readonly onDown: boolean,
  ) {
    this.list = h("div", { class: "answers", role: "group", "aria-label": texts.grid.label });
    this.typedNote = h("p", { class: "typed", "aria-live": "polite" });
    this.more = h("div", { class: "more hidden", "aria-hidden": "true" }, h("span", {}, `↓ ${texts.grid.more}`));
    this.element = h("div", { class: "grid hidden" }, h("h1", { class: "question", tabindex: "-1" }, question), this.list, this.end, this.typedNote, this.more);
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("pointerdown", (event) => this.pointer(event));
    this.list.addEventListener("click", (event) => this.click(event));
  }

  /** Sets the answers, out of sight. */
  fill(options: readonly string[]): void {
    this.options = options;
    this.at = 0;
    this.type("");
    while (this.buttons.length < options.length) {
      const button = h("button", { type: "button", class: "answer" });
      this.buttons.push(button);
      this.list.append(button);
    }
    const min = innerWidth < 700 ? MIN_NARROW_BUTTON_PX : MIN_BUTTON_PX;
    const fitting = Math.floor(Math.min(0.94 * innerWidth, 1300) / min);
    const columns = columnsFor(options.length, Math.min(fitting, this.columnsForWords(options)));
    this.list.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    while (options.length < this.buttons.length) this.buttons.pop()!.remove();
    this.buttons.forEach((button, i) => {
      button.replaceChildren(...breakable(options[i]!));
      button.tabIndex = i === 0 ? 0 : -1;
      button.classList.remove("chosen");
    });
  }

  /** Shows the answers; the first choice is taken. */
  open(onChoice: (choice: Choice) => void): void {
    this.onChoice = onChoice;
    this.isOpen = true;
    this.element.classList.remove("hidden");
    const scroller = this.element.closest(".with-grid") ?? this.element;
    scroller.scrollTop = 0;
    this.watchingEnd = new IntersectionObserver(([entry]) => this.more.classList.toggle("hidden", entry!.isIntersecting));
    this.watchingEnd.observe(this.end);
    this.buttons[0]?.focus({ preventScroll: true });
  }

  /** Hides the answers and takes none. */
  close(): void {
    this.isOpen = false;
    this.onChoice = null;
    this.down = null;
    this.watchingEnd?.disconnect();
    this.more.classList.add("hidden");
    this.element.classList.add("hidden");
    (document.activeElement as HTMLElement | null)?.blur?.();
  }

  private choose(button: HTMLElement, response_ms: number, input: string): void {
    if (!this.isOpen) return;
    const option = this.options[this.buttons.indexOf(button as HTMLButtonElement)];
    if (option === undefined) return;
    this.isOpen = false;
    button.classList.add("chosen");
    this.onChoice?.({ option, response_ms, handled_ms: performance.now(), input });
  }

  private pointer(event: PointerEvent): void {
    const option = (event.target as Element).closest<HTMLElement>(".answer");
    if (option === null || event.button !== 0) return;
    this.down = { option, stamp: event.timeStamp, kind: event.pointerType || "mouse" };
    if (this.onDown) this.choose(option, event.timeStamp, this.down.kind);
  }

  private click(event: MouseEvent): void {
    const option = (event.target as Element).closest<HTMLElement>(".answer");
    if (option === null) return;
    // A finger that scrolls presses without clicking; what clicks without pressing is a keyboard or
    // an assistive tool.
    const { down } = this;
    if (down?.option === option) this.choose(option, down.stamp, down.kind);
    else if (event.detail === 0) this.choose(option, event.timeStamp, "key");
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.isOpen) return;
    if (event.key === "Enter" || (event.key === " " && this.typed === "")) {
      const button = (event.target as Element).closest<HTMLElement>(".answer");
      event.preventDefault();
      if (button !== null && !event.repeat) this.choose(button, event.timeStamp, "key");
      return;
    }
    const to = moveIn(this.buttons.length, this.columns(), this.at, event.key);
    if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") {
      event.preventDefault();
      this.type("");
      this.focusOn(to);
      return;
    }
    if (event.key === "Escape" || event.key === "Backspace") {
      this.type("");
      return;
    }
    if (event.key.length !== 1) return;
    event.preventDefault();
    const isSameWord = event.timeStamp - this.typedAt < TYPING_MS;
    this.typedAt = event.timeStamp;
    this.type(isSameWord ? this.typed + event.key : event.key);
    // One letter again goes on to the next answer with it, as lists elsewhere do.
    const isRepeated = 1 < this.typed.length && [...this.typed].every((letter) => letter === this.typed[0]);
    let found = jumpTo(this.options, this.typed, this.typed.length === 1 ? this.at + 1 : this.at);
    if (found === null && isRepeated) found = jumpTo(this.options, this.typed[0]!, this.at + 1);
    if (found === null) this.type(event.key);
    const jump = found ?? jumpTo(this.options, event.key, this.at + 1);
    if (jump !== null) this.focusOn(jump);
  }

  /** Returns the most columns in which no word is broken. */
  private columnsForWords(options: readonly string[]): number {
    const style = getComputedStyle(this.buttons[0]!);
    // Not laid out: nothing can be measured.
    if (style.fontSize === "") return Infinity;
    this.measuring ??= document.createElement("canvas").getContext("2d");
    if (this.measuring === null) return Infinity;
    this.measuring.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    let widest = 0;
    for (const word of options.flatMap((option) => option.split(/\s+/).flatMap(wholeParts))) {
      let width = this.widths.get(word);
      if (width === undefined) this.widths.set(word, (width = this.measuring.measureText(word).width));
      widest = Math.max(widest, width);
    }
    const px = (text: string) => parseFloat(text) || 0;
    const sides = px(style.paddingLeft) + px(style.paddingRight) + px(style.borderLeftWidth) + px(style.borderRightWidth);
    return columnsThatFit(this.list.clientWidth, Math.ceil(widest + sides) + 1, px(getComputedStyle(this.list).columnGap));
  }

  private columns(): number {
    const top = this.buttons[0]?.offsetTop;
    const first = this.buttons.findIndex((button) => button.offsetTop !== top);
    return first === -1 ? this.buttons.length : first;
  }

  private focusOn(i: number): void {
    this.buttons[this.at]!.tabIndex = -1;
    this.at = i;
    this.buttons[i]!.tabIndex = 0;
    this.buttons[i]!.focus();
  }

  private type(text: string): void {
    this.typed = text;
    this.typedNote.textContent = text === "" ? "" : this.texts.grid.typed(text);
  }
}
