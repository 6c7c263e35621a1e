/** A list to choose from that also takes what is not in it. */

import { window, type QuickPickItem } from "vscode";

export interface Picking<C extends QuickPickItem> {
  readonly title: string;
  readonly hint: string;
  readonly find: () => Promise<Found<C>>;
  /** What a text that is not in the list means; undefined when it only looks for something. */
  readonly typed: (text: string) => C | undefined;
}

export interface Found<C> {
  readonly choices: readonly C[];
  /** Stands in the place of the other hint, when what is found needs a word. */
  readonly hint?: string;
}

/** Lets the user choose from what is found, or type what is not in the list. */
export async function pickOrType<C extends QuickPickItem>({
  title,
  hint,
  find,
  typed,
}: Picking<C>): Promise<C | undefined> {
  const picker = window.createQuickPick<C>();
  picker.title = title;
  picker.placeholder = hint;
  picker.matchOnDescription = true;
  picker.busy = true;
  let found: readonly C[] = [];
  const show = () => {
    const text = picker.value.trim();
    const isListed = text === "" || found.some(({ label }) => label === text);
    const other = isListed ? undefined : typed(text);
    picker.items =
      other === undefined ? found : [...found, { ...other, description: "as typed", alwaysShow: true }];
  };
  picker.onDidChangeValue(show);
  const finding = find()
    .then(({ choices, hint: better }) => {
      found = choices;
      picker.placeholder = better ?? hint;
    })
    .catch((error: unknown) => {
      picker.placeholder = `${hint} (the list could not be had: ${String(error)})`;
    })
    .finally(() => {
      picker.busy = false;
      show();
    });
  const picked = await new Promise<C | undefined>((resolve) => {
    picker.onDidAccept(() => {
      const text = picker.value.trim(); // the list may still lack what was typed
      resolve(picker.selectedItems[0] ?? (text === "" ? undefined : typed(text)));
      picker.hide();
    });
    picker.onDidHide(() => {
      resolve(undefined);
    });
    picker.show();
  });
  await finding;
  picker.dispose();
  return picked;
}
