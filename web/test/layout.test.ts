import { expect, test } from "vitest";
import { type Filter, matches } from "../src/board/filter";
import { holdInPlace, type LayoutChoices, layOut, sameLayout } from "../src/board/layout";
import type { Session } from "../src/generated/Session";
import { session } from "./session";

const none: Filter = { text: "", host: [], project: [], branch: [], state: [], model: [] };
const choices: LayoutChoices = {
  split: [],
  sort: "default",
  grouping: "none",
  filter: none,
  twoLanes: false,
  showDone: true,
};
const show = (sessions: Session[], part: Partial<LayoutChoices> = {}) =>
  Object.fromEntries(layOut(sessions, { ...choices, ...part }).lanes.map((l) => [l.name, l.ids.join(" ")]));

const BLOCKS: Session["waiting"] = { kind: "blocks", label: "Blocked", icon: "shield", counts: true };

const fleet = [
  session({ id: "c", key: "3", group: "needs_you", state: "idle" }),
  session({ id: "a", key: "1", group: "needs_you", state: "needs_permission", waiting: BLOCKS }),
  session({ id: "b", key: "2", group: "needs_you", state: "awaiting_input", waiting: BLOCKS }),
  session({ id: "r", key: "9" }),
  session({ id: "d", key: "1", group: "done", state: "session_ended" }),
];

test("cards are sorted by the rank from the wire", () => {
  expect(show(fleet)).toEqual({ waiting: "a b c", running: "r", done: "d" });
  const swapped = fleet.map((s) => ({
    ...s,
    rank: { default: s.rank.default, urgency: s.id === "c" ? "0" : s.rank.urgency, waiting: "" },
  }));
  expect(show(swapped, { sort: "urgency" })).toEqual({ waiting: "c a b", running: "r", done: "d" });
});

test("a wide screen gives blocked sessions a lane of their own, and Done can be hidden", () => {
  expect(show(fleet, { twoLanes: true, showDone: false })).toEqual({
    blocked: "a b",
    waiting: "c",
    running: "r",
  });
});

test("projects are alphabetical with cards sorted by rank, and Needs You is grouped only on request", () => {
  const two = [
    session({ id: "x", key: "1", project: { name: "web", path: null, worktree: null } }),
    session({ id: "y", key: "2" }),
    session({ id: "z", key: "1" }),
  ];
  const sections = (grouping: LayoutChoices["grouping"]) =>
    layOut([...two, ...fleet], { ...choices, grouping }).lanes.map(
      (l) => `${l.name}: ${l.sections.map((s) => s.project ?? "-").join(",")}`,
    );
  expect(show(two, { grouping: "quiet" }).running).toBe("z y x");
  expect(sections("quiet")).toEqual(["waiting: -", "running: api,web", "done: api"]);
  expect(sections("all")[0]).toBe("waiting: api");
});

test("a heading marks where the cache tier changes", () => {
  const warm = (id: string, key: string) =>
    session({ id, key, group: "needs_you", cache: { status: "warm", expires_at: null } });
  const lane = layOut(
    [
      warm("a", "1"),
      session({ id: "b", key: "2", group: "needs_you", cache: { status: "cold", expires_at: null } }),
    ],
    choices,
  ).lanes[0];
  expect(lane?.sections.map((s) => [s.tier, s.ids])).toEqual([
    ["warm", ["a"]],
    ["cold", ["b"]],
  ]);
});

test("the held card keeps its place in its lane while the others move", () => {
  const before = layOut(fleet, choices);
  const moved = fleet.map((s) => (s.id === "b" ? session({ id: "b", key: "0" }) : s));
  const after = holdInPlace(layOut(moved, choices), before, "b");
  expect(after.lanes.map((l) => l.ids.join(" "))).toEqual(["a b c", "r", "d"]);
  expect(holdInPlace(layOut(moved, choices), before, null).lanes.map((l) => l.ids.join(" "))).toEqual([
    "a c",
    "b r",
    "d",
  ]);
});

test("a held card that is alone in its group keeps the group", () => {
  const one = [session({ id: "b", group: "needs_you" })];
  const after = holdInPlace(layOut([session({ id: "b" })], choices), layOut(one, choices), "b");
  expect(after.lanes.find((l) => l.name === "waiting")?.ids).toEqual(["b"]);
  expect(after.lanes.find((l) => l.name === "running")?.ids).toEqual([]);
});

test("a held card whose cache goes cold keeps its tier, and the tier keeps its place", () => {
  const tiered = (id: string, key: string, status: "warm" | "cold") =>
    session({ id, key, group: "needs_you", cache: { status, expires_at: null } });
  const before = layOut([tiered("a", "1", "warm"), tiered("b", "2", "cold")], choices);
  const next = layOut([tiered("a", "3", "cold"), tiered("b", "2", "cold")], choices);
  const sections = (id: string | null) =>
    holdInPlace(next, before, id).lanes[0]?.sections.map((s) => `${s.key} ${s.ids}`);
  expect(sections("a")).toEqual(before.lanes[0]?.sections.map((s) => `${s.key} ${s.ids}`));
  expect(sections(null)).toEqual(["tier:cold:0 b,a"]);
});

test("an equal layout is recognised, so it is not drawn again", () => {
  expect(sameLayout(layOut(fleet, choices), layOut([...fleet].reverse(), choices))).toBe(true);
  expect(sameLayout(layOut(fleet, choices), layOut(fleet.slice(1), choices))).toBe(false);
});

test("search matches every word in any field, also in asks", () => {
  const s = session({ title: "Store totals", git_branch: "fix/rounding" });
  expect(matches(s, { ...none, text: "TOTALS rounding" })).toBe(true);
  expect(matches(s, { ...none, text: "totals nowhere" })).toBe(false);
  expect(matches(s, { ...none, project: ["web"] })).toBe(false);
  expect(matches(s, { ...none, branch: ["fix/rounding", "main"] })).toBe(true);
});

test("parked sessions are the last section of their lane, and the layout counts them", () => {
  const parked = { since: "2026-11-15T18:00:00.000Z", until: null };
  const [lane] = layOut(
    [...fleet, session({ id: "p", key: "0", group: "needs_you", parked })],
    choices,
  ).lanes;
  expect(lane?.sections.map((s) => `${s.key}: ${s.ids.join(" ")}`)).toEqual([
    "tier:unknown:0: a b c",
    "parked: p",
  ]);
});
