const KINDS: [string, string][] = [
  ["blocked", "Blocked"],
  ["asks", "Interrupted or asks"],
  ["fail", "Failed"],
  ["work", "Working"],
  ["bg", "Background agents"],
  ["idle", "Idle"],
];

export function Legend() {
  return (
    <div class="legend">
      {KINDS.map(([cls, name]) => (
        <span key={cls}>
          <i>
            <b class={`seg ${cls}`} />
          </i>
          {name}
        </span>
      ))}
    </div>
  );
}
