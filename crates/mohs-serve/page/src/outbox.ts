// The outbox: what happened is sealed, written to disk, then sent until the server says it has it.
// Nothing is dropped before its ack, and a chain is deleted only when its end is acked. The order of
// acks does not matter, and neither do duplicates: the same event twice is the same event.
import { ApiError } from "./api";
import { newChain, seal, type Chain } from "./chain";
import type { Store } from "./store";
import type { Ack, Event, EventBody } from "./wire";

/** Browsers let a page that is being left send 64 KiB; the rest of the request needs some room. */
export const MOST_BATCH_BYTES = 60_000;

/** How long an event that is safe on this disk waits for company: the end of a trial and the beginning
 * of the next come within this time, and go in one request. */
export const LINGER_MS = 100;

/** How long to wait after failures. */
export type Delays = { first_ms: number; most_ms: number };
export const DELAYS: Delays = { first_ms: 500, most_ms: 30_000 };

/** Returns how long to wait after the n-th failure in a row: doubling, with jitter so that a server
 * that comes back is not asked by everybody at once. `random` lies in [0, 1). */
export function retryDelay(nFailures: number, random: number, delays: Delays = DELAYS): number {
  const whole = Math.min(delays.most_ms, delays.first_ms * 2 ** Math.min(nFailures - 1, 30));
  return whole * (0.5 + random / 2);
}

/** Sends events of a chain; `keepalive` when the page may be gone before the answer. */
export type Post = (chain: Chain, events: readonly Event[], keepalive: boolean) => Promise<Ack>;

/** A chain and what of it the server does not have yet. */
type Lane = {
  chain: Chain;
  /** Ascending by seq. */
  queue: Event[];
  isSending: boolean;
  nFailures: number;
  timer: ReturnType<typeof setTimeout> | null;
  /** Runs while an event waits for company. */
  linger: ReturnType<typeof setTimeout> | null;
  /** Why the server will never take it. */
  refusal: ApiError | null;
  mostBytes: number;
};

/** Returns the longest run from the front that fits into one request; at least one event. */
export function batch(queue: readonly Event[], mostBytes: number): Event[] {
  let n = 0;
  let bytes = 20;
  while (n < queue.length) {
    const event = queue[n]!;
    // Quotes inside the body are escaped once more; characters beyond ASCII take up to three bytes.
    bytes += JSON.stringify(event).length + 2 * (event.body.length - event.body.replace(/[^\x00-\x7f]/g, "").length) + 1;
    if (mostBytes < bytes && 0 < n) break;
    n++;
  }
  return queue.slice(0, n);
}

export class Outbox {
  private lanes: Lane[] = [];
  private current: Lane | null = null;
  private held = false;
  private stopped = false;
  private isElsewhere = false;
  /** Answers that came while a stimulus was on. */
  private later: (() => void)[] = [];
  private readonly watchers = new Set<() => void>();

  constructor(
    private readonly store: Store,
    private readonly post: Post,
    private readonly delays: Delays = DELAYS,
    private readonly linger_ms: number = LINGER_MS,
  ) {}

  /** Takes over what older pages left behind and starts to send it. Another owner's chains may belong
   * to a tab that is at work. */
  async open(owner: string): Promise<void> {
    for (const chain of await this.store.chains()) {
      if (chain.owner !== owner) continue;
      const queue = await this.store.events(chain.key, chain.acked_through);
      this.lanes.push(lane(chain, queue));
    }
    this.kick();
  }

  /** Starts the chain of a new epoch. Trials that older pages of the same session began and never
   * reported are reported as abandoned, in the transaction that forgets them. */
  async begin(owner: string, session: string, epoch: number, token: string, at_ms: number): Promise<void> {
    const chain = newChain(owner, session, epoch, token);
    this.current = lane(chain, []);
    this.lanes.push(this.current);
    for (const old of this.lanes) {
      const trial = old.chain.open_trial;
      if (old === this.current || old.chain.session !== session || trial === null) continue;
      old.chain.open_trial = null;
      await this.append({ kind: "abandoned", at_ms, trial, reason: "reload" }, [old.chain]);
    }
    await this.tidy();
  }

  /** Seals an event and resolves when it is safe: on this disk or, without one, on the server's. */
  async append(what: EventBody, others: readonly Chain[] = []): Promise<void> {
    const { current } = this;
    if (current === null) throw new Error("no session is open");
    if (this.stopped) throw new Error("the outbox was stopped");
    // What was answered before that was heard is kept; nothing more may begin.
    if (this.isElsewhere && what.kind !== "trial") throw new ApiError("epoch_over", "", 409);
    const event = seal(current.chain, what);
    current.queue.push(event);
    this.changed();
    let isSafe = this.store.isDurable;
    if (isSafe) this.pumpSoon(current);
    else this.pump(current);
    try {
      await this.store.append(current.chain, event, others);
    } catch {
      isSafe = false;
      this.pump(current);
    }
    if (!isSafe) await this.until(() => this.hasAck(current, event.seq));
  }

  private hasAck(on: Lane, seq: number): boolean {
    return !on.queue.some((event) => event.seq === seq);
  }

  /** How many events the server does not have yet. */
  get nUnsaved(): number {
    return this.lanes.reduce((sum, { queue }) => sum + queue.length, 0);
  }

  /** How many answers are among them. */
  get nAnswersUnsaved(): number {
    return this.lanes.reduce((sum, { queue }) => sum + queue.filter(isAnswer).length, 0);
  }

  /** The last event of this epoch. */
  get lastSeq(): number {
    return this.current?.chain.last_seq ?? 0;
  }

  /** Whether the session was opened anew elsewhere: what there is goes on to be sent, and nothing more
   * may be shown. */
  get isTaken(): boolean {
    return this.isElsewhere;
  }

  /** Why the server will not take this epoch's events, should that be so. */
  get refusal(): ApiError | null {
    return this.current?.refusal ?? null;
  }

  /** Whether there are answers here that the server will never take, of this epoch or an older one. */
  get hasRefused(): boolean {
    return this.lanes.some((each) => isRefused(each) && each.queue.some(isAnswer));
  }

  /** Calls back whenever something was appended, acked or refused; returns how to stop that. */
  watch(callback: () => void): () => void {
    this.watchers.add(callback);
    return () => this.watchers.delete(callback);
  }

  /** Resolves when the server has everything of this epoch, and of older ones that it will take. */
  drained(): Promise<void> {
    return this.until(() => this.lanes.every((l) => l.queue.length === 0 || (l !== this.current && l.refusal !== null)));
  }

  /** Resolves when older chains are through or refused. */
  olderDrained(): Promise<void> {
    return this.until(() => this.lanes.every((l) => l === this.current || l.queue.length === 0 || l.refusal !== null));
  }

  private until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const refusal = this.refusal;
        if (!isSo() && refusal === null) return;
        stop();
        if (isSo()) resolve();
        else reject(refusal);
      };
      const stop = this.watch(look);
      look();
    });
  }

  /** Sends nothing while a stimulus is on. What still waits for company goes before. */
  hold(): void {
    for (const each of this.lanes) if (each.linger !== null) this.pump(each);
    this.held = true;
  }

  release(): void {
    this.held = false;
    for (const work of this.later.splice(0)) work();
    for (const each of this.lanes) this.pump(each);
  }

  /** Tries everything again now: the network may be back. */
  kick(): void {
    for (const each of this.lanes) {
      if (each.timer !== null) clearTimeout(each.timer);
      each.timer = null;
      this.pump(each);
    }
  }

  /** The network is back: hears whether the session went on elsewhere, also where nothing waits. */
  ask(): void {
    this.kick();
    const { current } = this;
    if (current === null || this.held || this.stopped || 0 < current.queue.length) return;
    this.post(current.chain, [], false).then((ack) => this.whenFree(() => this.acked(current, ack)), () => {});
  }

  /** The page may be about to go: hands the browser what is left, in requests that outlive it. */
  leave(): void {
    for (const each of this.lanes) {
      if (each.queue.length === 0 || each.refusal !== null || this.stopped) continue;
      this.post(each.chain, batch(each.queue, each.mostBytes), true).then((ack) => this.acked(each, ack), () => {});
    }
  }

  /** Sends nothing and takes nothing any more: another tab has taken over. */
  stop(): void {
    this.stopped = true;
    for (const each of this.lanes) {
      if (each.timer !== null) clearTimeout(each.timer);
      endLinger(each);
    }
  }

  /** Sends stored events once more that the server says it misses. */
  async resend(seqs: readonly number[]): Promise<void> {
    const { current } = this;
    if (current === null) return;
    const wanted = new Set(seqs);
    const found = (await this.store.events(current.chain.key, 0)).filter(({ seq }) => wanted.has(seq));
    const waiting = new Set(current.queue.map(({ seq }) => seq));
    current.queue.push(...found.filter(({ seq }) => !waiting.has(seq)));
    current.queue.sort((a, b) => a.seq - b.seq);
    current.chain.acked_through = Math.min(current.chain.acked_through, ...seqs.map((seq) => seq - 1));
    this.changed();
    this.pump(current);
  }

  /** Deletes this session's chains, as the server has its end. What the server refused stays: it is
   * nowhere else. */
  async close(session: string): Promise<void> {
    await this.drop((each) => each.chain.session === session && !isRefused(each));
  }

  /** Deletes this session's chains, as the participant withdrew. */
  async erase(session: string): Promise<void> {
    await this.drop(({ chain }) => chain.session === session);
  }

  private async drop(isOver: (each: Lane) => boolean): Promise<void> {
    const over = this.lanes.filter(isOver);
    for (const each of over) {
      if (each.timer !== null) clearTimeout(each.timer);
      endLinger(each);
      await this.store.dropChain(each.chain.key);
    }
    this.lanes = this.lanes.filter((each) => !over.includes(each));
    this.current = null;
    this.changed();
  }

  /** Returns everything the server may not have, for a file the participant can keep. */
  async everything(): Promise<{ session: string; epoch: number; events: Event[] }[]> {
    const found = this.lanes.map(async ({ chain, queue }) => {
      const stored = await this.store.events(chain.key, 0).catch(() => queue);
      return { session: chain.session, epoch: chain.epoch, events: stored.length < queue.length ? queue : stored };
    });
    return Promise.all(found);
  }

  private pumpSoon(each: Lane): void {
    each.linger ??= setTimeout(() => this.pump(each), this.linger_ms);
  }

  private pump(each: Lane): void {
    endLinger(each);
    const isBusy = each.isSending || each.timer !== null;
    if (isBusy || this.held || this.stopped || each.refusal !== null || each.queue.length === 0) return;
    each.isSending = true;
    this.post(each.chain, batch(each.queue, each.mostBytes), false).then(
      (ack) =>
        this.whenFree(() => {
          each.isSending = false;
          each.nFailures = 0;
          this.acked(each, ack);
          if (each.linger === null) this.pump(each);
        }),
      (error: unknown) =>
        this.whenFree(() => {
          each.isSending = false;
          this.failed(each, error);
        }),
    );
  }

  private whenFree(work: () => void): void {
    if (this.held) this.later.push(work);
    else work();
  }

  private failed(each: Lane, error: unknown): void {
    const isTooLarge = error instanceof ApiError && error.status === 413 && 1 < batch(each.queue, each.mostBytes).length;
    if (isTooLarge) {
      each.mostBytes = Math.ceil(each.mostBytes / 2);
    } else if (error instanceof ApiError && !error.isTransient) {
      each.refusal = error;
      // The participant withdrew: nothing may be kept here either.
      if (error.status === 410) void this.store.dropChain(each.chain.key).catch(() => {});
      this.changed();
      return;
    }
    each.nFailures++;
    const asked_ms = error instanceof ApiError ? error.wait_ms : 0;
    const wait_ms = Math.max(asked_ms, retryDelay(each.nFailures, Math.random(), this.delays));
    each.timer = setTimeout(() => {
      each.timer = null;
      this.pump(each);
    }, wait_ms);
    this.changed();
  }

  private acked(each: Lane, ack: Ack): void {
    if (each === this.current && ack.is_elsewhere) this.isElsewhere = true;
    const also = new Set(ack.also_stored);
    each.queue = each.queue.filter(({ seq }) => ack.acked_through < seq && !also.has(seq));
    // Answers may overtake each other; an older one says nothing new. What was never sealed cannot
    // be acked.
    const through = Math.min(ack.acked_through, each.chain.last_seq);
    if (each.chain.acked_through < through) {
      each.chain.acked_through = through;
      // Should this be lost, the same events are sent once more.
      if (!this.stopped) this.store.saveChain(each.chain).catch(() => {});
    }
    void this.tidy();
    this.changed();
  }

  /** Deletes chains of older epochs that the server has whole. */
  private async tidy(): Promise<void> {
    const isOver = ({ chain, queue }: Lane) => queue.length === 0 && chain.open_trial === null;
    const over = this.lanes.filter((each) => each !== this.current && isOver(each));
    this.lanes = this.lanes.filter((each) => !over.includes(each));
    for (const { chain } of over) await this.store.dropChain(chain.key).catch(() => {});
  }

  private changed(): void {
    for (const watcher of [...this.watchers]) watcher();
  }
}

function lane(chain: Chain, queue: Event[]): Lane {
  return { chain, queue, isSending: false, nFailures: 0, timer: null, linger: null, refusal: null, mostBytes: MOST_BATCH_BYTES };
}

/** A trial that ended, whatever else was noted of it. */
function isAnswer({ body }: Event): boolean {
  return (JSON.parse(body) as EventBody).kind === "trial";
}

/** A participant who withdrew is no refusal: nothing of them may be kept. */
function isRefused({ refusal, queue }: Lane): boolean {
  return refusal !== null && refusal.status !== 410 && 0 < queue.length;
}

function endLinger(each: Lane): void {
  if (each.linger !== null) clearTimeout(each.linger);
  each.linger = null;
}
