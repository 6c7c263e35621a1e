import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Chunk } from "../../src/protocol.gen";
import { asJson, EMPTY_CHAT, takeChunk, takeChunks } from "../../src/state/chatState";

interface Golden {
  readonly chunks: readonly Chunk[];
  readonly state: unknown;
}

const FOLDER = join(process.cwd(), "../../tests/golden/wire");
const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));

function golden(name: string): Golden {
  return JSON.parse(readFileSync(join(FOLDER, name), "utf-8")) as Golden;
}

describe("the golden transcripts", () => {
  test("there are some", () => {
    assert.ok(NAMES.length > 10);
  });

  for (const name of NAMES) {
    test(name, () => {
      const { chunks, state } = golden(name);
      assert.deepEqual(asJson(takeChunks(EMPTY_CHAT, chunks)), state);
    });

    test(`${name}: a chunk that comes twice changes nothing`, () => {
      const { chunks, state } = golden(name);
      const doubled = chunks.flatMap((chunk) => [chunk, chunk]);
      assert.deepEqual(asJson(takeChunks(EMPTY_CHAT, doubled)), state);
    });

    test(`${name}: no earlier state is changed`, () => {
      let state = EMPTY_CHAT;
      const states = golden(name).chunks.map((chunk) => {
        state = takeChunk(state, chunk);
        return { state, copy: structuredClone(state) };
      });
      for (const { state: kept, copy } of states) {
        assert.deepEqual(kept, copy);
      }
    });
  }
});

test("a gap is noticed, and the fold goes on", () => {
  const { chunks } = golden("plain.json");
  const without = chunks.filter((chunk) => chunk.seq !== 2);
  const state = takeChunks(EMPTY_CHAT, without);
  assert.equal(state.missed, true);
  assert.equal(state.lastSeq, chunks.at(-1)?.seq);
});
