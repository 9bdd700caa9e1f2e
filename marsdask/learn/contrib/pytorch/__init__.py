"""Data sets and samplers for PyTorch's ``DataLoader``, and scripts for ``torch.distributed``.

None of it imports torch: a ``DataLoader`` takes any object with items and a length, and any
iterable as a sampler.
"""

from .dataset import MarsDataset
from .run_script import run_pytorch_script
from .samplers import DistributedSampler, RandomSampler, SequentialSampler, SubsetRandomSampler

__all__ = [
    "DistributedSampler",
    "MarsDataset",
    "RandomSampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "run_pytorch_script",
]
