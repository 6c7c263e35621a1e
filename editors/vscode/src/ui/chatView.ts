/**
 * The chat view: a page in its own container that shows one conversation.
 *
 * The page may come and go; each new one says `ready`, and gets everything that it has to show.
 */

import { randomBytes } from "node:crypto";
import {
  commands,
  Uri,
  type Disposable,
  type ViewBadge,
  type Webview,
  type WebviewView,
  type WebviewViewProvider,
} from "vscode";
import type { FromPage, ToPage, ToPageReveal } from "./messages";

export const CHAT_VIEW = "jp.chat";

export class ChatView implements WebviewViewProvider {
  private view: WebviewView | undefined;
  private isReady = false;
  private wantsFocus = false;
  private wantedPlace: ToPageReveal | undefined;
  private badge: ViewBadge | undefined;

  /**
   * @param folder the folder of the extension.
   * @param receive takes what the page says.
   */
  constructor(
    private readonly folder: Uri,
    private readonly receive: (message: FromPage) => void,
  ) {}

  get isVisible(): boolean {
    return this.view?.visible ?? false;
  }

  resolveWebviewView(view: WebviewView): void {
    this.view = view;
    this.isReady = false;
    const roots = [Uri.joinPath(this.folder, "dist"), Uri.joinPath(this.folder, "media")];
    view.webview.options = { enableScripts: true, localResourceRoots: roots };
    view.badge = this.badge;
    const listening: Disposable[] = [
      view.webview.onDidReceiveMessage((message: FromPage) => {
        this.onMessage(message);
      }),
      view.onDidDispose(() => {
        listening.forEach((each) => {
          each.dispose();
        });
        this.view = this.view === view ? undefined : this.view;
      }),
    ];
    view.webview.html = this.html(view.webview);
  }

  /** Tells the page, if there is one; a page that comes later is told everything anyway. */
  post(message: ToPage): void {
    if (this.isReady) {
      void this.view?.webview.postMessage(message);
    }
  }

  /** Shows the view and puts the cursor into its input. */
  async focus(): Promise<void> {
    this.wantsFocus = true;
    await commands.executeCommand(`${CHAT_VIEW}.focus`);
    this.giveFocus();
  }

  /** Shows a place of the conversation that is shown. */
  reveal(place: ToPageReveal): void {
    this.wantedPlace = place;
    this.giveReveal();
  }

  /** Shows at the view's icon how many questions wait. */
  setBadge(count: number): void {
    const tooltip = count === 1 ? "1 question waits" : `${count} questions wait`;
    this.badge = count > 0 ? { value: count, tooltip } : undefined;
    if (this.view !== undefined) {
      this.view.badge = this.badge;
    }
  }

  private onMessage(message: FromPage): void {
    if (message.type === "ready") {
      this.isReady = true;
    }
    this.receive(message);
    this.giveFocus();
    this.giveReveal();
  }

  private giveReveal(): void {
    if (this.wantedPlace !== undefined && this.isReady) {
      this.post(this.wantedPlace);
      this.wantedPlace = undefined;
    }
  }

  private giveFocus(): void {
    if (this.wantsFocus && this.isReady) {
      this.wantsFocus = false;
      this.post({ type: "focus" });
    }
  }

  private html(webview: Webview): string {
    const nonce = randomBytes(16).toString("base64");
    const style = webview.asWebviewUri(Uri.joinPath(this.folder, "media", "chat.css")).toString();
    const script = webview.asWebviewUri(Uri.joinPath(this.folder, "dist", "page.js")).toString();
    const policy = [
      "default-src 'none'",
      `img-src ${webview.cspSource} data:`,
      `font-src ${webview.cspSource}`,
      `style-src ${webview.cspSource}`,
      `script-src 'nonce-${nonce}'`,
    ].join("; ");
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>JP Chat</title>
</head>
<body>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
  }
}
