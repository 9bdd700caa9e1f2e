"""What programs written for Mars expect and NumPy has given up since; for a ``mars`` alias only."""
