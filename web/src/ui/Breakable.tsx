/** Longer texts are no names; an element per separator would be too many. */
const NAME_CHARS_MAX = 400;

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
