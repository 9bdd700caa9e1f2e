"""How large a block of work is, and into how many parts work is cut: the policy of all operations.

A *block* is what one task works on, a *part* what one task gets of an exchange, a *panel* what one
task multiplies. Each has a number of bytes that it aims at, and where that is less, what the memory
of the machine leaves it: all functions here read :data:`.current_plan`. How much of a block a
kernel works on at a time, to stay in the processor's cache, is the kernel's own matter; the chunks
that users are given are those of ``options.chunk_store_limit``.
"""

from __future__ import annotations

import math
import sys

from .plan import current_plan

#: Blocks are merged up to this many bytes, and cut down to it; files are read in such blocks ...
LARGEST_BLOCK = 64 * 2**20
#: ... and a whole array of at most this many is one block.
SMALLEST_BLOCK = 16 * 2**20
#: Bytes of a text file that a block is made of: what it says takes more.
TEXT_BLOCK = 32 * 2**20
#: Matrices up to this many bytes are one LAPACK call.
SMALL_MATRIX = 8 * 2**20
#: Blocks that one task multiplies and sums take at most about this many bytes.
PANEL = 512 * 2**20

#: A side of a merge of at most this many bytes is given to every chunk of the other.
BROADCAST = 32 * 2**20
#: Bytes of both sides that one part of a shuffled merge aims at.
SHUFFLED = 64 * 2**20
#: Bytes of rows that a part of the sorted ones aims at.
SORTED_BYTES = 32 * 2**20

#: Groups of at most this many rows are combined in a tree; more are shuffled ...
TREE_ROWS = 4_000_000
#: ... into parts that aim at this many rows.
SHUFFLED_ROWS = 1_000_000
#: This many rows are gathered in one task where an aggregation needs whole groups ...
GROUPED_ROWS = 1_000_000
#: ... and so many where they are sorted.
SORTED_ROWS = 200_000

#: A part may take as much as so many of the blocks that memory has room for.
PART_BLOCKS = 2
#: One task may take this share of the memory for what it gathers.
ALONE = 8


def block_bytes(limit: int = LARGEST_BLOCK) -> int:
    """Return the bytes that a block may have: ``limit``, or what leaves each worker several."""
    return current_plan.get().block_limit(limit)


def part_bytes(limit: int = sys.maxsize) -> int:
    """Return the bytes that a part of an exchange aims at, ``limit`` at most."""
    return max(1, min(limit, PART_BLOCKS * block_bytes(sys.maxsize // PART_BLOCKS)))


def part_count(nbytes: float, limit: int = sys.maxsize) -> int:
    """Return into how many parts so many bytes are to be cut."""
    return max(1, math.ceil(nbytes / part_bytes(limit)))


def panel_bytes() -> int:
    """Return the bytes that the operands of one product may have."""
    share = current_plan.get().share(4)
    return PANEL if share is None else min(PANEL, share)


def group_size(nbytes: float) -> int:
    """Return how many chunks of so many bytes a task may combine, with room to spare."""
    plan = current_plan.get()
    if plan.budget is None or not nbytes:
        return sys.maxsize
    return max(2, int(plan.budget / (2 * max(1, plan.workers) * nbytes)) - 2)


def has_budget() -> bool:
    """Tell whether it is known how much memory there is."""
    return current_plan.get().budget is not None


def is_tight(nbytes: float) -> bool:
    """Tell whether so many bytes are too many for a single task, or for several copies of them."""
    budget = current_plan.get().budget
    return budget is not None and nbytes * ALONE > budget
