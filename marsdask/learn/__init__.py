"""scikit-learn's estimators over tensors and frames; imports are as in scikit-learn.

Use ``from marsdask.learn.cluster import KMeans``; this package imports no estimator itself.
"""

__all__ = ["cluster", "decomposition", "glm", "impute"]
__all__ += ["linear_model", "metrics", "model_selection", "preprocessing", "wrappers"]


def __dir__() -> list[str]:
    return __all__
