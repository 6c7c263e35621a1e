"""A start leaves out what would be done in vain, and is never wrong because of that."""

import builtins
import gc
import marshal
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from jp_lsp.server.compile_cache import CompileCache, generated_code_remembered
from jp_lsp.server.startup import quick_start
from tests.support.wire_process import ROOT, environment

SOURCE = "answer = 6 * 7"


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What was really compiled, by source."""
    sources: list[str] = []
    really = builtins.compile

    def spy(source: Any, *arguments: Any, **options: Any) -> Any:
        sources.append(source)
        return really(source, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "compile", spy)
        yield sources


def run(code: CodeType) -> object:
    names: dict[str, object] = {}
    exec(code, names)
    return names["answer"]


def use(path: Path, source: str = SOURCE, filename: str = "<made up>") -> object:
    cache = CompileCache(str(path))
    code = cache.compile(source, filename, "exec")
    assert code.co_filename == filename
    cache.save()
    return run(code)


@pytest.mark.usefixtures("writes")
def test_code_is_compiled_once(tmp_path: Path, compiled: list[str]) -> None:
    path = tmp_path / "cache"
    assert [use(path), use(path), use(path)] == [42, 42, 42]
    assert compiled == [SOURCE]
    assert use(path, "answer = 5") == 5, "other text is other code"
    assert use(path, SOURCE, "<elsewhere>") == 42
    assert compiled == [SOURCE, "answer = 5", SOURCE]


@pytest.mark.usefixtures("writes")
def test_only_what_was_used_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    use(path)
    use(path, "answer = 5")
    _, kept = marshal.loads(path.read_bytes())
    assert len(kept) == 1


@pytest.mark.usefixtures("writes")
def test_nothing_is_written_when_nothing_is_new(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    use(path)
    before = path.stat()
    use(path)
    assert path.stat() == before
    assert os.listdir(tmp_path) == ["cache"]


@pytest.mark.usefixtures("writes")
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a cache",
        marshal.dumps(("another Python", {f"exec\0<made up>\0{SOURCE}": compile("answer = 0", "x", "exec")})),
        marshal.dumps((sys.version, {}))[:-3],
        marshal.dumps(7),
        marshal.dumps((1, 2, 3)),
    ],
)
def test_a_file_that_cannot_be_used_is_replaced(tmp_path: Path, content: bytes, compiled: list[str]) -> None:
    path = tmp_path / "cache"
    path.write_bytes(content)
    assert [use(path), use(path)] == [42, 42]
    assert compiled.count(SOURCE) == 1


@pytest.mark.usefixtures("writes")
def test_a_folder_that_cannot_be_written_is_no_trouble(tmp_path: Path) -> None:
    assert use(tmp_path / "missing" / "cache") == 42
    assert CompileCache(None).compile(SOURCE, "x", "exec").co_filename == "x"


def test_nothing_is_written_where_python_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert use(tmp_path / "cache") == 42
    assert os.listdir(tmp_path) == []


def test_the_libraries_are_left_as_they_were() -> None:
    import attr._make
    import cattrs.gen

    with generated_code_remembered(None):
        assert "compile" in vars(attr._make)
    with pytest.raises(KeyError), generated_code_remembered(None):
        raise KeyError("import failed")
    assert "compile" not in vars(attr._make)
    assert "compile" not in vars(cattrs.gen)


@pytest.mark.parametrize("was_enabled", [True, False])
def test_the_collector_is_paused_and_comes_back(was_enabled: bool) -> None:
    try:
        if not was_enabled:
            gc.disable()
        with quick_start():
            assert not gc.isenabled()
        assert gc.isenabled() is was_enabled
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
        gc.enable()


HEAVY = ("pydantic", "httpx", "mcp", "yaml", "pyjson5", "platformdirs", "jsonschema", "anyio", "uvloop")


def test_a_started_wire_has_loaded_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "import jp_lsp.server.startup, jp_lsp.server.wire, jp_lsp.server.transport, jp_lsp.server.logs\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env=environment(),
        cwd=ROOT,
    )
    assert ran.stdout.strip() == "[]"


def test_the_first_module_loads_next_to_nothing() -> None:
    script = "import sys; before = set(sys.modules); import jp_lsp.server.startup; print(sorted(set(sys.modules) - before))"
    ran = subprocess.run(
        [sys.executable, "-S", "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env=environment(),
        cwd=ROOT,
    )
    assert not {"asyncio", "attr", "attrs", "cattrs", "logging", "pathlib", "typing"} & set(eval(ran.stdout))


@pytest.mark.usefixtures("writes")
def test_a_second_start_compiles_hardly_any_generated_code(tmp_path: Path) -> None:
    script = (
        "import builtins, sys\n"
        "from jp_lsp.server.startup import quick_start\n"
        "count, really = 0, builtins.compile\n"
        "def spy(*args, **options):\n"
        "    global count\n"
        "    count += 'attrs generated' in str(args[1])\n"
        "    return really(*args, **options)\n"
        "builtins.compile = spy\n"
        "with quick_start():\n"
        "    import lsprotocol.types\n"
        "print(count)\n"
    )
    env = {**environment(PYTHONPYCACHEPREFIX=str(tmp_path)), "PYTHONDONTWRITEBYTECODE": ""}
    first, second = (
        int(
            subprocess.run(
                [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=env, cwd=ROOT
            ).stdout
        )
        for _ in range(2)
    )
    assert first > 500
    assert second < 50, "those that attrs makes for itself while it is imported"
