/**
 * The server as a process: it is started when it is needed, again when it crashes, and stopped with the window.
 *
 * The one idea: starts and stops stand in one queue, so that they never interleave. Each start makes a language
 * client of its own, and what is to be heard from the server is connected before it runs. The library for it is
 * read by the first start, since it takes longer to read than all of the rest.
 */

import type { LanguageClient, LanguageClientOptions } from "vscode-languageclient/node";
import type { CancellationToken, LogOutputChannel } from "vscode";
import { CLIENT_CAPABILITIES, JpClient, type Connection } from "../client";
import type { QueryParams, ServerCapabilities } from "../protocol.gen";
import { Restarts } from "./restarts";

/** What to start. */
export interface Launch {
  readonly command: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  /** The server's own settings, and whether the workspace is trusted. */
  readonly options: Readonly<Record<string, unknown>>;
}

export type Status = "missing" | "starting" | "ready" | "stopped";

/** What the process needs of whoever has it. */
export interface ServerHost {
  /** What to start now; undefined when there is no server on this machine. */
  launch(): Promise<Launch | undefined>;
  /** Connects to what the server will send; the connection is not running yet. */
  listen(client: LanguageClient, connection: Connection): void;
  /** A query of a command of the server's, such as a code action, is asked where the user sees its answer. */
  query(params: QueryParams): Promise<void>;
  /** The server's status changed; a message comes with one that is to be explained. */
  changed(status: Status, message?: string): void;
  readonly log: LogOutputChannel;
  readonly serverLog: LogOutputChannel;
  readonly trace: LogOutputChannel;
}

/** Time for the server to store what runs, in milliseconds. */
const STOP_PATIENCE = 9_000;

export class ServerProcess {
  status: Status = "stopped";
  private queue: Promise<unknown> = Promise.resolve();
  private client: LanguageClient | undefined;
  private jp: JpClient | undefined;
  private readonly restarts = new Restarts();
  /** Whether it is down and stays so until somebody wants it: it was stopped, or could not be started. */
  private isLeftDown = false;

  constructor(private readonly host: ServerHost) {}

  /** Gives the way to the server, which is started if it does not run: for what the user wants. */
  async connect(): Promise<JpClient> {
    return this.jp ?? this.enqueue(() => this.start());
  }

  /** Gives the way to the server, unless it is left down: for what only wants to show something. */
  async connectToShow(): Promise<JpClient> {
    return this.isLeftDown ? Promise.reject(new Error("The server is stopped.")) : this.connect();
  }

  /** Starts the server anew. */
  async restart(): Promise<void> {
    this.restarts.forget();
    await this.enqueue(async () => {
      await this.end();
      await this.start();
    });
  }

  /** Stops the server, and says so. */
  async stop(): Promise<void> {
    await this.enqueue(async () => {
      await this.end();
      this.change("stopped", "It starts again with your next question.");
    });
  }

  private enqueue<T>(step: () => Promise<T>): Promise<T> {
    const done = this.queue.then(step);
    this.queue = done.catch(() => undefined);
    return done;
  }

  private async start(): Promise<JpClient> {
    if (this.jp !== undefined) {
      return this.jp;
    }
    const launch = await this.host.launch();
    if (launch === undefined) {
      this.change("missing");
      throw new Error("The server, jp-lsp, is not installed.");
    }
    this.host.log.info(`starting ${launch.command.join(" ")}`);
    this.change("starting");
    const client = await this.build(launch);
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.host.log.error(`the server did not start: ${String(error)}`);
      this.client = undefined;
      this.change(
        "stopped",
        `The server did not start: ${error instanceof Error ? error.message : String(error)}`,
      );
      throw error;
    }
    this.jp = new JpClient(await connectionOf(client), announced(client));
    this.change("ready");
    return this.jp;
  }

  private async build({
    command: [program, ...rest],
    environment,
    options,
  }: Launch): Promise<LanguageClient> {
    const { CloseAction, ErrorAction, LanguageClient, TransportKind } =
      await import("vscode-languageclient/node");
    const clientOptions: LanguageClientOptions = {
      documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
      initializationOptions: { jp: options },
      outputChannel: this.host.serverLog,
      traceOutputChannel: this.host.trace,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          this.onClosed(client);
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
      initializationFailedHandler: () => false,
      middleware: {
        executeCommand: (command, given: readonly unknown[], next): unknown =>
          command === "jp.query" ? this.host.query(asQuery(given[0])) : next(command, [...given]),
      },
    };
    const executable = {
      command: program,
      args: [...rest],
      transport: TransportKind.stdio,
      options: { env: { ...process.env, ...environment } },
    };
    const client = new LanguageClient("jp", "JP", executable, clientOptions);
    client.registerFeature({
      fillClientCapabilities: (capabilities) => {
        capabilities.experimental = { ...(capabilities.experimental as object), jp: CLIENT_CAPABILITIES };
      },
      initialize: () => undefined,
      getState: () => ({ kind: "static" }),
      clear: () => undefined,
    });
    this.host.listen(client, await connectionOf(client));
    return client;
  }

  private onClosed(client: LanguageClient): void {
    if (client !== this.client) {
      return;
    }
    const hadStarted = this.jp !== undefined;
    this.client = undefined;
    this.jp = undefined;
    if (!hadStarted) {
      return; // `start` reports it
    }
    this.host.log.warn("the server ended by itself");
    if (this.restarts.allow(Date.now())) {
      void this.enqueue(() => this.start()).catch(() => undefined);
    } else {
      this.change("stopped", "The server ended by itself several times and is left stopped.");
    }
  }

  private async end(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    this.jp = undefined;
    if (client?.isRunning() === true) {
      await client.stop(STOP_PATIENCE);
    }
  }

  private change(status: Status, message?: string): void {
    this.status = status;
    this.isLeftDown = status === "missing" || status === "stopped";
    this.host.changed(status, message);
  }
}

/** A command may give the text alone. */
function asQuery(given: unknown): QueryParams {
  return typeof given === "string" ? { text: given } : (given ?? {});
}

function announced(client: LanguageClient): ServerCapabilities | undefined {
  const experimental = client.initializeResult?.capabilities.experimental as
    { readonly jp?: ServerCapabilities } | undefined;
  return experimental?.jp;
}

/** The part of a language client that `JpClient` uses. */
async function connectionOf(client: LanguageClient): Promise<Connection> {
  const { ProgressType } = await import("vscode-languageclient/node");
  return {
    sendRequest: (method, params) => client.sendRequest(method, params),
    sendNotification: (method, params) => client.sendNotification(method, params),
    onRequest: (method, handler) =>
      client.onRequest(method, (params: unknown, token: CancellationToken) =>
        handler(params as never, token),
      ),
    onNotification: (method, handler) =>
      client.onNotification(method, (params: unknown) => {
        handler(params as never);
      }),
    onProgress: (token, handler) =>
      client.onProgress(new ProgressType<unknown>(), token, (value) => {
        handler(value as never);
      }),
  };
}
