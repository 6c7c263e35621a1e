/**
 * What a screen reader says by itself: questions, endings and troubles, never every word of an answer.
 *
 * A pure function of two models; the page puts its sentences into a polite live region.
 */

import { transcriptOf, type Item } from "../state/chatState";
import { QUESTION_KEY_NAME } from "./keys";
import type { Model, Query } from "./model";
import { STATE_WORDS, cardOfResult } from "./toolCard";
import { outcomeText } from "./words";

/** Characters of an answer that are read when it is complete; the rest is in the transcript. */
const READ_ALOUD = 400;

/** The sentences to say when one model has become the other. */
export function announcements(before: Model, after: Model): readonly string[] {
  if (
    before === after ||
    (before.conversation !== after.conversation && before.isOpen && isNewlyOpened(before, after))
  ) {
    return [];
  }
  return [
    ...serverChange(before, after),
    ...after.queries.flatMap((query, index) => queryChange(before.queries[index], query)),
    ...newNotices(before, after),
    ...newQuestions(before, after),
  ];
}

function isNewlyOpened(before: Model, after: Model): boolean {
  return before.stored !== after.stored;
}

function serverChange(before: Model, after: Model): readonly string[] {
  const { status, message } = after.server;
  if (before.server.status === status || status === "starting") {
    return [];
  }
  const words = {
    ready: "The server is ready.",
    missing: "The server is not installed.",
    stopped: "The server has stopped.",
  };
  return [`${words[status]} ${message ?? ""}`.trim()];
}

function queryChange(before: Query | undefined, after: Query): readonly string[] {
  if (before === after) {
    return [];
  }
  const begun = before === undefined && after.result === null && after.failure === null ? ["Sent."] : [];
  const tools = before === undefined ? [] : newResults(before, after);
  return [...begun, ...tools, ...ending(before, after)];
}

function newResults(before: Query, after: Query): readonly string[] {
  const known = new Set(results(before).map((item) => item.facts.callId));
  return results(after)
    .filter((item) => !known.has(item.facts.callId))
    .map((item) => `${item.facts.name}: ${STATE_WORDS[cardOfResult(item).state]}.`);
}

function results(query: Query) {
  return query.chat.turns.flatMap((turn) => turn.items).filter((item) => item.type === "tool_result");
}

function ending(before: Query | undefined, after: Query): readonly string[] {
  if (after.failure !== null && !before?.failure) {
    return [`The query failed: ${after.failure.message} ${after.failure.hint ?? ""}`.trim()];
  }
  if (after.result === null || before?.result) {
    return [];
  }
  const { outcome, error, text } = after.result;
  const how = error?.message ?? (outcomeText(outcome) || "Answered");
  return [`${how}. ${shortened(text || lastMessage(after))}`.trim()];
}

function lastMessage(query: Query): string {
  const isMessage = (item: Item) => item.type === "text" && item.facts.region === "message";
  const turn = query.chat.turns.at(-1);
  return turn === undefined
    ? ""
    : transcriptOf({ ...query.chat, turns: [{ ...turn, items: turn.items.filter(isMessage) }] });
}

function shortened(text: string): string {
  const plain = text.replace(/[`*_#>]+/g, "").trim();
  return plain.length <= READ_ALOUD ? plain : `${plain.slice(0, READ_ALOUD)}… The rest is in the transcript.`;
}

function newNotices(before: Model, after: Model): readonly string[] {
  const last = before.notices.at(-1)?.number ?? 0;
  return after.notices.filter(({ number }) => number > last).map(({ text }) => text);
}

function newQuestions(before: Model, after: Model): readonly string[] {
  const known = new Set(before.prompts.map(({ decisionId }) => decisionId));
  return after.prompts
    .filter(({ decisionId }) => !known.has(decisionId))
    .map(({ message, actions }) => {
      const choices = actions.length === 0 ? "" : ` ${actions.map(({ title }) => title).join(", ")}.`;
      return `Question: ${message}${choices} ${QUESTION_KEY_NAME} goes to it.`;
    });
}
