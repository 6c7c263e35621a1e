import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigSetResult } from "../../src/protocol.gen";
import { isOwnFile } from "../../src/state/ownFiles";
import { changeText, dottedValues, explanationText, keyOfHover, valueOf } from "../../src/state/settingWords";

const FILE = { layer: "workspace", name: ".jp/config.toml", uri: "file:///w/.jp/config.toml", line: 4 };
const MINE = { layer: "user_global", name: "/home/me/config.toml" };

test("an explanation names the places", () => {
  const text = explanationText({
    order: ["user_global", "workspace"],
    settings: [
      {
        key: "assistant.name",
        value: "Ada",
        place: FILE,
        contributions: [
          { place: MINE, state: "shadowed", value: "JP", reason: "lower" },
          { place: FILE, state: "wins", value: "Ada" },
        ],
        items: [],
        notes: ["A note."],
      },
    ],
    problems: [
      { severity: "hint", text: "not shown" },
      { severity: "error", text: "shown" },
    ],
  });
  assert.equal(
    text,
    [
      "# Where settings come from\n",
      "Lowest first: user_global, workspace.\n",
      "## `assistant.name`\n",
      '`"Ada"`, from .jp/config.toml:4\n',
      '- /home/me/config.toml, shadowed: `"JP"` (lower)',
      '- .jp/config.toml:4, **wins**: `"Ada"`',
      "- A note.\n",
      "- error: shown\n",
    ].join("\n"),
  );
});

test("the key of a hover is found, and of no other hover", () => {
  assert.equal(keyOfHover("**`assistant.name`**\n\nThe name."), "assistant.name");
  assert.equal(keyOfHover("A word about **`something`**"), undefined);
});

test("values have dotted keys", () => {
  const value = { a: { b: 1, c: [1, { d: 2 }] }, e: null };
  assert.deepEqual(dottedValues(value), [
    ["a.b", 1],
    ["a.c", [1, { d: 2 }]],
    ["e", null],
  ]);
  assert.deepEqual(dottedValues(3), []);
});

test("what was typed is JSON where it is some", () => {
  assert.deepEqual(["true", "[1]", '"x"', "a/b", "1d"].map(valueOf), [true, [1], "x", "a/b", "1d"]);
});

test("what has come of a change is told", () => {
  const result: ConfigSetResult = {
    ...{ name: ".jp/config.toml", uri: FILE.uri, written: "file", questions: [], problems: [] },
    settings: [
      { key: "a.b", value: 1, place: FILE, state: "wins" },
      { key: "a.c", value: 2, place: MINE, state: "shadowed" },
      { key: "a.d", place: FILE, state: "not set" },
    ],
  };
  assert.equal(
    changeText(result),
    "a.b is 1 now. a.c still is 2, because of /home/me/config.toml. a.d is not set now. Written to .jp/config.toml.",
  );
  assert.match(changeText({ ...result, settings: [], written: "document" }), /save it\.$/);
});

test("the files that the server helps to write", () => {
  const ours = ["/w/ask.jp.md", "/w/.jp/config.toml", "/w/.jp/config/a.yml", "/w/.jp/b.json5"];
  const others = ["/w/.jp/conversations/1/events.json", "/w/.jp/notes.md", "/w/config.toml", "/w/README.md"];
  assert.deepEqual([...ours, ...others].filter(isOwnFile), ours);
});
