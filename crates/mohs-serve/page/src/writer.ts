// One writer per study and participant in a browser: of several tabs only one runs a session. Web Locks
// where there are any; tabs talk to each other where the page came over plain HTTP and there are none.

const nameOf = (owner: string) => `mohs-writer/${owner}`;

/** Tries to become the writer of an owner (see store.ts). Resolves to how to let go, or to nothing when
 * another tab is at work; `onLost` is called when another tab takes over. `take` does not ask. */
export function becomeWriter(owner: string, take: boolean, onLost: () => void): Promise<(() => void) | null> {
  return globalThis.navigator?.locks === undefined ? byTalk(owner, take, onLost) : byLock(owner, take, onLost);
}

function byLock(owner: string, take: boolean, onLost: () => void): Promise<(() => void) | null> {
  return new Promise((resolve) => {
    const options: LockOptions = take ? { steal: true } : { ifAvailable: true };
    navigator.locks
      .request(nameOf(owner), options, (lock) => {
        if (lock === null) return void resolve(null);
        // Held until it is let go, or the page goes.
        return new Promise<void>((free) => resolve(free));
      })
      .catch(() => onLost());
  });
}

/** How long another tab has to say that it is there. */
const ANSWER_MS = 400;

function byTalk(owner: string, take: boolean, onLost: () => void): Promise<(() => void) | null> {
  if (!("BroadcastChannel" in globalThis)) return Promise.resolve(() => {});
  const channel = new BroadcastChannel(nameOf(owner));
  let isWriter = false;
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      isWriter = true;
      resolve(() => channel.close());
    }, ANSWER_MS);
    channel.onmessage = ({ data }) => {
      if (data === "asks" && isWriter) channel.postMessage("is here");
      if (data === "takes" && isWriter) {
        channel.close();
        onLost();
      }
      if (data === "is here" && !isWriter && !take) {
        clearTimeout(timer);
        channel.close();
        resolve(null);
      }
    };
    channel.postMessage(take ? "takes" : "asks");
  });
}
