"""What engines return, as pandas objects, and the files that they read."""
