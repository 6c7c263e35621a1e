/** The entry: plugs the parts together and starts nothing. */

import type { ExtensionContext } from "vscode";
import { attachCommands } from "./commands/attach";
import { chatCommands } from "./commands/chat";
import { conversationCommands } from "./commands/conversations";
import { keepingCommands } from "./commands/keeping";
import { receive } from "./commands/page";
import { pickCommands } from "./commands/picks";
import { queryDocumentCommands } from "./commands/queryDocuments";
import { searchCommands } from "./commands/search";
import { serverCommands } from "./commands/server";
import { settingCommands } from "./commands/settings";
import { textCommands } from "./commands/texts";
import { JpWindow } from "./ui/window";

let jp: JpWindow | undefined;

export function activate(context: ExtensionContext): void {
  const begin = performance.now();
  const window = new JpWindow(context, (message) => {
    receive(window, message).catch((error: unknown) => {
      window.logs.extension.error(`${message.type}: ${String(error)}`);
    });
  });
  jp = window;
  context.subscriptions.push(
    window,
    ...chatCommands(window),
    ...attachCommands(window),
    ...pickCommands(window),
    ...conversationCommands(window),
    ...keepingCommands(window),
    ...searchCommands(window),
    ...settingCommands(window),
    ...queryDocumentCommands(window),
    ...serverCommands(window),
    ...textCommands(window),
  );
  window.logs.extension.info(`activated in ${(performance.now() - begin).toFixed(1)} ms`);
}

/** Lets the server store what runs; the editor waits for it a few seconds. */
export async function deactivate(): Promise<void> {
  await jp?.stop();
}
