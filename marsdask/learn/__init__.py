"""scikit-learn's estimators over tensors and frames; imports are as in scikit-learn.

Use ``from marsdask.learn.cluster import KMeans``; this package imports no estimator itself.
"""

__all__ = ["cluster", "compose", "contrib", "datasets", "decomposition", "ensemble"]
__all__ += ["feature_extraction", "glm", "impute", "linear_model", "metrics", "model_selection"]
__all__ += ["naive_bayes", "neighbors", "preprocessing", "proxima", "semi_supervised", "utils"]
__all__ += ["wrappers"]


def __dir__() -> list[str]:
    return __all__
