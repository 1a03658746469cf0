/**
 * The header: numbers of the whole fleet, hook status, connection. Without waiting sessions the counter is
 * not lit.
 */

import { useRef } from "preact/hooks";
import { notifyOn } from "../alerts/settings";
import { hostCounts } from "../hosts/hostText";
import { plural } from "../lib/format";
import { nextTheme } from "../lib/preferences";
import { view, viewHref } from "../lib/route";
import { fleetCounts } from "../live/fleetCounts";
import { hookProblem } from "../live/hookProblem";
import { hookStatus, lastEventAt } from "../live/hookStatus";
import { hasHosts, hosts } from "../live/hosts";
import { connection, silentSince } from "../live/stream";
import { overlay } from "../overlay/overlay";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Ago, Countdown, Elapsed } from "../ui/Timer";
import { Limits, Spend } from "../usage/HeaderUsage";
import { useHideWithoutRoom } from "./useHideWithoutRoom";

const MAC = navigator.platform.startsWith("Mac");

export function Header() {
  const instruments = useRef<HTMLDivElement>(null);
  useHideWithoutRoom(instruments);
  return (
    <header class="top">
      <a class="brand" href="#/" aria-label="Flightdeck">
        <Icon name="mark" />
        <span>Flightdeck</span>
      </a>
      <nav class="nav" aria-label="Views">
        <a href={viewHref("board")} aria-current={view.value === "board" ? "page" : undefined}>
          Board
        </a>
        <a href={viewHref("overview")} aria-current={view.value === "overview" ? "page" : undefined}>
          Overview
        </a>
        <a href={viewHref("log")} aria-current={view.value === "log" ? "page" : undefined}>
          Log
        </a>
        <a href={viewHref("efforts")} aria-current={view.value === "efforts" ? "page" : undefined}>
          Efforts
        </a>
        {hasHosts.value && (
          <a href={viewHref("hosts")} aria-current={view.value === "hosts" ? "page" : undefined}>
            Hosts
          </a>
        )}
      </nav>
      <div class="instruments" role="group" aria-label="Fleet" ref={instruments}>
        <NeedYou />
        <NoHurry />
        <Running />
        <Spend />
        <Limits />
        <Hooks />
        <Hosts />
      </div>
      <Link />
      <div class="top-tools">
        <Button
          kind="ghost"
          class="wide"
          onClick={() => {
            overlay.value = "palette";
          }}
          label="Commands"
        >
          <kbd>{MAC ? "⌘K" : "Ctrl K"}</kbd>
        </Button>
        <Button
          kind="ghost"
          square
          onClick={() => {
            overlay.value = "alerts";
          }}
          label="Notifications"
        >
          <Icon name={notifyOn.value ? "bell" : "mute"} />
        </Button>
        <Button kind="ghost" square onClick={nextTheme} label="Switch theme">
          <Icon name="theme" />
        </Button>
      </div>
    </header>
  );
}

/** The lamp is the number of sessions that block or ask. What waits without hurry stands beside it, smaller. */
function NeedYou() {
  const { needs, blocks, asks, longestSince } = fleetCounts.value;
  return (
    <div class={needs > 0 ? "instrument need" : "instrument need none"}>
      <span class="readout" aria-hidden="true">
        {needs}
      </span>
      <div>
        <span class="k">Block or ask</span>
        <span class="sub">
          <span class="sr">{needs}: </span>
          {needs === 0 && "nothing waits for you"}
          {blocks > 0 && <b>{blocks} blocked</b>}
          {blocks > 0 && asks > 0 && ", "}
          {asks > 0 && <b>{asks === 1 ? "1 asks" : `${asks} ask`}</b>}
          {longestSince !== null && (
            <>
              , longest{" "}
              <b>
                <Elapsed since={new Date(longestSince).toISOString()} />
              </b>
            </>
          )}
        </span>
      </div>
    </div>
  );
}

function NoHurry() {
  const { failed, interrupted, idle, parked } = fleetCounts.value;
  const texts = [
    failed > 0 && `${failed} failed`,
    interrupted > 0 && `${interrupted} interrupted`,
    idle > 0 && `${idle} idle`,
    parked > 0 && `${parked} parked`,
  ].filter((text) => text !== false);
  if (texts.length === 0) return null;
  const half = Math.ceil(texts.length / 2);
  return (
    <div class="instrument no-hurry" title="They wait for you, but nothing stands still">
      <span class="sub">
        {texts.slice(0, half).join(", ")}
        {texts.length > 1 && <br />}
        {texts.slice(half).join(", ")}
      </span>
    </div>
  );
}

function Running() {
  const { running, delegating, quiet } = fleetCounts.value;
  return (
    <div class="instrument">
      <div>
        <span class="k">Running</span>
        <span class="v">{running}</span>
      </div>
      {delegating + quiet > 0 && (
        <span class="sub extra">
          {delegating > 0 && (
            <>
              {delegating} delegating
              <br />
            </>
          )}
          {quiet > 0 && <>{quiet} quiet</>}
        </span>
      )}
    </div>
  );
}

function Hooks() {
  const status = hookStatus.value;
  if (!status) return null;
  const problem = hookProblem(status);
  const last = (
    <span class="last-event">
      ,{" "}
      {lastEventAt.value ? (
        <>
          last event <Ago at={lastEventAt.value} />
        </>
      ) : (
        "no event yet"
      )}
    </span>
  );
  return (
    <div
      class="instrument hooks"
      data-hooks={problem?.kind ?? (status.simulated ? "simulated" : status.wanted ? "ok" : "off")}
      title={status.simulated ? "These sessions are made up: no hooks are registered, on purpose" : undefined}
    >
      <div>
        <span class="k">{status.simulated ? "Fleet" : "Hooks"}</span>
        {problem ? (
          <span class="sub bad">
            <b>{problem.short}</b>
          </span>
        ) : status.spool.files > 0 ? (
          <span class="sub">
            <b>{plural(status.spool.files, "event")}</b> waiting in the spool
          </span>
        ) : (
          <span class="sub">
            <b>{status.simulated ? "Simulated" : status.wanted ? "In place" : "Off"}</b>
            {last}
          </span>
        )}
      </div>
    </div>
  );
}

/** How many of the other machines can be reached. */
function Hosts() {
  if (!hasHosts.value || !hosts.value?.link) return null;
  const { link } = hosts.value;
  const { reachable, known, catchingUp } = hostCounts(hosts.value.hosts);
  return (
    <div class="instrument hosts" data-hosts={link.connected && reachable === known ? "ok" : "away"}>
      <div>
        <span class="k">Hosts</span>
        <a class="sub" href={viewHref("hosts")}>
          {link.connected ? (
            <b class={reachable < known ? "bad" : undefined}>
              {reachable} of {known} reachable
            </b>
          ) : (
            <b class="bad">No connection to the server</b>
          )}
          {catchingUp > 0 && `, ${catchingUp} catching up`}
        </a>
      </div>
    </div>
  );
}

/** A screen reader reads each new state, but not the countdown or the event count. */
function Link() {
  const state = connection.value;
  // If the daemon does not respond, a connection can still be opened, but no data arrives.
  const waiting = silentSince.value !== null && (state.kind === "connecting" || state.kind === "catching_up");
  return (
    <div class="instrument" data-connection={state.kind}>
      <div>
        <span class="k">Connection</span>
        <span class="sub link" role="status">
          {state.kind === "live" && (
            <>
              <i class="dot" />
              <b>Live</b>
            </>
          )}
          {waiting && (
            <>
              <i class="dot bad" />
              <b class="bad">Not connected</b>
            </>
          )}
          {!waiting && state.kind === "connecting" && (
            <>
              <i class="dot off" />
              <b>Connecting</b>
            </>
          )}
          {!waiting && state.kind === "catching_up" && (
            <>
              <i class="dot off" />
              <b>Catching up</b>
              {state.events > 0 && <span aria-hidden="true">, {plural(state.events, "event")}</span>}
            </>
          )}
          {state.kind === "lost" && (
            <>
              <i class="dot bad" />
              <span class="bad">
                <b>Not connected</b>
                <span class="again">
                  , trying again
                  <span aria-hidden="true">
                    {" "}
                    in <Countdown until={state.retryAt} />
                  </span>
                </span>
              </span>
            </>
          )}
        </span>
      </div>
    </div>
  );
}
