/** The fields of an MCP elicitation form: text, number, yes/no, one choice, several choices. */

export type FieldChoice = { value: string | number | boolean; label: string };

export type Field = {
  name: string;
  label: string;
  required: boolean;
  description: string | null;
  kind: "text" | "number" | "boolean" | "one" | "many";
  choices: FieldChoice[];
};

/** The values that the person entered, by field name. */
export type Filled = Record<string, unknown>;

type Schema = Record<string, unknown>;

const object = (value: unknown): Schema =>
  typeof value === "object" && value !== null ? (value as Schema) : {};
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const string = (value: unknown): string | null => (typeof value === "string" ? value : null);

export function fieldsOf(schema: Schema | null): Field[] {
  const required = list(schema?.required);
  return Object.entries(object(schema?.properties)).map(([name, described]) => {
    const field = object(described);
    const many = field.type === "array";
    const choices = choicesIn(many ? object(field.items) : field);
    return {
      name,
      label: string(field.title) ?? name,
      required: required.includes(name),
      description: string(field.description),
      kind: kindOf(field, many, choices),
      choices,
    };
  });
}

function kindOf({ type }: Schema, many: boolean, choices: FieldChoice[]): Field["kind"] {
  if (many) return "many";
  if (choices.length > 0) return "one";
  return type === "boolean" ? "boolean" : type === "number" || type === "integer" ? "number" : "text";
}

/** Reads `enum` with `enumNames`, and `oneOf` or `anyOf` with a title each. */
function choicesIn({ enum: values, enumNames, oneOf, anyOf }: Schema): FieldChoice[] {
  const named = [...list(oneOf), ...list(anyOf)]
    .map(object)
    .map((one) => ({ value: one.const, label: string(one.title) }));
  const plain = list(values).map((value, i) => ({ value, label: string(list(enumNames)[i]) }));
  return [...plain, ...named].flatMap(({ value, label }) => {
    const usable = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    return usable ? [{ value, label: label ?? String(value) }] : [];
  });
}

/** The values before the person changed anything. A required checkbox starts as false. */
export function defaultValues(schema: Schema | null): Filled {
  const described = object(schema?.properties);
  const filled: Filled = {};
  for (const { name, kind, required } of fieldsOf(schema)) {
    const given = object(described[name]).default;
    if (given !== undefined && given !== null) filled[name] = given;
    else if (kind === "boolean" && required) filled[name] = false;
  }
  return filled;
}

/** The content to send, without empty fields. */
export const content = (filled: Filled): Filled =>
  Object.fromEntries(Object.entries(filled).filter(([, value]) => !isEmpty(value)));

export const isComplete = (fields: Field[], filled: Filled): boolean =>
  fields.every(({ name, required }) => !required || !isEmpty(filled[name]));

const isEmpty = (value: unknown) =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
