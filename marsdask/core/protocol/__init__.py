"""Dask's collection protocol: our nodes in its graphs, and its results as collections."""
