"""Tensors read from files, stores and Dask, and written to them."""
