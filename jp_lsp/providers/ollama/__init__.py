"""Ollama's own API (providers 6.4): JSON lines instead of server-sent events, and calls that come whole."""
