// Where events wait until the server has them: IndexedDB with strict durability, or memory where the
// browser has none. A store keeps and returns; it decides nothing.
import type { Chain } from "./chain";
import type { Event } from "./wire";

/** Who this browser knows: how to come back to their session. */
export type Owner = {
  /** Study and recruiter's id, hashed. */
  owner: string;
  session: string;
  /** Token of the last epoch; resumes the session. */
  token: string;
  /** The screen the last calibration was made on. */
  screen: string;
  /** Whether the study ended early by its own rules, not by the participant's wish. */
  wasStopped?: boolean | undefined;
};

export interface Store {
  /** Whether what was written survives the page. */
  readonly isDurable: boolean;
  chains(): Promise<Chain[]>;
  /** Events of a chain after `after`, ascending. */
  events(key: string, after: number): Promise<Event[]>;
  /** Writes an event and the chains it changed, all or nothing; resolves when they are on disk. */
  append(chain: Chain, event: Event, others?: readonly Chain[]): Promise<void>;
  saveChain(chain: Chain): Promise<void>;
  dropChain(key: string): Promise<void>;
  owner(owner: string): Promise<Owner | null>;
  saveOwner(owner: Owner): Promise<void>;
  dropOwner(owner: string): Promise<void>;
}

type StoredEvent = Event & { chain: string };

/** Opens the browser's store; memory where IndexedDB is missing or refuses. */
export async function openStore(factory: IDBFactory | undefined, name = "mohs"): Promise<Store> {
  if (factory === undefined) return new MemoryStore();
  try {
    return new DiskStore(await opened(factory, name));
  } catch {
    return new MemoryStore();
  }
}

function opened(factory: IDBFactory, name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = factory.open(name, 1);
    // Some private windows never answer.
    const timer = setTimeout(() => reject(new Error("IndexedDB does not answer")), 4_000);
    request.onupgradeneeded = () => {
      const db = request.result;
      db.createObjectStore("chains", { keyPath: "key" });
      db.createObjectStore("events", { keyPath: ["chain", "seq"] });
      db.createObjectStore("owners", { keyPath: "owner" });
    };
    request.onsuccess = () => {
      clearTimeout(timer);
      resolve(request.result);
    };
    request.onerror = () => {
      clearTimeout(timer);
      reject(request.error ?? new Error("IndexedDB refused"));
    };
  });
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

class DiskStore implements Store {
  readonly isDurable = true;
  constructor(private readonly db: IDBDatabase) {}

  /** Runs a writing transaction and resolves once it is on disk. */
  private write(stores: string[], durability: IDBTransactionDurability, work: (t: IDBTransaction) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const transaction = this.db.transaction(stores, "readwrite", { durability });
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error("transaction aborted"));
      work(transaction);
    });
  }

  private read(store: string): IDBObjectStore {
    return this.db.transaction([store], "readonly").objectStore(store);
  }

  chains(): Promise<Chain[]> {
    return result(this.read("chains").getAll() as IDBRequest<Chain[]>);
  }

  async events(key: string, after: number): Promise<Event[]> {
    const range = IDBKeyRange.bound([key, after + 1], [key, Number.MAX_SAFE_INTEGER]);
    const found = await result(this.read("events").getAll(range) as IDBRequest<StoredEvent[]>);
    return found.map(({ seq, body, hash }) => ({ seq, body, hash }));
  }

  append(chain: Chain, event: Event, others: readonly Chain[] = []): Promise<void> {
    return this.write(["events", "chains"], "strict", (transaction) => {
      transaction.objectStore("events").put({ chain: chain.key, ...event });
      for (const changed of [chain, ...others]) transaction.objectStore("chains").put(changed);
    });
  }

  saveChain(chain: Chain): Promise<void> {
    return this.write(["chains"], "relaxed", (t) => t.objectStore("chains").put(chain));
  }

  dropChain(key: string): Promise<void> {
    return this.write(["events", "chains"], "relaxed", (transaction) => {
      transaction.objectStore("chains").delete(key);
      transaction.objectStore("events").delete(IDBKeyRange.bound([key, 0], [key, Number.MAX_SAFE_INTEGER]));
    });
  }

  async owner(owner: string): Promise<Owner | null> {
    return (await result(this.read("owners").get(owner) as IDBRequest<Owner | undefined>)) ?? null;
  }

  saveOwner(owner: Owner): Promise<void> {
    return this.write(["owners"], "strict", (t) => t.objectStore("owners").put(owner));
  }

  dropOwner(owner: string): Promise<void> {
    return this.write(["owners"], "relaxed", (t) => t.objectStore("owners").delete(owner));
  }
}

/** Forgets events with the page. How to come back is kept for the tab, where that is allowed. */
export class MemoryStore implements Store {
  readonly isDurable = false;
  private readonly kept = new Map<string, { chain: Chain; events: Map<number, Event> }>();
  private readonly owners = new Map<string, Owner>();

  async chains(): Promise<Chain[]> {
    return [...this.kept.values()].map(({ chain }) => ({ ...chain }));
  }

  async events(key: string, after: number): Promise<Event[]> {
    const events = [...(this.kept.get(key)?.events.values() ?? [])];
    return events.filter((event) => after < event.seq).sort((a, b) => a.seq - b.seq);
  }

  async append(chain: Chain, event: Event, others: readonly Chain[] = []): Promise<void> {
    for (const changed of [chain, ...others]) await this.saveChain(changed);
    this.kept.get(chain.key)?.events.set(event.seq, event);
  }

  async saveChain(chain: Chain): Promise<void> {
    const entry = this.kept.get(chain.key);
    if (entry) entry.chain = { ...chain };
    else this.kept.set(chain.key, { chain: { ...chain }, events: new Map() });
  }

  async dropChain(key: string): Promise<void> {
    this.kept.delete(key);
  }

  async owner(owner: string): Promise<Owner | null> {
    const known = this.owners.get(owner);
    if (known) return known;
    try {
      const text = sessionStorage.getItem(`mohs/${owner}`);
      return text === null ? null : (JSON.parse(text) as Owner);
    } catch {
      return null;
    }
  }

  async saveOwner(owner: Owner): Promise<void> {
    this.owners.set(owner.owner, owner);
    try {
      sessionStorage.setItem(`mohs/${owner.owner}`, JSON.stringify(owner));
    } catch {
      // Then only this page knows.
    }
  }

  async dropOwner(owner: string): Promise<void> {
    this.owners.delete(owner);
    try {
      sessionStorage.removeItem(`mohs/${owner}`);
    } catch {
      // There was nothing to remove.
    }
  }
}
