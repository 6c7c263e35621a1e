/** Query documents, `*.jp.md`: files in which a query is written; a lens of the server's above them sends it. */

import { commands, Uri, window, workspace, type Disposable } from "vscode";
import { isOwnFile, QUERY_ENDING } from "../state/ownFiles";
import type { JpWindow } from "../ui/window";

export function queryDocumentCommands(jp: JpWindow): Disposable[] {
  const open = ({ uri }: { readonly uri: Uri }) => {
    if (isOwnFile(uri.path)) {
      void jp.server.connectToShow().catch(() => undefined); // the status says what is wrong
    }
  };
  workspace.textDocuments.forEach(open);
  return [
    workspace.onDidOpenTextDocument(open),
    commands.registerCommand("jp.newQueryDocument", newDocument),
    commands.registerCommand("jp.sendQueryDocument", async () => {
      const uri = window.activeTextEditor?.document.uri;
      if (uri?.path.endsWith(QUERY_ENDING) !== true) {
        void window.showInformationMessage(`Open a query document first: a file named *${QUERY_ENDING}.`);
        return;
      }
      await jp.query({ document: { uri: uri.toString() } });
    }),
  ];
}

/** Opens a document that becomes a file when it is saved, beside the others of the workspace. */
async function newDocument(): Promise<void> {
  const folder = workspace.workspaceFolders?.[0];
  if (folder === undefined) {
    void window.showInformationMessage("JP works in a folder: open one first.");
    return;
  }
  const uri = await freeName(folder.uri);
  const document = await workspace.openTextDocument(uri.with({ scheme: "untitled" }));
  await window.showTextDocument(document, { preview: false });
}

async function freeName(folder: Uri): Promise<Uri> {
  const open = new Set(workspace.textDocuments.map(({ uri }) => uri.path));
  for (let count = 1; ; count += 1) {
    const uri = Uri.joinPath(folder, `${count === 1 ? "query" : `query-${count}`}${QUERY_ENDING}`);
    if (!open.has(uri.path) && !(await exists(uri))) {
      return uri;
    }
  }
}

async function exists(uri: Uri): Promise<boolean> {
  try {
    await workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}
