"""What clients may call: one module for each resource. Each handler converts, calls one thing, converts back."""
