"""statsmodels' distributed models over tensors and frames; it needs the extra ``statsmodels``."""

from marsdask.learn.contrib.extras import refused_class

try:
    from .distributed_model import MarsDistributedModel, MarsResults
except ModuleNotFoundError as error:
    if error.name is None or error.name.split(".")[0] != "statsmodels":
        raise
    MarsDistributedModel = refused_class(  # type: ignore[misc]
        "MarsDistributedModel", "statsmodels", "statsmodels", "fit"
    )
    MarsResults = refused_class(  # type: ignore[misc]
        "MarsResults", "statsmodels", "statsmodels", "model", "predict"
    )

__all__ = ["MarsDistributedModel", "MarsResults"]
