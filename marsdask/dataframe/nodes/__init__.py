"""Nodes of frames: their traits, and the types that only the rows of all chunks tell."""
