// A simulated participant: looks at the page, does what it asks, by mouse, keyboard or touch. Knows
// nothing of the page's insides but its names of pages.

/** What the page shows: the name of a page, or what the stage waits for. */
export function look(page) {
  return page.evaluate(() => {
    const shown = document.querySelector("[data-page]");
    if (shown !== null) return shown.dataset.page;
    if (document.querySelector(".stage .start-cross:not(.hidden)")) return "stage:start";
    if (document.querySelector(".stage .grid:not(.hidden)")) return document.querySelector(".stage .answer.chosen") ? "stage:show" : "stage:grid";
    if (document.querySelector(".stage.pairs.open .side")) return "stage:pairs";
    return document.querySelector(".stage") ? "stage:show" : "empty";
  });
}

/** Presses Tab until something has the focus, then what is asked. */
async function byKeys(page, selector, key = "Enter") {
  for (let i = 0; i < 90; i++) {
    const isThere = await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector);
    if (isThere) return page.keyboard.press(key);
    await page.keyboard.press("Tab");
  }
  throw new Error(`the keyboard does not reach ${selector}`);
}

const PRIMARY = ".page .body button.primary:not(:disabled)";

export class Participant {
  /** `hands` is `mouse`, `keys` or `touch`; `isCareless` answers beeps at once. */
  constructor(page, { hands = "mouse", isCareless = false, cue = "sound", onPage = async () => {} } = {}) {
    Object.assign(this, { page, hands, isCareless, cue, onPage, seen: [], nAnswered: 0 });
  }

  async press(selector) {
    if (this.hands === "keys") return byKeys(this.page, selector);
    const target = this.page.locator(selector).first();
    return this.hands === "touch" ? target.tap() : target.click();
  }

  /** Goes on until `isEnough(name, this)`, then returns the page's name. */
  async goOn(isEnough = (name) => ["end", "error", "withdrawn", "refused", "computer", "taken", "nothing-left", "unfit"].includes(name), limit_ms = 90_000) {
    const started = Date.now();
    let last = "";
    for (;;) {
      const name = await look(this.page).catch(() => "empty");
      if (name !== last) {
        this.seen.push(name);
        if (!name.startsWith("stage:show")) await this.onPage(name);
        last = name;
      }
      if (isEnough(name, this)) return name;
      if (limit_ms < Date.now() - started) throw new Error(`stuck on ${name}; saw ${this.seen.slice(-12).join(" > ")}`);
      if (await this.act(name)) last = "";
      else await this.page.waitForTimeout(25);
    }
  }

  /** Does what a page asks; true when it did something. */
  async act(name) {
    const { page } = this;
    switch (name) {
      case "consent": {
        const boxes = await page.locator(".tick input").count();
        for (let i = 0; i < boxes; i++) {
          const box = page.locator(".tick input").nth(i);
          if (await box.isChecked()) continue;
          if (this.hands === "keys") await byKeys(page, `#${await box.getAttribute("id")}`, " ");
          else await box.click();
        }
        await this.press(PRIMARY);
        return this.left(name);
      }
      case "gate": {
        if ((await page.locator(".page .body .buttons button").count()) === 0) return false;
        const anyway = await page.locator(".page .body .buttons button:not(.primary)").count();
        const wanted = anyway === 0 ? PRIMARY : ".page .body .buttons button:not(.primary)";
        const button = await page.$(wanted);
        if (button === null) return false;
        await this.press(wanted);
        await page.waitForFunction((old) => !old.isConnected, button, { timeout: 5000 }).catch(() => {});
        return true;
      }
      case "card":
        if (this.hands === "keys") for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft"]) await byKeys(page, "#card-width", key);
        else await this.drag();
        await this.press(PRIMARY);
        return this.left(name);
      case "sweeps":
        await this.sweep();
        return true;
      case "sound":
        if (this.cue === "visual") await this.press(".page .body .buttons:last-child button");
        else {
          await this.press(".page .body .buttons button:not(.primary)");
          await page.waitForFunction(() => document.querySelector(".page .body button.primary:not(:disabled)") !== null);
          await this.press(PRIMARY);
        }
        return this.left(name);
      case "gate-exercise":
        await page.waitForTimeout(this.isCareless ? 50 : 700);
        await this.press(PRIMARY).catch(() => {});
        await page.waitForTimeout(300);
        return false;
      case "stage:start":
        if (this.hands === "keys") await page.keyboard.press("Enter");
        else await this.press(".start-cross");
        await page.waitForFunction(() => document.querySelector(".start-cross:not(.hidden)") === null, null, { timeout: 3000 }).catch(() => {});
        return true;
      case "stage:grid":
        await this.answer();
        return true;
      case "stage:pairs": {
        const way = this.nAnswered++ % 3;
        const before = await page.locator(".question").elementHandle();
        if (this.hands === "keys") await page.keyboard.press(["ArrowLeft", "ArrowRight", "ArrowDown"][way]);
        else await this.press([".side.left", ".side.right", ".side.tie, .side.left"][way]);
        await page.waitForFunction((old) => !old.isConnected, before, { timeout: 5000 }).catch(() => {});
        return true;
      }
      case "welcome-back": case "distance": case "distance-done": case "instructions": case "practice": case "practice-over": case "break": case "pause": case "beep-block":
      case "gate-warning": case "gate-exercise-done": case "other-tab":
        await this.press(PRIMARY);
        return this.left(name);
      default:
        return false;
    }
  }

  async left(name) {
    await this.page.waitForFunction((old) => document.querySelector("[data-page]")?.dataset.page !== old, name, { timeout: 5000 }).catch(() => {});
    return true;
  }

  async answer() {
    const { page } = this;
    const isTimed = await page.evaluate(() => document.querySelector(".stage.beep") !== null);
    if (isTimed && !this.isCareless) await page.waitForTimeout(380);
    this.nAnswered++;
    if (this.hands === "keys") {
      // By letters one time, by arrows the next.
      if (this.nAnswered % 2 === 0) await page.keyboard.type("ba");
      else await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Enter");
    } else {
      const n = await page.locator(".grid .answer").count();
      const target = page.locator(".grid .answer").nth((this.nAnswered * 7) % n);
      await (this.hands === "touch" ? target.tap({ timeout: 2000 }) : target.click({ timeout: 2000 })).catch(() => {});
    }
    await page.waitForFunction(() => document.querySelector(".grid:not(.hidden)") === null, null, { timeout: 3000 }).catch(() => {});
  }

  async drag() {
    const { page } = this;
    const box = await page.locator(".card-frame").boundingBox();
    await page.mouse.move(box.x + box.width - 2, box.y + box.height - 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width + 3, box.y + box.height + 3, { steps: 3 });
    await page.mouse.up();
  }

  /** An eye at half a metre with a reaction time of a fifth of a second. */
  async sweep() {
    const { page } = this;
    const edge = await page.evaluate(() => {
      const field = document.querySelector(".sweep-field");
      return Math.min(0.6 * field.clientWidth, 120 * (340 / 85.6));
    });
    for (let i = 0; i < 6; i++) {
      const isOut = i % 2 === 0;
      await page.waitForFunction(
        ([at, out]) => {
          const found = /translateX\((-?[\d.]+)px\)/.exec(document.querySelector(".dot")?.style.transform ?? "");
          if (found === null) return document.querySelector(".sweep-field") === null;
          const x = -Number(found[1]);
          return out ? at < x : x < at;
        },
        [edge, isOut],
        { timeout: 20_000, polling: "raf" },
      );
      await page.waitForTimeout(200);
      if (this.hands === "touch") await page.locator(".sweep-field").tap();
      else await page.keyboard.press(" ");
    }
    await this.left("sweeps");
  }
}
