"""Kernels that several families share."""
