/** What can be done with the conversations of the tree; what the server does not know is not offered. */

import { commands, window, type Disposable } from "vscode";
import type { ConversationListParams } from "../protocol.gen";
import type { JpWindow } from "../ui/window";

/** What the tree passes: a row, or the arguments of its click. */
interface Row {
  readonly conversation: string;
  readonly title?: string;
}

export function conversationCommands(jp: JpWindow): Disposable[] {
  return [
    commands.registerCommand("jp.openConversation", (row?: unknown) => open(jp, row)),
    commands.registerCommand("jp.refreshConversations", () => {
      jp.conversations.refresh();
    }),
    commands.registerCommand("jp.renameConversation", (row?: unknown) => rename(jp, row)),
    commands.registerCommand("jp.archiveConversation", (row?: unknown) => archive(jp, row)),
    commands.registerCommand("jp.unarchiveConversation", () => unarchive(jp)),
    commands.registerCommand("jp.removeConversation", (row?: unknown) => remove(jp, row)),
  ];
}

async function open(jp: JpWindow, given: unknown): Promise<void> {
  const row = isRow(given) ? given : await pick(jp, "Open a conversation");
  if (row !== undefined) {
    await jp.chats.open(row.conversation, row.title);
    await jp.view.focus();
  }
}

async function rename(jp: JpWindow, given: unknown): Promise<void> {
  const row = isRow(given) ? given : await pick(jp, "Rename a conversation");
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
  const row = isRow(given) ? given : await pick(jp, "Archive a conversation");
  if (row === undefined) {
    return;
  }
  const client = await jp.connect();
  await client.call("jp/conversation/archive", { conversation: row.conversation });
  jp.chats.conversationChanged(row.conversation, undefined, true);
  jp.conversations.refresh();
  const undo = client.knows("jp/conversation/unarchive") ? ["Undo"] : [];
  const choice = await window.showInformationMessage(`"${nameOf(row)}" is archived.`, ...undo);
  if (choice === "Undo") {
    await client.call("jp/conversation/unarchive", { conversation: row.conversation });
    jp.conversations.refresh();
  }
}

async function remove(jp: JpWindow, given: unknown): Promise<void> {
  const row = isRow(given) ? given : await pick(jp, "Remove a conversation");
  if (row === undefined) {
    return;
  }
  const question = `Remove the conversation "${nameOf(row)}"?`;
  const detail = "Its files are moved to the folder .trash beside the other conversations.";
  const choice = await window.showWarningMessage(question, { modal: true, detail }, "Remove");
  if (choice === "Remove") {
    const client = await jp.connect();
    await client.call("jp/conversation/remove", { conversation: row.conversation });
    jp.chats.conversationChanged(row.conversation, undefined, true);
    jp.conversations.refresh();
  }
}

async function unarchive(jp: JpWindow): Promise<void> {
  const row = await pick(jp, "Bring an archived conversation back", { archived: true });
  if (row !== undefined) {
    const { conversation } = row;
    await (await jp.connect()).call("jp/conversation/unarchive", { conversation });
    jp.conversations.refresh();
    await open(jp, row);
  }
}

async function pick(
  jp: JpWindow,
  title: string,
  which: ConversationListParams = {},
): Promise<Row | undefined> {
  const client = await jp.connect();
  const { conversations } = await client.call("jp/conversation/list", which);
  const rows = conversations.map((row) => ({
    label: nameOf(row),
    description: row.conversation,
    row,
  }));
  return (await window.showQuickPick(rows, { title, matchOnDescription: true }))?.row;
}

function nameOf({ title }: Row): string {
  return title ?? "Untitled";
}

function isRow(value: unknown): value is Row {
  return (
    typeof value === "object" &&
    value !== null &&
    "conversation" in value &&
    typeof value.conversation === "string"
  );
}
