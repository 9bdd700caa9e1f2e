"""Frames as rows in partitions, in the words of Dask."""
