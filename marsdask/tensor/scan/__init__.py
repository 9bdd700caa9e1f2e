"""Cumulative functions."""
