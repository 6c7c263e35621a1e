/**
 * Where the user writes.
 *
 * The text belongs to the text area alone and is never rendered, so whatever streams in above, no key is lost.
 * Enter sends, Shift+Enter begins a new line, Up in an empty input brings back the last question.
 */

import { createRef } from "preact";
import type { Chip } from "../ui/messages";
import { Icon } from "./icon";
import type { Draft } from "./model";
import type { Page } from "./page";
import { Pure } from "./pure";
import { fitHeight } from "./textarea";

interface InputProps {
  readonly draft: Draft;
  readonly focusWishes: number;
  /** Gives what was asked before, the newest last. */
  readonly earlier: () => readonly string[];
  readonly isRunning: boolean;
  readonly hasMenu: boolean;
  readonly chips: readonly Chip[];
  readonly modelName: string | null;
  readonly persona: string | null;
  readonly page: Page;
}

export class Input extends Pure<InputProps, { readonly isEmpty: boolean }> {
  override state = { isEmpty: true };
  private readonly area = createRef<HTMLTextAreaElement>();
  /** How many questions back the text was taken from; 0 when it was written. */
  private recalled = 0;

  override componentDidMount(): void {
    this.takeDraft();
  }

  override componentDidUpdate(before: InputProps): void {
    if (before.draft.number !== this.props.draft.number) {
      this.takeDraft();
    }
    if (before.focusWishes !== this.props.focusWishes) {
      this.focus();
    }
  }

  /** Puts the cursor behind the text. */
  focus(): void {
    this.area.current?.focus();
  }

  /** Whether nothing stands in the input. */
  get isBlank(): boolean {
    return this.text.trim() === "";
  }

  /** Replaces what stands in the input. */
  write(text: string): void {
    this.put(text);
    this.changed();
  }

  override render() {
    const { chips, isRunning, hasMenu, modelName, persona, page } = this.props;
    const placeholder = isRunning ? "Write the next question" : "Ask, or say what to do";
    return (
      <form class="input" onSubmit={this.submit}>
        {chips.length > 0 && (
          <ul class="chips" aria-label="Attachments">
            {chips.map((chip) => (
              <li key={chip.uri} class="chip" title={chip.uri}>
                <span class="chip-label">{chip.label}</span>
                {chip.detail !== undefined && <span class="muted">{chip.detail}</span>}
                <button
                  type="button"
                  class="icon-button"
                  aria-label={`Remove ${chip.label}`}
                  onClick={() => page.post({ type: "removeChip", uri: chip.uri })}
                >
                  <Icon name="close" />
                </button>
              </li>
            ))}
          </ul>
        )}
        <textarea
          ref={this.area}
          class="question"
          rows={1}
          aria-label="Your question"
          placeholder={placeholder}
          onInput={this.changed}
          onKeyDown={this.handleKey}
        />
        <div class="input-bar">
          <button
            type="button"
            class="icon-button"
            title="Attach a file"
            aria-label="Attach a file"
            onClick={() => page.post({ type: "attach" })}
          >
            <Icon name="attach" />
          </button>
          <button
            type="button"
            class="choice"
            title="Choose the model"
            aria-label={`Model: ${modelName ?? "default"}`}
            onClick={() => page.post({ type: "pickModel" })}
          >
            <Icon name="model" />
            <span>{modelName?.split("/").at(-1) ?? "Model"}</span>
          </button>
          <button
            type="button"
            class="choice"
            title="Choose the persona"
            aria-label={`Persona: ${persona ?? "default"}`}
            onClick={() => page.post({ type: "pickPersona" })}
          >
            <Icon name="person" />
            <span>{persona ?? "Persona"}</span>
          </button>
          <span class="gap" />
          {isRunning && (
            <button
              type="button"
              class="icon-button stop"
              title={hasMenu ? "Stop and keep what came (Escape)" : "Interrupt (Escape)"}
              aria-label={hasMenu ? "Stop and keep what came" : "Interrupt"}
              onClick={() => page.press()}
            >
              <Icon name="stop" />
            </button>
          )}
          <button
            type="submit"
            class="icon-button send"
            title="Send (Enter)"
            aria-label="Send"
            disabled={this.state.isEmpty}
          >
            <Icon name="send" />
          </button>
        </div>
      </form>
    );
  }

  private get text(): string {
    return this.area.current?.value ?? "";
  }

  private takeDraft(): void {
    const { text, replaces } = this.props.draft;
    if (replaces || this.isBlank) {
      this.put(text);
    }
  }

  private put(text: string): void {
    if (this.area.current !== null) {
      this.area.current.value = text;
      this.area.current.setSelectionRange(text.length, text.length);
    }
    this.fit();
  }

  private fit(): void {
    if (this.area.current !== null) {
      fitHeight(this.area.current);
    }
    this.setState({ isEmpty: this.isBlank });
  }

  private readonly changed = () => {
    this.fit();
    // At once, because the page may be thrown away at any time, and may show another conversation the next moment.
    this.props.page.post({ type: "draft", text: this.text });
  };

  private readonly submit = (event: Event) => {
    event.preventDefault();
    const text = this.text.trim();
    if (text !== "") {
      this.recalled = 0;
      this.write("");
      this.props.page.ask(text);
    }
  };

  private readonly handleKey = (event: KeyboardEvent) => {
    if (event.isComposing) {
      return;
    }
    if (event.key === "Enter" && !event.shiftKey) {
      this.submit(event);
    } else if (event.key === "ArrowUp" && (this.isBlank || this.isRecalled())) {
      this.recall(event, 1);
    } else if (event.key === "ArrowDown" && this.isRecalled()) {
      this.recall(event, -1);
    }
  };

  private isRecalled(): boolean {
    return this.recalled > 0 && this.text === this.props.earlier().at(-this.recalled);
  }

  private recall(event: KeyboardEvent, step: 1 | -1): void {
    const from = this.isRecalled() ? this.recalled : 0;
    const earlier = this.props.earlier();
    this.recalled = Math.min(Math.max(from + step, 0), earlier.length);
    event.preventDefault();
    this.write(this.recalled === 0 ? "" : (earlier.at(-this.recalled) ?? ""));
  }
}
