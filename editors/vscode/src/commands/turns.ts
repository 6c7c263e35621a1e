/** What can be done with a turn of the shown conversation. */

import { Uri, window } from "vscode";
import { askedIn } from "../state/asked";
import { describeFailure } from "../state/failure";
import type { TurnAction } from "../ui/messages";
import type { JpWindow } from "../ui/window";
import { forkFrom } from "./keeping";

type Act = (jp: JpWindow, turn: number) => Promise<void>;

export const TURN_ACTIONS: Readonly<Record<TurnAction, Act>> = {
  fork: forkFrom,
  replay: (jp, turn) => whenCalm(jp, (conversation) => jp.chats.replayTurn(conversation, turn)),
  rephrase: (jp, turn) => whenCalm(jp, (conversation) => rephrase(jp, conversation, turn)),
  edit: (jp, turn) => whenCalm(jp, (conversation) => edit(jp, conversation, turn)),
  remove: (jp, turn) => whenCalm(jp, (conversation) => remove(jp, conversation, turn)),
};

async function whenCalm(jp: JpWindow, act: (conversation: string) => Promise<void>): Promise<void> {
  const { conversation, running } = jp.chats.shown;
  if (running.length > 0) {
    jp.chats.notice("info", "Wait for the answer that is running, or stop it.");
  } else if (conversation !== null) {
    await reporting(jp, conversation, () => act(conversation));
  }
}

/** Says in the conversation what went wrong. */
async function reporting(jp: JpWindow, conversation: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    jp.chats.notice("error", describeFailure(error).message, conversation);
  }
}

/** Opens an editor for what the user said, and asks what it has become. */
async function rephrase(jp: JpWindow, conversation: string, turn: number): Promise<void> {
  await write(jp, conversation, turn, `Ask turn ${turn} again.md`, async (text) => {
    await jp.view.focus();
    if (jp.chats.shown.conversation !== conversation) {
      await jp.chats.open(conversation);
    }
    await jp.chats.replayTurn(conversation, turn, text);
  });
}

/** Opens an editor for what the user said; the answer to it stays as it is. */
async function edit(jp: JpWindow, conversation: string, turn: number): Promise<void> {
  await write(jp, conversation, turn, `What you said in turn ${turn}.md`, (text) =>
    amend(jp, conversation, turn, { text }),
  );
}

/** Lets the user change what they said in a turn. */
async function write(
  jp: JpWindow,
  conversation: string,
  turn: number,
  title: string,
  send: (text: string) => Promise<void>,
): Promise<void> {
  const client = await jp.connect();
  const { text } = await client.call("jp/conversation/export", {
    conversation,
    format: "json",
    turns: { fromTurn: turn, toTurn: turn },
  });
  const asked = askedIn(text);
  if (asked === undefined) {
    jp.chats.notice("info", `Nothing was asked in turn ${turn}.`);
    return;
  }
  await jp.editDocuments.open(`${title} ${conversation}`, title, asked, "markdown", (text) => {
    void reporting(jp, conversation, () => send(text));
  });
}

async function remove(jp: JpWindow, conversation: string, turn: number): Promise<void> {
  const choice = await window.showWarningMessage(
    `Remove turn ${turn} of this conversation?`,
    { modal: true, detail: "A copy of the conversation as it is now is kept." },
    "Remove",
  );
  if (choice === "Remove") {
    await amend(jp, conversation, turn, { remove: true });
  }
}

async function amend(
  jp: JpWindow,
  conversation: string,
  turn: number,
  change: { readonly text: string } | { readonly remove: true },
): Promise<void> {
  const client = await jp.connect();
  const { copyUri } = await client.call("jp/conversation/edit", { conversation, turn, ...change });
  await jp.chats.reload(conversation);
  if (copyUri !== undefined) {
    const where = Uri.parse(copyUri).path.split("/").slice(-2).join("/"); // the whole path fills the view
    jp.chats.notice("info", `The conversation as it was is kept in ${where}`, conversation);
  }
}
