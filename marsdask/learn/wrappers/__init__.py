"""Estimators of scikit-learn that predict lazily or learn chunk by chunk."""

from .post_fit import Incremental, ParallelPostFit

__all__ = ["Incremental", "ParallelPostFit"]
