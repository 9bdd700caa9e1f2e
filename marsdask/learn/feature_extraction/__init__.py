"""Features of texts and of dictionaries."""

from .hashing import FeatureHasher

__all__ = ["FeatureHasher"]
