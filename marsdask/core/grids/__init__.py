"""Grids of chunks, and the rules that define their chunks."""
