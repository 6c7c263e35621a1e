"""Which call does a tool-call delta belong to? Servers number badly (providers 6.5; traps 46 to 50).

Real streams have no ids, the same id twice, no index, one index for all calls, or an id and a name repeated
on every delta. A delta is routed to a call that is already open, unless it plainly begins another one.
"""

from dataclasses import dataclass, field

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.providers.untrusted import as_object, as_text, compact_json, parse_json

FIRST_CALL_INDEX = 2
"""0 is reasoning, 1 the content."""

_MOST_CALLS = 1024
"""Calls that one response may have; what is kept for each must have a limit."""

_LARGEST_GAP = 1000
"""A server's index further ahead than this is taken for nonsense; ours stay small numbers."""


@dataclass(frozen=True, slots=True)
class CallDelta:
    """One entry of `tool_calls`, made sure of; `arguments` is `None` when the delta has none."""

    index: int | None
    id: str
    name: str
    arguments: str | None

    @property
    def is_empty(self) -> bool:
        """Whether the delta says nothing."""
        return not self.id and not self.name and self.arguments is None

    @classmethod
    def from_entry(cls, entry: JsonObject) -> "CallDelta":
        """Read an entry; arguments that are no text (some servers send the object) are written as JSON."""
        index = entry.get("index")
        function = as_object(entry.get("function"))
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = compact_json(arguments)
        return cls(
            index=index if isinstance(index, int) and not isinstance(index, bool) and index >= 0 else None,
            id=as_text(entry.get("id")).strip(),
            name=as_text(function.get("name")).strip(),
            arguments=arguments,
        )


@dataclass(slots=True)
class Call:
    """A call that is being streamed; `index` is ours, `wire_index` the server's."""

    index: int
    wire_index: int | None
    id: str = ""
    name: str = ""
    wire_id: str = ""
    _pieces: list[str] = field(default_factory=list[str])
    _size: int = 0

    def add(self, arguments: str) -> None:
        """Take a fragment of the arguments."""
        self._pieces.append(arguments)
        self._size += len(arguments)

    # Both questions come with every delta of servers that repeat the name, so the common answer "no" must not
    # cost more the longer the arguments get.

    def has_complete_arguments(self) -> bool:
        """Whether the fragments so far are a whole JSON object."""
        if not self._pieces or not self._pieces[-1].rstrip().endswith("}"):
            return False
        try:
            return isinstance(parse_json("".join(self._pieces)), dict)
        except ValueError:
            return False

    def repeats(self, delta: CallDelta) -> bool:
        """Whether the delta is the whole call once more, as some servers send it at the end."""
        if not delta.arguments or delta.name != self.name or len(delta.arguments) != self._size:
            return False
        return delta.arguments == "".join(self._pieces)


class CallRouter:
    """The calls of one response."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._indices: set[int] = set()
        self._ids: dict[str, int] = {}
        self._by_wire_index: dict[int, Call] = {}
        self._by_id: dict[str, Call] = {}

    @property
    def is_full(self) -> bool:
        """Whether no further call can be opened."""
        return len(self.calls) >= _MOST_CALLS

    def find(self, delta: CallDelta) -> Call | None:
        """Give the open call that this delta continues; `None` when it begins a new one."""
        call = self._candidate(delta)
        return None if call is None or self._begins_another(call, delta) else call

    def open(self, delta: CallDelta, *, last_text: int, next_free: int) -> Call:
        """Open a call for the delta.

        Its index is two above the server's, as all recorded streams have it. Where that is taken, lies
        before text that came earlier (`last_text`) or is far out, it is `next_free`, above all used so far.
        """
        index = next_free if delta.index is None else delta.index + FIRST_CALL_INDEX
        if index in self._indices or not last_text < index <= next_free + _LARGEST_GAP:
            index = next_free
        call = Call(index, delta.index)
        self.calls.append(call)
        self._indices.add(index)
        if delta.index is not None:
            self._by_wire_index[delta.index] = call
        return call

    def learn(self, call: Call, delta: CallDelta) -> bool:
        """Fill id and name where they are still empty; tell whether anything was new."""
        is_new = False
        if delta.id and not call.wire_id:
            call.wire_id = delta.id
            call.id = self._unique_id(delta.id)
            self._by_id[delta.id] = call
            is_new = True
        if delta.name and not call.name:
            call.name = delta.name
            is_new = True
        return is_new

    def _candidate(self, delta: CallDelta) -> Call | None:
        if delta.id and (known := self._by_id.get(delta.id)):
            return known
        if delta.index is not None:
            return self._by_wire_index.get(delta.index)
        return self.calls[-1] if self.calls else None

    def _begins_another(self, call: Call, delta: CallDelta) -> bool:
        if delta.id and call.wire_id == delta.id:
            # The same id on the same index is the same call, however often it is repeated.
            if delta.index is None or delta.index == call.wire_index:
                return False
        elif delta.id and call.wire_id:
            return True
        if not delta.name:
            return False
        if delta.index is None and call.name and delta.name != call.name:
            return True
        says_more = delta.name != call.name or bool(delta.arguments and delta.arguments.strip())
        return says_more and not call.repeats(delta) and call.has_complete_arguments()

    def _unique_id(self, wanted: str) -> str:
        count = self._ids.get(wanted, 0) + 1
        self._ids[wanted] = count
        return wanted if count == 1 else self._unique_id(f"{wanted}_{count}")
