"""Which documents are queries. It imports nothing, because it is asked about every document from the start."""

LANGUAGE = "jp-query"
SUFFIX = ".jp.md"


def is_query(uri: str, language: str | None) -> bool:
    """Tell whether a document is a query, by its name or by what the client says that it is."""
    return language == LANGUAGE or uri.endswith(SUFFIX)
