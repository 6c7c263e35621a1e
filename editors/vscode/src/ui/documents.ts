/**
 * Documents that are no files: arguments and results to read, proposed edits for the diff editor, and texts that
 * the user edits before they are sent.
 *
 * Real documents give searching, folding, copying and screen readers for nothing.
 */

import {
  CodeLens,
  commands,
  Disposable,
  EventEmitter,
  FileChangeType,
  FileSystemError,
  FileType,
  languages,
  Range,
  TabInputText,
  Uri,
  window,
  workspace,
  type CodeLensProvider,
  type FileChangeEvent,
  type FileStat,
  type FileSystemProvider,
  type TextDocument,
  type TextDocumentContentProvider,
} from "vscode";

/** The scheme of texts to read. */
const READ = "jp";
/** The scheme of texts to edit and send. */
export const EDIT = "jp-edit";

/** Texts to read; each has its own address, and stays what it was. */
export class ReadDocuments implements TextDocumentContentProvider, Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changes = new EventEmitter<Uri>();
  readonly onDidChange = this.changes.event;
  private readonly listening: Disposable;
  private opening: Promise<unknown> = Promise.resolve();

  constructor() {
    this.listening = Disposable.from(
      workspace.registerTextDocumentContentProvider(READ, this),
      workspace.onDidCloseTextDocument(({ uri }) => this.texts.delete(uri.toString())),
    );
  }

  provideTextDocumentContent(uri: Uri): string {
    return (
      this.texts.get(uri.toString()) ?? "This text is not kept any more; open it again from the conversation."
    );
  }

  /** Shows a text beside the chat. Two at once would disturb each other in the editor, so they queue. */
  async show(path: readonly string[], text: string, language?: string): Promise<void> {
    const uri = this.keep(path, text);
    this.opening = this.opening.then(async () => {
      const document = await workspace.openTextDocument(uri);
      if (language !== undefined) {
        await languages.setTextDocumentLanguage(document, language);
      }
      await window.showTextDocument(document, { preview: true });
    });
    await this.opening;
  }

  /** Shows a Markdown text as it is meant to be read. */
  async preview(path: readonly string[], text: string): Promise<void> {
    const uri = this.keep(path, text);
    await commands.executeCommand("markdown.showPreview", uri);
  }

  /** Shows what a file would become. */
  async diff(file: Uri, path: readonly string[], proposed: string, title: string): Promise<void> {
    await commands.executeCommand("vscode.diff", file, this.keep(path, proposed), title, { preview: true });
  }

  dispose(): void {
    this.listening.dispose();
    this.changes.dispose();
  }

  private keep(path: readonly string[], text: string): Uri {
    const uri = Uri.from({
      scheme: READ,
      path: `/${path.map((part) => part.replaceAll("/", "_")).join("/")}`,
    });
    const isNew = this.texts.get(uri.toString()) !== text;
    this.texts.set(uri.toString(), text);
    if (isNew) {
      this.changes.fire(uri);
    }
    return uri;
  }
}

/** A text that waits to be sent. */
interface Edited {
  /** The question that it answers. */
  readonly id: string;
  bytes: Uint8Array;
  changedAt: number;
  readonly send: (text: string) => void;
}

/** Texts to edit: files in memory, so that saving one writes nothing anywhere. */
export class EditDocuments implements FileSystemProvider, CodeLensProvider, Disposable {
  private readonly files = new Map<string, Edited>();
  private readonly changes = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.changes.event;
  private readonly registration = Disposable.from(
    workspace.registerFileSystemProvider(EDIT, this, { isCaseSensitive: true }),
    languages.registerCodeLensProvider({ scheme: EDIT }, this),
  );
  private count = 0;

  /** Opens an editor for a text of the question `id`. `send` gets what is there when the user sends it. */
  async open(id: string, name: string, text: string, language: string, send: (text: string) => void) {
    let path = this.pathOf(id);
    if (path === undefined) {
      path = `/${++this.count}/${name.replaceAll("/", "_")}`;
      this.files.set(path, { id, bytes: new TextEncoder().encode(text), changedAt: Date.now(), send });
    }
    const document = await workspace.openTextDocument(Uri.from({ scheme: EDIT, path }));
    await languages.setTextDocumentLanguage(document, language);
    await window.showTextDocument(document, { preview: false });
  }

  /** Says above the text what is to be done with it. */
  provideCodeLenses(): CodeLens[] {
    return [new CodeLens(new Range(0, 0, 0, 0), { command: "jp.sendEdited", title: "$(send) Send to JP" })];
  }

  /** Sends the text of a document, and closes it. */
  async send(document: TextDocument): Promise<void> {
    const file = this.files.get(document.uri.path);
    if (file === undefined) {
      return;
    }
    const text = document.getText();
    await document.save();
    await this.close(document.uri);
    file.send(text);
  }

  /** Closes the editor of a question that is closed; a text that was changed stays, so that nothing is lost. */
  async withdraw(id: string): Promise<void> {
    const path = this.pathOf(id);
    const open = workspace.textDocuments.find(({ uri }) => uri.scheme === EDIT && uri.path === path);
    if (open !== undefined && !open.isDirty) {
      await this.close(open.uri);
    }
  }

  stat(uri: Uri): FileStat {
    const { bytes, changedAt } = this.file(uri);
    return { type: FileType.File, ctime: 0, mtime: changedAt, size: bytes.byteLength };
  }

  readFile(uri: Uri): Uint8Array {
    return this.file(uri).bytes;
  }

  writeFile(uri: Uri, bytes: Uint8Array): void {
    const file = this.file(uri);
    file.bytes = bytes;
    file.changedAt = Date.now();
    this.changes.fire([{ type: FileChangeType.Changed, uri }]);
  }

  watch(): Disposable {
    return new Disposable(() => undefined);
  }

  readDirectory(): [string, FileType][] {
    return [];
  }

  createDirectory(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }

  delete(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }

  rename(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.registration.dispose();
    this.changes.dispose();
  }

  private pathOf(id: string): string | undefined {
    return [...this.files].find(([, file]) => file.id === id)?.[0];
  }

  private file(uri: Uri): Edited {
    const file = this.files.get(uri.path);
    if (file === undefined) {
      throw FileSystemError.FileNotFound(uri);
    }
    return file;
  }

  private async close(uri: Uri): Promise<void> {
    const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
    const own = tabs.filter(
      ({ input }) => input instanceof TabInputText && input.uri.toString() === uri.toString(),
    );
    await window.tabGroups.close(own);
    this.files.delete(uri.path);
  }
}
