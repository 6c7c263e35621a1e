"""The terminal client: speaks to the server as any editor does."""
