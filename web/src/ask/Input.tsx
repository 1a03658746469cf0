//! The well: everything the tool was given, readable.
import { Icon } from "../ui/Icon";
import { Markdown } from "../ui/Markdown";
import type { ToolInput, Values } from "./input";
import { CUT } from "./whole";

/** `whole` where all of it can be scrolled through; `clipped` where only its beginning is to be seen. */
export function Input({ input, whole, clipped }: { input: ToolInput; whole?: boolean; clipped?: boolean }) {
  const scrolls = whole && { tabIndex: 0, role: "group" as const, "aria-label": "What it was given" };
  return (
    <div class={clipped ? "well clipped" : "well"} {...scrolls}>
      <Shaped input={input} lines={clipped ? CLIPPED_LINES : Infinity} />
      {input.rest.length > 0 && <Rest values={input.rest} />}
    </div>
  );
}

/** More lines than a clipped well has room for. */
const CLIPPED_LINES = 24;

function Shaped({ input, lines }: { input: ToolInput; lines: number }) {
  switch (input.kind) {
    case "command":
      return (
        <>
          <pre class="cmd">{input.command}</pre>
          {input.description && <p class="why">{input.description}</p>}
        </>
      );
    case "edit":
      return <Diff {...input} most={lines} />;
    case "plan":
      return <div class="plan"><Markdown text={input.markdown || "The plan came without text."} /></div>;
    case "values":
      return input.rest.length === 0 ? <p class="why">It was given nothing.</p> : null;
  }
}

const Rest = ({ values }: { values: Values }) => (
  <dl class="values">
    {values.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`}>{value}</dd>])}
  </dl>
);

function Diff({ path, lines, most }: Extract<ToolInput, { kind: "edit" }> & { most: number }) {
  const added = lines.filter((line) => line.sign === "+").length;
  const taken = lines.filter((line) => line.sign === "-").length;
  // Of a part there is nothing to count.
  const counted = !lines.some((line) => CUT.test(line.text));
  return (
    <div class="diff">
      <div class="file">
        <Icon name="file" small />
        <span class="whole-path">{path}</span>
        {counted && <span class="n"><span class="plus">+{added}</span> <span class="minus">−{taken}</span></span>}
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
