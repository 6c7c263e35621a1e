/**
 * One conversation as the extension host keeps it: everything that a page would have to be told.
 *
 * The page of the chat view may be hidden or thrown away at any time. `replay` gives the messages that bring a
 * new one to where the old one was.
 */

import type { Chunk, PromptParams, QueryResult } from "../protocol.gen";
import type { Chip, ToPage } from "../ui/messages";
import {
  EMPTY_CHAT,
  markdownOf,
  takeChunks,
  type ChatState,
  type ToolCallItem,
  type ToolResultItem,
} from "./chatState";

/** A chip, with the text that a selection had when it was attached; a chip without one is a file. */
export interface Attached extends Chip {
  readonly text?: string;
  readonly language?: string;
}

/** A message that belongs to the conversation, in the order in which a page gets them. */
export type Told = Exclude<ToPage, { type: "open" | "title" | "server" | "context" | "focus" | "reveal" }>;

export class Chat {
  title = "";
  draft = "";
  chips: readonly Attached[] = [];
  /** What the user picked here; the server keeps it once it was sent with a query. */
  model: string | null = null;
  persona: string | null = null;
  /** The setting that made the persona. */
  personaSetting = "";
  /** Settings that were picked since the last query. */
  newSettings: readonly string[] = [];
  private stored: readonly Chunk[] = [];
  private told: readonly Told[] = [];
  private readonly states = new Map<string, ChatState>();
  /** What runs, and the conversation that there was before it. */
  private readonly runs = new Map<string, string | null>();

  /** @param conversation its id; null for a new one, until its first query has begun. */
  constructor(public conversation: string | null) {}

  /** The tokens of the queries that are running. */
  get running(): readonly string[] {
    return [...this.runs.keys()];
  }

  /** Whether nothing was asked here yet. */
  get isBlank(): boolean {
    return this.conversation === null && this.told.length === 0;
  }

  /** Its title, else the first line of its first question, if that is known. */
  get name(): string | undefined {
    const asked = this.told.find((message) => message.type === "query");
    const shown = this.states.get("")?.turns[0]?.items.find(({ type }) => type === "text");
    const question = shown === undefined ? asked?.text : markdownOf(shown);
    return this.title || question?.trim().split("\n", 1)[0] || undefined;
  }

  /** The number of the first turn that was asked since it was opened; undefined before that is known. */
  get firstTurn(): number | undefined {
    const asked = this.told.find((message) => message.type === "query");
    const state = asked === undefined ? undefined : this.states.get(asked.token);
    return state?.turns[0]?.facts.turnIndex;
  }

  /** Whether its last turn was cut off and can be resumed. */
  get isCutOff(): boolean {
    return this.told.some(({ type }) => type === "unfinished");
  }

  /** The questions that wait for an answer, the oldest first. */
  get prompts(): readonly PromptParams[] {
    return this.told.flatMap((message) => (message.type === "prompt" ? [message.prompt] : []));
  }

  /** Replaces what is shown by the stored conversation. */
  load(chunks: readonly Chunk[]): void {
    this.stored = chunks;
    this.told = [];
    this.states.clear();
    this.states.set("", takeChunks(EMPTY_CHAT, chunks));
  }

  /** Takes the last turn out of what was loaded. */
  forgetLastTurn(): void {
    const begin = this.stored.findLastIndex(({ type }) => type === "turn_begin");
    this.load(this.stored.slice(0, Math.max(begin, 0)));
  }

  /** The messages for a page that has just been opened. */
  replay(): readonly ToPage[] {
    const { conversation, title, stored: chunks, draft } = this;
    return [{ type: "open", conversation, title, chunks, draft }, ...this.told, this.context()];
  }

  /** What stands beside the input. */
  context(): ToPage {
    const chips = this.chips.map(({ uri, label, detail }) => ({ uri, label, ...(detail && { detail }) }));
    return { type: "context", chips, model: this.model, persona: this.persona };
  }

  /** Keeps a message. */
  tell(message: Told): void {
    switch (message.type) {
      case "query":
        this.runs.set(message.token, this.conversation);
        this.told = [...this.told.filter(({ type }) => type !== "unfinished"), message];
        break;
      case "chunks":
        this.takeChunks(message.token, message.chunks);
        break;
      case "promptClosed":
        this.told = this.told.filter((each) => !isPrompt(each, message.decisionId));
        break;
      case "result":
        this.end(message.token, message.result);
        this.told = [...this.told, message];
        break;
      case "failed":
        this.runs.delete(message.token);
        this.told = [...this.told, message];
        break;
      default:
        this.told = [...this.told, message];
    }
  }

  /** Finds a tool call by its id, the newest first. */
  call(callId: string): ToolCallItem | undefined {
    return this.items().find((item) => item.type === "tool_call" && item.facts.callId === callId) as
      ToolCallItem | undefined;
  }

  /** Finds the result of a tool call, the newest first. */
  result(callId: string): ToolResultItem | undefined {
    return this.items().find((item) => item.type === "tool_result" && item.facts.callId === callId) as
      ToolResultItem | undefined;
  }

  /** Whether a query of this conversation opened a question. */
  hasOpened(decisionId: string): boolean {
    const states = [...this.states.values()];
    return states.some((state) => state.prompts.some((prompt) => prompt.decisionId === decisionId));
  }

  private items() {
    return [...this.states.values()].flatMap((state) => state.turns.flatMap((turn) => turn.items)).reverse();
  }

  private takeChunks(token: string, chunks: readonly Chunk[]): void {
    const state = takeChunks(this.states.get(token) ?? EMPTY_CHAT, chunks);
    this.states.set(token, state);
    this.conversation = state.conversation ?? this.conversation;
    const last = this.told.at(-1);
    this.told =
      last?.type === "chunks" && last.token === token
        ? [...this.told.slice(0, -1), { ...last, chunks: [...last.chunks, ...chunks] }]
        : [...this.told, { type: "chunks", token, chunks }];
  }

  private end(token: string, result: QueryResult): void {
    this.conversation = result.conversation ?? this.runs.get(token) ?? null;
    this.draft ||= result.draft ?? "";
    this.runs.delete(token);
  }
}

function isPrompt(message: Told, decisionId: string): boolean {
  return message.type === "prompt" && message.prompt.decisionId === decisionId;
}
