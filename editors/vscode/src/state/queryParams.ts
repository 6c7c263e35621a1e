/** A query as it is sent, from what stands in a chat's input. */

import type { Content, QueryParams } from "../protocol.gen";
import type { Attached, Chat } from "./chat";

/** Builds the parameters for a question in a chat. */
export function queryParams(chat: Chat, text: string): QueryParams {
  const content = chat.chips.flatMap(selectionContent);
  const attachments = chat.chips.filter((chip) => chip.text === undefined).map((chip) => chip.uri);
  return {
    text,
    conversation: chat.conversation ?? "new",
    ...(content.length > 0 && { content }),
    ...(attachments.length > 0 && { attachments }),
    ...(chat.newSettings.length > 0 && { config: chat.newSettings }),
    ...(chat.running.length > 0 && { queue: true }),
  };
}

/** A selection goes with the query as text, because the file may look different tomorrow. */
function selectionContent({ label, text, language }: Attached): readonly Content[] {
  if (text === undefined) {
    return [];
  }
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const body = text.endsWith("\n") ? text : `${text}\n`;
  return [{ type: "text", text: `${label}:\n\n${fence}${language ?? ""}\n${body}${fence}` }];
}
