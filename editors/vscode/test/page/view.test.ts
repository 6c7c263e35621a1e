import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { h, render } from "preact";
import { EMPTY_MODEL, takeMessage, type Model } from "../../src/page/model";
import type { Page } from "../../src/page/page";
import { findPlace } from "../../src/page/place";
import { View } from "../../src/page/view";
import { markdownOf, takeChunks, EMPTY_CHAT, type Item } from "../../src/state/chatState";
import type { Chunk, QueryResult } from "../../src/protocol.gen";
import type { FromPage, ToPage } from "../../src/ui/messages";
import { golden, GOLDEN_NAMES, goldenUpTo } from "./golden";

const OPEN: ToPage = { type: "open", conversation: null, title: "", chunks: [], draft: "" };
const QUERY: ToPage = { type: "query", token: "q1", text: "Look" };

const posted: FromPage[] = [];
const PAGE: Partial<Page> = { post: (message) => posted.push(message) };

let root: HTMLElement;

beforeEach(async () => {
  const { Window } = await import("happy-dom"); // an ES module only
  const window = new Window();
  Object.assign(globalThis, {
    ...{ window, document: window.document, Text: window.Text, Element: window.Element },
  });
  root = document.body.appendChild(document.createElement("div"));
});

afterEach(() => {
  render(null, root);
});

function show(model: Model): void {
  render(h(View, { model, page: PAGE as Page }), root);
}

/** The words of some Markdown, for finding them in what is shown. */
function wordsOf(items: readonly Item[]): readonly string[] {
  return items
    .filter((item) => item.type === "text")
    .flatMap((item) => markdownOf(item).match(/[A-Za-z]{3,}/g) ?? []);
}

describe("every golden transcript", () => {
  for (const name of GOLDEN_NAMES) {
    const chunks = golden(name);
    const { turns, prompts } = takeChunks(EMPTY_CHAT, chunks);

    test(`${name}: everything that was said is shown, in its order`, () => {
      show([OPEN, QUERY, { type: "chunks", token: "q1", chunks } as const].reduce(takeMessage, EMPTY_MODEL));
      const shown = root.querySelector(".turns")?.textContent ?? "";
      let at = 0;
      for (const word of turns.flatMap((turn) => wordsOf(turn.items))) {
        const found = shown.indexOf(word, at);
        assert.ok(found >= at, `${word} is missing behind ${shown.slice(0, at)}`);
        at = found;
      }
      assert.equal(root.querySelectorAll("article").length, turns.length);
      const calls = turns.flatMap((turn) => turn.items).filter(({ type }) => type === "tool_call");
      assert.equal(root.querySelectorAll(".turns .tool[data-call]").length, calls.length);
      const waiting = prompts.filter(({ callId }) => callId !== undefined);
      assert.equal(root.querySelectorAll(".tool-waiting").length, waiting.length);
    });

    test(`${name}: drawn piece by piece it is what it is at once`, () => {
      let model = [OPEN, QUERY].reduce(takeMessage, EMPTY_MODEL);
      show(model);
      for (const chunk of chunks) {
        model = takeMessage(model, { type: "chunks", token: "q1", chunks: [chunk] });
        show(model);
      }
      const grown = root.innerHTML;
      render(null, root);
      show(model);
      assert.equal(grown, root.innerHTML);
    });
  }
});

describe("the states of calls", () => {
  const states = () =>
    [...root.querySelectorAll(".tool")].map((tool) => tool.querySelector(".tool-word")?.textContent);
  const cases: readonly (readonly [
    name: string,
    type: Chunk["type"],
    callId: string,
    shown: readonly string[],
  ])[] = [
    ["approvals.json", "tool_preparing", "c1", ["Preparing"]],
    ["approvals.json", "tool_call", "c1", ["Next"]],
    ["approvals.json", "prompt_open", "c1", ["Waiting for you"]],
    ["approvals.json", "tool_progress", "c1", ["Running", "Waiting for you"]],
    ["approvals.json", "tool_result", "c2", ["Done", "Skipped"]],
    ["two_tools.json", "tool_result", "c1", ["Failed", "Done"]],
  ];
  for (const [name, type, callId, shown] of cases) {
    test(`${name} up to ${type} of ${callId}`, () => {
      const chunks = goldenUpTo(name, type, callId);
      show([OPEN, QUERY, { type: "chunks", token: "q1", chunks } as const].reduce(takeMessage, EMPTY_MODEL));
      assert.deepEqual(states(), shown);
    });
  }
});

describe("notices of the moment", () => {
  const said = {
    v: 1,
    turn: "q1",
    conversation: "jp-c1",
    cycle: 1,
    class: "ephemeral",
    type: "notice",
  } as const;
  const slot = "reasoning_summary:1";
  const begin: Chunk = { ...said, seq: 1, class: "control", type: "turn_begin", turnIndex: 1 };
  const told = (...chunks: Chunk[]) => {
    const messages = [OPEN, QUERY, { type: "chunks", token: "q1", chunks: [begin, ...chunks] } as const];
    show(messages.reduce(takeMessage, EMPTY_MODEL));
    return [...root.querySelectorAll(".turns .notice")].map((notice) => notice.textContent);
  };
  const summary: Chunk = {
    ...said,
    seq: 2,
    slot,
    level: "info",
    code: "reasoning_summary",
    text: "It plans.",
  };

  test("one is shown below its turn", () => {
    assert.deepEqual(told(summary), ["It plans."]);
  });
  test("it goes when it is cleared", () => {
    assert.deepEqual(told(summary, { ...said, seq: 3, slot, clear: true }), []);
  });
});

describe("what stands where", () => {
  const begin = { v: 1, turn: "q1", conversation: "jp-c1", cycle: 1 } as const;
  const chunks: Chunk[] = [
    { ...begin, seq: 1, class: "control", type: "turn_begin", turnIndex: 4, reasoningBackground: "#102030" },
    { ...begin, seq: 2, class: "durable", type: "role", role: "user", label: "User", md: "## User\n\n" },
    {
      ...{ ...begin, seq: 3, class: "durable", type: "text", md: "Look for a needle" },
      ...{ region: "message", block: "paragraph", part: "whole", indent: 0 },
    },
    {
      ...{ ...begin, seq: 4, class: "durable", type: "notice", md: "\n\nIt failed." },
      ...{ level: "error", code: "provider_auth", text: "It failed." },
    },
  ];

  beforeEach(() => {
    show([OPEN, QUERY, { type: "chunks", token: "q1", chunks } as const].reduce(takeMessage, EMPTY_MODEL));
  });

  test("a failure is not in the user's card", () => {
    assert.equal(root.querySelector(".speech.user .notice"), null);
    assert.equal(root.querySelector(".speech .notice")?.textContent, "It failed.");
  });

  test("a turn that is over has buttons that say what to do with it", () => {
    const result: QueryResult = {
      ...{ conversation: "jp-c1", outcome: "completed", turns: [], text: "" },
      ...{ notices: [], persisted: true, lastSeq: 4 },
    };
    const buttons = () => [...root.querySelectorAll<HTMLButtonElement>(".speech.user .turn-buttons button")];
    assert.equal(buttons().length, 0, "it runs");
    show(
      [
        OPEN,
        QUERY,
        { type: "chunks", token: "q1", chunks } as const,
        { type: "result", token: "q1", result } as const,
      ].reduce(takeMessage, EMPTY_MODEL),
    );
    posted.length = 0;
    buttons().forEach((button) => {
      button.click();
    });
    assert.deepEqual(
      posted,
      (["replay", "rephrase", "edit", "fork", "remove"] as const).map((action) => ({
        type: "turn",
        turn: 4,
        action,
      })),
    );
  });

  test("the colour behind reasoning is known to the turn", () => {
    const style = root.querySelector("article")?.getAttribute("style") ?? "";
    assert.match(style, /--reasoning-background: ?#102030/);
    assert.match(style, /--reasoning-text: ?#e8e8e8/);
  });

  test("a place is found by what was said, else the turn is", () => {
    const place = { type: "reveal", turn: 4, scope: "user", text: "needle" } as const;
    assert.equal(findPlace(root, place)?.textContent.trim(), "Look for a needle");
    assert.equal(findPlace(root, { ...place, text: "hay" })?.tagName, "ARTICLE");
    assert.equal(findPlace(root, { ...place, turn: 5 }), null);
  });
});
