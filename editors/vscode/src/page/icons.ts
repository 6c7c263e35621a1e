/** The page's icons: strokes on a grid of 16, in the colour of the text beside them. */

const PATHS = {
  apply: "M3 13h10M5 10l1-3 5-5 2 2-5 5z",
  attach: "M11 5 6 10a1.5 1.5 0 0 0 2 2l5-5a3 3 0 0 0-4-4L4 8a4.5 4.5 0 0 0 6 6l3-3",
  check: "m3 8.5 3.5 3.5L13 4.5",
  chevron: "m6 4 4 4-4 4",
  close: "m4 4 8 8m0-8-8 8",
  copy: "M6 5.5h7v8H6zM10 5.5v-3H3v8h3",
  down: "M8 3v10m-4-4 4 4 4-4",
  edit: "M3 13l.8-3L11 2.8 13.2 5 6 12.2z",
  error: "M8 2.5a5.5 5.5 0 1 0 .01 0M8 5.2v3.3m0 2.2v.2",
  fork: "M5 3v3c0 3 6 1 6 4v3M5 6v7M3.5 3h3m-3 10h3m3 0h3",
  info: "M8 2.5a5.5 5.5 0 1 0 .01 0M8 7.5v3.3m0-5.6v.2",
  insert: "M3 3v10m3-5h7m-3-3 3 3-3 3",
  minus: "M4 8h8",
  model: "M8 2l1.5 4.5L14 8l-4.5 1.5L8 14l-1.5-4.5L2 8l4.5-1.5z",
  person: "M8 3a2.5 2.5 0 1 1-.01 0M3.5 13.5c.4-5 8.6-5 9 0",
  plus: "M8 3v10M3 8h10",
  question: "M8 2.5a5.5 5.5 0 1 0 .01 0M6.3 6.5c.2-2.2 3.5-2 3.4 0-.1 1.1-1.7 1.1-1.7 2.4m0 1.9v.2",
  replay: "M3 3v3.5h3.5M3.3 6.5A5 5 0 1 1 3 9",
  rephrase: "M2.5 3h11v8H8l-3 2.5V11H2.5zM5 5.7h6M5 8.3h3.5",
  send: "M8 13V3.5m-4 4 4-4 4 4",
  stop: "M3.5 3.5h9v9h-9z",
  tool: "M10.5 2.5a3.5 3.5 0 0 0-3.3 4.7L2.5 12 4 13.5l4.8-4.7a3.5 3.5 0 0 0 4.5-4.3L11.2 6.6 9.4 4.8z",
  trash: "M3 4.5h10m-6.5 0v-2h3v2M4.5 4.5l.5 9h6l.5-9M7 7v4m2-4v4",
  warning: "M8 2.5 14 13.5H2zM8 6.5v3m0 1.9v.2",
} as const;

export type IconName = keyof typeof PATHS;

/** The markup of an icon; it says nothing to a screen reader, so whatever it stands on needs a name. */
export function iconHtml(name: IconName): string {
  return `<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false"><path d="${PATHS[name]}"/></svg>`;
}
