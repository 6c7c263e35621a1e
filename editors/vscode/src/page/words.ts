/** The page's words for what the protocol says in ids and numbers. */

import type { Outcome, Phase, Usage } from "../protocol.gen";

/** A duration as a person would say it: `4 s`, `2 min 5 s`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A size in the unit that fits it. */
export function size(bytes: number): string {
  if (bytes < 1000) {
    return count(bytes, "byte");
  }
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A number with its noun: `1 line`, `2 lines`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** What a turn cost, as far as the vendor told. */
export function usageText(usage: Usage): string {
  const told = (number: number | undefined, text: (number: string) => string) =>
    number === undefined ? "" : text(number.toLocaleString("en"));
  const input = told(usage.inputTokens, (tokens) => `${tokens} tokens in`);
  const cached = told(usage.cachedTokens, (tokens) => ` (${tokens} cached)`);
  const output = told(usage.outputTokens, (tokens) => `${tokens} tokens out`);
  const thinking = told(usage.reasoningTokens, (tokens) => ` (${tokens} of thinking)`);
  return [input + cached, output + thinking].filter((text) => text !== "").join(" · ");
}

const OUTCOMES: Partial<Record<Outcome, string>> = {
  truncated: "Cut off at the model's limit",
  empty: "The model said nothing",
  refused: "The model refused",
  stopped: "Stopped; what came is kept",
  aborted: "Discarded",
  interrupted: "Stopped; what came is kept",
  killed: "Ended at once",
  failed: "Failed",
  waiting_for_input: "Waits for your answer",
  empty_query: "Nothing was asked",
  cancelled_before_start: "Cancelled before it began",
};

/** How a turn ended, where that is not what one expects. */
export function outcomeText(outcome: Outcome): string {
  return OUTCOMES[outcome] ?? "";
}

const PHASES: Partial<Record<Phase, string>> = {
  preparing: "Getting ready",
  opening: "Getting ready",
  waiting: "Waiting for the model",
  streaming: "Answering",
  interrupted_stream: "Interrupted",
  replying: "Waiting for your reply",
  backoff: "Waiting before another try",
  evaluating: "Looking at the answer",
  executing: "Running tools",
  interrupted_tools: "Interrupted",
  continuing: "Going on",
  finishing: "Finishing",
  closing: "Finishing",
};

/** Where a turn stands: the server's words, or ours for its phase. */
export function phaseText(phase: Phase | undefined, detail: string | undefined): string {
  if (detail !== undefined && detail !== "") {
    return detail.charAt(0).toUpperCase() + detail.slice(1);
  }
  return (phase && PHASES[phase]) ?? "Working";
}
