"""What happens next: the pure heart of a query. Inputs in, actions out."""
