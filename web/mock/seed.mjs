//! A made-up fleet in the daemon's wire shapes: what the board looks like on a busy evening. Seeded, so pictures repeat.

export function random(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const STATES = {
  needs_permission: ["needs_you", "shield", "urgent", "attention_needed", 0],
  awaiting_input: ["needs_you", "question", "urgent", "attention_needed", 1],
  interrupted: ["needs_you", "pause", "orange", "idle", 2],
  error: ["needs_you", "triangle", "red", "idle", 3],
  awaiting_approval: ["needs_you", "plan", "urgent", "attention_needed", 4],
  idle: ["needs_you", "circle", "calm", "idle", 5],
  thinking: ["running", "spark", "working", "working", 0],
  acting: ["running", "tool", "working", "working", 0],
  delegating: ["running", "branch", "working", "working", 0],
  compacting: ["running", "fold", "working", "working", 0],
  waiting_background: ["running", "clock", "working", "working", 0],
  session_ended: ["done", "check", "muted", "ended", 0],
};

const PROJECTS = {
  "billing-api": ["Store invoice totals as integer cents|fix/rounding", "Retry failed webhook deliveries|feat/webhook-retries", "Backfill cents for old invoices|main", "Idempotency keys for charges|feat/charge-api", "Split the tax engine into rules|feat/tax-engine", "Make clippy pass with the new lints|fix/ci-clippy", "Signed URLs for invoice downloads|feat/signed-urls", "Document the retry headers|docs/retries", "Reject charges without a currency|fix/currency", "Credit notes keep their number|feat/credit-notes", "Page through invoices by cursor|feat/cursors", "Log every refund with its reason|feat/refund-log", "Drop the old float column|chore/drop-float", "Faster month-end close|perf/close"],
  infra: ["Peer the staging network with the data account|feat/peering", "Upgrade the cluster to the next minor|chore/cluster", "Tag every bucket with its owner|chore/tags", "Alert when a certificate nears its end|feat/cert-alerts", "Rotate the staging certificates|chore/certs", "Rebase the release branch on main|release/2.4", "Move state to the new backend|chore/state", "Cut idle nodes at night|feat/night", "One dashboard per service|feat/dashboards", "Backups restore in a test|feat/restore-test", "Deny public buckets by policy|fix/public", "Pin every base image|chore/pins", "Smaller runners for docs|chore/runners", "Explain the on-call rota|docs/rota"],
  ingest: ["Find why the batch writer stalls|perf/writer", "Write hourly Parquet files|feat/parquet-sink", "Stop committing an offset twice after a rebalance|fix/dup-offsets", "Check every topic against the registry|feat/schema-registry", "Compare zstd levels on last week's data|perf/zstd", "Load test with 200 tenants|perf/tenants", "Dead letters keep their headers|fix/headers", "Back off when the sink is slow|feat/backoff", "Drop the polling consumer|chore/polling", "Count late events per tenant|feat/late", "Replay a day by command|feat/replay", "Shrink the test fixtures|chore/fixtures", "Trace a message end to end|feat/trace", "Name threads after topics|chore/names"],
  "ledger-web": ["Currency switcher in the statement view|feat/currency-switch", "Export statements as PDF|feat/pdf-export", "Fix contrast in the statement table|fix/a11y-contrast", "Replace polling with server-sent events|feat/sse-board", "Virtualise the transactions table|feat/table-virtual", "Move the build to the next major|chore/build", "Dark mode for the print view|feat/print-dark", "Upgrade the e2e runner|chore/e2e", "Keyboard shortcuts for search|feat/keys", "Sort by booking date|fix/sort", "Empty state for new accounts|feat/empty", "Remember the last filter|feat/remember", "Split the settings page|chore/settings", "Format amounts by locale|fix/locale"],
};
const PROMPTS = ["run the whole suite against postgres, not only the unit tests", "keep the old header working for two releases", "use subagents for the search and leave the public API alone", "also update the OpenAPI file", "look at the failing job first"];
const COMMANDS = ["cargo test -p billing --features pg -- --nocapture", "go tool pprof -top -nodecount=40 cpu.out", "terraform plan -target=module.peering", "git push --force-with-lease origin release/2.4", "npm run build && npm test", "cargo clippy --workspace -- -D warnings", "make bench LEVELS=\"1 3 6 9\""];
const TODOS = ["Reproduce it in a test", "Profile with a slow sink", "Shorten the critical section", "Find other holders of the lock", "Stress the backpressure tests", "Write down the locking rule", "Update the changelog"];
export const MODELS = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5"];

const iso = (ms) => new Date(ms).toISOString();

export function setState(s, state, label, { since, detail = null, reason = null } = {}) {
  const [group, icon, role, kind] = STATES[state];
  const same = s.agent_state?.state === state;
  s.agent_state = { group, state, label, icon, role, since: same ? s.agent_state.since : iso(since ?? Date.now()), source: "hook" };
  s.status = { kind, detail, reason };
  s.fleet_status = kind === "attention_needed" ? "attention" : state === "error" ? "error" : kind === "working" ? "working" : "done";
  s.quiet_since = null;
  rank(s);
}

/** The order of DESIGN §4, so that the mock's board looks like the daemon's. The page only compares these strings. */
export function rank(s) {
  const urgency = STATES[s.agent_state.state][4];
  const tier = { warm: 0, unknown: 1, cold: 2 }[s.cache?.status ?? "unknown"];
  const newest = (at) => String(9_999_999_999_999 - Date.parse(at)).padStart(13, "0");
  if (s.agent_state.group === "needs_you") {
    s.rank = { default: `${tier}${urgency}${newest(s.agent_state.since)}`, urgency: `${urgency}${tier}${newest(s.agent_state.since)}` };
  } else {
    const key = newest(s.ended_at ?? s.current_turn_started_at ?? s.last_activity_at);
    s.rank = { default: key, urgency: key };
  }
}

export function blank(id, cwd, now) {
  const name = cwd ? (cwd.split("/").filter(Boolean).at(-1) ?? cwd) : "Unknown project";
  const s = {
    id, continues: null, ended_at: null, end_reason: null, seat: { pid: 4000, pane: null, tmux_socket: null, name: null, host: null },
    project: { name, path: cwd ?? null, worktree: null }, git_branch: null, transcript_path: null, title: null, last_user_message: null, model: null,
    permission_mode: "default", agent_state: null, status: null, fleet_status: "done", rank: null, quiet_since: null, stale: false, seen: false,
    current_activity: null, started_at: iso(now), last_activity_at: iso(now), turn_count: 0, current_turn_started_at: null, last_turn_task_seconds: null,
    tokens: null, cost: null, context: null, cache: { status: "unknown", expires_at: null }, sub_agents: [], progress_items: [], background: { agents: 0, shells: 0 }, queued_prompts: 0,
    last_failure: null, asks: [], assignment: null, effort: null,
  };
  setState(s, "idle", "Ready", { since: now });
  return s;
}

const MIX = [
  "needs_permission", "awaiting_input", "acting", "thinking", "idle", "acting", "needs_permission", "delegating", "thinking", "awaiting_approval", "acting", "session_ended",
  "interrupted", "acting", "thinking", "error", "acting", "idle", "compacting", "acting", "waiting_background", "thinking", "acting", "session_ended", "needs_permission", "thinking", "acting",
];

export function seedFleet(n, now = Date.now(), seed = 7) {
  const rnd = random(seed);
  return Array.from({ length: n }, (_, i) => seedSession(i, now, rnd));
}

const pick = (rnd, list) => list[Math.floor(rnd() * list.length)];

function seedSession(i, now, rnd) {
  const names = Object.keys(PROJECTS);
  const project = names[(i * 3 + (i >> 2)) % names.length];
  const [title, branch] = PROJECTS[project][(i >> 2) % PROJECTS[project].length].split("|");
  const s = blank(`${(0x9c41e2f0 + i * 7919).toString(16)}-1f2e-4d3c-8b5a-${String(i).padStart(12, "0")}`, `/home/dev/${project}`, now - 3_600_000 * (1 + rnd() * 5));
  const turnStart = now - rnd() * 900_000 - 30_000;
  Object.assign(s, {
    title, git_branch: branch, last_user_message: rnd() < 0.5 ? pick(rnd, PROMPTS) : null,
    model: pick(rnd, MODELS.slice(0, 2)), turn_count: 1 + Math.floor(rnd() * 12), current_turn_started_at: iso(turnStart), last_activity_at: iso(now - rnd() * 60_000),
    last_turn_task_seconds: 20 + rnd() * 500, seen: rnd() < 0.4, seat: { pid: 4000 + i, pane: `%${10 + i}`, tmux_socket: null, name: null, host: i % 11 === 10 ? "bench-01" : null },
  });
  if (i % 3 === 0) s.project.worktree = `${project.split("-")[0]}-${s.git_branch.split("/").at(-1)}`;
  money(s, 200_000 + rnd() * 8_000_000);
  const percent = 5 + rnd() * 88;
  s.context = { tokens: Math.round(percent * 10_000), window: 1_000_000, percent: Math.round(percent * 10) / 10 };
  const cold = rnd() < 0.2;
  s.cache = cold ? { status: "cold", expires_at: iso(now - 60_000) } : { status: "warm", expires_at: iso(now + rnd() * 3_600_000) };
  const todos = Math.floor(rnd() * 8);
  const done = Math.floor(rnd() * (todos + 1));
  s.progress_items = TODOS.slice(0, todos).map((title, k) => ({ id: String(k + 1), title, status: k < done ? "completed" : k === done ? "in_progress" : "pending" }));
  place(s, MIX[i % MIX.length], now, rnd);
  return s;
}

export function money(s, micros) {
  const usd = Math.round(micros);
  s.cost = { usd_micros: usd, client_usd_micros: null, unpriced_models: [], by_model: [{ model: s.model ?? MODELS[0], usd_micros: Math.round(usd * 0.78) }, { model: MODELS[2], usd_micros: Math.round(usd * 0.22) }] };
  s.tokens = { input: 900, output: Math.round(usd / 60), cache_read: Math.round(usd / 2), cache_creation_5m: Math.round(usd / 40), cache_creation_1h: 0 };
}

/** Puts a seeded session into a state, with the data such a session would have. */
export function place(s, state, now, rnd) {
  const since = now - Math.floor(5_000 + rnd() * 700_000);
  s.asks = [];
  s.current_activity = null;
  if (state === "needs_permission") permission(s, since, rnd);
  else if (state === "awaiting_input") question(s, since);
  else if (state === "awaiting_approval") plan(s, since);
  else if (state === "acting") acting(s, now - Math.floor(rnd() * 120_000), rnd);
  else if (state === "delegating") delegating(s, since, now);
  else if (state === "waiting_background") { s.background = { agents: 2, shells: 0 }; setState(s, state, "Waiting on 2 background agents", { since }); }
  else if (state === "error") setState(s, state, "Failed: rate limit", { since });
  else if (state === "interrupted") setState(s, state, "You interrupted Bash", { since });
  else if (state === "idle") { if (rnd() < 0.3) s.background = { agents: 0, shells: 1 }; setState(s, state, "Waiting for your next prompt", { since }); }
  else if (state === "session_ended") { s.ended_at = iso(since); s.end_reason = rnd() < 0.3 ? "process_died" : "prompt_input_exit"; setState(s, state, "Session closed", { since }); }
  else setState(s, state, state === "compacting" ? "Compacting" : "Thinking", { since: now - Math.floor(rnd() * 90_000) });
}

/** One of the daemon's list: enough to see that it asks twice. */
export const caution = (command) => (/git push.* (--force|-f)/.test(command ?? "") ? "Force push" : null);

let askCount = 0;
export function ask(s, fields, openedMs) {
  return {
    id: `ask-${++askCount}`, session_id: s.id, agent_id: null, kind: "permission", tool_name: null, tool_input: null, questions: null, suggestions: [], caution: null, message: null,
    requested_schema: null, url: null, mcp_server_name: null, opened_at: iso(openedMs), expires_at: iso(openedMs + 595_000), answerable: true, resolution: null, ...fields,
  };
}

function permission(s, since, rnd) {
  const opened = Math.max(since, Date.now() - 580_000);
  if (rnd() < 0.3) {
    const tool_input = { file_path: "src/statement/formatAmount.ts", old_string: "export function formatAmount(m: Money) {\n  return \"€\" + (m.cents / 100).toFixed(2)\n}", new_string: "export function formatAmount(m: Money) {\n  return format(m.cents / 100, {\n    style: \"currency\", currency: m.currency })\n}" };
    s.asks = [ask(s, { tool_name: "Edit", tool_input, suggestions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }] }, opened)];
    setState(s, "needs_permission", "Permission for Edit: src/statement/formatAmount.ts", { since: opened, reason: "Permission for Edit" });
    return;
  }
  const command = pick(rnd, COMMANDS);
  const rule = `${command.split(" ").slice(0, 2).join(" ")}:*`;
  const suggestions = [{ type: "addRules", rules: [{ toolName: "Bash", ruleContent: rule }], behavior: "allow", destination: "localSettings" }, { type: "addRules", rules: [{ toolName: "Bash", ruleContent: command }], behavior: "allow", destination: "session" }];
  s.asks = [ask(s, { tool_name: "Bash", tool_input: { command, description: null }, suggestions, caution: caution(command) }, opened)];
  setState(s, "needs_permission", `Permission for Bash: ${command}`, { since: opened, reason: "Permission for Bash" });
}

function question(s, since) {
  const opened = Math.max(since, Date.now() - 500_000);
  const questions = [{ question: "How should a failed delivery be retried?", header: "Retries", multiSelect: false, options: [{ label: "Exponential backoff", description: "1 s to 1 h, give up after 24 h" }, { label: "Fixed interval", description: "every 5 minutes, 12 times" }, { label: "Dead-letter queue", description: "no retry, replay by hand" }] }];
  s.asks = [ask(s, { kind: "question", tool_name: "AskUserQuestion", tool_input: { questions }, questions }, opened)];
  setState(s, "awaiting_input", questions[0].question, { since: opened, reason: "AskUserQuestion" });
}

function plan(s, since) {
  const opened = Math.max(since, Date.now() - 400_000);
  const text = "1. Add `sink/parquet` behind the existing `Sink` interface\n2. Roll files hourly, fsync, then rename into place\n3. Backfill from JSON, golden-file tests, benchmark";
  s.asks = [ask(s, { kind: "plan", tool_name: "ExitPlanMode", tool_input: { plan: text } }, opened)];
  setState(s, "awaiting_approval", "Plan ready", { since: opened, reason: "ExitPlanMode" });
}

export function acting(s, since, rnd) {
  const edit = rnd() < 0.35;
  const what = edit ? "src/table/useWindow.ts" : pick(rnd, COMMANDS);
  s.current_activity = what;
  s.last_failure = rnd() < 0.12 ? { tool: "Bash", error: "tsc exited 2", at: iso(since) } : null;
  setState(s, "acting", `${edit ? "Edit" : "Bash"}: ${what}`, { since, detail: edit ? "Edit" : "Bash" });
  if (rnd() < 0.1) s.quiet_since = iso(since + 1000);
}

function delegating(s, since, now) {
  s.sub_agents = [
    { id: "a1", type: "Explore", state: "working", label: "Grep: reconnect", started_at: iso(since), ended_at: null },
    { id: "a2", type: "Explore", state: "working", label: null, started_at: iso(since + 4000), ended_at: null },
    { id: "a3", type: "test-writer", state: "done", label: null, started_at: iso(now - 200_000), ended_at: iso(now - 142_000) },
  ];
  setState(s, "delegating", "Running Explore subagent", { since, detail: "Explore" });
}
