"""What editors are promised: the wire, defined once."""
