import { useSignal } from "@preact/signals";
import { sessionSignal } from "../live/store";
import { Modal, ModalHead } from "../overlay/Modal";
import { closeOverlay } from "../overlay/overlay";
import { Button, Segmented } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { askPermission } from "./alerts";
import {
  type AlertSettings,
  type Loudness,
  mutedProjects,
  mutedSessions,
  settings,
  toggleMuteProject,
  toggleMuteSession,
  type Urgency,
} from "./settings";
import { chime } from "./sound";

const ROWS: [Urgency, string, string][] = [
  ["blocked", "Blocked", "a permission, a question or a plan waits for you"],
  ["failed", "Failed", "a turn ended with an error"],
  ["waiting", "Waiting", "a turn is over, or you interrupted it"],
];
const LOUDNESS: { value: Loudness; label: string }[] = [
  { value: "off", label: "Off" },
  { value: "note", label: "Note" },
  { value: "sound", label: "Note and sound" },
];

const change = (part: Partial<AlertSettings>) => {
  settings.value = { ...settings.value, ...part };
};

export function AlertsDialog() {
  const refused = useSignal(false);
  const s = settings.value;
  const turnOn = async () => {
    refused.value = !(await askPermission());
    change({ on: true });
  };
  return (
    <Modal label="Notifications" class="modal alerts" onClose={closeOverlay}>
      <ModalHead title="Notifications" onClose={closeOverlay} />
      <p class="soft">
        For sessions that start to need you. None for new sessions, and none for what is on screen in front of
        you.
      </p>
      <div class="answer">
        {s.on ? (
          <Button onClick={() => change({ on: false })}>Turn off</Button>
        ) : (
          <Button kind="primary" onClick={() => void turnOn()}>
            Turn on
          </Button>
        )}
        <Button kind="ghost" onClick={chime}>
          <Icon name="sound" small />
          Try the sound
        </Button>
      </div>
      {refused.value && (
        <p class="ask-error" role="alert">
          The browser does not allow notifications from this page; sounds still work.
        </p>
      )}
      <div class="alert-rows">
        {ROWS.map(([urgency, name, what]) => (
          <div key={urgency} class="alert-row">
            <div>
              <b>{name}</b>
              <span class="dim">{what}</span>
            </div>
            <Segmented
              name={name}
              value={s[urgency]}
              choices={LOUDNESS}
              onChange={(value) => change({ [urgency]: value })}
            />
          </div>
        ))}
        <QuietHours />
      </div>
      <Muted />
    </Modal>
  );
}

function QuietHours() {
  const s = settings.value;
  return (
    <div class="alert-row">
      <label class="check">
        <input
          type="checkbox"
          checked={s.quiet}
          onChange={(e) => change({ quiet: e.currentTarget.checked })}
        />{" "}
        Quiet hours
      </label>
      <span class="hours">
        <input
          type="time"
          aria-label="Quiet from"
          value={s.quietFrom}
          onInput={(e) => change({ quietFrom: e.currentTarget.value })}
        />{" "}
        to{" "}
        <input
          type="time"
          aria-label="Quiet until"
          value={s.quietTo}
          onInput={(e) => change({ quietTo: e.currentTarget.value })}
        />
      </span>
    </div>
  );
}

function Muted() {
  if (mutedProjects.value.length + mutedSessions.value.length === 0) return null;
  return (
    <div class="muted-list">
      <h3>Muted</h3>
      {mutedProjects.value.map((name) => (
        <Button key={name} onClick={() => toggleMuteProject(name)}>
          {name}
          <Icon name="x" small />
        </Button>
      ))}
      {mutedSessions.value.map((id) => (
        <Button key={id} onClick={() => toggleMuteSession(id)}>
          {sessionSignal(id)?.value.title ?? id.slice(0, 8)}
          <Icon name="x" small />
        </Button>
      ))}
    </div>
  );
}
