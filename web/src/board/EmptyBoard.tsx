/**
 * The page before the first session: what it waits for, what is set up, and commands to try. Missing hooks
 * are shown with the command that fixes them.
 */

import { copy } from "../card/actions";
import type { HookStatus } from "../generated/HookStatus";
import { plural } from "../lib/format";
import { hookProblem } from "../live/hookProblem";
import { hookStatus } from "../live/hookStatus";
import { connection } from "../live/stream";
import { CommandText } from "../ui/Breakable";
import { Button } from "../ui/Button";
import { Icon, WireIcon } from "../ui/Icon";
import { Ago } from "../ui/Timer";

export function EmptyBoard() {
  const status = hookStatus.value;
  const problem = hookProblem(status);
  const program = status?.program ?? "flightdeck";
  return (
    <main class="empty">
      <div class="empty-in">
        <div>
          <h1>{problem ? "The hooks are not in place" : "Waiting for the first session"}</h1>
          <p class="lead">
            {problem
              ? "Sessions that run are still found, but what they do reaches the board late or not at all. One command fixes it; nothing else in your settings changes."
              : status?.wanted === false
                ? "This daemon was started without hooks: it shows what is sent to it."
                : "Start Claude Code in any terminal and its card appears here at once. Sessions that were already running are found as well."}
          </p>
        </div>
        <Checks status={status} />
        <div class="ways">
          {problem?.fix && (
            <Way
              title="Put the hooks in place"
              command={problem.fix}
              text="Adds what is missing and leaves the rest of your settings as it is."
            />
          )}
          <Way
            title="Try it without a session"
            command={`${program} demo`}
            text="Plays a fleet of 54 made-up sessions. Your own data stays untouched."
          />
          {!problem &&
            (status?.wanted === false ? (
              <Way
                title="Or let Claude Code report here"
                command={`${program} hooks install`}
                text="Adds Flightdeck's hooks to your Claude Code settings; hooks uninstall removes them again."
              />
            ) : (
              <Way
                title="Or start a real one"
                command="claude"
                text="Its card appears as soon as it starts."
              />
            ))}
        </div>
        <p class="dim">
          Nothing shows up?{" "}
          <code>
            <CommandText text={`${program} doctor`} />
          </code>{" "}
          says why.
        </p>
      </div>
    </main>
  );
}

function Checks({ status }: { status: HookStatus | null }) {
  const live = connection.value.kind === "live";
  const problem = hookProblem(status);
  return (
    <ul class="checks">
      <li>
        <Tick good={live} />
        <b>Daemon</b>
        <span>{live ? `listening on ${location.host}` : "not connected"}</span>
      </li>
      {status && problem && (
        <li class="drift">
          <Icon name="triangle" />
          <b>Hooks</b>
          <span>{problem.text}</span>
        </li>
      )}
      {status &&
        !problem &&
        (status.wanted ? (
          <li>
            <Tick good />
            <b>Hooks</b>
            <span>in your Claude Code settings, {plural(status.registered.length, "event")}</span>
          </li>
        ) : (
          <li>
            <WireIcon name="pause" />
            <b>Hooks</b>
            <span>off: not registered, as asked for</span>
          </li>
        ))}
      {status && status.spool.files > 0 && (
        <li>
          <WireIcon name="clock" />
          <b>Spool</b>
          <span>{plural(status.spool.files, "event")} waiting to be read</span>
        </li>
      )}
      <li>
        {status?.last_event_at ? <Tick good /> : <WireIcon name="spark" />}
        <b>First event</b>
        <span>
          {status?.last_event_at ? (
            <>
              {plural(status.events_total, "event")}, the last one <Ago at={status.last_event_at} />
            </>
          ) : (
            "none yet"
          )}
        </span>
      </li>
    </ul>
  );
}

const Tick = ({ good }: { good: boolean }) => (
  <span class={good ? "good" : "bad"}>
    <Icon name={good ? "check" : "x"} />
  </span>
);

/** A command to try. */
export function Way({ title, command, text }: { title: string; command: string; text: string }) {
  return (
    <div class="way">
      <h2>{title}</h2>
      <div class="cmdline">
        <code>
          <CommandText text={command} />
        </code>
        <Button kind="ghost" square onClick={() => void copy(command)} label={`Copy ${command}`}>
          <Icon name="copy" small />
        </Button>
      </div>
      <p>{text}</p>
    </div>
  );
}
