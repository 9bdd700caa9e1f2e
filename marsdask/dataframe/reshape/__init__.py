"""Concatenate frames."""
