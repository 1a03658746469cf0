/** The filter of the efforts in the address of the page. */
import { chosenOf, type InQuery, textParam, unless, withParams } from "../lib/urlFilter";
import { type EffortFilter, NO_EFFORT_FILTER } from "./filter";

export const effortFilterInQuery: InQuery<EffortFilter> = {
  from(query) {
    const params = new URLSearchParams(query);
    return {
      text: params.get("efforts.q") ?? "",
      project: params.get("efforts.project") || null,
      skill: params.get("efforts.skill") || null,
      which: chosenOf(params.get("efforts.which"), ["active", "finished", "all"], NO_EFFORT_FILTER.which),
    };
  },
  into: (query, { text, project, skill, which }) =>
    withParams(query, {
      "efforts.q": textParam(text),
      "efforts.project": textParam(project ?? ""),
      "efforts.skill": textParam(skill ?? ""),
      "efforts.which": unless(which, NO_EFFORT_FILTER.which),
    }),
};
