"""Write docs/coming-from-mars.md: what a thousand calls do here that Mars did otherwise.

``python docs/from_mars.py`` after differences have come or gone; a test compares.
"""

from __future__ import annotations

import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE / "coming-from-mars.md"
REFUSED = HERE.parent / "tests" / "mars" / "refused.toml"

sys.path.insert(0, str(HERE.parent))

import marsdask  # noqa: E402
import marsdask.compat  # noqa: E402
from tests.mars import compare  # noqa: E402
from tests.mars.calls import CALLS  # noqa: E402

#: The longest value that a table shows.
_WIDTH = 60

HEAD = """# Coming from Mars

A program of Mars runs unchanged by `python -m marsdask.compat program.py`, or with
`import marsdask` for `import mars`. {count} calls of `mars.tensor`, `mars.remote` and sessions were
recorded with pymars 0.10.0, NumPy 1.23 and pandas 1.4: value, type, memory order, sparseness,
laziness, and the type and words of errors. A test holds `import mars` of the alias against them:
{equal} are equal in all of it. All others are below (this page is written by `docs/from_mars.py`).

A *fact* is one thing that a call tells: whether it is lazy, the values, their type, shape, memory
order or sparseness; of an error its class, whether it comes at the call, and its words. Where only
one of both raises, none of the call's facts is equal. Of {facts} facts {same} are equal, that is
**{share:.1%}**. Of the others {apart} are no fault: Mars fails or contradicts NumPy there, which
marsdask follows. Of the remaining {rest} facts **{fair:.1%}** are equal.

{reasons}

With `import marsdask` in place of the alias, values without axes are NumPy's scalars, as NumPy
gives them, and `linalg.cholesky` returns the lower factor. Of Mars the alias has Python's numbers
(`options.python_scalars`) and the upper factor. With it (`options.mars_results`) estimators and
functions of `mars.learn` give tensors for arrays in memory, too, what they have learnt has
`execute` and `fetch`, and what Mars has executed is executed.

In the calls `x` is a tensor of 3 x 4 floats, `xf` the same in Fortran's order, `a` and `f` NumPy's,
`v` and `i` vectors of floats and integers, `z` of complex numbers, `n` has NaN, `s` is sparse.
"""

OWN_TESTS = """## Mars's own tests that do not hold

What scikit-learn, NumPy and pandas have changed since is theirs here, too."""


def page() -> str:
    """Return the text of the page; the alias has to be installed."""
    heres = {line: compare.fact_here(line) for family in CALLS.values() for line in family}
    found: dict[str, list[str]] = defaultdict(list)
    for line, here in heres.items():
        if compare.differing(compare.FACTS[line], here):
            found[str(compare.reason_of(line, here))].append(line)
    lines = [HEAD.format(count=len(heres), **_counted(heres, found))]
    for reason in sorted(found, key=lambda reason: (reason != compare.NUMPY, reason)):
        title = f"{reason[0].upper()}{reason[1:]}"
        lines += [f"\n## {title}\n", "| call | Mars | here |", "|---|---|---|"]
        lines += [_row(line, heres[line]) for line in found[reason]]
    return "\n".join([*lines, *_refused()]) + "\n"


def _refused() -> list[str]:
    """Return the part about Mars's own tests."""
    rows = [
        f"| {item['reason']} | {'; '.join(f'`{test}`' for test in item['tests'])} |"
        for item in tomllib.loads(REFUSED.read_text("utf-8"))["reasons"]
    ]
    return [f"\n{OWN_TESTS}\n", "| why | tests |", "|---|---|", *rows]


def _counted(heres: dict[str, compare.Fact], found: dict[str, list[str]]) -> dict[str, Any]:
    """Return how many facts there are and are equal, and a table of those that differ."""
    facts, same, others = compare.shares(heres)
    apart = sum(count for reason, count in others.items() if reason in compare.APART)
    rows = ["| facts | why they differ | counts as a fault |", "|---|---|---|"]
    for reason, count in others.items():
        rows.append(f"| {count} | {reason} | {'no' if reason in compare.APART else 'yes'} |")
    return {
        "equal": len(heres) - sum(map(len, found.values())),
        "facts": facts,
        "same": same,
        "share": same / facts,
        "apart": apart,
        "rest": facts - apart,
        "fair": same / (facts - apart),
        "reasons": "\n".join(rows),
    }


def _row(line: str, here: compare.Fact) -> str:
    cells = (f"`{line}`", _shown(compare.FACTS[line], here), _shown(here, compare.FACTS[line]))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _shown(fact: compare.Fact, other: compare.Fact) -> str:
    """Return in a few words what differs from the other fact."""
    if "error" in fact:
        return f"{fact['error'][0]}: {fact['words']}"[:_WIDTH]
    if "items" in fact:
        return "several values"
    names = [] if "error" in other else compare.differing(fact, other)
    if "sparse" in fact or "sparse" in names:
        kind = "sparse" if "sparse" in fact else "dense"
        return f"{kind}, {_text(fact['values'])}" if "values" in names else kind
    if names == ["order"]:
        return f"order {fact['order']}"
    return _text(fact.get("values", fact.get("value", fact.get("type"))))


def _text(values: Any) -> str:
    text = str(values)
    return f"`{text}`" if len(text) <= _WIDTH else f"`{text[: _WIDTH - 3]}...`"


def main() -> None:
    """Write the page."""
    marsdask.compat.install()
    with marsdask.new_session("synchronous"):
        PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
