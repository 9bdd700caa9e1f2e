"""Snapshots of what users hand over, and what functions capture."""
