/** The part of the daemon's HTTP interface that the page uses. */
import type { Answer } from "../generated/Answer";
import type { Ask } from "../generated/Ask";
import type { Assignment } from "../generated/Assignment";
import type { AssignmentList } from "../generated/AssignmentList";
import type { ConversationPage } from "../generated/ConversationPage";
import type { Digest } from "../generated/Digest";
import type { Effort } from "../generated/Effort";
import type { EffortList } from "../generated/EffortList";
import type { EventPage } from "../generated/EventPage";
import type { Explanation } from "../generated/Explanation";
import type { FleetHistory } from "../generated/FleetHistory";
import type { Focused } from "../generated/Focused";
import type { GuardReport } from "../generated/GuardReport";
import type { HookStatus } from "../generated/HookStatus";
import type { HostList } from "../generated/HostList";
import type { Interrupt } from "../generated/Interrupt";
import type { Logged } from "../generated/Logged";
import type { Numbers } from "../generated/Numbers";
import type { ParkSession } from "../generated/ParkSession";
import type { Pressed } from "../generated/Pressed";
import type { ReportVisibility } from "../generated/ReportVisibility";
import type { Resolution } from "../generated/Resolution";
import type { SendPrompt } from "../generated/SendPrompt";
import type { Session } from "../generated/Session";
import type { Usage } from "../generated/Usage";
import type { VisibilityNoted } from "../generated/VisibilityNoted";

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

export async function request<T>(
  method: string,
  path: string,
  body?: unknown,
  more?: RequestInit,
): Promise<T> {
  const init: RequestInit = { ...more, method, headers: { accept: "application/json" }, cache: "no-store" };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { accept: "application/json", "content-type": "application/json" };
  }
  const response = await fetch(path, init);
  const text = await response.text();
  const json: unknown = text ? safeJson(text) : null;
  if (!response.ok) throw new Refusal(response.status, json, `${method} ${path}`);
  return json as T;
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const at = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;

export const getSession = (id: string) => request<Session>("GET", at(id));
export const getExplanation = (id: string) => request<Explanation>("GET", `${at(id)}/explain`);
export const getNumbers = (id: string) => request<Numbers>("GET", `${at(id)}/numbers`);
export const getHosts = () => request<HostList>("GET", "/api/hosts");
export const getHookStatus = () => request<HookStatus>("GET", "/hook/status");
/** What the guard rules of an effort would have done in recorded history. */
export const getGuardHistory = (id: string) =>
  request<GuardReport>("GET", `/api/efforts/${encodeURIComponent(id)}/guard-history`);
/** `since` is a time, a date, or a span such as `7d`. */
export const getUsageOf = (since: string) =>
  request<Usage>("GET", `/api/usage?since=${encodeURIComponent(since)}`);
export const getHours = (since: string) =>
  request<Usage>("GET", `/api/usage?by=hour&since=${encodeURIComponent(since)}`);
export const getFleetHistory = (sinceIso: string) =>
  request<FleetHistory>("GET", `/api/fleet/history?since=${encodeURIComponent(sinceIso)}`);

export type AssignmentQuery = {
  project?: string;
  state?: string;
  since?: string;
  before?: string;
  limit: number;
};
/** A page of assignments, the newest first. */
export const getAssignments = ({ limit, ...filters }: AssignmentQuery) => {
  const query = new URLSearchParams({ limit: String(limit) });
  for (const [name, value] of Object.entries(filters)) query.set(name, value);
  return request<AssignmentList>("GET", `/api/assignments?${query.toString()}`);
};
export const getAssignment = (id: string) =>
  request<Assignment>("GET", `/api/assignments/${encodeURIComponent(id)}`);
export type EffortQuery = { lifecycle?: string; skill?: string; before?: string; limit: number };
/** A page of efforts: the active ones, then the finished ones, the newest first. */
export const getEfforts = ({ limit, ...filters }: EffortQuery) => {
  const query = new URLSearchParams({ limit: String(limit) });
  for (const [name, value] of Object.entries(filters)) query.set(name, value);
  return request<EffortList>("GET", `/api/efforts?${query.toString()}`);
};
export const getEffort = (id: string) => request<Effort>("GET", `/api/efforts/${encodeURIComponent(id)}`);
/** `since` is a time, a date, or a word such as `yesterday`. */
export const getDigest = (since: string) =>
  request<Digest>("GET", `/api/digest?since=${encodeURIComponent(since)}`);

/** Includes the payloads, which have the tool call ids and the messages. */
export const getEvents = (
  id: string,
  { limit, ...from }: { after?: number; before?: number; limit: number },
) => {
  const query = new URLSearchParams({ payload: "1", limit: String(limit) });
  for (const [name, seq] of Object.entries(from)) query.set(name, String(seq));
  return request<EventPage>("GET", `${at(id)}/events?${query.toString()}`);
};

/** Without `before` the newest messages. */
export const getConversation = (id: string, { before, limit }: { before?: number; limit: number }) => {
  const query = new URLSearchParams({ limit: String(limit) });
  if (before !== undefined) query.set("before", String(before));
  return request<ConversationPage>("GET", `${at(id)}/conversation?${query.toString()}`);
};

export const postAnswer = (askId: string, answer: Answer) =>
  request<Resolution>("POST", `/api/asks/${encodeURIComponent(askId)}/answer`, { ...answer, via: "web" });
/** The browser finishes this request after the page is gone. No reply is read. */
export function postAnswerOnLeave(askId: string, answer: Answer): void {
  void fetch(`/api/asks/${encodeURIComponent(askId)}/answer`, {
    method: "POST",
    keepalive: true,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...answer, via: "web" }),
  });
}
export const getAsk = (askId: string) => request<Ask>("GET", `/api/asks/${encodeURIComponent(askId)}`);

/** The person's choices for the daemon's questions about a prompt. */
export type How = Omit<SendPrompt, "session_id" | "text">;
export const postPrompt = (id: string, text: string, how: How) =>
  request<Pressed>("POST", `${at(id)}/prompt`, { text, ...how });
export const postInterrupt = (id: string, what: Omit<Interrupt, "session_id">) =>
  request<Pressed>("POST", `${at(id)}/interrupt`, what);
export const postFocus = (id: string) => request<Focused>("POST", `${at(id)}/focus`, {});
/** Without `until` the session stays parked until its next change. */
export const postPark = (id: string, how: Partial<Omit<ParkSession, "session_id">>) =>
  request<Logged>("POST", `${at(id)}/park`, how);
export const postVisibility = (report: ReportVisibility) =>
  request<VisibilityNoted>("POST", "/api/notify/visible", report, { keepalive: true });
export const postSeen = (id: string) => request<Logged>("POST", `${at(id)}/seen`, {});
