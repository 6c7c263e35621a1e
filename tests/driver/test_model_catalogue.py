"""Which models there are: every vendor is asked, and none of them can spoil the list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from jp_lsp.driver.model_catalogue import KEPT_FOR, PATIENCE, ModelCatalogue, ModelListing
from jp_lsp.ports.model_lists import KeptModel, KeptModels
from jp_lsp.ports.provider import ModelDetails, ModelId, Provider, ProviderError
from jp_lsp.ports.providers import PROVIDER_DEFAULTS, ModelNames, ProviderSettings
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.trust import TrustItem
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.workspace.trust import DiskTrustStore
from tests.support.clock import FakeClock
from tests.support.scripted_provider import ScriptedProvider

pytestmark = pytest.mark.anyio

DOWN = StreamFailure(FailureKind.CONNECT, "Nobody listens there")
REFUSED = StreamFailure(FailureKind.AUTH, "invalid key")
OWN_SERVER = ProviderSettings("http://127.0.0.1:9")


class Vendor(ScriptedProvider):
    """Offers models, fails, or never answers."""

    def __init__(self, provider: str, answer: Sequence[str] | StreamFailure | None) -> None:
        super().__init__()
        self.asked = 0
        self.provider = provider
        self.answer = answer

    async def models(self) -> Sequence[ModelDetails]:
        self.asked += 1
        match self.answer:
            case None:
                await anyio.sleep_forever()
                raise AssertionError
            case StreamFailure():
                raise ProviderError(self.answer)
            case names:
                return [ModelDetails(ModelId(self.provider, name)) for name in names]


@dataclass
class Vendors:
    """Those that can be asked; all others lack their key."""

    vendors: dict[str, Vendor] = field(default_factory=lambda: {})
    seen: list[ProviderSettings | None] = field(default_factory=lambda: [])

    def has(self, provider: str, answer: Sequence[str] | StreamFailure | None) -> Vendor:
        self.vendors[provider] = Vendor(provider, answer)
        return self.vendors[provider]

    def get(self, model: ModelId, settings: Mapping[str, ProviderSettings]) -> Provider:
        if model.provider not in self.vendors:
            raise Refusal("provider_auth", f"{model.provider} needs a key")
        self.seen.append(settings.get(model.provider))
        return self.vendors[model.provider]


class Catalogue:
    """A catalogue with its fakes."""

    def __init__(self, folder: Path) -> None:
        self.vendors = Vendors()
        self.clock = FakeClock()
        self.installed: list[ModelDetails] = []
        self.trust = DiskTrustStore(folder / "trust.json", folder)
        self.real = ModelCatalogue(self.vendors, lambda: self.installed, self.trust, self.clock)
        self.names = names()

    async def listing(self, vendor: str | None = None, *, is_fresh: bool = False) -> ModelListing:
        return await self.real.list(self.names, vendor=vendor, is_fresh=is_fresh)

    async def ids(self, *, is_fresh: bool = False) -> list[str]:
        return [str(model.id) for model in (await self.listing(is_fresh=is_fresh)).models]


def names(effective: str | None = None, **settings: ProviderSettings) -> ModelNames:
    model = None if effective is None else ModelId(*effective.split("/"))
    return ModelNames(model, {"quick": ModelId("openai", "b")}, {**PROVIDER_DEFAULTS, **settings})


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    return Catalogue(tmp_path)


def told(listing: ModelListing) -> list[str]:
    return [notice.text for notice in listing.notices]


@pytest.mark.requirement("R1")
async def test_the_models_of_all_vendors_are_in_one_list_by_id(catalogue: Catalogue) -> None:
    catalogue.vendors.has("openai", ["b", "a"])
    catalogue.vendors.has("anthropic", ["c"])
    catalogue.installed = [ModelDetails(ModelId("local", "small"))]
    listing = await catalogue.listing()
    assert [str(model.id) for model in listing.models] == [
        "anthropic/c",
        "local/small",
        "openai/a",
        "openai/b",
    ]
    assert (told(listing), dict(listing.aliases)) == ([], {"quick": ModelId("openai", "b")})
    assert [str(model.id) for model in (await catalogue.listing("openai")).models] == ["openai/a", "openai/b"]
    assert [str(model.id) for model in (await catalogue.listing("local")).models] == ["local/small"]


async def test_one_that_fails_costs_its_own_models_and_a_notice(catalogue: Catalogue) -> None:
    catalogue.vendors.has("openai", ["a"])
    catalogue.vendors.has("anthropic", REFUSED)
    catalogue.vendors.has("xai", None)
    listings: list[ModelListing] = []

    async def ask() -> None:
        listings.append(await catalogue.listing())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await catalogue.clock.advance(PATIENCE)
    (listing,) = listings
    assert [str(model.id) for model in listing.models] == ["openai/a"]
    assert told(listing) == [
        "The models of anthropic could not be listed: invalid key.",
        "The models of xai could not be listed: no answer within 5 seconds.",
    ]


@pytest.mark.parametrize(
    ("effective", "settings", "vendor", "expected"),
    [
        (None, {}, None, 0),
        # who asks for it, uses it, or has set it up wants to know
        (None, {}, "llamacpp", 1),
        ("llamacpp/x", {}, None, 1),
        (None, {"llamacpp": OWN_SERVER}, None, 1),
    ],
)
async def test_a_server_that_nobody_uses_is_not_missed(
    catalogue: Catalogue,
    effective: str | None,
    settings: dict[str, ProviderSettings],
    vendor: str | None,
    expected: int,
) -> None:
    catalogue.vendors.has("llamacpp", DOWN)
    catalogue.names = names(effective, **settings)
    assert len((await catalogue.listing(vendor)).notices) == expected


@pytest.mark.parametrize(("vendor", "meant"), [("antropic", " Did you mean 'anthropic'?"), ("zzz", "")])
async def test_a_vendor_that_there_is_not_is_told(catalogue: Catalogue, vendor: str, meant: str) -> None:
    listing = await catalogue.listing(vendor)
    assert listing.models == ()
    (text,) = told(listing)
    assert text.startswith(f"There is no vendor {vendor!r}.{meant} Known: anthropic, cerebras, ")
    assert told(await catalogue.listing("local")) == []


async def test_a_missing_key_is_told_to_who_asks_for_the_vendor(catalogue: Catalogue) -> None:
    assert told(await catalogue.listing()) == []
    assert told(await catalogue.listing("anthropic")) == ["anthropic needs a key"]
    catalogue.names = names("anthropic/c")
    assert told(await catalogue.listing()) == ["anthropic needs a key"]


async def test_the_effective_model_is_listed_even_if_its_vendor_does_not_tell_of_it(
    catalogue: Catalogue,
) -> None:
    catalogue.vendors.has("openai", ["a"])
    catalogue.names = names("openai/private")
    listing = await catalogue.listing()
    assert [str(model.id) for model in listing.models] == ["openai/a", "openai/private"]
    assert listing.effective == ModelId("openai", "private")
    assert [str(model.id) for model in (await catalogue.listing("local")).models] == []


async def test_a_list_is_kept_for_a_day_and_outlives_an_outage(catalogue: Catalogue) -> None:
    vendor = catalogue.vendors.has("openai", ["a"])
    assert await catalogue.ids() == await catalogue.ids() == ["openai/a"]
    assert vendor.asked == 1
    vendor.answer = ["a", "b"]
    assert await catalogue.ids(is_fresh=True) == ["openai/a", "openai/b"]
    vendor.answer = DOWN
    await catalogue.clock.advance(KEPT_FOR + 1)
    listing = await catalogue.listing()
    assert [str(model.id) for model in listing.models] == ["openai/a", "openai/b"]
    assert told(listing) == [
        "The models of openai could not be listed: Nobody listens there. Shown are those of 1 day ago."
    ]
    assert vendor.asked == 3
    catalogue.names = names(openai=ProviderSettings("http://127.0.0.1:9"))
    assert await catalogue.ids() == [], "another address is another vendor"


async def test_a_server_of_ones_own_is_asked_each_time(catalogue: Catalogue) -> None:
    vendor = catalogue.vendors.has("lmstudio", ["a"])
    assert await catalogue.ids() == ["lmstudio/a"]
    vendor.answer = ["b"]
    assert await catalogue.ids() == ["lmstudio/b"]


@pytest.mark.requirement("T15")
async def test_where_a_workspace_wants_to_go_is_asked_only_once_it_is_trusted(catalogue: Catalogue) -> None:
    catalogue.vendors.has("openai", ["a"])
    usual, strange = PROVIDER_DEFAULTS["openai"], ProviderSettings("http://stranger.example")
    item = TrustItem("endpoint", "providers.llm.openai.base_url", "http://stranger.example")
    catalogue.names = ModelNames(None, {}, {"openai": usual}, {"openai": strange}, (item,))
    await catalogue.listing("openai")
    catalogue.trust.trust("hash", (item,))
    await catalogue.listing("openai")
    assert catalogue.vendors.seen == [usual, strange]


class RememberingVendor(Vendor):
    """Remembers a list that an earlier server was given."""

    def __init__(self, provider: str, answer: Sequence[str] | StreamFailure | None, kept: KeptModels) -> None:
        super().__init__(provider, answer)
        self.kept = kept

    async def kept_models(self) -> KeptModels | None:
        return self.kept


@pytest.mark.requirement("R1")
async def test_what_an_earlier_server_was_told_is_used_for_a_day_and_in_an_outage(
    catalogue: Catalogue,
) -> None:
    listed_at = catalogue.clock.wall()
    old = KeptModel(ModelDetails(ModelId("google", "old")), listed_at)
    vendor = RememberingVendor("google", DOWN, KeptModels({"old": old}, listed_at))
    catalogue.vendors.vendors["google"] = vendor
    assert await catalogue.ids() == ["google/old"]
    assert vendor.asked == 0
    await catalogue.clock.advance(3 * KEPT_FOR)
    listing = await catalogue.listing()
    assert [str(model.id) for model in listing.models] == ["google/old"]
    assert told(listing) == [
        "The models of google could not be listed: Nobody listens there. Shown are those of 3 days ago."
    ]
    vendor.answer = ["new"]
    assert await catalogue.ids() == ["google/new"]
