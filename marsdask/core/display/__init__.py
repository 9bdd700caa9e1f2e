"""Displays of collections: text, notebooks, progress."""
