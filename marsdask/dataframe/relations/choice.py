"""The choice of an engine for connected relations: one task of polars or duckdb, or chunks.

polars is the fastest of what fits in memory, and has no limit; duckdb keeps one, and spills.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dask.utils import format_bytes

from marsdask.core.machine.plan import Plan
from marsdask.core.machine.sizing import LARGEST_BLOCK

from .duckdb_kernels.support import refusal
from .estimates import Estimates
from .query import QueryResources
from .relation import Table

#: Fewer rows of files are not worth an engine.
FEWEST_ROWS = 20_000
#: Fewer rows at hand are not worth one either, nor are results of as many rows: pandas has them.
FEWEST_HELD = 200_000
#: What is read may take this share of the memory of a process; more runs chunk by chunk.
SHARE = 3
#: The same for the largest table that a join makes.
JOIN_SHARE = 2
#: What duckdb gathers of frames at hand, and what it returns, may take this share.
GATHERED_SHARE = 4
#: What is assumed where the memory is not known.
UNKNOWN = 2**30
#: duckdb itself gets one of these shares of the memory.
DUCKDB_SHARE = 2
#: What it needs for a thread: with less even sorts of a million rows end without memory.
DUCKDB_THREAD = 64 * 2**20
#: The bytes that a thread of polars works off in a second, about: TPC-H's columns.
RATE = 1e9
#: How many times as long pandas takes, chunk by chunk.
GAIN = 4.0
#: Seconds that chunks take on several processes however little they are: looks and transfers.
STAGES = 0.1


@dataclass(frozen=True)
class EngineChoice:
    """Whether polars runs a run of relations, and why."""

    engine: str
    """``"polars"``, ``"duckdb"`` or ``"pandas"``."""
    reason: str
    estimates: Estimates | None = None
    resources: QueryResources | None = None
    """What duckdb may use."""

    @property
    def is_whole(self) -> bool:
        """Whether one task runs all of it."""
        return self.engine != "pandas"

    def __str__(self) -> str:
        return f"{self.engine}: {self.reason}"


def forbidden(mode: str, plan: Plan) -> str | None:
    """Return why no relation of a program may run as a query, if that is so."""
    if mode == "pandas":
        return "options.dataframe.kernels is 'pandas'"
    if not plan.coalesce:
        return "users see the chunks"
    if plan.one_process or plan.smallest is not None:
        return None
    return "the memory of the processes is unknown"


def is_little(rows: float, mode: str) -> bool:
    """Tell whether all sources together are too little work for an engine."""
    return mode == "auto" and rows < FEWEST_ROWS


def choose(table: Table, estimates: Estimates, mode: str, plan: Plan) -> EngineChoice:
    """Choose by the size of what is read and made, the memory, and the threads."""
    rows, nbytes = estimates.read
    size = f"{rows:,} rows, {format_bytes(nbytes)}"
    memory = plan.budget if plan.one_process else plan.smallest
    why = _too_little(estimates, plan) if mode == "auto" else None
    if why is not None:
        return EngineChoice("pandas", f"{size}: {why}", estimates)
    excess = None if memory is None else _excess(estimates, memory)
    reason = size if excess is None else f"{size}: {excess}"
    if mode == "duckdb" or (mode == "auto" and excess is not None):
        known = memory or UNKNOWN
        refused = refusal(table) or _gathered(estimates, known, plan)
        if mode == "auto" and not estimates.is_condensed and not estimates.is_joined:
            refused = "chunks do as well what is done row by row"
        resources = resources_of(estimates, known, plan)
        choice = EngineChoice("duckdb", reason, estimates, resources)
        if refused is not None:
            choice = EngineChoice("pandas", f"{reason}; {refused}", estimates)
    else:
        choice = EngineChoice("polars" if excess is None else "pandas", reason, estimates)
    if plan.one_process or mode != "auto" or not choice.is_whole:
        return choice
    whole, spread = seconds(nbytes, plan)
    why = f"about {whole:.2g} s on {plan.slots} threads, {spread:.2g} s in chunks on {plan.workers}"
    engine = choice.engine if whole <= spread else "pandas"
    return replace(choice, engine=engine, reason=f"{reason}: {why}")


def in_chunks(choice: EngineChoice, count: int) -> EngineChoice:
    """Return the choice for rows of which somebody sees the chunks: only duckdb gives parts."""
    resources = choice.resources
    if resources is None or (resources.parts == 1 and count > 1):
        reason = f"{choice.reason}; users see the chunks" if choice.is_whole else choice.reason
        return EngineChoice("pandas", reason, choice.estimates)
    return replace(choice, resources=replace(resources, parts=count, least=1))


def resources_of(estimates: Estimates, memory: int, plan: Plan) -> QueryResources:
    """Return what duckdb may use, and the chunks that it returns."""
    threads = plan.workers if plan.one_process else plan.slots
    own = memory // DUCKDB_SHARE
    # The room on a disk changes by the minute, but equal programs are to have equal names.
    spill = None if not plan.spill else 1 << (plan.spill.bit_length() - 1)
    count = max(1, min(threads, own // DUCKDB_THREAD))
    resources = QueryResources(own, count, plan.folders, spill)
    block = plan.block_limit(LARGEST_BLOCK)
    if not plan.one_process or estimates.result <= block:
        return resources
    least = max(1, block // estimates.width)
    return replace(resources, parts=-(-estimates.result // block), least=least)


def _excess(estimates: Estimates, memory: int) -> str | None:
    """Return why polars, which has no limit, might not have the memory."""
    if SHARE * estimates.read[1] > memory:
        return f"more than 1/{SHARE} of {format_bytes(memory)}"
    if JOIN_SHARE * estimates.largest_join > memory:
        join = f"a merge makes about {format_bytes(estimates.largest_join)}"
        return f"{join}, more than 1/{JOIN_SHARE} of {format_bytes(memory)}"
    return None


def _gathered(estimates: Estimates, memory: int, plan: Plan) -> str | None:
    """Return why duckdb might not either: frames at hand, or the result, are not in its limit."""
    if memory < DUCKDB_SHARE * DUCKDB_THREAD:
        return f"duckdb needs {format_bytes(DUCKDB_SHARE * DUCKDB_THREAD)}"
    share = f"more than 1/{GATHERED_SHARE} of {format_bytes(memory)}"
    if GATHERED_SHARE * estimates.held > memory:
        return f"frames at hand have {format_bytes(estimates.held)}, {share}"
    is_in_parts = plan.one_process and plan.folders
    if GATHERED_SHARE * estimates.result > memory and not is_in_parts:
        return f"up to {format_bytes(estimates.result)} come out, {share}"
    return None


def _too_little(estimates: Estimates, plan: Plan) -> str | None:
    """Return why it is too little work for an engine, if it is."""
    if estimates.rows_of_files >= FEWEST_ROWS:
        return None
    rows = estimates.read[0] - estimates.rows_of_files
    if rows < FEWEST_HELD or not plan.one_process:
        return f"fewer than {FEWEST_ROWS:,} rows of files"
    return (
        None if estimates.is_condensed else "pandas has the rows, which no group or sum condenses"
    )


def seconds(nbytes: int, plan: Plan) -> tuple[float, float]:
    """Estimate how long one process takes with polars, and all of them with pandas."""
    spread = STAGES + GAIN * nbytes / (RATE * max(1, plan.workers))
    return nbytes / (RATE * max(1, plan.slots)), spread
