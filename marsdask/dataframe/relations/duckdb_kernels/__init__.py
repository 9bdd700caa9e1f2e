"""Relations as SQL of duckdb, which keeps a memory limit and spills, with the values of pandas."""
