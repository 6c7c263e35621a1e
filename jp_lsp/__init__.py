"""jp_lsp: an LLM pair programmer that lives in the editor as a language server."""

__version__ = "0.1.0"
