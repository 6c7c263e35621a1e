/** The one status item: idle, working, needs you, stopped. Its click opens what it is about. */

import { StatusBarAlignment, ThemeColor, window, type Disposable, type StatusBarItem } from "vscode";
import type { Status } from "../server/process";
import type { Activity } from "../state/chats";

interface Look {
  readonly text: string;
  readonly tooltip: string;
  readonly background?: string;
}

export class StatusBar implements Disposable {
  private readonly item: StatusBarItem;

  constructor() {
    this.item = window.createStatusBarItem("jp.status", StatusBarAlignment.Right, 100);
    this.item.name = "JP";
    this.item.command = "jp.showStatus";
    this.show("idle", "stopped", false);
    this.item.show();
  }

  /** @param isDown whether the server is stopped although it was wanted. */
  show(activity: Activity, status: Status, isDown: boolean): void {
    const { text, tooltip, background } = look(activity, status, isDown);
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: tooltip, role: "button" };
    this.item.backgroundColor = background === undefined ? undefined : new ThemeColor(background);
  }

  dispose(): void {
    this.item.dispose();
  }
}

function look(activity: Activity, status: Status, isDown: boolean): Look {
  if (status === "missing") {
    return { text: "$(warning) JP", tooltip: "JP: the server is not installed", background: WARNING };
  }
  if (isDown) {
    return { text: "$(debug-disconnect) JP", tooltip: "JP: the server is stopped", background: WARNING };
  }
  switch (activity) {
    case "needs you":
      return { text: "$(bell-dot) JP needs you", tooltip: "JP waits for your answer", background: WARNING };
    case "working":
      return { text: "$(loading~spin) JP", tooltip: "JP is working" };
    case "idle":
      return status === "starting"
        ? { text: "$(loading~spin) JP", tooltip: "JP: the server is starting" }
        : { text: "$(comment-discussion) JP", tooltip: "JP: open the chat" };
  }
}

const WARNING = "statusBarItem.warningBackground";
