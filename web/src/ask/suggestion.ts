/** Texts for `permission_suggestions`. A suggestion of an unknown kind is shown by its type name. */

export type Suggestion = Record<string, unknown>;

export function suggestionText(suggestion: Suggestion): {
  text: string;
  code: string | null;
  where: string | null;
} {
  const where = destination(suggestion.destination);
  switch (suggestion.type) {
    case "addRules":
      return { text: "Always", code: rules(suggestion.rules), where };
    case "setMode":
      return { text: `Always, ${modeName(String(suggestion.mode))}`, code: null, where };
    case "addDirectories":
      return { text: "Always in", code: asList(suggestion.directories).join(", "), where };
    default:
      return { text: String(suggestion.type ?? "Always"), code: null, where };
  }
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
  acceptEdits: "accept edits",
  default: "ask each time",
  plan: "plan first",
  bypassPermissions: "skip all prompts",
};
const modeName = (mode: string) => MODES[mode] ?? mode;
