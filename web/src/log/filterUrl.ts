/** The filter of the log in the address of the page. */
import { chosenOf, type InQuery, textParam, unless, withParams } from "../lib/urlFilter";
import { type LogFilter, NO_LOG_FILTER, OUTCOMES, type Outcome, PERIODS, type Period } from "./filter";

export const logFilterInQuery: InQuery<LogFilter> = {
  from(query) {
    const params = new URLSearchParams(query);
    return {
      text: params.get("log.q") ?? "",
      project: params.get("log.project") || null,
      outcome: chosenOf(params.get("log.outcome"), Object.keys(OUTCOMES) as Outcome[], NO_LOG_FILTER.outcome),
      period: chosenOf(params.get("log.since"), Object.keys(PERIODS) as Period[], NO_LOG_FILTER.period),
    };
  },
  into: (query, { text, project, outcome, period }) =>
    withParams(query, {
      "log.q": textParam(text),
      "log.project": textParam(project ?? ""),
      "log.outcome": unless(outcome, NO_LOG_FILTER.outcome),
      "log.since": unless(period, NO_LOG_FILTER.period),
    }),
};
