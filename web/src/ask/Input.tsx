//! The well: everything the tool was given, readable.
import { Icon } from "../ui/Icon";
import { Markdown } from "../ui/Markdown";
import type { ToolInput, Values } from "./input";

export function Input({ input, clipped }: { input: ToolInput; clipped?: boolean }) {
  return (
    <div class={clipped ? "well clipped" : "well"}>
      <Shaped input={input} />
      {input.rest.length > 0 && <Rest values={input.rest} />}
    </div>
  );
}

function Shaped({ input }: { input: ToolInput }) {
  switch (input.kind) {
    case "command":
      return (
        <>
          <pre class="cmd">{input.command}</pre>
          {input.description && <p class="why">{input.description}</p>}
        </>
      );
    case "edit":
      return <Diff {...input} />;
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

function Diff({ path, lines }: Extract<ToolInput, { kind: "edit" }>) {
  const added = lines.filter((line) => line.sign === "+").length;
  const taken = lines.filter((line) => line.sign === "-").length;
  return (
    <div class="diff">
      <div class="file">
        <Icon name="file" small />
        <span class="whole-path">{path}</span>
        <span class="n"><span class="plus">+{added}</span> <span class="minus">−{taken}</span></span>
      </div>
      <div class="rows">
        {lines.map((line, i) => (
          <div key={i} class={line.sign === "+" ? "row add" : line.sign === "-" ? "row del" : "row"}>
            <span>{line.sign === "-" ? "−" : line.sign}</span>
            <span>{line.text}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
