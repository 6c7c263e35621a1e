/** A tool call as a card: what is to run and with what, how far it is, what came of it. */

import type { ToolResultItem } from "../state/chatState";
import { EDIT_TOOL, readProposedEdit } from "../state/proposedEdit";
import { codeBody } from "./code";
import { Icon } from "./icon";
import type { IconName } from "./icons";
import type { Page } from "./page";
import { Prompt } from "./prompt";
import { Prose } from "./prose";
import { Pure } from "./pure";
import { Ticking } from "./ticking";
import {
  argumentsLine,
  prettyArguments,
  resultBody,
  STATE_WORDS,
  type CardState,
  type ToolCard,
} from "./toolCard";
import { count, size } from "./words";

interface ToolProps extends ToolCard {
  readonly page: Page;
}

const STATE_ICONS: Partial<Record<CardState, IconName>> = {
  waiting: "question",
  done: "check",
  failed: "error",
  skipped: "minus",
  dropped: "minus",
};

export class Tool extends Pure<ToolProps, { readonly wasOpen: boolean }> {
  override state = { wasOpen: false };

  override render() {
    const { page, ...card } = this.props;
    const hasBody = this.state.wasOpen || card.prompt !== null; // most are never opened
    const line = card.arguments === null ? "" : argumentsLine(card.arguments);
    return (
      <div class={`tool tool-${card.state}`} data-call={card.callId}>
        <details open={card.prompt !== null} onToggle={() => this.setState({ wasOpen: true })}>
          <summary class="tool-head">
            <Icon name="chevron" />
            <span class="tool-name">{card.name}</span>
            <span class="tool-line">{line}</span>
            <State card={card} />
          </summary>
          {hasBody && card.arguments !== null && <Arguments card={card} json={card.arguments} page={page} />}
          {hasBody && card.result !== null && <Result result={card.result} page={page} />}
        </details>
        {card.message !== null && <p class="tool-message">{card.message}</p>}
        {card.state === "running" && card.percentage !== null && (
          <progress max={100} value={card.percentage} aria-label={`Progress of ${card.name}`} />
        )}
        {card.prompt !== null && <Prompt key={card.prompt.decisionId} prompt={card.prompt} page={page} />}
      </div>
    );
  }
}

function State({ card }: { readonly card: ToolCard }) {
  const icon = STATE_ICONS[card.state];
  const isBusy = card.state === "running" || card.state === "preparing";
  return (
    <span class="tool-state">
      {isBusy && <span class="spinner" />}
      {icon !== undefined && <Icon name={icon} />}
      <span class="tool-word">{STATE_WORDS[card.state]}</span>{" "}
      {isBusy && card.elapsedMs !== null && <Ticking from={card.elapsedMs} direction={1} />}
    </span>
  );
}

interface ArgumentsProps {
  readonly card: ToolCard;
  readonly json: string;
  readonly page: Page;
}

function Arguments({ card, json, page }: ArgumentsProps) {
  const edit = card.name === EDIT_TOOL ? readProposedEdit(json) : undefined;
  const pretty = prettyArguments(json);
  const from = card.server === null ? card.source : `from ${card.server}`;
  return (
    <section class="tool-part">
      <header class="tool-bar">
        <span>
          {edit === undefined ? "Arguments" : edit.path}
          {card.isEdited && ", edited by you"}
          {from !== null && <span class="muted"> · {from}</span>}
        </span>
        {edit !== undefined && (
          <button type="button" class="link" onClick={() => page.post({ type: "diff", callId: card.callId })}>
            Show diff
          </button>
        )}
        {pretty !== "" && (
          <button
            type="button"
            class="link"
            aria-label={`Open the arguments of ${card.name}`}
            onClick={() => page.post({ type: "openArguments", callId: card.callId })}
          >
            Open
          </button>
        )}
      </header>
      {edit !== undefined ? (
        <Code text={edit.edits.map(asDiff).join("\n")} language="diff" />
      ) : pretty === "" ? (
        <p class="muted">None</p>
      ) : (
        <Code text={pretty} language="json" />
      )}
    </section>
  );
}

function Result({ result, page }: { readonly result: ToolResultItem; readonly page: Page }) {
  const { callId, name, lines, bytes, truncated } = result.facts;
  const body = resultBody(result);
  return (
    <section class="tool-part">
      <header class="tool-bar">
        <span>
          Result
          <span class="muted">
            {" "}
            · {count(lines, "line")} · {size(bytes)}
            {truncated && ", shortened here"}
          </span>
        </span>
        <button
          type="button"
          class="link"
          aria-label={`Open the result of ${name}`}
          onClick={() => page.post({ type: "openResult", callId })}
        >
          Open
        </button>
      </header>
      {body !== "" && <Prose text={body} />}
    </section>
  );
}

function Code({ text, language }: { readonly text: string; readonly language: string }) {
  return <div class="code bare" dangerouslySetInnerHTML={{ __html: codeBody(text, language) }} />;
}

function asDiff(edit: { readonly old: string; readonly new: string }): string {
  const lines = (sign: string, text: string) =>
    text
      .replace(/\n$/, "")
      .split("\n")
      .map((line) => `${sign} ${line}`);
  return [...lines("-", edit.old), ...lines("+", edit.new)].join("\n");
}
