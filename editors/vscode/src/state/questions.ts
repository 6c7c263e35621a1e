/**
 * The questions of the server that wait for an answer, each in the conversation that it belongs to.
 *
 * A question is never answered by a toast that somebody may miss: it stays in its conversation until it is
 * answered or dismissed there, or the server takes it back.
 */

import type { PromptParams, PromptResult } from "../protocol.gen";
import type { Chat } from "./chat";

/** What happens to questions. */
export interface QuestionEvents {
  asked(chat: Chat, prompt: PromptParams): void;
  closed(chat: Chat, decisionId: string): void;
}

interface Waiting {
  readonly chat: Chat;
  readonly prompt: PromptParams;
  readonly settle: (answer: PromptResult | null) => void;
}

export class Questions {
  private readonly waiting = new Map<string, Waiting>();

  constructor(private readonly events: QuestionEvents) {}

  /** How many wait. */
  get count(): number {
    return this.waiting.size;
  }

  /** The conversation of the question that has waited longest. */
  get firstChat(): Chat | undefined {
    return [...this.waiting.values()].at(0)?.chat;
  }

  find(decisionId: string): PromptParams | undefined {
    return this.waiting.get(decisionId)?.prompt;
  }

  /** Puts a question; null is a dismissal, which never counts as consent. */
  ask(chat: Chat, prompt: PromptParams): Promise<PromptResult | null> {
    this.answer(prompt.decisionId, null);
    return new Promise((settle) => {
      this.waiting.set(prompt.decisionId, { chat, prompt, settle });
      this.events.asked(chat, prompt);
    });
  }

  /** Answers a question; one that is closed already is left alone. */
  answer(decisionId: string, answer: PromptResult | null): void {
    const waiting = this.waiting.get(decisionId);
    if (waiting === undefined) {
      return;
    }
    this.waiting.delete(decisionId);
    this.events.closed(waiting.chat, decisionId);
    waiting.settle(answer);
  }

  /** Dismisses all of them, because nobody is there any more to hear the answers. */
  dismissAll(): void {
    for (const decisionId of [...this.waiting.keys()]) {
      this.answer(decisionId, null);
    }
  }
}
