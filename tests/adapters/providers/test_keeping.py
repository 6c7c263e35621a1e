"""Providers that remember what their vendor said, in memory of their own and on disk."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.ports.model_lists import KeptModel, KeptModels, ModelLists, kept_models
from jp_lsp.ports.provider import (
    Adaptive,
    Budgetted,
    Leveled,
    ModelDetails,
    ModelId,
    ProviderError,
    ReasoningSupport,
    Unsupported,
)
from jp_lsp.ports.providers import ProviderSettings
from jp_lsp.providers.keeping import KEPT_FOR, KeepingProvider, Vendor
from jp_lsp.providers.registry import ProviderRegistry
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.workspace.model_lists import ModelListFiles
from tests.adapters.providers.making import Observer, model, request
from tests.support.http_server import HttpServer, Reply, Request
from tests.support.scripted_provider import ScriptedProvider

pytestmark = pytest.mark.anyio

ADDRESS = "https://user:pass-word@models.example/v1beta"
START = 1_800_000_000.0


def details(name: str, vendor: str = "google", **known: Any) -> ModelDetails:
    return ModelDetails(ModelId(vendor, name), display_name=name, **known)


class Asked(ScriptedProvider):
    """A vendor that counts questions, and fails when it is told to."""

    def __init__(self, *names: str, vendor: str) -> None:
        super().__init__()
        self.offered = {name: details(name, vendor) for name in names}
        self.vendor = vendor
        self.questions: list[str] = []
        self.failure: StreamFailure | None = None

    def _count(self, question: str) -> None:
        self.questions.append(question)
        if self.failure is not None:
            raise ProviderError(self.failure)

    async def models(self) -> Sequence[ModelDetails]:
        self._count("list")
        return list(self.offered.values())

    async def model_details(self, name: str) -> ModelDetails:
        self._count(name)
        return self.offered.get(name, ModelDetails(ModelId(self.vendor, name)))

    async def aclose(self) -> None:
        self.questions.append("closed")


class Desk:
    """A keeping provider with its parts; `again` is what a server that starts later has."""

    def __init__(self, folder: Path, vendor: str = "google", lists: ModelLists | None = None) -> None:
        self.now = START
        self.asked = Asked("gemini-2.5-pro", "gemini-2.5-flash", vendor=vendor)
        self.files = lists or ModelListFiles(folder / "models")
        self.vendor = vendor

    @property
    def again(self) -> KeepingProvider:
        return KeepingProvider(self.asked, Vendor(self.vendor, ADDRESS), self.files, lambda: self.now)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


DOWN = StreamFailure(FailureKind.CONNECT, "cannot connect")
BAD_KEY = StreamFailure(FailureKind.AUTH, "bad key")


async def test_a_model_is_asked_about_once_a_day(desk: Desk) -> None:
    for moment, questions in ((0.0, 1), (KEPT_FOR - 1, 1), (KEPT_FOR, 2)):
        desk.now = START + moment
        assert await desk.again.model_details("gemini-2.5-pro") == details("gemini-2.5-pro")
        assert len(desk.asked.questions) == questions


async def test_a_list_answers_for_all_its_models(desk: Desk) -> None:
    assert await desk.again.kept_models() is None
    listed = await desk.again.models()
    assert await desk.again.model_details("gemini-2.5-flash") == details("gemini-2.5-flash")
    kept = await kept_models(desk.again)
    assert kept is not None
    assert (sorted(kept.listed, key=str), kept.listed_at) == (sorted(listed, key=str), START)
    assert desk.asked.questions == ["list"]


async def test_one_model_alone_is_no_list(desk: Desk) -> None:
    await desk.again.model_details("gemini-2.5-pro")
    assert await desk.again.kept_models() is None
    assert await kept_models(ScriptedProvider()) is None


async def test_a_model_of_which_nothing_is_known_is_asked_about_again(desk: Desk) -> None:
    for _ in range(2):
        assert await desk.again.model_details("new") == ModelDetails(ModelId("google", "new"))
    assert desk.asked.questions == ["new", "new"]


async def test_without_a_network_what_was_said_before_counts(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    await desk.again.models()
    desk.now += 30 * KEPT_FOR
    desk.asked.failure = DOWN
    assert await desk.again.model_details("gemini-2.5-pro") == details("gemini-2.5-pro")
    assert "google/gemini-2.5-pro is described as it was before: cannot connect" in caplog.text
    with pytest.raises(ProviderError, match="cannot connect"):
        await desk.again.model_details("another")
    with pytest.raises(ProviderError, match="cannot connect"):
        await desk.again.models()


async def test_a_bad_key_is_not_covered_up(desk: Desk) -> None:
    await desk.again.models()
    desk.now += KEPT_FOR
    desk.asked.failure = BAD_KEY
    with pytest.raises(ProviderError, match="bad key"):
        await desk.again.model_details("gemini-2.5-pro")


async def test_a_server_of_ones_own_is_always_asked(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "ollama")
    for _ in range(2):
        await desk.again.model_details("gemini-2.5-pro")
    assert desk.asked.questions == ["gemini-2.5-pro"] * 2
    desk.asked.failure = DOWN
    assert (await desk.again.model_details("gemini-2.5-pro")).display_name == "gemini-2.5-pro"


async def test_closing_and_pausing_are_the_inner_ones(desk: Desk) -> None:
    assert desk.again.pauses_in_arguments is desk.asked.pauses_in_arguments
    await desk.again.aclose()
    assert desk.asked.questions == ["closed"]


# Names that nearly fit


@pytest.mark.requirement("R55")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "gemini-2.5-flsh",
            "no such model. Did you mean 'google/gemini-2.5-flash' or 'google/gemini-2.5-pro'?",
        ),
        ("something-else", "no such model"),
    ],
)
async def test_an_unknown_model_names_its_neighbours(desk: Desk, name: str, message: str) -> None:
    unknown = StreamFailure(FailureKind.UNKNOWN_MODEL, "no such model")
    desk.asked.will_play([unknown])
    events = [item async for item in desk.again.stream(request(of=model(f"google/{name}")), Observer())]
    assert [getattr(item, "message", None) for item in events] == [message]
    assert desk.asked.questions == ["list"]


async def test_neighbours_cost_no_second_failure(desk: Desk) -> None:
    desk.asked.failure = StreamFailure(FailureKind.UNKNOWN_MODEL, "no such model")
    with pytest.raises(ProviderError, match=r"^no such model$"):
        await desk.again.model_details("gemini-2.5-flsh")


async def test_the_registry_wraps_what_it_makes(tmp_path: Path) -> None:
    listed = {"models": [{"name": "models/gemini-2.5-flash"}]}

    def answer(asked: Request) -> Reply:
        if asked.method == "GET":
            return Reply.json(listed)
        return Reply.json({"error": {"code": 404, "message": "models/x", "status": "NOT_FOUND"}}, 404)

    with HttpServer(answer) as server:
        environ = {"GEMINI_API_KEY": "AIza-key", "MY_URL": server.url}
        settings = {"google": ProviderSettings(base_url_env="MY_URL")}
        registry = ProviderRegistry(settings, environ, lists=ModelListFiles(tmp_path))
        provider = registry.get(ModelId("google", "gemini-2.5-flah"))
        asked = request(of=model("google/gemini-2.5-flah"))
        (failure,) = [item async for item in provider.stream(asked, Observer())]
        await registry.aclose()
    assert isinstance(failure, StreamFailure)
    assert failure.message == "models/x (HTTP 404). Did you mean 'google/gemini-2.5-flash'?"
    assert [each.path for each in server.requests] == [
        "/models/gemini-2.5-flah:streamGenerateContent?alt=sse",
        "/models?pageSize=1000",
    ]
    assert len(list(tmp_path.iterdir())) == 1


# Files


@pytest.mark.parametrize(
    "reasoning",
    [
        None,
        Unsupported(),
        Budgetted(True, 512, 24_576),
        Budgetted(False, 0),
        Leveled(False, frozenset({"low", "high"})),
        Adaptive(True, xhigh=True, max=False),
    ],
)
def test_what_is_kept_comes_back(tmp_path: Path, reasoning: ReasoningSupport | None) -> None:
    full = details(
        "a/b:c",
        context_window=5,
        max_output_tokens=6,
        reasoning=reasoning,
        knowledge_cutoff=date(2025, 1, 1),
        deprecated=False,
        structured_output=True,
        answers_in_text=False,
        prefill=True,
        features=frozenset({"x"}),
    )
    bare = ModelDetails(ModelId("google", "ü"), reasoning=reasoning)
    kept = KeptModels({"a/b:c": KeptModel(full, START), "ü": KeptModel(bare, START + 1.5)}, START)
    files = ModelListFiles(tmp_path / "new" / "folder")
    files.save("google", ADDRESS, kept)
    assert files.load("google", ADDRESS) == kept
    assert files.load("google", "https://another.example") is None
    assert files.load("openai", ADDRESS) is None
    (path,) = files.folder.iterdir()
    assert "pass-word" not in path.name + path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "5",
        "{}",
        '{"format": 2, "listed_at": null, "models": {}}',
        '{"format": 1, "listed_at": "x", "models": {}}',
        '{"format": 1, "listed_at": 1, "models": []}',
        '{"format": 1, "listed_at": 1, "models": {"a": {}}}',
        '{"format": 1, "listed_at": 1, "models": {"a": {"asked_at": 1, "context_window": "big"}}}',
        '{"format": 1, "listed_at": 1, "models": {"a": {"asked_at": 1, "reasoning": {"mode": "new"}}}}',
        '{"format": 1, "listed_at": 1, "models": {"a": {"asked_at": 1, "knowledge_cutoff": "soon"}}}',
        "[" * 100_000,
    ],
)
def test_a_file_that_cannot_be_read_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    files = ModelListFiles(tmp_path)
    files.save("google", ADDRESS, KeptModels({}, START))
    (path,) = tmp_path.iterdir()
    path.write_text(text, encoding="utf-8")
    assert files.load("google", ADDRESS) is None


async def test_a_folder_that_cannot_be_written_costs_nothing_but_a_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "models").write_text("in the way", encoding="utf-8")
    desk = Desk(tmp_path)
    assert len(await desk.again.models()) == 2
    assert "the models of google could not be remembered: " in caplog.text
