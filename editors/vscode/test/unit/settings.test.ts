import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readSettings, SERVER_SETTINGS, type Settings } from "../../src/settings";

const DEFAULTS: Settings = {
  serverCommand: [],
  serverEnvironment: {},
  serverOptions: {},
  notifyWhenHidden: true,
};

interface Manifest {
  readonly contributes: {
    readonly configuration: {
      readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    };
    readonly commands: readonly { readonly command: string; readonly category: string }[];
    readonly keybindings: readonly { readonly command: string; readonly when?: string }[];
    readonly menus: Readonly<Record<string, readonly { readonly command: string }[]>>;
  };
  readonly capabilities: {
    readonly untrustedWorkspaces: { readonly restrictedConfigurations: readonly string[] };
  };
}

const MANIFEST = JSON.parse(readFileSync("package.json", "utf-8")) as Manifest;

test("the defaults are those of the manifest", () => {
  const { properties } = MANIFEST.contributes.configuration;
  const read = readSettings((name) => properties[`jp.${name}`]?.["default"]);
  assert.deepEqual(read, { settings: DEFAULTS, problems: [] });
});

test("what is not set has its default", () => {
  assert.deepEqual(
    readSettings(() => undefined),
    { settings: DEFAULTS, problems: [] },
  );
});

const WRONG: readonly (readonly [string, unknown, string])[] = [
  ["server.command", "jp-lsp", 'a list of strings, and is "jp-lsp"'],
  ["server.command", ["jp-lsp", 1], 'a list of strings, and is ["jp-lsp",1]'],
  ["server.environment", { A: 1 }, 'an object of strings, and is {"A":1}'],
  ["server.options", ["a"], 'an object, and is ["a"]'],
  ["notifyWhenHidden", "no", 'true or false, and is "no"'],
];

for (const [wrong, value, reason] of WRONG) {
  test(`a wrong value is reported, and not used: ${wrong} ${JSON.stringify(value)}`, () => {
    const read = readSettings((name) => (name === wrong ? value : undefined));
    assert.deepEqual(read.settings, DEFAULTS);
    assert.deepEqual(read.problems, [`The setting jp.${wrong} is not used: it must be ${reason}.`]);
  });
}

test("every setting has a scope, a default and a description", () => {
  for (const [name, property] of Object.entries(MANIFEST.contributes.configuration.properties)) {
    assert.ok("scope" in property, name);
    assert.ok("default" in property, name);
    assert.ok("description" in property || "markdownDescription" in property, name);
  }
});

test("settings that run programs are not read from an untrusted workspace", () => {
  assert.deepEqual(MANIFEST.capabilities.untrustedWorkspaces.restrictedConfigurations, SERVER_SETTINGS);
});

test("every command in a menu or a keybinding exists, and all have the category", () => {
  const { commands, keybindings, menus } = MANIFEST.contributes;
  const known = new Set(commands.map(({ command }) => command));
  for (const { command } of [...keybindings, ...Object.values(menus).flat()]) {
    assert.ok(known.has(command), command);
  }
  assert.deepEqual(new Set(commands.map(({ category }) => category)), new Set(["JP"]));
  assert.ok(keybindings.every(({ when }) => when !== undefined));
});
