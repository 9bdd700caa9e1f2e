"""Parts of a collection's HTML: a title, facts, a note, the chunks as a picture."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from html import escape

from ..sizes import Chunks, Sizes, known, numbers

#: Pixels of the longest side of a picture, and the minimum of the other.
LONGEST, SHORTEST = 120, 14
#: More lines than this along an axis would form one dark area.
MOST_LINES = 24
#: The note on a collection without values.
PENDING = "<p>not executed: call <code>execute()</code></p>"


def card(title: str, facts: Sequence[str], body: str, *, executed: bool) -> str:
    """Return a title with facts, the content below them, and whether values exist."""
    line = " \N{MIDDLE DOT} ".join(map(escape, facts))
    note = "" if executed else PENDING
    return f"<div><p><strong>{escape(title)}</strong> {line}</p>{body}{note}</div>"


def number(value: float) -> str:
    """Return a whole number as text; a question mark for nan."""
    return "?" if math.isnan(value) else f"{int(value):,}"


def quantity(value: float, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number(value)} {noun}{'' if value == 1 else 's'}"


def picture(chunks: Chunks) -> str:
    """Draw the chunks along the last two axes in the proportions of their lengths.

    An axis of unknown length is dashed, with chunks of equal length.
    """
    if not chunks:
        return ""
    rows, columns = chunks[-2:] if len(chunks) > 1 else ((0,), chunks[0])
    high, wide = _length(rows), _length(columns)
    scale = LONGEST / max(high, wide, 1)
    height, width = (max(SHORTEST, round(scale * side)) for side in (high, wide))
    lines = [
        f'<line x1="{x}" y1="0" x2="{x}" y2="{height}"{_dashes(columns)}/>'
        for x in _borders(columns, width)
    ] + [
        f'<line x1="0" y1="{y}" x2="{width}" y2="{y}"{_dashes(rows)}/>'
        for y in _borders(rows, height)
    ]
    return (
        f'<svg width="{width + 2}" height="{height + 2}" viewBox="-1 -1 {width + 2} {height + 2}" '
        'stroke="currentColor" stroke-width="0.7">'
        f'<rect width="{width}" height="{height}" fill="currentColor" fill-opacity="0.1"/>'
        f"{''.join(lines)}</svg>"
    )


def _length(sizes: Sizes) -> int:
    return sum(numbers(sizes)) if known(sizes) else len(sizes)


def _dashes(sizes: Sizes) -> str:
    return "" if known(sizes) else ' stroke-dasharray="2"'


def _borders(sizes: Sizes, pixels: int) -> list[float]:
    """Return the borders of chunks in pixels."""
    lengths = numbers(sizes) if known(sizes) else (1,) * len(sizes)
    ends = list(itertools.accumulate(lengths))
    step = -(-len(ends) // MOST_LINES)
    return [round(pixels * end / max(1, ends[-1]), 1) for end in ends[step - 1 : -1 : step]]
