"""Data sets and samplers for PyTorch's ``DataLoader``, and scripts for ``torch.distributed``.

None of it imports torch: a ``DataLoader`` takes any object with items and a length, and any
iterable as a sampler. Samplers import no more than NumPy: each process of a script imports them.
"""

import importlib
from typing import TYPE_CHECKING, Any

from .samplers import DistributedSampler, RandomSampler, SequentialSampler, SubsetRandomSampler

if TYPE_CHECKING:
    from .dataset import MarsDataset
    from .run_script import run_pytorch_script

#: The modules of what is imported when it is first used.
_LAZY = {"MarsDataset": "dataset", "run_pytorch_script": "run_script"}

__all__ = [
    "DistributedSampler",
    "MarsDataset",
    "RandomSampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "run_pytorch_script",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
