// A small server that speaks wire.rs, to try the page without the real one. It keeps everything in
// memory and checks what it is sent: chains, duplicates, trials that were never planned. Not a model
// of how the real server allocates.
import { createServer } from "node:http";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { deflateSync, crc32 as zlibCrc32 } from "node:zlib";

const DIST = `${import.meta.dirname}/../dist`;
const sha = (data) => createHash("sha256").update(data).digest("hex");

const CRC_TABLE = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});
const crc32 = zlibCrc32 ?? ((bytes) => {
  let c = 0xffffffff;
  for (const byte of bytes) c = CRC_TABLE[(c ^ byte) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
});

/** A PNG of side × side, `paint(x, y)` gives [r, g, b]. */
function png(side, paint) {
  const raw = Buffer.alloc(side * (1 + 3 * side));
  for (let y = 0; y < side; y++) for (let x = 0; x < side; x++) raw.set(paint(x, y), y * (1 + 3 * side) + 1 + 3 * x);
  const chunk = (kind, data) => {
    const body = Buffer.concat([Buffer.from(kind), data]);
    const length = Buffer.alloc(4);
    const crc = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    crc.writeUInt32BE(crc32(body) >>> 0);
    return Buffer.concat([length, body, crc]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const start = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([start, chunk("IHDR", header), chunk("IDAT", deflateSync(raw)), chunk("IEND", Buffer.alloc(0))]);
}

const LABELS = [
  "backpack", "banana", "basket", "battery", "bench", "blanket", "book", "bottle", "bowl", "bread loaf", "broom", "bucket", "calendar", "candle", "chair", "clock",
  "comb", "desk lamp", "dress", "drill", "envelope", "fan", "fork", "hammer", "helmet", "ironing board", "jar", "kettle", "key", "ladder", "lemon", "mug",
  "notebook", "oven glove", "paintbrush", "pan", "pencil", "pillow", "plate", "remote control", "scissors", "shoe", "spoon", "suitcase", "teapot", "towel", "umbrella", "vase", "wallet", "whistle",
];

// Long, with underscores and without, as in the pets that many try first.
const BREEDS = [
  "american_pit_bull_terrier", "basset_hound", "beagle", "boxer", "chihuahua", "Egyptian_Mau", "english_cocker_spaniel", "english_setter", "german_shorthaired", "great_pyrenees", "japanese_chin", "keeshond", "leonberger",
  "miniature_pinscher", "newfoundland", "Persian", "pomeranian", "pug", "saint_bernard", "samoyed", "scottish_terrier", "Siamese", "staffordshire_bull_terrier", "wheaten_terrier", "yorkshire_terrier",
];

const info = (study, over) => ({
  study, title: "Recognising everyday things", task: study.split("-")[0], language: "en", labels: LABELS, contact: "Vision Lab, lab@example.org", minutes: 12, pay: "3 €", min_age: 18,
  consent: [], debrief: ["This study measures how hard pictures are to recognise. Short showings make them harder."], trials_between_breaks: 4, calibrate: false, fullscreen: false, size_deg: 8, size_px: 300,
  tolerance: 0.1, exposures_ms: [], fixation_ms: 500, mask_ms: 500, gap_ms: 300, beep: null, ties: false, preview: false, ...over,
});
const BEEP = { tolerance_ms: 150, window_ms: 400, cue: "choice", gate_trials: 4, gate_share: 0.5, gate: "warn" };

/** Studies by name: what the page is told, blocks of [n, is_practice, beep_ms]. */
export const STUDIES = {
  flash: { info: info("flash", { exposures_ms: [17, 50, 100, 150, 250], calibrate: true, fullscreen: true }), blocks: [[2, true, null], [4, false, null], [4, false, null]] },
  "flash-de": { info: info("flash-de", { language: "de", title: "Alltägliche Dinge erkennen", exposures_ms: [17, 50], calibrate: true }), blocks: [[3, false, null]] },
  "flash-plain": { info: info("flash-plain", { exposures_ms: [50] }), blocks: [[4, false, null], [4, false, null]] },
  "flash-gap": { info: info("flash-gap", { exposures_ms: [50], gap_ms: 1000, fullscreen: true }), blocks: [[5, false, null]] },
  "flash-unfit": { info: info("flash-unfit", { exposures_ms: [50] }), blocks: [[2, false, null]], isUnfit: true },
  "flash-unfit-de": { info: info("flash-unfit-de", { language: "de", exposures_ms: [50] }), blocks: [[2, false, null]], isUnfit: true },
  "flash-short": { info: info("flash-short", { exposures_ms: [4, 5], calibrate: true }), blocks: [[2, false, null]] },
  "flash-short-de": { info: info("flash-short-de", { language: "de", exposures_ms: [4, 5] }), blocks: [[2, false, null]] },
  "flash-many": { info: info("flash-many", { labels: BREEDS, exposures_ms: [50] }), blocks: [[2, false, null]] },
  "flash-timing": { info: info("flash-timing", { exposures_ms: [17, 50, 100, 150, 250], fixation_ms: 120, mask_ms: 100, gap_ms: 0 }), blocks: [[250, false, null]], frames: [1, 3, 6, 9, 15] },
  beep: { info: info("beep", { labels: LABELS.slice(0, 16), beep: BEEP }), blocks: [[2, true, null], [3, false, 500], [3, false, 900]] },
  "beep-stop": { info: info("beep-stop", { labels: LABELS.slice(0, 16), beep: { ...BEEP, gate: "stop", gate_trials: 3 } }), blocks: [[12, false, 500]] },
  pairs: { info: info("pairs", { labels: [], ties: true }), blocks: [[3, false, null], [3, false, null]] },
  rate: { info: info("rate", { labels: LABELS.slice(0, 16) }), blocks: [[3, false, null], [3, false, null]] },
  "rate-many": { info: info("rate-many", { labels: BREEDS }), blocks: [[2, false, null]] },
  "rate-empty": { info: info("rate-empty", {}), blocks: [] },
  "beep-many": { info: info("beep-many", { labels: BREEDS, beep: BEEP }), blocks: [[2, false, 900]] },
  "rate-de": { info: info("rate-de", { language: "de", labels: LABELS.slice(0, 16) }), blocks: [[2, false, null]] },
};

const media = new Map();
function picture(seed, kind) {
  let state = (seed * 2654435761 + 12345) >>> 0;
  const random = () => (state = (state * 1664525 + 1013904223) >>> 0) / 2 ** 32;
  const [cx, cy, r] = [60 + 100 * random(), 60 + 100 * random(), 30 + 40 * random()];
  const colour = [random(), random(), random()].map((v) => Math.round(255 * v));
  const bytes = png(224, (x, y) => {
    if (kind === "mask") return [0, 1, 2].map(() => Math.round(40 + 175 * random()));
    return Math.hypot(x - cx, y - cy) < r ? colour : [(x + seed * 17) & 255, (y + seed * 5) & 255, 120];
  });
  const hash = sha(bytes);
  media.set(hash, bytes);
  return hash;
}
// A few pictures are enough for a long study; a trial's id tells it from the others.
const POOL = Array.from({ length: 24 }, (_, i) => ({ image: picture(i, "image"), mask: picture(i, "mask") }));

function plan(session, study) {
  const { info: about, blocks, frames } = STUDIES[study];
  let idx = 0;
  return blocks.flatMap(([n, is_practice, beep_ms], block) =>
    Array.from({ length: n }, (_, i) => {
      const isFlash = about.task === "flash";
      const { image, mask } = POOL[idx % POOL.length];
      const exposure_ms = isFlash ? about.exposures_ms[i % about.exposures_ms.length] : null;
      const options = about.task === "pairs" ? ["left", "right", ...(about.ties ? ["tie"] : [])] : shuffled(about.labels.length === 0 ? LABELS : about.labels);
      return {
        block, is_practice, beep_ms, state: "planned", reports: 0, begunIn: new Set(), wantedFrames: frames?.[i % frames.length],
        planned: {
          trial: `${session}-${idx}`, idx: idx++, image, mask: isFlash ? mask : null, right: about.task === "pairs" ? POOL[(idx + 7) % POOL.length].image : null,
          exposure_ms, frames: null, options, recognise_as: about.task === "pairs" ? "mug" : null,
        },
      };
    }),
  );
}

function shuffled(list) {
  const copy = [...list];
  for (let i = copy.length - 1; 0 < i; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [copy[i], copy[j]] = [copy[j], copy[i]];
  }
  return copy;
}

/** Starts the stand-in. `control` may be changed while it runs: `down` cuts every connection,
 * `lose` and `repeat` are shares of requests that get no answer. */
export async function start(port = 0) {
  const sessions = new Map();
  const byToken = new Map();
  const byRecruiter = new Map();
  const problems = [];
  const control = { down: false, loseAnswers: 0, nRequests: 0, hosts: new Set() };
  const server = createServer((request, response) => {
    control.nRequests++;
    control.hosts.add(request.headers.host);
    if (control.down) return void request.socket.destroy();
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const answer = handle(request.method, new URL(request.url, "http://x"), Buffer.concat(parts), request.headers);
      const isLost = request.method === "POST" && Math.random() < control.loseAnswers;
      if (isLost) return void request.socket.destroy();
      response.writeHead(answer.status, {
        "content-type": answer.type ?? "application/json", "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp",
        // The page of a recruiter that frames ours has its own policy.
        ...(request.url.startsWith("/frame/") ? {} : { "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *" }),
        "x-content-type-options": "nosniff", "cache-control": answer.cache ?? "no-store",
      });
      response.end(answer.body);
    });
  });

  const json = (value, status = 200) => ({ status, body: JSON.stringify(value) });
  const failure = (status, code, message = code) => json({ error: { code, message } }, status);

  function handle(method, url, body, headers) {
    const path = url.pathname.split("/").slice(1);
    if (path[0] === "s") {
      const study = STUDIES[path[1]];
      // As the real server makes them.
      const bare = (language, body) => `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Not found</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/assets/page.css"></head><body>${body}</body></html>`;
      if (study === undefined) return { status: 404, type: "text/html; charset=utf-8", body: bare("en", '<main class="page"><h1>There is no such study</h1><p>Please check the link.</p></main>') };
      const { task, language, title } = study.info;
      const html = `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/assets/page.css"><script type="module" src="/assets/${task}.js"></script></head><body data-study="${path[1]}"><main id="page"></main><noscript><div class="page"><h1>${title}</h1><p>Please allow JavaScript on this page: the study needs it.</p></div></noscript></body></html>`;
      return { status: 200, type: "text/html; charset=utf-8", body: html };
    }
    if (path[0] === "frame") return { status: 200, type: "text/html", body: `<!doctype html><html lang="en"><title>f</title><iframe src="/s/${path[1]}" width="800" height="500"></iframe></html>` };
    if (path[0] === "assets" && /^[a-z]+\.(js|css)$/.test(path[1] ?? "")) {
      return { status: 200, type: path[1].endsWith("js") ? "text/javascript" : "text/css", body: readFileSync(`${DIST}/${path[1]}`) };
    }
    if (path[0] === "media") {
      const bytes = media.get(path[1].replace(".png", ""));
      return bytes === undefined ? failure(404, "not_found") : { status: 200, type: "image/png", body: bytes, cache: "public, max-age=31536000, immutable" };
    }
    if (path[0] !== "api" || method !== "POST") return failure(404, "not_found");
    const text = body.toString("utf8");
    if (65536 < body.length) return failure(413, "too_large");
    let asked;
    try {
      asked = JSON.parse(text);
    } catch {
      return failure(400, "request_bad");
    }
    if (path[1] === "studies" && path[3] === "join") return join(path[2], asked);
    if (path[1] === "studies" && path[3] === "welcome") return welcome(path[2], asked);
    const session = sessions.get(path[2]);
    const token = (headers.authorization ?? "").replace("Bearer ", "");
    const epoch = byToken.get(token);
    if (epoch === undefined) return failure(401, "token_bad");
    if (session === undefined || epoch.session !== path[2]) return failure(403, "token_foreign");
    if (session.state === "withdrawn") return failure(410, "session_withdrawn");
    return { block: () => nextBlock(session, asked), events: () => events(session, epoch, asked), end: () => end(session, epoch, asked), withdraw: () => withdraw(session) }[path[3]]?.() ?? failure(404, "not_found");
  }

  function knownSession(study, asked) {
    const recruited = asked.recruiter_id === null ? undefined : byRecruiter.get(`${study}/${asked.recruiter}/${asked.recruiter_id}`);
    const id = byToken.get(asked.resume)?.session ?? recruited;
    return id === undefined || sessions.get(id).state === "withdrawn" ? undefined : id;
  }

  /** A session that has ended is there for the browser that has a token of it. */
  function isOver(study, asked) {
    const id = knownSession(study, asked);
    return id !== undefined && sessions.get(id).state === "ended" && byToken.get(asked.resume)?.session !== id;
  }

  function welcome(study, asked) {
    if (STUDIES[study] === undefined) return failure(404, "study_unknown");
    if (isOver(study, asked)) return failure(403, "session_over");
    return json({ is_known: knownSession(study, asked) !== undefined, study: { ...STUDIES[study].info, preview: asked.preview !== null } });
  }

  function join(study, asked) {
    if (STUDIES[study] === undefined) return failure(404, "study_unknown");
    if (isOver(study, asked)) return failure(403, "session_over");
    let id = knownSession(study, asked);
    if (id === undefined) {
      id = `s${randomBytes(6).toString("hex")}`;
      sessions.set(id, { id, study, epochs: [], trials: plan(id, study), pages: [], calibration: null, state: "open", ending: null, code: null, browser: asked.browser });
      if (asked.recruiter_id !== null) byRecruiter.set(`${study}/${asked.recruiter}/${asked.recruiter_id}`, id);
    }
    const session = sessions.get(id);
    const epoch = { session: id, epoch: session.epochs.length + 1, token: randomBytes(16).toString("hex"), events: new Map(), nDuplicates: 0 };
    session.epochs.push(epoch);
    byToken.set(epoch.token, epoch);
    const counted = session.trials.filter((trial) => !trial.is_practice);
    return json({
      session: id, epoch: epoch.epoch, token: epoch.token, state: session.state, pages_done: session.pages, calibration: session.calibration,
      n_done: counted.filter(({ state }) => state === "done" || state === "void").length, n_total: counted.length,
      ending: session.ending, code: session.code, completion_url: urlOf(session), study: { ...STUDIES[study].info, preview: asked.preview !== null },
    });
  }

  const urlOf = ({ code }) => (code === null ? null : `https://example.org/done?cc=${code}`);

  function nextBlock(session, { screen }) {
    if (STUDIES[session.study].isUnfit) return failure(409, "screen_unfit");
    const counted = session.trials.filter((trial) => !trial.is_practice);
    const n_done = counted.filter(({ state }) => state === "done" || state === "void").length;
    const left = session.trials.filter(({ state }) => state === "planned");
    if (left.length === 0) return json({ block: null, n_done, n_total: counted.length });
    const first = left[0];
    const trials = left.filter(({ block }) => block === first.block);
    for (const trial of trials) {
      const { planned } = trial;
      if (planned.exposure_ms !== null) planned.frames = trial.wantedFrames ?? Math.max(1, Math.round(planned.exposure_ms / screen.period_ms));
    }
    session.screen = screen;
    return json({ block: { block: first.block, is_practice: first.is_practice, beep_ms: first.beep_ms, trials: trials.map(({ planned }) => planned), signature: "0" }, n_done, n_total: counted.length });
  }

  function events(session, epoch, batch) {
    for (const event of batch.events) {
      const known = epoch.events.get(event.seq);
      if (known !== undefined) {
        epoch.nDuplicates++;
        if (known.hash !== event.hash) return failure(409, "event_conflict");
        continue;
      }
      epoch.events.set(event.seq, event);
      apply(session, epoch, JSON.parse(event.body));
    }
    let through = 0;
    let previous = sha(`${session.id}/${epoch.epoch}`);
    while (epoch.events.has(through + 1)) {
      const event = epoch.events.get(++through);
      if (event.hash !== sha(previous + event.body)) problems.push(`${session.id}: event ${event.seq} is not chained`);
      previous = event.hash;
    }
    return json({ acked_through: through, also_stored: [...epoch.events.keys()].filter((seq) => through < seq), is_elsewhere: epoch.epoch < session.epochs.length });
  }

  function apply(session, epoch, what) {
    const of = (id) => {
      const trial = session.trials.find(({ planned }) => planned.trial === id);
      if (trial === undefined) problems.push(`${session.id}: trial ${id} was never planned`);
      return trial;
    };
    if (what.kind === "page") session.pages.push(what.page);
    if (what.kind === "calibration") session.calibration = what.calibration;
    if (what.kind === "trial_start") {
      const trial = of(what.trial);
      if (trial.begunIn.has(epoch.epoch)) problems.push(`${session.id}: ${what.trial} was begun twice`);
      trial.begunIn.add(epoch.epoch);
      if (trial.state === "planned") trial.state = "begun";
      // Two devices, one of them offline: the picture was seen twice.
      if (1 < trial.begunIn.size) trial.state = "void";
    }
    if (what.kind === "abandoned") of(what.trial).state = "void";
    if (what.kind === "trial") {
      const trial = of(what.report.trial);
      if (0 < trial.reports++) problems.push(`${session.id}: ${what.report.trial} was reported twice`);
      if (what.report.response !== null && !trial.planned.options.includes(what.report.response)) problems.push(`${what.report.trial}: answer not on offer`);
      if (what.report.handled_ms !== null && what.report.handled_ms < what.report.onset_ms) problems.push(`${what.report.trial}: answered before it was shown`);
      if (1 < trial.begunIn.size) return;
      trial.state = "done";
      trial.report = what.report;
    }
  }

  function end(session, epoch, { last_seq, is_early }) {
    const missing = Array.from({ length: last_seq }, (_, i) => i + 1).filter((seq) => !epoch.events.has(seq));
    const n_trials_left = session.trials.filter(({ state }) => state === "planned").length;
    const isOver = missing.length === 0 && (is_early || n_trials_left === 0);
    if (isOver && session.state === "open") {
      session.state = "ended";
      session.isEarly = is_early;
      // Whoever goes on has left a trial that was begun elsewhere behind; whoever stops in one has not done it.
      const isBroken = is_early && session.trials.some(({ state }) => state === "begun");
      const hasAnswer = session.trials.some(({ report }) => report !== undefined);
      session.ending = session.trials.length === 0 ? "nothing_left" : n_trials_left === 0 && hasAnswer && !isBroken ? "complete" : "early";
      // Who stopped early, or had nothing to do, gets none.
      if (session.ending === "complete") session.code = `C${randomBytes(4).toString("hex").toUpperCase()}`;
    }
    return json({ is_complete: isOver, missing, n_trials_left, ending: isOver ? session.ending : null, code: isOver ? session.code : null, completion_url: isOver ? urlOf(session) : null });
  }

  function withdraw(session) {
    session.state = "withdrawn";
    session.trials = [];
    for (const epoch of session.epochs) epoch.events.clear();
    return json({ is_deleted: true });
  }

  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { url: `http://localhost:${server.address().port}`, sessions, problems, control, close: () => (server.closeAllConnections(), server.close()) };
}

if (import.meta.filename === process.argv[1]) {
  const { url } = await start(Number(process.env["PORT"] ?? 8090));
  console.log(Object.keys(STUDIES).map((study) => `${url}/s/${study}`).join("\n"));
}
