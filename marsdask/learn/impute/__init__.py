"""Missing values replaced."""

from .simple import SimpleImputer

__all__ = ["SimpleImputer"]
