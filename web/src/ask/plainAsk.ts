/**
 * Asks that one press may answer together with others: permissions that may be allowed here, whose whole input fits
 * a card, and that can be undone. Everything else is read and answered by itself.
 */
import { openAsks } from "../card/headline";
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";
import { cannotAllow } from "../hosts/answerGate";
import { groupBy } from "../lib/groupBy";
import { isTruncated } from "./fullAsk";
import { submissionOf } from "./submission";
import { fitsCard, toolInput } from "./toolInput";

/** The open asks of the session that are plain. */
export const plainAsksOf = (session: Session): Ask[] =>
  openAsks(session).filter((ask) => isPlain(ask) && cannotAllow(session, ask) === null);

/** The only open ask of the session, if it is plain. */
export const plainAskOf = (session: Session): Ask | null =>
  openAsks(session).length === 1 ? (plainAsksOf(session)[0] ?? null) : null;

/** All open asks of the session, if one press may answer them together; null if it has none, or one that is not plain. */
export function allPlainAsks(session: Session): Ask[] | null {
  const asks = plainAsksOf(session);
  return asks.length > 0 && asks.length === openAsks(session).length ? asks : null;
}

/** The open plans of the session that can be approved here and fit a card. Each is read and answered by itself. */
export const briefPlansOf = (session: Session): Ask[] =>
  openAsks(session).filter(
    (ask) => ask.kind === "plan" && isWhole(ask) && cannotAllow(session, ask) === null,
  );

const isPlain = (ask: Ask): boolean => ask.kind === "permission" && ask.caution === null && isWhole(ask);

const isWhole = (ask: Ask): boolean =>
  !isTruncated(ask) && fitsCard(toolInput(ask)) && submissionOf(ask.id).peek().kind !== "failed";

/**
 * Two asks that share one of these texts are alike: the same tool and input, or the same rule was suggested. A
 * command's description is left out, because it only explains the command.
 */
export function likenesses({ tool_name, tool_input, suggestions }: Ask): string[] {
  const { description, ...input } = tool_input ?? {};
  const same = "command" in input ? input : (tool_input ?? {});
  void description;
  return [`input ${tool_name} ${JSON.stringify(same)}`, ...ruleOf(suggestions[0])];
}

/** The asks by input: asks with the same input are together, in the order of the first of them. */
export const byInput = <T extends { ask: Ask }>(asking: T[]): T[][] => [
  ...groupBy(asking, ({ ask }) => likenesses(ask)[0] ?? ask.id).values(),
];

/** The suggestion that makes different asks alike. */
export const sharedRule = (asks: Ask[]): Ask["suggestions"][number] | undefined =>
  asks.find(({ suggestions }) => ruleOf(suggestions[0]).length > 0)?.suggestions[0];

/** Only a rule with a pattern counts: a rule for every Edit would make all edits alike. */
function ruleOf(suggestion: Record<string, unknown> | undefined): string[] {
  const { type, behavior, rules } = suggestion ?? {};
  if (type !== "addRules" || behavior === "deny" || !Array.isArray(rules)) return [];
  const narrow = rules.length > 0 && rules.every((rule) => Boolean(rule?.ruleContent));
  return narrow ? [`rule ${JSON.stringify(rules)}`] : [];
}
