"""Tensors from shapes, from data, from ranges."""
