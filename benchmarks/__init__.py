"""Measure marsdask beside NumPy, Dask and Mars: `python -m benchmarks --help`."""
