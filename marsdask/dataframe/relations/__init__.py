"""Runs of frame operations as relational algebra: a closed set of relations over columns."""
