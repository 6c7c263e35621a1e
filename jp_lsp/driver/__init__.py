"""Making it happen: takes an input, feeds the core, performs its actions."""
