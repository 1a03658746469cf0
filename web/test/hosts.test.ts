import { expect, test } from "vitest";
import { plainAskOf } from "../src/ask/plainAsk";
import { type Filter, matches } from "../src/board/filter";
import { layOut } from "../src/board/layout";
import type { Ask } from "../src/generated/Ask";
import type { Host } from "../src/generated/Host";
import { cannotAllow, cannotAnswer } from "../src/hosts/answerGate";
import { awayMark, clockText, hostCounts, hostTerms, linkText, versionMark } from "../src/hosts/hostText";
import { session } from "./session";

const host = (parts: Partial<Host>): Host => ({
  name: "build-1",
  this: false,
  hub: false,
  kind: "server",
  version: "0.1.0",
  last_seen: null,
  unreachable_since: null,
  left: false,
  backlog: 0,
  caught_up_percent: null,
  sessions: 0,
  needs_you: 0,
  clock_ahead_seconds: 0,
  clock_differs: false,
  shares_payloads: true,
  accepts: ["answer"],
  refused: 0,
  refused_because: null,
  ...parts,
});

const none: Filter = { text: "", host: [], project: [], branch: [], state: [], model: [] };
const permission = { kind: "permission" } as Ask;
const owner = { accepts: ["answer"], shares_payloads: true };

test("a request of another machine is answered here only if that machine can be asked and accepts it", () => {
  expect(cannotAnswer(session(), permission)).toBeNull();
  expect(cannotAnswer(session({ host: "b", owner }), permission)).toBeNull();
  const away = session({ host: "b", owner, unreachable_since: "2026-11-18T10:41:00Z" });
  expect(cannotAnswer(away, permission)).toContain("once the host is back");
  expect(cannotAnswer(session({ host: "b", owner: { ...owner, accepts: [] } }), permission)).toBe(
    "b does not accept answers from here",
  );
  const silent = session({ host: "b", owner: { ...owner, shares_payloads: false } });
  expect(cannotAnswer(silent, { kind: "question" } as Ask)).toBe("This host does not share what it asks");
});

test("a permission of a host that shares no commands can be denied here, but not allowed", () => {
  const silent = session({ host: "b", owner: { ...owner, shares_payloads: false } });
  expect(cannotAnswer(silent, permission)).toBeNull();
  expect(cannotAllow(silent, permission)).toContain("shares no commands");
  expect(cannotAllow(session({ host: "b", owner }), permission)).toBeNull();
  expect(cannotAllow(session(), permission)).toBeNull();
  const closed = { ...owner, accepts: [], shares_payloads: false };
  expect(cannotAllow(session({ host: "b", owner: closed }), permission)).toContain("does not accept answers");
});

test("a request that cannot be allowed here is never answered together with others", () => {
  const ask = {
    ...permission,
    id: "a1",
    tool_input: {},
    suggestions: [],
    caution: null,
    resolution: null,
    answerable: true,
  } as unknown as Ask;
  expect(plainAskOf(session({ asks: [ask] }))).toBe(ask);
  expect(plainAskOf(session({ host: "b", owner, asks: [ask] }))).toBe(ask);
  for (const terms of [{ shares_payloads: false }, { accepts: [] }])
    expect(plainAskOf(session({ host: "b", owner: { ...owner, ...terms }, asks: [ask] }))).toBeNull();
});

test("the board is grouped by host, and each lane keeps its order within a host", () => {
  const fleet = [
    session({ id: "1", key: "1", host: "b" }),
    session({ id: "2", key: "2", host: "a" }),
    session({ id: "3", key: "3", host: "b" }),
  ];
  const { lanes } = layOut(fleet, {
    sort: "default",
    grouping: "host",
    filter: none,
    twoLanes: false,
    showDone: false,
    split: [],
  });
  const running = lanes.find((lane) => lane.name === "running");
  expect(running?.sections.map(({ host, ids }) => [host, ids.join(" ")])).toEqual([
    ["a", "2"],
    ["b", "1 3"],
  ]);
});

test("a host is a facet of the filter", () => {
  const only = { ...none, host: ["a"] };
  expect(matches(session({ host: "a" }), only)).toBe(true);
  expect(matches(session({ host: "b" }), only)).toBe(false);
});

test("a host that left on purpose is not counted as unreachable", () => {
  const since = "2026-11-18T10:41:00Z";
  const fleet = [
    host({}),
    host({ unreachable_since: since }),
    host({ unreachable_since: since, left: true }),
    host({ caught_up_percent: 70, backlog: 2_672 }),
  ];
  expect(hostCounts(fleet)).toEqual({ known: 3, reachable: 2, catchingUp: 1 });
  expect(fleet.map((h) => awayMark(h)?.bad)).toEqual([undefined, true, false, false]);
});

test("a host says what it shares and accepts, and how far its clock is ahead", () => {
  expect(hostTerms(host({ kind: "container", shares_payloads: false, accepts: [] }))).toBe(
    "container, no payloads, look only",
  );
  expect(hostTerms(host({ accepts: ["answer", "prompt", "focus"] }))).toBe(
    "full, accepts answers, prompts, focus",
  );
  expect([74.12, -0.1, 0, -0.04].map(clockText)).toEqual(["+74.1 s", "-0.1 s", "0.0 s", "0.0 s"]);
});

test("a version is called older or newer than the one here", () => {
  const marks = ["0.4.2", "0.4.1", "0.10.0", "0.4.2-rc.1", "1.0.0-rc.1", "0.4.2+dirty", null].map((version) =>
    versionMark(version, "0.4.2"),
  );
  expect(marks).toEqual([
    null,
    "older than here",
    "newer than here",
    "older than here",
    "newer than here",
    "another build than here",
    null,
  ]);
  expect(versionMark("0.4.1", null)).toBeNull();
});

test("a few events on their way are not called catching up", () => {
  const link = { url: "nats://n:4222", fleet: "main", connected: true, hub: true, backlog: 3, problem: null };
  expect(linkText(link)).toBeNull();
  expect(linkText({ ...link, backlog: 500 })).toBe("This machine is catching up: 500 events to forward");
  expect(linkText({ ...link, connected: false, backlog: 1 })).toBe(
    "No connection to nats://n:4222: 1 event to forward",
  );
  expect(linkText({ ...link, connected: false, backlog: 0 })).toBe("No connection to nats://n:4222");
});
