/**
 * Says since when there is no connection to the daemon, and that the page may be out of date. It is also shown
 * at phone width.
 */
import { clockTime } from "../lib/format";
import { connection, reconnectNow, silentSince } from "../live/stream";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Countdown, Lasting } from "../ui/Timer";

export function ConnectionBanner() {
  const since = silentSince.value;
  if (since === null) return null;
  return (
    <div class="lost-banner" role="alert">
      <Icon name="offline" />
      <strong>Not connected</strong>
      <span class="since-when">
        since <b>{clockTime(since, true)}</b>
        <span aria-hidden="true">
          , for{" "}
          <b>
            <Lasting since={since} />
          </b>
        </span>
      </span>
      <span class="explains">
        Everything below is as it was then. Timers stand still and nothing can be answered here; terminals
        work as usual.
      </span>
      <Retry />
      <Button onClick={reconnectNow}>Try now</Button>
    </div>
  );
}

function Retry() {
  const state = connection.value;
  return (
    <span class="retry" aria-hidden="true">
      {state.kind === "lost" ? (
        <>
          Next try in <Countdown until={state.retryAt} />
        </>
      ) : (
        "Trying now"
      )}
    </span>
  );
}
