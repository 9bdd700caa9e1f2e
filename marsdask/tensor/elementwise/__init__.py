"""Universal functions, and functions composed of them."""
