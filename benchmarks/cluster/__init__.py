"""Measure a cluster of two processes beside stock distributed: `python -m benchmarks.cluster`."""
