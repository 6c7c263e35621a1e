"""A conversation in memory: a base configuration and a list of entries that only grows."""
