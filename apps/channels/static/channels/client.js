// Follows a channel: the same state as if one had never been away, and nothing applied twice.
// Live notifications are lossy and unordered; the replay is the truth. For browsers and Node 20 or newer.

/**
 * @typedef {{id: string, sequence: number, type: string, time: string, channel: string, data: any}} ChannelEvent
 * @typedef {{data: Object<string, any>, sequence: number, cursor: string}} Snapshot
 * @typedef {"connecting" | "live" | "waiting" | "stopped"} State
 *
 * @typedef {Object} Options
 * @property {string} origin              Where Towpath answers, as `https://events.example.com`.
 * @property {string} channel             As `job:42`.
 * @property {string | ((refused: boolean) => string | Promise<string>)} token  A grant, key or access token; or how to get
 *   one, asked before each request, with true when the last one was answered 401.
 * @property {(snapshot: Snapshot) => void} onSnapshot  Replaces whatever is known; comes first, and again after a loss.
 * @property {(event: ChannelEvent) => void} onEvent    Each event after the snapshot once, in the order of its sequence.
 * @property {(state: State, error?: Error) => void} [onState]
 * @property {AbortSignal} [signal]       Stops following.
 * @property {typeof fetch} [fetch]
 * @property {number} [maxHeld]           Events held out of order before a new snapshot is loaded instead (1,000).
 * @property {number} [minDelay]          Milliseconds before the first new attempt (500); doubles, with jitter.
 * @property {number} [maxDelay]          The longest pause between attempts (30,000).
 * @property {number} [silence]           Milliseconds without a byte after which a connection counts as lost (40,000).
 */

const POINTER = "beyond-cdn-pointer/1";
const RESYNC = "resync.required";
const REMEMBERED = 10_000;

/** The server's refusal; `fatal` when trying again would not help. */
export class Refused extends Error {
  /** @param {number} status @param {string} code @param {string} message @param {number} retryAfter seconds */
  constructor(status, code, message, retryAfter) {
    super(`${status} ${code}: ${message}`);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
    this.fatal = status >= 400 && status < 500 && ![401, 408, 410, 429].includes(status);
  }
}

/**
 * Follows until the signal aborts or the server refuses for good. Rejects only with that refusal, or with what a
 * callback has thrown.
 * @param {Options} options
 * @returns {Promise<void>}
 */
export function follow(options) {
  return new Follower(options).run();
}

class Follower {
  /** @param {Options} options */
  constructor(options) {
    this.options = { maxHeld: 1000, minDelay: 500, maxDelay: 30_000, silence: 40_000, onState() {}, ...options };
    this.fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    this.signal = options.signal ?? new AbortController().signal;
    /** @type {number | null} The sequence of the last event applied; null before the first snapshot. */
    this.cursor = null;
    /** @type {Map<number, ChannelEvent>} Events that have come before their turn. */
    this.held = new Map();
    /** @type {Set<string>} */
    this.seen = new Set();
    this.wanted = 0; // the highest sequence that a pointer has named
    this.mustReload = false;
    this.failures = 0;
    this.unauthenticated = 0;
  }

  async run() {
    while (!this.signal.aborted) {
      try {
        this.options.onState("connecting");
        await this.connect();
        await this.pause();
      } catch (error) {
        if (this.signal.aborted) break;
        if (!isPassing(error) || (error.status === 401 && ++this.unauthenticated > 1)) {
          this.options.onState("stopped", error);
          throw error;
        }
        await this.pause(error);
      }
    }
    this.options.onState("stopped");
  }

  /** One connection, from joining to its end. */
  async connect() {
    const connection = new AbortController();
    const end = () => connection.abort();
    this.signal.addEventListener("abort", end, { once: true });
    let reader;
    try {
      const answer = await this.request("live", connection.signal);
      reader = frames(answer.body, this.options.silence, end);
      // 1. Subscribed: from the first frame on, `: joined`, whatever happens is told to this connection or in the replay.
      if ((await reader.next()).done) throw new TypeError("The connection ended at once.");
      await this.receive(reader);
    } finally {
      this.signal.removeEventListener("abort", end);
      end();
      await reader?.return(undefined).catch(() => {});
    }
  }

  /** @param {AsyncGenerator<string>} reader */
  async receive(reader) {
    // 2. The state is loaded while frames are buffered: by the reader, in the connection.
    const lines = pump(reader, this.options.maxHeld);
    await (this.cursor === null ? this.reload() : this.replay());
    this.failures = this.unauthenticated = 0;
    this.options.onState("live");
    for (;;) {
      for (const data of lines.taken()) this.take(JSON.parse(data));
      if (this.mustReload || lines.spilled() || this.held.size > this.options.maxHeld) await this.reload();
      if (this.held.size || this.wanted > this.cursor) await this.replay();
      if (lines.empty && !(await lines.more())) return;
    }
  }

  /** @param {any} said */
  take(said) {
    if (said.type === RESYNC && said.id === undefined) this.mustReload = true;
    else if (said.type === POINTER && said.id === undefined) this.wanted = Math.max(this.wanted, said.sequence);
    else if (said.sequence === this.cursor + 1) this.apply(said);
    else if (said.sequence > this.cursor) this.held.set(said.sequence, said);
    this.release();
  }

  /** 3. and 4. In the order of the sequence, each once. @param {ChannelEvent} event */
  apply(event) {
    if (event.sequence <= this.cursor) return;
    this.cursor = event.sequence;
    if (this.seen.has(event.id)) return;
    this.seen.add(event.id);
    if (this.seen.size > REMEMBERED) this.seen.delete(this.seen.values().next().value);
    this.options.onEvent(event);
  }

  release() {
    for (const sequence of this.held.keys()) if (sequence <= this.cursor) this.held.delete(sequence);
    for (let next; (next = this.held.get(this.cursor + 1)); ) {
      this.held.delete(next.sequence);
      this.apply(next);
    }
  }

  /** 5. Closes gaps: everything after the cursor, in order. */
  async replay() {
    for (let more = true; more && !this.signal.aborted; ) {
      let page;
      try {
        page = await (await this.request(`events?after=${this.cursor}&limit=1000`)).json();
      } catch (error) {
        if (error.code === "CURSOR_EXPIRED") return this.reload();
        throw error;
      }
      for (const event of page.events) this.apply(event);
      this.cursor = Math.max(this.cursor, Number(page.cursor));
      more = page.more;
    }
    this.release();
    // What a pointer named is in the replay or before the cursor by now.
    this.wanted = 0;
  }

  /** 6. Starts over. */
  async reload() {
    const snapshot = await (await this.request("snapshot")).json();
    this.cursor = Number(snapshot.cursor);
    this.mustReload = false;
    this.options.onSnapshot(snapshot);
    if (this.held.size > this.options.maxHeld) this.held.clear();
    this.release();
    if (this.wanted <= this.cursor) this.wanted = 0;
  }

  /** @param {string} path @param {AbortSignal} [signal] @returns {Promise<Response>} */
  async request(path, signal = this.signal) {
    const { origin, channel, token, silence } = this.options;
    const url = `${origin}/v1/streams/${encodeURIComponent(channel)}/${path}`;
    const headers = { Authorization: `Bearer ${typeof token === "function" ? await token(this.unauthenticated > 0) : token}` };
    const late = path === "live" ? signal : AbortSignal.any([signal, AbortSignal.timeout(silence)]);
    const answer = await this.fetch(url, { headers, signal: late, cache: "no-store" });
    if (answer.ok) return answer;
    const problem = await answer.json().catch(() => ({}));
    const { code = "UNKNOWN", message = answer.statusText } = problem.error ?? {};
    throw new Refused(answer.status, code, message, Number(answer.headers.get("Retry-After") ?? 0));
  }

  /** @param {Error & {retryAfter?: number}} [error] */
  async pause(error) {
    const { minDelay, maxDelay, onState } = this.options;
    const delay = Math.max(Math.min(maxDelay, minDelay * 2 ** this.failures++), (error?.retryAfter ?? 0) * 1000);
    onState("waiting", error);
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, delay * (0.5 + Math.random() / 2));
      this.signal.addEventListener("abort", () => (clearTimeout(timer), resolve(undefined)), { once: true });
    });
  }
}

/** Whether trying again may help: the network's and the server's troubles, never a fault of a callback. @param {any} error */
function isPassing(error) {
  if (error instanceof Refused) return !error.fatal;
  return error?.passing === true || ["AbortError", "TimeoutError"].includes(error?.name) || isNetwork(error);
}

/** fetch says TypeError of a lost network, and a broken body has a cause. @param {any} error */
function isNetwork(error) {
  return error instanceof TypeError && /fetch|network|terminated|ended|load failed/i.test(error.message);
}

/**
 * The frames of an event stream: the data of each, empty for a comment.
 * @param {ReadableStream<Uint8Array>} body @param {number} silence @param {() => void} end
 * @returns {AsyncGenerator<string>}
 */
async function* frames(body, silence, end) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const timer = setTimeout(end, silence);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const parts = text.split(/\r\n\r\n|\n\n|\r\r/);
    text = parts.pop() ?? "";
    for (const part of parts) {
      const lines = part.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:"));
      yield lines.map((line) => line.slice(line[5] === " " ? 6 : 5)).join("\n");
    }
  }
}

/**
 * Takes frames in as they come, so that they can be looked at when there is time; no more than so many.
 * @param {AsyncGenerator<string>} reader @param {number} most
 */
function pump(reader, most) {
  /** @type {string[]} */
  let waiting = [];
  let ended = false;
  let spilled = false;
  /** @type {any} */
  let failure = null;
  let wake = () => {};
  (async () => {
    try {
      for await (const data of reader) {
        if (waiting.length >= most) spilled = true;
        else if (data) waiting.push(data);
        wake();
      }
    } catch (error) {
      failure = error;
    }
    ended = true;
    wake();
  })();
  return {
    get empty() {
      return waiting.length === 0;
    },
    spilled() {
      const before = spilled;
      spilled = false;
      return before;
    },
    /** Whether anything has come; false at the end of the connection. */
    async more() {
      if (!ended && waiting.length === 0) await new Promise((resolve) => (wake = () => resolve(undefined)));
      if (ended && waiting.length === 0 && failure) throw failure;
      return !ended || waiting.length > 0;
    },
    taken() {
      const taken = waiting;
      waiting = [];
      return taken;
    },
  };
}
