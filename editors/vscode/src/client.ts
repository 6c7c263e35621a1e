/**
 * What we say to the server and hear from it, typed; over any JSON-RPC connection, the editor's or a test's.
 *
 * The one idea: `protocol.gen.ts` knows every method, and this file adds the ways to call them. Nothing here
 * decides anything.
 */

import type { CancellationToken, Disposable } from "vscode-jsonrpc";
import type {
  Chunk,
  ClientCapabilities,
  ClientNotifications,
  ClientRequests,
  ConversationCompactParams,
  ConversationCompactResult,
  PromptKind,
  PromptParams,
  PromptResult,
  QueryParams,
  QueryResult,
  RenderParams,
  RenderResult,
  ServerCapabilities,
  ServerNotifications,
} from "./protocol.gen";

/** The kinds of questions that the chat view shows. */
const PROMPT_KINDS = ["menu", "approval", "pick", "text", "secret", "edit"] satisfies PromptKind[];

/** What the chat view can do, for `capabilities.experimental.jp`. */
export const CLIENT_CAPABILITIES: ClientCapabilities = {
  prompt: { kinds: PROMPT_KINDS },
  interruptMenu: true,
  chunks: true,
  openDocument: true,
};

/** The part of a connection that is used; a language client and a bare JSON-RPC connection both have it. */
export interface Connection {
  sendRequest<R>(method: string, params: unknown): Promise<R>;
  sendNotification(method: string, params: unknown): Promise<void>;
  onRequest(
    method: string,
    handler: (params: never, token: CancellationToken) => Promise<unknown>,
  ): Disposable;
  onNotification(method: string, handler: (params: never) => void): Disposable;
  onProgress(token: string, handler: (value: never) => void): Disposable;
}

/** Typed calls of one server. */
export class JpClient {
  private readonly methods: ReadonlySet<string>;

  /**
   * @param connection the way to the server.
   * @param capabilities what `initialize` answered under `capabilities.experimental.jp`.
   */
  constructor(
    private readonly connection: Connection,
    capabilities: ServerCapabilities | undefined,
  ) {
    this.methods = new Set(capabilities?.methods);
  }

  /** Whether the server has a method. */
  knows(method: keyof ClientRequests): boolean {
    return this.methods.has(method);
  }

  /** Asks; `onChunk` gets the chunks of `token` until the answer is there. */
  async query(params: QueryParams, token: string, onChunk: (chunk: Chunk) => void): Promise<QueryResult> {
    return this.withChunks("jp/query", params, token, onChunk);
  }

  /** Shows a stored conversation again. */
  async render(params: RenderParams, token: string, onChunk: (chunk: Chunk) => void): Promise<RenderResult> {
    return this.withChunks("jp/conversation/render", params, token, onChunk);
  }

  /** Calls a method that has no chunks. */
  call<M extends keyof ClientRequests>(
    method: M,
    params: ClientRequests[M]["params"],
  ): Promise<ClientRequests[M]["result"]> {
    return this.connection.sendRequest(method, params);
  }

  /** Shortens what models are shown of a conversation; `onMessage` gets what is being done, under `token`. */
  async compact(
    params: ConversationCompactParams,
    token: string,
    onMessage: (message: string) => void,
  ): Promise<ConversationCompactResult> {
    const listening = this.connection.onProgress(token, ({ message }: { readonly message?: string }) => {
      if (message !== undefined) {
        onMessage(message);
      }
    });
    try {
      return await this.call("jp/conversation/compact", { ...params, workDoneToken: token });
    } finally {
      listening.dispose();
    }
  }

  /** Cancels what reports its progress under a token. */
  cancelWork(token: string): Promise<void> {
    return this.connection.sendNotification("window/workDoneProgress/cancel", { token });
  }

  notify<M extends keyof ClientNotifications>(
    method: M,
    params: ClientNotifications[M]["params"],
  ): Promise<void> {
    return this.connection.sendNotification(method, params);
  }

  private async withChunks<M extends "jp/query" | "jp/conversation/render">(
    method: M,
    params: ClientRequests[M]["params"],
    token: string,
    onChunk: (chunk: Chunk) => void,
  ): Promise<ClientRequests[M]["result"]> {
    const listening = this.connection.onProgress(token, onChunk);
    try {
      return await this.call(method, { ...params, partialResultToken: token });
    } finally {
      listening.dispose();
    }
  }
}

/** Answers the server's questions with `ask`; a question that ends elsewhere cancels the token. */
export function onPrompt(
  connection: Connection,
  ask: (prompt: PromptParams, token: CancellationToken) => Promise<PromptResult | null>,
): Disposable {
  return connection.onRequest("jp/prompt", ask);
}

/** Hears one of the server's notifications. */
export function onServer<M extends keyof ServerNotifications>(
  connection: Connection,
  method: M,
  handler: (params: ServerNotifications[M]["params"]) => void,
): Disposable {
  return connection.onNotification(method, handler);
}
