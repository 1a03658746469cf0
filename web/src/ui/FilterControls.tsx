/** Controls of a view's bar: the search field and a menu with one choice. */
import { useRef } from "preact/hooks";
import { useFieldKeys } from "../keys/fieldKeys";
import { Icon } from "./Icon";
import { Menu, MenuItem } from "./Menu";

type SearchFieldProps = {
  placeholder: string;
  label: string;
  value: string;
  onChange: (text: string) => void;
};

/** Escape clears the text. Pressed again, it leaves the field, as in every text field. */
export function SearchField({ placeholder, label, value, onChange }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  useFieldKeys(field, [["Esc", value ? "clear" : "leave"]]);
  return (
    <label class="search">
      <Icon name="search" small />
      <input
        ref={field}
        id="search"
        type="search"
        placeholder={placeholder}
        aria-label={label}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || value === "") return;
          // Otherwise the same press would also leave the field.
          event.preventDefault();
          onChange("");
        }}
      />
      <kbd>/</kbd>
    </label>
  );
}

export function FilterChoice<T extends string | null>(props: {
  name: string;
  value: T;
  choices: [T, string][];
  onChange: (value: T) => void;
  isOn?: boolean;
}) {
  const { name, value, choices, onChange, isOn = false } = props;
  const shown = choices.find(([choice]) => choice === value)?.[1] ?? value;
  return (
    <Menu
      label={name}
      button={(open, toggle) => (
        <button type="button" class={isOn ? "facet on" : "facet"} aria-expanded={open} onClick={toggle}>
          {name} <b class="clip">{shown}</b>
          <Icon name="down" small />
        </button>
      )}
    >
      {(close) =>
        choices.map(([choice, label]) => (
          <MenuItem
            key={label}
            chosen={choice === value}
            onClick={() => {
              onChange(choice);
              close();
            }}
          >
            <span class="clip">{label}</span>
          </MenuItem>
        ))
      }
    </Menu>
  );
}
