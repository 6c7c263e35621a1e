import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ConversationSummary, SearchHit } from "../../src/protocol.gen";
import {
  contextOf,
  countProblem,
  forkParams,
  hitWords,
  labelChanges,
  marksOf,
  pinnedFirst,
} from "../../src/state/conversationWords";

const PLAIN: ConversationSummary = {
  conversation: "jp-c1",
  createdAt: "2026-10-05T21:09:27.800Z",
  lastActivatedAt: "2026-10-05T21:11:02.500Z",
  labels: [],
  archived: false,
  local: false,
  active: false,
  busy: false,
};

const AREA = { key: "area", value: "storage" };
const WIP = { key: "wip", value: "" };

describe("a conversation in words", () => {
  test("a plain one has nothing special", () => {
    assert.deepEqual(marksOf(PLAIN), []);
    assert.equal(contextOf(PLAIN), "conversation unpinned shared");
  });

  test("all that is special is named", () => {
    const special = {
      ...PLAIN,
      active: true,
      local: true,
      pinnedAt: "2026-10-05T12:00:00Z",
      expiresAt: "2026-12-24T00:00:00Z",
      labels: [AREA, WIP],
    };
    const marks = [
      "in use",
      "pinned",
      "only yours",
      "may be removed after 2026-12-24",
      "area=storage",
      "wip",
    ];
    assert.deepEqual(marksOf(special), marks);
    assert.equal(contextOf({ ...special, archived: true }), "archived pinned local");
  });

  test("the pinned ones come first, and the order is kept", () => {
    const [first, second, third] = ["a", "b", "c"].map((conversation) => ({ ...PLAIN, conversation }));
    assert.ok(first && second && third);
    const pinned = { ...third, pinnedAt: "2026-10-05T12:00:00Z" };
    assert.deepEqual(pinnedFirst([first, second, pinned]), [pinned, first, second]);
  });
});

describe("labels that were typed", () => {
  const cases: readonly [typed: string, changes: ReturnType<typeof labelChanges>][] = [
    ["area=storage wip", { add: [], remove: [] }],
    ["", { add: [], remove: ["area", "wip"] }],
    [
      " area=tests   new ",
      {
        add: [
          { ...AREA, value: "tests" },
          { key: "new", value: "" },
        ],
        remove: ["wip"],
      },
    ],
    ["wip area=a=b", { add: [{ key: "area", value: "a=b" }], remove: [] }],
  ];
  for (const [typed, changes] of cases) {
    test(JSON.stringify(typed), () => {
      assert.deepEqual(labelChanges([AREA, WIP], typed), changes);
    });
  }
});

test("copies have the turns that were chosen", () => {
  assert.deepEqual(forkParams("jp-c1", "all"), { conversation: "jp-c1" });
  assert.deepEqual(forkParams("jp-c1", { upTo: 2 }), { conversation: "jp-c1", firstTurns: 2 });
  assert.deepEqual(forkParams("jp-c1", { last: 3 }), { conversation: "jp-c1", lastTurns: 3 });
  assert.deepEqual(["3", " 12 "].map(countProblem), [undefined, undefined]);
  assert.ok(["", "0", "-1", "1.5", "many"].every((text) => countProblem(text) !== undefined));
});

test("a hit says where it is", () => {
  const hit: SearchHit = {
    ...{ conversation: "jp-c1", title: "Locks", scope: "tool_result", turn: 2, event: 5 },
    ...{ before: "  x = ", match: "lock", after: "()\t# taken", count: 3 },
  };
  assert.deepEqual(hitWords(hit), { line: "x = lock() # taken", where: "turn 2, result, 3 times, Locks" });
  const title: SearchHit = { conversation: "c", scope: "title", before: "", match: "a", after: "", count: 1 };
  assert.deepEqual(hitWords(title), { line: "a", where: "title, Untitled" });
});
