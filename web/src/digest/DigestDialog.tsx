/** The digest as a dialog: the sums, what waits for the person, what was completed, and the times by project. */
import { useEffect } from "preact/hooks";
import { standing } from "../assignment/standing";
import { plainText } from "../card/lastWords";
import type { Assignment } from "../generated/Assignment";
import type { Digest } from "../generated/Digest";
import type { DigestSums } from "../generated/DigestSums";
import type { ProjectDigest } from "../generated/ProjectDigest";
import { nextNeed } from "../keys/cursor";
import { time } from "../lib/clock";
import { clockTime, plural, roundedDuration } from "../lib/format";
import { goTo, sessionHref, viewHref } from "../lib/route";
import { throttle } from "../lib/throttle";
import { onAssignmentChanges } from "../live/store";
import { Modal } from "../overlay/Modal";
import { closeOverlay } from "../overlay/overlay";
import { Button, Segmented } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Elapsed } from "../ui/Timer";
import { type DigestPeriod, digest, digestFailure, digestPeriod, loadDigest, longAway } from "./digestData";
import { overCount, type Part, partsOf } from "./headline";

/** Rows of each list; the log has all. */
const WAITING_ROWS = 6;
const COMPLETED_ROWS = 6;
const PROJECT_ROWS = 6;
/** How often the dialog is read again while assignments change. */
const FOLLOW_MS = 2_000;

export function DigestDialog() {
  useEffect(() => {
    const { request, stop } = throttle(loadDigest, FOLLOW_MS);
    const unfollow = onAssignmentChanges(request);
    request();
    return () => {
      unfollow();
      stop();
    };
  }, [digestPeriod.value]);
  const found = digest.value;
  return (
    <Modal label="Digest" class="modal digest" onClose={closeOverlay}>
      <SinceChoice />
      {digestFailure.value !== null && (
        <p class="ask-error" role="alert">
          The digest could not be read: {digestFailure.value}
        </p>
      )}
      {found ? <Content found={found} /> : <p class="dim">Reading what happened</p>}
      <footer class="answer">
        <Button kind="primary" onClick={goToNeed}>
          {found && found.total.waiting > 0 ? "Go to what waits" : "Go to the board"} <kbd>n</kbd>
        </Button>
        <Button
          onClick={() => {
            closeOverlay();
            goTo("log");
          }}
        >
          Open the log
        </Button>
      </footer>
    </Modal>
  );
}

function goToNeed(): void {
  closeOverlay();
  goTo("board");
  requestAnimationFrame(() => nextNeed());
}

function SinceChoice() {
  const gone = longAway.value;
  const choices: { value: DigestPeriod; label: string }[] = [
    ...(gone ? [{ value: "away" as const, label: `Since ${clockTime(gone.from)}` }] : []),
    { value: "today", label: "Today" },
    { value: "yesterday", label: "Since yesterday" },
    { value: "7d", label: "7 days" },
  ];
  return (
    <header class="digest-top">
      <span class="dim">
        {digestPeriod.value === "away" && gone
          ? `You were away for ${roundedDuration(gone.to - gone.from)}`
          : "Digest"}
      </span>
      <Segmented
        name="Since when"
        value={digestPeriod.value}
        choices={choices}
        onChange={(value) => {
          digestPeriod.value = value;
        }}
      />
      <Button kind="ghost" square label="Close" onClick={closeOverlay}>
        <Icon name="x" />
      </Button>
    </header>
  );
}

function Content({ found }: { found: Digest }) {
  const { working_seconds, waiting_seconds, working } = found.total;
  return (
    <div class="digest-body" tabIndex={0} role="region" aria-label="What happened" autofocus>
      <h2>
        {partsOf(found).map((part, i) => (
          <Piece key={part.text} part={part} isFirst={i === 0} />
        ))}
      </h2>
      <p class="lede">
        Agents worked <b>{roundedDuration(working_seconds * 1000)}</b> and waited{" "}
        <b class={waiting_seconds >= 1 ? "attn" : undefined}>{roundedDuration(waiting_seconds * 1000)}</b> for
        you
        {working > 0 && `; ${working === 1 ? "1 is" : `${working} are`} at work now`}.
      </p>
      <Waiting assignments={found.waiting} />
      <Completed assignments={found.completed} total={found.total} />
      <Projects projects={found.projects} />
    </div>
  );
}

const Piece = ({ part: { text, tone }, isFirst }: { part: Part; isFirst: boolean }) => (
  <>
    {!isFirst && ", "}
    <span class={tone ?? undefined}>{text}</span>
  </>
);

function Waiting({ assignments }: { assignments: Assignment[] }) {
  if (assignments.length === 0) return null;
  const more = assignments.length - WAITING_ROWS;
  return (
    <section aria-label="Waits for you">
      <h3>Waits for you, the longest first</h3>
      <ul class="digest-waits">
        {assignments.slice(0, WAITING_ROWS).map((a) => (
          <li key={a.id}>
            <WaitingLink assignment={a} />
          </li>
        ))}
      </ul>
      {more > 0 && <a href={viewHref("board")}>{more} more on the board</a>}
    </section>
  );
}

function WaitingLink({ assignment: a }: { assignment: Assignment }) {
  const { label, icon, tone } = standing(a);
  return (
    <a class={`tone-${tone}`} href={sessionHref(a.session_id, a.since)}>
      <Icon name={icon} />
      <span class="l1">
        <b>{label}</b> {a.project.name} <Elapsed since={a.since} />
      </span>
      <span class="l2">{waitsFor(a, label)}</span>
    </a>
  );
}

/** What it waits for, or what was asked if the label says the former already. */
function waitsFor({ last_message: said, title }: Assignment, label: string): string {
  const words = said === null ? "" : plainText(said);
  return words === "" || words === label ? title : words;
}

function Completed({ assignments, total }: { assignments: Assignment[]; total: DigestSums }) {
  if (assignments.length === 0) return null;
  const shown = Math.min(assignments.length, COMPLETED_ROWS);
  const more = Math.max(overCount(total), assignments.length) - shown;
  return (
    <section aria-label="Completed">
      <h3>{total.ended + total.died > 0 ? "Completed, ended or died" : "Completed"}, the newest first</h3>
      <ul class="digest-done">
        {assignments.slice(0, COMPLETED_ROWS).map((a) => {
          const { label, icon, tone } = standing(a);
          return (
            <li key={a.id}>
              <a class={`tone-${tone}`} href={sessionHref(a.session_id, a.completed_at ?? a.since)}>
                <Icon name={icon} small />
                <span class="sr">{label}: </span>
                <span class="clip" title={a.title}>
                  {a.title}
                </span>
                <span class="dim clip">{a.project.name}</span>
                <time dateTime={a.completed_at ?? a.since}>{clockTime(time(a.completed_at ?? a.since))}</time>
              </a>
            </li>
          );
        })}
      </ul>
      {more > 0 && <a href={viewHref("log")}>{more} more in the log</a>}
    </section>
  );
}

function Projects({ projects }: { projects: ProjectDigest[] }) {
  if (projects.length === 0) return null;
  const more = projects.length - PROJECT_ROWS;
  return (
    <section aria-label="By project">
      <table>
        <thead>
          <tr>
            <th scope="col">Project</th>
            <th scope="col">Completed</th>
            <th scope="col">Worked</th>
            <th scope="col">Waited for you</th>
          </tr>
        </thead>
        <tbody>
          {projects.slice(0, PROJECT_ROWS).map(({ project, sums }) => (
            <tr key={project}>
              <th scope="row" class="clip">
                {project}
              </th>
              <td>{overCount(sums) || "·"}</td>
              <td>{roundedDuration(sums.working_seconds * 1000)}</td>
              <td class={sums.waiting_seconds >= 1 ? "attn" : "dim"}>
                {roundedDuration(sums.waiting_seconds * 1000)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p class="dim">{plural(more, "more project")}</p>}
    </section>
  );
}
