// Whole sessions in a real browser: all tasks, by mouse, keyboard and touch, with reloads, without
// network, in two tabs. Against the stand-in, or against a real server: BASE_URL=http://… with studies
// named flash, beep, pairs and rate (STUDIES="flash=my-flash,…" names them otherwise).
// CONTROL_URL is asked to kill and restart that server (`/kill`), ADMIN_URL is its owner's link. ONLY=words runs the tests whose name matches them (a regular expression); SHOTS=folder says where screenshots go.
import { mkdirSync, readFileSync } from "node:fs";
import { launch } from "./chromium.mjs";
import { look, Participant } from "./participant.mjs";
import { start } from "./stand-in.mjs";

const isReal = process.env["BASE_URL"] !== undefined;
const server = isReal ? { url: process.env["BASE_URL"].replace(/\/$/, ""), sessions: new Map(), problems: [], control: {}, close() {} } : await start();
const names = Object.fromEntries((process.env["STUDIES"] ?? "").split(",").filter(Boolean).map((pair) => pair.split("=")));
const address = (study, query = "") => `${server.url}/s/${names[study] ?? study}${query}`;
const shots = process.env["SHOTS"] ?? `${import.meta.dirname}/../screenshots`;
mkdirSync(shots, { recursive: true });
const axe = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const DESKTOP = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
const NARROW = { viewport: { width: 390, height: 844 } };
// Where stimuli are shown there is nothing to read, and answers must not be named before they may be given.
const isStimulus = (name) => name.startsWith("stage:show");

const browser = await launch();
const wrong = [];
let nPages = 0;

function complain(test, what) {
  wrong.push(`${test}: ${what}`);
  console.log(`  WRONG ${what}`);
}

/** A page that notes what must not happen: errors, foreign hosts, broken policy. */
async function opened(test, context) {
  const page = await context.newPage();
  page.on("pageerror", (error) => complain(test, `error on the page: ${error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    const isNetwork = /Failed to load resource|net::ERR/.test(text);
    if (message.type() === "error" && !isNetwork) complain(test, `console: ${text}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(server.url) && !/^(data|blob):/.test(url)) complain(test, `asked a foreign host: ${url}`);
  });
  return page;
}

/** Takes a screenshot of every new page and has axe look at it. */
function inspector(test, page, prefix, isAudited = true) {
  const known = new Set();
  return async (name) => {
    if (known.has(name) || name === "empty" || name === "loading") return;
    known.add(name);
    nPages++;
    if (name === "gate") await page.locator(".page .body .buttons button").first().waitFor({ timeout: 10_000 });
    await page.screenshot({ path: `${shots}/${prefix}-${name.replace(":", "-")}.png` });
    if (!isAudited || isStimulus(name)) return;
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
    for (const violation of found.violations) complain(test, `axe on ${name}: ${violation.id}: ${violation.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
  };
}

const tests = [];
const test = (name, work, needsStandIn = false, needsControl = false) => tests.push({ name, work, needsStandIn, needsControl });

/** The session of a recruiter's id, from the stand-in. */
const lastSession = () => [...server.sessions.values()].at(-1);

function checkAll(name, { states = ["done"], isEarly = false } = {}) {
  if (isReal) return;
  const session = lastSession();
  if (session.state !== "ended") complain(name, `the session is ${session.state}`);
  for (const trial of session.trials) if (!isEarly && !states.includes(trial.state)) complain(name, `${trial.planned.trial} is ${trial.state}`);
}

async function whole(name, study, options, { hands = "mouse", prefix = null, query = "", cue = "sound", isCareless = false, hasCode = true } = {}) {
  const context = await browser.newContext(options);
  const page = await opened(name, context);
  const onPage = prefix === null ? async () => {} : inspector(name, page, prefix);
  await page.goto(address(study, query));
  const participant = new Participant(page, { hands, cue, isCareless, onPage });
  const last = await participant.goOn();
  if (last !== "end") complain(name, `ended on ${last}`);
  const code = await page.locator(".code code").textContent({ timeout: 2000 }).catch(() => null);
  if ((code !== null) !== hasCode) complain(name, `the code is ${code}`);
  await context.close();
  return participant;
}

let id = Date.now() % 1e6;
const link = () => `?participant=p${id++}`;

for (const study of ["flash", "beep", "pairs", "rate"]) {
  test(`${study}: whole session by mouse, axe on every page`, async (name) => {
    await whole(name, study, DESKTOP, { prefix: `desktop-${study}`, query: link() });
    checkAll(name);
  });
  test(`${study}: whole session by keyboard`, async (name) => {
    await whole(name, study, DESKTOP, { hands: "keys", query: link(), cue: "visual" });
    checkAll(name);
    if (!isReal) for (const { report } of lastSession().trials) if (report.input !== "key" && report.response !== null) complain(name, `an answer came by ${report.input}`);
  });
}

for (const study of ["pairs", "rate"]) {
  test(`${study}: whole session on a phone`, async (name) => {
    await whole(name, study, PHONE, { hands: "touch", prefix: `phone-${study}`, query: link() });
    checkAll(name);
  });
}

test("flash: a narrow window is told so and may go on", async (name) => {
  const { seen } = await whole(name, "flash", NARROW, { prefix: "narrow-flash", query: link() });
  if (seen.filter((page) => page === "gate").length === 0) complain(name, "no gate");
});

test("beep: a narrow window", async (name) => void (await whole(name, "beep", NARROW, { prefix: "narrow-beep", query: link(), cue: "visual" })));

for (const study of ["flash", "beep"]) {
  test(`${study}: a phone is asked for a computer`, async (name) => {
    const context = await browser.newContext(PHONE);
    const page = await opened(name, context);
    const n = server.sessions.size;
    await page.goto(address(study));
    const last = await new Participant(page, { onPage: inspector(name, page, `phone-${study}`) }).goOn();
    if (last !== "computer") complain(name, `ended on ${last}`);
    if (server.sessions.size !== n) complain(name, "a session was made");
    await context.close();
  });
}

test("flash in German: whole session", async (name) => {
  await whole(name, "flash-de", DESKTOP, { prefix: "german-flash", query: link() });
  checkAll(name);
});

test("flash: reload in the middle of a trial", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const page = await opened(name, context);
  await page.goto(address("flash", link()));
  let nReloads = 0;
  const participant = new Participant(page, { onPage: inspector(name, page, "reload-flash", false) });
  // Once while something is on screen, once while the answers are.
  for (const moment of ["stage:show", "stage:grid"]) {
    await participant.goOn((now) => now === moment || now === "end");
    await page.waitForTimeout(moment === "stage:show" ? 650 : 0);
    const before = Date.now();
    await page.reload();
    nReloads++;
    await participant.goOn((now) => now === "welcome-back");
    if (3000 < Date.now() - before) complain(name, `coming back took ${Date.now() - before} ms`);
    if (await page.locator(".tick").count()) complain(name, "consent was asked again");
  }
  await participant.goOn();
  checkAll(name, { states: ["done", "void"] });
  if (!isReal) {
    const nVoid = lastSession().trials.filter(({ state }) => state === "void").length;
    if (nVoid !== nReloads) complain(name, `${nVoid} trials were abandoned, expected ${nReloads}`);
    if (lastSession().epochs.length !== nReloads + 1) complain(name, "epochs");
  }
  await context.close();
});

test("rate: offline in the middle of a block, back later", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const page = await opened(name, context);
  await page.goto(address("rate", link()));
  const participant = new Participant(page, { onPage: inspector(name, page, "offline-rate") });
  await participant.goOn((now, { nAnswered }) => now === "stage:grid" && nAnswered === 1);
  await context.setOffline(true);
  await participant.goOn((now) => now === "saving");
  await page.waitForTimeout(3000);
  if ((await look(page)) !== "saving") complain(name, "did not wait for the connection");
  const said = (await page.locator("p.large").textContent()) ?? "";
  const nLeft = Number.parseInt(said, 10);
  if (!(0 < nLeft && nLeft <= participant.nAnswered)) complain(name, `after ${participant.nAnswered} answers the page says: ${said}`);
  await context.setOffline(false);
  await participant.goOn();
  checkAll(name);
  await context.close();
});

test("rate: offline, tab closed, opened again: the older answers arrive with their own token", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const query = link();
  const page = await opened(name, context);
  await page.goto(address("rate", query));
  const participant = new Participant(page);
  await participant.goOn((now, { nAnswered }) => now === "stage:grid" && nAnswered === 1);
  await context.setOffline(true);
  await participant.goOn((now) => now === "saving");
  await page.close();
  await context.setOffline(false);
  if (!isReal) {
    const stored = lastSession().trials.filter(({ state }) => state === "done").length;
    if (2 < stored) complain(name, `${stored} trials were stored while offline`);
  }
  const again = await opened(name, context);
  await again.goto(address("rate", query));
  await new Participant(again).goOn();
  checkAll(name);
  await context.close();
});

test("rate: without the recruiter's id the browser resumes by its own token", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const page = await opened(name, context);
  await page.goto(address("rate"));
  const participant = new Participant(page);
  await participant.goOn((now, { nAnswered }) => now === "stage:grid" && nAnswered === 1);
  const n = server.sessions.size;
  await page.reload();
  await participant.goOn();
  if (server.sessions.size !== n) complain(name, "another session was made");
  checkAll(name, { states: ["done", "void"] });
  // Loading the page again shows the code again.
  await page.reload();
  if ((await participant.goOn()) !== "end") complain(name, "the code is gone after a reload");
  await context.close();
});

test("pairs: the server is gone for a while and loses a third of its answers", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const page = await opened(name, context);
  await page.goto(address("pairs", link()));
  const participant = new Participant(page);
  await participant.goOn((now) => now === "stage:pairs");
  server.control.loseAnswers = 0.33;
  await participant.goOn((now, { nAnswered }) => nAnswered === 2);
  server.control.down = true;
  setTimeout(() => (server.control.down = false), 4000);
  await participant.goOn();
  server.control.loseAnswers = 0;
  checkAll(name);
  await context.close();
}, true);

test("flash and rate: the server is killed in the middle of a session and comes back", async (name) => {
  for (const study of ["flash", "rate"]) {
    const context = await browser.newContext(DESKTOP);
    const page = await opened(name, context);
    await page.goto(address(study, link()));
    const participant = new Participant(page);
    await participant.goOn((now, { nAnswered }) => now === "stage:grid" && nAnswered === 1);
    await fetch(`${process.env["CONTROL_URL"]}/kill`, { method: "POST" });
    const last = await participant.goOn();
    if (last !== "end") complain(name, `ended on ${last}`);
    await context.close();
  }
}, false, true);

test("rate: offline here, gone on elsewhere by the same link; this page says so when it is online again", async (name) => {
  const query = link();
  const [here, there] = [await browser.newContext(DESKTOP), await browser.newContext(DESKTOP)];
  const first = await opened(name, here);
  await first.goto(address("rate", query));
  const one = new Participant(first);
  await one.goOn((now, { nAnswered }) => now === "stage:grid" && nAnswered === 1);
  await here.setOffline(true);
  const second = await opened(name, there);
  await second.goto(address("rate", query));
  await new Participant(second).goOn((now) => now === "stage:grid");
  await here.setOffline(false);
  await first.locator("[data-page=taken]").waitFor({ timeout: 5000 }).catch(() => complain(name, "the first page was not told"));
  await new Participant(second).goOn();
  // Who has the link alone is not shown the code of the session that is over; its own browser is.
  const stranger = await browser.newContext(DESKTOP);
  const third = await opened(name, stranger);
  await third.goto(address("rate", query));
  await third.locator("[data-page=error]").waitFor({ timeout: 5000 }).catch(() => complain(name, "the session is not over"));
  await inspector(name, third, "over")("error");
  if ((await third.locator(".code, a.button").count()) !== 0) complain(name, "a stranger is shown the code");
  await second.reload();
  if ((await new Participant(second).goOn()) !== "end") complain(name, "the code is gone");
  for (const context of [here, there, stranger]) await context.close();
});

test("rate: two tabs; the second takes over", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const query = link();
  const first = await opened(name, context);
  await first.goto(address("rate", query));
  await new Participant(first).goOn((now, { nAnswered }) => now === "stage:grid" && nAnswered === 1);
  const second = await opened(name, context);
  await second.goto(address("rate", query));
  const participant = new Participant(second, { onPage: inspector(name, second, "two-tabs") });
  const where = await participant.goOn((now) => now === "other-tab" || now === "consent");
  if (where !== "other-tab") complain(name, "the second tab did not notice the first");
  await participant.goOn();
  if ((await look(first)) !== "taken") complain(name, `the first tab shows ${await look(first)}`);
  await inspector(name, first, "two-tabs")("taken");
  checkAll(name, { states: ["done", "void"] });
  await context.close();
});

test("flash: losing the focus voids the trial and pauses", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const page = await opened(name, context);
  await page.goto(address("flash-plain", link()));
  const participant = new Participant(page, { onPage: inspector(name, page, "blur-flash") });
  await participant.goOn((now) => now === "stage:show");
  // Before the image: it is shown later. During the mask: it is void.
  await page.waitForTimeout(300);
  await page.evaluate(() => dispatchEvent(new Event("blur")));
  await participant.goOn((now) => now === "pause");
  await participant.goOn((now, { nAnswered }) => now === "stage:grid" && nAnswered === 1);
  await participant.answer();
  await page.waitForTimeout(300 + 500 + 250);
  await page.evaluate(() => dispatchEvent(new Event("blur")));
  await participant.goOn();
  checkAll(name);
  const verdicts = lastSession().trials.map(({ report }) => report.verdict);
  if (verdicts.filter((verdict) => verdict === "unknown").length !== 1) complain(name, `verdicts: ${verdicts}`);
  await context.close();
}, true);

test("pairs: a key before the first frame is no answer", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const page = await opened(name, context);
  // Pressed once per trial, as soon as the pictures are in the document and before they are drawn.
  await page.addInitScript(() => {
    const look = () => {
      const side = document.querySelector(".stage.pairs:not(.open) .side.left");
      if (side !== null) dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
      globalThis.nEarly = (globalThis.nEarly ?? 0) + (side === null ? 0 : 1);
    };
    new MutationObserver(look).observe(document, { childList: true, subtree: true });
  });
  await page.goto(address("pairs", link()));
  const participant = new Participant(page, { hands: "keys" });
  const last = await participant.goOn();
  if (last !== "end") complain(name, `ended on ${last}`);
  const nEarly = await page.evaluate(() => globalThis.nEarly);
  if (nEarly === 0 || nEarly !== participant.nAnswered) complain(name, `${nEarly} keys before ${participant.nAnswered} answers`);
  checkAll(name);
  await context.close();
});

// What comes in between the beginning of a trial and its first frame: while that is written to disk, or
// afterwards, in the gap before the cross.
for (const [study, moment, how] of [["flash-gap", "gap", "leaves fullscreen"], ["flash-gap", "gap", "loses the focus"], ["flash-gap", "writing", "loses the focus"], ["beep", "writing", "loses the focus"], ["pairs", "writing", "loses the focus"], ["rate", "writing", "loses the focus"], ["pairs", "writing", "loses the focus and half the frames"], ["rate", "writing", "loses the focus and half the frames"]]) {
  test(`${study}: who ${how} between the beginning of a trial and its cross is asked before it is shown (${moment})`, async (name) => {
    const context = await browser.newContext(DESKTOP);
    const page = await opened(name, context);
    await page.addInitScript(([isFocus, isWriting, isSlowed]) => {
      const leave = () => {
        globalThis.left_ms = performance.now();
        const next = requestAnimationFrame;
        if (isSlowed) globalThis.requestAnimationFrame = (work) => next(() => next(work));
        if (isFocus) dispatchEvent(new Event("blur"));
        else void document.exitFullscreen();
      };
      const put = IDBObjectStore.prototype.put;
      globalThis.begun = [];
      IDBObjectStore.prototype.put = function (value, ...rest) {
        if (value?.body?.includes('"trial_start"')) {
          begun.push(JSON.parse(value.body).trial);
          // The third, so that nothing is special about it.
          if (begun.length === 3 && isWriting) setTimeout(leave);
          if (begun.length === 3 && !isWriting) this.transaction.addEventListener("complete", () => setTimeout(leave, 50));
        }
        return put.call(this, value, ...rest);
      };
    }, [how.startsWith("loses the focus"), moment === "writing", how.endsWith("frames")]);
    await page.goto(address(study, link()));
    const participant = new Participant(page, { cue: "visual" });
    await participant.goOn((now) => now === "pause" || now === "end");
    const [trial, left_ms] = await page.evaluate(() => [begun[2], globalThis.left_ms]);
    if (participant.nAnswered !== 2) complain(name, `${participant.nAnswered} trials were answered before it, so it was shown all the same`);
    await participant.goOn();
    checkAll(name);
    const { report } = lastSession().trials.find(({ planned }) => planned.trial === trial);
    if (report.onset_ms < left_ms || !report.was_visible) complain(name, `onset ${report.onset_ms}, left ${left_ms}, visible ${report.was_visible}`);
    // It is seen once when the participant stops there, and once when they go on.
    if (participant.seen.filter((page) => page === "pause").length !== 2) complain(name, `saw ${participant.seen}`);
    await context.close();
  }, true);
}

test("beep: a careless participant is warned, practises and stops", async (name) => {
  await whole(name, "beep-stop", DESKTOP, { isCareless: true, prefix: "careless-beep", query: link(), hasCode: false });
  checkAll(name, { isEarly: true });
  if (!lastSession().pages.includes("gate_warning")) complain(name, "no warning");
  if (!lastSession().isEarly) complain(name, "did not stop");
}, true);

for (const study of ["rate", "beep"]) {
  test(`${study}: no IndexedDB: every trial waits for its ack`, async (name) => {
    const context = await browser.newContext(DESKTOP);
    await context.addInitScript(() => Object.defineProperty(globalThis, "indexedDB", { value: undefined }));
    const page = await opened(name, context);
    await page.goto(address(study, link()));
    await new Participant(page, { cue: "visual" }).goOn();
    checkAll(name);
    await context.close();
  });
}

test("consent refused, stopped early, withdrawn", async (name) => {
  for (const [buttons, last] of [[[".quiet"], "refused"], [[".way-out button", "button:nth-of-type(2)"], "end"], [[".way-out button", ".danger", ".danger"], "withdrawn"]]) {
    const context = await browser.newContext(DESKTOP);
    const page = await opened(name, context);
    const inspect = inspector(name, page, "leaving");
    await page.goto(address("rate", link()));
    const participant = new Participant(page);
    const from = last === "refused" ? "consent" : "break";
    const n = server.sessions.size;
    await participant.goOn((now) => now === from);
    if (last === "refused" && server.sessions.size !== n) complain(name, "a session was made before consent");
    for (const button of buttons) {
      await page.locator(`.page ${button}`).first().click();
      await page.waitForTimeout(100);
      await inspect(await look(page));
    }
    const found = await participant.goOn();
    await inspect(found);
    if (found !== last) complain(name, `expected ${last}, found ${found}`);
    if (!isReal && last === "withdrawn" && lastSession().state !== "withdrawn") complain(name, "the data are still there");
    if (last === "withdrawn") {
      const left = await page.evaluate(() => new Promise((resolve) => {
        const request = indexedDB.open("mohs");
        request.onsuccess = () => {
          const all = request.result.transaction(["events"]).objectStore("events").count();
          all.onsuccess = () => resolve(all.result);
        };
      }));
      if (left !== 0) complain(name, `${left} events are left in the browser`);
    }
    await context.close();
  }
});

test("inside a frame, and before an MTurk task is accepted, no session begins", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const n = server.sessions.size;
  const page = await opened(name, context);
  await page.goto(`${server.url}/frame/flash`);
  await page.frameLocator("iframe").locator("[data-page=launch]").waitFor({ timeout: 5000 }).catch(() => complain(name, "no launch page"));
  await page.screenshot({ path: `${shots}/frame-launch.png` });
  await page.goto(address("flash", "?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h"));
  await page.locator("[data-page=unaccepted]").waitFor({ timeout: 5000 }).catch(() => complain(name, "no note"));
  await inspector(name, page, "mturk")("unaccepted");
  if (server.sessions.size !== n) complain(name, "a session was made");
  await context.close();
}, true);

test("a closed study says so, without anything that looks like a completion code", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const page = await opened(name, context);
  await page.route("**/welcome", (route) => route.fulfill({ status: 403, contentType: "application/json", body: JSON.stringify({ error: { code: "study_closed", message: "closed" } }) }));
  await page.goto(address("rate", link()));
  const last = await new Participant(page, { onPage: inspector(name, page, "closed") }).goOn();
  const text = await page.locator("body").innerText();
  if (last !== "error" || !text.includes("This study is closed")) complain(name, text);
  if (/code|study_closed/i.test(text)) complain(name, `somebody could hand in a code: ${text}`);
  await context.close();
});

test("another error names its reason, and does not call it a code", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const page = await opened(name, context);
  await page.route("**/join", (route) => route.fulfill({ status: 403, contentType: "application/json", body: JSON.stringify({ error: { code: "token_foreign", message: "no" } }) }));
  await page.goto(address("rate", link()));
  await new Participant(page, { onPage: inspector(name, page, "failed") }).goOn();
  const text = await page.locator("body").innerText();
  if (!text.includes("Reason: token_foreign") || /code/i.test(text)) complain(name, text);
  await context.close();
});

/** Where a study with many answers is shown: windows in which not everything fits. */
const SMALL = [["phone", PHONE, "touch"], ["phone-flat", { ...PHONE, viewport: { width: 844, height: 390 } }, "touch"], ["small", { viewport: { width: 1024, height: 600 } }, "mouse"], ["desktop", DESKTOP, "mouse"]];
for (const [study, screens] of [["rate-many", SMALL], ["flash-many", [["narrow", NARROW, "mouse"], ["small", SMALL[2][1], "mouse"]]], ["beep-many", [SMALL[2], SMALL[3]]]]) {
  for (const [where, options, hands] of screens) {
    test(`${study} (${where}): picture and answers do not overlap, words stay whole, all answers can be reached`, async (name) => {
      const context = await browser.newContext(options);
      const page = await opened(name, context);
      await page.goto(address(study, link()));
      const participant = new Participant(page, { hands, cue: "visual" });
      await participant.goOn((now) => now === "stage:grid");
      await page.waitForTimeout(300);
      await page.screenshot({ path: `${shots}/${where}-${study}.png` });
      const measure = () => page.evaluate(() => {
        const box = (element) => (({ top, bottom, left, right }) => ({ top, bottom, left, right }))(element.getBoundingClientRect());
        const answers = [...document.querySelectorAll(".answer")];
        const broken = answers.flatMap((answer) => [...answer.childNodes].filter((node) => {
          const range = document.createRange();
          range.selectNodeContents(node);
          return node.nodeType === Node.TEXT_NODE && 1 < range.getClientRects().length;
        }).map((node) => node.textContent));
        const outside = answers.filter((answer) => answer.scrollWidth > answer.clientWidth).length;
        return {
          picture: box(document.querySelector(".stage canvas")), question: box(document.querySelector(".question")), last: box(answers.at(-1)), broken, outside, hasHint: !document.querySelector(".more").classList.contains("hidden"),
          wide: document.documentElement.scrollWidth - innerWidth, scrolled: document.querySelector(".stage.with-grid")?.scrollTop ?? 0, height: innerHeight,
        };
      });
      const before = await measure();
      if (before.broken.length + before.outside !== 0) complain(name, `broken words: ${before.broken}; ${before.outside} are too wide`);
      if (0 < before.wide) complain(name, `${before.wide} px too wide`);
      const isBelow = study !== "flash-many";
      if (isBelow && before.question.top < before.picture.bottom) complain(name, `the question begins at ${before.question.top}, the picture ends at ${before.picture.bottom}`);
      if (isBelow && before.picture.top < 0) complain(name, "the picture is cut off above");
      const isCut = before.height < before.last.bottom;
      if (study === "beep-many" && isCut) complain(name, "who must be on time has to scroll");
      if (before.hasHint !== isCut) complain(name, `hint ${before.hasHint}, though the last answer ends at ${before.last.bottom} of ${before.height}`);
      if (study === "beep-many") return void (await context.close());
      await page.evaluate(() => document.querySelector(".stage.with-grid, .grid").scrollBy(0, 5000));
      await page.waitForTimeout(200);
      const after = await measure();
      if (after.height < after.last.bottom || after.hasHint) complain(name, `scrolled to the end, the last answer ends at ${after.last.bottom} of ${after.height}, hint ${after.hasHint}`);
      if (isCut) await page.screenshot({ path: `${shots}/${where}-${study}-scrolled.png` });
      // The next picture is seen, not the end of the last grid.
      await participant.answer();
      await participant.goOn((now) => now === "stage:grid" || now === "end");
      if ((await measure()).scrolled !== 0) complain(name, "the next picture is scrolled away");
      await participant.goOn();
      await context.close();
    }, true);
  }
}

const SCREENS = [["desktop", DESKTOP], ["narrow", NARROW]];
for (const [where, options] of SCREENS) {
  for (const [study, title] of [["flash-short", "cannot show this study"], ["flash-short-de", "kann diese Studie nicht zeigen"]]) {
    test(`${study} (${where}): a screen that cannot show any exposure is told so`, async (name) => {
      const context = await browser.newContext(options);
      const page = await opened(name, context);
      await page.goto(address(study, link()));
      const participant = new Participant(page, { onPage: inspector(name, page, `${where}-${study}`) });
      if ((await participant.goOn()) !== "unfit") complain(name, `saw ${participant.seen}`);
      const text = await page.locator("body").innerText();
      if (!text.includes(title) || !/\(6\d Hz\)|\(5\d Hz\)/.test(text)) complain(name, text);
      if (/another study|anderen Studie/.test(text)) complain(name, "it is told of another study");
      if (participant.seen.some((page) => ["card", "practice", "instructions"].includes(page))) complain(name, `saw ${participant.seen}`);
      // Measured again, it is still the same screen.
      await page.locator(".page .body button.primary").click();
      await page.waitForTimeout(100);
      if ((await participant.goOn((now) => now === "unfit")) !== "unfit") complain(name, "measured again, it is lost");
      // Giving up is possible, and gives no code.
      await page.locator(".page .way-out button").click();
      await page.locator(".page button:nth-of-type(2)").first().click();
      if ((await participant.goOn()) !== "end" || (await page.locator(".code").count()) !== 0) complain(name, "no end, or one with a code");
      await context.close();
    }, true);
  }
}

for (const [where, options] of SCREENS) {
  for (const [study, title, todo] of [["flash-unfit", "This browser cannot show this study", "in Chrome, Edge or another"], ["flash-unfit-de", "Dieser Browser kann diese Studie nicht zeigen", "in Chrome, Edge oder einem anderen"]]) {
    test(`${study} (${where}): a browser that may not show what the screen can is told so`, async (name) => {
      const context = await browser.newContext(options);
      const page = await opened(name, context);
      const query = link();
      await page.goto(address(study, query));
      const participant = new Participant(page, { onPage: inspector(name, page, `${where}-${study}`) });
      if ((await participant.goOn()) !== "unfit") complain(name, `saw ${participant.seen}`);
      const text = await page.locator("body").innerText();
      if (!text.includes(title) || !text.includes(todo) || !text.includes(query) || /Hz/.test(text)) complain(name, text);
      await page.locator(".page .way-out button").click();
      await page.locator(".page button:nth-of-type(2)").first().click();
      if ((await participant.goOn()) !== "end" || (await page.locator(".code").count()) !== 0) complain(name, "no end, or one with a code");
      await context.close();
    }, true);
  }
}

for (const [study, from, early] of [["rate", "break", "You stopped early"], ["rate-de", "gate", "Sie haben früher aufgehört"]]) {
  for (const [where, options] of SCREENS) {
    test(`${study} (${where}): stopped at the ${from}, there is no code, and a reload says the same`, async (name) => {
      const context = await browser.newContext(options);
      const page = await opened(name, context);
      await page.goto(address(study, link()));
      const participant = new Participant(page);
      await participant.goOn((now) => now === from);
      await page.locator(".page .way-out button").click();
      await inspector(name, page, `${where}-${study}`)("leave");
      await page.locator(".page button:nth-of-type(2)").first().click();
      for (const time of ["first", "again"]) {
        const last = await participant.goOn();
        await inspector(name, page, `${where}-${study}-early-${time}`)(last);
        const text = await page.locator("body").innerText();
        if (last !== "end" || !text.includes(early) || (await page.locator(".code, a.button").count()) !== 0) complain(name, `${time}: ${text}`);
        await page.reload();
        await page.waitForTimeout(100);
      }
      await context.close();
    }, true);
  }
}

test("rate: whoever stops while the last answers are saved has done everything, now and after a reload", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const page = await opened(name, context);
  await page.goto(address("rate", link()));
  const participant = new Participant(page);
  await participant.goOn((now, { nAnswered }) => now === "stage:grid" && nAnswered === (isReal ? 3 : 5));
  await context.setOffline(true);
  await participant.goOn((now) => now === "saving");
  await page.locator(".page .way-out button").click();
  await page.locator(".page button:nth-of-type(2)").first().click();
  await context.setOffline(false);
  for (const time of ["first", "again"]) {
    const last = await participant.goOn();
    const text = await page.locator("body").innerText();
    if (last !== "end" || !text.includes("You are done") || (await page.locator(".code").count()) !== 1 || text.includes("EARLY-")) complain(name, `${time}: ${text}`);
    await page.reload();
    await page.waitForTimeout(100);
  }
  await context.close();
});

test("rate: whoever stops in a pause inside the last trial stopped early, now and after a reload", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const page = await opened(name, context);
  await page.addInitScript((last) => {
    const put = IDBObjectStore.prototype.put;
    let nBegun = 0;
    IDBObjectStore.prototype.put = function (value, ...rest) {
      if (value?.body?.includes('"trial_start"') && ++nBegun === last) setTimeout(() => dispatchEvent(new Event("blur")));
      return put.call(this, value, ...rest);
    };
  }, isReal ? 4 : 6);
  await page.goto(address("rate", link()));
  const participant = new Participant(page);
  await participant.goOn((now) => now === "pause");
  await page.locator(".page .way-out button").click();
  await page.locator(".page button:nth-of-type(2)").first().click();
  for (const time of ["first", "again"]) {
    const last = await participant.goOn();
    const text = await page.locator("body").innerText();
    if (last !== "end" || !text.includes("You stopped early")) complain(name, `${time}: ${text}`);
    await page.reload();
    await page.waitForTimeout(100);
  }
  await context.close();
});

test("rate: answers that the server refuses are offered for download, and never said to be saved", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const page = await opened(name, context);
  let token = null;
  // From the first answer on, nothing of this opening of the session is taken.
  await page.route("**/events", (route) => {
    const request = route.request();
    const { authorization } = request.headers();
    if (request.postData()?.includes('\\"kind\\":\\"trial\\"')) token ??= authorization;
    if (authorization !== token) return route.continue();
    return route.fulfill({ status: 422, contentType: "application/json", body: JSON.stringify({ error: { code: "report_bad", message: "no" } }) });
  });
  await page.goto(address("rate", link()));
  const participant = new Participant(page, { onPage: inspector(name, page, "refused-rate") });
  if ((await participant.goOn()) !== "error") complain(name, `saw ${participant.seen}`);
  for (const time of ["at once", "at the end", "after a reload"]) {
    const text = await page.locator("body").innerText();
    if (!text.includes("Not all of your answers could be saved") || !text.includes("Contact: Vision Lab") || /all your answers are saved|try again later/.test(text)) complain(name, `${time}: ${text}`);
    const asked = page.getByRole("button", { name: "Download my answers" }).click({ timeout: 5000 });
    const [file] = await Promise.all([page.waitForEvent("download", { timeout: 5000 }), asked]);
    const { chains } = JSON.parse(readFileSync(await file.path(), "utf8"));
    if (!chains.some(({ events }) => events.some(({ body }) => body.includes('"kind":"trial"')))) complain(name, `${time}: no answer in the file`);
    await page.reload();
    await page.waitForTimeout(100);
    if ((await participant.goOn()) !== "end") complain(name, `${time}: saw ${participant.seen}`);
  }
  await context.close();
});

test("rate: whoever there is no picture for is not told that they have seen them elsewhere", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const page = await opened(name, context);
  await page.goto(address("rate-empty", link()));
  const participant = new Participant(page, { onPage: inspector(name, page, "desktop-empty") });
  for (const time of ["first", "again"]) {
    const last = await participant.goOn();
    const text = await page.locator("body").innerText();
    if (last !== "nothing-left" || /another study|already/.test(text) || (await page.locator(".code").count()) !== 0) complain(name, `${time}: ${last}: ${text}`);
    await page.reload();
    await page.waitForTimeout(100);
  }
  await context.close();
}, true);

test("a preview ends without a code and stands in nobody's way", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const [preview, other, real] = [await opened(name, context), await opened(name, context), await opened(name, context)];
  await preview.goto(address("rate", "?preview=token"));
  const participant = new Participant(preview, { onPage: inspector(name, preview, "preview") });
  await participant.goOn((now) => now === "instructions");
  // Neither another preview nor a participant is asked to go on elsewhere.
  for (const [page, query] of [[other, "?preview=token"], [real, link()]]) {
    await page.goto(address("rate", query));
    const where = await new Participant(page).goOn((now) => now === "consent" || now === "other-tab");
    if (where !== "consent") complain(name, `${query}: ${where}`);
  }
  // Frames come to the tab in front only.
  await preview.bringToFront();
  await participant.goOn();
  const text = await preview.locator("body").innerText();
  if (!text.includes("This was a preview") || (await preview.locator(".code, a.button").count()) !== 0) complain(name, text);
  await context.close();
}, true);

test("one study open, another one in a second tab: both go on; a finished one lets go", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const query = link();
  const first = await opened(name, context);
  await first.goto(address("rate", query));
  const one = new Participant(first);
  await one.goOn((now, { nAnswered }) => now === "stage:grid" && nAnswered === 1);
  const second = await opened(name, context);
  await second.goto(address("pairs", query));
  const two = new Participant(second);
  if ((await two.goOn()) !== "end") complain(name, `saw ${two.seen}`);
  if (two.seen.includes("other-tab")) complain(name, "another study was in the way");
  checkAll(name);
  await first.bringToFront();
  await one.goOn();
  const done = [...server.sessions.values()].find(({ study, state }) => study === "rate" && state === "ended");
  if (!isReal && done === undefined) complain(name, "the first study was not ended");
  // The first tab still shows its end; the same study in another tab shows it too.
  const third = await opened(name, context);
  await third.goto(address("rate", query));
  const where = await new Participant(third).goOn((now) => now === "end" || now === "other-tab");
  if (where !== "end") complain(name, `a finished session holds on: ${where}`);
  await context.close();
});

test("rate: answers to another study that could not be sent go on the next visit to any study", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const page = await opened(name, context);
  await page.goto(address("rate", link()));
  await new Participant(page).goOn((now, { nAnswered }) => now === "stage:grid" && nAnswered === 1);
  const session = lastSession();
  await page.waitForTimeout(300);
  const begun = session.trials.filter(({ state }) => state !== "planned").length;
  await context.setOffline(true);
  await new Participant(page).goOn((now) => now === "saving");
  await page.close();
  await context.setOffline(false);
  const again = await opened(name, context);
  await again.goto(address("pairs", link()));
  await new Participant(again).goOn((now) => now === "consent");
  const done = session.trials.filter(({ state }) => state === "done").length;
  if (done < begun) complain(name, `${done} trials arrived, ${begun} had begun before`);
  await context.close();
}, true);

test("rate: go on here, in a tab that was taken, takes over at once", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const query = link();
  const first = await opened(name, context);
  await first.goto(address("rate", query));
  const one = new Participant(first);
  await one.goOn((now, { nAnswered }) => now === "stage:grid" && nAnswered === 1);
  const second = await opened(name, context);
  await second.goto(address("rate", query));
  const two = new Participant(second);
  await two.goOn((now) => now === "welcome-back");
  if ((await look(first)) !== "taken") complain(name, `the first tab shows ${await look(first)}`);
  await first.bringToFront();
  await first.locator(".page button").click();
  const where = await one.goOn((now) => now === "welcome-back" || now === "other-tab");
  if (where !== "welcome-back") complain(name, `asked again: ${where}`);
  if ((await look(second)) !== "taken") complain(name, `the second tab shows ${await look(second)}`);
  await one.goOn();
  checkAll(name, { states: ["done", "void"] });
  // What was decided once is not decided for ever.
  await first.goto(address("pairs", query));
  await new Participant(first).goOn((now) => now === "gate");
  const third = await opened(name, context);
  await third.goto(address("pairs", query));
  if ((await new Participant(third).goOn((now) => now === "other-tab" || now === "consent" || now === "welcome-back")) !== "other-tab") complain(name, "not asked");
  await context.close();
});

for (const [where, options] of SCREENS) {
  test(`pages without the script have room and a card (${where})`, async (name) => {
    for (const [what, path, hasScript] of [["unknown", "nonsense", true], ["no-script", "flash-de", false]]) {
      const context = await browser.newContext({ ...options, javaScriptEnabled: hasScript });
      const page = await context.newPage();
      await page.goto(address(path));
      await page.screenshot({ path: `${shots}/${where}-bare-${what}.png` });
      const [card, text] = [await page.locator(".page").boundingBox(), await page.locator(".page h1").boundingBox()];
      if (!(16 <= text.x - card.x)) complain(name, `${what}: ${text.x - card.x} px from the edge`);
      if (options.viewport.width < card.x + card.width || 800 < card.width) complain(name, `${what}: the card is ${card.width} px wide, from ${card.x}`);
      await context.close();
    }
  });
}

test("rate: a link without an id says where to go, not to try again", async (name) => {
  const context = await browser.newContext(DESKTOP);
  const page = await opened(name, context);
  for (const query of ["?PROLIFIC_PID=", "?participant=undefined", "?PROLIFIC_PID=%5BPID%5D"]) {
    await page.goto(address("rate", query));
    if ((await new Participant(page).goOn((now) => now === "error")) !== "error") complain(name, `${query} was let in`);
    const said = (await page.locator("main").textContent()) ?? "";
    if (!said.includes("from your invitation") || /later|reason/i.test(said)) complain(name, `${query}: ${said}`);
    if (0 < (await page.getByRole("button").count())) complain(name, `${query}: there is a button`);
  }
  await page.screenshot({ path: `${shots}/desktop-id-missing.png` });
  await context.close();
}, false, true);

test("admin: every page fits its width, wide tables scroll inside, axe has nothing to say", async (name) => {
  for (const [width, prefix] of [[1280, "desktop"], [390, "narrow"]]) {
    const context = await browser.newContext({ viewport: { width, height: 844 } });
    const page = await opened(name, context);
    const look = async (what) => {
      await page.screenshot({ path: `${shots}/${prefix}-admin-${what}.png`, fullPage: true });
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (0 < over) complain(name, `${what} is ${over} px wider than a window of ${width}`);
      await page.evaluate(axe);
      const found = await page.evaluate(() => globalThis.axe.run(document));
      for (const violation of found.violations) complain(name, `axe on ${what}: ${violation.id}: ${violation.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
    };
    // The first page after the link comes without the strict cookie.
    await page.goto(process.env["ADMIN_URL"]);
    await page.goto(`${server.url}/admin`);
    await look("studies");
    for (const study of ["flash", "beep", "pairs", "rate"]) {
      await page.goto(`${server.url}/admin/${names[study] ?? study}`);
      await look(study);
      await page.locator("input[name=bots]").fill("3");
      await page.getByRole("button", { name: "Simulate" }).click();
      await page.getByText("What bots made of this study").waitFor({ timeout: 30_000 });
      await look(`${study}-bots`);
    }
    await context.close();
  }
}, false, true);

const only = process.env["ONLY"];
for (const { name, work, needsStandIn, needsControl } of tests) {
  if ((only !== undefined && !new RegExp(only).test(name)) || (needsStandIn && isReal)) continue;
  if (needsControl && process.env["CONTROL_URL"] === undefined) continue;
  const started = Date.now();
  const before = wrong.length;
  console.log(name);
  await work(name).catch((error) => complain(name, error.message));
  console.log(`  ${wrong.length === before ? "ok" : "failed"}, ${((Date.now() - started) / 1000).toFixed(1)} s`);
}
for (const problem of server.problems) complain("server", problem);
await browser.close();
server.close();
console.log(`${wrong.length} wrong; ${nPages} pages looked at; screenshots in ${shots}`);
process.exit(wrong.length === 0 ? 0 : 1);
