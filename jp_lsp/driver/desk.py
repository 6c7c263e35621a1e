"""What the conversations of one client are changed with: by the caretaker as wholes, by the amender inside."""

from collections.abc import Callable
from dataclasses import dataclass

from jp_lsp.driver.host import QueryHost
from jp_lsp.driver.patience import Patience
from jp_lsp.driver.preparation import Surroundings
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.news import News
from jp_lsp.ports.upkeep import Upkeep


@dataclass(frozen=True, slots=True)
class Desk:
    """The parts.

    Attributes:
        host: the client's queries.
        around: the workspace's parts; asking for them makes a workspace where there is none.
        upkeep: the shelf of the workspace.
        clock: time.
        news: the way to the client.
    """

    host: QueryHost
    around: Callable[[], Surroundings]
    upkeep: Callable[[], Upkeep]
    clock: Clock
    news: News

    @property
    def patience(self) -> Patience:
        """Gets a conversation alone."""
        return Patience(self.host, self.clock)
