/** What the chat says when a request was answered with an error: what went wrong, and what to do about it. */

import type { ErrorCode, ErrorData } from "../protocol.gen";
import type { ActionButton } from "../ui/messages";

export interface Failure {
  readonly message: string;
  readonly hint?: string;
  readonly draft?: string;
  readonly action?: ActionButton;
}

/** The connection went away before there was an answer; the numbers are those of vscode-jsonrpc. */
const PENDING_RESPONSE_REJECTED = -32097;
const CONNECTION_INACTIVE = -32096;

/** How the server begins when a program has asked wrongly; the rest is for people too. */
const WIRE_WORDS = /^Invalid params for [\w/]+: /;

const SHOW_LOG: ActionButton = { id: "log", title: "Show Server Log" };

const CHOOSE_MODEL: ActionButton = { id: "model", title: "Choose a Model" };

/** The setting that is at fault where a query has no model, or one that there cannot be. */
const MODEL_SETTING = "assistant.model.id";

const ADVICE: Partial<Record<ErrorCode, Omit<Failure, "message">>> = {
  no_workspace: {
    hint: "JP keeps its conversations and settings in a folder named .jp.",
    action: { id: "init", title: "Make This Folder a Workspace" },
  },
  provider_auth: { hint: "Set the key where the server can see it, then restart the server." },
  model_unknown: { hint: "Pick another model below the input." },
  conversation_not_found: {
    hint: "Bring it back from the archive, or take it back where it was removed: the tree of conversations has both.",
  },
  conversation_busy: { hint: "Wait until the other query is done." },
  internal: { action: SHOW_LOG },
};

/** Describes whatever a request was rejected with. */
export function describeFailure(error: unknown): Failure {
  if (!isResponseError(error)) {
    return { message: error instanceof Error ? error.message : String(error) };
  }
  if (isConnectionLost(error)) {
    return {
      message: "The server stopped before it had answered.",
      hint: "What had come until then is kept, and the turn can be resumed.",
      action: SHOW_LOG,
    };
  }
  const data = isErrorData(error.data) ? error.data : undefined;
  const advice = data === undefined ? {} : ADVICE[data.code];
  const isTold = data?.origin === undefined || error.message.includes(data.origin);
  const origin = isTold ? {} : { hint: `See ${data.origin}.` };
  const model = data?.origin === MODEL_SETTING ? { action: CHOOSE_MODEL } : {};
  const draft = data?.draft === undefined ? {} : { draft: data.draft };
  const message = error.message.replace(WIRE_WORDS, "");
  return { message, ...origin, ...model, ...advice, ...draft };
}

/** Whether the server went away before it answered. */
export function isConnectionLost(error: unknown): boolean {
  return (
    isResponseError(error) && (error.code === PENDING_RESPONSE_REJECTED || error.code === CONNECTION_INACTIVE)
  );
}

interface ResponseError extends Error {
  readonly code: number;
  readonly data?: unknown;
}

function isResponseError(error: unknown): error is ResponseError {
  return error instanceof Error && "code" in error && typeof error.code === "number";
}

function isErrorData(data: unknown): data is ErrorData {
  return typeof data === "object" && data !== null && "code" in data && typeof data.code === "string";
}
