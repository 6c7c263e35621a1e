// Bundles the extension for Node and the chat view's page for the browser; `--tests` bundles the tests instead.

import { build, context } from "esbuild";
import { rmSync } from "node:fs";
import { writeNotices } from "./notices.mjs";

const flags = new Set(process.argv.slice(2));
const production = flags.has("--production");

const common = {
  bundle: true,
  minify: production,
  sourcemap: production ? false : "linked",
  logLevel: "warning",
  jsx: "automatic",
  jsxImportSource: "preact",
};

const extension = {
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
};

const page = {
  ...common,
  entryPoints: ["src/page/main.tsx"],
  outfile: "dist/page.js",
  alias: { entities: "./src/page/entities.ts" },
  platform: "browser",
  format: "iife",
  target: "es2022",
};

const tests = {
  ...common,
  sourcemap: "inline",
  entryPoints: ["test/**/*.test.ts"],
  outdir: "out/test",
  outbase: "test",
  outExtension: { ".js": ".mjs" },
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
};

if (flags.has("--tests")) {
  rmSync("out/test", { recursive: true, force: true });
  await build(tests);
} else if (flags.has("--watch")) {
  for (const bundle of [extension, page]) {
    await (await context(bundle)).watch();
  }
} else {
  const built = await Promise.all([extension, page].map((bundle) => build({ ...bundle, metafile: true })));
  writeNotices(
    built.map(({ metafile }) => metafile),
    "dist/THIRD-PARTY-NOTICES.txt",
  );
}
