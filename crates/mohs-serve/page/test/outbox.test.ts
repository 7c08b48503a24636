// The outbox against a small server of its own and a fake IndexedDB: reloads, losses, duplicates,
// answers out of order.
import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { describe, expect, test } from "vitest";
import { ApiError } from "../src/api";
import { firstBroken, type Chain } from "../src/chain";
import { Outbox, type Post } from "../src/outbox";
import { MemoryStore, openStore, type Store } from "../src/store";
import type { Ack, Event, EventBody, TrialReport } from "../src/wire";

const FAST = { first_ms: 1, most_ms: 4 };
const note = (i: number): EventBody => ({ kind: "context", at_ms: i, change: "blur" });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Keeps events by chain; acks what it has. */
class Server {
  readonly stored = new Map<string, Map<number, Event>>();
  readonly tokens = new Set<string>();
  nRequests = 0;
  nDuplicates = 0;
  isElsewhere = false;

  store(chain: Chain, events: readonly Event[]): Ack {
    const of = this.stored.get(chain.key) ?? new Map<number, Event>();
    this.stored.set(chain.key, of);
    this.tokens.add(`${chain.key} ${chain.token}`);
    for (const event of events) {
      if (of.has(event.seq)) this.nDuplicates++;
      of.set(event.seq, event);
    }
    return this.ack(chain.key);
  }

  ack(key: string): Ack {
    const of = this.stored.get(key) ?? new Map();
    let acked_through = 0;
    while (of.has(acked_through + 1)) acked_through++;
    return { acked_through, also_stored: [...of.keys()].filter((seq) => acked_through < seq), is_elsewhere: this.isElsewhere };
  }

  post: Post = async (chain, events) => {
    this.nRequests++;
    return this.store(chain, events);
  };

  bodies(key: string): string[] {
    return [...(this.stored.get(key)?.values() ?? [])].sort((a, b) => a.seq - b.seq).map(({ body }) => body);
  }
}

const offline: Post = async () => {
  throw new ApiError("offline", "", 0);
};

async function opened(store: Store, post: Post): Promise<Outbox> {
  const outbox = new Outbox(store, post, FAST, 5);
  await outbox.open("o");
  return outbox;
}

describe("outbox", () => {
  test("leaves alone what another owner's tab may be at work on", async () => {
    const factory = new IDBFactory();
    const server = new Server();
    const other = new Outbox(await openStore(factory), offline, FAST, 5);
    await other.open("other");
    await other.begin("other", "s9", 1, "t9", 0);
    await other.append({ kind: "context", at_ms: 0, change: "blur" });
    const mine = await opened(await openStore(factory), server.post);
    expect(mine.nUnsaved).toBe(0);
    await mine.begin("o", "s", 1, "t1", 0);
    await mine.append({ kind: "context", at_ms: 0, change: "blur" });
    await mine.drained();
    const found = new Outbox(await openStore(factory), offline, FAST, 5);
    await found.open("other");
    expect(found.nUnsaved).toBe(1);
    for (const each of [other, mine, found]) each.stop();
  });

  test("what was appended arrives once, in an unbroken chain", async () => {
    const server = new Server();
    const outbox = await opened(await openStore(new IDBFactory()), server.post);
    await outbox.begin("o", "s", 1, "t1", 0);
    for (let i = 0; i < 50; i++) await outbox.append(note(i));
    await outbox.drained();
    expect(server.bodies("s/1").length).toBe(50);
    expect(firstBroken("s/1", [...server.stored.get("s/1")!.values()])).toBeNull();
    expect(outbox.nUnsaved).toBe(0);
    expect(outbox.lastSeq).toBe(50);
  });

  test("the end of a trial and the beginning of the next go in one request", async () => {
    const server = new Server();
    const batches: string[][] = [];
    const post: Post = async (chain, events) => {
      batches.push(events.map(({ body }) => (JSON.parse(body) as EventBody).kind));
      return server.store(chain, events);
    };
    const outbox = new Outbox(await openStore(new IDBFactory()), post, FAST, 60);
    await outbox.begin("o", "s", 1, "t", 0);
    for (const trial of ["a", "b"]) {
      await outbox.append({ kind: "trial_start", at_ms: 1, trial });
      // What waits for company goes before a stimulus, never during one.
      outbox.hold();
      await outbox.append({ kind: "context", at_ms: 2, change: "blur" });
      await pause(80);
      outbox.release();
      await outbox.append({ kind: "abandoned", at_ms: 3, trial, reason: "reload" });
    }
    await outbox.drained();
    expect(batches[0]).toEqual(["trial_start"]);
    expect(batches).toContainEqual(["abandoned", "trial_start"]);
  });

  test("answers are counted by trials that ended, whatever else waits", async () => {
    const outbox = await opened(await openStore(new IDBFactory()), offline);
    await outbox.begin("o", "s", 1, "t", 0);
    await outbox.append({ kind: "page", at_ms: 0, page: "consent", choices: {} });
    expect([outbox.nUnsaved, outbox.nAnswersUnsaved]).toEqual([1, 0]);
    for (const trial of ["a", "b"]) {
      await outbox.append({ kind: "trial_start", at_ms: 1, trial });
      await outbox.append({ kind: "trial", at_ms: 2, report: { trial } as TrialReport });
    }
    await outbox.append({ kind: "trial_start", at_ms: 3, trial: "c" });
    await outbox.append({ kind: "abandoned", at_ms: 4, trial: "c", reason: "left" });
    expect([outbox.nUnsaved, outbox.nAnswersUnsaved]).toEqual([7, 2]);
    outbox.stop();
  });

  test("answered offline, closed, opened again: the older chain goes first, with its own token", async () => {
    const server = new Server();
    const factory = new IDBFactory();
    const before = await opened(await openStore(factory), offline);
    await before.begin("o", "s", 1, "old", 0);
    for (let i = 0; i < 7; i++) await before.append(note(i));
    expect(before.nUnsaved).toBe(7);
    before.stop();

    const store = await openStore(factory);
    const after = await opened(store, server.post);
    await after.olderDrained();
    expect(server.bodies("s/1").length).toBe(7);
    await after.begin("o", "s", 2, "new", 0);
    await after.append(note(100));
    await after.drained();
    expect(server.tokens).toEqual(new Set(["s/1 old", "s/2 new"]));
    await pause(10);
    expect((await store.chains()).map(({ key }) => key)).toEqual(["s/2"]);
  });

  test("a trial that was begun and never reported is abandoned by the next page, once", async () => {
    const server = new Server();
    const factory = new IDBFactory();
    const before = await opened(await openStore(factory), server.post);
    await before.begin("o", "s", 1, "t1", 0);
    await before.append({ kind: "trial_start", at_ms: 1, trial: "a" });
    await before.drained();
    before.stop();

    for (const epoch of [2, 3]) {
      const after = await opened(await openStore(factory), server.post);
      await after.olderDrained();
      await after.begin("o", "s", epoch, `t${epoch}`, 5);
      await after.drained();
      await pause(10);
      after.stop();
    }
    expect(server.bodies("s/2")).toEqual(['{"kind":"abandoned","at_ms":5,"trial":"a","reason":"reload"}']);
    expect(server.bodies("s/3")).toEqual([]);
  });

  test("another participant's open trial is left alone", async () => {
    const factory = new IDBFactory();
    const before = await opened(await openStore(factory), offline);
    await before.begin("o", "s", 1, "t1", 0);
    await before.append({ kind: "trial_start", at_ms: 1, trial: "a" });
    before.stop();
    const server = new Server();
    const other = await opened(await openStore(factory), server.post);
    await other.begin("p", "z", 1, "t", 0);
    await other.drained();
    expect(server.bodies("z/1")).toEqual([]);
    expect(server.bodies("s/1").length).toBe(1);
  });

  test("a third of requests and answers lost: everything arrives, nothing twice", async () => {
    const server = new Server();
    let n = 0;
    const lossy: Post = async (chain, events) => {
      n++;
      if (n % 3 === 0) throw new ApiError("offline", "", 0);
      const ack = server.store(chain, events);
      if (n % 3 === 1) throw new ApiError("http_503", "", 503);
      return ack;
    };
    const outbox = await opened(await openStore(new IDBFactory()), lossy);
    await outbox.begin("o", "s", 1, "t", 0);
    for (let i = 0; i < 60; i++) await outbox.append(note(i));
    await outbox.drained();
    expect(server.bodies("s/1").map((body) => JSON.parse(body).at_ms)).toEqual(Array.from({ length: 60 }, (_, i) => i));
  });

  test("answers that overtake each other do not bring anything back", async () => {
    const server = new Server();
    const outbox = await opened(await openStore(new IDBFactory()), async (chain, events, keepalive) => {
      const ack = server.store(chain, events);
      await pause(keepalive ? 1 : 20);
      return ack;
    });
    await outbox.begin("o", "s", 1, "t", 0);
    await outbox.append(note(0));
    await outbox.append(note(1));
    outbox.leave();
    await pause(8);
    expect(outbox.nUnsaved).toBe(0);
    await pause(40);
    expect(outbox.nUnsaved).toBe(0);
    expect(server.bodies("s/1").length).toBe(2);
  });

  test("what is stored out of order is not sent again", async () => {
    const sent: number[][] = [];
    let isFirst = true;
    const outbox = await opened(await openStore(new IDBFactory()), async (_, events) => {
      sent.push(events.map(({ seq }) => seq));
      if (!isFirst) return { acked_through: 3, also_stored: [], is_elsewhere: false };
      isFirst = false;
      return { acked_through: 0, also_stored: [2, 3], is_elsewhere: false };
    });
    outbox.hold();
    await outbox.begin("o", "s", 1, "t", 0);
    for (let i = 0; i < 3; i++) await outbox.append(note(i));
    outbox.release();
    await outbox.drained();
    expect(sent).toEqual([[1, 2, 3], [1]]);
  });

  test("a page that comes back online hears that its session went on elsewhere; what it has is sent", async () => {
    for (const nLeft of [0, 3]) {
      const server = new Server();
      let isOnline = true;
      const post: Post = (chain, events, keepalive) => (isOnline ? server.post : offline)(chain, events, keepalive);
      const outbox = await opened(await openStore(new IDBFactory()), post);
      await outbox.begin("o", "s", 1, "t1", 0);
      await outbox.append(note(0));
      await outbox.drained();
      isOnline = false;
      for (let i = 0; i < nLeft; i++) await outbox.append(note(i));
      server.isElsewhere = true;
      expect(outbox.isTaken).toBe(false);
      isOnline = true;
      const told = new Promise<void>((resolve) => outbox.watch(() => outbox.isTaken && resolve()));
      outbox.ask();
      await told;
      await outbox.drained();
      expect(server.bodies("s/1").length).toBe(1 + nLeft);
      await expect(outbox.append(note(9))).rejects.toMatchObject({ code: "epoch_over" });
      outbox.stop();
    }
  });

  test("an answer that was given before is kept, and nothing more may begin", async () => {
    const server = new Server();
    server.isElsewhere = true;
    const outbox = await opened(await openStore(new IDBFactory()), server.post);
    await outbox.begin("o", "s", 1, "t1", 0);
    await outbox.append({ kind: "trial_start", at_ms: 0, trial: "a" });
    await outbox.drained();
    expect(outbox.isTaken).toBe(true);
    await outbox.append({ kind: "trial", at_ms: 1, report: { trial: "a" } as TrialReport });
    await outbox.drained();
    expect(server.bodies("s/1").length).toBe(2);
    await expect(outbox.append({ kind: "trial_start", at_ms: 2, trial: "b" })).rejects.toMatchObject({ code: "epoch_over" });
    outbox.stop();
  });

  test("nothing is sent while a stimulus is on", async () => {
    const server = new Server();
    const outbox = await opened(await openStore(new IDBFactory()), server.post);
    await outbox.begin("o", "s", 1, "t", 0);
    outbox.hold();
    await outbox.append(note(0));
    await pause(10);
    expect(server.nRequests).toBe(0);
    outbox.release();
    await outbox.drained();
    expect(server.nRequests).toBe(1);
  });

  test("without a disk, an append waits for the ack", async () => {
    const server = new Server();
    let isUp = false;
    const outbox = await opened(new MemoryStore(), (...args) => (isUp ? server.post(...args) : offline(...args)));
    await outbox.begin("o", "s", 1, "t", 0);
    let isSafe = false;
    const appended = outbox.append(note(0)).then(() => (isSafe = true));
    await pause(20);
    expect(isSafe).toBe(false);
    isUp = true;
    outbox.kick();
    await appended;
    expect(server.bodies("s/1").length).toBe(1);
  });

  test("a disk that fails is no disk", async () => {
    const server = new Server();
    const store = await openStore(new IDBFactory());
    store.append = async () => {
      throw new Error("quota");
    };
    const outbox = await opened(store, server.post);
    await outbox.begin("o", "s", 1, "t", 0);
    await outbox.append(note(0));
    expect(server.bodies("s/1").length).toBe(1);
  });

  test("a refusal is said, and older refusals do not stop the present", async () => {
    const factory = new IDBFactory();
    const before = await opened(await openStore(factory), offline);
    await before.begin("o", "gone", 1, "t", 0);
    await before.append(note(0));
    before.stop();
    const server = new Server();
    const outbox = await opened(await openStore(factory), async (chain, events, keepalive) => {
      if (chain.session === "gone") throw new ApiError("session_withdrawn", "", 410);
      if (events.some(({ body }) => body.includes("focus"))) throw new ApiError("event_bad", "", 422);
      return server.post(chain, events, keepalive);
    });
    await outbox.olderDrained();
    await outbox.begin("o", "s", 1, "t", 0);
    await outbox.append(note(0));
    await outbox.drained();
    await outbox.append({ kind: "context", at_ms: 1, change: "focus" });
    await expect(outbox.drained()).rejects.toMatchObject({ code: "event_bad" });
  });

  test("what the server misses is sent once more from the disk", async () => {
    const server = new Server();
    const outbox = await opened(await openStore(new IDBFactory()), server.post);
    await outbox.begin("o", "s", 1, "t", 0);
    for (let i = 0; i < 5; i++) await outbox.append(note(i));
    await outbox.drained();
    server.stored.get("s/1")!.delete(3);
    await outbox.resend([3]);
    await outbox.drained();
    expect(server.bodies("s/1").length).toBe(5);
    expect(server.nDuplicates).toBe(0);
  });

  test("a request that is too large is halved", async () => {
    const server = new Server();
    const outbox = await opened(await openStore(new IDBFactory()), async (chain, events, keepalive) => {
      if (4 < events.length) throw new ApiError("too_large", "", 413);
      return server.post(chain, events, keepalive);
    });
    outbox.hold();
    await outbox.begin("o", "s", 1, "t", 0);
    for (let i = 0; i < 40; i++) await outbox.append(note(i));
    outbox.release();
    await outbox.drained();
    expect(server.bodies("s/1").length).toBe(40);
  });

  test("closing deletes the session's chains and nothing else", async () => {
    const factory = new IDBFactory();
    const store = await openStore(factory);
    const before = await opened(store, offline);
    await before.begin("p", "other", 1, "t", 0);
    await before.append(note(0));
    before.stop();
    const after = await openStore(factory);
    const outbox = await opened(after, offline);
    await outbox.begin("o", "s", 1, "t", 0);
    await outbox.append(note(0));
    await outbox.close("s");
    expect((await after.chains()).map(({ key }) => key)).toEqual(["other/1"]);
    expect(await after.events("s/1", 0)).toEqual([]);
  });

  test("closing keeps what the server refused, on later visits, too; withdrawing does not", async () => {
    const factory = new IDBFactory();
    const refuse: Post = async () => {
      throw new ApiError("report_bad", "", 422);
    };
    const before = await opened(await openStore(factory), refuse);
    await before.begin("o", "s", 1, "t", 0);
    await before.append(note(0));
    await expect(before.drained()).rejects.toMatchObject({ code: "report_bad" });
    // No answer, nothing to be sent to the researchers.
    expect(before.hasRefused).toBe(false);
    await before.append({ kind: "trial", at_ms: 1, report: { trial: "a" } as TrialReport });
    expect(before.hasRefused).toBe(true);
    before.stop();
    const store = await openStore(factory);
    const after = await opened(store, refuse);
    await after.olderDrained();
    await after.close("s");
    expect(after.hasRefused).toBe(true);
    expect((await store.events("s/1", 0)).length).toBe(2);
    await after.erase("s");
    expect(after.hasRefused).toBe(false);
    expect(await store.events("s/1", 0)).toEqual([]);
  });

  test("everything unsaved can be handed out as a file", async () => {
    const outbox = await opened(await openStore(new IDBFactory()), offline);
    await outbox.begin("o", "s", 1, "t", 0);
    await outbox.append(note(0));
    const [chain] = await outbox.everything();
    expect(chain).toMatchObject({ session: "s", epoch: 1 });
    expect(firstBroken("s/1", chain!.events)).toBeNull();
  });
});
