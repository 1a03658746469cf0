/** A small bar chart. Each bar has a text for the tooltip and for screen readers. */
import type { CSSProperties } from "preact";

/** `now` marks the current, unfinished bar. */
export type Bar = { key: string; value: number; text: string; label: string; now: boolean };

const height = (share: number): CSSProperties => ({ "--v": `${Math.round(share * 100)}%` }) as CSSProperties;

/** Charts side by side share a scale by `most`. `name` names the chart for screen readers. */
export function BarChart({ bars, most, name }: { bars: Bar[]; most?: number; name?: string }) {
  const full = most ?? Math.max(1, ...bars.map((bar) => bar.value));
  return (
    <ol class="bars" aria-label={name}>
      {bars.map((bar) => (
        <li key={bar.key} class={bar.now ? "now" : undefined} title={bar.text}>
          <i class={bar.value > 0 ? undefined : "none"} style={height(bar.value / full)} />
          <span class="sr">{bar.text}</span>
          <span class="lab" aria-hidden="true">
            {bar.label}
          </span>
        </li>
      ))}
    </ol>
  );
}
