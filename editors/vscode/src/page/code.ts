/** Code as markup: coloured by its language, under a bar that says what can be done with it. */

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import shell from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { iconHtml, type IconName } from "./icons";

const LANGUAGES = {
  ...{ bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, lua, makefile },
  ...{ markdown, php, python, ruby, rust, shell, sql, typescript, xml, yaml },
};

for (const [name, language] of Object.entries(LANGUAGES)) {
  hljs.registerLanguage(name, language);
}

/** Code units above which code stays plain, so that a huge answer never stalls the page. */
const MAX_COLOURED = 60_000;

/** What the buttons above code do, in their order. */
const BUTTONS: readonly (readonly [act: string, icon: IconName, title: string])[] = [
  ["copy", "copy", "Copy"],
  ["insert", "insert", "Insert at cursor"],
  ["apply", "apply", "Apply as edit"],
];

/** Makes text safe to stand in markup, also inside of quotes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Code as coloured markup; plain when its language is unknown or there is too much of it. */
export function highlight(code: string, language: string): string {
  return code.length <= MAX_COLOURED && hljs.getLanguage(language) !== undefined
    ? hljs.highlight(code, { language, ignoreIllegals: true }).value
    : escapeHtml(code);
}

/** A block of code with its bar. The buttons carry `data-act`; whoever shows the block listens to them. */
export function codeBlock(code: string, language: string): string {
  const name = escapeHtml(language);
  const buttons = BUTTONS.map(
    ([act, icon, title]) =>
      `<button type="button" class="code-button" data-act="${act}" title="${title}" aria-label="${title}">${iconHtml(icon)}</button>`,
  );
  return (
    `<div class="code" data-language="${name}"><div class="code-bar"><span class="code-language">${name || "text"}</span>` +
    `<span class="code-buttons">${buttons.join("")}</span></div>` +
    `${codeBody(code, language)}</div>`
  );
}

/** Code without a bar; it can be scrolled by keyboard. */
export function codeBody(code: string, language: string): string {
  const label = language === "" ? "Code" : `Code, ${escapeHtml(language)}`;
  return `<pre tabindex="0" role="group" aria-label="${label}"><code>${highlight(code, language)}</code></pre>`;
}
