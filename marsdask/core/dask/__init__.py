"""Dask's graphs and scheduler settings, as sources of ours."""
