/**
 * Markdown as markup, for text that nobody has vouched for.
 *
 * Raw HTML is shown as text. Only links of harmless kinds become links, and they do nothing by themselves: the
 * page hands their address to the host. An image becomes a link, since fetching it would tell its server
 * whatever a model was talked into writing into the address. No style attribute is made; the page's content
 * policy would refuse it.
 */

import MarkdownIt from "markdown-it";
import type { Token } from "markdown-it";
import { codeBlock, escapeHtml } from "./code";

/** Addresses with a scheme that the host opens; those without one name files of the workspace. */
const SAFE_SCHEMES = new Set(["http", "https", "mailto", "file"]);

const markdown = new MarkdownIt({ html: false, linkify: true, typographer: false });
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
markdown.validateLink = isSafeLink;

markdown.renderer.rules.fence = (tokens, index) => {
  const { content, info } = tokens[index] as Token;
  return codeBlock(content, info.trim().split(/\s+/)[0] ?? "");
};
markdown.renderer.rules.code_block = (tokens, index) => codeBlock((tokens[index] as Token).content, "");
markdown.renderer.rules.table_open = () =>
  '<div class="table" tabindex="0" role="group" aria-label="Table"><table>';
markdown.renderer.rules.table_close = () => "</table></div>";
markdown.renderer.rules.image = (tokens, index, _options, env) => {
  const token = tokens[index] as Token;
  const address = token.attrGet("src") ?? "";
  const text = markdown.renderer.renderInlineAsText(token.children ?? [], markdown.options, env);
  return `<a href="${escapeHtml(address)}">${escapeHtml(text || address)}</a>`;
};
for (const cell of ["th_open", "td_open"] as const) {
  markdown.renderer.rules[cell] = (tokens, index, options, _env, self) => {
    const token = tokens[index] as Token;
    const style = token.attrs?.find(([name]) => name === "style");
    if (style !== undefined) {
      [style[0], style[1]] = ["class", style[1].replace("text-align:", "align-")];
    }
    return self.renderToken(tokens, index, options);
  };
}

const TO_DO = 'aria-label="To do"';
const DONE = 'aria-label="Done" checked';
markdown.core.ruler.after("inline", "tasks", ({ tokens, Token }) => {
  tokens.forEach((token, index) => {
    const [item, paragraph] = tokens.slice(Math.max(0, index - 2), index);
    const text = token.type === "inline" ? token.children?.[0] : undefined;
    const mark = text?.type === "text" ? /^\[([ xX])\] +/.exec(text.content) : null;
    if (item?.type === "list_item_open" && paragraph?.type === "paragraph_open" && text && mark !== null) {
      text.content = text.content.slice(mark[0].length);
      const box = new Token("html_inline", "", 0);
      box.content = `<input type="checkbox" disabled ${mark[1] === " " ? TO_DO : DONE}>`;
      token.children?.unshift(box);
      item.attrJoin("class", "task");
    }
  });
});

/** A block at the top of a document: where it starts, in code units, and its markup. */
export interface MarkdownBlock {
  readonly start: number;
  readonly html: string;
}

/** Renders a document block by block. */
export function renderBlocks(source: string): readonly MarkdownBlock[] {
  const env = {};
  const tokens = markdown.parse(source, env);
  const lines = lineStarts(source);
  const blocks: MarkdownBlock[] = [];
  let first = 0;
  tokens.forEach((token, index) => {
    if (token.level === 0 && token.nesting <= 0) {
      const line = tokens[first]?.map?.[0] ?? 0;
      const html = markdown.renderer.render(tokens.slice(first, index + 1), markdown.options, env);
      blocks.push({ start: lines[line] ?? 0, html });
      first = index + 1;
    }
  });
  return blocks;
}

/** Renders a whole document. */
export function renderMarkdown(source: string): string {
  return renderBlocks(source)
    .map(({ html }) => html)
    .join("");
}

/**
 * Blocks at the end of a document that may still change when more is written: the last one, and the one before
 * it, because what looks like the beginning of a list may turn out to continue a paragraph.
 */
const UNSETTLED = 2;

/** Renders a document that grows at its end, and looks again only at the blocks that can have changed. */
export class GrowingMarkdown {
  private settled: readonly MarkdownBlock[] = [];
  private settledText = "";

  /** Renders the document as it is now. It may also have become shorter, or another one. */
  render(source: string): readonly MarkdownBlock[] {
    if (!source.startsWith(this.settledText)) {
      this.settled = [];
      this.settledText = "";
    }
    const offset = this.settledText.length;
    const rest = renderBlocks(source.slice(offset)).map(({ start, html }) => ({
      start: start + offset,
      html,
    }));
    const blocks = [...this.settled, ...rest];
    const unsettled = blocks.at(-UNSETTLED);
    if (unsettled !== undefined && unsettled.start > offset) {
      this.settled = blocks.slice(0, -UNSETTLED);
      this.settledText = source.slice(0, unsettled.start);
    }
    return blocks;
  }
}

function isSafeLink(address: string): boolean {
  const scheme = /^\s*([a-z][a-z0-9+.-]*):/i.exec(address)?.[1]?.toLowerCase();
  return scheme === undefined || SAFE_SCHEMES.has(scheme);
}

/** Where each line starts, in code units. */
function lineStarts(source: string): readonly number[] {
  const starts = [0];
  for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}
