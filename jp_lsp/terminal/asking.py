"""Questions of the server on the terminal: menus, approvals, texts, secrets, documents (query pipeline 4.5-4.7).

| key | in a choice | in a text |
| --- | --- | --- |
| a letter or number | that button | |
| Enter | the first button, which is the harmless one | sends the line |
| Escape | a menu: the first button; else: dismissed | |
| Ctrl+D | dismissed | dismissed |
| `e`, alone | | opens the editor |

Ctrl+C is no answer: it is a press like any other, and the server says what becomes of the question.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from jp_lsp.protocol.prompt import PromptParams, PromptResult
from jp_lsp.terminal.choices import MAX_KEYS, Choice, assign_keys, find_choice, lay_out
from jp_lsp.terminal.editor import EditorError, edit, find_editor
from jp_lsp.terminal.keyboard import Keyboard
from jp_lsp.terminal.operations import Say
from jp_lsp.terminal.painter import Output, Painter
from jp_lsp.terminal.width import fit
from jp_lsp.terminal.words import plain, plain_line

_MAX_DETAIL_LINES = 30
_EDITOR_KEY = "e"


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks one question at a time. A cancelled `ask` leaves a tidy terminal.

    Args:
        keyboard: where answers come from.
        painter: draws the question.
        write: takes what the painter drew.
        terminal: the descriptor that an editor is to use.
        environ: says which editor.
        lent: surrounds the time in which the terminal belongs to the editor.
    """

    keyboard: Keyboard
    painter: Painter
    write: Callable[[Sequence[Output]], None]
    terminal: int
    environ: Mapping[str, str]
    lent: Callable[[], AbstractContextManager[None]]

    async def ask(self, prompt: PromptParams, held_back: str = "") -> PromptResult | None:
        """Ask; `None` when the user dismissed the question.

        Args:
            prompt: the question.
            held_back: text of the answer that is not on the screen yet, to decide by.
        """
        match prompt.kind:
            case "menu" | "approval" | "pick":
                return await self._choose(prompt, held_back)
            case "text" | "secret":
                return await self._type(prompt)
            case "edit":
                return await self._edit(prompt.value or "", prompt.language, prompt.message)

    # Buttons.

    async def _choose(self, prompt: PromptParams, held_back: str) -> PromptResult | None:
        if not prompt.actions:
            return None
        choices = assign_keys(prompt.actions)
        lines = [*_detail(prompt), *self._preview(held_back), *lay_out(choices, self.painter.columns)]
        if self.keyboard.has_keys and len(choices) <= MAX_KEYS:
            choice = await self._choose_by_key(prompt, choices, lines)
        else:
            choice = await self._choose_by_line(prompt, choices, lines)
        return None if choice is None else PromptResult(action=choice.action.id)

    async def _choose_by_key(
        self, prompt: PromptParams, choices: Sequence[Choice], lines: Sequence[str]
    ) -> Choice | None:
        self.keyboard.expect_keys()
        self.write(self.painter.open_question(_title(prompt), lines, "> ", is_typing=False))
        chosen: Choice | None = None
        trace: str | None = None
        try:
            chosen = await self._wait_for_key(choices, is_menu=prompt.kind == "menu")
            word = "dismissed" if chosen is None else chosen.title
            trace = None if prompt.kind == "menu" else f"{_title(prompt)} {word}"
        finally:
            self.keyboard.expect_nothing()
            self.write(self.painter.close_question(trace))
        return chosen

    async def _wait_for_key(self, choices: Sequence[Choice], *, is_menu: bool) -> Choice | None:
        while True:
            match await self.keyboard.read_key():
                case "enter":
                    return choices[0]
                case "escape":
                    return choices[0] if is_menu else None
                case "end":
                    return None
                case key:
                    if (choice := find_choice(choices, key)) is not None:
                        return choice

    async def _choose_by_line(
        self, prompt: PromptParams, choices: Sequence[Choice], lines: Sequence[str]
    ) -> Choice | None:
        title = _title(prompt)
        while True:
            answer = await self._read_line(title, lines)
            if answer is None:
                return None
            chosen = find_choice(choices, answer) if answer.strip() else choices[0]
            if chosen is not None:
                return chosen
            title = f"{answer!r} is none of them. Type a letter, a number, or the beginning of a word."

    # Texts.

    async def _type(self, prompt: PromptParams) -> PromptResult | None:
        is_secret = prompt.kind == "secret"
        command = None if is_secret else find_editor(self.environ)
        hint = "" if command is None else f" (a line; `{_EDITOR_KEY}` alone opens your editor)"
        lines = [*_detail(prompt)]
        if prompt.value and not is_secret:
            lines.append(f"now: {fit(plain_line(prompt.value), self.painter.columns - 6)}")
        line = await self._read_line(f"{_title(prompt)}{hint}", lines, is_secret=is_secret)
        if line is None:
            return None
        if command is not None and line.strip() == _EDITOR_KEY:
            return await self._edit(prompt.value or "", prompt.language, prompt.message)
        return PromptResult(text=line)

    async def _edit(self, text: str, language: str | None, message: str) -> PromptResult | None:
        command = find_editor(self.environ)
        if command is None:
            title = f"{plain_line(message)} (no editor was found; set EDITOR, or type one line)"
            line = await self._read_line(title, ())
            return None if line is None else PromptResult(text=line)
        self.write(self.painter.tidy())
        try:
            with self.lent():
                return PromptResult(text=await edit(command, text, language, self.terminal))
        except EditorError as problem:
            self.write(self.painter.paint(Say(f"{problem}.", "error")))
            return None

    async def _read_line(self, title: str, lines: Sequence[str], *, is_secret: bool = False) -> str | None:
        self.keyboard.expect_line(is_secret=is_secret)
        self.write(self.painter.open_question(title, lines, "> ", is_typing=True))
        line: str | None = None
        try:
            line = await self.keyboard.read_line()
        finally:
            self.keyboard.expect_nothing()
            # What was typed is echoed by the terminal itself, line end included; a secret's is not.
            is_complete = line is not None and not is_secret
            self.write(self.painter.leave_question(is_line_complete=is_complete))
        return line

    def _preview(self, held_back: str) -> Sequence[str]:
        """Show the end of what is held back, so that one can see where the answer is."""
        last = held_back.rsplit("\n", 1)[-1].strip()
        return [fit(f"... {last}", self.painter.columns - 1)] if last else []


def _title(prompt: PromptParams) -> str:
    return plain_line(prompt.message) or "What next?"


def _detail(prompt: PromptParams) -> list[str]:
    lines = plain(prompt.detail).strip("\n").split("\n") if prompt.detail else []
    hidden = len(lines) - _MAX_DETAIL_LINES
    return lines if hidden <= 0 else [*lines[:_MAX_DETAIL_LINES], f"... and {hidden} more lines"]
