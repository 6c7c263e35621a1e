/** A turn: what the user asked, and everything that came of it. */

import type { PromptParams, QueryResult } from "../protocol.gen";
import {
  markdownOf,
  type ChatState,
  type Item,
  type NoticeItem,
  type RoleItem,
  type Turn,
} from "../state/chatState";
import type { TurnAction } from "../ui/messages";
import { Icon } from "./icon";
import type { IconName } from "./icons";
import type { Page } from "./page";
import { Prose } from "./prose";
import { Pure } from "./pure";
import { Tool } from "./tool";
import { callsOf, cardOf, cardOfResult, preparingCards, type Calls, type Live } from "./toolCard";
import { outcomeText, usageText } from "./words";

interface TurnProps {
  readonly turn: Turn;
  /** The chat and its open questions, while the turn runs. */
  readonly chat: ChatState | null;
  readonly prompts: readonly PromptParams[] | null;
  /** How the query ended, behind its last turn. */
  readonly result: QueryResult | null;
  readonly page: Page;
}

export class TurnView extends Pure<TurnProps> {
  override render() {
    const { turn, chat, prompts, result, page } = this.props;
    const live = chat === null ? null : { chat, prompts: prompts ?? [] };
    const calls = callsOf(turn);
    const { turnIndex } = turn.facts;
    const onAction =
      turnIndex === undefined || live !== null
        ? null
        : (action: TurnAction) => {
            page.post({ type: "turn", turn: turnIndex, action });
          };
    return (
      <article
        class="turn"
        aria-label={turnIndex === undefined ? "Turn" : `Turn ${turnIndex}`}
        data-turn={turnIndex}
        style={reasoningStyle(turn.facts.reasoningBackground)}
      >
        {speechesOf(turn.items).map(({ role, items }, index) => (
          <section key={index} class={`speech ${role?.facts.role ?? "assistant"}`}>
            {role !== null && <Speaker role={role} />}
            {items.map((item, place) => (
              <Part
                key={place}
                item={item}
                calls={calls}
                live={live}
                isLast={item === turn.items.at(-1)}
                page={page}
              />
            ))}
            {index === 0 && onAction !== null && <TurnButtons onAction={onAction} />}
          </section>
        ))}
        {live !== null && <Unwritten live={live} page={page} />}
        {live === null && <Ending turn={turn} result={result} page={page} />}
      </article>
    );
  }
}

/** A query of which no chunk has come yet. */
export function AskedTurn({ text }: { readonly text: string }) {
  return (
    <article class="turn" aria-label="New turn">
      <section class="speech user">
        <h2 class="speaker">
          <Icon name="person" />
          You
        </h2>
        <Prose text={text} />
      </section>
    </article>
  );
}

interface Speech {
  readonly role: RoleItem | null;
  readonly items: readonly Item[];
}

/**
 * The colour that the settings want behind reasoning, with one for the text that can be read on it. Only `#rrggbb`
 * counts, since a theme has no numbered colours.
 */
function reasoningStyle(colour: string | undefined): Record<string, string> {
  const hex = /^"?#?([0-9a-f]{6})"?$/i.exec(colour ?? "")?.[1];
  if (hex === undefined) {
    return {};
  }
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const isDark = 0.299 * red + 0.587 * green + 0.114 * blue < 128;
  return { "--reasoning-background": `#${hex}`, "--reasoning-text": isDark ? "#e8e8e8" : "#202020" };
}

/** Whoever speaks, with what they say. A notice is the program's own, even if the user was the last to speak. */
function speechesOf(items: readonly Item[]): readonly Speech[] {
  const speeches: { role: RoleItem | null; items: Item[] }[] = [];
  for (const item of items) {
    const last = speeches.at(-1);
    if (item.type === "role") {
      speeches.push({ role: item, items: [] });
    } else if (last === undefined || (item.type === "notice" && last.role?.facts.role === "user")) {
      speeches.push({ role: null, items: [item] });
    } else {
      last.items.push(item);
    }
  }
  return speeches;
}

function Speaker({ role }: { readonly role: RoleItem }) {
  const { label, model, detail, role: who } = role.facts;
  return (
    <h2 class="speaker">
      <Icon name={who === "user" ? "person" : "model"} />
      {label}
      {model !== undefined && <span class="muted">{model}</span>}
      {detail !== undefined && <span class="muted">{detail}</span>}
    </h2>
  );
}

const TURN_BUTTONS: readonly {
  readonly action: TurnAction;
  readonly icon: IconName;
  readonly title: string;
}[] = [
  { action: "replay", icon: "replay", title: "Ask this turn again" },
  { action: "rephrase", icon: "rephrase", title: "Ask it in other words" },
  { action: "edit", icon: "edit", title: "Change what you said" },
  { action: "fork", icon: "fork", title: "Fork: copy the conversation up to this turn" },
  { action: "remove", icon: "trash", title: "Remove this turn" },
];

function TurnButtons({ onAction }: { readonly onAction: (action: TurnAction) => void }) {
  return (
    <div class="turn-buttons">
      {TURN_BUTTONS.map(({ action, icon, title }) => (
        <button
          key={action}
          type="button"
          class="icon-button"
          title={title}
          aria-label={title}
          onClick={() => {
            onAction(action);
          }}
        >
          <Icon name={icon} />
        </button>
      ))}
    </div>
  );
}

interface PartProps {
  readonly item: Item;
  readonly calls: Calls;
  readonly live: Live | null;
  readonly isLast: boolean;
  readonly page: Page;
}

function Part({ item, calls, live, isLast, page }: PartProps) {
  switch (item.type) {
    case "text":
      return item.facts.region === "reasoning" ? (
        <Reasoning text={markdownOf(item)} isGrowing={live !== null && isLast} />
      ) : (
        <Prose text={markdownOf(item)} />
      );
    case "tool_call":
      return <Tool {...cardOf(item, calls, live)} page={page} />;
    case "tool_result":
      return calls.called.has(item.facts.callId) ? null : <Tool {...cardOfResult(item)} page={page} />;
    case "notice":
      return <TurnNotice item={item} />;
    default:
      return <Prose text={markdownOf(item)} />;
  }
}

function Reasoning({ text, isGrowing }: { readonly text: string; readonly isGrowing: boolean }) {
  const line = text.trim().split("\n").at(-1) ?? "";
  return (
    <details class="reasoning">
      <summary>
        <Icon name="chevron" />
        <span>{isGrowing ? "Thinking" : "Thought"}</span>
        {isGrowing && <span class="reasoning-line muted">{line}</span>}
      </summary>
      <Prose text={text} />
    </details>
  );
}

function TurnNotice({ item }: { readonly item: NoticeItem }) {
  return <Told level={item.facts.level} text={item.facts.text ?? markdownOf(item)} />;
}

function Told({
  level = "info",
  text,
}: {
  readonly level?: NoticeItem["facts"]["level"];
  readonly text: string;
}) {
  return (
    <p class={`notice ${level}`}>
      <Icon name={level} />
      <span>{text}</span>
    </p>
  );
}

/** What is not in the transcript: notices of the moment, calls that are being written, and text that is held back. */
function Unwritten({ live, page }: { readonly live: Live; readonly page: Page }) {
  const preview = live.chat.slots["preview"];
  return (
    <>
      {Object.entries(live.chat.slots).map(
        ([name, slot]) =>
          slot.type === "notice" && <Told key={name} level={slot.level} text={slot.text ?? ""} />,
      )}
      {preview?.type === "preview" && preview.md !== undefined && (
        <div class="preview">
          <Prose text={preview.md} />
        </div>
      )}
      {preparingCards(live).map((card) => (
        <Tool key={card.callId} {...card} page={page} />
      ))}
    </>
  );
}

type EndingProps = Pick<TurnProps, "turn" | "result" | "page">;

function Ending({ turn, result, page }: EndingProps) {
  const usage = turn.facts.usage ?? result?.usage;
  const saidByNotice = turn.items.some((item) => item.type === "notice");
  const outcome = turn.facts.outcome === undefined || saidByNotice ? "" : outcomeText(turn.facts.outcome);
  const unsaved = (result?.persisted ?? turn.facts.persisted) === false ? "Not saved" : "";
  const words = [outcome, unsaved, usage === undefined ? "" : usageText(usage)].filter((text) => text !== "");
  const chain = result?.error?.chain ?? [];
  const recovery = result?.recoveryUri;
  return (
    <>
      {chain.length > 0 && (
        <details class="chain">
          <summary>
            <Icon name="chevron" />
            What happened
          </summary>
          <ol>
            {chain.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ol>
        </details>
      )}
      {recovery !== undefined && (
        <button type="button" class="link" onClick={() => page.post({ type: "openUri", uri: recovery })}>
          Open the copy that was saved elsewhere
        </button>
      )}
      {words.length > 0 && <p class="ending">{words.join(" · ")}</p>}
    </>
  );
}
