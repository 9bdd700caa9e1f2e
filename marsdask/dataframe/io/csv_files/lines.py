"""Line ends of CSV files: only a quote at the start of a field begins a quoted field."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np

#: Where a position of a file is: outside of quotes, inside, or behind a quote that may be doubled.
OUTSIDE, INSIDE, CLOSED = STATES = (0, 1, 2)

#: What a byte range makes of each state at its start.
Ends = tuple[int, int, int]

#: The bytes that are looked through at a time.
PIECE = 2**22

QUOTE = ord('"')


def separators_of(sep: Any) -> bytes | None:
    """Return the bytes behind which a field begins; ``None`` for separators of several bytes."""
    if sep == r"\s+":
        return b" \t\r\n"
    if not isinstance(sep, str) or len(sep) != 1 or not sep.isascii() or sep == '"':
        return None
    return sep.encode() + b"\r\n"


def state_after(text: bytes, state: int, before: bytes, separators: bytes) -> int:
    """Return the state behind a text; ``before`` is the byte before it, none at a file's start."""
    if b'"' not in text:
        return OUTSIDE if state == CLOSED and text else state
    result = _by_parity(text, state, before, separators)
    return _by_fields(text, state, before, separators) if result is None else result


def _by_parity(text: bytes, state: int, before: bytes, separators: bytes) -> int | None:
    """Return the state if every second quote begins a field, or doubles the one before it.

    Else ``None``: some quotes in the text are part of fields without quotes.
    """
    values = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(values == QUOTE)
    begins = quotes[1:] if state == INSIDE else quotes
    begins = begins[::2]
    if len(begins) and begins[0] == 0:
        if state != CLOSED and not _is_start(before, separators):
            return None
        begins = begins[1:]
    allowed = np.zeros(256, bool)
    allowed[[*separators, QUOTE]] = True
    if not allowed[values[begins - 1]].all():
        return None
    if (len(quotes) % 2 == 0) == (state == INSIDE):
        return INSIDE
    return CLOSED if quotes[-1] == len(text) - 1 else OUTSIDE


def _by_fields(text: bytes, state: int, before: bytes, separators: bytes) -> int:
    """Return the state, found from one quoted field to the next."""
    if state == CLOSED:
        state = INSIDE if text.startswith(b'"') else OUTSIDE
        position = state
    else:
        position = 0
        if state == OUTSIDE and text.startswith(b'"') and _is_start(before, separators):
            state, position = INSIDE, 1
    begin = _begin_of_field(separators)
    while True:
        if state == OUTSIDE:
            match = begin.search(text, position)
            if match is None:
                return OUTSIDE
            position = match.end()
        end = text.find(b'"', position)
        if end < 0:
            return INSIDE
        if end + 1 == len(text):
            return CLOSED
        doubled = text[end + 1] == QUOTE
        state, position = (INSIDE, end + 2) if doubled else (OUTSIDE, end + 1)


def _is_start(before: bytes, separators: bytes) -> bool:
    return not before or before in separators


@cache
def _begin_of_field(separators: bytes) -> re.Pattern[bytes]:
    return re.compile(b"(?<=[" + re.escape(separators) + b'])"')


def ends_of(data: Any, start: int, stop: int, separators: bytes) -> Ends:
    """Return the states at the end of a byte range, for each state at its start."""
    states = list(STATES)
    for first in range(start, stop, PIECE):
        piece = bytes(data[first : min(stop, first + PIECE)])
        before = bytes(data[max(0, first - 1) : first])
        ends = {state: state_after(piece, state, before, separators) for state in set(states)}
        states = [ends[state] for state in states]
    return states[0], states[1], states[2]


def line_after(data: Any, position: int, separators: bytes, state: int = OUTSIDE) -> int:
    """Return the position of the first line that begins after ``position``."""
    while True:
        end = data.find(b"\n", position)
        if end < 0:
            return len(data)
        before = bytes(data[max(0, position - 1) : position])
        state = state_after(bytes(data[position : end + 1]), state, before, separators)
        position = end + 1
        if state != INSIDE:
            return position


def whole_lines(head: bytes, separators: bytes) -> bytes:
    """Return the complete lines: a line end inside quotes does not count."""
    if b'"' not in head:
        end = head.rfind(b"\n") + 1
        return head[:end] if end else head
    end = position = 0
    state = OUTSIDE
    while (at := head.find(b"\n", position)) >= 0:
        before = head[max(0, position - 1) : position]
        state = state_after(head[position : at + 1], state, before, separators)
        position = at + 1
        end = end if state == INSIDE else position
    return head[:end] if end else head
