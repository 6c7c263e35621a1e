"""What is made of configuration is kept while nothing changed that it was made of, and never longer."""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jp_lsp.config import configuration
from jp_lsp.config.looks import entries_of, noted, status_of
from jp_lsp.config.settings import WorkspaceSettings

BASE = 'config_load_paths = ["parts"]\nextends = ["more.toml", "config.d/*"]\n[assistant]\nname = "A"\n'
PERSONA = '[assistant]\nname = "P"\n'
OVERRIDES = ((), ("@p",), ("assistant.name=X",))


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a test are younger than what is kept otherwise; each write here has a time of its own."""
    monkeypatch.setattr("jp_lsp.config.looks.SETTLED_NANOSECONDS", 0)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often files are read and layers are gathered."""
    calls: Counter[str] = Counter()
    read, gather = Path.read_bytes, configuration.gather

    def counting_read(path: Path) -> bytes:
        calls["read"] += 1
        return read(path)

    def counting_gather(*arguments: Any) -> Any:
        calls["gathered"] += 1
        return gather(*arguments)

    monkeypatch.setattr(Path, "read_bytes", counting_read)
    monkeypatch.setattr(configuration, "gather", counting_gather)
    return calls


def furnish(world: Any) -> None:
    world.workspace(BASE)
    world.workspace(PERSONA, "parts/p.toml")


def answers(found: WorkspaceSettings) -> list[object]:
    """Ask all that is kept."""
    asked: list[object] = [found.named(), found.load_paths()]
    for overrides in OVERRIDES:
        asked += [found.values(overrides), found.problems(overrides), found.explain_all(overrides)]
    return asked


def test_what_did_not_change_is_neither_read_nor_gathered_again(world: Any, counted: Counter[str]) -> None:
    furnish(world)
    found = world.settings()
    first = answers(found)
    assert counted["read"] == 2
    assert counted["gathered"] == len(OVERRIDES)
    for _ in range(3):
        assert answers(found) == first
        assert found.resolve((), None).partial["assistant"]["name"] == "A"
    assert counted["read"] == 2
    assert counted["gathered"] == len(OVERRIDES)


def test_only_the_file_that_changed_is_read_again(world: Any, counted: Counter[str]) -> None:
    furnish(world)
    found = world.settings()
    answers(found)
    write(world.root / "parts/p.toml", PERSONA.replace("P", "Q"))
    assert found.values(("@p",))["assistant"]["name"] == "Q"
    assert counted["read"] == 3
    assert counted["gathered"] == len(OVERRIDES) + 1
    found.values(())  # does not look at the persona
    assert counted["gathered"] == len(OVERRIDES) + 1


def test_a_file_that_has_just_changed_is_not_relied_on(
    world: Any, counted: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another change within the step of the file system's clock would not show."""
    monkeypatch.setattr("jp_lsp.config.looks.SETTLED_NANOSECONDS", 10**18)
    furnish(world)
    found = world.settings()
    found.values(())
    found.values(())
    assert counted["gathered"] == 2
    assert counted["read"] == 2


def test_a_copy_with_a_text_has_its_own(world: Any, counted: Counter[str]) -> None:
    furnish(world)
    found = world.settings()
    assert found.values(())["assistant"]["name"] == "A"
    edited = found.with_text(world.root / ".jp/config.toml", BASE.replace('"A"', '"B"'))
    assert edited.values(())["assistant"]["name"] == "B"
    assert found.values(())["assistant"]["name"] == "A"
    assert counted["read"] == 1


TIMES = count(1_000_000_000_000_000_000, 1_000_000)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    time = next(TIMES)
    os.utime(path, ns=(time, time))


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file, to as many bytes": lambda root: write(root / ".jp/config.toml", BASE.replace('"A"', '"B"')),
    "a persona": lambda root: write(root / "parts/p.toml", PERSONA.replace("P", "Q")),
    "a new persona": lambda root: write(root / "parts/q.toml", PERSONA),
    "a new persona in a new folder": lambda root: write(root / "parts/deep/q.toml", PERSONA),
    "a persona is gone": lambda root: (root / "parts/p.toml").unlink(),
    "a file that was missing to be extended": lambda root: write(root / ".jp/more.toml", 'user.name = "M"'),
    "the same in another format": lambda root: write(root / ".jp/more.yaml", "user:\n  name: M\n"),
    "a file that fits a pattern": lambda root: write(root / ".jp/config.d/x.toml", 'user.name = "M"'),
    "a file of the folder": lambda root: write(root / ".jp.toml", 'user.name = "M"'),
    "a folder in the place of a file": lambda root: (
        (root / "parts/p.toml").unlink(),
        (root / "parts/p.toml").mkdir(),
    ),
    "a file that a name leads to sooner": lambda root: write(root / "p", PERSONA),
    "a link that leads elsewhere": lambda root: (
        (root / "parts").rename(root / "others"),
        write(root / "new/p.toml", PERSONA.replace("P", "N")),
        (root / "parts").symlink_to(root / "new"),
    ),
    "load paths": lambda root: write(root / ".jp/config.toml", BASE.replace("parts", "other")),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_changes_shows_at_once(world: Any, case: str) -> None:
    furnish(world)
    found = world.settings()
    before = answers(found)
    CHANGES[case](world.root)
    assert answers(found) == answers(world.settings()) != before


def test_the_environment_shows_at_once(world: Any) -> None:
    furnish(world)
    found = world.settings()
    for name in ("E", "F", None):
        world.environ.pop("JP_CFG_ASSISTANT_NAME", None)
        if name is not None:
            world.environ["JP_CFG_ASSISTANT_NAME"] = name
        assert found.values(())["assistant"]["name"] == (name or "A")


FILES = (
    ".jp/config.toml",
    ".jp/config.json",
    ".jp/more.toml",
    ".jp/config.d/x.toml",
    "parts/p.toml",
    "parts/q.yaml",
)
TEXTS = (BASE, PERSONA, "user.name = 1", "inherit = false", 'extends = ["../parts/p.toml"]', "[")
STEPS = st.lists(st.tuples(st.sampled_from(FILES), st.sampled_from((None, *TEXTS))), min_size=1, max_size=6)


@pytest.fixture
def folders() -> Iterator[Callable[[], Path]]:
    made: list[str] = []

    def make() -> Path:
        made.append(tempfile.mkdtemp())
        return Path(made[-1])

    yield make
    for each in made:
        shutil.rmtree(each)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_nothing_is_ever_stale(folders: Callable[[], Path], steps: list[tuple[str, str | None]]) -> None:
    """Whatever is written and removed, settings that are kept say what new ones say."""
    root = folders()

    def make() -> WorkspaceSettings:
        return WorkspaceSettings(
            root, root, {}, root / "user", None, configuration.ServerSettings(), lambda: None
        )

    kept = make()
    for name, text in steps:
        if text is None:
            (root / name).unlink(missing_ok=True)
        else:
            write(root / name, text)
        assert answers(kept) == answers(make())


@pytest.mark.parametrize(("name", "limit"), [("MOST", 2), ("MOST_LOOKS", 40)])
def test_what_is_kept_has_a_limit(
    world: Any, counted: Counter[str], monkeypatch: pytest.MonkeyPatch, name: str, limit: int
) -> None:
    """What was used last stays; a single result that is too large is not kept at all."""
    monkeypatch.setattr(f"jp_lsp.config.kept.{name}", limit)
    furnish(world)
    found = world.settings()
    for number in range(10):
        found.values((f"user.name={number}",))
    found.values(("user.name=9",))
    assert counted["gathered"] == 10
    found.values(("user.name=0",))
    assert counted["gathered"] == 11
    monkeypatch.setattr("jp_lsp.config.kept.MOST_LOOKS", 3)
    found.values(("user.name=x",))
    found.values(("user.name=x",))
    assert counted["gathered"] == 13


def test_looks_that_differ_meanwhile_cannot_be_relied_on(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with noted() as looks:
        assert status_of(path) is None
        path.touch()
        assert status_of(path) is not None
    assert not looks.is_settled


def test_looks_inside_count_for_those_around(tmp_path: Path) -> None:
    with noted() as around:
        with noted() as inside:
            entries_of(tmp_path, 10)
        assert inside.still_hold()
    assert around.still_hold()
    (tmp_path / "x").touch()
    assert not inside.still_hold()
    assert not around.still_hold()


def test_a_link_that_leads_in_circles_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "there").mkdir()
    found = {entry.name: entry.leads_to_folder for entry in entries_of(tmp_path, 10)}
    assert found == {"circle": False, "there": True}
