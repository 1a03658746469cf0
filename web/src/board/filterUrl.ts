/** The filter of the board in the address of the page. */
import { type InQuery, textParam, withParams } from "../lib/urlFilter";
import { FACETS, type Filter } from "./filter";

export const boardFilterInQuery: InQuery<Filter> = {
  from(query) {
    const params = new URLSearchParams(query);
    const chosen = FACETS.map((facet) => [facet, params.getAll(facet).filter(Boolean)]);
    return { text: params.get("q") ?? "", ...Object.fromEntries(chosen) } as Filter;
  },
  into: (query, { text, ...facets }) => withParams(query, { q: textParam(text), ...facets }),
};
