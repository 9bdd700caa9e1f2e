"""Schedulers that run tasks in this process, or in children of it."""
