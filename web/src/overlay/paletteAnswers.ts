/** Answers in the palette, to requests that are wholly shown below its list. All others are opened first. */
import { giveAnswer } from "../ask/giveAnswer";
import { approvePlan, writeRejection } from "../ask/PlanAsk";
import { briefPlansOf, plainAsksOf } from "../ask/plainAsk";
import { isUnanswered } from "../ask/submission";
import { toolInput } from "../ask/toolInput";
import { askText } from "../card/rowText";
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";
import { openSession } from "../lib/route";
import { isOffline } from "../live/stream";

export type PaletteAnswer = { key: string; text: string; ask: Ask; run: (event: UIEvent) => void };

export function answersTo(session: Session): PaletteAnswer[] {
  if (isOffline.value) return [];
  const open = (ask: Ask) => isUnanswered(ask.id);
  return [
    ...plainAsksOf(session).filter(open).flatMap(allowOrDeny),
    ...briefPlansOf(session).filter(open).flatMap(approveOrReject),
  ];
}

/** The tool and its input in one line. */
export function lineOf(ask: Ask): string {
  const { what, text } = askText(ask, null);
  return toolInput(ask).kind === "command" ? text : [what, text].filter(Boolean).join(" ");
}

function allowOrDeny(ask: Ask): PaletteAnswer[] {
  const answer = (decision: "allow" | "deny", verb: string, done: string): PaletteAnswer => ({
    key: `${ask.id} ${decision}`,
    text: `${verb} ${lineOf(ask)}`,
    ask,
    run: (event) => giveAnswer(ask, { decision }, done, event),
  });
  return [answer("allow", "Allow", "Allowed"), answer("deny", "Deny", "Denied")];
}

function approveOrReject(ask: Ask): PaletteAnswer[] {
  const line = lineOf(ask).replace(/^Plan /, "plan: ");
  return [
    { key: `${ask.id} allow`, text: `Approve ${line}`, ask, run: (event) => approvePlan(ask, event) },
    {
      key: `${ask.id} deny`,
      text: `Reject ${line}…`,
      ask,
      run: () => {
        writeRejection(ask);
        openSession(ask.session_id);
      },
    },
  ];
}
