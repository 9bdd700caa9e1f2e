"""The choice of an engine for connected relations: polars as one task, or pandas by chunks."""

from __future__ import annotations

from dataclasses import dataclass

from dask.utils import format_bytes

from marsdask.core.machine.plan import Plan

from .estimates import Estimates

#: Fewer rows of files are not worth an engine.
FEWEST_ROWS = 20_000
#: Fewer rows at hand are not worth one either, nor are results of as many rows: pandas has them.
FEWEST_HELD = 200_000
#: What is read may take this share of the memory of a process; more runs chunk by chunk.
SHARE = 3
#: The same for the largest table that a join makes.
JOIN_SHARE = 2
#: The bytes that a thread of polars works off in a second, about: TPC-H's columns.
RATE = 1e9
#: How many times as long pandas takes, chunk by chunk.
GAIN = 4.0
#: Seconds that chunks take on several processes however little they are: looks and transfers.
STAGES = 0.1


@dataclass(frozen=True)
class EngineChoice:
    """Whether polars runs a run of relations, and why."""

    polars: bool
    reason: str
    estimates: Estimates | None = None

    def __str__(self) -> str:
        return f"{'polars' if self.polars else 'pandas'}: {self.reason}"


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


def choose(estimates: Estimates, mode: str, plan: Plan) -> EngineChoice:
    """Choose by the size of what is read and made, the memory, and the threads."""
    rows, nbytes = estimates.read
    size = f"{rows:,} rows, {format_bytes(nbytes)}"
    memory = plan.budget if plan.one_process else plan.smallest
    why = _too_little(estimates, plan) if mode == "auto" else None
    if why is not None:
        return EngineChoice(False, f"{size}: {why}", estimates)
    if memory is not None and SHARE * nbytes > memory:
        why = f"more than 1/{SHARE} of {format_bytes(memory)}"
        return EngineChoice(False, f"{size}: {why}", estimates)
    if memory is not None and JOIN_SHARE * estimates.largest_join > memory:
        join = f"a merge makes about {format_bytes(estimates.largest_join)}"
        why = f"more than 1/{JOIN_SHARE} of {format_bytes(memory)}"
        return EngineChoice(False, f"{size}: {join}, {why}", estimates)
    if plan.one_process or mode == "polars":
        return EngineChoice(True, size, estimates)
    whole, spread = seconds(nbytes, plan)
    why = f"about {whole:.2g} s on {plan.slots} threads, {spread:.2g} s in chunks on {plan.workers}"
    return EngineChoice(whole <= spread, f"{size}: {why}", estimates)


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
