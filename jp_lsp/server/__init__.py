"""The LSP edge: pygls on one side, the driver on the other."""
