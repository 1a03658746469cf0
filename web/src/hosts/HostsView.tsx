/** The machines of the fleet: when each was last seen, its backlog, and whether its clock differs. */
import { Way } from "../board/EmptyBoard";
import type { Host } from "../generated/Host";
import type { HostLink } from "../generated/HostLink";
import { clockTime, plural } from "../lib/format";
import { hookStatus } from "../live/hookStatus";
import { hosts } from "../live/hosts";
import { Icon } from "../ui/Icon";
import { Ago } from "../ui/Timer";
import { clockText, HOST_ICONS, hostTerms, linkText, versionMark } from "./hostText";

export function HostsView() {
  const list = hosts.value;
  if (!list?.link) return <Alone />;
  return (
    <main class="hosts-view" tabIndex={0} aria-label="Hosts">
      <h1>Hosts</h1>
      <Joined hosts={list.hosts} link={list.link} />
    </main>
  );
}

/** Also shown while there is no connection to the daemon; the banner above says so. */
function Alone() {
  const program = hookStatus.value?.program ?? "flightdeck";
  return (
    <main class="empty">
      <div class="empty-in">
        <div>
          <h1>This machine has joined no other hosts</h1>
          <p class="lead">
            Several machines can be on one board: each keeps its own sessions and its own log, and they find
            each other through one NATS server. One of them is the hub, whose board shows all.
          </p>
        </div>
        <div class="ways">
          <Way
            title="Join the machines"
            command={`${program} hosts join URL`}
            text="On each machine, with the address of the server."
          />
          <Way
            title="Show all on one of them"
            command={`${program} up --hub`}
            text="Its board then has the sessions of all hosts."
          />
        </div>
      </div>
    </main>
  );
}

function Joined({ hosts, link }: { hosts: Host[]; link: HostLink }) {
  const here = hosts.filter((host) => !host.left);
  const sessions = here.reduce((sum, host) => sum + host.sessions, 0);
  return (
    <>
      <p class="lede">
        {plural(sessions, "session")} on {plural(here.length, "host")}. What needs a look stands first.
      </p>
      <LinkNote link={link} />
      <div class="host-table">
        <table>
          <thead>
            <tr>
              <th scope="col">Host</th>
              <th scope="col">Last seen</th>
              <th scope="col">Backlog</th>
              <th scope="col">Version</th>
              <th scope="col" class="r">
                Sessions
              </th>
              <th scope="col" class="r">
                Clock
              </th>
            </tr>
          </thead>
          <tbody>
            {hosts.map((host) => (
              <HostRow key={host.name} host={host} own={hosts.find((h) => h.this)?.version ?? null} />
            ))}
          </tbody>
        </table>
      </div>
      {hosts.map((host) => (
        <HostNotes key={host.name} host={host} />
      ))}
      {!link.hub && (
        <p class="lede">
          Only a hub shows the sessions of other hosts: <code>flightdeck up --hub</code>.
        </p>
      )}
    </>
  );
}

function LinkNote({ link }: { link: HostLink }) {
  const text = linkText(link);
  if (text === null) return null;
  return (
    <div class="host-note" role="status">
      <b>{text}</b>
      {link.problem && <span>{link.problem}</span>}
      <span>The work on this machine goes on, and nothing is lost.</span>
    </div>
  );
}

function HostRow({ host, own }: { host: Host; own: string | null }) {
  const away = host.unreachable_since !== null && !host.left;
  return (
    <tr data-host={host.name} data-away={away ? "" : undefined}>
      <th scope="row">
        <span class="host-name">
          <Icon name={HOST_ICONS[host.kind]} />
          <span>
            <b>{host.name}</b>
            <small>{hostTerms(host)}</small>
          </span>
        </span>
      </th>
      <td>
        <LastSeen host={host} />
      </td>
      <td>
        <Backlog host={host} />
      </td>
      <td>
        <Version host={host} own={own} />
      </td>
      <td class="r">
        <b>{host.sessions}</b>
        {host.needs_you > 0 && (
          <small>{away ? `${host.needs_you} needed you` : needText(host.needs_you)}</small>
        )}
      </td>
      <td class="r">
        <Clock host={host} />
      </td>
    </tr>
  );
}

const needText = (n: number) => (n === 1 ? "1 needs you" : `${n} need you`);

function LastSeen({ host }: { host: Host }) {
  if (host.left) return <b>Left</b>;
  if (host.unreachable_since !== null)
    return (
      <span class="fail">
        <b>Unreachable</b>
        <small>
          since {clockTime(Date.parse(host.unreachable_since))}, <Ago at={host.unreachable_since} />
        </small>
      </span>
    );
  return (
    <>
      <b>Now</b>
      {!host.this && host.last_seen && (
        <small>
          <Ago at={host.last_seen} />
        </small>
      )}
    </>
  );
}

function Backlog({ host }: { host: Host }) {
  if (host.unreachable_since !== null && !host.left)
    return (
      <>
        unknown
        <small>
          {host.backlog > 0
            ? `${host.backlog.toLocaleString("en")} then`
            : `since ${clockTime(Date.parse(host.unreachable_since))}`}
        </small>
      </>
    );
  if (host.backlog === 0) return <>none</>;
  return (
    <>
      <b>{host.backlog.toLocaleString("en")} to come</b>
      {host.caught_up_percent !== null && (
        <small>
          <progress class="caught-up" max={100} value={host.caught_up_percent} /> {host.caught_up_percent}%
        </small>
      )}
    </>
  );
}

function Version({ host, own }: { host: Host; own: string | null }) {
  const mark = versionMark(host.version, own);
  if (mark === null) return <>{host.version ?? "unknown"}</>;
  return (
    <>
      <b>{host.version}</b>
      <small>{mark}</small>
    </>
  );
}

function Clock({ host }: { host: Host }) {
  if (host.clock_ahead_seconds === null) return <>unknown</>;
  if (host.unreachable_since !== null)
    return (
      <>
        unknown
        <small>{clockText(host.clock_ahead_seconds)} then</small>
      </>
    );
  if (!host.clock_differs) return <>{clockText(host.clock_ahead_seconds)}</>;
  return (
    <>
      <b>{clockText(host.clock_ahead_seconds)}</b>
      <small>times corrected</small>
    </>
  );
}

/** What a person should know about a host beyond its row. */
function HostNotes({ host }: { host: Host }) {
  const ahead = host.clock_ahead_seconds;
  return (
    <>
      {host.unreachable_since !== null && !host.left && (
        <div class="host-note">
          <b>
            {host.name} has been silent since {clockTime(Date.parse(host.unreachable_since))}
          </b>
          <span>
            Its cards keep their last state. Its own work may go on; it forwards its log when it is back.
          </span>
        </div>
      )}
      {host.clock_differs && ahead !== null && (
        <div class="host-note">
          <b>
            The clock of {host.name} is {Math.abs(ahead).toFixed(1)} s {ahead > 0 ? "ahead" : "behind"}
          </b>
          <span>Order within the host is its own; times on this board are corrected.</span>
        </div>
      )}
      {host.refused > 0 && (
        <div class="host-note">
          <b>
            {plural(host.refused, "message")} in the name of {host.name} refused
          </b>
          <span>The last one: {host.refused_because}.</span>
        </div>
      )}
    </>
  );
}
