"""Where results lie while nobody computes with them."""
