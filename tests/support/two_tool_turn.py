"""One turn that every vendor can be made to answer: the model thinks, speaks and calls two tools, then speaks again.

Whatever goes wrong on the way, what is stored and told must come out the same. `check_turn` says what that is.
"""

from base64 import b64decode
from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]

TOOLS = "".join(
    f"[conversation.tools.{name}]\nsource = 'local'\nenable = true\nrun = 'unattended'\n"
    f"command = 'echo {name} {{{{tool.arguments.place}}}}'\nparameters.place.type = 'string'\n"
    for name in ("look", "see")
)
"""The tools, as a user configures them; each says its name and where it was sent."""

CALLS = {"look": {"place": "here"}, "see": {"place": "there"}}

THOUGHT, SAID, END = "Two looks are needed.", "I look around.", "Both seen."

LONG = " ".join(f"Word {number}." for number in range(60))
"""Said instead of `SAID` where the answer is cut within it; no part of it is like another."""

REST = " Now I look."
"""What follows after a cut, together with the calls."""


def told(events: Iterable[Json]) -> list[str]:
    """What is stored of a turn; ids are each vendor's own, so a call is known by its tool.

    What was cut off and what followed it are two events and one saying. Thoughts without a word are only what a
    vendor wants back.
    """
    names: dict[str, str] = {}
    lines: list[str] = []
    for event in events:
        match event:
            case {"type": "chat_response", "reasoning": text} if text:
                lines.append(f"thinks {text}")
            case {"type": "chat_response", "message": text} if lines and lines[-1].startswith("says "):
                lines[-1] += text
            case {"type": "chat_response", "message": text}:
                lines.append(f"says {text}")
            case {"type": "tool_call_request", "id": call, "name": name, "arguments": {"place": place}}:
                names[call] = name
                lines.append(f"calls {name} {b64decode(place).decode()}")
            case {"type": "tool_call_response", "id": call, "content": content, "is_error": False}:
                lines.append(f"{names[call]} gives {b64decode(content).decode().strip()}")
            case {"type": "turn_start" | "chat_request"} | {"reasoning": ""}:
                pass
            case _:
                lines.append(str(event))
    return lines


def check_turn(
    result: Json, events: Iterable[Json], *, thinks: bool, is_cut: bool = False, odd_finish: str = ""
) -> None:
    """Compare thoughts, words, calls, results and how it ended.

    Args:
        result: what the query was answered with.
        events: what is stored.
        thinks: whether the vendor can tell what the model thinks.
        is_cut: whether the answer was cut within `LONG`.
        odd_finish: a word of the vendor's that nobody knows, which the user is told.
    """
    lines = told(events)
    if thinks:
        assert lines.pop(0) == f"thinks {THOUGHT}"
    said = lines.pop(0).removeprefix("says ")
    if is_cut:
        # What had come is kept, and what comes then follows it: nothing is lost or told twice.
        assert said.endswith(REST)
        begun = said.removesuffix(REST)
        assert LONG.startswith(begun)
        assert 0 < len(begun) < len(LONG)
    else:
        assert said == SAID
    assert lines[:2] == ["calls look here", "calls see there"]
    assert sorted(lines[2:4]) == ["look gives look here", "see gives see there"]
    assert lines[4:] == [f"says {END}"]
    # The calls end the first cycle, and the turn is complete after the second.
    assert (result["outcome"], result["text"]) == ("completed", said + END)
    assert [turn["cycles"] for turn in result["turns"]] == [2]
    notices = [notice["text"] for notice in result["notices"]]
    assert notices == ([f"The model stopped early ({odd_finish})."] if odd_finish else [])
