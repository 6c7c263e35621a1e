"""When the server ends, turns have a time of their own, and all of it together has another (query pipeline 4.8)."""

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from tests.support.query_world import world
from tests.support.scripted_provider import Silence
from tests.support.turns import message

pytestmark = pytest.mark.anyio

HOUR = 3600.0


@pytest.mark.requirement("S10", "R335")
@pytest.mark.parametrize(("turn_budget", "budget"), [(0.0, HOUR), (HOUR, 0.0)])
async def test_a_turn_that_cannot_be_saved_keeps_the_server_no_longer_than_it_may(
    turn_budget: float, budget: float
) -> None:
    async with world([message("a"), Silence()]) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        # The clock stands still, so the second try of the last save never comes.
        here.store.failing_saves = dict.fromkeys(range(2, 100), "disk full")
        with anyio.fail_after(5):
            await here.host.close(
                is_client_gone=False, turn_budget=turn_budget, budget=budget, background_budget=0.0
            )
        assert runner.outcome is None


@pytest.mark.requirement("S10")
async def test_each_turn_has_its_time_and_none_has_to_use_it() -> None:
    async with world([message("a"), Silence()]) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        with anyio.fail_after(5):
            await here.host.close(is_client_gone=False, turn_budget=HOUR, budget=HOUR, background_budget=HOUR)
        assert runner.finished.is_set()
        assert runner.outcome is not None
