/** Installing, starting and stopping the server, and reading its log. */

import { commands, window, workspace, type Disposable } from "vscode";
import { SERVER_SETTINGS } from "../settings";
import type { JpWindow } from "../ui/window";

const INSTALL = "pipx install jp-lsp";
const WALKTHROUGH = "jp-lsp.jp-lsp#jp.start";

export function serverCommands(jp: JpWindow): Disposable[] {
  const restart = () => restartServer(jp);
  return [
    commands.registerCommand("jp.startServer", restart),
    commands.registerCommand("jp.restartServer", restart),
    commands.registerCommand("jp.stopServer", () => jp.server.stop()),
    commands.registerCommand("jp.showLog", () => {
      jp.logs.extension.show();
    }),
    commands.registerCommand("jp.showServerLog", () => {
      jp.logs.server.show();
    }),
    commands.registerCommand("jp.installServer", () => installServer(jp)),
    commands.registerCommand("jp.initWorkspace", () => initWorkspace(jp)),
    commands.registerCommand("jp.installLocalModel", () => installLocalModel(jp)),
    commands.registerCommand("jp.openWalkthrough", (step?: string) =>
      commands.executeCommand(
        "workbench.action.openWalkthrough",
        step === undefined ? WALKTHROUGH : { category: WALKTHROUGH, step },
        false,
      ),
    ),
    workspace.onDidChangeConfiguration(async (change) => {
      const concerns = SERVER_SETTINGS.some((name) => change.affectsConfiguration(name));
      if (concerns && jp.server.status !== "stopped") {
        await restartServer(jp);
      }
    }),
    workspace.onDidGrantWorkspaceTrust(async () => {
      if (jp.server.status !== "stopped") {
        await restartServer(jp);
      }
    }),
  ];
}

/** The status says what is wrong when it does not start. */
async function restartServer(jp: JpWindow): Promise<void> {
  await jp.server.restart().catch((error: unknown) => {
    jp.logs.extension.error(String(error));
  });
}

/** Writes the command into a terminal; the user presses Enter, or changes it first. */
async function installServer(jp: JpWindow): Promise<void> {
  const terminal = window.createTerminal("Install JP");
  terminal.show();
  terminal.sendText(INSTALL, false);
  const question = "Press Enter in the terminal to install the server. Start it when that is done.";
  if ((await window.showInformationMessage(question, "Start Server")) === "Start Server") {
    await restartServer(jp);
  }
}

async function initWorkspace(jp: JpWindow): Promise<void> {
  if (workspace.workspaceFolders?.[0] === undefined) {
    await window
      .showInformationMessage("JP works in a folder: open one first.", "Open Folder")
      .then((choice) => (choice === undefined ? undefined : commands.executeCommand("vscode.openFolder")));
  } else {
    await runInTerminal(jp, "init");
  }
}

async function installLocalModel(jp: JpWindow): Promise<void> {
  if ((await runInTerminal(jp, "local", "install")) === 0) {
    jp.chats.notice("info", "The small model is installed. It answers where no other model is set.");
    await jp.view.focus();
  }
}

/** Runs the server's program for something else; gives its exit code once it has ended. */
async function runInTerminal(jp: JpWindow, ...words: readonly string[]): Promise<number | undefined> {
  const command = await jp.serverCommand();
  if (command === undefined) {
    await installServer(jp);
    return undefined;
  }
  const [program, ...rest] = command;
  const cwd = workspace.workspaceFolders?.[0]?.uri;
  const terminal = window.createTerminal({
    name: "JP",
    shellPath: program,
    shellArgs: [...rest, ...words],
    env: jp.settings.serverEnvironment,
    ...(cwd !== undefined && { cwd }),
  });
  terminal.show();
  return new Promise((resolve) => {
    const listening = window.onDidCloseTerminal((closed) => {
      if (closed === terminal) {
        listening.dispose();
        resolve(closed.exitStatus?.code);
      }
    });
  });
}
