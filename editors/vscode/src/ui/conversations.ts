/**
 * The tree of the workspace's conversations: the pinned ones, then those that were used last, and below them the
 * archived ones.
 */

import {
  commands,
  EventEmitter,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  type Disposable,
  type Event,
  type TreeDataProvider,
  type TreeView,
} from "vscode";
import type { JpClient } from "../client";
import type { ConversationSummary } from "../protocol.gen";
import { ago } from "../state/ago";
import { contextOf, labelText, marksOf, pinnedFirst } from "../state/conversationWords";

export const CONVERSATIONS_VIEW = "jp.conversations";

const LIMIT = 200;

/** What the tree asks about a conversation that is open. */
export interface ConversationState {
  readonly isShown: boolean;
  readonly activity: "idle" | "working" | "needs you";
  /** What to call it, as long as it has no title. */
  readonly name: string | undefined;
}

/** A row: a conversation, or what holds the archived ones. */
export type Row = ConversationSummary | typeof ARCHIVE;

const ARCHIVE = "archive" as const;

export class Conversations implements TreeDataProvider<Row>, Disposable {
  private readonly changes = new EventEmitter<undefined>();
  readonly onDidChangeTreeData: Event<undefined> = this.changes.event;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly connect: () => Promise<JpClient>,
    private readonly stateOf: (conversation: string) => ConversationState,
  ) {}

  /** Looks again soon; several changes at once are one look. */
  refresh(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.changes.fire(undefined);
    }, 100);
  }

  async getChildren(parent?: Row): Promise<Row[]> {
    try {
      const list = async (archived: boolean, limit: number) => {
        const client = await this.connect();
        return (await client.call("jp/conversation/list", { archived, limit })).conversations;
      };
      switch (parent) {
        case undefined: {
          const hasArchive = (await list(true, 1)).length > 0;
          const shown: readonly Row[] = pinnedFirst(await list(false, LIMIT));
          const isEmpty = shown.length === 0 && !hasArchive;
          void commands.executeCommand("setContext", "jp.hasNoConversations", isEmpty);
          return hasArchive ? [...shown, ARCHIVE] : [...shown];
        }
        case ARCHIVE:
          return [...(await list(true, LIMIT))];
        default:
          return [];
      }
    } catch {
      return []; // the chat view and the status item say what is wrong with the server
    }
  }

  getTreeItem(row: Row): TreeItem {
    return row === ARCHIVE ? archiveItem() : this.conversationItem(row);
  }

  private conversationItem(row: ConversationSummary): TreeItem {
    const { conversation, title, lastActivatedAt, pinnedAt, problem } = row;
    const { isShown, activity, name: question } = this.stateOf(conversation);
    const name = title ?? question ?? "Untitled";
    const calm = isShown ? "comment-discussion" : pinnedAt === undefined ? "comment" : "pinned";
    const item = new TreeItem(name);
    item.id = conversation;
    item.description = [ago(new Date(lastActivatedAt), new Date()), ...row.labels.map(labelText)].join(" · ");
    item.contextValue = contextOf(row);
    item.iconPath = new ThemeIcon(problem === undefined ? (ICONS[activity] ?? calm) : "warning");
    const used = `${conversation}, last used ${new Date(lastActivatedAt).toLocaleString()}`;
    item.tooltip = problem ?? [name, used, ...marksOf(row)].join("\n");
    item.accessibilityInformation = { label: [name, activity, ...marksOf(row)].join(", ") };
    item.command = {
      command: "jp.openConversation",
      title: "Open Conversation",
      arguments: [{ conversation, title }],
    };
    return item;
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.changes.dispose();
  }
}

/**
 * Finds the row that has the focus. Extensions are told only which rows are selected, and arrow keys select none; but
 * the editor can turn around whether the focused one is, and that is seen.
 */
export async function focusedConversation(tree: TreeView<Row>): Promise<ConversationSummary | undefined> {
  const before = tree.selection;
  await commands.executeCommand("list.toggleSelection");
  const after = tree.selection;
  await commands.executeCommand("list.toggleSelection");
  const idOf = (row: Row) => (row === ARCHIVE ? row : row.conversation);
  const missingIn = (rows: readonly Row[]) => (row: Row) => rows.every((each) => idOf(each) !== idOf(row));
  const row = after.find(missingIn(before)) ?? before.find(missingIn(after));
  return row === ARCHIVE ? undefined : row;
}

function archiveItem(): TreeItem {
  const item = new TreeItem("Archived", TreeItemCollapsibleState.Collapsed);
  item.id = ARCHIVE;
  item.contextValue = ARCHIVE;
  item.iconPath = new ThemeIcon("archive");
  return item;
}

const ICONS: Readonly<Record<ConversationState["activity"], string | undefined>> = {
  idle: undefined,
  working: "loading~spin",
  "needs you": "bell-dot",
};
