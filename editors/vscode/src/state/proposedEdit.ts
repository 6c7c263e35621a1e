/** What a file would be after a call of `editor_edit_file`, so that it can be shown before it is allowed. */

/** The name of the tool whose arguments are an edit. */
export const EDIT_TOOL = "editor_edit_file";

/** A file and what is to be replaced in it. */
export interface ProposedEdit {
  /** As the model wrote it: absolute, or from the workspace folder on. */
  readonly path: string;
  readonly edits: readonly { readonly old: string; readonly new: string }[];
}

/** Reads the arguments of a call; undefined when they are not those of an edit. */
export function readProposedEdit(json: string): ProposedEdit | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || typeof value["path"] !== "string" || !Array.isArray(value["edits"])) {
    return undefined;
  }
  const edits = value["edits"].map((edit: unknown) =>
    isRecord(edit) && typeof edit["old"] === "string" && typeof edit["new"] === "string"
      ? { old: edit["old"], new: edit["new"] }
      : undefined,
  );
  return edits.every((edit) => edit !== undefined) ? { path: value["path"], edits } : undefined;
}

/**
 * Gives the text with all edits made, as the server would make them: each fits the text exactly once, and none
 * overlaps another. Undefined when they do not fit.
 */
export function applyEdits(text: string, edits: ProposedEdit["edits"]): string | undefined {
  const adapt = (piece: string) =>
    text.includes("\r\n") && !piece.includes("\r") ? piece.replaceAll("\n", "\r\n") : piece;
  const found: { start: number; end: number; text: string }[] = [];
  for (const edit of edits) {
    const wanted = text.includes(edit.old) ? edit.old : adapt(edit.old);
    const start = text.indexOf(wanted);
    if (wanted === "" || start < 0 || text.includes(wanted, start + 1)) {
      return undefined;
    }
    found.push({ start, end: start + wanted.length, text: adapt(edit.new) });
  }
  found.sort((one, other) => one.start - other.start);
  let result = "";
  let position = 0;
  for (const { start, end, text: replacement } of found) {
    if (start < position) {
      return undefined;
    }
    result += text.slice(position, start) + replacement;
    position = end;
  }
  return result + text.slice(position);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
