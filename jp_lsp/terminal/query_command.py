"""`jp-lsp query`: asks a question in the terminal, as a client like any editor."""

import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import jp_lsp
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.protocol.prompt import PromptParams
from jp_lsp.terminal import report
from jp_lsp.terminal.asking import Asker
from jp_lsp.terminal.facts import columns_of, is_dumb, is_unicode, look_of, output_encoding
from jp_lsp.terminal.keyboard import is_in_background, open_terminal
from jp_lsp.terminal.operations import Operation, Say
from jp_lsp.terminal.output import OutputThread
from jp_lsp.terminal.painter import Painter, Stream
from jp_lsp.terminal.presenter import HumanPresenter, JsonPresenter, Presenter, Stage
from jp_lsp.terminal.query_options import QueryOptions
from jp_lsp.terminal.query_text import TextTooLarge, is_piped, join_texts, read_piped
from jp_lsp.terminal.questions import Questions
from jp_lsp.terminal.report import Ending
from jp_lsp.terminal.screen import Screen, Show
from jp_lsp.terminal.server_process import ServerGone, ServerProcess
from jp_lsp.terminal.session import CannotAsk, Client, Session
from jp_lsp.terminal.signals import signals_handled
from jp_lsp.terminal.status import StatusStyle
from jp_lsp.terminal.words import plain

_LONGEST_DRAFT_SHOWN = 2000
_TIDY_WITHIN = 0.3


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where the command runs, and the server that it starts."""

    version: str
    folder: Path
    environ: Mapping[str, str]
    server: Sequence[str]


def server_command(*, is_verbose: bool) -> list[str]:
    """Give the command of the server that belongs to this client.

    Python looks for modules in the current folder first, which here is the user's: a file `random.py` there
    would be run, and break the server. So it is told not to, unless this program itself was found that way.
    """
    is_found_elsewhere = sys.flags.safe_path or str(Path(jp_lsp.__file__).parents[1]) in sys.path[1:]
    safely = ["-P"] if is_found_elsewhere else []
    level = "info" if is_verbose else "warning"
    return [sys.executable, *safely, "-m", "jp_lsp", "serve", "--log-level", level]


def run(options: QueryOptions, around: Surroundings) -> int:
    """Ask, and give the exit code."""
    return asyncio.run(_Command(options, around).run())


class _Command:
    """One run of the command, from its streams to its exit code."""

    def __init__(self, options: QueryOptions, around: Surroundings) -> None:
        self._options = options
        self._around = around
        self._terminal = open_terminal(has_keys=not is_dumb(around.environ)) if options.may_ask else None
        self._look = look_of(around.environ, is_foreground=not any(map(is_in_background, (1, 2))))
        self._descriptors = self._choose_descriptors()
        self._painter = Painter(self._look, columns_of(self._descriptors["screen"]))
        self._output = OutputThread(self._descriptors, self._on_lost, output_encoding())
        self._stage = Stage(self._painter, self._output.write, self._output.has_room)
        self._session: Session | None = None
        self._is_lent = False
        self._is_answer_lost = False

    async def run(self) -> int:
        """Ask, show, and give the exit code."""
        self._output.start()
        with ExitStack() as stack:
            if self._terminal is not None:
                stack.enter_context(self._terminal.taken())
            with signals_handled(self._signal_handlers()):
                ending = await self._ask()
                self._stage.perform(self._last_words(ending))
                await self._output.flush()
        self._output.stop()
        return report.BROKEN_PIPE if self._is_answer_lost else ending.exit_code

    async def _ask(self) -> Ending:
        around = self._around
        try:
            server = await ServerProcess.start(
                around.server, around.folder, around.environ, shows_log=self._options.is_verbose
            )
        except ServerGone as error:
            return Ending(report.FAILED, (Say(f"error: {error}", "error"),))
        questions = self._make_questions()
        presenter = self._make_presenter()
        presenter.doing("reading standard input" if is_piped() else "starting")
        self._session = Session(
            server,
            Client(around.version, around.folder, os.getpid()),
            presenter,
            questions,
            has_menu=questions is not None and self._look.is_answer_on_screen,
            leave=self._leave,
        )
        return await self._session.run(lambda: self._build_params(questions))

    async def _build_params(self, questions: Questions | None) -> JsonObject:
        """Build the query, with what is piped.

        Raises:
            CannotAsk: there is too much.
        """
        piped = ""
        if is_piped():
            try:
                piped = await read_piped()
            except TextTooLarge as error:
                raise CannotAsk(Ending(report.USAGE, (Say(f"error: {error}", "error"),))) from error
            except OSError as error:
                text = f"error: standard input cannot be read: {error.strerror}."
                raise CannotAsk(Ending(report.USAGE, (Say(text, "error"),))) from error
        text = join_texts(self._options.text, piped)
        if not text and not self._options.is_explained and questions is not None and os.isatty(0):
            prompt = PromptParams(decision_id="query", kind="text", message="What do you want to ask?")
            answer = await questions.ask_locally(prompt)
            text = "" if answer is None else answer.text or ""
        params = self._options.params(text)
        return params if text else {**params, "interactive": False}  # nobody is asked twice for a text

    def _last_words(self, ending: Ending) -> list[Operation]:
        words: list[Operation] = [*ending.says]
        if self._options.is_json:
            return words
        if ending.draft is not None and ending.draft.strip():
            words += _give_back(ending.draft)
        if ending.summary is not None and self._look.is_aside_on_screen:
            words.append(ending.summary)
        return words

    # What it is made of.

    def _make_presenter(self) -> Presenter:
        if self._options.is_json:
            return JsonPresenter(self._stage)
        is_terminal = self._look.is_answer_on_screen
        style = StatusStyle(is_unicode=is_unicode(output_encoding()), has_menu=is_terminal)
        show = Show(is_terminal, self._options.thoughts(is_terminal=is_terminal), style)
        return HumanPresenter(self._stage, Screen(show), time.monotonic)

    def _make_questions(self) -> Questions | None:
        if self._terminal is None:
            return None
        asker = Asker(
            self._terminal,
            self._painter,
            self._stage.put,
            self._terminal.descriptor,
            self._around.environ,
            self._lent,
        )
        return Questions(asker, self._stage)

    def _choose_descriptors(self) -> Mapping[Stream, int]:
        """Find the way to the terminal: a standard stream, so that text and status keep their order."""
        if self._look.is_answer_on_screen:
            screen = 1
        elif self._look.is_aside_on_screen or self._terminal is None:
            screen = 2
        else:
            screen = self._terminal.descriptor
        return {"answer": 1, "aside": 2, "screen": screen}

    # The terminal and the system.

    def _signal_handlers(self) -> Mapping[str, Callable[[], None]]:
        handlers: dict[str, Callable[[], None]] = {
            "SIGINT": self._on_interrupt,
            "SIGTERM": lambda: self._stop(report.TERMINATED),
            "SIGHUP": lambda: self._stop(report.HANGUP),
            "SIGQUIT": lambda: self._leave(report.QUIT),
            "SIGWINCH": lambda: self._painter.resize(columns_of(self._descriptors["screen"])),
        }
        if self._terminal is not None:
            handlers["SIGTSTP"] = self._on_suspend
        return handlers

    def _on_lost(self, stream: Stream) -> None:
        """Whoever read the output has gone. Without a reader there is nothing to wait for."""
        if stream == "answer":
            self._is_answer_lost = True
            if self._session is not None:
                self._session.output_lost(report.BROKEN_PIPE)

    def _on_interrupt(self) -> None:
        if self._is_lent:
            return
        if self._session is None:
            self._leave(report.INTERRUPTED)
        else:
            self._session.press()

    def _stop(self, exit_code: int) -> None:
        if self._session is None:
            self._leave(exit_code)
        else:
            self._session.stop(exit_code)

    @contextmanager
    def _lent(self) -> Generator[None]:
        """Let the editor have the terminal; Ctrl+C is its business then."""
        assert self._terminal is not None
        self._is_lent = True
        self._terminal.give_back()
        try:
            yield
        finally:
            self._terminal.take()
            self._is_lent = False

    def _on_suspend(self) -> None:
        """Ctrl+Z: leave a tidy terminal, and take it again when we go on."""
        assert self._terminal is not None
        if self._is_lent:
            return
        self._stage.put(self._painter.tidy())
        self._output.flush_now(_TIDY_WITHIN)
        self._terminal.give_back()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._terminal.take()
        self._painter.resize(columns_of(self._descriptors["screen"]))
        self._stage.put(self._painter.redraw())

    def _leave(self, exit_code: int) -> None:
        """End the process now. The server sees the end of its input, saves what there is, and ends as well."""
        self._stage.put(self._painter.tidy())
        self._output.flush_now(_TIDY_WITHIN)
        if self._terminal is not None:
            self._terminal.give_back()
        os._exit(exit_code)


def _give_back(draft: str) -> list[Operation]:
    """Give the user's text back, so that nothing typed is lost: here, or in a file when it is long."""
    text = plain(draft).strip("\n")
    if len(text) <= _LONGEST_DRAFT_SHOWN:
        return [Say("Your text did not become part of the conversation. Here it is:"), Say(text)]
    try:
        handle, name = tempfile.mkstemp(prefix="jp-query-", suffix=".md")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(draft)
    except OSError as error:
        return [Say(f"Your text could not be kept in a file ({error.strerror}). Here it is:"), Say(text)]
    return [Say(f"Your text did not become part of the conversation. It was kept in {name}.")]
