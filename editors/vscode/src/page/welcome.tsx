/** What stands in an empty conversation, and what is said while there is no server. */

import type { Server } from "./model";
import { Icon } from "./icon";
import type { Page } from "./page";

const HINTS = [
  ["Understand", "Explain how the open file works, and what to read next."],
  ["Fix", "Find out why the tests fail and propose a fix."],
  ["Build", "Add a command-line flag, with its tests and documentation."],
] as const;

interface ServerProps {
  readonly server: Server;
  readonly page: Page;
}

export function Welcome({ server, page }: ServerProps) {
  if (server.status === "missing") {
    return (
      <div class="welcome">
        <ServerState server={server} page={page} />
      </div>
    );
  }
  return (
    <div class="welcome">
      <Icon name="model" />
      <h2>What are we working on?</h2>
      <p class="muted">JP reads files and runs tools only as you allow it.</p>
      <ul>
        {HINTS.map(([title, text]) => (
          <li key={title}>
            <button type="button" class="hint-button" onClick={() => page.suggest(text)}>
              <strong>{title}</strong>
              <span>{text}</span>
            </button>
          </li>
        ))}
      </ul>
      <p class="muted keys">
        <kbd>Enter</kbd> sends · <kbd>Shift</kbd>+<kbd>Enter</kbd> new line · <kbd>↑</kbd> last question ·{" "}
        <kbd>Esc</kbd> interrupts
      </p>
    </div>
  );
}

const TITLES: Readonly<Record<Server["status"], string>> = {
  missing: "The JP server is not installed",
  starting: "Starting the JP server",
  stopped: "The JP server has stopped",
  ready: "",
};

export function ServerState({ server, page }: ServerProps) {
  const { status, message, action } = server;
  if (status === "ready") {
    return null;
  }
  return (
    <div class={`server ${status}`} role="status">
      {status === "starting" ? (
        <span class="spinner" />
      ) : (
        <Icon name={status === "missing" ? "info" : "warning"} />
      )}
      <div>
        <strong>{TITLES[status]}</strong>
        {message !== undefined && <p>{message}</p>}
        {action !== undefined && (
          <button
            type="button"
            class="button primary"
            onClick={() => page.post({ type: "serverAction", id: action.id })}
          >
            {action.title}
          </button>
        )}
      </div>
    </div>
  );
}
