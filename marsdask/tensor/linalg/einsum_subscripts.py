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
            raise ValueError(_count_error(len(self.inputs), len(ndims)))
        inputs = []
        widest: Term = ()
        for place, (term, ndim) in enumerate(zip(self.inputs, ndims, strict=True)):
            number = len(term) - (ELLIPSIS in term)
            if number > ndim:
                raise ValueError(
                    "einstein sum subscripts string contains too many subscripts for operand "
                    f"{place}: {number} for {ndim} dimensions"
                )
            if number < ndim and ELLIPSIS not in term:
                raise ValueError(
                    "operand has more dimensions than subscripts given in einstein sum, but no "
                    "'...' ellipsis provided to broadcast the extra dimensions."
                )
            labels = tuple(range(_COVERED - (ndim - number) + 1, _COVERED + 1))
            widest = max(widest, labels if ELLIPSIS in term else (), key=len)
            inputs.append(_filled(term, labels))
        output = self.output
        if output is None:
            counts = Counter(label for term in self.inputs for label in term)
            once = sorted(item for item, count in counts.items() if count == 1 and item >= 0)
            output = (*((ELLIPSIS,) if widest else ()), *once)
        output = _filled(output, widest)
        _check_output(inputs, output)
        return _renamed(inputs, output)


def _count_error(terms: int, operands: int) -> str:
    """Return NumPy's message of subscripts for another number of operands."""
    if not operands:
        return "must specify the einstein sum subscripts string and at least one operand"
    problem = "more" if operands > terms else "fewer"
    return (
        f"{problem} operands provided to einstein sum function than specified in the subscripts "
        f"string: {operands} for {terms}"
    )


def _check_output(inputs: Sequence[Term], output: Term) -> None:
    """Refuse subscripts of the result that no operand has, and those that are there twice."""
    labels = {label for term in inputs for label in term}
    for label, count in Counter(output).items():
        # Labels of the other spelling are small numbers: control characters, were they letters.
        name = repr(chr(label)) if label >= ord(" ") else str(label)
        if label not in labels:
            raise ValueError(
                f"einstein sum subscripts string included output subscript {name} which never "
                "appeared in an input"
            )
        if count > 1:
            raise ValueError(
                f"einstein sum subscripts string includes output subscript {name} multiple times"
            )


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
        raise ValueError(_count_error(0, 0))
    if isinstance(operands[0], str):
        return _parse_text(operands[0]), list(operands[1:])
    arrays = list(operands[: len(operands) // 2 * 2 : 2])
    terms = tuple(_parse_list(item) for item in operands[1::2])
    output = _parse_list(operands[-1]) if len(operands) % 2 else None
    return Subscripts(terms, output), arrays


def _parse_list(items: Sequence[Any]) -> Term:
    return tuple(ELLIPSIS if item is Ellipsis else int(item) for item in items)


def _parse_text(text: str) -> Subscripts:
    lhs, arrow, rhs = text.replace(" ", "").partition("->")
    terms = tuple(map(_parse_term, lhs.split(",")))
    return Subscripts(terms, _parse_term(rhs) if arrow else None)


def _parse_term(text: str) -> Term:
    before, dots, after = text.partition("...")
    wrong = next((letter for letter in before + after if not letter.isalpha()), None)
    if wrong == ".":
        raise ValueError(
            "einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...')"
        )
    if wrong is not None:
        raise ValueError(
            f"invalid subscript {wrong!r} in einstein sum subscripts string, subscripts must be "
            "letters"
        )
    middle = (ELLIPSIS,) if dots else ()
    return (*map(ord, before), *middle, *map(ord, after))
