/**
 * What a chat shows of its chunks: a pure fold, used by the extension host and by the page alike.
 *
 * The rules are those of the Python and Lua reducers, and all three fold the transcripts of `tests/golden/wire`
 * to the same JSON:
 *
 * - A chunk whose `seq` is not above the last one is ignored. A gap sets `missed`, and the fold goes on.
 * - A durable chunk appends to the last turn's items. Text and code of one region that follow each other are one
 *   item, a structured value from its opening to its closing is one, anything else is an item of its own.
 * - An ephemeral chunk is kept by its slot until another replaces it, `clear` removes it, or the turn ends.
 * - `retract` takes back the durable chunks from `fromSeq` on; an item that is left without any is gone.
 * - A chunk of an unknown type follows the rule of its class; an unknown control chunk is ignored.
 */

import type {
  Chunk,
  CodeChunk,
  NoticeChunk,
  PreviewChunk,
  PromptOpenChunk,
  ReasoningIndicatorChunk,
  Region,
  RetryChunk,
  RoleChunk,
  StatusChunk,
  StructuredChunk,
  TextChunk,
  ToolCallChunk,
  ToolPreparingChunk,
  ToolProgressChunk,
  ToolResultChunk,
  TurnBeginChunk,
  TurnEndChunk,
} from "../protocol.gen";

/** What every chunk has, and what is kept elsewhere. */
const ENVELOPE: ReadonlySet<string> = new Set([
  ...["v", "seq", "turn", "conversation", "cycle", "class", "slot", "md"],
]);

type Envelope = "v" | "seq" | "turn" | "conversation" | "cycle" | "class" | "slot" | "md" | "type";

/** A chunk's own fields. */
type Facts<C> = Omit<C, Envelope>;

/** The number and the text of a chunk. */
export type Piece = readonly [seq: number, md: string];

interface ItemOf<T extends string, F> {
  readonly type: T;
  readonly facts: F;
  /** The chunks that it is made of. */
  readonly pieces: readonly Piece[];
}

export type TextItem = ItemOf<"text", { readonly region: Region }>;
export type StructuredItem = ItemOf<"structured", Readonly<Record<string, never>>>;
export type RoleItem = ItemOf<"role", Facts<RoleChunk>>;
export type ToolCallItem = ItemOf<"tool_call", Facts<ToolCallChunk>>;
export type ToolResultItem = ItemOf<"tool_result", Facts<ToolResultChunk>>;
export type NoticeItem = ItemOf<"notice", Facts<NoticeChunk>>;

/** Something to show, in the order of the transcript; a newer server may send types that are not among these. */
export type Item = TextItem | StructuredItem | RoleItem | ToolCallItem | ToolResultItem | NoticeItem;

/** A turn's facts, as far as they are known, and its items. */
export interface Turn {
  readonly facts: Partial<Facts<TurnBeginChunk> & Facts<TurnEndChunk>>;
  readonly items: readonly Item[];
}

type Slotted<C extends Chunk> = Facts<C> & { readonly type: C["type"] };

/** What a slot shows. */
export type Slot =
  | Slotted<StatusChunk>
  | Slotted<ReasoningIndicatorChunk>
  | Slotted<ToolPreparingChunk>
  | Slotted<ToolProgressChunk>
  | Slotted<RetryChunk>
  | Slotted<NoticeChunk>
  | (Slotted<PreviewChunk> & { readonly md?: string });

/** A question that waits for an answer. */
export type OpenPrompt = Facts<PromptOpenChunk>;

export interface ChatState {
  readonly conversation: string | null;
  readonly lastSeq: number;
  /** Whether a chunk never arrived; showing the conversation again mends it. */
  readonly missed: boolean;
  readonly turns: readonly Turn[];
  readonly slots: Readonly<Record<string, Slot>>;
  readonly prompts: readonly OpenPrompt[];
}

export const EMPTY_CHAT: ChatState = {
  conversation: null,
  lastSeq: 0,
  missed: false,
  turns: [],
  slots: {},
  prompts: [],
};

/** Folds one chunk into a state. */
export function takeChunk(state: ChatState, chunk: Chunk): ChatState {
  if (chunk.seq <= state.lastSeq) {
    return state;
  }
  const seen: ChatState = {
    ...state,
    conversation: chunk.conversation ?? state.conversation,
    lastSeq: chunk.seq,
    missed: state.missed || chunk.seq !== state.lastSeq + 1,
  };
  switch (chunk.class) {
    case "durable":
      return append(seen, chunk);
    case "ephemeral":
      return fillSlot(seen, chunk);
    case "control":
      return control(seen, chunk);
    default:
      return seen;
  }
}

/** Folds chunks in their order. */
export function takeChunks(state: ChatState, chunks: Iterable<Chunk>): ChatState {
  let next = state;
  for (const chunk of chunks) {
    next = takeChunk(next, chunk);
  }
  return next;
}

/** The Markdown of an item. */
export function markdownOf(item: Item): string {
  return item.pieces.map(([, md]) => md).join("");
}

/** The Markdown of everything. */
export function transcriptOf(state: ChatState): string {
  return state.turns.flatMap((turn) => turn.items.map(markdownOf)).join("");
}

/** The state as the golden files have it. */
export function asJson(state: ChatState): unknown {
  const { turns, ...rest } = state;
  return {
    ...rest,
    turns: turns.map((turn) => ({
      ...turn.facts,
      items: turn.items.map((item) => ({ type: item.type, ...item.facts, md: markdownOf(item) })),
    })),
    transcript: transcriptOf(state),
  };
}

type Durable = Exclude<Extract<Chunk, { md?: string }>, PreviewChunk>;

function append(state: ChatState, chunk: Durable): ChatState {
  const before = state.turns.slice(0, -1);
  const turn = state.turns.at(-1) ?? { facts: {}, items: [] };
  return { ...state, turns: [...before, { ...turn, items: withPiece(turn.items, chunk) }] };
}

function withPiece(items: readonly Item[], chunk: Durable): readonly Item[] {
  const last = items.at(-1);
  const piece: Piece = [chunk.seq, chunk.md ?? ""];
  if (last !== undefined && joins(last, chunk)) {
    return [...items.slice(0, -1), { ...last, pieces: [...last.pieces, piece] }];
  }
  return [...items, newItem(chunk, piece)];
}

function joins(last: Item, chunk: Durable): boolean {
  switch (chunk.type) {
    case "text":
    case "code":
      return last.type === "text" && last.facts.region === chunk.region;
    case "structured":
      return chunk.part !== "open" && last.type === "structured";
    default:
      return false;
  }
}

function newItem(chunk: Durable, piece: Piece): Item {
  switch (chunk.type) {
    case "text":
    case "code":
      return {
        type: "text",
        facts: { region: (chunk satisfies TextChunk | CodeChunk).region },
        pieces: [piece],
      };
    case "structured":
      return { type: (chunk satisfies StructuredChunk).type, facts: {}, pieces: [piece] };
    default:
      return { type: chunk.type, facts: factsOf(chunk), pieces: [piece] } as unknown as Item;
  }
}

type Ephemeral = Extract<Chunk, { slot?: string }>;

function fillSlot(state: ChatState, chunk: Ephemeral): ChatState {
  const slot = chunk.slot ?? chunk.type;
  const others = Object.fromEntries(Object.entries(state.slots).filter(([name]) => name !== slot));
  if (chunk.clear === true) {
    return { ...state, slots: others };
  }
  const md = "md" in chunk ? { md: chunk.md } : {};
  const filled = { type: chunk.type, ...factsOf(chunk), ...md } as unknown as Slot;
  return { ...state, slots: { ...others, [slot]: filled } };
}

type Control = Extract<Chunk, { class: "control" }>;

function control(state: ChatState, chunk: Control): ChatState {
  switch (chunk.type) {
    case "turn_begin":
      return { ...state, turns: [...state.turns, { facts: factsOf(chunk), items: [] }] };
    case "turn_end":
      return { ...state, slots: {}, turns: endLast(state.turns, factsOf(chunk)) };
    case "retract":
      return { ...state, turns: state.turns.map((turn) => withoutPieces(turn, chunk.fromSeq)) };
    case "prompt_open":
      return { ...state, prompts: [...state.prompts, factsOf(chunk) as unknown as OpenPrompt] };
    case "prompt_closed":
      return { ...state, prompts: state.prompts.filter((open) => open.decisionId !== chunk.decisionId) };
    default:
      return state;
  }
}

function endLast(turns: readonly Turn[], facts: Readonly<Record<string, unknown>>): readonly Turn[] {
  const last = turns.at(-1);
  return last === undefined
    ? turns
    : [...turns.slice(0, -1), { ...last, facts: { ...last.facts, ...facts } }];
}

function withoutPieces(turn: Turn, first: number): Turn {
  const items = turn.items
    .map((item): Item => ({ ...item, pieces: item.pieces.filter(([seq]) => seq < first) }))
    .filter((item) => item.pieces.length > 0);
  return { ...turn, items };
}

function factsOf(chunk: Chunk): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(chunk).filter(([name]) => name !== "type" && !ENVELOPE.has(name)));
}
