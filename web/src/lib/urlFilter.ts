/** Keeps the filter of a view in the address of the page, so that it can be bookmarked, shared and reloaded. */
import { effect, type Signal } from "@preact/signals";

/** Reads the filter from the query of the address, and writes it into one. Other parameters stay as they are. */
export type InQuery<T> = { from: (query: string) => T; into: (query: string, filter: T) => string };

export function keepInUrl<T>(filter: Signal<T>, { from, into }: InQuery<T>): void {
  const read = () => {
    filter.value = from(location.search);
  };
  read();
  addEventListener("popstate", read);
  effect(() => {
    const search = into(location.search, filter.value);
    if (search !== location.search)
      history.replaceState(history.state, "", `${location.pathname}${search}${location.hash}`);
  });
}

/** The query with these parameters. A parameter without values is left out. */
export function withParams(query: string, wanted: Record<string, string[]>): string {
  const params = new URLSearchParams(query);
  for (const [name, values] of Object.entries(wanted)) {
    params.delete(name);
    for (const value of values) params.append(name, value);
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

/** The value of a parameter if it is one of the choices, else the default. */
export const chosenOf = <T extends string>(value: string | null, choices: readonly T[], otherwise: T): T =>
  choices.find((choice) => choice === value) ?? otherwise;

/** The values of a parameter that is left out if it has its default. */
export const unless = <T>(value: T & string, otherwise: T): string[] => (value === otherwise ? [] : [value]);

/** The values of a parameter with free text. */
export const textParam = (text: string): string[] => (text.trim() === "" ? [] : [text]);
