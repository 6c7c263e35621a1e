/**
 * The transcript's scroll area. It follows what is written while the reader is at the end, and stays where the
 * reader is otherwise, with a way back to the end.
 */

import { Component, createRef, type ComponentChildren } from "preact";
import { Icon } from "./icon";

interface ScrollerProps {
  /** Whether what is shown grows at its end; else the reader is left at its beginning. */
  readonly grows: boolean;
  readonly children: ComponentChildren;
}

/** Pixels from the end that still count as being there. */
const NEAR = 32;

export class Scroller extends Component<ScrollerProps, { readonly isAway: boolean }> {
  override state = { isAway: false };
  private readonly element = createRef<HTMLElement>();
  private readonly content = createRef<HTMLDivElement>();
  private readonly observer =
    typeof ResizeObserver === "undefined"
      ? null
      : new ResizeObserver(() => {
          this.follow();
        });

  override componentDidMount(): void {
    for (const watched of [this.element.current, this.content.current]) {
      if (watched !== null) {
        this.observer?.observe(watched);
      }
    }
  }

  override componentWillUnmount(): void {
    this.observer?.disconnect();
  }

  override componentDidUpdate(): void {
    this.follow();
  }

  /** Goes to the end, and follows it from there. */
  readonly toEnd = () => {
    this.setState({ isAway: false });
    const element = this.element.current;
    if (element !== null) {
      element.scrollTop = element.scrollHeight;
    }
  };

  /** Stops following the end, because something else is to be shown. */
  readonly leaveEnd = () => {
    this.setState({ isAway: true });
  };

  override render({ children }: ScrollerProps) {
    return (
      <div class="transcript">
        <main
          class="scroller"
          ref={this.element}
          tabIndex={0}
          aria-label="Conversation"
          onScroll={this.noteScroll}
        >
          <div class="turns" ref={this.content}>
            {children}
          </div>
        </main>
        {this.state.isAway && (
          <button type="button" class="jump" onClick={this.toEnd}>
            <Icon name="down" />
            Jump to latest
          </button>
        )}
      </div>
    );
  }

  private follow(): void {
    const element = this.element.current;
    if (element !== null && !this.props.grows) {
      element.scrollTop = 0;
    } else if (element !== null && !this.state.isAway) {
      element.scrollTop = element.scrollHeight;
    }
  }

  private readonly noteScroll = () => {
    const element = this.element.current;
    if (element !== null) {
      const isAway =
        this.props.grows && element.scrollHeight - element.scrollTop - element.clientHeight > NEAR;
      if (isAway !== this.state.isAway) {
        this.setState({ isAway });
      }
    }
  };
}
