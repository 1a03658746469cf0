/**
 * A form that an MCP server asks for. The board can answer it only while the daemon holds the hook open;
 * otherwise the terminal shows it.
 */
import type { Ask } from "../generated/Ask";
import { keyedState } from "../lib/drafts";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { TimeLeft } from "../ui/Meters";
import { content, defaultValues, type Field, type Filled, fieldsOf, isComplete } from "./form";
import { submitAnswer } from "./submission";

const filledOf = keyedState<Filled | null>(null);

export function ElicitationAsk({ ask }: { ask: Ask }) {
  const fields = fieldsOf(ask.requested_schema);
  const touched = filledOf(ask.id);
  const filled = touched.value ?? defaultValues(ask.requested_schema);
  const set = (name: string, value: unknown) => {
    touched.value = { ...(touched.value ?? filled), [name]: value };
  };
  const send = () => void submitAnswer(ask.id, { decision: "allow", content: content(filled) });
  return (
    <>
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
          <Button kind="primary" disabled={!isComplete(fields, filled)} onClick={send}>
            Send
          </Button>
          <Button onClick={() => void submitAnswer(ask.id, { decision: "deny" })}>Decline</Button>
          <Button kind="ghost" onClick={() => void submitAnswer(ask.id, { decision: "cancel" })}>
            Cancel
          </Button>
          {ask.expires_at && <TimeLeft opened={ask.opened_at} until={ask.expires_at} />}
        </div>
      )}
    </>
  );
}

type FormFieldProps = { field: Field; value: unknown; disabled: boolean; onSet: (value: unknown) => void };

function FormField({ field, value, disabled, onSet }: FormFieldProps) {
  const label = `${field.label}${field.required ? "" : " (optional)"}`;
  if (field.kind === "many")
    return <Several field={field} label={label} value={value} disabled={disabled} onSet={onSet} />;
  return (
    <label class="form-field">
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
    case "truth":
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
        <span>{label}, one to a line</span>
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
