// Formats the Lua of the plugin with StyLua, which npm brings as WebAssembly; `--check` only says what it would change.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Config, IndentType, OutputVerification, QuoteStyle, formatCode } from "@johnnymorganz/stylua";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const GENERATED = new Set([join("lua", "jp", "protocol.lua")]);

// The same as in ../stylua.toml, which editors read.
function style() {
  const config = Config.new();
  config.column_width = 120;
  config.indent_type = IndentType.Spaces;
  config.indent_width = 2;
  config.quote_style = QuoteStyle.AutoPreferSingle;
  return config;
}

const files = readdirSync(root, { recursive: true })
  .filter((file) => file.endsWith(".lua") && !file.startsWith("lint") && !GENERATED.has(file))
  .map((file) => join(root, file));
const isCheck = process.argv.includes("--check");
let changed = 0;
for (const file of files) {
  const code = readFileSync(file, "utf8");
  const formatted = formatCode(code, style(), undefined, OutputVerification.Full);
  if (formatted !== code) {
    changed += 1;
    console.log(`${isCheck ? "would format" : "formatted"} ${relative(process.cwd(), file)}`);
    if (!isCheck) writeFileSync(file, formatted);
  }
}
console.log(`${files.length} files, ${changed} ${isCheck ? "to format" : "formatted"}`);
process.exit(isCheck && changed > 0 ? 1 : 0);
