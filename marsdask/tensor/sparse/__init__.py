"""Tensors whose blocks are SciPy's sparse arrays."""
