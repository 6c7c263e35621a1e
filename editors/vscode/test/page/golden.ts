/** The transcripts that all clients are tested with. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Chunk } from "../../src/protocol.gen";

const FOLDER = join(process.cwd(), "../../tests/golden/wire");

/** The names of all of them. */
export const GOLDEN_NAMES = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));

/** The chunks of one. */
export function golden(name: string): readonly Chunk[] {
  return (JSON.parse(readFileSync(join(FOLDER, name), "utf-8")) as { readonly chunks: readonly Chunk[] })
    .chunks;
}

/** The chunks of one up to the first of a type that is about a call. */
export function goldenUpTo(name: string, type: Chunk["type"], callId: string): readonly Chunk[] {
  const chunks = golden(name);
  const isIt = (chunk: Chunk) =>
    chunk.type === type &&
    (("callId" in chunk && chunk.callId === callId) || ("slot" in chunk && chunk.slot === `tool:${callId}`));
  const last = chunks.findIndex(isIt);
  if (last < 0) {
    throw new Error(`${name} has no ${type} of ${callId}`);
  }
  return chunks.slice(0, last + 1);
}
