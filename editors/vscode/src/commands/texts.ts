/** Texts that go from a conversation to an editor, or the other way: to read, to compare, to edit, to insert. */

import { isAbsolute } from "node:path";
import {
  commands,
  env,
  Range,
  Uri,
  window,
  workspace,
  WorkspaceEdit,
  type Disposable,
  type TextEditor,
} from "vscode";
import { markdownOf } from "../state/chatState";
import { applyEdits, EDIT_TOOL, readProposedEdit } from "../state/proposedEdit";
import { EDIT } from "../ui/documents";
import type { JpWindow } from "../ui/window";

export function textCommands(jp: JpWindow): Disposable[] {
  return [
    commands.registerCommand("jp.sendEdited", async () => {
      const document = window.activeTextEditor?.document;
      if (document?.uri.scheme === EDIT) {
        await jp.editDocuments.send(document);
        await jp.view.focus();
      }
    }),
  ];
}

export async function openArguments(jp: JpWindow, callId: string): Promise<void> {
  const call = jp.chats.shown.call(callId);
  if (call !== undefined) {
    await jp.readDocuments.show(
      [callId, `arguments of ${call.facts.name}.json`],
      pretty(call.facts.arguments),
      "json",
    );
  }
}

/** Opens the whole result: the file that has it, else what the conversation shows of it. */
export async function openResult(jp: JpWindow, callId: string): Promise<void> {
  const result = jp.chats.shown.result(callId);
  if (result === undefined) {
    return;
  }
  const { uri, name } = result.facts;
  const whole = uri === undefined ? undefined : await readFile(Uri.parse(uri));
  await jp.readDocuments.show([callId, `result of ${name}`], whole ?? markdownOf(result).trim());
}

/** Opens an editor for a question of the kind `edit`; its Send command answers. */
export async function editAnswer(jp: JpWindow, decisionId: string): Promise<void> {
  const prompt = jp.chats.questions.find(decisionId);
  if (prompt === undefined) {
    return;
  }
  const { message, value = "", language = "plaintext" } = prompt;
  const suffix = language === "json" ? "json" : language === "markdown" ? "md" : "txt";
  await jp.editDocuments.open(decisionId, `${message}.${suffix}`, value, language, (text) => {
    jp.chats.questions.answer(decisionId, { text });
  });
}

/** Shows what a file would become by a call, before it is allowed. */
export async function showDiff(jp: JpWindow, callId: string): Promise<void> {
  const call = jp.chats.shown.call(callId);
  const edit = call?.facts.name === EDIT_TOOL ? readProposedEdit(call.facts.arguments) : undefined;
  const file = edit && findFile(edit.path);
  if (edit === undefined || file === undefined) {
    await openArguments(jp, callId);
    return;
  }
  const current = await workspace.openTextDocument(file);
  const proposed = applyEdits(current.getText(), edit.edits);
  if (proposed === undefined) {
    void window.showWarningMessage(`The proposed edit does not fit ${edit.path} as it is now.`);
    await openArguments(jp, callId);
    return;
  }
  await jp.readDocuments.diff(file, [callId, edit.path], proposed, `${edit.path} (proposed by JP)`);
}

/** Puts a text at the cursor of the editor that was active last. */
export async function insertText(text: string): Promise<void> {
  const editor = targetEditor();
  if (editor === undefined) {
    await openUntitled(text);
    return;
  }
  await window.showTextDocument(editor.document, editor.viewColumn);
  await editor.edit((edit) => {
    edit.replace(editor.selection, text);
  });
}

/** Replaces the selection, or the whole text, by a code block; the user sees the change before it is made. */
export async function applyText(jp: JpWindow, text: string, language: string | undefined): Promise<void> {
  const editor = targetEditor();
  if (editor === undefined) {
    await openUntitled(text, language);
    return;
  }
  const { document, selection } = editor;
  const name = workspace.asRelativePath(document.uri);
  const { version } = document;
  const before = document.getText();
  const all = new Range(document.positionAt(0), document.positionAt(before.length));
  const range = selection.isEmpty ? all : selection;
  const [from, to] = [document.offsetAt(range.start), document.offsetAt(range.end)];
  const proposed = `${before.slice(0, from)}${text}${before.slice(to)}`;
  await jp.readDocuments.diff(document.uri, ["proposed", name], proposed, `${name} (proposed by JP)`);
  if ((await window.showInformationMessage(`Change ${name} like this?`, "Apply")) !== "Apply") {
    return;
  }
  if (document.version !== version) {
    void window.showWarningMessage(`${name} was changed meanwhile; it is left as it is.`);
    return;
  }
  const edit = new WorkspaceEdit();
  edit.replace(document.uri, range, text);
  await workspace.applyEdit(edit);
  await window.showTextDocument(document, { preview: false });
}

/** Opens what a link in an answer names. Models write links, so only harmless kinds are followed. */
export async function openLink(jp: JpWindow, text: string): Promise<void> {
  const uri = Uri.parse(text);
  switch (uri.scheme) {
    case "http":
    case "https":
      await env.openExternal(uri);
      break;
    case "file":
      await openFile(uri);
      break;
    default:
      jp.logs.extension.warn(`a link of this kind is not opened: ${uri.scheme}`);
  }
}

async function openFile(uri: Uri): Promise<void> {
  const line = /^L?(\d+)/.exec(uri.fragment)?.[1];
  const at = line === undefined ? undefined : new Range(Number(line) - 1, 0, Number(line) - 1, 0);
  await window.showTextDocument(uri.with({ fragment: "" }), at === undefined ? {} : { selection: at });
}

async function openUntitled(content: string, language?: string): Promise<void> {
  const known = language === undefined ? {} : { language };
  await window.showTextDocument(await workspace.openTextDocument({ content, ...known }));
}

function targetEditor(): TextEditor | undefined {
  return (
    window.activeTextEditor ??
    window.visibleTextEditors.find(({ document }) => document.uri.scheme === "file")
  );
}

function findFile(path: string): Uri | undefined {
  if (isAbsolute(path)) {
    return Uri.file(path);
  }
  const folder = workspace.workspaceFolders?.[0];
  return folder && Uri.joinPath(folder.uri, path);
}

async function readFile(uri: Uri): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await workspace.fs.readFile(uri));
  } catch {
    return undefined; // the server tidies such files away after a while
  }
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json; // a model may have written something else
  }
}
