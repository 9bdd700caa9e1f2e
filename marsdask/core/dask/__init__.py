"""Dask's protocol: Dask graphs as sources, and nodes in Dask graphs."""
