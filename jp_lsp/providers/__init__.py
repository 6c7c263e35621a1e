"""Model vendors: one adapter for each API, loaded when first used."""
