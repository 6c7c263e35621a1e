/** Asking, steering and finding the chat. */

import { commands, window, type Disposable } from "vscode";
import type { JpWindow } from "../ui/window";
import { attachSelection } from "./attach";

export function chatCommands(jp: JpWindow): Disposable[] {
  return [
    commands.registerCommand("jp.ask", (text?: unknown) => ask(jp, text)),
    commands.registerCommand("jp.openChat", () => jp.view.focus()),
    commands.registerCommand("jp.askSelection", async () => {
      attachSelection(jp);
      await jp.view.focus();
    }),
    commands.registerCommand("jp.newConversation", async () => {
      jp.chats.create();
      await jp.view.focus();
    }),
    commands.registerCommand("jp.steer", () => steer(jp)),
    commands.registerCommand("jp.stopAnswer", () => steer(jp, "stop")),
    commands.registerCommand("jp.resume", () => jp.chats.resume()),
    commands.registerCommand("jp.showStatus", () => showStatus(jp)),
  ];
}

/** Asks in the shown conversation; other extensions and keybindings may give the question. */
async function ask(jp: JpWindow, given: unknown): Promise<void> {
  const prompt = jp.chats.shown.isBlank ? "Ask in a new conversation" : "Ask in the shown conversation";
  const text = typeof given === "string" ? given : await window.showInputBox({ title: "Ask JP", prompt });
  if (text === undefined || text.trim() === "") {
    return;
  }
  await jp.view.focus();
  await jp.chats.ask(text);
}

/** Interrupts what runs in the shown conversation; without an action its menu opens. */
async function steer(jp: JpWindow, action?: "stop"): Promise<void> {
  const turn = jp.chats.shown.running.at(-1);
  if (turn !== undefined) {
    await jp.chats.interrupt({ turn, ...(action !== undefined && { action }) });
  }
}

async function showStatus(jp: JpWindow): Promise<void> {
  if (jp.server.status === "missing") {
    await commands.executeCommand("jp.installServer");
    return;
  }
  const chat = jp.chats.mostUrgent;
  if (chat !== jp.chats.shown) {
    jp.chats.show(chat);
  }
  await jp.view.focus();
}
