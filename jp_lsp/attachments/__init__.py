"""Outside content that is shown to the model."""
