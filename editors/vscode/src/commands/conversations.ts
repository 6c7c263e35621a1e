/** Opening, naming and archiving the conversations of the tree; what the server does not know is not offered. */

import { commands, window, type Disposable } from "vscode";
import type { ConversationListParams } from "../protocol.gen";
import { marksOf } from "../state/conversationWords";
import type { JpWindow } from "../ui/window";
import { registerReporting } from "./reporting";

/** What the keys of the tree pass: they are for the row that has the focus. */
const FOCUSED = "focused";

/** What the tree passes: a row, or the arguments of its click. */
export interface Row {
  readonly conversation: string;
  readonly title?: string;
}

export function conversationCommands(jp: JpWindow): Disposable[] {
  return [
    registerReporting("jp.openConversation", async (given?: unknown) => {
      const row = rowOf(given) ?? (await pickConversation(jp, "Open a conversation"));
      if (row !== undefined) {
        await openConversation(jp, row);
      }
    }),
    commands.registerCommand("jp.refreshConversations", () => {
      jp.conversations.refresh();
    }),
    registerReporting("jp.renameConversation", (row) => rename(jp, row)),
    registerReporting("jp.archiveConversation", (row) => archive(jp, row)),
    registerReporting("jp.unarchiveConversation", (row) => unarchive(jp, row)),
  ];
}

/** Shows a conversation in the chat view. */
export async function openConversation(jp: JpWindow, row: Row): Promise<void> {
  await jp.chats.open(row.conversation, row.title);
  await jp.view.focus();
}

async function rename(jp: JpWindow, given: unknown): Promise<void> {
  const row = await rowFor(jp, given, "Rename a conversation");
  const title =
    row && (await window.showInputBox({ title: "Rename the conversation", value: row.title ?? "" }));
  if (row !== undefined && title !== undefined && title.trim() !== "") {
    const client = await jp.connect();
    await client.call("jp/conversation/title", { conversation: row.conversation, title: title.trim() });
    jp.chats.conversationChanged(row.conversation, title.trim(), false);
    jp.conversations.refresh();
  }
}

/** Archiving can be undone, so it asks nothing. */
async function archive(jp: JpWindow, given: unknown): Promise<void> {
  const row = await rowFor(jp, given, "Archive a conversation");
  if (row === undefined) {
    return;
  }
  const name = nameOf(jp, row);
  const client = await jp.connect();
  await client.call("jp/conversation/archive", { conversation: row.conversation });
  jp.chats.conversationChanged(row.conversation, undefined, true);
  jp.conversations.refresh();
  const undo = client.knows("jp/conversation/unarchive") ? ["Undo"] : [];
  const choice = await window.showInformationMessage(`"${name}" is archived.`, ...undo);
  if (choice === "Undo") {
    await client.call("jp/conversation/unarchive", { conversation: row.conversation });
    jp.conversations.refresh();
  }
}

async function unarchive(jp: JpWindow, given: unknown): Promise<void> {
  const title = "Bring an archived conversation back";
  const row = rowOf(given) ?? (await pickConversation(jp, title, { archived: true }));
  if (row !== undefined) {
    const { conversation } = row;
    await (await jp.connect()).call("jp/conversation/unarchive", { conversation });
    jp.conversations.refresh();
    await openConversation(jp, row);
  }
}

/** Lets the user choose a conversation of the workspace. */
export async function pickConversation(
  jp: JpWindow,
  title: string,
  which: ConversationListParams = {},
): Promise<Row | undefined> {
  const client = await jp.connect();
  const { conversations } = await client.call("jp/conversation/list", which);
  const rows = conversations.map((row) => ({
    label: nameOf(jp, row),
    description: [row.conversation, ...marksOf(row)].join(" · "),
    row,
  }));
  return (await window.showQuickPick(rows, { title, matchOnDescription: true }))?.row;
}

/** What to call a conversation: its title, or how it begins, if that is known here. */
export function nameOf(jp: JpWindow, { conversation, title }: Row): string {
  return title ?? jp.chats.stateOf(conversation).name ?? "Untitled";
}

/** Finds out which conversation a command is for: the given one, that of the row under the cursor, or a chosen one. */
export async function rowFor(jp: JpWindow, given: unknown, title: string): Promise<Row | undefined> {
  if (given === FOCUSED) {
    return jp.focusedConversation();
  }
  return rowOf(given) ?? (await pickConversation(jp, title));
}

/** Reads what the tree, a keybinding or another extension passes to a command. */
export function rowOf(value: unknown): Row | undefined {
  const isRow =
    typeof value === "object" &&
    value !== null &&
    "conversation" in value &&
    typeof value.conversation === "string";
  return isRow ? (value as Row) : undefined;
}
