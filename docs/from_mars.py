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
from marsdask.compat import keywords  # noqa: E402
from marsdask.compat.frames import keywords as words  # noqa: E402
from tests.mars import compare  # noqa: E402
from tests.mars.calls import CALLS  # noqa: E402

#: The longest value that a table shows.
_WIDTH = 60

#: The most titles that a cell shows.
_SHOWN = 8

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

KEYWORDS = """
## Keywords of frames

Under the alias, methods and functions of frames take what Mars takes, and what pandas has given up.
`apply`, `map`, `transform`, `map_chunk` and `cartesian_chunk` take `output_type`, `dtypes`,
`dtype`, `name`, `index`, `elementwise` and `skip_infer`: a type that is told holds, otherwise it is
found.
`read_csv`, `read_parquet` and `read_sql` take `use_arrow_dtype`: texts have
`pandas.ArrowDtype(pyarrow.string())`, which `"Arrow[string]"` and `"arrow_string"` name, too.
"""


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
    return "\n".join([*lines, *_refused(), *_keywords()]) + "\n"


def _refused() -> list[str]:
    """Return the part about Mars's own tests."""
    rows = [
        f"| {item['reason']} | {'; '.join(f'`{test}`' for test in item['tests'])} |"
        for item in tomllib.loads(REFUSED.read_text("utf-8"))["reasons"]
    ]
    return [f"\n{OWN_TESTS}\n", "| why | tests |", "|---|---|", *rows]


def _keywords() -> list[str]:
    """Return a table of keywords that frames have in Mars, or had in pandas."""
    where: dict[tuple[str, str], list[str]] = defaultdict(list)
    for kind, methods in words.KEYWORDS.items():
        for name, taken in methods.items():
            title = kind.__name__ if name == "__init__" else f"{kind.__name__}.{name}"
            for keyword, fate in taken.items():
                where[keyword, _fate(fate)].append(title)
    for name, taken in words.FUNCTIONS.items():
        for keyword, fate in taken.items():
            where[keyword, _fate(fate)].append(name)
    rows = [
        f"| `{keyword}` | {_listed(titles)} | {fate} |"
        for (keyword, fate), titles in sorted(where.items())
    ]
    return [KEYWORDS, "| keyword | of | here |", "|---|---|---|", *rows]


def _listed(titles: list[str]) -> str:
    """Return the first titles, and how many others there are."""
    shown = titles if len(titles) <= _SHOWN else titles[: _SHOWN - 1]
    text = ", ".join(f"`{title}`" for title in shown)
    return text if shown is titles else f"{text} and {len(titles) - len(shown)} others"


def _fate(keyword: Any) -> str:
    """Return in a few words what becomes of a keyword."""
    match keyword:
        case keywords.Way(values=values):
            known = ", ".join(map(repr, values)) or "anything"
            return f"a way to compute, without effect on values: {known}"
        case keywords.Only(values=values, instead=instead):
            return f"{' or '.join(map(repr, values))}; otherwise {instead}"
        case keywords.Named(new=new):
            return f"`{new}`"
        case keywords.Typed():
            return "the type of the result"
        case keywords.InSession():
            return "the session that computes it"
    return f"gone from pandas: {keyword.word}"


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
