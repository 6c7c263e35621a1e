/** What the page of the chat view asks for, each taken to the one place that does it. */

import { commands, env } from "vscode";
import type { PromptResult } from "../protocol.gen";
import type { FromPage, ServerAction } from "../ui/messages";
import type { JpWindow } from "../ui/window";
import { removeChip } from "./attach";
import { applyText, editAnswer, insertText, openArguments, openLink, openResult, showDiff } from "./texts";
import { TURN_ACTIONS } from "./turns";

/** Takes a message of the page. */
export async function receive(jp: JpWindow, message: Exclude<FromPage, { type: "ready" }>): Promise<void> {
  switch (message.type) {
    case "ask":
      jp.walkthrough.tick("hasAsked");
      await jp.chats.ask(message.text);
      break;
    case "resume":
      await jp.chats.resume();
      break;
    case "interrupt": {
      const { token: turn, action, text } = message;
      await jp.chats.interrupt({ turn, ...(action && { action }), ...(text !== undefined && { text }) });
      break;
    }
    case "answer":
      jp.chats.questions.answer(message.decisionId, answerOf(message));
      jp.walkthrough.tick("hasAnswered");
      break;
    case "openArguments":
      await openArguments(jp, message.callId);
      break;
    case "openResult":
      await openResult(jp, message.callId);
      break;
    case "editArguments":
      await editAnswer(jp, message.decisionId);
      break;
    case "diff":
      await showDiff(jp, message.callId);
      break;
    case "copy":
      await env.clipboard.writeText(message.text);
      break;
    case "insert":
      await insertText(message.text);
      break;
    case "apply":
      await applyText(jp, message.text, message.language);
      break;
    case "openUri":
      await openLink(jp, message.uri);
      break;
    case "attach":
      await commands.executeCommand("jp.attach");
      break;
    case "removeChip":
      removeChip(jp, message.uri);
      break;
    case "pickModel":
      await commands.executeCommand("jp.pickModel");
      break;
    case "pickPersona":
      await commands.executeCommand("jp.pickPersona");
      break;
    case "newConversation":
      await commands.executeCommand("jp.newConversation");
      break;
    case "turn":
      await TURN_ACTIONS[message.action](jp, message.turn);
      break;
    case "serverAction":
      await commands.executeCommand(...SERVER_COMMANDS[message.id]);
      break;
    case "draft":
      jp.chats.shown.draft = message.text;
      jp.remember();
      break;
  }
}

const SERVER_COMMANDS: Readonly<Record<ServerAction, readonly [command: string, argument?: string]>> = {
  install: ["jp.installServer"],
  start: ["jp.startServer"],
  log: ["jp.showServerLog"],
  init: ["jp.initWorkspace"],
  model: ["jp.openWalkthrough", "model"],
};

function answerOf({ action, text }: { action?: string; text?: string }): PromptResult | null {
  if (action === undefined && text === undefined) {
    return null;
  }
  return { ...(action !== undefined && { action }), ...(text !== undefined && { text }) };
}
