/** What can be done with a stored conversation beside opening it: keeping, copying, writing down, removing. */

import { ProgressLocation, Uri, window, workspace, WorkspaceEdit, type Disposable } from "vscode";
import type { JpClient } from "../client";
import type {
  CompactionRange,
  ConversationCompactParams,
  ConversationCompactResult,
  ConversationSummary,
} from "../protocol.gen";
import {
  countProblem,
  forkParams,
  labelChanges,
  labelText,
  type ForkChoice,
} from "../state/conversationWords";
import { describeFailure } from "../state/failure";
import type { JpWindow } from "../ui/window";
import { nameOf, openConversation, rowFor, type Row } from "./conversations";
import { registerReporting } from "./reporting";

/** Turns at the end that models are always shown whole. */
const KEPT_TURNS = 2;

export function keepingCommands(jp: JpWindow): Disposable[] {
  const register = (
    id: string,
    title: string,
    run: (jp: JpWindow, conversation: Row) => Promise<void>,
  ): Disposable =>
    registerReporting(id, async (given) => {
      const row = await rowFor(jp, given, title);
      if (row !== undefined) {
        await run(jp, row);
        jp.conversations.refresh();
      }
    });
  return [
    register("jp.useConversation", "Use a conversation", use),
    register("jp.labelConversation", "Change the labels of a conversation", label),
    register("jp.pinConversation", "Pin a conversation", (_, row) => pin(jp, row, true)),
    register("jp.unpinConversation", "Unpin a conversation", (_, row) => pin(jp, row, false)),
    register("jp.expireConversation", "Say how long to keep a conversation", expire),
    register("jp.keepLocal", "Keep a conversation for you alone", (_, row) => move(jp, row, true)),
    register("jp.keepInWorkspace", "Keep a conversation in the workspace", (_, row) => move(jp, row, false)),
    register("jp.forkConversation", "Go on in a copy of a conversation", fork),
    register("jp.exportConversation", "Write a conversation down", exportText),
    register("jp.compactConversation", "Show models a shorter form of a conversation", compact),
    register("jp.removeConversation", "Remove a conversation", remove),
    registerReporting("jp.restoreConversation", () => restore(jp)),
  ];
}

/** Goes on in a copy of the shown conversation that ends with a turn. */
export async function forkFrom(jp: JpWindow, turn: number): Promise<void> {
  const { conversation, title } = jp.chats.shown;
  if (conversation !== null) {
    await copy(jp, { conversation, title }, { upTo: turn });
  }
}

async function use(jp: JpWindow, { conversation }: Row): Promise<void> {
  await (await jp.connect()).call("jp/conversation/use", { conversation });
}

async function label(jp: JpWindow, { conversation }: Row): Promise<void> {
  const client = await jp.connect();
  const { labels } = await client.call("jp/conversation/show", { conversation });
  const typed = await window.showInputBox({
    title: "Labels of the conversation",
    prompt: "Words, or keys with values",
    placeHolder: "area=storage wip",
    value: labels.map(labelText).join(" "),
  });
  if (typed !== undefined) {
    await client.call("jp/conversation/labels", { conversation, ...labelChanges(labels, typed) });
  }
}

async function pin(jp: JpWindow, { conversation }: Row, pinned: boolean): Promise<void> {
  await (await jp.connect()).call("jp/conversation/pin", { conversation, pinned });
}

async function expire(jp: JpWindow, { conversation }: Row): Promise<void> {
  const expires = await window.showInputBox({
    title: "How long to keep the conversation",
    prompt: "After this time it may be removed. Empty to keep it.",
    placeHolder: "7d, or 2h 30m",
  });
  if (expires !== undefined) {
    const after = expires.trim() === "" ? {} : { expires: expires.trim() };
    await (await jp.connect()).call("jp/conversation/expiry", { conversation, ...after });
  }
}

async function move(jp: JpWindow, { conversation }: Row, local: boolean): Promise<void> {
  await (await jp.connect()).call("jp/conversation/move", { conversation, local });
}

async function fork(jp: JpWindow, row: Row): Promise<void> {
  const { turns = 0 } = await (
    await jp.connect()
  ).call("jp/conversation/show", { conversation: row.conversation });
  const choice = await window.showQuickPick(
    [
      { label: "All turns", choice: () => Promise.resolve<ForkChoice>("all") },
      { label: "The last turn", choice: () => Promise.resolve<ForkChoice>({ last: 1 }) },
      {
        label: "The last turns...",
        choice: async () => wrap(await askCount("How many of the last turns", turns), "last"),
      },
      {
        label: "Everything up to a turn...",
        choice: async () => wrap(await askCount("Up to which turn", turns), "upTo"),
      },
    ],
    { title: `Go on in a copy of "${nameOf(jp, row)}"`, placeHolder: `What to copy of its ${turns} turns` },
  );
  const chosen = await choice?.choice();
  if (chosen !== undefined) {
    await copy(jp, row, chosen);
  }
}

async function copy(jp: JpWindow, row: Row, choice: ForkChoice): Promise<void> {
  const client = await jp.connect();
  const made = await client.call("jp/conversation/fork", forkParams(row.conversation, choice));
  await openConversation(jp, made);
}

async function askCount(title: string, turns: number): Promise<number | undefined> {
  const text = await window.showInputBox({
    title,
    value: String(turns),
    validateInput: countProblem,
  });
  return text === undefined ? undefined : Number(text);
}

function wrap(count: number | undefined, name: "last" | "upTo"): ForkChoice | undefined {
  if (count === undefined) {
    return undefined;
  }
  return name === "last" ? { last: count } : { upTo: count };
}

/** Opens the text as a document that becomes a file when it is saved. */
async function exportText(jp: JpWindow, row: Row): Promise<void> {
  const format = await window.showQuickPick(
    [
      { label: "Markdown", detail: "What a person is shown", format: "markdown" as const },
      { label: "JSON", detail: "All events, with nothing left out", format: "json" as const },
    ],
    { title: `Write "${nameOf(jp, row)}" down` },
  );
  if (format === undefined) {
    return;
  }
  const client = await jp.connect();
  const { text, name } = await client.call("jp/conversation/export", {
    conversation: row.conversation,
    format: format.format,
  });
  const folder = workspace.workspaceFolders?.[0];
  const document = await (folder === undefined
    ? workspace.openTextDocument({ language: format.format })
    : workspace.openTextDocument(Uri.joinPath(folder.uri, name).with({ scheme: "untitled" })));
  const edit = new WorkspaceEdit();
  edit.insert(document.uri, document.positionAt(0), text);
  await workspace.applyEdit(edit);
  await window.showTextDocument(document, { preview: false });
}

type Policy = Omit<ConversationCompactParams, "conversation">;

interface PolicyChoice {
  readonly label: string;
  readonly policy: Policy;
  /** Whether a model may be asked, which takes a while. */
  readonly asksModel?: boolean;
}

const POLICIES: readonly PolicyChoice[] = [
  { label: "Leave out reasoning", policy: { reasoning: true, keepLast: KEPT_TURNS } },
  { label: "Leave out what tools were given and said", policy: { toolCalls: "strip", keepLast: KEPT_TURNS } },
  {
    label: "Leave out reasoning, and what tools were given and said",
    policy: { reasoning: true, toolCalls: "strip", keepLast: KEPT_TURNS },
  },
  { label: "Let a model sum it up", policy: { summarize: {}, keepLast: KEPT_TURNS }, asksModel: true },
  { label: "As the settings say", policy: {}, asksModel: true },
  { label: "Show models all of it again", policy: { reset: "all" } },
];

async function compact(jp: JpWindow, row: Row): Promise<void> {
  const choice = await window.showQuickPick(POLICIES, {
    title: `What models are shown of "${nameOf(jp, row)}"`,
    placeHolder: `Conversations stay as they are; only models are shown less`,
  });
  if (choice === undefined) {
    return;
  }
  const client = await jp.connect();
  const params = { conversation: row.conversation, ...choice.policy };
  try {
    const { added } = await (choice.asksModel
      ? compactByModel(client, params)
      : client.call("jp/conversation/compact", params));
    void window.showInformationMessage(compactionText(choice.policy, added));
  } catch (error) {
    void window.showWarningMessage(describeFailure(error).message);
  }
}

/** A model takes a while, so its progress is shown, with a button that cancels it. */
async function compactByModel(
  client: JpClient,
  params: ConversationCompactParams,
): Promise<ConversationCompactResult> {
  return window.withProgress(
    { location: ProgressLocation.Notification, title: "JP", cancellable: true },
    (progress, cancellation) => {
      const token = `compact/${params.conversation}/${Date.now()}`;
      cancellation.onCancellationRequested(() => client.cancelWork(token));
      return client.compact(params, token, (message) => {
        progress.report({ message });
      });
    },
  );
}

function compactionText({ reset }: Policy, added: readonly CompactionRange[]): string {
  if (reset !== undefined) {
    return "Models are shown all of the conversation again.";
  }
  const turns = added.map(({ fromTurn, toTurn }) =>
    fromTurn === toTurn ? `turn ${fromTurn}` : `turns ${fromTurn} to ${toTurn}`,
  );
  return turns.length === 0
    ? "There are no turns to shorten; the last ones always stay whole."
    : `Models are shown ${turns.join(" and ")} in a shorter form.`;
}

/** Removing can be undone, so it asks nothing. */
async function remove(jp: JpWindow, row: Row): Promise<void> {
  const client = await jp.connect();
  const { conversation } = row;
  const name = nameOf(jp, row);
  await client.call("jp/conversation/remove", { conversation });
  jp.chats.conversationChanged(conversation, undefined, true);
  const undo = client.knows("jp/conversation/restore") ? ["Undo"] : [];
  void window.showInformationMessage(`"${name}" is removed.`, ...undo).then(async (choice) => {
    if (choice === "Undo") {
      await client.call("jp/conversation/restore", { conversation });
      jp.conversations.refresh();
    }
  });
}

async function restore(jp: JpWindow): Promise<void> {
  const client = await jp.connect();
  const { conversations } = await client.call("jp/conversation/trash", {});
  if (conversations.length === 0) {
    void window.showInformationMessage("No conversation was removed.");
    return;
  }
  const rows = conversations.map((row) => ({
    label: nameOf(jp, row),
    description: `removed ${new Date(row.removedAt).toLocaleString()}`,
    row,
  }));
  const choice = await window.showQuickPick(rows, { title: "Take a removed conversation back" });
  if (choice !== undefined) {
    const { conversation } = choice.row;
    const back: ConversationSummary = await client.call("jp/conversation/restore", { conversation });
    jp.conversations.refresh();
    await openConversation(jp, back);
  }
}
