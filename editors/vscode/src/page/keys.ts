/** The page's keys. */

const isMac = typeof navigator !== "undefined" && navigator.userAgent.includes("Mac");

/** The key that leads to the question that waits. */
export const QUESTION_KEY_NAME = isMac ? "⌘." : "Ctrl+.";

/** Whether a key leads to the question that waits. */
export function isQuestionKey(event: KeyboardEvent): boolean {
  return event.key === "." && (isMac ? event.metaKey : event.ctrlKey);
}

/** Whether a key writes a letter and the focus is where no letter can be written. */
export function writesNowhere(event: KeyboardEvent): boolean {
  const isLetter = event.key.length === 1 && event.key !== " ";
  const target = event.target as HTMLElement | null;
  const canWrite = target?.tagName === "TEXTAREA" || target?.tagName === "INPUT";
  return isLetter && !canWrite && !event.ctrlKey && !event.metaKey && !event.altKey;
}
