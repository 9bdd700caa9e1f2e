"""Storage of results: memory, shared memory and disk."""
