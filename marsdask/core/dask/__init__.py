"""Dask's protocol: its graphs taken in, our nodes in its graphs."""
