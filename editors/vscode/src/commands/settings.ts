/** Settings: what a value is, where it comes from, and changing it in a file. */

import {
  commands,
  MarkdownString,
  Uri,
  window,
  type Disposable,
  type Hover,
  type QuickPickItem,
} from "vscode";
import type { JpClient } from "../client";
import { changeText, dottedValues, explanationText, keyOfHover, valueOf } from "../state/settingWords";
import type { JpWindow } from "../ui/window";
import { pickOrType } from "./pickOrType";
import { registerReporting } from "./reporting";

export function settingCommands(jp: JpWindow): Disposable[] {
  return [
    registerReporting("jp.explainSetting", async (given?: unknown) => {
      const key =
        typeof given === "string"
          ? given
          : ((await keyAtCursor()) ?? (await pickKey(jp, "Explain a setting")));
      if (key !== undefined) {
        await explain(jp, key);
      }
    }),
    registerReporting("jp.changeSetting", async (given?: unknown) => {
      const key =
        typeof given === "string"
          ? given
          : ((await keyAtCursor()) ?? (await pickKey(jp, "Change a setting")));
      if (key !== undefined) {
        await change(jp, key);
      }
    }),
  ];
}

async function explain(jp: JpWindow, key: string): Promise<void> {
  const client = await jp.connect();
  const text = explanationText(await client.call("jp/config/explain", { key, ...conversationOf(jp) }));
  await jp.readDocuments.preview(["settings", `${key}.md`], text);
}

/** Asks for the value and the file, and says what has come of it. */
async function change(jp: JpWindow, key: string): Promise<void> {
  const client = await jp.connect();
  const { value: old } = await client.call("jp/config/get", { key, ...conversationOf(jp) });
  const typed = await window.showInputBox({
    title: `Change ${key}`,
    prompt: "Text, or JSON for anything else. Empty to take the setting away.",
    value: old === undefined ? "" : typeof old === "string" ? old : JSON.stringify(old),
  });
  const file = typed === undefined ? undefined : await pickFile(key);
  if (typed === undefined || file === undefined) {
    return;
  }
  const changes = typed === "" ? { unset: [key] } : { set: [{ key, value: valueOf(typed) }] };
  const result = await client.call("jp/config/set", {
    target: file.target,
    ...changes,
    ...conversationOf(jp),
  });
  const choice = await window.showInformationMessage(changeText(result), "Open File");
  if (choice !== undefined) {
    await window.showTextDocument(Uri.parse(result.uri));
  }
}

const FILES = [
  { label: "This workspace", detail: "For everybody who works in it", target: "workspace" },
  { label: "Me, in this workspace", detail: "Not part of the workspace's files", target: "user_workspace" },
  { label: "Me, in all workspaces", target: "user_global" },
] as const;

function pickFile(key: string): Thenable<(typeof FILES)[number] | undefined> {
  return window.showQuickPick(FILES, { title: `For whom to change ${key}` });
}

/** The setting that the cursor is on: the server describes it in whatever format the file has. */
async function keyAtCursor(): Promise<string | undefined> {
  const editor = window.activeTextEditor;
  if (editor === undefined) {
    return undefined;
  }
  const hovers = await commands.executeCommand<readonly Hover[] | undefined>(
    "vscode.executeHoverProvider",
    editor.document.uri,
    editor.selection.active,
  );
  const texts = (hovers ?? []).flatMap(({ contents }) => contents.map(textOf));
  return texts.map(keyOfHover).find((key) => key !== undefined);
}

function textOf(content: Hover["contents"][number]): string {
  if (typeof content === "string") {
    return content;
  }
  return content instanceof MarkdownString ? content.value : "";
}

/** Lets the user choose a setting by its key or value, as the shown conversation has it. */
async function pickKey(jp: JpWindow, title: string): Promise<string | undefined> {
  let known: readonly QuickPickItem[] = [];
  const isAbout = (text: string) => (each: QuickPickItem) =>
    `${each.label}\n${each.description ?? ""}`.toLowerCase().includes(text.toLowerCase());
  const choice = await pickOrType({
    title,
    hint: "A key, or a part of its value; type the key of what is not set yet",
    find: async () => {
      known = await listSettings(await jp.connect(), jp);
      return { choices: known };
    },
    typed: (label): QuickPickItem | undefined => (known.some(isAbout(label)) ? undefined : { label }),
  });
  return choice?.label;
}

async function listSettings(client: JpClient, jp: JpWindow): Promise<readonly QuickPickItem[]> {
  const { value } = await client.call("jp/config/get", conversationOf(jp));
  return dottedValues(value).map(([label, each]) => ({ label, description: JSON.stringify(each) }));
}

function conversationOf(jp: JpWindow): { readonly conversation?: string } {
  const { conversation } = jp.chats.shown;
  return conversation === null ? {} : { conversation };
}
