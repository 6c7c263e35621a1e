"""Config deltas, compactions and overlays as they are read (chapter 3.8 and 3.9 of the format)."""

import pytest

from jp_lsp.conversation.directive import (
    Compaction,
    ConfigDelta,
    Directive,
    EventOverlay,
    OmitToolCalls,
    OverlayPatch,
    StripReasoning,
    StripToolCalls,
    decode,
)
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.shape import ShapeError
from tests.support.streams import Raw, at, compaction, raw


def delta(**fields: JsonValue) -> Raw:
    return {"type": "config_delta", "timestamp": str(at(0)), **fields}


def overlay(*patches: JsonValue) -> Raw:
    return raw("event_overlay", patches=list(patches))


PATCH: Raw = {
    "matcher": {"matcher": "metadata_value", "key": "sig", "value": "old"},
    "action": {"action": "remove_metadata", "key": "sig"},
}


@pytest.mark.parametrize(
    ("stored", "meaning"),
    [
        (delta(delta={"a": 1}), ConfigDelta({"a": 1}, timestamp=at(0))),
        (delta(op="apply", delta={}, unsets=["a.b", 7]), ConfigDelta({}, ("a.b",), timestamp=at(0))),
        (delta(op="reset"), ConfigDelta({}, is_reset=True, timestamp=at(0))),
        (delta(), ConfigDelta({}, timestamp=at(0))),
        (
            delta(inherit=False, assistant={"name": "A"}),
            ConfigDelta({"inherit": False, "assistant": {"name": "A"}}, timestamp=at(0)),
        ),
        (delta(event_id="abc", assistant={}), ConfigDelta({"assistant": {}}, timestamp=at(0))),
        ({"type": "config_delta", "delta": {}}, ConfigDelta({})),
        ({"type": "config_delta", "timestamp": "yesterday", "delta": {}}, ConfigDelta({})),
        (compaction(0, 3, summary={"summary": "S"}), Compaction(at(0), 0, 3, "S")),
        (compaction(0, 3, summary={"summary": "S", "source": "authored"}), Compaction(at(0), 0, 3, "S")),
        (compaction(4, 6, reasoning="strip"), Compaction(at(0), 4, 6, reasoning=StripReasoning())),
        (
            compaction(0, 0, reasoning={"policy": "strip", "over": "4KB"}),
            Compaction(at(0), 0, 0, reasoning=StripReasoning(4096)),
        ),
        (
            compaction(0, 0, tool_calls={"policy": "strip", "request": True, "response": False}),
            Compaction(at(0), 0, 0, tool_calls=StripToolCalls(-1, None)),
        ),
        (
            compaction(
                0, 0, tool_calls={"policy": "strip", "request": False, "response": True, "over": "1MB"}
            ),
            Compaction(at(0), 0, 0, tool_calls=StripToolCalls(None, 1_048_576)),
        ),
        (
            compaction(0, 0, tool_calls={"policy": "omit"}),
            Compaction(at(0), 0, 0, tool_calls=OmitToolCalls()),
        ),
        (overlay(PATCH), EventOverlay(at(0), (OverlayPatch("sig", "old", "sig"),))),
        (overlay(), EventOverlay(at(0), ())),
    ],
)
@pytest.mark.requirement("R35", "C15")
def test_a_directive_is_read(stored: Raw, meaning: Directive) -> None:
    assert decode(stored) == meaning


@pytest.mark.parametrize(
    ("stored", "problem"),
    [
        (delta(op="replace"), "'op' 'replace'"),
        (delta(op=["apply"]), "'op' .* is neither"),
        (delta(delta=None), "'delta' must be an object, not null"),
        (raw("compaction", from_turn=0), "'to_turn' is missing"),
        (compaction(-1, 0), "'from_turn' must be an integer from 0 on"),
        (raw("compaction", from_turn=True, to_turn=0), "'from_turn' must be an integer"),
        (compaction(0, 0, summary="S"), "'summary' must be an object"),
        (compaction(0, 0, reasoning="keep"), "'reasoning' must be"),
        (compaction(0, 0, reasoning={"policy": "strip", "over": "big"}), "'big' is not a size"),
        (compaction(0, 0, tool_calls={"policy": "strip", "request": True}), "'response' is missing"),
        (compaction(0, 0, tool_calls="omit"), "'tool_calls' must be"),
        ({"type": "compaction", "from_turn": 0, "to_turn": 0}, "'timestamp' is missing"),
        (overlay({**PATCH, "matcher": {"matcher": "kind"}}), "'matcher' 'kind'"),
        (overlay({**PATCH, "action": {"action": "drop"}}), "'action' 'drop'"),
        (raw("event_overlay"), "'patches' is missing"),
    ],
)
def test_a_malformed_directive_is_refused(stored: Raw, problem: str) -> None:
    with pytest.raises(ShapeError, match=problem):
        decode(stored)
