/** The whole page: the transcript, and docked below it what is going on, what is asked, and the input. */

import { createRef } from "preact";
import type { PromptParams } from "../protocol.gen";
import type { ChatState } from "../state/chatState";
import { Icon } from "./icon";
import { Input } from "./input";
import { earlierQueries, isBlank, lastModel, runningQuery, showsCall, type Model, type Query } from "./model";
import type { Page } from "./page";
import { Prompt } from "./prompt";
import { Pure } from "./pure";
import { Scroller } from "./scroller";
import { Status } from "./status";
import { AskedTurn, TurnView } from "./turn";
import { ServerState, Welcome } from "./welcome";

interface ViewProps {
  readonly model: Model;
  readonly page: Page;
}

export class View extends Pure<ViewProps> {
  readonly input = createRef<Input>();
  readonly scroller = createRef<Scroller>();

  override render() {
    const { model, page } = this.props;
    const running = runningQuery(model);
    const docked = model.prompts.filter(({ callId }) => callId === undefined || !showsCall(model, callId));
    const { server } = model;
    const isMissingAtFirst = server.status === "missing" && isBlank(model);
    return (
      <>
        <header class="head">
          <h1>{model.title || (earlierQueries(model)[0] ?? "New conversation")}</h1>
          <button
            type="button"
            class="icon-button"
            title="New conversation"
            aria-label="New conversation"
            onClick={() => page.post({ type: "newConversation" })}
          >
            <Icon name="plus" />
          </button>
        </header>
        <Scroller ref={this.scroller} grows={!isBlank(model)}>
          {model.isOpen && isBlank(model) && <Welcome server={server} page={page} />}
          <Stored chat={model.stored} page={page} />
          {model.queries.map((query) => (
            <QueryView
              key={query.token}
              query={query}
              prompts={query === running ? model.prompts : null}
              page={page}
            />
          ))}
        </Scroller>
        <div class="dock">
          {!isMissingAtFirst && <ServerState server={server} page={page} />}
          <Notices model={model} page={page} />
          {model.unfinished !== null && <Unfinished calls={model.unfinished} page={page} />}
          {docked.map((prompt) => (
            <Prompt key={prompt.decisionId} prompt={prompt} page={page} />
          ))}
          <Status query={running} prompts={model.prompts} page={page} />
          <Input
            ref={this.input}
            draft={model.draft}
            focusWishes={model.focusWishes}
            earlier={this.earlier}
            isRunning={running !== undefined}
            hasMenu={model.prompts.some(({ kind }) => kind === "menu")}
            chips={model.chips}
            modelName={model.modelName ?? lastModel(model) ?? null}
            persona={model.persona}
            page={page}
          />
        </div>
      </>
    );
  }

  private readonly earlier = () => earlierQueries(this.props.model);
}

class Stored extends Pure<{ readonly chat: ChatState; readonly page: Page }> {
  override render() {
    const { chat, page } = this.props;
    return (
      <>
        {chat.turns.map((turn, index) => (
          <TurnView key={index} turn={turn} chat={null} prompts={null} result={null} page={page} />
        ))}
      </>
    );
  }
}

interface QueryProps {
  readonly query: Query;
  /** The open questions while it runs, else null. */
  readonly prompts: readonly PromptParams[] | null;
  readonly page: Page;
}

class QueryView extends Pure<QueryProps> {
  override render() {
    const { query, prompts, page } = this.props;
    const { chat, failure, result } = query;
    const isOver = failure !== null || result !== null;
    const last = chat.turns.length - 1;
    return (
      <>
        {last < 0 && query.text !== "" && <AskedTurn text={query.text} />}
        {chat.turns.map((turn, index) => (
          <TurnView
            key={index}
            turn={turn}
            chat={!isOver && index === last ? chat : null}
            prompts={!isOver && index === last ? prompts : null}
            result={index === last ? result : null}
            page={page}
          />
        ))}
        {failure !== null && (
          <div class="failure">
            <Icon name="error" />
            <div>
              <strong>{failure.message}</strong>
              {failure.hint !== undefined && <p>{failure.hint}</p>}
              {failure.action !== undefined && <FailureButton action={failure.action} page={page} />}
            </div>
          </div>
        )}
      </>
    );
  }
}

interface FailureButtonProps {
  readonly action: NonNullable<NonNullable<Query["failure"]>["action"]>;
  readonly page: Page;
}

function FailureButton({ action, page }: FailureButtonProps) {
  return (
    <button type="button" class="button" onClick={() => page.post({ type: "serverAction", id: action.id })}>
      {action.title}
    </button>
  );
}

function Notices({ model, page }: ViewProps) {
  return (
    <>
      {model.notices.map(({ number, level, text }) => (
        <div key={number} class={`notice boxed ${level}`}>
          <Icon name={level} />
          <span>{text}</span>
          <button
            type="button"
            class="icon-button"
            aria-label="Dismiss"
            title="Dismiss"
            onClick={() => page.dismissNotice(number)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </>
  );
}

function Unfinished({ calls, page }: { readonly calls: readonly string[]; readonly page: Page }) {
  const what = calls.length === 0 ? "" : ` It was about to run ${calls.join(", ")}.`;
  return (
    <div class="notice boxed info">
      <Icon name="info" />
      <span>The last turn was cut off.{what}</span>
      <button type="button" class="button" onClick={() => page.post({ type: "resume" })}>
        Go on
      </button>
    </div>
  );
}
