/** What goes with the next query: files, selections, and whatever else the server can read. */

import { commands, TabInputText, Uri, window, workspace, type Disposable, type QuickPickItem } from "vscode";
import type { Attached } from "../state/chat";
import type { JpWindow } from "../ui/window";

export function attachCommands(jp: JpWindow): Disposable[] {
  return [
    commands.registerCommand("jp.attachFile", async (file?: unknown, files?: unknown) => {
      const chosen = [file, ...(Array.isArray(files) ? (files as unknown[]) : [])].filter(isUri);
      const active = window.activeTextEditor?.document.uri;
      attach(jp, (chosen.length === 0 && active !== undefined ? [active] : chosen).map(fileChip));
      await jp.view.focus();
    }),
    commands.registerCommand("jp.attachSelection", async () => {
      attachSelection(jp);
      await jp.view.focus();
    }),
    commands.registerCommand("jp.attach", () => pickAttachment(jp)),
  ];
}

/** Attaches what is selected in the active editor, as it is now. */
export function attachSelection(jp: JpWindow): void {
  const editor = window.activeTextEditor;
  if (editor === undefined || editor.selection.isEmpty) {
    return;
  }
  const { document, selection } = editor;
  const first = selection.start.line + 1;
  const last = selection.end.character === 0 ? selection.end.line : selection.end.line + 1;
  const lines = first >= last ? `${first}` : `${first}-${last}`;
  const chip: Attached = {
    uri: document.uri.with({ fragment: `L${lines}` }).toString(),
    label: `${workspace.asRelativePath(document.uri)}:${lines}`,
    detail: "selection",
    text: document.getText(selection),
    language: document.languageId === "plaintext" ? "" : document.languageId,
  };
  attach(jp, [chip]);
}

export function removeChip(jp: JpWindow, uri: string): void {
  const chat = jp.chats.shown;
  chat.chips = chat.chips.filter((chip) => chip.uri !== uri);
  jp.chats.contextChanged();
}

function attach(jp: JpWindow, chips: readonly Attached[]): void {
  const chat = jp.chats.shown;
  const added = new Set(chips.map(({ uri }) => uri));
  chat.chips = [...chat.chips.filter(({ uri }) => !added.has(uri)), ...chips];
  jp.chats.contextChanged();
}

function fileChip(uri: Uri): Attached {
  const label = workspace.asRelativePath(uri);
  return { uri: uri.toString(), label };
}

interface Choice extends QuickPickItem {
  readonly run: () => Promise<void> | void;
}

async function pickAttachment(jp: JpWindow): Promise<void> {
  const selection: Choice = {
    label: "$(selection) Selection",
    run: () => {
      attachSelection(jp);
    },
  };
  const hasSelection = window.activeTextEditor?.selection.isEmpty === false;
  const files: Choice = { label: "$(folder-opened) Files...", run: () => pickFiles(jp) };
  const other: Choice = {
    label: "$(link) Something else...",
    detail: "A web page, a pattern such as src/**/*.py, the output of a command such as cmd:git diff",
    run: () => typeAttachment(jp),
  };
  const open = openFiles().map((uri): Choice => ({
    label: `$(file) ${workspace.asRelativePath(uri)}`,
    run: () => {
      attach(jp, [fileChip(uri)]);
    },
  }));
  const choices = [...(hasSelection ? [selection] : []), ...open, files, other];
  const choice = await window.showQuickPick(choices, { title: "Attach to the next question" });
  await choice?.run();
  await jp.view.focus();
}

async function pickFiles(jp: JpWindow): Promise<void> {
  const files = await window.showOpenDialog({ canSelectMany: true, openLabel: "Attach" });
  attach(jp, (files ?? []).map(fileChip));
}

async function typeAttachment(jp: JpWindow): Promise<void> {
  const uri = await window.showInputBox({
    title: "Attach to the next question",
    placeHolder: "cmd:git diff",
  });
  if (uri !== undefined && uri.trim() !== "") {
    attach(jp, [{ uri: uri.trim(), label: uri.trim() }]);
  }
}

function openFiles(): readonly Uri[] {
  const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
  const uris = tabs.flatMap(({ input }) => (input instanceof TabInputText ? [input.uri] : []));
  const files = uris.filter(({ scheme }) => scheme === "file" || scheme === "untitled");
  return [...new Map(files.map((uri) => [uri.toString(), uri])).values()];
}

function isUri(value: unknown): value is Uri {
  return value instanceof Uri;
}
