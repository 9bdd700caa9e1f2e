"""Values of all rows: sums, means, extremes."""
