"""User functions over chunks, and functions that select chunks."""
