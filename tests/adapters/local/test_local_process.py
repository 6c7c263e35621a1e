"""The life of the child process: the real one, with a stand-in for the runtime that it loads."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx
import pytest

from jp_lsp.providers.local.process import ChildOptions, Endpoint, LocalModel, LocalModelError
from tests.adapters.local.stand_ins import open_gate, scripted_options

pytestmark = pytest.mark.anyio

DOOMED_PARENT = Path(__file__).with_name("doomed_parent.py")
REPOSITORY = Path(__file__).parents[3]


@asynccontextmanager
async def owned(options: ChildOptions, **how: Any) -> AsyncGenerator[LocalModel]:
    model = LocalModel(options, **how)
    try:
        with anyio.fail_after(20):
            yield model
    finally:
        await model.aclose()


async def get(endpoint: Endpoint, path: str) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.get(endpoint.base_url + path)


def child_at(script: str) -> list[str]:
    """A command that is not our child: a program that reads its options and then does something."""
    return [sys.executable, "-I", "-c", "import os, signal, sys, time; sys.stdin.readline()\n" + script]


async def test_the_child_serves_on_loopback_with_the_options_it_was_told(tmp_path: Path) -> None:
    async with owned(scripted_options(tmp_path)) as model:
        endpoint = await model.start()

        told = (await get(endpoint, "/parameters")).json()
        assert endpoint.base_url.startswith("http://127.0.0.1:")
        assert told["hostnames"] == ["127.0.0.1"]
        assert told["port"] == 0
        assert told["model_alias"] == ["small"]
        assert (told["n_ctx"], told["n_parallel"], told["kv_unified"]) == (8192, 2, True)
        assert told["cpuparams"] == told["cpuparams_batch"] == {"n_threads": 1}
        assert told["offline"] is True


async def test_the_key_is_long_random_and_seen_by_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret of somebody else")
    with open_gate() as gate:
        async with (
            owned(scripted_options(tmp_path, port=gate.port)) as model,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(model.start)
            pid = await gate.wait_for_child()
            gate.let_load()
            endpoint = await model.start()
            process = Path(f"/proc/{pid}")
            visible = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()

            assert len(endpoint.key) >= 32
            assert endpoint.key.encode() not in visible
            assert b"secret of somebody else" not in visible
            assert endpoint.key not in repr(endpoint)
            async with owned(scripted_options(tmp_path)) as other:
                assert (await other.start()).key != endpoint.key


async def test_first_users_share_one_start(tmp_path: Path) -> None:
    endpoints: list[Endpoint] = []
    with open_gate() as gate:
        async with owned(scripted_options(tmp_path, port=gate.port)) as model:

            async def use() -> None:
                endpoints.append(await model.start())

            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(use)
                await gate.wait_for_child()
                assert endpoints == []
                gate.let_load()
            assert await model.start() == endpoints[0]

    assert len(set(endpoints)) == 1
    assert len(gate.pids) == 1


async def test_a_user_who_gives_up_leaves_the_start_to_the_next(tmp_path: Path) -> None:
    with open_gate() as gate:
        async with owned(scripted_options(tmp_path, port=gate.port)) as model:
            async with anyio.create_task_group() as impatient:
                impatient.start_soon(model.start)
                await gate.wait_for_child()
                impatient.cancel_scope.cancel()
            assert model.process_id is not None
            gate.let_load()

            await model.start()

    assert len(gate.pids) == 1


async def test_a_reply_that_lay_unread_past_the_limit_still_counts(tmp_path: Path) -> None:
    with open_gate() as gate:
        async with owned(scripted_options(tmp_path, port=gate.port), start_limit=0.0) as model:
            async with anyio.create_task_group() as impatient:
                impatient.start_soon(model.start)
                await gate.wait_for_child()
                impatient.cancel_scope.cancel()
            gate.let_load()

            assert (await model.start()).base_url


@pytest.mark.requirement("T06")
async def test_a_child_that_died_is_replaced_at_the_next_use(tmp_path: Path) -> None:
    with open_gate() as gate:
        async with (
            owned(scripted_options(tmp_path, port=gate.port)) as model,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(model.start)
            pid = await gate.wait_for_child()
            gate.let_load()
            first = await model.start()
            assert await model.explain_end(patience=0.0) is None

            os.kill(pid, signal.SIGKILL)

            assert await model.explain_end() == "was killed, perhaps because memory ran out"
            tasks.start_soon(model.start)
            assert await gate.wait_for_child() != pid
            gate.let_load()
            second = await model.start()
            assert second != first
            assert (await get(second, "/health")).status_code == 200


@pytest.mark.requirement("T06")
async def test_closing_ends_the_child_and_a_closed_model_stays_closed(tmp_path: Path) -> None:
    with open_gate() as gate:
        model = LocalModel(scripted_options(tmp_path, port=gate.port))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(model.start)
            await gate.wait_for_child()
            gate.let_load()
            await model.start()

        with anyio.fail_after(2):
            await model.aclose()

        await gate.wait_for_end()
        assert model.process_id is None
        await model.aclose()
        with pytest.raises(LocalModelError, match=r"^the local model is shut down$"):
            await model.start()


async def test_closing_a_model_that_was_never_used_does_nothing(tmp_path: Path) -> None:
    model = LocalModel(scripted_options(tmp_path))
    await model.aclose()
    assert model.process_id is None


@pytest.mark.requirement("T06")
async def test_closing_during_the_start_ends_both(tmp_path: Path) -> None:
    failures: list[str] = []
    with open_gate() as gate:
        model = LocalModel(scripted_options(tmp_path, port=gate.port, load="with lock held"))

        async def use() -> None:
            try:
                await model.start()
            except LocalModelError as error:
                failures.append(str(error))

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(use)
                await gate.wait_for_child()
                await model.aclose()
        await gate.wait_for_end()

    assert len(failures) == 1
    assert failures[0].startswith("the local model ended ")


@pytest.mark.requirement("T06")
async def test_a_child_that_ignores_everything_is_killed(tmp_path: Path) -> None:
    stubborn = child_at(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        'print(\'{"address": "http://127.0.0.1:1"}\', flush=True)\n'
        "while True: time.sleep(60)"
    )
    model = LocalModel(scripted_options(tmp_path), command=stubborn)
    await model.start()

    with anyio.fail_after(5):
        await model.aclose()

    assert model.process_id is None


@pytest.mark.requirement("T06")
@pytest.mark.parametrize("script", [{}, {"load": "with lock held"}], ids=["serving", "loading"])
async def test_a_parent_that_is_killed_leaves_no_child(tmp_path: Path, script: dict[str, str]) -> None:
    with open_gate() as gate:
        options = scripted_options(tmp_path, port=gate.port, **script)
        with subprocess.Popen(
            [sys.executable, str(DOOMED_PARENT), str(options.packages), str(options.model)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        ) as parent:
            try:
                await gate.wait_for_child()
                if not script:
                    gate.let_load()
                    assert parent.stdout is not None
                    assert (await anyio.to_thread.run_sync(parent.stdout.readline)).startswith(
                        b"http://127.0.0.1:"
                    )
            finally:
                parent.kill()
        await gate.wait_for_end()


async def check_failure(model: LocalModel, message: str) -> None:
    with pytest.raises(LocalModelError) as raised:
        await model.start()
    assert str(raised.value) == message
    assert model.process_id is None


async def test_a_model_that_cannot_be_loaded_quotes_the_first_complaints(tmp_path: Path) -> None:
    async with owned(scripted_options(tmp_path, load="refuse")) as model:
        await check_failure(
            model,
            "the local model could not be loaded: RuntimeError: failed to init "
            "(it said: loader: invalid magic characters; giving up)",
        )


async def test_a_missing_runtime_is_named(tmp_path: Path) -> None:
    async with owned(replace(scripted_options(tmp_path), packages=tmp_path)) as model:
        await check_failure(
            model, "the local model could not be loaded: ModuleNotFoundError: No module named 'xllamacpp'"
        )


async def test_an_old_processor_is_explained(tmp_path: Path) -> None:
    async with owned(scripted_options(tmp_path, load="crash")) as model:
        await check_failure(
            model,
            "the local model ended: this processor lacks instructions (AVX2) that its runtime was built for",
        )


ENDS = {
    "exits": ("sys.stderr.write('no luck\\n'); sys.exit(7)", "ended with code 7 (it said: no luck)"),
    "dies of a signal": ("os.kill(os.getpid(), signal.SIGSEGV)", "ended by signal 11"),
    "closes its output": ("os.close(1); time.sleep(60)", "closed its output but did not end"),
    "floods its log": (
        "sys.stderr.write('x' * 5_000_000 + '\\n\\x1b[31mthe\\x07end\\n'); sys.exit(1)",
        f"ended with code 1 (it said: {'x' * 200}; [31mthe end)",
    ),
}


@pytest.mark.parametrize(("script", "end"), ENDS.values(), ids=ENDS)
async def test_a_child_that_ends_before_it_is_ready(tmp_path: Path, script: str, end: str) -> None:
    async with owned(scripted_options(tmp_path), command=child_at(script)) as model:
        await check_failure(model, f"the local model {end}")


@pytest.mark.parametrize(
    "reply",
    [
        "'hello'",
        "'{}'[:1]",
        "'[]'",
        '\'{"address": "http://example.com:80"}\'',
        '\'{"address": "http://127.0.0.1:80@example.com"}\'',
        "'x' * 10_000_000",
        "'\\x00' * 5",
    ],
)
async def test_a_reply_that_is_none_is_refused(tmp_path: Path, reply: str) -> None:
    async with owned(
        scripted_options(tmp_path), command=child_at(f"print({reply}, flush=True)\nsys.stdin.read()")
    ) as model:
        await check_failure(model, "the local model said something else than its address")


async def test_a_child_that_says_nothing_runs_into_the_limit(tmp_path: Path) -> None:
    async with owned(
        scripted_options(tmp_path), command=child_at("sys.stdin.read()"), start_limit=0.0
    ) as model:
        await check_failure(model, "the local model was not ready in time")


async def test_a_program_that_does_not_exist_is_named(tmp_path: Path) -> None:
    async with owned(scripted_options(tmp_path), command=["no-such-python"]) as model:
        await check_failure(
            model, "the local model could not be started (no-such-python): No such file or directory"
        )


async def test_after_a_failed_start_the_next_use_tries_again(tmp_path: Path) -> None:
    options = scripted_options(tmp_path, load="refuse")
    async with owned(options) as model:
        with pytest.raises(LocalModelError):
            await model.start()
        scripted_options(tmp_path)

        assert (await get(await model.start(), "/health")).status_code == 200


async def test_what_native_code_prints_neither_disturbs_nor_grows_without_bound(tmp_path: Path) -> None:
    with open_gate() as gate:
        options = scripted_options(tmp_path, port=gate.port, load="chatter")
        async with owned(options) as model, anyio.create_task_group() as tasks:
            tasks.start_soon(model.start)
            pid = await gate.wait_for_child()
            gate.let_load()
            endpoint = await model.start()
            log_size = os.stat(f"/proc/{pid}/fd/2").st_size

            assert (await get(endpoint, "/health")).status_code == 200
            assert log_size <= 1 << 20
