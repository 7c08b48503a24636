// The parts without a browser: hashes, chains, frame tables, verdicts, estimates, gates.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { feedbackFor, Gate } from "../src/adherence";
import { distanceFrom, pxPerMm, sidePx, wholeSidePx, type Sweep } from "../src/calibration";
import { firstBroken, newChain, seal } from "../src/chain";
import { AFTER, CROSS, DONE, frameTable, IMAGE, MASK, Player } from "../src/frames";
import { wholeParts } from "../src/dom";
import { columnsFor, columnsThatFit, jumpTo, moveIn } from "../src/grid";
import { batch, retryDelay } from "../src/outbox";
import { canShowAny, estimateRefresh, isThrottled } from "../src/refresh";
import { sha256 } from "../src/sha256";
import { toAudio, toPage } from "../src/sound";
import { arrivalFrom, browserFrom, safeUrl, systemFrom } from "../src/surroundings";
import { judge, type Evidence } from "../src/verdict";

describe("sha256", () => {
  test("agrees with the standard's examples", () => {
    expect(sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")).toBe("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  });

  test("agrees with another implementation at every length around the block borders", () => {
    for (let n = 0; n < 200; n++) {
      const bytes = Uint8Array.from({ length: n }, (_, i) => (i * 31 + n) & 255);
      expect(sha256(bytes)).toBe(createHash("sha256").update(bytes).digest("hex"));
    }
    const offset = Uint8Array.from({ length: 300 }, (_, i) => i & 255).subarray(7, 250);
    expect(sha256(offset)).toBe(createHash("sha256").update(offset).digest("hex"));
    expect(sha256("größer 😀")).toBe(createHash("sha256").update("größer 😀").digest("hex"));
  });
});

describe("chain", () => {
  test("each event is sealed with the one before, from the hash of SESSION/EPOCH", () => {
    const chain = newChain("o", "s1", 2, "t");
    const first = seal(chain, { kind: "context", at_ms: 1, change: "blur" });
    const second = seal(chain, { kind: "context", at_ms: 2, change: "focus" });
    const hash = (text: string) => createHash("sha256").update(text).digest("hex");
    expect(first).toEqual({ seq: 1, body: '{"kind":"context","at_ms":1,"change":"blur"}', hash: hash(hash("s1/2") + first.body) });
    expect(second.hash).toBe(hash(first.hash + second.body));
    expect(firstBroken("s1/2", [first, second])).toBeNull();
    expect(firstBroken("s1/2", [first, { ...second, body: second.body.replace("focus", "hidden") }])).toBe(2);
    expect(firstBroken("s1/2", [second])).toBe(2);
  });

  test("knows the trial that is open", () => {
    const chain = newChain("o", "s", 1, "t");
    seal(chain, { kind: "trial_start", at_ms: 1, trial: "a" });
    expect(chain.open_trial).toBe("a");
    seal(chain, { kind: "abandoned", at_ms: 1, trial: "a", reason: "reload" });
    expect(chain.open_trial).toBeNull();
  });
});

/** Walks a player through frames at these gaps, then evenly until it is done. */
function played(planned: number, period: number, gapAt: (frame: number, phase: number) => number, drawn_ms = 2, lagAt: (frame: number, phase: number) => number = () => 1, quiet_ms = 0) {
  const player = new Player(period, quiet_ms);
  let t = 1000;
  player.step(t, t + lagAt(0, 0));
  player.step((t += period), t + lagAt(0, 0));
  player.begin(frameTable(500, planned, 500, period));
  const phases: number[] = [];
  for (let frame = 0; player.phase !== DONE && frame < 3000; frame++) {
    t += gapAt(frame, player.phase);
    phases.push(player.step(t, t + lagAt(frame, player.phase)));
    if (phases.at(-1) !== phases.at(-2)) player.drawn(t + drawn_ms);
  }
  const result = judge({
    frames_planned: planned, period_ms: period, onset_ms: player.onset, offset_ms: player.offset, was_undisturbed: true,
    flash: {
      version: 1, n_callbacks: player.imageCallbacks, shortest_gap_ms: player.shortestShown, longest_gap_ms: player.longestShown, calm_frames: player.calmFrames,
      since_late_ms: Number.isFinite(player.sinceLate) ? player.sinceLate : null, lags_ms: [player.lags[1]!, player.lags[2]!],
      presented_ms: quiet_ms === 0 ? [player.onset + 5, player.offset + 5] : [],
    },
  });
  return { player, phases, result };
}

describe("frames", () => {
  test("times become whole frames", () => {
    expect(frameTable(500, 3, 500, 1000 / 60)).toEqual({ cross: 30, image: 3, mask: 30 });
    expect(frameTable(500, 7, 500, 1000 / 144)).toEqual({ cross: 72, image: 7, mask: 72 });
    expect(frameTable(0, 0, 1, 10)).toEqual({ cross: 1, image: 1, mask: 1 });
  });

  for (const hz of [59.94, 60, 75, 120, 144, 240]) {
    for (const planned of [1, 3, 6, 9, 15, 600]) {
      test(`${planned} frames at ${hz} Hz are ${planned} frames, in order`, () => {
        const { phases, player, result } = played(planned, 1000 / hz, () => 1000 / hz);
        expect(phases.filter((phase) => phase === IMAGE).length).toBe(planned);
        expect([...new Set(phases)]).toEqual([CROSS, IMAGE, MASK, AFTER, DONE]);
        expect(result).toEqual({ verdict: "ok", frames_shown: planned });
        expect(Array.from(player.stamps).every((stamp) => 0 < stamp)).toBe(true);
      });
    }
  }

  test("an error of the period does not add up over ten seconds", () => {
    const { phases } = played(600, 1000 / 60, () => 1000 / 59.94);
    expect(phases.filter((phase) => phase === IMAGE).length).toBe(600);
  });

  test("stamps are two frames before and two from each change on", () => {
    const { player } = played(3, 10, () => 10);
    const onset = player.onset;
    expect(Array.from(player.stamps.slice(4, 8))).toEqual([onset - 20, onset - 10, onset, onset + 10]);
    expect(Array.from(player.stamps.slice(8, 12))).toEqual([onset + 10, onset + 20, onset + 30, onset + 40]);
  });

  test("a late frame before the image postpones it and does no harm", () => {
    const { phases, result, player } = played(3, 10, (frame) => (frame === 48 ? 45 : 10));
    expect(result).toEqual({ verdict: "ok", frames_shown: 3 });
    expect(player.longestGap).toBe(45);
    expect(phases.indexOf(IMAGE)).toBeGreaterThan(48 + 5);
  });

  test("after many late frames the image waits until they are a while ago", () => {
    const { phases, result } = played(3, 10, (frame) => (39 < frame && frame < 46 ? 20 : 10));
    expect(result.verdict).toBe("ok");
    expect(phases.indexOf(IMAGE)).toBeGreaterThan(80);
  });

  test("where the browser does not say what it presents, the image waits for a quiet while", () => {
    const once = played(3, 10, (frame) => (frame === 48 ? 25 : 10), 2, () => 1, 1_500);
    expect(once.result.verdict).toBe("ok");
    expect(once.player.sinceLate).toBeGreaterThanOrEqual(1_500);
    const often = played(3, 10, (frame, phase) => (phase === CROSS && frame % 40 === 20 ? 25 : 10), 2, () => 1, 1_500);
    expect(often.result.verdict).toBe("unknown");
  });

  test("a screen that never calms down shows the image at last, and the verdict knows", () => {
    const { result } = played(3, 10, (frame, phase) => (phase === CROSS && frame % 2 === 0 ? 20 : 10));
    expect(result.verdict).toBe("unknown");
  });

  test("a late frame at the change to the mask makes it long, and the mask is still shown", () => {
    let n = 0;
    const { phases, result } = played(3, 10, (_, phase) => (phase === IMAGE && ++n === 3 ? 20 : 10));
    expect(result).toEqual({ verdict: "long", frames_shown: 4 });
    expect(phases.filter((phase) => phase === MASK).length).toBe(50);
  });

  test("a missed frame inside a short image is dropped; inside ten seconds it does not matter", () => {
    let n = 0;
    const middle = (planned: number) => played(planned, 10, (_, phase) => (phase === IMAGE && ++n === 2 ? 20 : 10)).result;
    expect(middle(6)).toEqual({ verdict: "dropped", frames_shown: 6 });
    n = 0;
    expect(middle(600).verdict).toBe("ok");
  });

  test("a late frame right after the change to the mask is not believed", () => {
    let isFirst = true;
    const { result } = played(3, 10, (_, phase) => {
      if (phase !== MASK || !isFirst) return 10;
      isFirst = false;
      return 30;
    });
    expect(result.verdict).toBe("dropped");
  });

  test("what was drawn too late for its refresh is unknown", () => {
    expect(played(3, 10, () => 10, 9).result.verdict).toBe("unknown");
  });

  test("a page that is blocked right after drawing image or mask is not believed", () => {
    for (const blocked of [IMAGE, MASK]) {
      let isFirst = true;
      const lagAt = (_: number, phase: number) => {
        if (phase !== blocked || !isFirst) return 1;
        isFirst = false;
        return 7;
      };
      expect(played(3, 10, () => 10, 2, lagAt).result.verdict).toBe("unknown");
    }
  });

  test("callbacks that begin late before the image postpone it; stamps that are always old do not", () => {
    const late = played(3, 10, () => 10, 2, (frame) => (frame === 49 ? 8 : 1));
    expect(late.result.verdict).toBe("ok");
    expect(late.phases.indexOf(IMAGE)).toBeGreaterThan(50);
    expect(played(3, 10, () => 10, 17, () => 16).result.verdict).toBe("ok");
  });
});

describe("verdict", () => {
  const fine: Evidence = {
    frames_planned: 3, period_ms: 10, onset_ms: 1000, offset_ms: 1030, was_undisturbed: true,
    flash: { version: 1, n_callbacks: 3, shortest_gap_ms: 9.9, longest_gap_ms: 10.1, calm_frames: 30, since_late_ms: null, lags_ms: [1, 1], presented_ms: [1006, 1036] },
  };
  // Those of report.rs, where the server judges by the same rules, in periods of 10 ms.
  const rows: [string, Partial<Evidence>, Partial<Evidence["flash"]>, string, number][] = [
    ["as planned", {}, {}, "ok", 3],
    ["one frame more", { offset_ms: 1040 }, {}, "long", 4],
    ["one frame less", { offset_ms: 1020 }, {}, "short", 2],
    ["none at all", { offset_ms: 1002 }, {}, "dropped", 0],
    ["fewer callbacks than frames", {}, { n_callbacks: 2 }, "dropped", 3],
    ["uneven", {}, { longest_gap_ms: 20 }, "dropped", 3],
    ["uneven before", {}, { calm_frames: 5 }, "unknown", 3],
    ["late drawing", {}, { lags_ms: [9, 1] }, "unknown", 3],
    ["late mask", {}, { lags_ms: [1, 12] }, "unknown", 3],
    ["disturbed", { was_undisturbed: false }, {}, "unknown", 3],
    ["no stamps", { onset_ms: NaN }, {}, "unknown", 0],
    ["backwards", { offset_ms: 900 }, {}, "unknown", 0],
    ["presented a frame longer", {}, { presented_ms: [1006, 1046] }, "long", 3],
    ["presented a frame shorter", {}, { presented_ms: [1016, 1036] }, "short", 3],
    ["both presented at once", {}, { presented_ms: [1035, 1036] }, "dropped", 3],
    ["presented at fixed times, two refreshes later", {}, { presented_ms: [1020.1, 1049.9] }, "ok", 3],
    ["presented across the border of a refresh", {}, { presented_ms: [1007, 1040.3] }, "unknown", 3],
    ["the browser did not tell this time", {}, { presented_ms: [1006, null] }, "unknown", 3],
    ["presented before it was drawn", {}, { presented_ms: [999, 1036] }, "unknown", 3],
    ["a browser that never tells", {}, { presented_ms: [] }, "ok", 3],
    ["a browser that never tells, and a late frame before", {}, { presented_ms: [], since_late_ms: 1400 }, "unknown", 3],
    ["a late frame before, and a browser that tells", {}, { since_late_ms: 200 }, "ok", 3],
    ["ten seconds, off by a hundredth", { frames_planned: 600, offset_ms: 1000 + 6040 }, { n_callbacks: 598, presented_ms: [1006, 7046] }, "ok", 604],
    ["ten seconds, off by more", { frames_planned: 600, offset_ms: 1000 + 6080 }, { n_callbacks: 600 }, "long", 608],
  ];
  for (const [name, change, noted, verdict, frames_shown] of rows) {
    test(name, () => expect(judge({ ...fine, ...change, flash: { ...fine.flash, ...noted } })).toEqual({ verdict, frames_shown }));
  }
});

describe("refresh", () => {
  const stamps = (hz: number, n: number, jitter: (i: number) => number, grain = 0) =>
    Array.from({ length: n }, (_, i) => 500 + (i * 1000) / hz + jitter(i)).map((t) => (grain === 0 ? t : Math.round(t / grain) * grain));

  for (const hz of [30, 59.94, 60, 75, 120, 144, 165, 240]) {
    test(`${hz} Hz is found to a tenth, with a clock of 0.1 ms and with one of 1 ms`, () => {
      for (const grain of [0, 0.1, 1]) {
        const found = estimateRefresh(stamps(hz, Math.ceil(hz * 2), () => 0, grain))!;
        expect(Math.abs(1000 / found.period_ms - hz)).toBeLessThan(0.1);
      }
    });
  }

  test("five in a hundred long frames change nothing but the share", () => {
    const even = stamps(60, 121, () => 0);
    const found = estimateRefresh(even.filter((_, i) => i % 20 !== 7))!;
    expect(Math.abs(1000 / found.period_ms - 60)).toBeLessThan(0.01);
    expect(found.share_late).toBeGreaterThan(0.04);
    expect(found.share_late).toBeLessThan(0.07);
    expect(found.period_mad_ms).toBeLessThan(0.001);
  });

  test("too few frames are no measurement; half the frames are power saving", () => {
    expect(estimateRefresh(stamps(60, 10, () => 0))).toBeNull();
    expect(isThrottled(estimateRefresh(stamps(30, 70, () => 0))!)).toBe(true);
    expect(isThrottled(estimateRefresh(stamps(60, 70, () => 0))!)).toBe(false);
  });
});

describe("exposures of a screen", () => {
  // Those of allocate.rs: [exposures, Hz, tolerance, whether one can be shown].
  const rows: [number[], number, number, boolean][] = [
    [[17, 50], 60, 0.1, true],
    [[5], 60, 0.1, false],
    [[5, 25], 60, 0.1, false],
    [[25], 60, 0.35, true],
    [[25], 120, 0.1, true],
    [[17], 1000 / 17, 0, true],
    [[], 60, 0, true],
  ];
  for (const [exposures, hz, tolerance, can] of rows) {
    test(`${exposures.join(", ")} ms at ${Math.round(hz)} Hz within ${tolerance}: ${can}`, () => expect(canShowAny(exposures, 1000 / hz, tolerance)).toBe(can));
  }
});

describe("calibration", () => {
  test("a card of 324 pixels and a blind spot at 12 cm", () => {
    const px = pxPerMm(324);
    expect(px).toBeCloseTo(3.785, 3);
    const sweeps: Sweep[] = [125, 126, 124].flatMap((mm) => [
      { direction: "out", at_px: mm * px },
      { direction: "in", at_px: (mm - 10) * px },
    ]);
    const found = distanceFrom(sweeps, px)!;
    // 120 / tan 13.5° = 499.8
    expect(found.distance_mm).toBeCloseTo(499.8, 0);
    expect(found.spread).toBeCloseTo(1.4826 / 120, 4);
    expect(sidePx(8, 570, px)).toBeCloseTo(2 * 570 * Math.tan((4 * Math.PI) / 180) * px, 9);
  });

  test("reaction time cancels, whatever it is", () => {
    for (const rt_mm of [0, 5, 9]) {
      const found = distanceFrom([{ direction: "out", at_px: 120 + rt_mm }, { direction: "in", at_px: 120 - rt_mm }], 1)!;
      expect(found.distance_mm).toBeCloseTo(120 / Math.tan((13.5 * Math.PI) / 180), 9);
      expect(found.spread).toBe(0);
    }
  });

  test("sweeps of one way only say nothing; sizes are whole device pixels and fit", () => {
    expect(distanceFrom([{ direction: "out", at_px: 10 }], 1)).toBeNull();
    expect(wholeSidePx(300.4, 800, 1.5) * 1.5).toBeCloseTo(451, 9);
    expect(wholeSidePx(900, 800, 1)).toBe(800);
  });
});

describe("gate of the beep", () => {
  test("an answer is early, ok or late; none is late", () => {
    expect([399, 400, 600, 601, null].map((at) => feedbackFor(at, 500, 100))).toEqual(["early", "ok", "ok", "late", "late"]);
  });

  const run = (gate: Gate, in_time: boolean[]) => in_time.map((ok) => gate.note(ok ? "ok" : "late"));
  const rules = { gate_trials: 3, gate_share: 0.5, gate: "stop" };

  test("who keeps to the beep is let through for good", () => {
    expect(run(new Gate(rules, false), [true, true, false, false, false, false, false])).toEqual(Array(7).fill("go"));
  });

  test("who does not is warned, and stopped if that does not help", () => {
    const gate = new Gate(rules, false);
    expect(run(gate, [false, false, true])).toEqual(["go", "go", "warn"]);
    expect(gate.share).toBeCloseTo(1 / 3);
    gate.again();
    expect(run(gate, [false, false, false, false])).toEqual(["go", "go", "stop", "go"]);
  });

  test("warn only warns; zero never looks; a warning before a reload counts", () => {
    const gate = new Gate({ ...rules, gate: "warn" }, false);
    expect(run(gate, [false, false, false])).toEqual(["go", "go", "warn"]);
    gate.again();
    expect(run(gate, [false, false, false])).toEqual(["go", "go", "go"]);
    expect(run(new Gate({ ...rules, gate_trials: 0 }, false), [false, false, false, false])).toEqual(Array(4).fill("go"));
    expect(run(new Gate(rules, true), [false, false, false])).toEqual(["go", "go", "stop"]);
  });
});

describe("the rest", () => {
  test("letters jump to what begins with them, then to what has them within", () => {
    const options = ["mug", "bread loaf", "bench", "lamp"];
    expect(jumpTo(options, "b", 0)).toBe(1);
    expect(jumpTo(options, "be", 0)).toBe(2);
    expect(jumpTo(options, "b", 2)).toBe(2);
    expect(jumpTo(options, "lo", 0)).toBe(1);
    expect(jumpTo(options, "x", 0)).toBeNull();
  });

  test("arrow keys stay in the grid", () => {
    expect(moveIn(10, 4, 0, "ArrowLeft")).toBe(0);
    expect(moveIn(10, 4, 3, "ArrowDown")).toBe(7);
    expect(moveIn(10, 4, 7, "ArrowDown")).toBe(7);
    expect(moveIn(10, 4, 7, "ArrowUp")).toBe(3);
    expect(moveIn(10, 4, 7, "End")).toBe(9);
  });

  test("columns leave few holes", () => {
    expect([[50, 9], [50, 8], [16, 9], [16, 3], [3, 9], [7, 4], [25, 2], [2, 0]].map(([n, most]) => columnsFor(n!, most!))).toEqual([5, 5, 8, 2, 3, 4, 2, 1]);
  });

  test("columns count the gaps between them", () => {
    expect([[356, 113, 8], [356, 112, 8], [356, 174, 8], [100, 300, 8]].map(([w, column, gap]) => columnsThatFit(w!, column!, gap!))).toEqual([3, 3, 2, 1]);
  });

  test("names break after underscores and hyphens, and lose nothing", () => {
    expect(wholeParts("german_shorthaired")).toEqual(["german_", "shorthaired"]);
    expect(wholeParts("__a--b_c d")).toEqual(["__", "a--", "b_", "c d"]);
    for (const name of ["", "mug", "_", "T-shirt", "a__b", "größe_ß"]) expect(wholeParts(name).join("")).toBe(name);
  });

  test("waits double up to the most, with jitter", () => {
    expect([1, 2, 3, 7, 50].map((n) => retryDelay(n, 1))).toEqual([500, 1000, 2000, 30_000, 30_000]);
    expect(retryDelay(1, 0)).toBe(250);
  });

  test("a batch fits into what browsers send from a page that is left, and is never empty", () => {
    const event = (seq: number, n: number) => ({ seq, body: '"'.repeat(n), hash: "0".repeat(64) });
    const queue = Array.from({ length: 100 }, (_, i) => event(i, 1000));
    const taken = batch(queue, 60_000);
    expect(JSON.stringify({ events: taken }).length).toBeLessThanOrEqual(60_000);
    expect(taken.length).toBeGreaterThan(20);
    expect(batch([event(1, 100_000), event(2, 1)], 60_000).length).toBe(1);
    const wide = batch(Array.from({ length: 200 }, (_, i) => ({ seq: i, body: "ü€".repeat(300), hash: "" })), 60_000);
    expect(new TextEncoder().encode(JSON.stringify({ events: wide })).length).toBeLessThanOrEqual(60_000);
  });

  test("both clocks agree there and back", () => {
    const pair = { contextTime: 2, performanceTime: 5000 };
    expect(toAudio(5500, pair)).toBe(2.5);
    expect(toPage(2.5, pair)).toBe(5500);
  });

  test("recruiters are told apart", () => {
    expect(arrivalFrom("?PROLIFIC_PID=a&STUDY_ID=b&SESSION_ID=c")).toEqual({ kind: "participant", recruiter: "prolific", recruiter_id: "a", preview: null });
    expect(arrivalFrom("?workerId=w&assignmentId=x&hitId=h")).toMatchObject({ recruiter: "mturk", recruiter_id: "w" });
    expect(arrivalFrom("?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h")).toEqual({ kind: "unaccepted" });
    expect(arrivalFrom("?participant=p1")).toMatchObject({ recruiter: "link", recruiter_id: "p1" });
    expect(arrivalFrom("?PROLIFIC_PID=")).toMatchObject({ recruiter: "prolific", recruiter_id: "" });
    expect(arrivalFrom("?PROLIFIC_PID=&participant=p1")).toMatchObject({ recruiter: "link", recruiter_id: "p1" });
    expect(arrivalFrom("?other=1")).toMatchObject({ recruiter: null, recruiter_id: null });
    expect(arrivalFrom("?preview=tok")).toEqual({ kind: "participant", recruiter: null, recruiter_id: null, preview: "tok" });
  });

  test("browsers and systems are named shortly", () => {
    const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 Edg/120.0";
    const safari = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.2 Safari/605.1.15";
    const iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/120.0 Mobile/15E148 Safari/604.1";
    expect([chrome, safari, iphone].map(browserFrom)).toEqual(["chromium 120", "safari 17", "safari 17"]);
    expect([chrome, safari, iphone].map(systemFrom)).toEqual(["windows", "macos", "ios"]);
    expect(browserFrom("Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0")).toBe("firefox 121");
  });

  test("people are sent to web pages only", () => {
    expect(safeUrl("https://app.prolific.com/submissions/complete?cc=C1")).toBe("https://app.prolific.com/submissions/complete?cc=C1");
    expect(safeUrl("javascript:alert(1)")).toBeNull();
    expect(safeUrl("data:text/html,x")).toBeNull();
    expect(safeUrl("nonsense")).toBeNull();
    expect(safeUrl(null)).toBeNull();
  });
});
