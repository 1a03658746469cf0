/**
 * Texts for `permission_suggestions`: what would be allowed from now on, in words. A suggestion of an unknown
 * kind is shown by its type name.
 */

export type Suggestion = Record<string, unknown>;

/** `text` says it in words, `short` is for the button on a card; `code` follows either. */
export type SuggestionText = { text: string; short: string; code: string | null; where: string | null };

export function suggestionText(suggestion: Suggestion): SuggestionText {
  const where = destination(suggestion.destination);
  switch (suggestion.type) {
    case "addRules":
      return { ...ruleText(asList(suggestion.rules)), where };
    case "setMode":
      return sameText(`Always ${modeName(String(suggestion.mode))}`, where);
    case "addDirectories":
      return {
        text: "Always allow in",
        short: "Always in",
        code: asList(suggestion.directories).join(", "),
        where,
      };
    default:
      return sameText(String(suggestion.type ?? "Always"), where);
  }
}

/** What requests with this suggestion have in common: "commands that begin with `cargo test`". */
export function commonText(suggestion: Suggestion): Pick<SuggestionText, "text" | "code"> {
  const { text, code } = suggestionText(suggestion);
  return { text: text.replace(/^Always allow ?/, "") || "requests that match", code };
}

const sameText = (text: string, where: string | null): SuggestionText => ({
  text,
  short: text,
  code: null,
  where,
});

/** One rule in words: "Always allow commands that begin with `cargo test`". */
function ruleText(list: unknown[]): Omit<SuggestionText, "where"> {
  const [one, ...more] = list as { toolName?: string; ruleContent?: string }[];
  const short = "Always";
  if (!one || more.length > 0) return { text: "Always allow", short, code: rules(list) };
  const { toolName = "", ruleContent } = one;
  if (ruleContent === undefined)
    return { text: `Always allow every ${toolName}`, short: `Always ${toolName}`, code: null };
  const begins = /^(.*?)(?::\*| \*)$/.exec(ruleContent)?.[1];
  if (toolName === "Bash" && begins)
    return { text: "Always allow commands that begin with", short, code: begins };
  if (toolName === "Bash") return { text: "Always allow exactly", short, code: ruleContent };
  return { text: `Always allow ${toolName} in`, short: `Always ${toolName}`, code: rules(list) };
}

function rules(value: unknown): string {
  return asList(value)
    .map((rule) => {
      const { toolName, ruleContent } = rule as { toolName?: string; ruleContent?: string };
      // Claude Code's rules write absolute paths with two leading slashes.
      return (toolName === "Bash" ? ruleContent : ruleContent?.replace(/^\/\//, "/")) ?? toolName ?? "";
    })
    .filter(Boolean)
    .join(", ");
}

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const DESTINATIONS: Record<string, string> = {
  session: "this session",
  localSettings: "this checkout",
  projectSettings: "this project",
  userSettings: "everywhere",
};
const destination = (value: unknown) => (typeof value === "string" ? (DESTINATIONS[value] ?? value) : null);

const MODES: Record<string, string> = {
  acceptEdits: "allow edits",
  default: "ask each time",
  plan: "plan first",
  bypassPermissions: "allow everything, without prompts",
};
const modeName = (mode: string) => MODES[mode] ?? mode;
