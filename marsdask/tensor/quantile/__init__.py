"""Quantiles, exact and approximate."""
