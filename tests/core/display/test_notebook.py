"""Pieces of what notebooks show."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from marsdask.core.display.notebook import card, picture, quantity
from marsdask.core.sizes import unknown_sizes


def drawn(chunks: Any) -> Any:
    """Return a picture as the tree of its elements."""
    return ET.fromstring(picture(chunks))  # noqa: S314 - our own text


def test_numbers_have_nouns():
    """One, several, and what only running can tell."""
    assert quantity(1, "row") == "1 row"
    assert quantity(12345, "row") == "12,345 rows"
    assert quantity(float("nan"), "row") == "? rows"


@pytest.mark.parametrize(
    ("chunks", "lines", "size"),
    [
        (((3, 3), (2, 2, 2)), 3, ("122", "122")),
        (((5, 5),), 1, ("122", "16")),
        (((1,), (10, 10), (5,)), 1, ("32", "122")),
        (((1,) * 1000,), 23, ("122", "16")),
        (((0,),), 0, ("16", "16")),
    ],
)
def test_a_picture_has_a_line_where_chunks_meet(chunks, lines, size):
    """In proportion, but never too thin to see nor of too many lines."""
    drawing = drawn(chunks)
    assert len(drawing.findall("line")) == lines
    assert (drawing.get("width"), drawing.get("height")) == size


def test_unknown_lengths_are_dashed():
    """As long as each other."""
    drawing = drawn((unknown_sizes("n", [None] * 4),))
    assert [line.get("stroke-dasharray") for line in drawing.findall("line")] == ["2"] * 3
    assert picture(()) == ""


def test_a_card_says_whether_there_are_values():
    """Titles and facts are text, never markup."""
    assert "execute()" in card("A", [], "", executed=False)
    assert "execute()" not in card("A", [], "", executed=True)
    assert "<b>" not in card("<b>", ["<b>"], "", executed=True)
