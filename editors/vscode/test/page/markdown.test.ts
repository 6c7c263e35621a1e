import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { codeBlock } from "../../src/page/code";
import { GrowingMarkdown, renderBlocks, renderMarkdown } from "../../src/page/markdown";

describe("what a model writes never becomes more than text", () => {
  const cases: readonly (readonly [source: string, html: string])[] = [
    ["<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"],
    ["<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>\n"],
    ["[a](javascript:x)", "<p>[a](javascript:x)</p>\n"],
    ["[a](JaVaScRiPt:x)", "<p>[a](JaVaScRiPt:x)</p>\n"],
    ["[a](command:x)", "<p>[a](command:x)</p>\n"],
    ["[a](&#106;avascript:x)", "<p>[a](javascript:x)</p>\n"],
    ["[a](src/x.py)", '<p><a href="src/x.py">a</a></p>\n'],
    ["[a](file:///x.py)", '<p><a href="file:///x.py">a</a></p>\n'],
    ['![a](https://x.example/?q="1)', '<p><a href="https://x.example/?q=%221">a</a></p>\n'],
    ["![](data:image/png;base64,x)", "<p>![](data:image/png;base64,x)</p>\n"],
  ];
  for (const [source, html] of cases) {
    test(source, () => {
      assert.equal(renderMarkdown(source), html);
    });
  }

  test("the name of a language", () => {
    assert.doesNotMatch(codeBlock("x", '"><img src=x>'), /<img/);
  });
});

test("a table is aligned by classes, since the content policy refuses styles", () => {
  const html = renderMarkdown("| a | b |\n| :-: | --: |\n| 1 | 2 |");
  assert.match(html, /<td class="align-center">1<\/td>\s*<td class="align-right">2<\/td>/);
  assert.doesNotMatch(html, /style=/);
});

test("the boxes of a list of tasks can be seen, and not be clicked", () => {
  const html = renderMarkdown("- [ ] one\n- [x] **two**\n- [y] three\n\n[ ] four");
  assert.match(html, /<li class="task"><input type="checkbox" disabled aria-label="To do">one<\/li>/);
  assert.match(
    html,
    /<li class="task"><input type="checkbox" disabled aria-label="Done" checked><strong>two<\/strong><\/li>/,
  );
  assert.match(html, /<li>\[y\] three<\/li>/);
  assert.match(html, /<p>\[ \] four<\/p>/);
});

describe("a document that grows", () => {
  const documents: readonly string[] = [
    "One.\n\nTwo *and* more.\n\nThree.",
    "Text\n\n- a\n- b\n\n  more of b\n- c\n\nEnd",
    "Title\n=====\n\nText\n---\n\nEnd",
    "- [ ] a\n- [x] b\n\nText\n\n- [x]\n\nEnd",
    "- a\n**bold** that continues\n\nText\n\n1. x\n2. y",
    "Text\n\n```python\ndef f():\n\n    return 1\n```\n\nText\n\n    indented\n\n    again\n",
    "| a | b |\n| --- | --- |\n| 1 | 2 |\n\nText\n\n> quote\ncontinued\n\n***\n\nEnd",
    "a\n\n- x\n\n  ```\n  code\n  ```\n\n- y\n\nb &amp; c &copy; <b>",
  ];
  const html = (blocks: readonly { readonly html: string }[]) => blocks.map((block) => block.html);

  for (const source of documents) {
    test(`is what it would be at once: ${JSON.stringify(source.slice(0, 24))}`, () => {
      for (const step of [1, 2, 3, 7]) {
        const growing = new GrowingMarkdown();
        for (let end = step; end < source.length; end += step) {
          growing.render(source.slice(0, end));
        }
        assert.deepEqual(html(growing.render(source)), html(renderBlocks(source)), `in steps of ${step}`);
      }
    });
  }

  test("may be taken back", () => {
    const growing = new GrowingMarkdown();
    growing.render("One.\n\nTwo.\n\nThree.\n\nFour.");
    assert.deepEqual(html(growing.render("One.\n\nOther.")), html(renderBlocks("One.\n\nOther.")));
  });
});
