"""Names of things in a conversation, each with a type of its own."""

from typing import NewType

CallId = NewType("CallId", str)
"""Joins a tool call to its response; chosen by the model's vendor, unique only by position."""

InquiryId = NewType("InquiryId", str)

EventId = NewType("EventId", str)
"""Seven characters of `0-9a-z`, given by the stream (conversation format 3.12)."""

ConversationId = NewType("ConversationId", str)
"""`jp-c` and the creation time in deciseconds (conversation format 2.1)."""
