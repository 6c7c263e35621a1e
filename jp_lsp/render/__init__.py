"""How a response reads: pure functions from events to chunks."""
