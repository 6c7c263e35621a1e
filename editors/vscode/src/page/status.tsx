/** The line above the input: where the running turn stands, and whether it waits for somebody. */

import type { PromptParams } from "../protocol.gen";
import type { Query } from "./model";
import type { Page } from "./page";
import { QUESTION_KEY_NAME } from "./keys";
import { Ticking } from "./ticking";
import { phaseText } from "./words";

interface StatusProps {
  readonly query: Query | undefined;
  readonly prompts: readonly PromptParams[];
  readonly page: Page;
}

export function Status({ query, prompts, page }: StatusProps) {
  if (query === undefined) {
    return null;
  }
  if (prompts.length > 0) {
    return (
      <div class="status waiting">
        <span>
          {prompts.length === 1 ? "Waiting for your answer" : `${prompts.length} questions wait for you`}
        </span>
        <button type="button" class="link" onClick={() => page.focusQuestion()}>
          Show <kbd>{QUESTION_KEY_NAME}</kbd>
        </button>
      </div>
    );
  }
  const { retry, status, reasoning } = query.chat.slots;
  return (
    <div class="status">
      <span class="spinner" />
      {retry?.type === "retry" ? (
        <span key="retry">
          {retry.cause}. Trying again in <Ticking from={retry.delayMs ?? 0} direction={-1} /> ({retry.attempt}{" "}
          of {retry.max})
        </span>
      ) : reasoning?.type === "reasoning_indicator" ? (
        <span key="reasoning">
          Thinking {reasoning.elapsedMs !== undefined && <Ticking from={reasoning.elapsedMs} direction={1} />}
        </span>
      ) : status?.type === "status" ? (
        <span key="status">
          {phaseText(status.phase, status.detail)} <Ticking from={status.elapsedMs ?? 0} direction={1} />
        </span>
      ) : (
        <span key="working">{query.chat.turns.length === 0 ? "Sending" : "Answering"}</span>
      )}
    </div>
  );
}
