/** Picking the model and the persona of a conversation; both are settings that go with the next query. */

import { commands, type Disposable, type QuickPickItem } from "vscode";
import type { JpClient } from "../client";
import type { NamedConfiguration } from "../protocol.gen";
import { modelWords } from "../state/modelWords";
import type { JpWindow } from "../ui/window";
import { pickOrType, type Found } from "./pickOrType";

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
const MODEL_HINT = "Type vendor and model, such as anthropic/claude-sonnet-4-5";

async function pickModel(jp: JpWindow): Promise<void> {
  const { conversation } = jp.chats.shown;
  const choice = await pickOrType({
    title: "Model for this conversation",
    hint: `Choose, or ${MODEL_HINT.toLowerCase()}`,
    find: async () => {
      const client = await jp.connect();
      return client.knows("jp/model/list") ? listModels(client, conversation) : { choices: [] };
    },
    typed: (text) => ({ label: text, name: text, setting: `${MODEL}${text}` }),
  });
  if (choice !== undefined) {
    jp.chats.shown.model = choice.name;
    useFromNowOn(jp, choice.setting, (setting) => setting.startsWith(MODEL));
  }
  await jp.view.focus();
}

async function listModels(client: JpClient, conversation: string | null): Promise<Found<Choice>> {
  const result = await client.call("jp/model/list", conversation === null ? {} : { conversation });
  const choices = modelWords(result).map(({ id, ...words }) => ({
    ...words,
    name: id,
    setting: `${MODEL}${id}`,
  }));
  return result.models.length > 0
    ? { choices }
    : { choices, hint: `No vendor tells its models without a key. ${MODEL_HINT}` };
}

async function pickPersona(jp: JpWindow): Promise<void> {
  const choice = await pickOrType({
    title: "Persona for this conversation",
    hint: "Choose, or type the name of a settings file",
    find: async () => {
      const client = await jp.connect();
      return client.knows("jp/config/list") ? listPersonas(client) : { choices: [] };
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

async function listPersonas(client: JpClient): Promise<Found<Choice>> {
  const { files } = await client.call("jp/config/list", {});
  return { choices: files.filter(({ problem }) => problem === undefined).map(personaChoice) };
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

/** Sends a setting with the next query, in the place of those that it replaces. */
function useFromNowOn(jp: JpWindow, setting: string, isReplaced: (setting: string) => boolean): void {
  const chat = jp.chats.shown;
  chat.newSettings = [...chat.newSettings.filter((each) => !isReplaced(each)), setting];
  jp.chats.contextChanged();
}
