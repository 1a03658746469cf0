import { expect, test } from "vitest";
import { ago, duration, lastedText, modelName, roundedDuration, tokens, usd } from "../src/lib/format";

test("times are short and never negative", () => {
  expect([
    duration(9_400),
    duration(-5),
    duration(760_000),
    duration(3_900_000),
    duration(90_000_000),
  ]).toEqual(["0:09", "0:00", "12:40", "1 h 5 min", "1 d 1 h"]);
  expect([
    roundedDuration(0),
    roundedDuration(20_000),
    roundedDuration(4_920_000),
    roundedDuration(63_360_000),
  ]).toEqual(["none", "20 s", "82 min", "17 h 36 min"]);
  expect([lastedText(0), lastedText(20_000)]).toEqual(["0 s", "20 s"]);
  expect([ago(400), ago(6_000), ago(240_000)]).toEqual(["just now", "6 s ago", "4 min ago"]);
});

test("money, tokens and models have readable texts", () => {
  expect([usd(64_524), usd(1_200), usd(0), usd(1_234_567_890)]).toEqual([
    "$0.06",
    "<$0.01",
    "$0.00",
    "$1,235",
  ]);
  expect([tokens(950), tokens(212_400), tokens(1_000_000)]).toEqual(["950", "212k", "1M"]);
  expect([
    modelName("claude-opus-5-5"),
    modelName("claude-haiku-5-20261101"),
    modelName("local/llama"),
  ]).toEqual(["Opus 5.5", "Haiku 5", "local/llama"]);
});
