// One writer per browser: of several tabs only one runs a session. Web Locks where there are any;
// tabs talk to each other where the page came over plain HTTP and there are none.

const NAME = "mohs-writer";

/** Tries to become the writer. Resolves to whether that worked; `onLost` is called when another tab
 * takes over. `take` does not ask. */
export function becomeWriter(take: boolean, onLost: () => void): Promise<boolean> {
  return "locks" in navigator ? byLock(take, onLost) : byTalk(take, onLost);
}

function byLock(take: boolean, onLost: () => void): Promise<boolean> {
  return new Promise((resolve) => {
    const options: LockOptions = take ? { steal: true } : { ifAvailable: true };
    navigator.locks
      .request(NAME, options, (lock) => {
        resolve(lock !== null);
        // Held until the page goes.
        return lock === null ? undefined : new Promise<void>(() => {});
      })
      .catch(() => onLost());
  });
}

/** How long another tab has to say that it is there. */
const ANSWER_MS = 400;

function byTalk(take: boolean, onLost: () => void): Promise<boolean> {
  if (!("BroadcastChannel" in globalThis)) return Promise.resolve(true);
  const channel = new BroadcastChannel(NAME);
  let isWriter = false;
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      isWriter = true;
      resolve(true);
    }, ANSWER_MS);
    channel.onmessage = ({ data }) => {
      if (data === "asks" && isWriter) channel.postMessage("is here");
      if (data === "takes" && isWriter) {
        isWriter = false;
        onLost();
      }
      if (data === "is here" && !isWriter && !take) {
        clearTimeout(timer);
        resolve(false);
      }
    };
    channel.postMessage(take ? "takes" : "asks");
  });
}
