"""The commands as Mars 0.7 and later name them."""
