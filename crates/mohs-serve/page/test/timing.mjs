// How exactly flashes are shown in headless Chromium, compared with the browser's own trace of the
// frames it presented. Three runs: unloaded, with the processor four times slower, and with a main
// thread that is blocked at random on top of that. Software only: an upper bound for what a photodiode
// would see, and the proof that what goes wrong is noticed.
// TRIALS=250 says how many trials a run has; PERCENT_OK=99.9 what the unloaded run must reach.
import { launch } from "./chromium.mjs";
import { Participant } from "./participant.mjs";
import { start, STUDIES } from "./stand-in.mjs";

const N = Number(process.env["TRIALS"] ?? 250);
const FRAMES = [1, 3, 6, 9, 15];
STUDIES["flash-timing"].blocks = [[N, false, null]];

/** Reads when which frame was presented: [begin, presented], in ms of the page's clock. */
function presentations(events) {
  const sync = events.find(({ name, cat }) => name === "sync" && cat.includes("user_timing"));
  const offset = sync.ts / 1000 - sync.args.data.startTime;
  const open = new Map();
  const found = [];
  const reporters = events.filter(({ name, pid }) => name === "PipelineReporter" && pid === sync.pid).sort((a, b) => a.ts - b.ts);
  for (const event of reporters) {
    const key = `${event.id2?.local ?? event.id}`;
    if (event.ph === "b") open.set(key, [...(open.get(key) ?? []), event]);
    if (event.ph !== "e") continue;
    const begin = open.get(key)?.shift();
    if (begin === undefined) continue;
    const state = begin.args.frame_reporter?.state ?? begin.args.chrome_frame_reporter?.state;
    if (state === "STATE_PRESENTED_ALL") found.push([begin.ts / 1000 - offset, event.ts / 1000 - offset]);
  }
  return found.sort((a, b) => a[0] - b[0]);
}

/** What the trace says of a flash: frames between its two changes, nothing when one of them was never
 * presented, and how long after their stamps the two were presented. */
function byTrace(presented, { onset_ms, offset_ms, period_ms }) {
  // A stamp is the begin of its frame; the page's clock is coarser than the trace's.
  const at = (stamp) => presented.find(([begin]) => Math.abs(begin - stamp) < 1.5)?.[1];
  const [image, mask] = [at(onset_ms), at(offset_ms)];
  if (image === undefined || mask === undefined) return { frames: null, lags: [] };
  const slot = (t) => Math.floor((t - onset_ms) / period_ms);
  return { frames: slot(mask) - slot(image), lags: [image - onset_ms, mask - offset_ms] };
}

async function measure(name, { throttle = 1, isBusy = false }) {
  const server = await start();
  const browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${server.url}/s/flash-timing`);
  await new Participant(page).goOn((now) => now === "stage:show" || now === "stage:grid");
  const tracing = await browser.newBrowserCDPSession();
  const events = [];
  tracing.on("Tracing.dataCollected", ({ value }) => {
    for (const event of value) if (event.name === "PipelineReporter" || event.name === "sync") events.push(event);
  });
  await tracing.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { recordMode: "recordContinuously", traceBufferSizeInKb: 400_000, includedCategories: ["cc", "benchmark", "blink.user_timing"], excludedCategories: ["*"] } });
  await page.evaluate(() => performance.mark("sync"));
  const client = await page.context().newCDPSession(page);
  if (throttle !== 1) await client.send("Emulation.setCPUThrottlingRate", { rate: throttle });
  // Answers as soon as the grid appears, from inside, so that the driver does not disturb.
  await page.evaluate(() => {
    const grid = document.querySelector(".grid");
    const answer = () => !grid.classList.contains("hidden") && grid.querySelector(".answer").click();
    new MutationObserver(answer).observe(grid, { attributes: true });
    answer();
  });
  if (isBusy) {
    await page.evaluate(() => {
      const block = () => {
        const until = performance.now() + 4 + 40 * Math.random();
        while (performance.now() < until);
        setTimeout(block, 30 + 250 * Math.random());
      };
      block();
    });
  }
  await page.locator("[data-page=end]").waitFor({ timeout: 900_000 });
  const over = new Promise((resolve) => tracing.once("Tracing.tracingComplete", resolve));
  await tracing.send("Tracing.end");
  await over;
  const presented = presentations(events);
  const trials = [...server.sessions.values()][0].trials.flatMap(({ report }) => (report?.verdict ? [{ ...report, byTrace: byTrace(presented, report) }] : []));
  await browser.close();
  server.close();
  // The first trial may have begun before the trace did.
  return { name, trials: trials.slice(1) };
}

const percent = (part, whole) => (whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`);

const RUNS = [["unloaded", {}], ["throttled ×4", { throttle: 4 }], ["throttled ×4 and blocked", { throttle: 4, isBusy: true }]];
let isSound = true;
const wanted = Number(process.env["PERCENT_OK"] ?? 99.9);
for (const [name, how] of RUNS.filter(([name]) => name.includes(process.env["ONLY"] ?? ""))) {
  const { trials } = await measure(name, how);
  console.log(`\n${name}: ${trials.length} trials, ${trials[0]?.period_ms.toFixed(3)} ms a frame`);
  const lags = trials.flatMap(({ byTrace }) => byTrace.lags).sort((a, b) => a - b);
  const lag = (share) => lags[Math.min(lags.length - 1, Math.floor(share * lags.length))]?.toFixed(1);
  console.log(`changes were presented ${lag(0)} to ${lag(1)} ms after their stamps, ${lag(0.5)} in the middle, 99 % within ${lag(0.99)}`);
  console.log("frames   trials   as planned by stamps   by trace   verdict ok   wrong but ok   right but voided   verdicts");
  let nWrongOk = 0;
  let nExact = 0;
  for (const frames of FRAMES) {
    const of = trials.filter(({ frames_planned }) => frames_planned === frames);
    const isRight = ({ byTrace }) => byTrace.frames === frames;
    const isOk = ({ verdict }) => verdict === "ok";
    const exact = of.filter(({ frames_shown }) => frames_shown === frames);
    const wrongOk = of.filter((trial) => isOk(trial) && !isRight(trial));
    nWrongOk += wrongOk.length;
    nExact += exact.length;
    const counts = Object.entries(Object.groupBy?.(of, ({ verdict }) => verdict) ?? of.reduce((all, trial) => ({ ...all, [trial.verdict]: [...(all[trial.verdict] ?? []), trial] }), {}));
    const verdicts = counts.map(([verdict, list]) => `${verdict} ${list.length}`).join(", ");
    const columns = [String(frames).padStart(6), String(of.length).padStart(8), percent(exact.length, of.length).padStart(22), percent(of.filter(isRight).length, of.length).padStart(10), percent(of.filter(isOk).length, of.length).padStart(12), String(wrongOk.length).padStart(14), String(of.filter((trial) => !isOk(trial) && isRight(trial)).length).padStart(18), `  ${verdicts}`];
    console.log(columns.join(" "));
    for (const trial of wrongOk.slice(0, 3)) console.log(`       e.g. by trace ${trial.byTrace.frames}, presented ${trial.byTrace.lags.map((lag) => lag.toFixed(1)).join(" and ")} ms after the stamps, ${trial.stamps_ms.map((stamp) => stamp.toFixed(1)).join(" ")}`);
  }
  if (0 < nWrongOk) isSound = false;
  if (name === "unloaded" && (100 * nExact) / trials.length < wanted) isSound = false;
}
process.exit(isSound ? 0 : 1);
