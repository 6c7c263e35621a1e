/** Searching what was said in all conversations, while the user types; a hit is opened at its place. */

import { commands, window, type Disposable, type QuickPick, type QuickPickItem } from "vscode";
import type { SearchHit } from "../protocol.gen";
import { hitWords } from "../state/conversationWords";
import type { JpWindow } from "../ui/window";

/** Milliseconds without a key before what is typed is looked for. */
const PAUSE = 250;

const MOST_HITS = 100;

export function searchCommands(jp: JpWindow): Disposable[] {
  return [
    commands.registerCommand("jp.searchConversations", async (pattern?: unknown) => {
      const hit = await pickHit(jp, typeof pattern === "string" ? pattern : "");
      if (hit !== undefined) {
        await show(jp, hit);
      }
    }),
  ];
}

interface Found extends QuickPickItem {
  readonly hit?: SearchHit;
}

async function show(jp: JpWindow, { conversation, title, turn, scope, match }: SearchHit): Promise<void> {
  await jp.chats.open(conversation, title);
  await jp.view.focus();
  if (turn !== undefined) {
    jp.view.reveal({ type: "reveal", turn, scope, text: match });
  }
}

async function pickHit(jp: JpWindow, pattern: string): Promise<SearchHit | undefined> {
  const picker = window.createQuickPick<Found>();
  picker.title = "Search all conversations";
  picker.placeholder = "What was said; capital letters count only if there are any";
  let timer: NodeJS.Timeout | undefined;
  const lookSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      void look(jp, picker);
    }, PAUSE);
  };
  picker.onDidChangeValue(lookSoon);
  picker.value = pattern;
  lookSoon();
  const hit = await new Promise<SearchHit | undefined>((resolve) => {
    picker.onDidAccept(() => {
      const [chosen] = picker.selectedItems;
      if (chosen?.hit !== undefined) {
        resolve(chosen.hit);
        picker.hide();
      }
    });
    picker.onDidHide(() => {
      resolve(undefined);
    });
    picker.show();
  });
  clearTimeout(timer);
  picker.dispose();
  return hit;
}

/** Shows what is found, unless something else is looked for by then. */
async function look(jp: JpWindow, picker: QuickPick<Found>): Promise<void> {
  const pattern = picker.value;
  if (pattern.trim() === "") {
    picker.items = [];
    return;
  }
  picker.busy = true;
  const found = await find(jp, pattern);
  if (picker.value === pattern) {
    picker.items = found;
    picker.busy = false;
  }
}

async function find(jp: JpWindow, pattern: string): Promise<readonly Found[]> {
  try {
    const client = await jp.connect();
    const { hits, more, searched } = await client.call("jp/conversation/search", {
      pattern,
      limit: MOST_HITS,
    });
    if (hits.length === 0) {
      return [only(`Nowhere in ${searched} conversations`)];
    }
    return [
      ...hits.map((hit) => asItem(jp, hit)),
      ...(more ? [only(`These are the first ${hits.length}`)] : []),
    ];
  } catch (error) {
    return [only(`The search failed: ${error instanceof Error ? error.message : String(error)}`)];
  }
}

function asItem(jp: JpWindow, hit: SearchHit): Found {
  const title = hit.title ?? jp.chats.stateOf(hit.conversation).name;
  const { line, where } = hitWords(title === undefined ? hit : { ...hit, title });
  return { label: line, detail: where, alwaysShow: true, hit };
}

/** A line that says something and cannot be opened. */
function only(label: string): Found {
  return { label, alwaysShow: true };
}
