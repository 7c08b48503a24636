// Elements without a framework. Texts only ever become text nodes, so what a study says cannot
// become markup.

type Child = Node | string | null | false;
type Attributes = Record<string, string | number | boolean | ((event: never) => void)>;

/** Makes an element. `on…` attributes are listeners; true and false set or leave out an attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== false));
  return element;
}

export const paragraphs = (texts: readonly string[]) => texts.map((text) => h("p", {}, text));

/** Returns the parts of a name that stay whole on a line: it may break after `_` and `-`, as it may at spaces. */
export function wholeParts(name: string): string[] {
  return name.match(/[^_-]*[_-]+|[^_-]+/g) ?? [];
}

/** Returns a name that breaks between its words rather than inside them. */
export function breakable(name: string): Node[] {
  return wholeParts(name).flatMap((part, i) => (i === 0 ? [document.createTextNode(part)] : [h("wbr"), document.createTextNode(part)]));
}

/** Resolves with the stamp of the next frame. */
export function nextFrame(): Promise<number> {
  return new Promise((resolve) => requestAnimationFrame(resolve));
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Offers the participant a file. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
