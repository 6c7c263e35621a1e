"""The name of a conversation's folder, from its id and title (conversation format 2.2, 2.3).

Other programs compute the same name, so every odd rule is kept: the length test counts bytes of the
untrimmed title, the cut takes code points of the trimmed one, and the shortened name ends at its last dash,
even if that is the one behind the id.
"""

import re

from jp_lsp.conversation.alphanumeric import is_alphanumeric
from jp_lsp.conversation.ids import ConversationId, conversation_id, deciseconds_of

_LONGEST_TITLE = 60
_BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
"""Unicode's White_Space; `str.strip` without an argument takes four control characters more."""

_CANONICAL = re.compile(r"(0|[1-9]\d*)(?:-.*)?\Z", re.ASCII | re.DOTALL)


def directory_name(conversation: ConversationId, title: str | None) -> str:
    """Give the folder name of a conversation."""
    raw = title or ""
    text = raw.strip(_BLANKS)[:_LONGEST_TITLE]
    slug = "".join(character if is_alphanumeric(character) else "-" for character in text)
    slug = slug.rstrip("-").lower()
    number = str(deciseconds_of(conversation))
    if not slug:
        return number
    name = f"{number}-{slug}"
    return name[: name.rindex("-")] if len(raw.encode("utf-8", "replace")) > _LONGEST_TITLE else name


def parse_directory_name(name: str) -> ConversationId | None:
    """Give the conversation that a folder belongs to; `None` if it is no conversation's folder.

    Only the form that we would write is taken: a folder with a leading zero or plus sign would never be
    found again by its id (trap 8).
    """
    match = _CANONICAL.match(name)
    if match is None:
        return None
    try:
        return conversation_id(int(match[1]))
    except ValueError:
        return None


def belongs_to(name: str, conversation: ConversationId) -> bool:
    """Tell whether a folder is this conversation's: its number, alone or with a dash behind it."""
    number = str(deciseconds_of(conversation))
    return name == number or name.startswith(f"{number}-")
