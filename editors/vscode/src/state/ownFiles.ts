/** The files that the server helps to write: query documents, and configuration in `.jp`. */

const CONFIGURATION = /\/\.jp\/(?!conversations\/).*\.(toml|ya?ml|json5?)$/;

/** The ending of query documents. */
export const QUERY_ENDING = ".jp.md";

/** Whether a path, with slashes, is one of them. */
export function isOwnFile(path: string): boolean {
  return path.endsWith(QUERY_ENDING) || CONFIGURATION.test(path);
}
