//! The well: everything the tool was given, readable.
import { Icon } from "../ui/Icon";
import { Markdown } from "../ui/Markdown";
import type { ToolInput } from "./input";

export function Input({ input, clipped }: { input: ToolInput; clipped?: boolean }) {
  const cls = clipped ? "well clipped" : "well";
  switch (input.kind) {
    case "command":
      return (
        <div class={cls}>
          <pre class="cmd">{input.command}</pre>
          {input.description && <p class="why">{input.description}</p>}
        </div>
      );
    case "edit":
      return <Diff {...input} class={cls} />;
    case "plan":
      return <div class={`${cls} plan`}><Markdown text={input.markdown || "The plan came without text."} /></div>;
    case "values":
      return (
        <dl class={`${cls} values`}>
          {input.values.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`}>{value}</dd>])}
        </dl>
      );
  }
}

function Diff({ path, lines, class: cls }: Extract<ToolInput, { kind: "edit" }> & { class: string }) {
  const added = lines.filter((line) => line.sign === "+").length;
  const taken = lines.filter((line) => line.sign === "-").length;
  return (
    <div class={`${cls} diff`}>
      <div class="file">
        <Icon name="file" small />
        <span class="clip path" title={path}><bdi>{path}</bdi></span>
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
