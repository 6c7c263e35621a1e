"""Promises about the shape of the code that no behaviour shows."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "jp_lsp"
CORE = ("conversation", "tools", "render", "turn", "ports")
WORLD = {"anyio", "asyncio", "httpx", "mcp", "os", "pathlib", "random", "subprocess", "time"}


def modules(*packages: str) -> Iterator[Path]:
    for package in packages or ("",):
        yield from sorted((PACKAGE / package).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def depth(node: ast.AST) -> int:
    """How deeply blocks are nested within blocks."""
    block = isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.If | ast.With | ast.AsyncWith | ast.Try)
    inner = max((depth(child) for child in ast.iter_child_nodes(node)), default=0)
    return inner + block


@pytest.mark.requirement(
    "R8", "R9", "R43", "R47", "R68", "R69", "R72", "R193", "R231", "R247", "R251", "R264", "R308", "R117"
)
def test_the_floors_hold() -> None:
    tool = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([tool], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


@pytest.mark.requirement("R9", "R248", "R252", "R264", "R319")
def test_the_core_touches_nothing_outside_itself() -> None:
    found = {
        f"{path.stem}: {name}"
        for path in modules(*CORE)
        for name in imported(path)
        if name.split(".")[0] in WORLD
    }
    assert found == set()


@pytest.mark.requirement("R9", "R248", "R312")
def test_tests_of_the_core_need_no_event_loop() -> None:
    for path in sorted((ROOT / "tests" / "core").rglob("*.py")):
        assert not imported(path) & {"anyio", "asyncio", "httpx"}, path


@pytest.mark.requirement("R244")
def test_no_module_is_a_giant() -> None:
    too_long = {
        str(path.relative_to(ROOT)): n
        for path in modules()
        if (n := len(path.read_text("utf-8").splitlines())) > 800
    }
    assert too_long == {}


@pytest.mark.requirement("R245")
@pytest.mark.parametrize("path", [*modules("turn"), *modules("driver")], ids=lambda path: path.stem)
def test_the_loop_is_flat(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    deep = {function.name: depth(function) for function in functions if depth(function) > 4}
    assert deep == {}


@pytest.mark.requirement("R48")
def test_chunks_leave_through_one_place() -> None:
    senders = {
        path.name
        for path in modules("server", "driver", "turn", "render")
        if '"$/progress"' in path.read_text("utf-8")
    }
    # live, standard progress, replay; and the hits of a search, which are no chunks
    assert senders == {"outbox.py", "work_done.py", "conversation.py", "search.py"}


@pytest.mark.requirement("R249", "R304", "R305", "R318", "R262", "R259")
def test_no_object_holds_everything() -> None:
    """No class has more than three of the big things as public attributes."""
    big = {"store", "settings", "config", "provider", "providers", "mcp", "tasks", "signals"}
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                fields = {
                    item.target.id
                    for item in node.body
                    if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
                }
                assert len(fields & big) <= 3, f"{path.name}: {node.name}"


@pytest.mark.requirement("R277", "R301")
def test_nothing_happens_in_destructors() -> None:
    for path in modules():
        assert "__del__" not in path.read_text("utf-8"), path


@pytest.mark.requirement("R303", "R325")
def test_nothing_prints_but_the_command_line() -> None:
    for path in modules():
        if path.parent.name == "terminal" or path.name == "__main__.py":
            continue
        calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
        assert not [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"], (
            path
        )
