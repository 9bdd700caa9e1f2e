"""Classification by Bayes' rule, as if features were independent."""

from .gaussian import GaussianNB

__all__ = ["GaussianNB"]
