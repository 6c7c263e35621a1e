/**
 * Finds the program of the server: the setting, then the workspace's own environment, then `PATH`.
 *
 * In a workspace that is not trusted nothing from inside of it is run.
 */

import { delimiter, isAbsolute, join } from "node:path";

/** Where to look, and what is there. */
export interface Surroundings {
  /** The setting `jp.server.command`; empty to search. */
  readonly command: readonly string[];
  /** The paths of the open folders. */
  readonly folders: readonly string[];
  /** The folder of the Python interpreter that the user chose for this workspace. */
  readonly interpreterFolder?: string;
  readonly isTrusted: boolean;
  readonly path: string;
  readonly platform: NodeJS.Platform;
  /** Whether there is a program of this path. */
  isProgram(path: string): boolean;
}

/** The server's command, or where it was looked for. */
export type Located =
  | { readonly found: true; readonly command: readonly [string, ...string[]] }
  | { readonly found: false; readonly tried: readonly string[] };

const ENVIRONMENTS = [".venv", "venv"];

/** Finds the server. */
export function locateServer(around: Surroundings): Located {
  const [program, ...rest] = around.command;
  if (program !== undefined && program !== "") {
    const places = isAbsolute(program) ? [program] : onPath(around, program);
    return firstProgram(around, places, rest);
  }
  return firstProgram(around, [...inWorkspace(around), ...onPath(around, "jp-lsp")], []);
}

function firstProgram(around: Surroundings, places: readonly string[], rest: readonly string[]): Located {
  const program = places.find((place) => around.isProgram(place));
  return program === undefined
    ? { found: false, tried: places }
    : { found: true, command: [program, ...rest] };
}

function inWorkspace(around: Surroundings): readonly string[] {
  if (!around.isTrusted) {
    return [];
  }
  const scripts = around.platform === "win32" ? "Scripts" : "bin";
  const own = around.folders.flatMap((folder) => ENVIRONMENTS.map((name) => join(folder, name, scripts)));
  const chosen = around.interpreterFolder === undefined ? [] : [around.interpreterFolder];
  return [...own, ...chosen].map((folder) => join(folder, withSuffix(around, "jp-lsp")));
}

function onPath(around: Surroundings, program: string): readonly string[] {
  const folders = around.path.split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, withSuffix(around, program)));
}

function withSuffix({ platform }: Surroundings, program: string): string {
  return platform === "win32" && !program.toLowerCase().endsWith(".exe") ? `${program}.exe` : program;
}
