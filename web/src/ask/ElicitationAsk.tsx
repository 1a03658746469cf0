//! A form an MCP server asks for. Usually the terminal shows it; the board answers only when the daemon holds it.
import { useSignal } from "@preact/signals";
import type { Ask } from "../generated/Ask";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { answer } from "./answers";

type Field = { type?: string; title?: string; description?: string; enum?: string[]; default?: unknown };

export function ElicitationAsk({ ask }: { ask: Ask }) {
  const fields = Object.entries((ask.requested_schema?.properties ?? {}) as Record<string, Field>);
  const required = (ask.requested_schema?.required ?? []) as string[];
  const values = useSignal<Record<string, unknown>>({});
  const set = (name: string, value: unknown) => {
    values.value = { ...values.value, [name]: value };
  };
  const complete = required.every((name) => values.value[name] !== undefined && values.value[name] !== "");
  return (
    <>
      {ask.message && <p class="said ask-text">{ask.message}</p>}
      {ask.url && <p class="said"><Icon name="link" small /> {ask.url}</p>}
      {fields.map(([name, field]) => <FormField key={name} name={name} field={field} required={required.includes(name)} disabled={!ask.answerable} onSet={set} />)}
      {ask.answerable && (
        <div class="answer">
          <Button kind="primary" disabled={!complete} onClick={() => void answer(ask.id, { decision: "allow", content: values.value })}>Send</Button>
          <Button onClick={() => void answer(ask.id, { decision: "deny" })}>Decline</Button>
          <Button kind="ghost" onClick={() => void answer(ask.id, { decision: "cancel" })}>Cancel</Button>
        </div>
      )}
    </>
  );
}

type FormFieldProps = { name: string; field: Field; required: boolean; disabled: boolean; onSet: (name: string, value: unknown) => void };

function FormField({ name, field, required, disabled, onSet }: FormFieldProps) {
  const label = `${field.title ?? name}${required ? "" : " (optional)"}`;
  const text = (event: { currentTarget: { value: string } }) => event.currentTarget.value;
  return (
    <label class="form-field">
      <span>{label}</span>
      {field.enum ? (
        <select disabled={disabled} onChange={(e) => onSet(name, text(e))}>
          <option value="">Choose</option>
          {field.enum.map((value) => <option key={value}>{value}</option>)}
        </select>
      ) : field.type === "boolean" ? (
        <input type="checkbox" disabled={disabled} onChange={(e) => onSet(name, e.currentTarget.checked)} />
      ) : field.type === "number" || field.type === "integer" ? (
        <input type="number" disabled={disabled} onInput={(e) => onSet(name, text(e) === "" ? undefined : Number(text(e)))} />
      ) : (
        <input type="text" disabled={disabled} onInput={(e) => onSet(name, text(e))} />
      )}
      {field.description && <small>{field.description}</small>}
    </label>
  );
}
