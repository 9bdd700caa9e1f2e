"""scikit-learn's estimators over tensors and frames; imports are as in scikit-learn.

Use ``from marsdask.learn.cluster import KMeans``; this package imports no estimator itself.
"""

__all__ = [
    "cluster",
    "contrib",
    "datasets",
    "decomposition",
    "ensemble",
    "glm",
    "impute",
    "linear_model",
]
__all__ += ["metrics", "model_selection", "neighbors", "preprocessing"]
__all__ += ["semi_supervised", "utils", "wrappers"]


def __dir__() -> list[str]:
    return __all__
