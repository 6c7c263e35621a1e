import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { describeFailure } from "../../src/state/failure";

function failure(message: string, data: object): Error {
  return Object.assign(new Error(message), { code: -32803, data: { code: "config_invalid", ...data } });
}

test("what was typed wrongly is told without the words of the wire", () => {
  const message = "Invalid params for jp/conversation/expiry: `expires` must be a duration";
  assert.deepEqual(describeFailure(failure(message, { code: "invalid_params" })), {
    message: "`expires` must be a duration",
  });
});

describe("where a failure comes from", () => {
  test("is told behind what went wrong", () => {
    assert.deepEqual(describeFailure(failure("no such key", { origin: "config.toml:3" })), {
      message: "no such key",
      hint: "See config.toml:3.",
    });
  });

  test("leads to where a model is chosen, if it is that", () => {
    const message = "no model is set: set `assistant.model.id`";
    assert.deepEqual(describeFailure(failure(message, { origin: "assistant.model.id" })), {
      message,
      action: { id: "model", title: "Choose a Model" },
    });
  });

  test("is not told twice", () => {
    const message = "ask.jp.md:5:26: there is no such file";
    assert.deepEqual(describeFailure(failure(message, { origin: "ask.jp.md:5:26" })), { message });
  });
});
