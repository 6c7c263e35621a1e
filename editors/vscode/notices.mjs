// The licences of what is bundled, as their authors ask: with every copy.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Writes the notices of all packages that went into some bundles; a package without a licence stops the build.
 *
 * @param {import("esbuild").Metafile[]} metafiles what the bundles were made of
 * @param {string} file where to write
 */
export function writeNotices(metafiles, file) {
  const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs));
  const folders = inputs.flatMap(
    (input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? [],
  );
  const notices = [...new Set(folders)].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf-8"));
    const licence = readdirSync(folder).find((entry) => /^licen[cs]e(-mit)?(\.(md|txt))?$/i.test(entry));
    if (licence === undefined) {
      throw new Error(`${name} has no licence file`);
    }
    return `${name} ${version}\n\n${readFileSync(join(folder, licence), "utf-8").trim()}\n`;
  });
  const rule = `\n${"-".repeat(80)}\n\n`;
  writeFileSync(file, `This extension contains the following packages.\n${rule}${notices.join(rule)}`);
}
