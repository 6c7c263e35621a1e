"""Conversations on disk, in the format of JP."""
