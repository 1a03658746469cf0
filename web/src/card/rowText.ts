/** The request of a session as one line. If `whole`, the line shows the complete request, so buttons may answer it. */
import { plainAskOf } from "../ask/plainAsk";
import { toolInput } from "../ask/toolInput";
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";
import { headline, openAsks } from "./headline";
import { lastWords, plainText } from "./lastWords";

export type RowText = {
  /** The kind of request, or why the session stopped. Null if the icon says it. */
  what: string | null;
  text: string;
  /** Text after it, which is cut first if there is little room. */
  aside: string | null;
  code: boolean;
  whole: boolean;
};

const words = (what: string | null, text: string, aside: string | null = null): RowText => ({
  what,
  text,
  aside,
  code: false,
  whole: false,
});

export function rowText(session: Session): RowText {
  const { state, what, rest } = headline(session);
  const [ask] = openAsks(session);
  const { waiting, last_assistant_text: said, title } = session;
  if (ask) return { ...askText(ask, what), whole: plainAskOf(session) !== null && askText(ask, what).whole };
  if (waiting?.kind === "blocks") return words(shortState(state), rest ?? title ?? "");
  const last = said ? lastWords(said).last : null;
  if (waiting?.kind === "asks" && last) return words(null, last);
  const name = title ?? "No prompt yet";
  return words(waiting?.kind === "idle" ? null : state, name, last);
}

/** The tool alone, as in the line of a permission that can be answered here; the icon says the rest. */
const shortState = (state: string | null): string | null => state?.replace(/^Permission for /, "") ?? null;

/** A permission with its input, or the first words of a question, plan or form. */
export function askText(ask: Ask, what: string | null): RowText {
  switch (ask.kind) {
    case "permission":
      return permissionText(ask);
    case "question":
      return words(what, ask.questions?.[0]?.question ?? "");
    case "plan":
      return words("Plan", planText(String(ask.tool_input?.plan ?? "")));
    case "elicitation":
      return words(what, firstLine(ask.message ?? ""));
  }
}

function permissionText(ask: Ask): RowText {
  const input = toolInput(ask);
  // The name of an only value says nothing new: Read reads a file, WebFetch fetches an address.
  const named = input.kind === "command" || input.rest.length > 1;
  const values = input.rest.map(([name, value]) => (named ? `${name}: ${value}` : value)).join(" ");
  const text = { what: ask.tool_name, aside: null, code: true };
  if (input.kind === "command")
    return {
      ...text,
      text: firstLine(input.command),
      whole: values === "" && !input.command.includes("\n"),
    };
  if (input.kind === "edit") return { ...text, text: fileName(input.path), whole: false };
  return { ...text, text: firstLine(values), whole: !values.includes("\n") };
}

/** The steps of a plan without its heading. */
const planText = (markdown: string): string =>
  plainText(
    markdown
      .split("\n")
      .filter((line) => !/^\s*#/.test(line))
      .join("\n"),
  );

const firstLine = (text: string): string => text.trim().split("\n")[0] ?? "";
/** The end of a path tells more than its beginning. */
const fileName = (path: string): string => path.split("/").slice(-2).join("/");
