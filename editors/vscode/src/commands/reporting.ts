/** Commands whose failures are told in sentences; the editor itself would show names that only programs know. */

import { commands, window, type Disposable } from "vscode";
import { describeFailure } from "../state/failure";

export function registerReporting(id: string, run: (given?: unknown) => Promise<void>): Disposable {
  return commands.registerCommand(id, async (given?: unknown) => {
    try {
      await run(given);
    } catch (error) {
      const { message, hint } = describeFailure(error);
      void window.showErrorMessage(hint === undefined ? message : `${message} ${hint}`);
    }
  });
}
