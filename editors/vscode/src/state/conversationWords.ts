/** Conversations in words: how lists call them, what is special about them, and what users type about them. */

import type {
  ConversationForkParams,
  ConversationLabelsParams,
  ConversationSummary,
  Label,
  SearchHit,
  SearchScope,
} from "../protocol.gen";

/** What is special about a conversation, in a few words. */
export function marksOf({
  pinnedAt,
  local,
  expiresAt,
  active,
  labels,
}: ConversationSummary): readonly string[] {
  return [
    active ? "in use" : "",
    pinnedAt === undefined ? "" : "pinned",
    local ? "only yours" : "",
    expiresAt === undefined ? "" : `may be removed after ${expiresAt.slice(0, 10)}`,
    ...labels.map(labelText),
  ].filter((mark) => mark !== "");
}

/** What `when` clauses of the tree's menus look for. */
export function contextOf({ archived, pinnedAt, local }: ConversationSummary): string {
  const kind = archived ? "archived" : "conversation";
  return `${kind} ${pinnedAt === undefined ? "unpinned" : "pinned"} ${local ? "local" : "shared"}`;
}

/** The pinned ones first, else as they come. */
export function pinnedFirst(conversations: readonly ConversationSummary[]): readonly ConversationSummary[] {
  const isPinned = ({ pinnedAt }: ConversationSummary) => pinnedAt !== undefined;
  return [...conversations.filter(isPinned), ...conversations.filter((each) => !isPinned(each))];
}

export function labelText({ key, value }: Label): string {
  return value === "" ? key : `${key}=${value}`;
}

/** What has to be changed for a conversation to have the labels that the user typed, and no others. */
export function labelChanges(
  before: readonly Label[],
  typed: string,
): Pick<ConversationLabelsParams, "add" | "remove"> {
  const words = typed.split(/\s+/).filter((word) => word !== "");
  const wanted = words.map((word) => {
    const at = word.indexOf("=");
    return at < 0 ? { key: word, value: "" } : { key: word.slice(0, at), value: word.slice(at + 1) };
  });
  const keys = new Set(wanted.map(({ key }) => key));
  const old = new Set(before.map(labelText));
  return {
    add: wanted.filter((label) => !old.has(labelText(label))),
    remove: [...new Set(before.map(({ key }) => key))].filter((key) => !keys.has(key)),
  };
}

/** Which turns a copy has: all, those up to one, or the last few. */
export type ForkChoice = "all" | { readonly upTo: number } | { readonly last: number };

export function forkParams(conversation: string, choice: ForkChoice): ConversationForkParams {
  if (choice === "all") {
    return { conversation };
  }
  return "upTo" in choice
    ? { conversation, firstTurns: choice.upTo }
    : { conversation, lastTurns: choice.last };
}

/** Says what is wrong with a number of turns that was typed; undefined when nothing is. */
export function countProblem(text: string): string | undefined {
  return /^[1-9]\d{0,5}$/.test(text.trim()) ? undefined : "A number of turns, such as 3";
}

/** A hit as a list shows it: the line, and where it was said. */
export function hitWords({ before, match, after, title, turn, scope, count }: SearchHit): {
  readonly line: string;
  readonly where: string;
} {
  const place = turn === undefined ? [] : [`turn ${turn}`];
  const more = count > 1 ? [`${count} times`] : [];
  return {
    line: `${before}${match}${after}`.replace(/\s+/g, " ").trim(),
    where: [...place, SPEAKERS[scope], ...more, title ?? "Untitled"].join(", "), // titles are cut off
  };
}

const SPEAKERS: Readonly<Record<SearchScope, string>> = {
  title: "title",
  user: "you",
  assistant: "answer",
  reasoning: "thought",
  structured: "value",
  tool_call: "call",
  tool_result: "result",
  inquiry: "question",
};
