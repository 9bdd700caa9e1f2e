"""Rows that meet by their keys: group-by, merge, distinct rows."""
