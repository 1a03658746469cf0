import { expect, test } from "vitest";
import { faviconUrl, titleText } from "../src/alerts/browserTab";
import { isNewNeed } from "../src/alerts/newNeed";
import { type AlertSettings, isQuiet, urgencyOf } from "../src/alerts/settings";
import type { Waiting } from "../src/generated/Waiting";
import type { WaitKind } from "../src/generated/WaitKind";
import { session } from "./session";

test("only a new need alerts, never a new session or the first snapshot", () => {
  const working = session();
  const asks = session({ group: "needs_you", state: "needs_permission", kind: "attention_needed" });
  const idle = session({ group: "needs_you", state: "idle", kind: "idle" });
  const enters = (before: typeof working | null, after: typeof working, discovered = false) =>
    isNewNeed({ before, after, discovered });
  expect(enters(working, asks)).toBe(true);
  expect(enters(working, idle)).toBe(true);
  expect(enters(idle, asks)).toBe(true);
  expect(enters(asks, idle)).toBe(false);
  expect(enters(asks, asks)).toBe(false);
  expect(enters(null, asks)).toBe(false);
  expect(enters(null, idle, true)).toBe(false);
  expect(enters(working, { ...idle, turn_count: 0 })).toBe(false);
});

test("quiet hours may span midnight", () => {
  const hours = (quietFrom: string, quietTo: string) =>
    ({ quiet: true, quietFrom, quietTo }) as AlertSettings;
  expect([
    isQuiet(hours("22:00", "07:00"), "23:30"),
    isQuiet(hours("22:00", "07:00"), "06:59"),
    isQuiet(hours("22:00", "07:00"), "12:00"),
  ]).toEqual([true, true, false]);
  expect([isQuiet(hours("12:00", "13:00"), "12:30"), isQuiet(hours("12:00", "13:00"), "13:00")]).toEqual([
    true,
    false,
  ]);
});

test("a turn that ended with a question alerts like a question that stops the agent", () => {
  const waiting = (kind: WaitKind): Waiting => ({ kind, label: "", icon: "", counts: false });
  const kinds: WaitKind[] = ["blocks", "asks", "failed", "interrupted", "idle"];
  expect(kinds.map((kind) => urgencyOf(waiting(kind)))).toEqual([
    "blocked",
    "blocked",
    "failed",
    "waiting",
    "waiting",
  ]);
  expect(urgencyOf(null)).toBe("waiting");
});

test("title and tab icon show the same number, and none without a connection", () => {
  expect(titleText(7, false)).toBe("(7) Flightdeck");
  expect(titleText(7, true)).toBe("Flightdeck, not connected");
  const shown = (needs: number) => />([^<]*)<\/text>/.exec(decodeURIComponent(faviconUrl(needs, false)))?.[1];
  expect([7, 42, 99, 100, 2_000].map(shown)).toEqual(["7", "42", "99", "99+", "99+"]);
  expect(decodeURIComponent(faviconUrl(7, true))).not.toContain("<text");
});

test("the tab icon is amber only for blocked agents with a live connection", () => {
  expect(faviconUrl(7, false)).toContain("F2B33D");
  expect(faviconUrl(0, false)).not.toContain("F2B33D");
  expect(faviconUrl(7, true)).not.toContain("F2B33D");
});
