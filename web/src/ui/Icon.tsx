import { ICONS, type IconName } from "./icons";

/** All icon shapes, drawn once at the top of the page; every icon refers to one of them. */
export function Sprite() {
  const symbols = Object.entries(ICONS).map(([name, shape]) => (
    // biome-ignore lint/security/noDangerouslySetInnerHtml: the shapes are constants of this page, never wire data.
    <symbol key={name} id={`i-${name}`} viewBox="0 0 16 16" dangerouslySetInnerHTML={{ __html: shape }} />
  ));
  return (
    <svg class="sprite" aria-hidden="true">
      {symbols}
    </svg>
  );
}

export function Icon({ name, small, spin }: { name: IconName; small?: boolean; spin?: boolean }) {
  return (
    <svg class={`icon${small ? " s" : ""}${spin ? " spin" : ""}`} aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  );
}

/** An icon named by the wire. An unknown name is drawn as a circle. */
export function WireIcon({ name, small }: { name: string; small?: boolean }) {
  const known = name in ICONS ? (name as IconName) : "circle";
  return <Icon name={known} small={small} spin={known === "spark"} />;
}
