"""Relations run by polars."""
