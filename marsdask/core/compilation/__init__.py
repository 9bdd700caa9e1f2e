"""From nodes to Dask tasks: passes, tiling, fusion, lowering."""
