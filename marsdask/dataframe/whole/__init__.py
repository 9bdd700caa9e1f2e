"""Calls that pandas answers from all rows at once, where there is no way by chunks."""
