/**
 * All conversations of a window: which one is shown, what runs in each, and what their pages must be told.
 *
 * This is the truth of the extension host. It knows no editor: the way to the server, and the page, are given.
 */

import type { CancellationToken } from "vscode-jsonrpc";
import type { JpClient } from "../client";
import type { Chunk, InterruptParams, PromptParams, PromptResult, QueryParams } from "../protocol.gen";
import type { ToPage } from "../ui/messages";
import { Batches } from "./batches";
import { Chat, type Told } from "./chat";
import { describeFailure, isConnectionLost } from "./failure";
import { queryParams } from "./queryParams";
import { Questions } from "./questions";

/** Chunks of one query go to the page at most once in this time. */
const BATCH_MILLISECONDS = 30;

/** What conversations need of whoever has them. */
export interface ChatsHost {
  /** The way to the server, which is started if need be. */
  connect(): Promise<JpClient>;
  /** Tells the page, which shows `chats.shown`. */
  post(message: ToPage): void;
  /** Something changed that is shown elsewhere: what runs, what waits, which conversation is shown. */
  changed(): void;
  /** A question needs no answer any more. */
  closed(decisionId: string): void;
  /** A question, or a warning, came up in a conversation. */
  wanted(chat: Chat, text: string): void;
}

/** What the chats as a whole are doing. */
export type Activity = "idle" | "working" | "needs you";

export class Chats {
  shown = new Chat(null);
  readonly questions: Questions;
  private readonly all = new Set<Chat>([this.shown]);
  private readonly byToken = new Map<string, Chat>();
  private readonly batches: Batches<Chunk>;
  private readonly window = Math.random().toString(36).slice(2, 8);
  private count = 0;

  constructor(private readonly host: ChatsHost) {
    this.batches = new Batches(BATCH_MILLISECONDS, (token, chunks) => {
      this.tellToken(token, { type: "chunks", token, chunks });
    });
    this.questions = new Questions({
      asked: (chat, prompt) => {
        this.tell(chat, { type: "prompt", prompt });
        this.host.wanted(chat, prompt.message);
        this.host.changed();
      },
      closed: (chat, decisionId) => {
        this.tell(chat, { type: "promptClosed", decisionId });
        this.host.closed(decisionId);
        this.host.changed();
      },
    });
  }

  get activity(): Activity {
    if (this.questions.count > 0) {
      return "needs you";
    }
    return this.byToken.size > 0 ? "working" : "idle";
  }

  /** Asks in the shown conversation. */
  async ask(text: string): Promise<void> {
    await this.run(this.shown, queryParams(this.shown, text));
  }

  /** Asks what somebody else has put together, in the shown conversation unless they say otherwise. */
  async query(params: QueryParams): Promise<void> {
    if (params.document !== undefined) {
      await this.queryDocument(params);
      return;
    }
    const conversation = this.shown.conversation ?? "new";
    await this.run(this.shown, { conversation, ...params });
  }

  /**
   * Asks what a document says. It decides on the conversation, so the answer comes into a chat of its own; when it
   * is complete, the whole conversation is shown.
   */
  private async queryDocument(params: QueryParams): Promise<void> {
    const chat = new Chat(null);
    this.show(chat);
    await this.run(chat, params);
    const twin = [...this.all].find((other) => other !== chat && other.conversation === chat.conversation);
    const firstTurn = chat.firstTurn ?? 1;
    if (chat.conversation === null || (twin === undefined && firstTurn === 1)) {
      return;
    }
    const whole = twin ?? chat;
    if (this.shown === chat) {
      this.show(whole);
    }
    if (whole !== chat) {
      this.all.delete(chat);
    }
    if (whole.running.length === 0) {
      await this.load(whole);
    }
  }

  /** Goes on with the last turn of the shown conversation, which is shown anew from its beginning. */
  async resume(): Promise<void> {
    const chat = this.shown;
    const { conversation } = chat;
    if (conversation !== null) {
      await this.load(chat);
      chat.forgetLastTurn();
      this.replay();
      await this.run(chat, { conversation, resume: true });
    }
  }

  /**
   * Asks a turn of a conversation again, in other words if there are any. It and those behind it stay until the new
   * one is stored.
   */
  async replayTurn(conversation: string, turn: number, text?: string): Promise<void> {
    const chat = this.withId(conversation);
    const params = {
      conversation,
      replay: turn,
      ...(text !== undefined && { text }),
      ...(chat !== undefined && chat.running.length > 0 && { queue: true }),
    };
    if (chat !== undefined && (await this.run(chat, params))) {
      await this.load(chat);
    }
  }

  /** Shows a conversation as it is stored now, if it is here and nothing runs in it. */
  async reload(conversation: string): Promise<void> {
    const chat = this.withId(conversation);
    if (chat?.running.length === 0) {
      await this.load(chat);
    }
  }

  /** Steers a running query. */
  async interrupt(params: InterruptParams): Promise<void> {
    const chat = this.byToken.get(String(params.turn));
    try {
      const client = await this.host.connect();
      const { handled, allowed } = await client.call("jp/interrupt", params);
      if (handled === "none" && chat !== undefined) {
        const instead = allowed === undefined ? "" : ` It could: ${allowed.join(", ")}.`;
        this.tell(chat, { type: "notice", level: "info", text: `The turn cannot do that now.${instead}` });
      }
    } catch (error) {
      this.report(chat ?? this.shown, error);
    }
  }

  /** Takes a question of the server's to its conversation, and gives the answer. */
  prompt(prompt: PromptParams, token: CancellationToken): Promise<PromptResult | null> {
    this.batches.flushAll();
    const withdrawal = token.onCancellationRequested(() => {
      this.questions.answer(prompt.decisionId, null);
    });
    return this.questions.ask(this.chatOf(prompt.decisionId), prompt).finally(() => {
      withdrawal.dispose();
    });
  }

  /** Takes a chunk of a turn that somebody else started over our connection. */
  chunk(chunk: Chunk): void {
    const token = String(chunk.turn);
    const chat = this.byToken.get(token) ?? this.withId(chunk.conversation);
    if (chat === undefined) {
      return;
    }
    this.byToken.set(token, chat);
    this.batches.add(token, chunk);
    if (chunk.type === "turn_end") {
      this.batches.flush(token);
      this.byToken.delete(token);
    }
    this.host.changed();
  }

  /** Tells the user something, in the conversation that it is about. */
  notice(level: "info" | "warning" | "error", text: string, conversation?: string): void {
    const chat = this.withId(conversation) ?? this.shown;
    this.tell(chat, { type: "notice", level, text });
    if (level !== "info") {
      this.host.wanted(chat, text);
    }
  }

  /** Shows a new conversation. */
  create(): void {
    this.show(this.shown.isBlank ? this.shown : new Chat(null));
  }

  /** Shows a conversation, as it is stored unless something runs in it. */
  async open(conversation: string, title = "", draft = ""): Promise<void> {
    const chat = this.withId(conversation) ?? new Chat(conversation);
    chat.title = title || chat.title;
    chat.draft ||= draft;
    this.show(chat);
    if (chat.running.length === 0) {
      await this.load(chat);
    }
  }

  /** Shows a conversation that is here already. */
  show(chat: Chat): void {
    if (this.shown !== chat && this.shown.isBlank && this.shown.running.length === 0) {
      this.all.delete(this.shown);
    }
    this.all.add(chat);
    this.shown = chat;
    this.replay();
    this.host.changed();
  }

  /** What is known here of a conversation, for a list. */
  stateOf(conversation: string): { isShown: boolean; activity: Activity; name: string | undefined } {
    const chat = this.withId(conversation);
    const isWorking = chat !== undefined && chat.running.length > 0;
    const needsYou = chat !== undefined && chat.prompts.length > 0;
    const activity = needsYou ? "needs you" : isWorking ? "working" : "idle";
    return { isShown: chat === this.shown, activity, name: chat?.name };
  }

  /** The conversation that the user would want to see: one that waits, else one that works, else the shown one. */
  get mostUrgent(): Chat {
    const working = [this.shown, ...this.all].find((chat) => chat.running.length > 0);
    return this.questions.firstChat ?? working ?? this.shown;
  }

  /** Brings a new page to where the shown conversation is. */
  replay(): void {
    this.shown.replay().forEach((message) => {
      this.host.post(message);
    });
  }

  /** The shown conversation's chips, model or persona changed. */
  contextChanged(): void {
    this.host.post(this.shown.context());
  }

  /** A conversation got another title, or is gone. */
  conversationChanged(conversation: string, title: string | undefined, isGone: boolean): void {
    const chat = this.withId(conversation);
    if (chat === undefined) {
      return;
    }
    if (isGone && chat.running.length === 0) {
      this.forget(chat);
    } else if (title !== undefined && title !== chat.title) {
      chat.title = title;
      if (chat === this.shown) {
        this.host.post({ type: "title", title });
        this.host.changed();
      }
    }
  }

  /** Finds the turns that were cut off, so that they can be resumed. */
  async findUnfinished(): Promise<void> {
    const client = await this.host.connect();
    for (const turn of (await client.call("jp/turn/list", {})).unfinished) {
      const chat = this.withId(turn.conversation);
      if (chat?.running.length === 0) {
        const calls = turn.calls.filter((call) => call.state !== "completed").map((call) => call.name);
        this.tell(chat, { type: "unfinished", calls });
        this.host.changed();
      }
    }
  }

  dispose(): void {
    this.batches.dispose();
    this.questions.dismissAll();
  }

  /** Gives whether there is a result. */
  private async run(chat: Chat, params: QueryParams): Promise<boolean> {
    const token = `chat/${this.window}/${++this.count}`;
    const text = params.text ?? "";
    this.byToken.set(token, chat);
    this.tell(chat, { type: "query", token, text });
    const { chips, newSettings } = chat;
    chat.chips = [];
    chat.newSettings = [];
    chat.draft = "";
    if (chat === this.shown) {
      this.contextChanged();
    }
    this.host.changed();
    try {
      const client = await this.host.connect();
      // With a token of ours the server makes none, which editors would show beside the chat a second time.
      const asked: QueryParams = { ...params, workDoneToken: `${token}/phase` };
      const result = await client.query(asked, token, (chunk) => {
        this.batches.add(token, chunk);
      });
      this.batches.flush(token);
      this.tell(chat, { type: "result", token, result });
      return true;
    } catch (error) {
      this.batches.flush(token);
      const isKept = isConnectionLost(error) && chat.conversation !== null;
      if (!isKept) {
        chat.chips = [...chips, ...chat.chips];
        chat.newSettings = [...newSettings, ...chat.newSettings];
        chat.draft ||= text;
      }
      this.tell(chat, {
        type: "failed",
        token,
        ...(isKept ? {} : { draft: text }),
        ...describeFailure(error),
      });
      if (chat === this.shown) {
        this.contextChanged();
      }
      return false;
    } finally {
      this.byToken.delete(token);
      this.host.changed();
    }
  }

  private async load(chat: Chat): Promise<void> {
    const chunks: Chunk[] = [];
    const token = `show/${this.window}/${++this.count}`;
    const conversation = chat.conversation ?? "";
    try {
      const client = await this.host.connect();
      await client.render({ conversation }, token, (chunk) => chunks.push(chunk));
      chat.load(chunks);
      if (chat === this.shown) {
        this.replay();
      }
      await this.findUnfinished();
    } catch (error) {
      this.report(chat, error);
    }
  }

  private forget(chat: Chat): void {
    this.all.delete(chat);
    if (this.shown === chat) {
      this.show(new Chat(null));
    }
  }

  private report(chat: Chat, error: unknown): void {
    this.tell(chat, { type: "notice", level: "error", text: describeFailure(error).message });
  }

  private tellToken(token: string, message: Told): void {
    const chat = this.byToken.get(token);
    if (chat !== undefined) {
      const before = chat.conversation;
      this.tell(chat, message);
      if (chat.conversation !== before) {
        this.host.changed();
      }
    }
  }

  private tell(chat: Chat, message: Told): void {
    chat.tell(message);
    if (chat === this.shown) {
      this.host.post(message);
    }
  }

  private withId(conversation: string | undefined): Chat | undefined {
    return conversation === undefined
      ? undefined
      : [...this.all].find((chat) => chat.conversation === conversation);
  }

  /** A decision of a turn begins with the turn's token; any other belongs to the query that opened it. */
  private chatOf(decisionId: string): Chat {
    const byToken = [...this.byToken].find(([token]) => decisionId.startsWith(`${token}/`));
    const chats = new Set(this.byToken.values());
    const opener = [...chats].find((chat) => chat.hasOpened(decisionId));
    const only = chats.size === 1 ? [...chats][0] : undefined;
    return byToken?.[1] ?? opener ?? only ?? this.shown;
  }
}
