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
  private isAtQuestion = false;
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

  /** Shows a question, with the call that it is about, to a reader who is at the end or at another question. */
  readonly toQuestion = (question: Element) => {
    if (!this.state.isAway || this.isAtQuestion) {
      question.closest(".tool")?.scrollIntoView({ block: "nearest" });
      question.scrollIntoView({ block: "nearest" });
      this.isAtQuestion = true;
      this.noteScroll();
    }
  };

  /** The reader has answered a question, wherever it was, and wants to see the next one. */
  readonly stayWithQuestions = () => {
    this.isAtQuestion = true;
  };

  /** There are no more questions: goes back to the end with a reader who has not gone elsewhere. */
  readonly leaveQuestions = () => {
    if (this.isAtQuestion) {
      this.isAtQuestion = false;
      this.toEnd();
    }
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
          onWheel={this.noteReader}
          onTouchMove={this.noteReader}
          onPointerDown={this.noteReader}
          onKeyDown={this.noteReader}
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

  /** Whoever turns the wheel, drags the scroll bar or presses keys in the area itself looks for something else. */
  private readonly noteReader = (event: Event) => {
    if (event.type === "wheel" || event.type === "touchmove" || event.target === this.element.current) {
      this.isAtQuestion = false;
    }
  };

  /** Learns whether what is shown is the end, which is then followed. */
  readonly noteScroll = () => {
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
