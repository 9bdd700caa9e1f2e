"""Shapes changed, tensors joined, split, padded and repeated."""
