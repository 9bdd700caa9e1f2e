"""The columns of Parquet files and their types in a frame."""
