// Shows one page after the other. A page is a promise of what the participant chose there. Every
// page has a way out of the study; taking it breaks off whatever waits for the page.
import { h } from "./dom";
import type { Texts } from "./texts/en";

/** The participant leaves: with their answers kept, or deleted. */
export class Leave extends Error {
  constructor(readonly how: "stop" | "withdraw") {
    super(how);
  }
}

export type PageOptions = {
  /** Name of the page, for tests and styles. */
  name: string;
  title: string;
  /** Whether there is a way out; not where nothing has begun, or all is over. */
  canLeave?: boolean;
  isWide?: boolean;
};

/** What a page may do: finish with a value. */
export type Build<T> = (done: (value: T) => void, fail: (error: unknown) => void) => (Node | string | null | false)[];

export class Ui {
  /** Said at the top of every page, e.g. that this is a preview. */
  banner = "";
  private isClosed = false;
  private current: HTMLElement | null = null;

  constructor(
    private readonly root: HTMLElement,
    public texts: Texts,
  ) {}

  /** Shows a page and waits for it. */
  page<T>(options: PageOptions, build: Build<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const done = (value: T) => {
        if (!isOver && !this.isClosed) resolve(value);
        isOver = true;
      };
      const fail = (error: unknown) => {
        if (!isOver && !this.isClosed) reject(error);
        isOver = true;
      };
      const heading = h("h1", { tabindex: "-1" }, options.title);
      const body = h("div", { class: "body" }, ...build(done, fail));
      const page = h("div", { class: options.isWide ? "page wide" : "page", "data-page": options.name });
      if (this.banner !== "") page.append(h("p", { class: "banner", role: "note" }, this.banner));
      page.append(heading, body);
      if (options.canLeave ?? true) page.append(this.wayOut(page, fail));
      this.put(page, heading);
    });
  }

  /** Shows a page that only says something, until the next. Returns its body, to say more. */
  notice(options: PageOptions, ...children: (Node | string | null | false)[]): HTMLElement {
    void this.page<never>({ canLeave: false, ...options }, () => children);
    return this.current!.querySelector<HTMLElement>(".body")!;
  }

  /** Gives the whole window to a stimulus. */
  stage(element: HTMLElement): void {
    if (this.isClosed) return;
    this.current = element;
    this.root.replaceChildren(element);
    document.body.classList.add("on-stage");
  }

  /** Shows a last page, after which nothing else is shown. */
  last(options: PageOptions, ...children: (Node | string | null | false)[]): void {
    if (this.isClosed) return;
    this.notice(options, ...children);
    this.isClosed = true;
  }

  private put(page: HTMLElement, heading: HTMLElement): void {
    if (this.isClosed) return;
    this.current = page;
    document.body.classList.remove("on-stage");
    this.root.replaceChildren(page);
    scrollTo(0, 0);
    heading.focus({ preventScroll: true });
  }

  private wayOut(page: HTMLElement, fail: (error: unknown) => void): HTMLElement {
    const { leave } = this.texts;
    const goBack = () => this.put(page, page.querySelector<HTMLElement>("h1")!);
    const ask = (name: string, title: string, text: string, ...buttons: HTMLElement[]) => {
      const heading = h("h1", { tabindex: "-1" }, title);
      const body = h("div", { class: "body" }, h("p", {}, text), h("div", { class: "buttons column" }, ...buttons));
      this.put(h("div", { class: "page", "data-page": name }, heading, body), heading);
    };
    const button = (text: string, onclick: () => void, style = "") => h("button", { type: "button", class: style, onclick }, text);
    const sure = () =>
      ask("withdraw", leave.sure, leave.sureText, button(leave.stay, goBack, "primary"), button(leave.yes, () => fail(new Leave("withdraw")), "danger"));
    const first = () =>
      ask("leave", leave.title, leave.text, button(leave.stay, goBack, "primary"), button(leave.stop, () => fail(new Leave("stop"))), button(leave.withdraw, sure, "danger"));
    return h("footer", { class: "way-out" }, h("button", { type: "button", class: "quiet", onclick: first }, leave.button));
  }
}

/** A button that finishes a page. */
export function button(text: string, onclick: (event: MouseEvent) => void, style = "primary"): HTMLButtonElement {
  return h("button", { type: "button", class: style, onclick }, text);
}
