/** Shows the complete input of a tool call. */
import { Breakable, CommandText } from "../ui/Breakable";
import { Icon } from "../ui/Icon";
import { Markdown } from "../ui/Markdown";
import { TRUNCATION_MARK } from "./fullAsk";
import type { ToolInput, Values } from "./toolInput";

/** `full`: all of it, scrollable. `clipped`: only its beginning. */
export function ToolInputView({
  input,
  full,
  clipped,
}: {
  input: ToolInput;
  full?: boolean;
  clipped?: boolean;
}) {
  const scrolls = full && { tabIndex: 0, role: "group" as const, "aria-label": "What it was given" };
  return (
    <div class={clipped ? "well clipped" : "well"} {...scrolls}>
      <Shaped input={input} lines={clipped ? CLIPPED_LINES : Infinity} />
      {input.rest.length > 0 && <Rest values={input.rest} />}
    </div>
  );
}

/** A clipped view has no room for more lines than this. */
const CLIPPED_LINES = 24;

function Shaped({ input, lines }: { input: ToolInput; lines: number }) {
  switch (input.kind) {
    case "command":
      return (
        <>
          <pre class="cmd">
            <CommandText text={input.command} />
          </pre>
          {input.description && <p class="why">{input.description}</p>}
        </>
      );
    case "edit":
      return <Diff {...input} most={lines} />;
    case "plan":
      return (
        <div class="plan">
          <Markdown text={input.markdown || "The plan has no text."} />
        </div>
      );
    case "values":
      return input.rest.length === 0 ? <p class="why">It has no input.</p> : null;
  }
}

const Rest = ({ values }: { values: Values }) => (
  <dl class="values">
    {values.map(([name, value]) => [
      <dt key={name}>
        <Breakable text={name} />
      </dt>,
      <dd key={`${name}=`}>
        <Breakable text={value} />
      </dd>,
    ])}
  </dl>
);

function Diff({ path, lines, most }: Extract<ToolInput, { kind: "edit" }> & { most: number }) {
  const added = lines.filter((line) => line.sign === "+").length;
  const taken = lines.filter((line) => line.sign === "-").length;
  // The numbers would be wrong for a truncated diff.
  const counted = !lines.some((line) => TRUNCATION_MARK.test(line.text));
  return (
    <div class="diff">
      <div class="file">
        <Icon name="file" small />
        <span class="full-path">
          <Breakable text={path} />
        </span>
        {counted && (
          <span class="n">
            <span class="plus">+{added}</span> <span class="minus">−{taken}</span>
          </span>
        )}
      </div>
      <div class="rows">
        {lines.slice(0, most).map((line, i) => (
          <div key={i} class={line.sign === "+" ? "row add" : line.sign === "-" ? "row del" : "row"}>
            <span>{line.sign === "-" ? "−" : line.sign}</span>
            <span>{line.text}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
