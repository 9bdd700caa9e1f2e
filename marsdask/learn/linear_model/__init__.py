"""Linear models."""

from .least_squares import ElasticNet, Lasso, LinearRegression, Ridge

__all__ = ["ElasticNet", "Lasso", "LinearRegression", "Ridge"]
