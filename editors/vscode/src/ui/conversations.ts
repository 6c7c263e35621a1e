/** The tree of the workspace's conversations, the most recently used first. */

import {
  EventEmitter,
  ThemeIcon,
  TreeItem,
  type Disposable,
  type Event,
  type TreeDataProvider,
} from "vscode";
import type { JpClient } from "../client";
import type { ConversationSummary } from "../protocol.gen";
import { ago } from "../state/ago";

export const CONVERSATIONS_VIEW = "jp.conversations";

const LIMIT = 200;

/** What the tree asks about a conversation that is open. */
export interface ConversationState {
  readonly isShown: boolean;
  readonly activity: "idle" | "working" | "needs you";
  /** What to call it, as long as it has no title. */
  readonly name: string | undefined;
}

export class Conversations implements TreeDataProvider<ConversationSummary>, Disposable {
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

  async getChildren(parent?: ConversationSummary): Promise<ConversationSummary[]> {
    if (parent !== undefined) {
      return [];
    }
    try {
      const client = await this.connect();
      return [...(await client.call("jp/conversation/list", { limit: LIMIT })).conversations];
    } catch {
      return []; // the chat view and the status item say what is wrong with the server
    }
  }

  getTreeItem({ conversation, title, lastActivatedAt, pinnedAt, problem }: ConversationSummary): TreeItem {
    const { isShown, activity, name: question } = this.stateOf(conversation);
    const name = title ?? question ?? "Untitled";
    const calm = isShown ? "comment-discussion" : pinnedAt === undefined ? "comment" : "pinned";
    const item = new TreeItem(name);
    item.id = conversation;
    item.description = ago(new Date(lastActivatedAt), new Date());
    item.contextValue = "conversation";
    item.iconPath = new ThemeIcon(problem === undefined ? (ICONS[activity] ?? calm) : "warning");
    item.tooltip =
      problem ?? `${name}\n${conversation}, last used ${new Date(lastActivatedAt).toLocaleString()}`;
    item.accessibilityInformation = { label: `${name}, ${activity}` };
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

const ICONS: Readonly<Record<ConversationState["activity"], string | undefined>> = {
  idle: undefined,
  working: "loading~spin",
  "needs you": "bell-dot",
};
