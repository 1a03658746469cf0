/** 54 sessions in all states that do not change any more, for tests of what the person does. */
import { postHook } from "./daemon";

type Hooks = [string, Record<string, unknown>][];

const bash = (command: string) => ({
  tool_name: "Bash",
  tool_input: { command },
  tool_use_id: `t-${command}`,
});
const question = {
  tool_name: "AskUserQuestion",
  tool_input: {
    questions: [
      {
        question: "Which store should keep the totals, the old one or the new one?",
        header: "Store",
        multiSelect: false,
        options: [
          { label: "Old", description: "Keep the totals where they are until the release" },
          { label: "New", description: "Move them now, which takes an hour of downtime" },
        ],
      },
    ],
  },
  tool_use_id: "t-q",
};
const plan = {
  tool_name: "ExitPlanMode",
  tool_input: { plan: "1. Add the sink\n2. Roll the files" },
  tool_use_id: "t-p",
};

/** The hooks that bring a thinking session to each state. */
export const HOOKS_TO_STATE: Record<string, Hooks> = {
  thinking: [],
  acting: [["PreToolUse", bash("cargo test --workspace")]],
  delegating: [
    [
      "PreToolUse",
      { tool_name: "Agent", tool_input: { description: "look around", prompt: "look" }, tool_use_id: "t-a" },
    ],
    ["SubagentStart", { agent_id: "a1", agent_type: "Explore" }],
  ],
  compacting: [["PreCompact", { trigger: "manual" }]],
  waiting_background: [["Stop", { background_tasks: [{ id: "b1", type: "subagent", status: "running" }] }]],
  needs_permission: [
    ["PreToolUse", bash("make release")],
    ["PermissionRequest", { tool_name: "Bash", tool_input: { command: "make release" } }],
  ],
  awaiting_input: [
    ["PreToolUse", question],
    ["PermissionRequest", { tool_name: question.tool_name, tool_input: question.tool_input }],
  ],
  awaiting_approval: [
    ["PreToolUse", plan],
    ["PermissionRequest", { tool_name: plan.tool_name, tool_input: plan.tool_input }],
  ],
  interrupted: [
    ["PreToolUse", bash("sleep 99")],
    ["PostToolUseFailure", { ...bash("sleep 99"), is_interrupt: true, error: "interrupted" }],
  ],
  error: [["StopFailure", { error: "rate_limit" }]],
  idle: [["Stop", { last_assistant_message: "Done." }]],
  session_ended: [["SessionEnd", { reason: "prompt_input_exit" }]],
};

const PROJECTS = ["api", "ingest", "infra", "web-shop", "a-project-with-quite-a-long-name"];
const PROMPTS = [
  "Round the totals of the store",
  "Write the parquet files in one go",
  "Why is the nightly build red?",
  "Move the checkout to the new router",
  "Tidy the terraform modules",
];
export const RESTING = 54;

export async function startRestingFleet(url: string, sessions = RESTING): Promise<void> {
  const states = Object.keys(HOOKS_TO_STATE);
  for (let i = 0; i < sessions; i += 6)
    await Promise.all(
      Array.from({ length: 6 }, (_, k) => one(url, i + k, states[(i + k) % states.length] ?? "idle")),
    );
}

async function one(url: string, i: number, state: string): Promise<void> {
  const session_id = `${i.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
  const model = i % 3 ? "claude-opus-5-5" : "claude-haiku-5";
  const hook = (hook_event_name: string, fields: Record<string, unknown>) =>
    postHook(url, {
      session_id,
      hook_event_name,
      cwd: `/home/dev/${PROJECTS[i % PROJECTS.length]}`,
      transcript_path: `/home/dev/none/${session_id}.jsonl`,
      ...fields,
    });
  await hook("SessionStart", { source: "startup", model });
  await hook("UserPromptSubmit", { prompt: `${PROMPTS[i % PROMPTS.length]} (${i})` });
  for (const [name, fields] of HOOKS_TO_STATE[state] ?? []) await hook(name, fields);
}
