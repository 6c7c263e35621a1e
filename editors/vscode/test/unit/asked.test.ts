import assert from "node:assert/strict";
import { test } from "node:test";
import { askedIn } from "../../src/state/asked";

test("what the user said first in a turn", () => {
  const exported = {
    id: "1",
    events: [
      { type: "turn_start" },
      { type: "chat_request", content: "Why?\n\nSay it." },
      { type: "chat_response", message: "So." },
      { type: "chat_request", content: "And?" },
    ],
  };
  assert.equal(askedIn(JSON.stringify(exported)), "Why?\n\nSay it.");
  assert.equal(askedIn(JSON.stringify({ events: [{ type: "turn_start" }] })), undefined);
});
