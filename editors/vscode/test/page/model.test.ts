import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { announcements } from "../../src/page/announce";
import {
  dismissNotice,
  earlierQueries,
  EMPTY_MODEL,
  runningQuery,
  takeMessage,
  type Model,
} from "../../src/page/model";
import type { PromptParams, QueryResult } from "../../src/protocol.gen";
import type { ToPage } from "../../src/ui/messages";
import { golden, goldenUpTo } from "./golden";

const OPEN: ToPage = { type: "open", conversation: null, title: "", chunks: [], draft: "" };
const QUERY: ToPage = { type: "query", token: "q1", text: "Look" };
const PROMPT: PromptParams = {
  decisionId: "t/1",
  kind: "approval",
  message: "Run it?",
  actions: [{ id: "run", title: "Run" }],
};

function after(...messages: readonly ToPage[]): Model {
  return messages.reduce(takeMessage, EMPTY_MODEL);
}

function result(facts: Partial<QueryResult> = {}): ToPage {
  return {
    type: "result",
    token: "q1",
    result: {
      outcome: "completed",
      turns: [],
      text: "Yes.",
      notices: [],
      persisted: true,
      lastSeq: 1,
      ...facts,
    },
  };
}

describe("the model", () => {
  test("is the same however the chunks were gathered", () => {
    const chunks = golden("approvals.json");
    const whole = after(OPEN, QUERY, { type: "chunks", token: "q1", chunks });
    const single = after(
      OPEN,
      QUERY,
      ...chunks.map((chunk): ToPage => ({ type: "chunks", token: "q1", chunks: [chunk] })),
    );
    assert.deepEqual(single, whole);
  });

  test("an opened conversation replaces everything but the server and what stands beside the input", () => {
    const server: ToPage = { type: "server", status: "stopped" };
    const context: ToPage = { type: "context", chips: [], model: "test/big", persona: "p" };
    const busy = after(
      OPEN,
      server,
      context,
      QUERY,
      { type: "prompt", prompt: PROMPT },
      { type: "notice", level: "info", text: "x" },
    );
    const fresh = takeMessage(busy, OPEN);
    assert.deepEqual(fresh.queries, []);
    assert.deepEqual(fresh.prompts, []);
    assert.deepEqual(fresh.notices, []);
    assert.equal(fresh.server.status, "stopped");
    assert.equal(fresh.modelName, "test/big");
    assert.notEqual(fresh.draft.number, busy.draft.number);
  });

  test("a query runs until its result or its failure", () => {
    const running = after(OPEN, QUERY);
    assert.equal(runningQuery(running)?.token, "q1");
    assert.equal(runningQuery(takeMessage(running, result())), undefined);
    assert.equal(
      runningQuery(takeMessage(running, { type: "failed", token: "q1", message: "No." })),
      undefined,
    );
  });

  test("a question is closed by its message, and by its chunk", () => {
    const asked = after(OPEN, QUERY, { type: "prompt", prompt: PROMPT });
    assert.deepEqual(takeMessage(asked, { type: "promptClosed", decisionId: "t/1" }).prompts, []);
    const chunks = golden("approvals.json");
    assert.deepEqual(takeMessage(asked, { type: "chunks", token: "q1", chunks }).prompts, []);
  });

  test("a question that is put again is there once", () => {
    const asked = after(
      { type: "prompt", prompt: PROMPT },
      { type: "prompt", prompt: { ...PROMPT, message: "Again?" } },
    );
    assert.deepEqual(
      asked.prompts.map(({ message }) => message),
      ["Again?"],
    );
  });

  test("notices are few, and go when they are dismissed", () => {
    const notices = [1, 2, 3, 4, 5, 6].map((number): ToPage => ({
      type: "notice",
      level: "info",
      text: String(number),
    }));
    const model = after(...notices);
    assert.deepEqual(
      model.notices.map(({ text }) => text),
      ["3", "4", "5", "6"],
    );
    assert.deepEqual(
      dismissNotice(model, 5).notices.map(({ text }) => text),
      ["3", "4", "6"],
    );
  });

  test("what was asked before comes from stored turns and from queries", () => {
    const model = after({ ...OPEN, chunks: golden("reply.json") }, QUERY);
    assert.deepEqual(earlierQueries(model), ["Tell", "Shorter", "Look"]);
  });

  test("a message of a newer host changes nothing", () => {
    const model = after(OPEN);
    assert.equal(takeMessage(model, { type: "sparkle" } as unknown as ToPage), model);
  });
});

describe("what is announced", () => {
  const said = (before: readonly ToPage[], ...next: readonly ToPage[]) => {
    const model = after(...before);
    return announcements(model, next.reduce(takeMessage, model));
  };

  test("a conversation that is shown says nothing", () => {
    assert.deepEqual(said([], { ...OPEN, conversation: "jp-c1", chunks: golden("two_tools.json") }), []);
    const other: ToPage = { ...OPEN, conversation: "jp-c2", chunks: golden("plain.json") };
    assert.deepEqual(said([{ ...OPEN, conversation: "jp-c1" }], other), []);
  });

  test("words of an answer are not read one by one, and tools are named when they are done", () => {
    const call: ToPage = {
      type: "chunks",
      token: "q1",
      chunks: goldenUpTo("two_tools.json", "tool_call", "c1"),
    };
    const results: ToPage = { ...call, chunks: goldenUpTo("two_tools.json", "tool_result", "c1") };
    assert.deepEqual(said([OPEN, QUERY], call), []);
    assert.deepEqual(said([OPEN, QUERY, call], results), ["see: Done.", "look: Failed."]);
  });

  test("an answer is read when it is complete, and a long one in part", () => {
    assert.deepEqual(said([OPEN, QUERY], result({ text: "It is `so`." })), ["Answered. It is so."]);
    const [long] = said([OPEN, QUERY], result({ text: "word ".repeat(400) }));
    assert.ok(long !== undefined && long.length < 460 && long.endsWith("The rest is in the transcript."));
  });

  test("troubles say what happened and what to do", () => {
    const failed: ToPage = { type: "failed", token: "q1", message: "The key is missing.", hint: "Set it." };
    assert.deepEqual(said([OPEN, QUERY], failed), ["The query failed: The key is missing. Set it."]);
    assert.deepEqual(said([OPEN], { type: "server", status: "stopped", message: "It crashed." }), [
      "The server has stopped. It crashed.",
    ]);
  });

  test("a question is read with its choices and the key that leads to it", () => {
    assert.deepEqual(said([OPEN, QUERY], { type: "prompt", prompt: PROMPT }), [
      "Question: Run it? Run. Ctrl+. goes to it.",
    ]);
  });
});
