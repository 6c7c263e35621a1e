/** The page of the chat view: takes the host's messages, draws what they come to, and tells what the user does. */

import { render, createRef } from "preact";
import type { PromptParams } from "../protocol.gen";
import type { FromPage, ToPage } from "../ui/messages";
import { announcements } from "./announce";
import { Frames } from "./frames";
import { isQuestionKey, writesNowhere } from "./keys";
import { dismissNotice, EMPTY_MODEL, runningQuery, takeMessage, type Model } from "./model";
import type { Page } from "./page";
import { findPlace, showPlace } from "./place";
import { View } from "./view";

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };

/** Milliseconds after the last question in which another may come up. */
const NEXT_QUESTION_TIME = 300;

/** Milliseconds for which a button says that it has copied. */
const COPIED_TIME = 1500;

const root = document.body.appendChild(document.createElement("div"));
root.id = "page";
const voice = document.body.appendChild(document.createElement("div"));
voice.className = "voice";
voice.setAttribute("role", "status");
voice.setAttribute("aria-live", "polite");

const host = acquireVsCodeApi();
const view = createRef<View>();
let model: Model = EMPTY_MODEL;
let drawn: Model = EMPTY_MODEL;
let taken = 0;
/** Tells whether a question follows from what the user did last, so that it may take the focus. */
let isExpected: (question: PromptParams) => boolean = () => false;

const page: Page = {
  post: (message) => {
    host.postMessage(message);
  },
  answer: ({ decisionId, callId }, answer) => {
    page.focusInput();
    view.current?.scroller.current?.stayWithQuestions();
    isExpected = (question) => question.callId === callId;
    host.postMessage({ type: "answer", decisionId, ...answer });
  },
  press: () => {
    const query = runningQuery(model);
    if (query !== undefined) {
      isExpected = (question) => question.kind === "menu";
      host.postMessage({ type: "interrupt", token: query.token });
    }
  },
  ask: (text) => {
    isExpected = () => false;
    view.current?.scroller.current?.toEnd();
    host.postMessage({ type: "ask", text });
  },
  dismissNotice: (number) => {
    model = dismissNotice(model, number);
    frames.want();
  },
  focusQuestion: () => {
    const question = root.querySelector<HTMLElement>(".prompt");
    question?.scrollIntoView({ block: "nearest" });
    question?.querySelector<HTMLElement>("button, input, textarea")?.focus();
  },
  focusInput: () => {
    view.current?.input.current?.focus();
  },
  suggest: (text) => {
    view.current?.input.current?.write(text);
    page.focusInput();
  },
};

const frames = new Frames(draw);

function draw(): void {
  const hadFocus = root.contains(document.activeElement);
  const before = drawn;
  drawn = model;
  render(<View ref={view} model={model} page={page} />, root);
  root.dataset["drawn"] = String(taken); // how many messages it shows, for tests to wait for
  say(announcements(before, drawn));
  if (drawn.place !== null && drawn.place !== before.place) {
    const found = findPlace(root, drawn.place);
    if (found !== null) {
      showPlace(root, found);
      view.current?.scroller.current?.noteScroll();
    }
  }
  const newest = drawn.prompts.find((prompt) => !before.prompts.includes(prompt));
  const isBlank = view.current?.input.current?.isBlank ?? false;
  if (newest !== undefined && isExpected(newest) && isBlank && document.hasFocus()) {
    isExpected = () => false;
    if (newest.kind === "edit") {
      page.post({ type: "editArguments", decisionId: newest.decisionId });
    } else {
      page.focusQuestion();
    }
  } else if (hadFocus && !root.contains(document.activeElement)) {
    page.focusInput(); // what had the focus is gone
  }
  if (newest !== undefined) {
    showQuestion(newest);
  } else if (before.prompts.length > 0 && drawn.prompts.length === 0) {
    setTimeout(leaveQuestions, NEXT_QUESTION_TIME);
  }
}

function showQuestion({ decisionId }: PromptParams): void {
  const shown = root.querySelector(`[data-decision="${CSS.escape(decisionId)}"]`);
  if (shown !== null) {
    view.current?.scroller.current?.toQuestion(shown);
  }
}

function leaveQuestions(): void {
  if (drawn.prompts.length === 0) {
    view.current?.scroller.current?.leaveQuestions();
  }
}

function say(sentences: readonly string[]): void {
  if (sentences.length > 0) {
    const line = document.createElement("p");
    line.textContent = sentences.join(" ");
    voice.replaceChildren(line);
  }
}

function handleCodeButton(button: HTMLElement): void {
  const block = button.closest<HTMLElement>(".code");
  const text = block?.querySelector("code")?.textContent ?? "";
  const language = block?.dataset["language"] ?? "";
  switch (button.dataset["act"]) {
    case "copy":
      page.post({ type: "copy", text });
      say(["Copied."]);
      button.classList.add("is-done");
      setTimeout(() => {
        button.classList.remove("is-done");
      }, COPIED_TIME);
      break;
    case "insert":
      page.post({ type: "insert", text });
      break;
    case "apply":
      page.post({ type: "apply", text, ...(language !== "" && { language }) });
      break;
  }
}

window.addEventListener("message", (event: MessageEvent<ToPage>) => {
  model = takeMessage(model, event.data);
  taken += 1;
  frames.want();
});

root.addEventListener("click", (event) => {
  const target = event.target as Element;
  const link = target.closest("a");
  if (link !== null) {
    event.preventDefault();
    page.post({ type: "openUri", uri: link.getAttribute("href") ?? "" });
  }
  const button = target.closest<HTMLElement>("[data-act]");
  if (button !== null) {
    handleCodeButton(button);
  }
});

window.addEventListener("keydown", (event) => {
  if (isQuestionKey(event)) {
    event.preventDefault();
    page.focusQuestion();
  } else if (event.key === "Escape" && !event.isComposing && runningQuery(model) !== undefined) {
    event.preventDefault();
    page.press();
  } else if (writesNowhere(event)) {
    page.focusInput();
  } else if (event.key.length === 1) {
    isExpected = () => false;
  }
});

draw();
page.post({ type: "ready" });
