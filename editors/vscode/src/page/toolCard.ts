/** What a tool call looks like: the call, its progress, the question about it and its result, put together. */

import type { PromptParams, ToolSource } from "../protocol.gen";
import type { ChatState, Slot, ToolCallItem, ToolResultItem, Turn } from "../state/chatState";

export type CardState =
  "preparing" | "pending" | "waiting" | "running" | "done" | "failed" | "skipped" | "dropped";

export interface ToolCard {
  readonly callId: string;
  readonly name: string;
  readonly source: ToolSource | null;
  readonly server: string | null;
  /** JSON text; null when the call itself is not shown. */
  readonly arguments: string | null;
  readonly isEdited: boolean;
  readonly state: CardState;
  readonly message: string | null;
  readonly percentage: number | null;
  readonly elapsedMs: number | null;
  readonly prompt: PromptParams | null;
  readonly result: ToolResultItem | null;
}

/** What is known of a turn while it runs; of one that is over only its items are. */
export interface Live {
  readonly chat: ChatState;
  readonly prompts: readonly PromptParams[];
}

/** The words for a state. */
export const STATE_WORDS: Readonly<Record<CardState, string>> = {
  preparing: "Preparing",
  pending: "Next",
  waiting: "Waiting for you",
  running: "Running",
  done: "Done",
  failed: "Failed",
  skipped: "Skipped",
  dropped: "Did not run",
};

/** The calls and results of a turn, by the id of the call. */
export interface Calls {
  readonly called: ReadonlySet<string>;
  readonly results: ReadonlyMap<string, ToolResultItem>;
}

/** Finds the calls of a turn, and what came of them. */
export function callsOf({ items }: Turn): Calls {
  const called = items.flatMap((item) => (item.type === "tool_call" ? [item.facts.callId] : []));
  const results = items.flatMap((item) =>
    item.type === "tool_result" ? [[item.facts.callId, item] as const] : [],
  );
  return { called: new Set(called), results: new Map(results) };
}

/** The card of a call. */
export function cardOf(call: ToolCallItem, { results }: Calls, live: Live | null): ToolCard {
  const { callId, name, source, server, edited } = call.facts;
  const result = results.get(callId);
  const slot = live?.chat.slots[`tool:${callId}`];
  return {
    ...blank(callId, name),
    source,
    server: server ?? null,
    arguments: call.facts.arguments,
    isEdited: edited === true,
    ...progressOf(slot),
    prompt: live?.prompts.find((prompt) => prompt.callId === callId) ?? null,
    result: result ?? null,
    state: stateOf(callId, result, slot, live),
  };
}

/** The card of a result whose call is not shown. */
export function cardOfResult(result: ToolResultItem): ToolCard {
  const { callId, name } = result.facts;
  return { ...blank(callId, name), result, state: resultState(result) };
}

/** The cards of calls whose arguments the model is still writing. */
export function preparingCards(live: Live): readonly ToolCard[] {
  return Object.entries(live.chat.slots).flatMap(([slotName, slot]) =>
    slot.type === "tool_preparing"
      ? [{ ...blank(slotName, slot.name ?? "a tool"), ...progressOf(slot), state: "preparing" as const }]
      : [],
  );
}

/** The arguments in a line, for a card that is closed. */
export function argumentsLine(json: string): string {
  const value = parse(json);
  if (typeof value !== "object" || value === null) {
    return value === null || value === undefined ? "" : JSON.stringify(value);
  }
  return Object.entries(value)
    .map(([name, each]) => `${name}: ${typeof each === "string" ? each : JSON.stringify(each)}`)
    .join(", ")
    .replace(/\s+/g, " ")
    .slice(0, 200);
}

/** The arguments for people; empty when there are none. */
export function prettyArguments(json: string): string {
  const value = parse(json);
  if (value === undefined) {
    return json;
  }
  const isEmpty = value === null || (typeof value === "object" && Object.keys(value).length === 0);
  return isEmpty ? "" : JSON.stringify(value, null, 2);
}

/** The result without the line that says that it is one. */
export function resultBody(result: ToolResultItem): string {
  const md = result.pieces.map(([, text]) => text).join("");
  const fence = /^(`{3,}|~{3,})/m.exec(md);
  return fence === null ? "" : md.slice(fence.index);
}

function blank(callId: string, name: string): Omit<ToolCard, "state"> {
  return {
    ...{ callId, name, source: null, server: null, arguments: null, isEdited: false },
    ...{ message: null, percentage: null, elapsedMs: null, prompt: null, result: null },
  };
}

function stateOf(
  callId: string,
  result: ToolResultItem | undefined,
  slot: Slot | undefined,
  live: Live | null,
): CardState {
  if (live !== null && [...live.prompts, ...live.chat.prompts].some((prompt) => prompt.callId === callId)) {
    return "waiting";
  }
  if (result !== undefined) {
    return resultState(result);
  }
  if (live === null) {
    return "dropped";
  }
  return slot?.type === "tool_progress" ? "running" : "pending";
}

function resultState(result: ToolResultItem): CardState {
  if (!result.facts.ok) {
    return "failed";
  }
  return result.facts.decision === "skip" ? "skipped" : "done";
}

function progressOf(slot: Slot | undefined): Pick<ToolCard, "message" | "percentage" | "elapsedMs"> {
  const isProgress = slot?.type === "tool_progress" || slot?.type === "tool_preparing";
  return {
    message: (isProgress && slot.message) || null,
    percentage: (isProgress && slot.percentage) || null,
    elapsedMs: isProgress ? (slot.elapsedMs ?? null) : null,
  };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
