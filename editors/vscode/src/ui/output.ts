/** Where to read what happened: a log of the extension, one of the server, and the messages between them. */

import { window, type LogOutputChannel } from "vscode";

export interface Logs {
  readonly extension: LogOutputChannel;
  readonly server: LogOutputChannel;
  /** Filled when `jp.trace.server` is on. */
  readonly trace: LogOutputChannel;
}

export function createLogs(): Logs {
  const create = (name: string) => window.createOutputChannel(name, { log: true });
  return { extension: create("JP"), server: create("JP Server"), trace: create("JP Trace") };
}
