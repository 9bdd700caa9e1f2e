"""Which sources are computed beside each other, and where."""
