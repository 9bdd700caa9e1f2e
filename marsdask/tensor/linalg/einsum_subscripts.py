"""Subscripts of einsum, both spellings, as labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: A placeholder for the axes of ``...``; labels of letters are their code points.
ELLIPSIS = -1

#: The axes under an ellipsis are numbered down from here, the last axis first.
_COVERED = -2

Term = tuple[int, ...]


@dataclass(frozen=True)
class Subscripts:
    """A label for each axis of each operand and of the result."""

    inputs: tuple[Term, ...]
    output: Term | None

    def expanded(self, ndims: Sequence[int]) -> tuple[list[Term], Term]:
        """Replace ellipses by labels and add the result's labels if they are omitted."""
        if len(ndims) != len(self.inputs):
            raise ValueError(f"einsum: {len(self.inputs)} terms for {len(ndims)} operands")
        inputs = []
        widest: Term = ()
        for term, ndim in zip(self.inputs, ndims, strict=True):
            named = len(term) - (ELLIPSIS in term)
            if named > ndim or (named < ndim and ELLIPSIS not in term):
                raise ValueError(f"einsum: {named} subscripts for an operand of {ndim} axes")
            covered = tuple(range(_COVERED - (ndim - named) + 1, _COVERED + 1))
            widest = max(widest, covered if ELLIPSIS in term else (), key=len)
            inputs.append(_filled(term, covered))
        output = self.output
        if output is None:
            counts = Counter(label for term in self.inputs for label in term)
            once = sorted(item for item, count in counts.items() if count == 1 and item >= 0)
            output = (*((ELLIPSIS,) if widest else ()), *once)
        output = _filled(output, widest)
        known = {label for term in inputs for label in term}
        if not known.issuperset(output) or len(set(output)) != len(output):
            raise ValueError("einsum: each subscript of the result is one of an operand, once")
        return _renamed(inputs, output)


def _filled(term: Term, covered: Term) -> Term:
    if ELLIPSIS not in term:
        return term
    at = term.index(ELLIPSIS)
    return (*term[:at], *covered, *term[at + 1 :])


def _renamed(inputs: Sequence[Term], output: Term) -> tuple[list[Term], Term]:
    """Rename the labels to numbers from 0."""
    order = {label: i for i, label in enumerate(dict.fromkeys(x for term in inputs for x in term))}
    renamed = [tuple(order[label] for label in term) for term in inputs]
    return renamed, tuple(order[label] for label in output)


def parse(operands: Sequence[Any]) -> tuple[Subscripts, list[Any]]:
    """Return the subscripts and the arrays of either spelling of a call."""
    if not operands:
        raise ValueError("einsum: no subscripts given")
    if isinstance(operands[0], str):
        return _parse_text(operands[0]), list(operands[1:])
    arrays = list(operands[: len(operands) // 2 * 2 : 2])
    terms = tuple(_parse_list(item) for item in operands[1::2])
    output = _parse_list(operands[-1]) if len(operands) % 2 else None
    return Subscripts(terms, output), arrays


def _parse_list(items: Sequence[Any]) -> Term:
    return tuple(ELLIPSIS if item is Ellipsis else int(item) for item in items)


def _parse_text(text: str) -> Subscripts:
    left, arrow, right = text.replace(" ", "").partition("->")
    terms = tuple(map(_parse_term, left.split(",")))
    return Subscripts(terms, _parse_term(right) if arrow else None)


def _parse_term(text: str) -> Term:
    before, dots, after = text.partition("...")
    if not (before + after).isalpha() and before + after:
        raise ValueError(f"einsum: subscripts are letters and at most one '...', not {text!r}")
    middle = (ELLIPSIS,) if dots else ()
    return (*map(ord, before), *middle, *map(ord, after))
