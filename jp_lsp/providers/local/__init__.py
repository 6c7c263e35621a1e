"""The embedded model: a small language model that answers on this computer, without key or network."""
