"""Mars on Dask task graphs."""
