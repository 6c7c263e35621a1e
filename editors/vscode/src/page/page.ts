/** What the parts of the view can do; the same object for as long as the page lives. */

import type { PromptParams } from "../protocol.gen";
import type { FromPage } from "../ui/messages";

export interface Page {
  post(message: FromPage): void;
  /** Answers a question; with neither an action nor a text it is dismissed. */
  answer(prompt: PromptParams, answer: { readonly action?: string; readonly text?: string }): void;
  /** Interrupts what runs: the first press opens a menu, a second one ends the turn. */
  press(): void;
  ask(text: string): void;
  dismissNotice(number: number): void;
  /** Puts the focus on the question that waits. */
  focusQuestion(): void;
  focusInput(): void;
  /** Puts a text into the input, to be completed. */
  suggest(text: string): void;
}
