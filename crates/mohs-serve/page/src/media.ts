// The pictures of a block: fetched a few at a time, checked by their hash, decoded before they are
// needed and kept in memory, so that no cache and no network stands between a trial and its picture.
import { ApiError } from "./api";
import { sleep } from "./dom";
import { retryDelay } from "./outbox";
import { sha256 } from "./sha256";
import type { PlannedTrial } from "./wire";

const MOST_PARALLEL = 4;
const MOST_TRIES_DAMAGED = 4;
/** Above this many decoded bytes, only the next trials are decoded. */
const MOST_DECODED_BYTES = 160e6;
const WINDOW_TRIALS = 10;

/** Pictures of one trial, ready to draw. */
export type Pictures = { image: ImageBitmap; mask: ImageBitmap | null; right: ImageBitmap | null };

const hashesOf = (trial: PlannedTrial) => [trial.image, trial.mask, trial.right].filter((hash): hash is string => hash !== null);

async function hashOf(bytes: ArrayBuffer): Promise<string> {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined) return sha256(new Uint8Array(bytes));
  const digest = new Uint8Array(await subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Fetches one picture, for as long as it takes. */
async function fetchPicture(hash: string, onTrouble: () => void): Promise<Blob> {
  let nDamaged = 0;
  for (let nFailures = 1; ; nFailures++) {
    try {
      const cache = nDamaged === 0 ? "force-cache" : "reload";
      const response = await fetch(`/media/${hash}.png`, { cache, credentials: "omit" });
      if (response.status === 404 || response.status === 410) throw new ApiError("media_missing", "", response.status);
      if (response.ok) {
        const bytes = await response.arrayBuffer();
        if ((await hashOf(bytes)) === hash) return new Blob([bytes], { type: "image/png" });
        if (MOST_TRIES_DAMAGED <= ++nDamaged) throw new ApiError("media_damaged", "", 422);
      }
    } catch (error) {
      if (error instanceof ApiError) throw error;
    }
    onTrouble();
    await sleep(retryDelay(nFailures, Math.random()));
  }
}

export class Media {
  private readonly blobs = new Map<string, Blob>();
  private readonly decoded = new Map<string, Promise<ImageBitmap>>();
  private readonly warm = document.createElement("canvas").getContext("2d", { alpha: false })!;

  /** `side` is the side pictures are drawn at, in device pixels. */
  constructor(
    private readonly trials: readonly PlannedTrial[],
    private readonly side: number,
  ) {
    this.warm.canvas.width = side;
    this.warm.canvas.height = side;
  }

  /** Fetches all pictures and decodes the first. */
  async load(onProgress: (share: number) => void, onTrouble: () => void): Promise<void> {
    const wanted = [...new Set(this.trials.flatMap(hashesOf))];
    let next = 0;
    let nDone = 0;
    const fetchOn = async () => {
      for (let hash = wanted[next++]; hash !== undefined; hash = wanted[next++]) {
        this.blobs.set(hash, await fetchPicture(hash, onTrouble));
        onProgress(++nDone / wanted.length);
      }
    };
    await Promise.all(Array.from({ length: MOST_PARALLEL }, fetchOn));
    const isSmall = wanted.length * this.side * this.side * 4 <= MOST_DECODED_BYTES;
    await this.decode(0, isSmall ? this.trials.length : WINDOW_TRIALS);
  }

  /** Returns the pictures of a trial, decodes the next and frees the past. Nothing is left to do when
   * it resolves, so that no decoding falls into a trial. */
  async ready(trialIdx: number): Promise<Pictures> {
    const trial = this.trials[trialIdx]!;
    await this.decode(trialIdx, WINDOW_TRIALS);
    const previous = this.trials[trialIdx - 1];
    if (previous !== undefined) this.free(previous, trialIdx);
    return {
      image: await this.bitmap(trial.image),
      mask: trial.mask === null ? null : await this.bitmap(trial.mask),
      right: trial.right === null ? null : await this.bitmap(trial.right),
    };
  }

  /** Frees everything. */
  close(): void {
    for (const bitmap of this.decoded.values()) void bitmap.then((b) => b.close(), () => {});
    this.decoded.clear();
    this.blobs.clear();
  }

  private async decode(from: number, n: number): Promise<void> {
    for (const trial of this.trials.slice(from, from + n)) for (const hash of hashesOf(trial)) await this.bitmap(hash);
  }

  private bitmap(hash: string): Promise<ImageBitmap> {
    let bitmap = this.decoded.get(hash);
    if (bitmap === undefined) {
      bitmap = this.decodeOne(hash);
      this.decoded.set(hash, bitmap);
    }
    return bitmap;
  }

  private async decodeOne(hash: string): Promise<ImageBitmap> {
    const blob = this.blobs.get(hash);
    if (blob === undefined) throw new ApiError("media_missing", "", 404);
    const whole = await createImageBitmap(blob).catch(() => {
      throw new ApiError("media_damaged", "", 422);
    });
    // Scaled once here, so that a frame of a trial only copies.
    const side = this.side;
    const scaled = await createImageBitmap(whole, { resizeWidth: side, resizeHeight: side, resizeQuality: "high" }).catch(() => whole);
    if (scaled !== whole) whole.close();
    // Drawn once off-screen, so that the first frame of a trial does not pay for moving it.
    this.warm.drawImage(scaled, 0, 0, side, side);
    return scaled;
  }

  private free(past: PlannedTrial, now: number): void {
    const isNeeded = (hash: string) => this.trials.slice(now).some((trial) => hashesOf(trial).includes(hash));
    for (const hash of hashesOf(past)) {
      const bitmap = this.decoded.get(hash);
      if (bitmap === undefined || isNeeded(hash)) continue;
      this.decoded.delete(hash);
      this.blobs.delete(hash);
      void bitmap.then((b) => b.close(), () => {});
    }
  }
}
