/** A Markdown text that may still grow, as a list of blocks of which only the changed ones are touched. */

import { Component, createRef } from "preact";
import { GrowingMarkdown } from "./markdown";
import { morph } from "./morph";
import { Pure } from "./pure";

interface ProseProps {
  readonly text: string;
}

export class Prose extends Pure<ProseProps> {
  private readonly markdown = new GrowingMarkdown();

  override render() {
    const blocks = this.markdown.render(this.props.text);
    return (
      <div class="prose">
        {blocks.map(({ html }, index) => (
          <Block key={index} html={html} />
        ))}
      </div>
    );
  }
}

class Block extends Component<{ readonly html: string }> {
  private readonly element = createRef<HTMLDivElement>();

  override shouldComponentUpdate({ html }: { readonly html: string }): boolean {
    if (html !== this.props.html && this.element.current !== null) {
      morph(this.element.current, html);
    }
    return false;
  }

  override componentDidMount(): void {
    if (this.element.current !== null) {
      this.element.current.innerHTML = this.props.html;
    }
  }

  override render() {
    return <div class="block" ref={this.element} />;
  }
}
