/**
 * What the page shows, as a fold of the host's messages and of nothing else.
 *
 * A query counts its chunks from one, so each has a chat state of its own; what was stored before is another.
 */

import type { Chunk, PromptParams, QueryResult } from "../protocol.gen";
import { EMPTY_CHAT, takeChunks, type ChatState, type Item } from "../state/chatState";
import type { ActionButton, Chip, ToPage, ToPageReveal } from "../ui/messages";

/** Why a query was answered with an error. */
export interface QueryFailure {
  readonly message: string;
  readonly hint?: string;
  readonly action?: ActionButton;
}

/** A query that was sent while the page is open. */
export interface Query {
  readonly token: string;
  readonly text: string;
  readonly chat: ChatState;
  readonly result: QueryResult | null;
  readonly failure: QueryFailure | null;
}

export interface Notice {
  readonly number: number;
  readonly level: "info" | "warning" | "error";
  readonly text: string;
}

/** What the host wants in the input; the number tells a new wish from the last one. */
export interface Draft {
  readonly number: number;
  readonly text: string;
  /** Whether it takes the place of what stands there, or only fills an empty input. */
  readonly replaces: boolean;
}

export type Server = Omit<Extract<ToPage, { type: "server" }>, "type">;
export type Context = Omit<Extract<ToPage, { type: "context" }>, "type">;

export interface Model {
  /** Whether there is something to show yet. */
  readonly isOpen: boolean;
  readonly conversation: string | null;
  readonly title: string;
  readonly stored: ChatState;
  readonly queries: readonly Query[];
  /** The open questions, the oldest first. */
  readonly prompts: readonly PromptParams[];
  /** The tools that a turn which was cut off was about to run. */
  readonly unfinished: readonly string[] | null;
  readonly notices: readonly Notice[];
  readonly draft: Draft;
  readonly server: Server;
  readonly chips: readonly Chip[];
  readonly modelName: string | null;
  readonly persona: string | null;
  /** How often the host asked for the cursor to be put into the input. */
  readonly focusWishes: number;
  /** The place that is to be shown; each wish is an object of its own. */
  readonly place: ToPageReveal | null;
}

export const EMPTY_MODEL: Model = {
  isOpen: false,
  conversation: null,
  title: "",
  stored: EMPTY_CHAT,
  queries: [],
  prompts: [],
  unfinished: null,
  notices: [],
  draft: { number: 0, text: "", replaces: false },
  server: { status: "ready" },
  chips: [],
  modelName: null,
  persona: null,
  focusWishes: 0,
  place: null,
};

/** Notices that stay on the screen; older ones make room. */
const MAX_NOTICES = 4;

/** Folds one message into a model. */
export function takeMessage(model: Model, message: ToPage): Model {
  switch (message.type) {
    case "open": {
      const { server, chips, modelName, persona, focusWishes, draft } = model;
      return {
        ...EMPTY_MODEL,
        ...{ server, chips, modelName, persona, focusWishes },
        isOpen: true,
        conversation: message.conversation,
        title: message.title,
        stored: takeChunks(EMPTY_CHAT, message.chunks),
        draft: { number: draft.number + 1, text: message.draft, replaces: true },
      };
    }
    case "title":
      return { ...model, title: message.title };
    case "query":
      return {
        ...model,
        unfinished: null,
        queries: [
          ...model.queries,
          { token: message.token, text: message.text, chat: EMPTY_CHAT, result: null, failure: null },
        ],
      };
    case "chunks":
      return {
        ...withQuery(model, message.token, (query) => ({
          ...query,
          chat: takeChunks(query.chat, message.chunks),
        })),
        prompts: withoutClosed(model.prompts, message.chunks),
      };
    case "result": {
      const ended = withQuery(model, message.token, (query) => ({ ...query, result: message.result }));
      return {
        ...withDraft(ended, message.result.draft),
        conversation: message.result.conversation ?? model.conversation,
      };
    }
    case "failed": {
      const { token, draft, message: text, hint, action } = message;
      const failure = { message: text, ...(hint !== undefined && { hint }), ...(action && { action }) };
      return withDraft(
        withQuery(model, token, (query) => ({ ...query, failure })),
        draft,
      );
    }
    case "unfinished":
      return { ...model, unfinished: message.calls };
    case "prompt": {
      const others = model.prompts.filter(({ decisionId }) => decisionId !== message.prompt.decisionId);
      return { ...model, prompts: [...others, message.prompt] };
    }
    case "promptClosed":
      return { ...model, prompts: model.prompts.filter((open) => open.decisionId !== message.decisionId) };
    case "notice": {
      const number = (model.notices.at(-1)?.number ?? 0) + 1;
      const { level, text } = message;
      return { ...model, notices: [...model.notices, { number, level, text }].slice(-MAX_NOTICES) };
    }
    case "server":
      return { ...model, server: message };
    case "context":
      return { ...model, chips: message.chips, modelName: message.model, persona: message.persona };
    case "focus":
      return { ...model, focusWishes: model.focusWishes + 1 };
    case "reveal":
      return { ...model, place: message };
    default:
      return model; // a newer host
  }
}

/** Takes a notice from the screen. */
export function dismissNotice(model: Model, number: number): Model {
  return { ...model, notices: model.notices.filter((notice) => notice.number !== number) };
}

/** The query that runs and was started last. */
export function runningQuery(model: Model): Query | undefined {
  return model.queries.findLast((query) => query.result === null && query.failure === null);
}

/** Whether nothing was said yet. */
export function isBlank(model: Model): boolean {
  return model.stored.turns.length === 0 && model.queries.length === 0;
}

/** Whether somewhere in the conversation the call with this id is shown. */
export function showsCall(model: Model, callId: string): boolean {
  const isIt = (item: Item) => item.type === "tool_call" && item.facts.callId === callId;
  return [model.stored, ...model.queries.map((query) => query.chat)].some((chat) =>
    chat.turns.some((turn) => turn.items.some(isIt)),
  );
}

/** What the user has asked here, the newest last. */
export function earlierQueries(model: Model): readonly string[] {
  return [
    ...model.stored.turns.map((turn) => userText(turn.items)),
    ...model.queries.map(({ text, chat }) => text || userText(chat.turns[0]?.items ?? [])),
  ].filter((text) => text !== "");
}

/** The model that has answered last, if the transcript says so. */
export function lastModel({ stored, queries }: Model): string | undefined {
  const turns = [stored, ...queries.map(({ chat }) => chat)].flatMap((chat) => chat.turns);
  const turn = turns.findLast(({ items }) => modelIn(items) !== undefined);
  return turn && modelIn(turn.items);
}

function modelIn(items: readonly Item[]): string | undefined {
  const role = items.findLast((item) => item.type === "role" && item.facts.model !== undefined);
  return role?.type === "role" ? role.facts.model : undefined;
}

/** What the user says in a turn. */
export function userText(items: readonly Item[]): string {
  const from = items.findIndex((item) => item.type === "role" && item.facts.role === "user");
  const behind = from < 0 ? [] : items.slice(from + 1);
  const to = behind.findIndex((item) => item.type === "role");
  return (to < 0 ? behind : behind.slice(0, to))
    .filter((item) => item.type === "text")
    .map((item) => item.pieces.map(([, md]) => md).join(""))
    .join("")
    .trim();
}

function withQuery(model: Model, token: string, change: (query: Query) => Query): Model {
  const queries = model.queries.map((query) => (query.token === token ? change(query) : query));
  return { ...model, queries };
}

function withDraft(model: Model, text: string | undefined): Model {
  return text === undefined
    ? model
    : { ...model, draft: { number: model.draft.number + 1, text, replaces: false } };
}

function withoutClosed(prompts: readonly PromptParams[], chunks: readonly Chunk[]): readonly PromptParams[] {
  const closed = new Set(
    chunks.flatMap((chunk) => (chunk.type === "prompt_closed" ? [chunk.decisionId] : [])),
  );
  return closed.size === 0 ? prompts : prompts.filter(({ decisionId }) => !closed.has(decisionId));
}
