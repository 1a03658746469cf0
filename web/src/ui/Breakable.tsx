import { Fragment } from "preact";

/** Longer texts are no names; an element per separator would be too many. */
const NAME_CHARS_MAX = 400;

/** Longer commands are scripts; an element per path and option would be too many. */
const COMMAND_CHARS_MAX = 2_000;

/** The ends of path segments, and the dashes of an option with its first letter. */
const COMMAND_PARTS = /(?<=\/)|(?<=^|\s)(?=--?\w)|(?<=(?:^|\s)--?\w)/;
const IS_OPTION = /^--?\w$/;

/** A command that wraps after spaces and slashes, and never between the dashes and the name of an option. */
export const CommandText = ({ text }: { text: string }) =>
  text.length > COMMAND_CHARS_MAX ? (
    <>{text}</>
  ) : (
    <>
      {text.split(COMMAND_PARTS).map((part, i) => (
        <Fragment key={i}>
          {IS_OPTION.test(part) ? <span class="whole">{part}</span> : part}
          {part.endsWith("/") && <wbr />}
        </Fragment>
      ))}
    </>
  );

/** A path or name that wraps after its separators and not in the middle of a word. */
export const Breakable = ({ text }: { text: string }) =>
  text.length > NAME_CHARS_MAX ? (
    <>{text}</>
  ) : (
    <>
      {text.split(/(?<=[/\\_.:@-])/).map((part, i) => (
        <>
          {i > 0 && <wbr />}
          {part}
        </>
      ))}
    </>
  );
