import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelListResult } from "../../src/protocol.gen";
import { modelWords } from "../../src/state/modelWords";

const TOLD: ModelListResult = {
  models: [
    {
      ...{ id: "acme/tiny", vendor: "acme", name: "tiny", displayName: "Tiny", contextWindow: 4096 },
      ...{ aliases: ["t"], effective: true },
    },
  ],
  aliases: [{ name: "t", model: "acme/tiny" }],
  effective: "acme/tiny",
  notices: [],
};

test("a model that its vendor tells of is listed once, with its aliases", () => {
  assert.deepEqual(modelWords(TOLD), [
    {
      ...{ label: "acme/tiny", description: "Tiny, t", id: "acme/tiny" },
      detail: "the model of this conversation now; reads up to 4,096 tokens",
    },
  ]);
});

test("where no vendor tells, there is what the configuration names", () => {
  assert.deepEqual(modelWords({ ...TOLD, models: [], aliases: [{ name: "big", model: "acme/large" }] }), [
    { label: "acme/tiny", description: "", detail: "the model of this conversation now", id: "acme/tiny" },
    { label: "big", description: "acme/large", detail: "an alias of yours", id: "acme/large" },
  ]);
});
