/**
 * A real server over stdio, and the conversations of a window on top of it, without any editor.
 *
 * `JP_TEST_SERVER` says how to start it, as JSON: `{"command": [...], "folder": "...", "environment": {...}}`.
 * Its model answers by what it is asked; the texts below are what it has been told to know.
 */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { pathToFileURL } from "node:url";
import {
  createMessageConnection,
  ProgressType,
  type CancellationToken,
  type MessageConnection,
} from "vscode-jsonrpc/node";
import { CLIENT_CAPABILITIES, JpClient, onPrompt, onServer, type Connection } from "../../src/client";
import type { ServerCapabilities } from "../../src/protocol.gen";
import { Chats } from "../../src/state/chats";
import type { ToPage } from "../../src/ui/messages";

interface Description {
  readonly command: readonly [string, ...string[]];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

const GIVEN = process.env["JP_TEST_SERVER"];

/** The reason to skip, if there is no server to test against. */
export const WITHOUT_SERVER = GIVEN === undefined ? "JP_TEST_SERVER names no server" : false;

export class TestWindow {
  readonly posted: ToPage[] = [];
  readonly chats: Chats;
  private running:
    { process: ChildProcess; connection: MessageConnection; client: Promise<JpClient> } | undefined;
  private waiting: { wanted: (message: ToPage) => boolean; found: (message: ToPage) => void }[] = [];

  constructor() {
    this.chats = new Chats({
      connect: () => this.connect(),
      post: (message) => {
        this.posted.push(message);
        this.look();
      },
      changed: () => undefined,
      closed: () => undefined,
      wanted: () => undefined,
    });
  }

  /** Waits until the page was told something. */
  async told<T extends ToPage["type"]>(
    type: T,
    fits: (message: Extract<ToPage, { type: T }>) => boolean = () => true,
  ): Promise<Extract<ToPage, { type: T }>> {
    const wanted = (message: ToPage) =>
      message.type === type && fits(message as Extract<ToPage, { type: T }>);
    const found =
      this.posted.find(wanted) ??
      (await new Promise<ToPage>((resolve) => {
        this.waiting.push({ wanted, found: resolve });
      }));
    return found as Extract<ToPage, { type: T }>;
  }

  /** Ends the server as a crash would. */
  async kill(): Promise<void> {
    const process = this.running?.process;
    process?.kill("SIGKILL");
    await (process && once(process, "exit"));
    this.running?.connection.dispose();
    this.running = undefined;
  }

  async end(): Promise<void> {
    const { running } = this;
    this.chats.dispose();
    this.running = undefined;
    if (running !== undefined) {
      const ended = once(running.process, "exit");
      await running.connection.sendRequest("shutdown");
      await running.connection.sendNotification("exit");
      await ended;
      running.connection.dispose();
    }
  }

  connect(): Promise<JpClient> {
    this.running ??= this.start();
    return this.running.client;
  }

  private start() {
    const { command, folder, environment } = JSON.parse(GIVEN ?? "") as Description;
    const [program, ...rest] = command;
    const child = spawn(program, rest, { env: environment, cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
    const rpc = createMessageConnection(child.stdout, child.stdin);
    const connection = connectionOf(rpc);
    onPrompt(connection, (prompt, token) => this.chats.prompt(prompt, token));
    onServer(connection, "jp/notice", ({ level, text, conversation }) => {
      this.chats.notice(level, text, conversation);
    });
    rpc.listen();
    return { process: child, connection: rpc, client: this.initialize(rpc, connection, folder) };
  }

  private async initialize(
    rpc: MessageConnection,
    connection: Connection,
    folder: string,
  ): Promise<JpClient> {
    const { capabilities } = await rpc.sendRequest<{
      capabilities: { experimental: { jp: ServerCapabilities } };
    }>("initialize", {
      processId: process.pid,
      rootUri: pathToFileURL(folder).toString(),
      capabilities: { experimental: { jp: CLIENT_CAPABILITIES } },
      initializationOptions: { jp: { trust: "never" } },
    });
    await rpc.sendNotification("initialized", {});
    return new JpClient(connection, capabilities.experimental.jp);
  }

  private look(): void {
    this.waiting = this.waiting.filter(({ wanted, found }) => {
      const message = this.posted.find(wanted);
      if (message !== undefined) {
        found(message);
      }
      return message === undefined;
    });
  }
}

function connectionOf(rpc: MessageConnection): Connection {
  return {
    sendRequest: (method, params) => rpc.sendRequest(method, params),
    sendNotification: (method, params) => rpc.sendNotification(method, params),
    onRequest: (method, handler) =>
      rpc.onRequest(method, (params: unknown, token: CancellationToken) => handler(params as never, token)),
    onNotification: (method, handler) =>
      rpc.onNotification(method, (params) => {
        handler(params as never);
      }),
    onProgress: (token, handler) =>
      rpc.onProgress(new ProgressType<unknown>(), token, (value) => {
        handler(value as never);
      }),
  };
}
