/**
 * The walkthrough's ticks. A step is ticked by a context key that becomes true.
 *
 * The editor never ticks a step whose key was true before it read the walkthrough, which it does when it first shows
 * one. So what is done is kept here, and becomes a key only when the page has been open for a moment.
 */

import { commands, Disposable, window } from "vscode";

/** What a step waits for; the keys are those of `package.json`, with `jp.` in front. */
export type Step = "hasServer" | "hasAsked" | "hasAnswered";

/** Milliseconds that the editor has to read the walkthrough, once its page is there. */
const READING_TIME = 1000;

export class Walkthrough implements Disposable {
  private readonly done = new Set<Step>();
  private isRead = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly listening: Disposable;

  constructor() {
    this.listening = window.tabGroups.onDidChangeTabs(({ opened, changed }) => {
      if ([...opened, ...changed].some(({ input }) => input === undefined)) {
        this.onPage(); // the pages of the editor itself are of no kind that extensions know
      }
    });
  }

  /** A step is done. */
  tick(step: Step): void {
    if (!this.done.has(step)) {
      this.done.add(step);
      if (this.isRead) {
        publish(step);
      }
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listening.dispose();
  }

  private onPage(): void {
    this.timer ??= setTimeout(() => {
      this.isRead = true;
      this.done.forEach(publish);
    }, READING_TIME);
  }
}

function publish(step: Step): void {
  void commands.executeCommand("setContext", `jp.${step}`, true);
}
