// The admin's page that follows a channel, with the same client that everybody else uses and a short grant of its own.
import { follow } from "./client.js";

const SHOWN = 100;
const CHARACTERS = 2000;
const SPARE_MS = 30_000; // a grant is replaced so long before its end

const page = document.getElementById("follow");
const part = (name) => document.getElementById(`follow-${name}`);
const counts = { events: 0, snapshots: 0 };
const stop = new AbortController();
let grant = { token: "", until: 0 };

async function token(refused) {
  if (!refused && Date.now() < grant.until) return grant.token;
  const form = new FormData();
  form.append("csrfmiddlewaretoken", page.querySelector("[name=csrfmiddlewaretoken]").value);
  const answer = await fetch(page.dataset.grant, { method: "POST", body: form, redirect: "manual", signal: stop.signal });
  if (!answer.ok) throw new Error("you are no longer logged in, or may not follow channels");
  const made = await answer.json();
  grant = { token: made.token, until: Date.parse(made.expiresAt) - SPARE_MS };
  return grant.token;
}

function cell(text, kind = "") {
  const made = document.createElement("td");
  made.className = kind;
  made.textContent = text;
  return made;
}

function reached(sequence) {
  part("sequence").textContent = sequence.toLocaleString();
}

function onSnapshot(snapshot) {
  part("snapshots").textContent = ++counts.snapshots;
  part("documents").textContent = JSON.stringify(snapshot.data, null, 2);
  reached(snapshot.sequence);
}

function onEvent(event) {
  const row = document.createElement("tr");
  const text = JSON.stringify(event.data) ?? "";
  row.append(
    cell(event.sequence.toLocaleString(), "tp-number"),
    cell(new Date(event.time).toLocaleTimeString(), "tp-nowrap"),
    cell(event.type, "tp-wrap"),
    cell(text.length > CHARACTERS ? `${text.slice(0, CHARACTERS)} …` : text, "tp-wrap tp-mono"),
  );
  part("events").prepend(row);
  while (part("events").children.length > SHOWN) part("events").lastChild.remove();
  part("count").textContent = (++counts.events).toLocaleString();
  reached(event.sequence);
}

const WORDS = { connecting: "Connecting …", live: "Live.", waiting: "Lost the connection; trying again.", stopped: "Stopped." };

function onState(state, error) {
  const line = part("state");
  line.textContent = error ? `${WORDS[state]} (${error.message})` : WORDS[state];
  line.classList.toggle("tp-stale", state === "stopped" || (state === "waiting" && Boolean(error)));
  page.dataset.state = state;
}

addEventListener("pagehide", () => stop.abort());
follow({
  origin: location.origin,
  channel: page.dataset.channel,
  token,
  onSnapshot,
  onEvent,
  onState,
  signal: stop.signal,
}).catch((error) => onState("stopped", error));
