// The server's addresses as functions. Errors carry their stable code and whether trying again can
// help; trying again is the caller's business.
import type {
  Ack, BlockAnswer, BlockRequest, EndAnswer, EndRequest, Event, Failure, Joined, JoinRequest, Welcome, Withdrawn,
} from "./wire";

/** A request that did not work. */
export class ApiError extends Error {
  constructor(
    /** Stable, e.g. `session_unknown`; `offline` and `timeout` are the page's own. */
    readonly code: string,
    message: string,
    /** HTTP status; 0 when no answer came. */
    readonly status: number,
    /** How long the server asks us to wait. */
    readonly wait_ms: number = 0,
  ) {
    super(message);
  }

  /** Whether the same request may work later: no network, too many requests, a server in trouble. */
  get isTransient(): boolean {
    return this.status === 0 || this.status === 408 || this.status === 425 || this.status === 429 || 500 <= this.status;
  }
}

/** A request that hangs is a request that failed. */
const TIMEOUT_MS = 20_000;

async function post<T>(path: string, body: unknown, token?: string, keepalive = false): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TIMEOUT_MS);
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
      keepalive,
      signal: controller.signal,
    });
    text = await response.text();
  } catch {
    throw new ApiError(controller.signal.aborted ? "timeout" : "offline", "", 0);
  } finally {
    clearTimeout(timer);
  }
  if (response.ok) {
    try {
      return JSON.parse(text) as T;
    } catch {
      // A hotel's log-in page, say: not our server, so not its last word.
      throw new ApiError("not_our_server", "", 0);
    }
  }
  const wait_ms = 1000 * (Number(response.headers.get("retry-after")) || 0);
  const { code, message } = detail(text, response.status);
  throw new ApiError(code, message, response.status, wait_ms);
}

function detail(text: string, status: number): { code: string; message: string } {
  try {
    const { error } = JSON.parse(text) as Failure;
    if (typeof error.code === "string") return { code: error.code, message: String(error.message ?? "") };
  } catch {
    // Not our words; the status has to do.
  }
  return { code: `http_${status}`, message: "" };
}

const of = (session: string, what: string) => `/api/sessions/${encodeURIComponent(session)}/${what}`;

export const welcome = (study: string, request: JoinRequest) =>
  post<Welcome>(`/api/studies/${encodeURIComponent(study)}/welcome`, request);

export const join = (study: string, request: JoinRequest) =>
  post<Joined>(`/api/studies/${encodeURIComponent(study)}/join`, request);

export const block = (session: string, token: string, request: BlockRequest) =>
  post<BlockAnswer>(of(session, "block"), request, token);

export const events = (session: string, token: string, batch: readonly Event[], keepalive: boolean) =>
  post<Ack>(of(session, "events"), { events: batch }, token, keepalive);

export const end = (session: string, token: string, request: EndRequest) =>
  post<EndAnswer>(of(session, "end"), request, token);

export const withdraw = (session: string, token: string) =>
  post<Withdrawn>(of(session, "withdraw"), { delete_my_data: true }, token);
