/**
 * Everything of this extension in one window: the server, the conversations and what shows them.
 *
 * This is where the parts meet; each of them knows nothing of the others. Commands and the page call methods of
 * `JpWindow`.
 */

import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import {
  commands,
  Disposable,
  extensions,
  Uri,
  window,
  workspace,
  type CancellationToken,
  type ExtensionContext,
  type Memento,
  type TreeView,
} from "vscode";
import type { LanguageClient, MessageActionItem, ShowMessageRequestParams } from "vscode-languageclient/node";
import { onPrompt, onServer, type Connection, type JpClient } from "../client";
import type { ConversationSummary, PromptParams, QueryParams } from "../protocol.gen";
import { locateServer, type Located } from "../server/locate";
import { ServerProcess, type Launch, type Status } from "../server/process";
import { readSettings, type Settings } from "../settings";
import type { Chat } from "../state/chat";
import { Chats } from "../state/chats";
import { ChatView } from "./chatView";
import { Conversations, CONVERSATIONS_VIEW, focusedConversation, type Row } from "./conversations";
import { EditDocuments, ReadDocuments } from "./documents";
import type { FromPage, ToPage } from "./messages";
import { createLogs } from "./output";
import { StatusBar } from "./statusBar";
import { Walkthrough } from "./walkthrough";

export class JpWindow implements Disposable {
  readonly logs = createLogs();
  readonly server: ServerProcess;
  readonly chats: Chats;
  readonly view: ChatView;
  readonly conversations: Conversations;
  readonly readDocuments = new ReadDocuments();
  readonly editDocuments = new EditDocuments();
  readonly walkthrough = new Walkthrough();
  private readonly tree: TreeView<Row>;
  private readonly statusBar = new StatusBar();
  private readonly memory: Memento;
  private readonly owned: Disposable;
  private serverMessage: ToPage = { type: "server", status: "stopped" };
  private readonly reported = new Set<string>();
  private messageCount = 0;
  private isRestored = false;

  /** @param receive takes what the page says, beside `ready`. */
  constructor(context: ExtensionContext, receive: (message: Exclude<FromPage, { type: "ready" }>) => void) {
    this.memory = context.workspaceState;
    this.server = new ServerProcess({
      launch: () => this.launch(),
      listen: (client, connection) => {
        this.listen(client, connection);
      },
      query: (params) => this.query(params),
      changed: (status, message) => {
        this.onServer(status, message);
      },
      log: this.logs.extension,
      serverLog: this.logs.server,
      trace: this.logs.trace,
    });
    this.chats = new Chats({
      connect: () => this.connect(),
      post: (message) => {
        this.view.post(message);
      },
      changed: () => {
        this.onChanged();
      },
      closed: (decisionId) => {
        void this.editDocuments.withdraw(decisionId);
      },
      wanted: (chat, text) => {
        this.onWanted(chat, text);
      },
    });
    this.view = new ChatView(context.extensionUri, (message) => {
      if (message.type === "ready") {
        this.onPageReady();
      } else {
        receive(message);
      }
    });
    this.conversations = new Conversations(
      () => this.server.connectToShow(),
      (conversation) => this.chats.stateOf(conversation),
    );
    this.tree = window.createTreeView(CONVERSATIONS_VIEW, { treeDataProvider: this.conversations });
    this.owned = Disposable.from(
      this.logs.extension,
      this.logs.server,
      this.logs.trace,
      this.readDocuments,
      this.editDocuments,
      this.walkthrough,
      this.statusBar,
      this.conversations,
      this.chats,
      window.registerWebviewViewProvider("jp.chat", this.view),
      this.tree,
    );
  }

  get settings(): Settings {
    const { settings, problems } = readSettings((name) => workspace.getConfiguration("jp").get(name));
    for (const problem of problems.filter((each) => !this.reported.has(each))) {
      this.reported.add(problem);
      this.logs.extension.warn(problem);
      void window.showWarningMessage(problem, "Open Settings").then((choice) => {
        if (choice !== undefined) {
          void commands.executeCommand("workbench.action.openSettings", "@ext:jp-lsp.jp-lsp");
        }
      });
    }
    return settings;
  }

  connect(): Promise<JpClient> {
    return this.server.connect();
  }

  /** The conversation of the tree that the keyboard is at. */
  focusedConversation(): Promise<ConversationSummary | undefined> {
    return focusedConversation(this.tree);
  }

  /** Asks what somebody else has put together, and shows the chat. */
  async query(params: QueryParams): Promise<void> {
    await this.view.focus();
    await this.chats.query(params);
  }

  /** The words that start the server's program, without those that make it a server; undefined when there is none. */
  async serverCommand(): Promise<readonly [string, ...string[]] | undefined> {
    const located = await this.locate(this.settings);
    if (!located.found) {
      return undefined;
    }
    const [program, ...rest] = located.command;
    return [program, ...(rest.at(-1) === "serve" ? rest.slice(0, -1) : rest)];
  }

  /** Keeps which conversation is shown, and what stands in its input, over a reload of the window. */
  remember(): void {
    const { conversation, title, draft } = this.chats.shown;
    void this.memory.update(SHOWN, { conversation, title, draft } satisfies Shown);
  }

  async stop(): Promise<void> {
    await this.server.stop();
  }

  dispose(): void {
    this.owned.dispose();
  }

  private onPageReady(): void {
    this.view.post(this.serverMessage);
    if (this.isRestored) {
      this.chats.replay();
      return;
    }
    this.isRestored = true;
    const shown = this.memory.get<Shown>(SHOWN);
    if (this.chats.shown.isBlank && shown !== undefined) {
      this.chats.shown.draft = shown.draft;
      if (shown.conversation !== null) {
        void this.chats.open(shown.conversation, shown.title, shown.draft);
        return;
      }
    }
    this.chats.replay();
    void this.server.connectToShow().catch(() => undefined); // the status says what is wrong
  }

  private async launch(): Promise<Launch | undefined> {
    const { settings } = this;
    const located = await this.locate(settings);
    if (!located.found) {
      this.logs.extension.warn(`no server found; looked at:\n${located.tried.join("\n")}`);
      return undefined;
    }
    const options = workspace.isTrusted
      ? settings.serverOptions
      : { ...settings.serverOptions, trust: "never" };
    return { command: located.command, environment: settings.serverEnvironment, options };
  }

  private async locate(settings: Settings): Promise<Located> {
    const interpreter = await pythonInterpreter();
    return locateServer({
      command: settings.serverCommand,
      folders: (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath),
      ...(interpreter !== undefined && { interpreterFolder: dirname(interpreter) }),
      isTrusted: workspace.isTrusted,
      path: process.env["PATH"] ?? "",
      platform: process.platform,
      isProgram,
    });
  }

  private listen(client: LanguageClient, connection: Connection): void {
    onPrompt(connection, (prompt, token) => this.chats.prompt(prompt, token));
    onServer(connection, "jp/chunk", (chunk) => {
      this.chats.chunk(chunk);
    });
    onServer(connection, "jp/notice", ({ level, text, conversation }) => {
      this.chats.notice(level, text, conversation);
    });
    onServer(connection, "jp/conversationChanged", ({ conversation, change, title }) => {
      this.chats.conversationChanged(conversation, title, change === "removed");
      this.conversations.refresh();
    });
    client.onRequest(
      "window/showMessageRequest",
      async ({ message, actions = [] }: ShowMessageRequestParams, token: CancellationToken) => {
        const answer = await this.chats.prompt(this.asPrompt(message, actions), token);
        return actions.find(({ title }) => title === answer?.action) ?? null;
      },
    );
  }

  /** A standard question is shown where all questions are. */
  private asPrompt(message: string, actions: readonly MessageActionItem[]): PromptParams {
    return {
      decisionId: `message/${++this.messageCount}`,
      kind: "pick",
      message,
      actions: actions.map(({ title }) => ({ id: title, title })),
    };
  }

  private onServer(status: Status, message: string | undefined): void {
    if (status !== "ready") {
      this.chats.questions.dismissAll();
    } else {
      this.walkthrough.tick("hasServer");
      void this.announceVerbs();
      void this.chats.findUnfinished().catch((error: unknown) => {
        this.logs.extension.warn(`the unfinished turns could not be listed: ${String(error)}`);
      });
    }
    this.serverMessage = { type: "server", status, ...explain(status, message) };
    this.view.post(this.serverMessage);
    void commands.executeCommand("setContext", "jp.serverStatus", status);
    this.onChanged();
  }

  /** Lets `when` clauses hide what the server cannot do with conversations. */
  private async announceVerbs(): Promise<void> {
    const client = await this.connect();
    for (const verb of VERBS) {
      await commands.executeCommand("setContext", `jp.can.${verb}`, client.knows(`jp/conversation/${verb}`));
    }
  }

  private onChanged(): void {
    const { activity, questions } = this.chats;
    const { status } = this.server;
    this.statusBar.show(
      activity,
      status,
      this.serverMessage.type === "server" && "message" in this.serverMessage && status === "stopped",
    );
    this.view.setBadge(questions.count);
    this.conversations.refresh();
    void commands.executeCommand("setContext", "jp.isWorking", this.chats.shown.running.length > 0);
    void commands.executeCommand("setContext", "jp.needsYou", questions.count > 0);
    void commands.executeCommand("setContext", "jp.isCutOff", this.chats.shown.isCutOff);
    this.remember();
  }

  /** A notification is for what the user would not see: the view is hidden, or shows something else. */
  private onWanted(chat: Chat, text: string): void {
    if ((this.view.isVisible && chat === this.chats.shown) || !this.settings.notifyWhenHidden) {
      return;
    }
    void window.showInformationMessage(`JP: ${text}`, "Show").then((choice) => {
      if (choice === "Show") {
        this.chats.show(chat);
        void this.view.focus();
      }
    });
  }
}

/** What is kept over a reload. */
interface Shown {
  readonly conversation: string | null;
  readonly title: string;
  readonly draft: string;
}

const SHOWN = "shown";

/** What a server may be able to do with conversations. */
const VERBS = [
  ...(["use", "title", "labels", "pin", "expiry", "archive", "unarchive", "move", "fork"] as const),
  ...(["export", "compact", "remove", "restore", "search"] as const),
] as const;

function explain(status: Status, message: string | undefined): object {
  switch (status) {
    case "missing":
      return {
        message: "The server of JP, a Python program named jp-lsp, was not found.",
        action: { id: "install", title: "Install Server" },
      };
    case "stopped":
      return message === undefined ? {} : { message, action: { id: "start", title: "Start Server" } };
    default:
      return message === undefined ? {} : { message };
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The interpreter that the user chose with the Python extension, if that is there. */
async function pythonInterpreter(): Promise<string | undefined> {
  if (extensions.getExtension("ms-python.python") === undefined) {
    return undefined;
  }
  const folder: Uri | undefined = workspace.workspaceFolders?.[0]?.uri;
  const path: unknown = await commands.executeCommand("python.interpreterPath", {
    workspaceFolder: folder?.fsPath,
  });
  return typeof path === "string" && path !== "" ? path : undefined;
}
