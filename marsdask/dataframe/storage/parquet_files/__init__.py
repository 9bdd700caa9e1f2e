"""What the columns of Parquet files become in a frame."""
