"""Settings: layers, their origins, and what they amount to."""
