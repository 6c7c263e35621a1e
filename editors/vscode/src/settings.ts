/**
 * The extension's settings, read with care: a value of the wrong kind is reported and its default used.
 *
 * VS Code underlines wrong values in its own editor of settings, but gives them to the extension all the same.
 */

/** All of them; their meaning for the user is in `package.json`. */
export interface Settings {
  readonly serverCommand: readonly string[];
  readonly serverEnvironment: Readonly<Record<string, string>>;
  readonly serverOptions: Readonly<Record<string, unknown>>;
  readonly notifyWhenHidden: boolean;
}

/** The settings, and a sentence for each value that is not used. */
export interface ReadSettings {
  readonly settings: Settings;
  readonly problems: readonly string[];
}

/**
 * Reads the settings.
 *
 * @param get gives the value of a setting by its name behind `jp.`.
 */
export function readSettings(get: (name: string) => unknown): ReadSettings {
  const problems: string[] = [];
  function read<T>(name: string, wanted: string, fits: (value: unknown) => value is T, otherwise: T): T {
    const value = get(name) ?? otherwise;
    if (fits(value)) {
      return value;
    }
    problems.push(
      `The setting jp.${name} is not used: it must be ${wanted}, and is ${JSON.stringify(value)}.`,
    );
    return otherwise;
  }
  const settings: Settings = {
    serverCommand: read("server.command", "a list of strings", isListOfStrings, []),
    serverEnvironment: read("server.environment", "an object of strings", isObjectOfStrings, {}),
    serverOptions: read("server.options", "an object", isObject, {}),
    notifyWhenHidden: read("notifyWhenHidden", "true or false", isBoolean, true),
  };
  return { settings, problems };
}

/** The settings that need another server to have an effect. */
export const SERVER_SETTINGS = ["jp.server.command", "jp.server.environment", "jp.server.options"] as const;

function isListOfStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isObjectOfStrings(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((item) => typeof item === "string");
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}
