"""Mars's name of the generalized linear models."""

from marsdask.learn.linear_model import (
    GammaRegressor,
    LogisticRegression,
    PoissonRegressor,
    TweedieRegressor,
)

__all__ = ["GammaRegressor", "LogisticRegression", "PoissonRegressor", "TweedieRegressor"]
