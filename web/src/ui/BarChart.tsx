/** A small bar chart. Each bar has a text for the tooltip and for screen readers. */
import type { CSSProperties } from "preact";

/** `now` marks the current, unfinished bar. */
export type Bar = { key: string; value: number; text: string; label: string; now: boolean };

const height = (share: number): CSSProperties => ({ "--v": `${Math.round(share * 100)}%` }) as CSSProperties;

export function BarChart({ bars }: { bars: Bar[] }) {
  const most = Math.max(1, ...bars.map((bar) => bar.value));
  return (
    <ol class="bars">
      {bars.map((bar) => (
        <li key={bar.key} class={bar.now ? "now" : undefined} title={bar.text}>
          <i style={height(bar.value / most)} />
          <span class="sr">{bar.text}</span>
          <span class="lab" aria-hidden="true">
            {bar.label}
          </span>
        </li>
      ))}
    </ol>
  );
}
