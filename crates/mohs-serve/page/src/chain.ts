// The chain of an epoch's events: each is sealed with the hash of the one before, so that a missing
// or changed event shows. Pure; where events are kept is the store's business.
import { sha256 } from "./sha256";
import type { Event, EventBody } from "./wire";

/** An epoch of a session as this browser keeps it. */
export type Chain = {
  /** `SESSION/EPOCH`. */
  key: string;
  /** Whose it is: study and recruiter's id, hashed. */
  owner: string;
  session: string;
  epoch: number;
  token: string;
  /** The last event that was sealed; 0 before the first. */
  last_seq: number;
  last_hash: string;
  /** Everything up to here is on the server's disk. */
  acked_through: number;
  /** The trial that was begun and not reported yet. */
  open_trial: string | null;
};

/** Starts the chain of an epoch. */
export function newChain(owner: string, session: string, epoch: number, token: string): Chain {
  const key = `${session}/${epoch}`;
  return { key, owner, session, epoch, token, last_seq: 0, last_hash: sha256(key), acked_through: 0, open_trial: null };
}

/** Seals what happened as the chain's next event, and moves the chain on. */
export function seal(chain: Chain, what: EventBody): Event {
  const body = JSON.stringify(what);
  const event = { seq: chain.last_seq + 1, body, hash: sha256(chain.last_hash + body) };
  chain.last_seq = event.seq;
  chain.last_hash = event.hash;
  if (what.kind === "trial_start") chain.open_trial = what.trial;
  if (what.kind === "trial" && what.report.trial === chain.open_trial) chain.open_trial = null;
  if (what.kind === "abandoned" && what.trial === chain.open_trial) chain.open_trial = null;
  return event;
}

/** Returns the first event whose hash does not follow from the one before, if any. */
export function firstBroken(key: string, events: readonly Event[]): number | null {
  let previous = sha256(key);
  for (const event of events) {
    if (event.hash !== sha256(previous + event.body)) return event.seq;
    previous = event.hash;
  }
  return null;
}
