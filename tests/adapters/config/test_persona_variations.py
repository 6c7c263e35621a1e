"""Personas that extend one another in every way, against a plain model (config-and-tools 1.3 to 1.5).

Files form any graph without cycles: chains, diamonds, "before" and "after", by path and by pattern, in the
workspace's own file and in the persona that a query names.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.adapters.config.conftest import World


@dataclass(frozen=True)
class File:
    """A file that extends files with lower numbers; each has a section and a piece of the prompt of its own."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    position: int
    replaces: bool
    prompt: str | None
    tool: str | None


def name_of(number: int) -> str:
    return f"part-{number}"


@st.composite
def files(draw: st.DrawFn) -> list[File]:
    made: list[File] = []
    for number in range(draw(st.integers(2, 7))):
        lower = st.lists(st.integers(0, number - 1), max_size=3) if number else st.just([])
        made.append(
            File(
                tuple(draw(lower)),
                tuple(draw(lower)),
                draw(st.sampled_from([0, 0, 5, -1])),
                draw(st.integers(0, 7)) == 0,
                draw(st.sampled_from([None, "append", "prepend", "replace"])),
                draw(st.sampled_from([None, "x", "y"])),
            )
        )
    return made


def written(file: File, number: int, folder: str = "") -> str:
    """Write a file; it lies beside those that it extends, or above their folder."""
    entries = [f'"{folder}{name_of(each)}.toml"' for each in file.before]
    entries += [f'{{ path = "{folder}{name_of(each)}.*", strategy = "after" }}' for each in file.after]
    section = f'{{ tag = "{number}", content = "c", position = {file.position} }}'
    sections = f"{{ value = [{section}], strategy = 'replace' }}" if file.replaces else f"[{section}]"
    lines = [f"extends = [{', '.join(entries)}]", "[assistant]", f"system_prompt_sections = {sections}"]
    if file.prompt is not None:
        lines.append(f'system_prompt = {{ value = "<{number}>", strategy = "{file.prompt}" }}')
    if file.tool is not None:
        lines += [f"[conversation.tools.{file.tool}]", 'source = "local"', f'command = "c{number}"']
    return "\n".join(lines) + "\n"


def flattened(made: Sequence[File], number: int) -> Iterator[int]:
    """Give the files in the order in which they count, the shared ones once for each mention."""
    for each in made[number].before:
        yield from flattened(made, each)
    yield number
    for each in made[number].after:
        yield from flattened(made, each)


def folded(made: Sequence[File], order: Sequence[int]) -> tuple[list[int], bool]:
    """Fold the sections of one layer; tells whether it then replaces what lies below."""
    items: list[int] = []
    for number in order:
        items = [number] if made[number].replaces else [*items, number]
    return items, made[order[-1]].replaces


def sections(made: Sequence[File], layers: Sequence[Sequence[int]]) -> list[str]:
    items: list[int] = []
    for order in layers:
        more, replaces = folded(made, order)
        items = more if replaces else items + more
    return [str(number) for number in sorted(items, key=lambda number: made[number].position)]


def prompt(made: Sequence[File], orders: Sequence[Sequence[int]]) -> str:
    """Fold the prompt of each layer, and the layers; a layer meets those below as its last file does."""
    text: str | None = None
    for order in orders:
        layer: str | None = None
        manner = "append"
        for number in order:
            manner = made[number].prompt or manner
            if made[number].prompt is not None:
                layer = joined(layer, f"<{number}>", made[number].prompt)
        if layer is not None:
            text = joined(text, layer, manner)
    return "You are a helpful assistant." if text is None else text


def joined(below: str | None, above: str, manner: str | None) -> str:
    match manner:
        case "append":
            return (below or "") + above
        case "prepend":
            return above + (below or "")
        case _:
            return above


@pytest.mark.requirement("G3", "R283")
@given(files(), st.data())
def test_any_graph_of_files_comes_to_what_the_model_says(made: list[File], data: st.DataObject) -> None:
    base = data.draw(st.integers(0, len(made) - 2))
    persona = len(made) - 1
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for number, file in enumerate(made):
            if number != base:
                world.workspace(written(file, number), f".jp/config/personas/{name_of(number)}.toml")
        # The workspace's own file lies elsewhere, and is one of the graph all the same.
        world.workspace(
            'config_load_paths = [".jp/config/personas"]\n' + written(made[base], base, "config/personas/")
        )
        world.workspace('extends = ["../../config.toml"]\n', f".jp/config/personas/{name_of(base)}.toml")
        settings = world.settings()
        layers = [list(flattened(made, base)), list(flattened(made, persona))]
        values: Any = settings.values([name_of(persona)])
        found = [each["tag"] for each in values["assistant"]["system_prompt_sections"]]
        assert found == sections(made, layers)
        assert values["assistant"]["system_prompt"] == prompt(made, layers)
        commands = {
            name: tool["command"] for name, tool in values["conversation"]["tools"].items() if name != "*"
        }
        wanted: dict[str, str] = {}
        for number in [*layers[0], *layers[1]]:
            if (tool := made[number].tool) is not None:
                wanted[tool] = f"c{number}"
        assert commands == wanted
        assert list(commands) == list(wanted)
        explanation = settings.explain("assistant.system_prompt_sections", [name_of(persona)])
        assert [each.is_duplicate for each in explanation.items] == [
            tag in found[:index] for index, tag in enumerate(found)
        ]
        assert not [
            problem for problem in settings.problems([name_of(persona)]) if problem.severity == "error"
        ]
