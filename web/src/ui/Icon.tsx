import { ICONS, type IconName } from "./icons";

/** All symbols once, at the top of the page; every icon then points at one of them. */
export function Sprite() {
  const symbols = Object.entries(ICONS).map(([name, shape]) => (
    // The shapes are our own constants, never anything that came over the wire.
    <symbol key={name} id={`i-${name}`} viewBox="0 0 16 16" dangerouslySetInnerHTML={{ __html: shape }} />
  ));
  return <svg class="sprite" aria-hidden="true">{symbols}</svg>;
}

export function Icon({ name, small, spin }: { name: IconName; small?: boolean; spin?: boolean }) {
  return (
    <svg class={`icon${small ? " s" : ""}${spin ? " spin" : ""}`} aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  );
}

/** An icon named by the wire. A name this page does not know is a plain dot, never a hole. */
export function WireIcon({ name, small }: { name: string; small?: boolean }) {
  const known = name in ICONS ? (name as IconName) : "circle";
  return <Icon name={known} small={small} spin={known === "spark"} />;
}
