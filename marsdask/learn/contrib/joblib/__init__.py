"""joblib on sessions, so that ``n_jobs`` of scikit-learn counts their workers."""

from .backend import MarsBackend, register_mars_backend

__all__ = ["MarsBackend", "register_mars_backend"]
