import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import type { Chunk } from "../../src/protocol.gen";
import { EMPTY_CHAT, takeChunks, transcriptOf } from "../../src/state/chatState";
import type { ToPage } from "../../src/ui/messages";
import { TestWindow, WITHOUT_SERVER } from "./server";

const PATIENCE = { timeout: 60_000, skip: WITHOUT_SERVER };

function chunksOf(messages: readonly ToPage[]): Chunk[] {
  return messages.flatMap((message) =>
    message.type === "chunks" || message.type === "open" ? message.chunks : [],
  );
}

function transcript(messages: readonly ToPage[]): string {
  return transcriptOf(takeChunks(EMPTY_CHAT, chunksOf(messages)));
}

describe("conversations with a real server", PATIENCE, () => {
  let window: TestWindow;

  beforeEach(() => {
    window = new TestWindow();
  });

  afterEach(async () => {
    await window.end();
  });

  test("an answer is told while it comes, and then how it ended", async () => {
    await window.chats.ask("say hello");
    const { result } = await window.told("result");
    assert.equal(result.outcome, "completed");
    assert.equal(result.text, "Hello.");
    assert.equal(window.chats.shown.conversation, result.conversation);
    assert.match(transcript(window.posted), /say hello[^]*Hello\./);
  });

  test("a page that comes later is told the same", async () => {
    await window.chats.ask("say hello");
    assert.equal(transcript(window.chats.shown.replay()), transcript(window.posted));
  });

  test("a conversation that is opened again reads the same", async () => {
    await window.chats.ask("say hello");
    const { conversation } = window.chats.shown;
    window.chats.create();
    assert.equal(window.chats.shown.conversation, null);
    await window.chats.open(conversation ?? "");
    assert.equal(window.chats.shown.result("none"), undefined);
    assert.match(transcript(window.chats.shown.replay()), /say hello[^]*Hello\./);
  });

  test("a call waits for its approval, whose arguments can be found", async () => {
    const asking = window.chats.ask("use the tool");
    const { prompt } = await window.told("prompt");
    assert.deepEqual([prompt.kind, prompt.actions.at(0)?.id], ["approval", "skip"]);
    assert.equal(window.chats.activity, "needs you");
    assert.equal(window.chats.shown.call(prompt.callId ?? "")?.facts.name, "greet");
    window.chats.questions.answer(prompt.decisionId, { action: "run" });
    await asking;
    assert.equal(window.chats.activity, "idle");
    assert.equal(window.chats.shown.result(prompt.callId ?? "")?.facts.ok, true);
    assert.deepEqual(window.chats.shown.prompts, []);
  });

  test("edited arguments are the ones that run", async () => {
    const asking = window.chats.ask("use the tool");
    const approval = (await window.told("prompt")).prompt;
    window.chats.questions.answer(approval.decisionId, { action: "edit" });
    const { prompt } = await window.told("prompt", (message) => message.prompt.kind === "edit");
    assert.deepEqual(JSON.parse(prompt.value ?? ""), { who: "Ada" });
    window.chats.questions.answer(prompt.decisionId, { text: '{"who": "Grace"}' });
    await asking;
    assert.match(transcript(window.posted), /hello Grace/);
  });

  test("a closed question is no consent", async () => {
    const asking = window.chats.ask("use the tool");
    const { prompt } = await window.told("prompt");
    window.chats.questions.answer(prompt.decisionId, null);
    await asking;
    const decisions = chunksOf(window.posted).flatMap((chunk) =>
      chunk.type === "tool_result" ? [[chunk.ok, chunk.md.includes("hello")]] : [],
    );
    assert.deepEqual(
      decisions.map(([, ran]) => ran),
      [false],
    );
  });

  test("a press opens the menu, whose answer steers", async () => {
    const asking = window.chats.ask("take your time");
    const { token } = await window.told("query");
    await window.told("chunks", ({ chunks }) =>
      chunks.some((chunk) => chunk.type === "text" && chunk.md.includes("First")),
    );
    await window.chats.interrupt({ turn: token });
    const { prompt } = await window.told("prompt");
    assert.equal(prompt.kind, "menu");
    window.chats.questions.answer(prompt.decisionId, { action: "stop" });
    await asking;
    assert.equal((await window.told("result")).result.outcome, "stopped");
  });

  test("two conversations run at once, and each keeps its own", async () => {
    const first = window.chats.ask("use the tool");
    const { prompt } = await window.told("prompt");
    const { shown } = window.chats;
    window.chats.create();
    await window.chats.ask("say hello");
    assert.deepEqual(window.chats.shown.prompts, []);
    assert.deepEqual(shown.prompts, [prompt]);
    assert.equal(window.chats.mostUrgent, shown);
    window.chats.questions.answer(prompt.decisionId, { action: "skip" });
    await first;
    assert.notEqual(shown.conversation, window.chats.shown.conversation);
  });

  test("an error gives the text back", async () => {
    window.chats.shown.newSettings = ["assistant.model.id=nobody/nothing"];
    await window.chats.ask("to nobody");
    const failed = await window.told("failed");
    assert.match(failed.message, /nobody/);
    assert.equal(failed.draft, "to nobody");
    assert.equal(window.chats.shown.draft, "to nobody");
  });

  test("what a killed server left can be resumed", async () => {
    const asking = window.chats.ask("sleep on it");
    await window.told("chunks", ({ chunks }) => chunks.some(({ type }) => type === "tool_call"));
    const client = await window.connect();
    while ((await client.call("jp/turn/list", {})).active[0]?.phase !== "executing") {
      // asked again, until the tool has begun and its call is stored
    }
    await window.kill();
    await asking;
    assert.equal((await window.told("failed")).message, "The server stopped before it had answered.");
    await window.chats.findUnfinished();
    assert.deepEqual((await window.told("unfinished")).calls, ["sleep"]);
    const resuming = window.chats.resume();
    const { prompt } = await window.told("prompt");
    assert.match(prompt.message, /may have run already/);
    window.chats.questions.answer(prompt.decisionId, { action: "skip" });
    await resuming;
    assert.equal((await window.told("result")).result.outcome, "completed");
    const shown = transcript(window.chats.shown.replay());
    assert.equal(shown.match(/sleep on it/g)?.length, 1, "the turn is not shown twice");
  });

  test("a turn is asked again, as it was and in other words", async () => {
    await window.chats.ask("say hello");
    const conversation = window.chats.shown.conversation ?? "";
    await window.chats.replayTurn(conversation, 1);
    assert.match(transcript(window.chats.shown.replay()), /say hello[^]*Hello\./);
    await window.chats.replayTurn(conversation, 1, "say hello to me");
    const shown = transcript(window.chats.shown.replay());
    assert.match(shown, /say hello to me[^]*Hello\./);
    assert.doesNotMatch(shown, /say hello\n/);
  });

  test("the list has what was asked", async () => {
    await window.chats.ask("say hello");
    const { conversations } = await (await window.connect()).call("jp/conversation/list", { limit: 10 });
    assert.ok(conversations.some(({ conversation }) => conversation === window.chats.shown.conversation));
  });
});
