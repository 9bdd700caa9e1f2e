"""The sizes of blocks and the number of parts: one policy for all operations.

A *block* is what one task works on, a *part* what one task gets of a shuffle, a *panel* what one
task multiplies. Each has a target number of bytes, which the memory of the machine may reduce: all
functions here read :data:`.current_plan`. Kernels choose the size of cache tiles themselves. The
chunks of user-created arrays follow ``options.chunk_store_limit``.
"""

from __future__ import annotations

import math
import sys

from .plan import current_plan

#: Blocks are merged up to this many bytes, and split down to it; files are read in such blocks ...
LARGEST_BLOCK = 64 * 2**20
#: ... and a whole array of at most this many is one block.
SMALLEST_BLOCK = 16 * 2**20
#: Bytes of a block of a text file: parsed values take more memory.
TEXT_BLOCK = 32 * 2**20
#: Matrices up to this many bytes take one LAPACK call.
SMALL_MATRIX = 8 * 2**20
#: Blocks that one task multiplies and sums take at most about this many bytes.
PANEL = 512 * 2**20

#: A side of a merge of at most this many bytes is sent to every chunk of the other.
BROADCAST = 32 * 2**20
#: Target bytes of both sides of one part of a shuffled merge.
SHUFFLED = 64 * 2**20
#: Target bytes of a part of sorted rows.
SORTED_BYTES = 32 * 2**20

#: Groups of at most this many rows are combined in a tree; more are shuffled ...
TREE_ROWS = 4_000_000
#: ... into parts that aim at this many rows.
SHUFFLED_ROWS = 1_000_000
#: At most this many rows are gathered in one task if an aggregation needs whole groups ...
GROUPED_ROWS = 1_000_000
#: ... and so many where they are sorted.
SORTED_ROWS = 200_000

#: A part may be as large as this many blocks that the memory allows.
PART_BLOCKS = 2
#: One task may gather the memory divided by this.
ALONE = 8
#: A block is too large where memory holds fewer than this many for each worker.
FEWEST_BLOCKS = 4


def block_bytes(limit: int = LARGEST_BLOCK) -> int:
    """Return the bytes of a block: ``limit``, or less, so that each worker can hold several."""
    return current_plan.get().block_limit(limit)


def part_bytes(limit: int = sys.maxsize) -> int:
    """Return the target bytes of a part of a shuffle, at most ``limit``."""
    return max(1, min(limit, PART_BLOCKS * block_bytes(sys.maxsize // PART_BLOCKS)))


def part_count(nbytes: float, limit: int = sys.maxsize) -> int:
    """Return the number of parts for so many bytes."""
    return max(1, math.ceil(nbytes / part_bytes(limit)))


def panel_bytes() -> int:
    """Return the largest number of bytes for the operands of one product."""
    share = current_plan.get().share(4)
    return PANEL if share is None else min(PANEL, share)


def group_size(nbytes: float) -> int:
    """Return how many chunks of so many bytes a task may combine."""
    plan = current_plan.get()
    if plan.budget is None or not nbytes:
        return sys.maxsize
    return max(2, int(plan.budget / (2 * max(1, plan.workers) * nbytes)) - 2)


def has_budget() -> bool:
    """Tell whether the amount of memory is known."""
    return current_plan.get().budget is not None


def is_tight(nbytes: float) -> bool:
    """Tell whether so many bytes, or several copies of them, are too large for one task."""
    budget = current_plan.get().budget
    return budget is not None and nbytes * ALONE > budget


def is_large(nbytes: float) -> bool:
    """Tell whether a block of so many bytes should be cut: each worker could hold few of them."""
    share = current_plan.get().share(FEWEST_BLOCKS)
    return share is not None and nbytes > share
