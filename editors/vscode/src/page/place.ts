/** Going to a place of the transcript: unfolding what hides it, and marking it. */

import type { ToPageReveal } from "../ui/messages";

/** Where what was said in a certain way is shown. */
const SHOWN_IN: Readonly<Partial<Record<ToPageReveal["scope"], string>>> = {
  user: ".speech.user .block",
  assistant: ".speech.assistant > .prose .block",
  reasoning: ".reasoning .block",
  structured: ".speech.assistant > .prose .block",
  tool_call: ".tool",
  tool_result: ".tool",
};

/**
 * Finds the element that shows a place: the piece with the text, else the turn.
 *
 * @param root the page.
 */
export function findPlace(root: ParentNode, { turn, scope, text }: ToPageReveal): HTMLElement | null {
  const article = root.querySelector<HTMLElement>(`article[data-turn="${turn}"]`);
  const has = (element: HTMLElement) => element.textContent.includes(text);
  const inScope = [...(article?.querySelectorAll<HTMLElement>(SHOWN_IN[scope] ?? ".block") ?? [])];
  const anywhere = [...(article?.querySelectorAll<HTMLElement>(".block, .tool") ?? [])];
  const folded = scope.startsWith("tool") ? inScope[0] : undefined; // what is folded is not written yet
  return inScope.find(has) ?? anywhere.find(has) ?? folded ?? article;
}

/** Shows an element in the middle, unfolded and marked; the mark of another goes. */
export function showPlace(root: ParentNode, element: HTMLElement): void {
  root.querySelectorAll(".found").forEach((other) => {
    other.classList.remove("found");
  });
  for (let at: Element | null = element; at !== null; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) {
      at.open = true;
    }
  }
  element.querySelectorAll("details").forEach((each) => {
    each.open = true;
  });
  element.classList.add("found");
  element.scrollIntoView({ block: "center" });
}
