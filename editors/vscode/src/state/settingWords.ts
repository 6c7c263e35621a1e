/** Settings in words: where their values come from, and which of them there are. */

import type {
  ConfigContribution,
  ConfigExplainResult,
  ConfigExplanation,
  ConfigPlace,
  ConfigSetResult,
} from "../protocol.gen";

/** An explanation as Markdown. */
export function explanationText({ order, settings, problems }: ConfigExplainResult): string {
  const parts = [
    "# Where settings come from",
    `Lowest first: ${order.join(", ")}.`,
    ...settings.map(settingText),
    problems
      .filter(({ severity }) => severity !== "hint")
      .map(({ severity, text }) => `- ${severity}: ${text}`)
      .join("\n"),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** The key that a hover of the server describes; undefined for one of somebody else. */
export function keyOfHover(text: string): string | undefined {
  return /^\*\*`+ ?([^`]+?) ?`+\*\*/.exec(text)?.[1];
}

/** All values of a configuration by their dotted keys; a list is a value. */
export function dottedValues(value: unknown, key = ""): readonly (readonly [key: string, value: unknown])[] {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([name, inner]) =>
      dottedValues(inner, key === "" ? name : `${key}.${name}`),
    );
  }
  return key === "" ? [] : [[key, value]];
}

/** What the user typed as a value: JSON where it is some, else text. */
export function valueOf(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

/** What has come of a change. */
export function changeText({ name, written, settings, unread }: ConfigSetResult): string {
  const lines = settings.map(({ key, value, state, place }) => {
    const now = value === undefined ? "is not set" : `is ${JSON.stringify(value)}`;
    return state === "shadowed" ? `${key} still ${now}, because of ${place.name}.` : `${key} ${now} now.`;
  });
  const where = {
    file: `Written to ${name}.`,
    document: `Changed in the editor of ${name}; save it.`,
    nothing: `${name} said so already.`,
  };
  return [...lines, where[written], unread ?? ""].filter((line) => line !== "").join(" ");
}

function settingText({ key, value, place, contributions, notes }: ConfigExplanation): string {
  const now = value === undefined ? [] : [`${json(value)}, from ${placeText(place)}`];
  const lines = [...contributions.map(contributionText), ...notes.map((note) => `- ${note}`)].join("\n");
  return [`## \`${key}\``, ...now, ...(lines === "" ? [] : [lines])].join("\n\n");
}

function contributionText({ place, state, value, reason }: ConfigContribution): string {
  const what = value === undefined ? "" : `: ${json(value)}`;
  const why = reason === undefined ? "" : ` (${reason})`;
  const line = `- ${placeText(place)}, ${state}${what}${why}`;
  return state === "wins" ? line.replace("wins", "**wins**") : line;
}

function placeText({ name, line }: ConfigPlace): string {
  return line === undefined ? name : `${name}:${line}`;
}

function json(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}
