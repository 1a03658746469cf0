//! Commands that cannot be undone ask twice. This guards the finger, not the machine: the client's own rules still apply.

const CAUTIONS: [RegExp, string][] = [
  [/\bgit\s+(?:-\S+\s+)*push\b.*(?:--force\b|--force-with-lease|\s-[a-zA-Z]*f\b|\s\+\S)/, "Force push"],
  [/\bgit\s+(?:-\S+\s+)*push\b.*(?:--delete|--mirror)/, "Deletes remote branches"],
  [/\bgit\s+(?:-\S+\s+)*reset\b.*--hard/, "Hard reset"],
  [/\bgit\s+(?:-\S+\s+)*clean\b.*-[a-zA-Z]*f/, "Deletes untracked files"],
  [/\bgit\s+(?:-\S+\s+)*(?:checkout|restore)\s+(?:--\s+)?\.(?:\s|$)/, "Discards changes"],
  [/\bgit\s+(?:-\S+\s+)*branch\b.*\s-D\b/, "Deletes a branch"],
  [/\brm\b(?=.*\s(?:-[a-zA-Z]*[rR]|--recursive))/, "Deletes recursively"],
  [/\bfind\b.*\s-delete\b/, "Deletes files"],
  [/\b(?:mkfs\S*|shred|wipefs)\b|\bdd\b.*\bof=/, "Overwrites a disk or file"],
  [/\b(?:drop|truncate)\s+(?:table|database|schema)\b/i, "Drops data"],
  [/\bterraform\s+(?:-\S+\s+)*(?:apply|destroy)\b/, "Changes infrastructure"],
  [/\bkubectl\s+(?:-\S+\s+\S+\s+)*delete\b/, "Deletes from the cluster"],
  [/\b(?:npm|pnpm|yarn|cargo)\s+publish\b/, "Publishes a package"],
  [/\b(?:shutdown|reboot|poweroff)\b/, "Stops the machine"],
  [/\bchmod\s+-R\b|\bchown\s+-R\b/, "Changes many files' rights"],
];

export function caution(command: string): string | null {
  return CAUTIONS.find(([pattern]) => pattern.test(command))?.[1] ?? null;
}
