/** The part of the daemon's HTTP interface that the page uses. */
import type { AnswerAsk } from "../generated/AnswerAsk";
import type { Interrupt } from "../generated/Interrupt";
import type { ParkSession } from "../generated/ParkSession";
import type { ReportVisibility } from "../generated/ReportVisibility";
import type { Routes } from "../generated/Routes";
import type { SendPrompt } from "../generated/SendPrompt";

/** An error reply of the daemon. `body` is its JSON, if there was any. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown,
    what: string,
  ) {
    super(messageIn(body) ?? `${what}: the daemon said ${status}`);
  }
}

function messageIn(body: unknown): string | null {
  if (typeof body !== "object" || body === null) return null;
  const { message, reason, error } = body as Record<string, unknown>;
  const text = message ?? reason ?? error;
  return typeof text === "string" ? text : null;
}

type Route = keyof Routes;

/** What a request needs beside its route: the parts of the path in braces, the query, and the body without those parts. */
type RequestParts<R extends Route> = {
  path?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: Partial<Routes[R]["body"]>;
  init?: RequestInit;
};

/** The path of a route with its parts and its query filled in. */
function pathOf(route: Route, { path = {}, query = {} }: RequestParts<Route>): string {
  const template = route.slice(route.indexOf(" ") + 1);
  const filled = template.replace(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(path[part] ?? ""));
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? filled : `${filled}?${new URLSearchParams(given).toString()}`;
}

/** Sends a request of the daemon's table. Types of body and reply follow from the route. */
export async function request<R extends Route>(
  route: R,
  parts: RequestParts<R> = {},
): Promise<Routes[R]["reply"]> {
  const method = route.slice(0, route.indexOf(" "));
  const headers: Record<string, string> = { accept: "application/json" };
  const init: RequestInit = { ...parts.init, method, headers, cache: "no-store" };
  if (parts.body !== undefined) {
    init.body = JSON.stringify(parts.body);
    headers["content-type"] = "application/json";
  }
  const path = pathOf(route, parts);
  const response = await fetch(path, init);
  const text = await response.text();
  const json: unknown = text ? safeJson(text) : null;
  if (!response.ok) throw new Refusal(response.status, json, `${method} ${path}`);
  return json as Routes[R]["reply"];
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const session = (id: string) => ({ path: { id } });

export const getSession = (id: string) => request("GET /api/sessions/{id}", session(id));
export const getExplanation = (id: string) => request("GET /api/sessions/{id}/explain", session(id));
export const getNumbers = (id: string) => request("GET /api/sessions/{id}/numbers", session(id));
export const getHosts = () => request("GET /api/hosts");
export const getHookStatus = () => request("GET /hook/status");
/** What the guard rules of an effort would have done in recorded history. */
export const getGuardHistory = (effort: string) =>
  request("GET /api/efforts/{effort}/guard-history", { path: { effort } });
/** `since` is a time, a date, or a span such as `7d`. */
export const getUsageOf = (since: string) => request("GET /api/usage", { query: { since } });
export const getHours = (since: string) => request("GET /api/usage", { query: { by: "hour", since } });
export const getFleetHistory = (since: string) => request("GET /api/fleet/history", { query: { since } });

export type AssignmentQuery = {
  project?: string;
  state?: string;
  since?: string;
  text?: string;
  before?: string;
  limit: number;
};
/** A page of assignments, the newest first. */
export const getAssignments = (query: AssignmentQuery) => request("GET /api/assignments", { query });
export const getAssignment = (id: string) => request("GET /api/assignments/{id}", { path: { id } });
export type EffortQuery = { lifecycle?: string; skill?: string; before?: string; limit: number };
/** A page of efforts: the active ones, then the finished ones, the newest first. */
export const getEfforts = (query: EffortQuery) => request("GET /api/efforts", { query });
export const getEffort = (id: string) => request("GET /api/efforts/{id}", { path: { id } });
/** `since` is a time, a date, or a word such as `yesterday`. */
export const getDigest = (since: string) => request("GET /api/digest", { query: { since } });

/** Includes the payloads, which have the tool call ids and the messages. */
export const getEvents = (id: string, part: { after?: number; before?: number; limit: number }) =>
  request("GET /api/sessions/{id}/events", { path: { id }, query: { payload: "1", ...part } });

/** Without `before` the newest messages. */
export const getConversation = (id: string, query: { before?: number; limit: number }) =>
  request("GET /api/sessions/{id}/conversation", { path: { id }, query });

const ANSWER_ASK = "POST /api/asks/{id}/answer";
const fromPage = (answer: AnswerAsk) => ({ ...answer, via: "web" as const });
export const postAnswer = (id: string, answer: AnswerAsk) =>
  request(ANSWER_ASK, { path: { id }, body: fromPage(answer) });
/** The browser finishes this request after the page is gone, so its reply and its failure have no reader. */
export function postAnswerOnLeave(id: string, answer: AnswerAsk): void {
  const parts = { path: { id }, body: fromPage(answer), init: { keepalive: true } };
  void request(ANSWER_ASK, parts).catch(() => undefined);
}
export const getAsk = (id: string) => request("GET /api/asks/{id}", { path: { id } });

/** The person's choices for the daemon's questions about a prompt. */
export type How = Omit<SendPrompt, "session_id" | "text">;
export const postPrompt = (id: string, text: string, how: How) =>
  request("POST /api/sessions/{id}/prompt", { path: { id }, body: { text, ...how } });
export const postInterrupt = (id: string, body: Omit<Interrupt, "session_id">) =>
  request("POST /api/sessions/{id}/interrupt", { path: { id }, body });
export const postFocus = (id: string) => request("POST /api/sessions/{id}/focus", { path: { id }, body: {} });
/** Without `until` the session stays parked until its next change. */
export const postPark = (id: string, body: Partial<Omit<ParkSession, "session_id">>) =>
  request("POST /api/sessions/{id}/park", { path: { id }, body });
export const postVisibility = (body: ReportVisibility) =>
  request("POST /api/notify/visible", { body, init: { keepalive: true } });
export const postSeen = (id: string) => request("POST /api/sessions/{id}/seen", { path: { id }, body: {} });
