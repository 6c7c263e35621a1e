"""Counting what several responses to one question took together."""

from jp_lsp.turn.stream_event import Usage


def total(one: Usage | None, other: Usage | None) -> Usage | None:
    """Add two counts; what neither tells stays unknown."""
    if one is None or other is None:
        return one or other
    return Usage(
        _sum(one.input_tokens, other.input_tokens),
        _sum(one.output_tokens, other.output_tokens),
        _sum(one.cached_tokens, other.cached_tokens),
        _sum(one.reasoning_tokens, other.reasoning_tokens),
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return one if other is None else other if one is None else one + other
