"""From a line of user code to Dask tasks, independent of NumPy and pandas."""
