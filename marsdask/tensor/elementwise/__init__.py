"""Universal functions, and functions made of them."""
