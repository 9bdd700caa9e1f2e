"""Frames read from files and Dask, and written to them."""
