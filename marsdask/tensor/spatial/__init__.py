"""Distances between points."""

from . import distance

__all__ = ["distance"]
