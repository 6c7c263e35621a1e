/**
 * What the chat view's page and the extension host say to each other.
 *
 * The host keeps the truth. On `ready` it sends `open` and everything since, so the page is a pure function of
 * the messages and may be thrown away at any time.
 */

import type { Chunk, PromptParams, QueryResult, SearchScope } from "../protocol.gen";

/** An attachment of the next query. */
export interface Chip {
  readonly uri: string;
  readonly label: string;
  readonly detail?: string;
}

/** Show this conversation from its beginning. */
export interface ToPageOpen {
  readonly type: "open";
  readonly conversation: string | null;
  readonly title: string;
  readonly chunks: readonly Chunk[];
  /** What stood in the input. */
  readonly draft: string;
}

/** Show a place of the conversation: a turn, and in it a text that was said in a certain way. */
export interface ToPageReveal {
  readonly type: "reveal";
  readonly turn: number;
  readonly scope: SearchScope;
  readonly text: string;
}

/** What a button beside a message can do; `init` makes the folder a workspace, `model` tells how to get a model. */
export type ServerAction = "install" | "start" | "log" | "init" | "model";

/** A button beside a message. */
export interface ActionButton {
  readonly id: ServerAction;
  readonly title: string;
}

/** From the host to the page. Chunks come in batches. */
export type ToPage =
  | ToPageOpen
  /** A query was sent. */
  | { readonly type: "query"; readonly token: string; readonly text: string }
  | { readonly type: "chunks"; readonly token: string; readonly chunks: readonly Chunk[] }
  | { readonly type: "result"; readonly token: string; readonly result: QueryResult }
  /** The query was answered with an error; `draft` is its text, so that nothing typed is lost. */
  | {
      readonly type: "failed";
      readonly token: string;
      readonly message: string;
      readonly hint?: string;
      readonly draft?: string;
      readonly action?: ActionButton;
    }
  /** The last turn was cut off, and `resume` goes on with it; `calls` are the tools that it was about to run. */
  | { readonly type: "unfinished"; readonly calls: readonly string[] }
  /** A question: approvals, menus, picks, texts. */
  | { readonly type: "prompt"; readonly prompt: PromptParams }
  | { readonly type: "promptClosed"; readonly decisionId: string }
  | { readonly type: "notice"; readonly level: "info" | "warning" | "error"; readonly text: string }
  | {
      readonly type: "server";
      readonly status: "missing" | "starting" | "ready" | "stopped";
      readonly message?: string;
      readonly action?: ActionButton;
    }
  | {
      readonly type: "context";
      readonly chips: readonly Chip[];
      readonly model: string | null;
      readonly persona: string | null;
    }
  /** The conversation got another title. */
  | { readonly type: "title"; readonly title: string }
  /** Put the cursor into the input. */
  | { readonly type: "focus" }
  | ToPageReveal;

/**
 * What can be done with a turn: go on in a copy that ends with it, ask it again as it is or in other words, change
 * its question and leave the answer, remove it.
 */
export type TurnAction = "fork" | "replay" | "rephrase" | "edit" | "remove";

/** From the page to the host. */
export type FromPage =
  | { readonly type: "ready" }
  | { readonly type: "ask"; readonly text: string }
  /** Go on with the turn that `unfinished` told of. */
  | { readonly type: "resume" }
  | {
      readonly type: "interrupt";
      readonly token: string;
      readonly action?: "continue" | "reply" | "stop" | "abort" | "respond" | "restart";
      readonly text?: string;
    }
  /** Neither action nor text: dismissed. */
  | {
      readonly type: "answer";
      readonly decisionId: string;
      readonly action?: string;
      readonly text?: string;
    }
  /** Read them in a virtual document. */
  | { readonly type: "openArguments"; readonly callId: string }
  | { readonly type: "openResult"; readonly callId: string }
  /** In an editor; its Send command answers. */
  | { readonly type: "editArguments"; readonly decisionId: string }
  /** The proposed edit against the file, in the diff editor. */
  | { readonly type: "diff"; readonly callId: string }
  | { readonly type: "copy"; readonly text: string }
  | { readonly type: "insert"; readonly text: string }
  | { readonly type: "apply"; readonly text: string; readonly language?: string }
  | { readonly type: "openUri"; readonly uri: string }
  | { readonly type: "attach" }
  | { readonly type: "removeChip"; readonly uri: string }
  | { readonly type: "pickModel" }
  | { readonly type: "pickPersona" }
  | { readonly type: "newConversation" }
  | { readonly type: "turn"; readonly turn: number; readonly action: TurnAction }
  | { readonly type: "serverAction"; readonly id: ServerAction }
  /** What stands in the input, kept over reloads. */
  | { readonly type: "draft"; readonly text: string };
