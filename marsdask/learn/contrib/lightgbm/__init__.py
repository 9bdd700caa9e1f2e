"""LightGBM over tensors and frames; it needs the extra ``lightgbm``.

On a session with a ``distributed.Client`` it runs by LightGBM's own Dask interface, else in this
process, to which one chunk after the other is brought.
"""

from marsdask.learn.contrib.extras import refusal, refused_class

try:
    from .estimators import LGBMClassifier, LGBMRanker, LGBMRegressor
    from .predicting import predict, predict_proba
except ModuleNotFoundError as error:
    if error.name != "lightgbm":
        raise
    _METHODS = ("fit", "predict", "to_local")
    LGBMClassifier = refused_class(  # type: ignore[misc]
        "LGBMClassifier", "lightgbm", "lightgbm", *_METHODS, "predict_proba"
    )
    LGBMRanker = refused_class("LGBMRanker", "lightgbm", "lightgbm", *_METHODS)  # type: ignore[misc]
    LGBMRegressor = refused_class("LGBMRegressor", "lightgbm", "lightgbm", *_METHODS)  # type: ignore[misc]
    predict = refusal("predict", "lightgbm", "lightgbm")
    predict_proba = refusal("predict_proba", "lightgbm", "lightgbm")

__all__ = ["LGBMClassifier", "LGBMRanker", "LGBMRegressor", "predict", "predict_proba"]
