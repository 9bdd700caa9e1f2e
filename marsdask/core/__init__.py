"""From a line of user code to Dask tasks; nothing in here knows NumPy or pandas."""
