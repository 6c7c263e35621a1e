"""Which key chooses which button, and how a question with buttons is laid out."""

from collections.abc import Sequence
from dataclasses import dataclass

from jp_lsp.protocol.prompt import PromptAction
from jp_lsp.terminal.width import text_width
from jp_lsp.terminal.words import plain_line

MAX_KEYS = 9
"""With more buttons than this they are numbered and chosen by a line."""

_USUAL_KEYS = {
    "continue": "c",
    "reply": "r",
    "respond": "r",
    "restart": "t",
    "stop": "s",
    "abort": "a",
    "back": "b",
    "run": "y",
    "run_remember": "Y",
    "skip": "n",
    "skip_remember": "N",
    "skip_with_reason": "r",
    "edit": "e",
    "change_run_mode": "m",
    "change_result_mode": "x",
    "print_args": "p",
}
"""Keys that hands know; most are those of the `jp` command."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A button with the key that chooses it; without one for those that are chosen by number."""

    action: PromptAction
    key: str | None
    number: int

    @property
    def title(self) -> str:
        """What a person reads."""
        return plain_line(self.action.title) or self.action.id


def assign_keys(actions: Sequence[PromptAction]) -> list[Choice]:
    """Give each button a key: its usual one, or a letter of its title that is free, or else its number."""
    if len(actions) > MAX_KEYS:
        return [Choice(action, None, number) for number, action in enumerate(actions, 1)]
    taken: set[str] = set()
    choices: list[Choice] = []
    for number, action in enumerate(actions, 1):
        candidates = [_USUAL_KEYS.get(action.id, ""), *filter(_is_letter, plain_line(action.title).lower())]
        key = next((key for key in candidates if key and key not in taken), str(number))
        taken.add(key)
        choices.append(Choice(action, key, number))
    return choices


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


def find_choice(choices: Sequence[Choice], answer: str) -> Choice | None:
    """Find what a key or a typed line means: a key, a number, or the beginning of just one title."""
    wanted = answer.strip()
    if not wanted:
        return None
    for way in (wanted, wanted.lower()):
        for choice in choices:
            if way in {choice.key, str(choice.number)}:
                return choice
    matching = [choice for choice in choices if choice.title.lower().startswith(wanted.lower())]
    return matching[0] if len(matching) == 1 else None


def lay_out(choices: Sequence[Choice], columns: int) -> list[str]:
    """Write the buttons: on one line if they fit, else one on each."""
    shown = [f"[{choice.key or choice.number}] {choice.title}" for choice in choices]
    line = "   ".join(shown)
    return [line] if text_width(line) < columns else shown
