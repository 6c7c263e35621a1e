"""Checks of documents: at once the first time, later when nobody types or asks, and never too few."""

from collections.abc import Callable

import anyio.lowlevel
import pytest

from jp_lsp.server import checks
from jp_lsp.server.checks import Checks

pytestmark = pytest.mark.anyio


class Desk:
    """Open documents with their versions, and what was checked; a pause passes at once, with what happens in it."""

    def __init__(self) -> None:
        self.versions: dict[str, int] = {"a": 1}
        self.checked: list[tuple[str, int | None]] = []
        self.in_pauses: list[Callable[[], object]] = []
        self.in_checks: list[Callable[[], object]] = []
        self.pauses = 0
        self.checks = Checks(self._check, self.versions.get)

    async def _check(self, uri: str) -> bool:
        self.checked.append((uri, self.versions.get(uri)))
        if self.in_checks:
            self.in_checks.pop(0)()
            await anyio.lowlevel.checkpoint()
        return uri in self.versions

    async def pause(self, _seconds: float) -> None:
        self.pauses += 1
        if self.in_pauses:
            self.in_pauses.pop(0)()
        await anyio.lowlevel.checkpoint()

    def type(self) -> None:
        self.versions["a"] += 1


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    made = Desk()
    monkeypatch.setattr(checks, "sleep", made.pause)
    return made


async def test_the_first_check_waits_for_nothing(desk: Desk) -> None:
    await desk.checks.run("a")
    assert (desk.checked, desk.pauses) == ([("a", 1)], 0)


async def test_later_ones_wait_until_nobody_types_or_asks(desk: Desk) -> None:
    await desk.checks.run("a")
    desk.in_pauses = [desk.type, desk.checks.note_question, desk.type]
    await desk.checks.run("a")
    assert (desk.checked, desk.pauses) == ([("a", 1), ("a", 3)], 4)


async def test_they_do_not_wait_for_ever(desk: Desk) -> None:
    await desk.checks.run("a")
    desk.in_pauses = [desk.type] * 1000
    await desk.checks.run("a")
    assert (len(desk.checked), desk.pauses) == (2, 20)


async def test_what_is_typed_in_a_pause_is_checked_once(desk: Desk) -> None:
    await desk.checks.run("a")
    async with anyio.create_task_group() as tasks:

        def type_and_check() -> None:
            desk.type()
            tasks.start_soon(desk.checks.run, "a")

        desk.in_pauses = [type_and_check] * 3
        await desk.checks.run("a")
    assert desk.checked == [("a", 1), ("a", 4)]


async def test_what_is_typed_in_a_check_is_checked_after_it(desk: Desk) -> None:
    async with anyio.create_task_group() as tasks:

        def type_and_check() -> None:
            desk.type()
            tasks.start_soon(desk.checks.run, "a")

        desk.in_checks = [type_and_check]
        await desk.checks.run("a")
    assert desk.checked == [("a", 1), ("a", 2)]


async def test_one_that_is_closed_is_waited_for_no_longer(desk: Desk) -> None:
    await desk.checks.run("a")
    desk.in_pauses = [desk.versions.clear]
    await desk.checks.run("a")
    assert (desk.checked, desk.pauses) == ([("a", 1), ("a", None)], 1)
    desk.versions["a"] = 1
    await desk.checks.run("a")
    assert (desk.checked[-1], desk.pauses) == (("a", 1), 1)


async def test_the_others_are_those_that_are_checked(desk: Desk) -> None:
    desk.versions |= {"b": 1, "c": 1}
    for uri in ("a", "b", "gone"):
        await desk.checks.run(uri)
    desk.checked.clear()
    await desk.checks.run_others("a")
    assert desk.checked == [("b", 1)]
