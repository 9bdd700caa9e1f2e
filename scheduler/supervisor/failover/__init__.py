"""Failover: which supervisor is active, and what becomes of results when it changes."""
