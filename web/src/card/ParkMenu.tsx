import type { Session } from "../generated/Session";
import { can } from "../live/capabilities";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Menu, MenuItem } from "../ui/Menu";
import { canPark, PARK_CHOICES, park, unpark } from "./parking";

/** Puts an idle session aside, or takes a parked one back. */
export function ParkMenu({ session, small }: { session: Session; small?: boolean }) {
  if (!can("park")) return null;
  if (session.parked)
    return (
      <Button kind="ghost" onClick={() => void unpark(session.id)} keys="p">
        <Icon name="undo" small />
        Take back
      </Button>
    );
  if (!canPark(session)) return null;
  return (
    <Menu
      label="Park this session"
      class="park-menu"
      align="end"
      button={(open, toggle) => (
        <Button
          kind="ghost"
          square={small}
          onClick={toggle}
          expanded={open}
          label="Park this session"
          keys="p"
        >
          <Icon name="park" small />
          {!small && "Park…"}
        </Button>
      )}
    >
      {(close) =>
        PARK_CHOICES.map(({ until, label, key }) => (
          <MenuItem
            key={until}
            onClick={() => {
              close();
              void park(session.id, until);
            }}
          >
            <span>Park {label}</span>
            <kbd>p {key}</kbd>
          </MenuItem>
        ))
      }
    </Menu>
  );
}
