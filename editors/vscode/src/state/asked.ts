/** What the user said in a turn, as it is stored; what is shown of it is laid out for reading. */

/** @param exported one turn, as `jp/conversation/export` writes it as JSON. */
export function askedIn(exported: string): string | undefined {
  const { events } = JSON.parse(exported) as { readonly events: readonly StoredEvent[] };
  return events.find(({ type }) => type === "chat_request")?.content;
}

interface StoredEvent {
  readonly type: string;
  readonly content?: string;
}
