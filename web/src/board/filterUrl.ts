/** Keeps the filter in the address of the page, so that it can be bookmarked, shared and reloaded. */
import { effect } from "@preact/signals";
import { FACETS, type Filter, filter } from "./filter";

const TEXT = "q";

export function filterFrom(search: string): Filter {
  const params = new URLSearchParams(search);
  const chosen = FACETS.map((facet) => [facet, params.getAll(facet).filter(Boolean)]);
  return { text: params.get(TEXT) ?? "", ...Object.fromEntries(chosen) } as Filter;
}

/** Other parameters stay as they are. */
export function searchWith(search: string, wanted: Filter): string {
  const params = new URLSearchParams(search);
  for (const name of [TEXT, ...FACETS]) params.delete(name);
  if (wanted.text.trim() !== "") params.set(TEXT, wanted.text);
  for (const facet of FACETS) for (const value of wanted[facet]) params.append(facet, value);
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

export function keepFilterInUrl(): void {
  const read = () => {
    filter.value = filterFrom(location.search);
  };
  read();
  addEventListener("popstate", read);
  effect(() => {
    const search = searchWith(location.search, filter.value);
    if (search !== location.search)
      history.replaceState(history.state, "", `${location.pathname}${search}${location.hash}`);
  });
}
