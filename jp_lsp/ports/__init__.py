"""What the driver needs from outside, shaped by the line that calls it."""
