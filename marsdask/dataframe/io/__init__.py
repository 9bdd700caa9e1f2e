"""Read frames from files and Dask, and write them; the protocols of Arrow."""
