#!/usr/bin/env node
//! Stands in for the daemon while the page is built: serves dist under the daemon's CSP and plays a fleet over the real
//! wire shapes. No dependency. `node mock-server.mjs --port 0 --sessions 54 --rate 4`; `POST /__mock/<order>` for tests.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { applyAnswer, applyHook } from "./mock/hooks.mjs";
import { eventsOf, explain, spansOf } from "./mock/history.mjs";
import { step } from "./mock/play.mjs";
import { random, seedFleet } from "./mock/seed.mjs";

const { values: options } = parseArgs({ options: { port: { type: "string", default: "47892" }, sessions: { type: "string", default: "54" }, rate: { type: "string", default: "4" }, dist: { type: "string" } } });
const dist = options.dist ?? join(fileURLToPath(new URL(".", import.meta.url)), "dist");
const CSP = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png", ".webmanifest": "application/manifest+json" };
const REPLAY_MAX = 2_000;

let boot = newBoot();
let n = 0;
let refusing = false;
let paused = false;
let hooks = { registered: ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PermissionRequest", "Stop", "SessionEnd"], missing: [], stale: [], wanted: true, via: "shim", drift: false, problem: null, fix: null };
const PATHS = ["/api/usage", ...["prompt", "interrupt", "focus", "seen"].map((what) => `/api/sessions/{id}/${what}`)];
let eventsTotal = 0;
let lastEventAt = null;
const sessions = new Map();
const replay = [];
const viewers = new Set();
const logs = new Map();
const heldReplies = new Map();
const fleet = { get: (id) => sessions.get(id), put: (s) => sessions.set(s.id, s), all: () => [...sessions.values()] };
for (const s of seedFleet(Number(options.sessions))) fleet.put(s);
if (sessions.size > 0) { eventsTotal = 4200; lastEventAt = Date.now(); }

function newBoot() {
  return Math.random().toString(36).slice(2, 10);
}

function frame(event, data, id) {
  return `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}
const snapshotFrame = () => frame("snapshot", { boot, n, sessions: fleet.all() }, `${boot}-${n}`);

function publish(event, data) {
  n++;
  const text = frame(event, data, `${boot}-${n}`);
  replay.push({ n, text });
  if (replay.length > REPLAY_MAX) replay.shift();
  for (const viewer of viewers) viewer.write(text);
}

function stream(req, res) {
  res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  const [seenBoot, seenN] = (req.headers["last-event-id"] ?? "").split("-");
  const from = Number(seenN);
  const oldest = replay[0]?.n ?? n + 1;
  if (!seenBoot) res.write(snapshotFrame());
  else if (seenBoot !== boot || from + 1 < oldest) res.write(frame("gap", { reason: "unknown id" }, `${boot}-${n}`) + snapshotFrame());
  else for (const { n: at, text } of replay) if (at > from) res.write(text);
  res.write(": hello\n\n");
  viewers.add(res);
  res.on("close", () => viewers.delete(res));
}

const json = (res, status, body) => {
  res.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  res.end(JSON.stringify(body));
};
const body = async (req) => {
  let text = "";
  for await (const piece of req) text += piece;
  return text ? JSON.parse(text) : {};
};
const findAsk = (id) => {
  for (const s of sessions.values()) for (const a of s.asks) if (a.id === id) return [s, a];
  return null;
};

function logOf(s) {
  if (!logs.has(s.id)) logs.set(s.id, s.turn_count > 0 ? eventsOf(s, Date.now()) : []);
  return logs.get(s.id);
}

function hook(payload) {
  const now = Date.now();
  const { session, discovered, opened } = applyHook(fleet, payload, now);
  const log = logs.get(session.id) ?? [];
  logs.set(session.id, log);
  log.push({ seq: ++eventsTotal, id: `e${eventsTotal}`, fired_at: new Date(now).toISOString(), received_at: new Date(now).toISOString(), source: "hook", name: payload.hook_event_name, agent_id: payload.agent_id ?? null, by_person: payload.hook_event_name === "UserPromptSubmit", summary: payload.prompt ?? (payload.tool_name ? `${payload.tool_name} ${payload.tool_input?.command ?? ""}` : payload.hook_event_name), payload });
  lastEventAt = now;
  publish(discovered ? "session_discovered" : session.ended_at ? "session_completed" : "session_updated", { session });
  if (opened) publish("ask_opened", { ask: opened });
  return opened;
}

/** With `x-flightdeck-hold: 1` the reply to a permission request waits for the answer, as the daemon's does. */
function replyTo(req, res, opened) {
  if (opened && req.headers["x-flightdeck-hold"] === "1") return void heldReplies.set(opened.id, res);
  res.writeHead(204, { "x-flightdeck-seq": String(eventsTotal) });
  res.end();
}

function release(a, { decision, message, interrupt, updated_permissions, answers, mode }) {
  const held = heldReplies.get(a.id);
  heldReplies.delete(a.id);
  const updatedInput = answers ? { questions: a.questions, answers } : a.kind === "plan" && decision === "allow" ? { plan: a.tool_input.plan } : undefined;
  const updatedPermissions = updated_permissions ?? (mode && mode !== "default" ? [{ type: "setMode", mode, destination: "session" }] : undefined);
  if (held) json(held, 200, { hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: decision, message, interrupt, updatedInput, updatedPermissions } } });
}

async function answer(req, res, id) {
  const found = findAsk(id);
  if (!found) return json(res, 404, { error: "NOT_FOUND", message: "no such ask" });
  const [s, a] = found;
  const given = await body(req);
  if (a.resolution) return json(res, 409, { error: "ALREADY_ENDED", message: "already resolved", resolution: a.resolution });
  if (a.kind === "question" && given.decision === "allow" && a.questions.some((q) => !given.answers?.[q.question]?.length)) return json(res, 422, { error: "VALIDATION_ERROR", message: "every question needs an answer" });
  applyAnswer(s, a, given, Date.now());
  release(a, given);
  publish("ask_closed", { ask: a });
  publish("session_updated", { session: s });
  json(res, 200, a.resolution);
}

function usage() {
  const total = fleet.all().reduce((sum, s) => sum + (s.cost?.usd_micros ?? 0), 0);
  const rnd = random(3);
  const rows = Array.from({ length: 12 }, (_, i) => ({ key: String(i), usd_micros: Math.round((total / 12) * (0.4 + rnd())) }));
  return { rows, total: { usd_micros: total }, rate_limits: total ? { five_hour: { percent: 72, resets_at: new Date(Date.now() + 3_480_000).toISOString() }, seven_day: { percent: 38, resets_at: new Date(Date.now() + 3 * 86_400_000).toISOString() } } : null };
}

const ORDERS = {
  gap: () => { for (const v of viewers) v.write(frame("gap", { reason: "asked" }, `${boot}-${++n}`) + snapshotFrame()); },
  drop: () => { for (const v of viewers) v.destroy(); },
  restart: () => { boot = newBoot(); n = 0; replay.length = 0; for (const v of viewers) v.destroy(); },
  down: () => { refusing = true; for (const v of viewers) v.destroy(); },
  up: () => { refusing = false; },
  pause: () => { paused = true; },
  clear: () => { sessions.clear(); logs.clear(); eventsTotal = 0; lastEventAt = null; ORDERS.restart(); },
  drift: () => { hooks = { ...hooks, drift: true, missing: ["PermissionRequest", "Stop"], fix: "flightdeck hooks repair" }; },
  repair: () => { hooks = { ...hooks, drift: false, missing: [], fix: null }; },
  patch: ({ id, ...fields }) => { const s = sessions.get(id); Object.assign(s, fields); publish("session_updated", { session: s }); },
};

async function api(req, res, path, url) {
  const [, , kind, id, action] = path.split("/").map(decodeURIComponent);
  if (path === "/api/live/stream") return stream(req, res);
  if (path === "/api/live/hook") return replyTo(req, res, hook(await body(req)));
  if (path === "/api/sessions") return json(res, 200, { boot, n, sessions: fleet.all() });
  if (path === "/api/openapi.json") return json(res, 200, { paths: Object.fromEntries(PATHS.map((p) => [p, {}])) });
  if (path === "/api/usage") return json(res, 200, usage());
  if (path === "/api/fleet/history") {
    const since = Date.parse(url.searchParams.get("since") ?? "") || Date.now() - 4 * 3_600_000;
    return json(res, 200, { sessions: fleet.all().map((s) => ({ id: s.id, title: s.title, project: s.project.name, spans: spansOf(s, since, Date.now()) })) });
  }
  if (kind === "asks" && action === "answer") return answer(req, res, id);
  if (kind === "asks") { const found = findAsk(id); return found ? json(res, 200, found[1]) : json(res, 404, { message: "no such ask" }); }
  const s = kind === "sessions" ? sessions.get(id) : null;
  if (!s) return json(res, 404, { error: "NOT_FOUND", message: "no such session" });
  if (!action) return json(res, 200, s);
  if (action === "events") { const after = Number(url.searchParams.get("after") ?? 0); return json(res, 200, { events: logOf(s).filter((e) => e.seq > after), next_after: null, next_before: null }); }
  if (action === "explain") return json(res, 200, explain(s, logOf(s), Date.now()));
  if (action === "numbers") return json(res, 200, { points: [] });
  if (action === "seen") { s.seen = true; publish("session_updated", { session: s }); return json(res, 202, {}); }
  if (!s.seat?.pane) return json(res, 409, { message: "this session has no tmux pane" });
  return json(res, 202, { confirmed: true, message: "sent" });
}

async function file(res, path) {
  const name = path === "/" ? "index.html" : normalize(path).replace(/^(\.\.[/\\])+/, "");
  try {
    const bytes = await readFile(join(dist, name));
    res.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream", "content-security-policy": CSP, "x-content-type-options": "nosniff" });
    res.end(bytes);
  } catch {
    res.writeHead(404, { "content-type": "text/plain" });
    res.end("not found");
  }
}

const server = createServer(async (req, res) => {
  const url = new URL(req.url, "http://mock");
  const path = url.pathname;
  try {
    if (path.startsWith("/__mock/")) { ORDERS[path.slice(8)]?.(await body(req)); return json(res, 200, { boot, n }); }
    if (refusing && (path.startsWith("/api") || path.startsWith("/hook"))) return req.socket.destroy();
    if (path === "/hook/status") return json(res, 200, { ...hooks, last_event_at: lastEventAt && new Date(lastEventAt).toISOString(), events_total: eventsTotal, by_event: {}, spool: { files: 0, bytes: 0 } });
    if (path === "/healthz") return json(res, 200, { status: "ok", reasons: [] });
    if (path.startsWith("/api/")) return await api(req, res, path, url);
    await file(res, path);
  } catch (error) {
    json(res, 500, { error: "HANDLER_ERROR", message: String(error) });
  }
});

const rnd = random(11);
const rate = Number(options.rate);
if (rate > 0) {
  const perTick = Math.max(1, rate / 50);
  let due = 0;
  setInterval(() => {
    if (paused) return;
    due += rate > 50 ? perTick : rate / 50;
    for (; due >= 1; due--) {
      const s = step(fleet, rnd, Date.now());
      if (s) { lastEventAt = Date.now(); eventsTotal++; publish("session_updated", { session: s }); }
    }
  }, 20);
}
setInterval(() => { for (const v of viewers) v.write(": heartbeat\n\n"); }, 15_000);
server.listen(Number(options.port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
