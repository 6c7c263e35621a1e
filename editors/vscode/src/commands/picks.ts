/** Picking the model and the persona of a conversation; both are settings that go with the next query. */

import { commands, window, type Disposable, type QuickPickItem } from "vscode";
import type { JpClient } from "../client";
import type { ListedModel, NamedConfiguration } from "../protocol.gen";
import type { JpWindow } from "../ui/window";

export function pickCommands(jp: JpWindow): Disposable[] {
  return [
    commands.registerCommand("jp.pickModel", () => pickModel(jp)),
    commands.registerCommand("jp.pickPersona", () => pickPersona(jp)),
  ];
}

/** Something to pick: how it reads, and the setting that it makes. */
interface Choice extends QuickPickItem {
  readonly name: string;
  readonly setting: string;
}

const MODEL = "assistant.model.id=";

async function pickModel(jp: JpWindow): Promise<void> {
  const { conversation } = jp.chats.shown;
  const choice = await pickOrType({
    title: "Model for this conversation",
    hint: "Choose, or type vendor and model, such as anthropic/claude-sonnet-4-5",
    find: async () => {
      const client = await jp.connect();
      return client.knows("jp/model/list") ? listModels(client, conversation) : [];
    },
    typed: (text) => ({ label: text, name: text, setting: `${MODEL}${text}` }),
  });
  if (choice !== undefined) {
    jp.chats.shown.model = choice.name;
    useFromNowOn(jp, choice.setting, (setting) => setting.startsWith(MODEL));
  }
  await jp.view.focus();
}

async function listModels(client: JpClient, conversation: string | null): Promise<Choice[]> {
  const { models } = await client.call("jp/model/list", conversation === null ? {} : { conversation });
  return models.map((model) => ({
    label: model.id,
    description: [model.displayName, ...model.aliases].filter(Boolean).join(", "),
    detail: factsOf(model),
    name: model.id,
    setting: `${MODEL}${model.id}`,
  }));
}

function factsOf({ contextWindow, effective, deprecated }: ListedModel): string {
  const facts = [
    effective ? "the model of this conversation now" : "",
    contextWindow === undefined ? "" : `reads up to ${contextWindow.toLocaleString("en")} tokens`,
    deprecated === true ? "will be withdrawn by its vendor" : "",
  ];
  return facts.filter(Boolean).join("; ");
}

async function pickPersona(jp: JpWindow): Promise<void> {
  const choice = await pickOrType({
    title: "Persona for this conversation",
    hint: "Choose, or type the name of a settings file",
    find: async () => {
      const client = await jp.connect();
      return client.knows("jp/config/list") ? listPersonas(client) : [];
    },
    typed: (text) => ({ label: text, name: text, setting: text }),
  });
  if (choice !== undefined) {
    const { shown } = jp.chats;
    const isReplaced = (setting: string) => setting === shown.personaSetting;
    shown.persona = choice.name;
    useFromNowOn(jp, choice.setting, isReplaced);
    shown.personaSetting = choice.setting;
  }
  await jp.view.focus();
}

async function listPersonas(client: JpClient): Promise<Choice[]> {
  const { files } = await client.call("jp/config/list", {});
  return files.filter(({ problem }) => problem === undefined).map(personaChoice);
}

function personaChoice({ name, expression, group, title, description }: NamedConfiguration): Choice {
  return {
    label: name,
    description: [title, group].filter(Boolean).join(", "),
    ...(description !== undefined && { detail: description }),
    name: title ?? name,
    setting: expression,
  };
}

interface Picking {
  readonly title: string;
  readonly hint: string;
  readonly find: () => Promise<readonly Choice[]>;
  readonly typed: (text: string) => Choice;
}

/** Lets the user choose from what is found, or type what is not in the list. */
async function pickOrType({ title, hint, find, typed }: Picking): Promise<Choice | undefined> {
  const picker = window.createQuickPick<Choice>();
  picker.title = title;
  picker.placeholder = hint;
  picker.matchOnDescription = true;
  picker.busy = true;
  let found: readonly Choice[] = [];
  const show = () => {
    const text = picker.value.trim();
    const isListed = text === "" || found.some(({ label }) => label === text);
    picker.items = isListed
      ? found
      : [...found, { ...typed(text), description: "as typed", alwaysShow: true }];
  };
  picker.onDidChangeValue(show);
  const finding = find()
    .then((choices) => {
      found = choices;
    })
    .catch((error: unknown) => {
      picker.placeholder = `${hint} (the list could not be had: ${String(error)})`;
    })
    .finally(() => {
      picker.busy = false;
      show();
    });
  const picked = await new Promise<Choice | undefined>((resolve) => {
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

/** Sends a setting with the next query, in the place of those that it replaces. */
function useFromNowOn(jp: JpWindow, setting: string, isReplaced: (setting: string) => boolean): void {
  const chat = jp.chats.shown;
  chat.newSettings = [...chat.newSettings.filter((each) => !isReplaced(each)), setting];
  jp.chats.contextChanged();
}
