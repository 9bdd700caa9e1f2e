"""Samples of which few have labels."""

from .label_propagation import LabelPropagation

__all__ = ["LabelPropagation"]
