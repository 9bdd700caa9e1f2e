"""Scaling of samples."""

from .scaler import StandardScaler

__all__ = ["StandardScaler"]
