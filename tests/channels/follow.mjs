// Follows a channel with the platform's own client until a sequence, and prints what it holds and what it applied.
// node follow.mjs CLIENT ORIGIN CHANNEL TOKEN UNTIL
import { pathToFileURL } from "node:url";

const [, , file, origin, channel, token, until] = process.argv;
const { follow } = await import(pathToFileURL(file).href);
const stop = new AbortController();
const applied = [];
const states = {};
let snapshots = 0;
let state = {};
let cursor = -1;

function reached(sequence) {
  cursor = sequence;
  if (cursor >= Number(until)) stop.abort();
}

await follow({
  origin,
  channel,
  token,
  signal: stop.signal,
  minDelay: 20,
  maxDelay: 200,
  silence: 3000,
  onSnapshot({ data, sequence }) {
    snapshots += 1;
    state = structuredClone(data.job ?? {});
    reached(sequence);
  },
  onEvent({ sequence, data }) {
    applied.push(sequence);
    state.total = (state.total ?? 0) + data.n;
    state.last = data.n;
    state.count = (state.count ?? 0) + 1;
    reached(sequence);
  },
  onState(name) {
    states[name] = (states[name] ?? 0) + 1;
  },
});
console.log(JSON.stringify({ applied, state, cursor, snapshots, states }));
