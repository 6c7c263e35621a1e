/**
 * A question to the user, with what answers it.
 *
 * The harmless button stands first, as the server sends them. Nothing answers by itself: closing, Escape and
 * looking elsewhere never count as consent. A secret lives in its input and nowhere else.
 */

import { Component, createRef } from "preact";
import type { PromptAction, PromptParams } from "../protocol.gen";
import { Icon } from "./icon";
import type { Page } from "./page";
import { fitHeight } from "./textarea";

interface PromptProps {
  readonly prompt: PromptParams;
  readonly page: Page;
}

/** Buttons that are shown at once; the others are one more click away. */
const SHOWN_BUTTONS = 4;

export class Prompt extends Component<PromptProps, { readonly isSent: boolean }> {
  override state = { isSent: false };

  override render({ prompt }: PromptProps) {
    const { decisionId, kind, message, detail } = prompt;
    const label = `prompt-${decisionId}`;
    return (
      <div
        class={`prompt prompt-${kind}`}
        role="group"
        aria-labelledby={label}
        data-decision={decisionId}
        onKeyDown={this.handleKey}
      >
        <p class="prompt-message" id={label}>
          <Icon name="question" />
          <span>{message}</span>
        </p>
        {detail !== undefined && <p class="prompt-detail">{detail}</p>}
        {this.controls()}
        {kind === "menu" && (
          <p class="hint">
            <kbd>Esc</kbd> again stops, and keeps what came.
          </p>
        )}
      </div>
    );
  }

  private controls() {
    const { prompt, page } = this.props;
    switch (prompt.kind) {
      case "text":
      case "secret":
        return <TextForm prompt={prompt} isSent={this.state.isSent} send={this.send} />;
      case "edit":
        return (
          <div class="buttons">
            <button
              type="button"
              class="button primary"
              onClick={() => page.post({ type: "editArguments", decisionId: prompt.decisionId })}
            >
              Open in an editor
            </button>
            <button type="button" class="button" disabled={this.state.isSent} onClick={() => this.send({})}>
              Cancel
            </button>
          </div>
        );
      default:
        return this.buttons();
    }
  }

  private buttons() {
    const { kind, actions } = this.props.prompt;
    const shown = actions.length > SHOWN_BUTTONS + 1 && kind === "approval" ? SHOWN_BUTTONS : actions.length;
    const main = { approval: 1, menu: 0 }[kind as string] ?? -1;
    return (
      <>
        <div class="buttons">
          {actions.slice(0, shown).map((action, index) => this.button(action, index === main))}
        </div>
        {shown < actions.length && (
          <details class="more">
            <summary>
              <Icon name="chevron" />
              More choices
            </summary>
            <div class="buttons">{actions.slice(shown).map((action) => this.button(action, false))}</div>
          </details>
        )}
      </>
    );
  }

  private button({ id, title }: PromptAction, isMain: boolean) {
    const kind = id === "abort" ? "danger" : isMain ? "primary" : "";
    return (
      <button
        type="button"
        key={id}
        class={`button ${kind}`}
        data-action={id}
        disabled={this.state.isSent}
        onClick={() => this.send({ action: id })}
      >
        {title}
      </button>
    );
  }

  private readonly send = (answer: { readonly action?: string; readonly text?: string }) => {
    this.setState({ isSent: true });
    this.props.page.answer(this.props.prompt, answer);
  };

  private readonly handleKey = (event: KeyboardEvent) => {
    const { prompt, page } = this.props;
    if (event.key !== "Escape") {
      return;
    }
    event.stopPropagation();
    event.preventDefault();
    if (prompt.kind === "menu") {
      page.press();
    } else if (prompt.kind === "text" || prompt.kind === "secret") {
      this.send({});
    } else {
      page.focusInput();
    }
  };
}

interface TextFormProps {
  readonly prompt: PromptParams;
  readonly isSent: boolean;
  readonly send: (answer: { readonly action?: string; readonly text?: string }) => void;
}

class TextForm extends Component<TextFormProps> {
  private readonly field = createRef<HTMLInputElement & HTMLTextAreaElement>();

  override componentDidMount(): void {
    const field = this.field.current;
    if (field !== null) {
      field.value = this.props.prompt.value ?? "";
      this.fit();
    }
  }

  override render({ prompt, isSent, send }: TextFormProps) {
    const shared = {
      ref: this.field,
      class: "field",
      "aria-label": prompt.message,
      placeholder: prompt.placeholder ?? "",
      disabled: isSent,
    };
    return (
      <form onSubmit={this.submit}>
        {prompt.kind === "secret" ? (
          <input {...shared} type="password" autocomplete="off" spellcheck={false} />
        ) : (
          <textarea {...shared} rows={1} onInput={this.fit} onKeyDown={this.handleKey} />
        )}
        {prompt.kind === "secret" && <p class="hint">It is not shown, and not kept.</p>}
        <div class="buttons">
          <button type="button" class="button" disabled={isSent} onClick={() => send({})}>
            Cancel
          </button>
          {prompt.actions.map(({ id, title }) => (
            <button
              type="button"
              key={id}
              class="button"
              disabled={isSent}
              onClick={() => send({ action: id })}
            >
              {title}
            </button>
          ))}
          <button type="submit" class="button primary" disabled={isSent}>
            Send
          </button>
        </div>
      </form>
    );
  }

  private readonly fit = () => {
    if (this.field.current?.tagName === "TEXTAREA") {
      fitHeight(this.field.current);
    }
  };

  private readonly submit = (event: Event) => {
    event.preventDefault();
    this.props.send({ text: this.field.current?.value ?? "" });
  };

  private readonly handleKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      this.submit(event);
    }
  };
}
