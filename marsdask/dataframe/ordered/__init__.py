"""Rows by their order: sorted, numbered, chosen by position."""
