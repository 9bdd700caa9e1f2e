"""Modules that the supervisor, the workers and their clients share."""
