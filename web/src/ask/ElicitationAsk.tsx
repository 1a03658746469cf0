/**
 * A form that an MCP server asks for. The board can answer it only while the daemon holds the hook open;
 * otherwise the terminal shows it.
 */
import { useRef } from "preact/hooks";
import type { Ask } from "../generated/Ask";
import { key, useAskKeys } from "../keys/askKeys";
import { keyedState } from "../lib/drafts";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { TimeLeft } from "../ui/Meters";
import { content, defaultValues, type Field, type Filled, fieldsOf, isComplete } from "./form";
import { giveAnswer } from "./giveAnswer";

const filledOf = keyedState<Filled | null>(null);

export function ElicitationAsk({ ask, full }: { ask: Ask; full: boolean }) {
  const form = useRef<HTMLDivElement>(null);
  const fields = fieldsOf(ask.requested_schema);
  const touched = filledOf(ask.id);
  const filled = touched.value ?? defaultValues(ask.requested_schema);
  const set = (name: string, value: unknown) => {
    touched.value = { ...(touched.value ?? filled), [name]: value };
  };
  const complete = isComplete(fields, filled);
  const send = (event: UIEvent) =>
    giveAnswer(ask, { decision: "allow", content: content(filled) }, "Form sent", event);
  const decline = (event: UIEvent) => giveAnswer(ask, { decision: "deny" }, "Form declined", event);
  const fill = () => form.current?.querySelector<HTMLElement>("input, select, textarea")?.focus();
  useAskKeys(
    ask.id,
    full,
    ask.answerable
      ? {
          y: complete
            ? key("send", send)
            : { label: null, act: () => "fill in the required fields first: r goes to the form" },
          d: key("decline", decline),
          ...(fields.length > 0 && { r: key("fill in", fill) }),
        }
      : {},
  );
  return (
    <div class="form" ref={form}>
      {ask.message && <p class="said ask-text">{ask.message}</p>}
      {ask.url && (
        <p class="said">
          <Icon name="link" small /> {ask.url}
        </p>
      )}
      {fields.map((field) => (
        <FormField
          key={field.name}
          field={field}
          value={filled[field.name]}
          disabled={!ask.answerable}
          onSet={(value) => set(field.name, value)}
        />
      ))}
      {ask.answerable && (
        <div class="answer">
          <Button kind="primary" disabled={!complete} onClick={send} keys="y">
            Send <kbd>y</kbd>
          </Button>
          <Button onClick={decline} keys="d">
            Decline <kbd>d</kbd>
          </Button>
          <Button
            kind="ghost"
            onClick={(event) => giveAnswer(ask, { decision: "cancel" }, "Form cancelled", event)}
          >
            Cancel
          </Button>
          {ask.expires_at && <TimeLeft opened={ask.opened_at} until={ask.expires_at} />}
        </div>
      )}
    </div>
  );
}

type FormFieldProps = { field: Field; value: unknown; disabled: boolean; onSet: (value: unknown) => void };

function FormField({ field, value, disabled, onSet }: FormFieldProps) {
  const label = `${field.label}${field.required ? "" : " (optional)"}`;
  if (field.kind === "many")
    return <Several field={field} label={label} value={value} disabled={disabled} onSet={onSet} />;
  return (
    <label class={field.kind === "boolean" ? "form-field is-tick" : "form-field"}>
      <span>{label}</span>
      <Control field={field} value={value} disabled={disabled} onSet={onSet} />
      {field.description && <small>{field.description}</small>}
    </label>
  );
}

function Control({ field, value, disabled, onSet }: FormFieldProps) {
  const shown = typeof value === "string" || typeof value === "number" ? String(value) : "";
  switch (field.kind) {
    case "one": {
      const chosen = field.choices.findIndex((choice) => choice.value === value);
      return (
        <select
          disabled={disabled}
          value={String(chosen)}
          onChange={(e) => onSet(field.choices[Number(e.currentTarget.value)]?.value)}
        >
          <option value="-1">Choose</option>
          {field.choices.map((choice, i) => (
            <option key={i} value={String(i)}>
              {choice.label}
            </option>
          ))}
        </select>
      );
    }
    case "boolean":
      return (
        <input
          type="checkbox"
          disabled={disabled}
          checked={value === true}
          onChange={(e) => onSet(e.currentTarget.checked)}
        />
      );
    case "number":
      return (
        <input
          type="number"
          step="any"
          disabled={disabled}
          value={shown}
          onInput={(e) => onSet(e.currentTarget.value === "" ? undefined : Number(e.currentTarget.value))}
        />
      );
    default:
      return (
        <input type="text" disabled={disabled} value={shown} onInput={(e) => onSet(e.currentTarget.value)} />
      );
  }
}

/** Several of the listed choices, or free text with one value per line if the form lists none. */
function Several({ field, label, value, disabled, onSet }: FormFieldProps & { label: string }) {
  const chosen = Array.isArray(value) ? (value as unknown[]) : [];
  const words = field.description && <small>{field.description}</small>;
  if (field.choices.length === 0)
    return (
      <label class="form-field">
        <span>{label}, one per line</span>
        <textarea
          rows={2}
          disabled={disabled}
          onInput={(e) => onSet(e.currentTarget.value.split("\n").filter((line) => line.trim() !== ""))}
        >
          {chosen.join("\n")}
        </textarea>
        {words}
      </label>
    );
  const toggle = (one: unknown) =>
    onSet(
      chosen.includes(one)
        ? chosen.filter((other) => other !== one)
        : field.choices.map((c) => c.value).filter((v) => v === one || chosen.includes(v)),
    );
  return (
    <fieldset class="form-field several">
      <legend>{label}</legend>
      {field.choices.map((choice, i) => (
        <label key={i}>
          <input
            type="checkbox"
            disabled={disabled}
            checked={chosen.includes(choice.value)}
            onChange={() => toggle(choice.value)}
          />
          {choice.label}
        </label>
      ))}
      {words}
    </fieldset>
  );
}
