"""Hook of mkdocs: the API reference, and the pages that stand beside the folder of documents.

Each chapter of the public names becomes a page. Where a docstring says "See numpy.mean", or a class
stands for one of a library, the sections about parameters and results come from the installed
library. ``entries()`` is also what tests/test_docstrings.py counts.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

SECTIONS = ("Parameters", "Returns", "Yields", "Raises")
LIBRARIES = ("numpy", "pandas", "scipy", "sklearn", "dask")
ROOT = Path(__file__).parent.parent

#: The modules of each chapter, in the order of the pages. A name counts where it comes first.
CHAPTERS = {
    "sessions": ("marsdask", "marsdask.session"),
    "options": ("marsdask.config",),
    "tensor": ("marsdask.tensor",),
    "tensor.linalg": ("marsdask.tensor.linalg",),
    "tensor.fft": ("marsdask.tensor.fft",),
    "tensor.random": ("marsdask.tensor.random",),
    "tensor.ma": ("marsdask.tensor.ma",),
    "tensor.stats": ("marsdask.tensor.stats",),
    "tensor.special": ("marsdask.tensor.special",),
    "tensor.strings": ("marsdask.tensor.strings",),
    "tensor.char": ("marsdask.tensor.char",),
    "tensor.spatial": ("marsdask.tensor.spatial.distance",),
    "tensor.lib": ("marsdask.tensor.lib", "marsdask.tensor.lib.index_tricks"),
    "dataframe": ("marsdask.dataframe", "marsdask.dataframe.keyed.groupby"),
    "remote": ("marsdask.remote",),
    "learn": (
        "marsdask.learn.cluster",
        "marsdask.learn.compose",
        "marsdask.learn.contrib.joblib",
        "marsdask.learn.datasets",
        "marsdask.learn.decomposition",
        "marsdask.learn.ensemble",
        "marsdask.learn.feature_extraction",
        "marsdask.learn.feature_extraction.text",
        "marsdask.learn.impute",
        "marsdask.learn.linear_model",
        "marsdask.learn.metrics",
        "marsdask.learn.metrics.pairwise",
        "marsdask.learn.model_selection",
        "marsdask.learn.naive_bayes",
        "marsdask.learn.neighbors",
        "marsdask.learn.preprocessing",
        "marsdask.learn.semi_supervised",
        "marsdask.learn.utils",
        "marsdask.learn.utils.extmath",
        "marsdask.learn.utils.multiclass",
        "marsdask.learn.wrappers",
    ),
}

#: The title of each page. The functions of ``marsdask.tensor`` are divided as its folders are.
TITLES = {
    "sessions": "Sessions",
    "options": "Options",
    "tensor": "The tensor",
    "tensor.creation": "Creation",
    "tensor.elementwise": "Elementwise functions",
    "tensor.reduction": "Reductions",
    "tensor.quantile": "Quantiles",
    "tensor.scan": "Running sums",
    "tensor.sorting": "Sorting and sets",
    "tensor.indexing": "Indexing",
    "tensor.manipulation": "Shapes and joins",
    "tensor.sharing": "Views",
    "tensor.chunkwise": "Functions over chunks",
    "tensor.sparse": "Sparse blocks",
    "tensor.io": "Input and output",
    "tensor.linalg": "Linear algebra",
    "tensor.fft": "Fourier transforms",
    "tensor.random": "Random numbers",
    "tensor.ma": "Masked tensors",
    "tensor.stats": "Statistics",
    "tensor.special": "Special functions",
    "tensor.strings": "Strings",
    "tensor.char": "Strings as in numpy.char",
    "tensor.spatial": "Distances",
    "tensor.lib": "Index tricks",
    "dataframe": "Data frames",
    "remote": "Remote functions",
    "learn": "Estimators",
}

INTRODUCTION = """\
Each page lists the public names of a chapter, with the parameters of each. Parameters of NumPy,
pandas, SciPy and scikit-learn come from the versions that are installed when the site is built.

The examples assume these imports:

```python
import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt
import numpy as np
```"""

#: What users get from functions, and what lies in modules without ``__all__``.
UNLISTED = {
    "marsdask.config": ("Options", "get_option", "option_context", "set_option"),
    "marsdask.dataframe.keyed.groupby": ("GroupBy",),
}

#: Classes that have the names of other libraries' classes.
CLASSES = {
    "DataFrame": ("pandas.DataFrame", "dask.dataframe.DataFrame"),
    "Series": ("pandas.Series", "dask.dataframe.Series"),
    "Index": ("pandas.Index", "dask.dataframe.Index"),
    "GroupBy": ("pandas.api.typing.DataFrameGroupBy",),
    "Tensor": ("numpy.ndarray", "dask.array.Array"),
    "MaskedTensor": ("numpy.ma.MaskedArray",),
    "RandomState": ("numpy.random.RandomState",),
    "Generator": ("numpy.random.Generator",),
}

#: Pages of the site that stand beside the folder of documents.
BESIDE = {
    "README.md": "guide.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/RESULTS.md": "benchmarks.md",
}

#: Pages that stand for a folder, or that the site makes of the names that this file collects.
MADE = {"docs/adr": "adr/index.md", "docs/reference.py": "reference/index.md"}

_NAME = rf"(?:{'|'.join(LIBRARIES)})(?:\.\w+)+"
_SEE = re.compile(rf"See ({_NAME})(?:\s+and\s+({_NAME}))?")
_SECTION = r"^{}\n-+\n(.*?)(?=^\S[^\n]*\n-{{3,}}|\Z)"
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)([^)#]+)(#[^)]*)?\)")


class Entry(NamedTuple):
    """A public function, class, method or property; the class of a member."""

    name: str
    item: Any
    owner: type | None = None
    same: str = ""
    """The name where the same object is described; empty if it is this one."""


class Source(NamedTuple):
    """What a function or class stands for in another library."""

    path: str
    item: Any


class Bare(str):
    """An annotation that signatures show without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def source(item: Any, owner: type | None = None) -> Source | None:
    """Return what an item stands for in another library, ``None`` if nothing."""
    match = _SEE.search(inspect.getdoc(item) or "")
    paths = [*filter(None, match.groups() if match else ()), *_bases(item, owner)]
    classes = CLASSES.get(getattr(owner or item, "__name__", ""), ())
    paths += [path if owner is None else f"{path}.{name_of(item)}" for path in classes]
    named = (Source(path, _imported(path)) for path in paths)
    found = [known for known in named if known.item is not None]
    # Some functions send readers to another one, which the docstring names too.
    told = (one for one in found if section(inspect.getdoc(one.item) or "", "Parameters"))
    return next(told, found[0] if found else None)


def _bases(item: Any, owner: type | None) -> list[str]:
    """Return the classes of scikit-learn that a class extends, or their methods of this name."""
    if owner is None and not inspect.isclass(item):
        return []
    bases = (base for base in (owner or item).__mro__[1:] if base.__module__.startswith("sklearn."))
    name = "" if owner is None else f".{name_of(item)}"
    return [f"{base.__module__}.{base.__qualname__}{name}" for base in bases]


def name_of(item: Any) -> str:
    """Return the name of a function, a class or a property."""
    return (item.fget if isinstance(item, property) else item).__name__


def _imported(path: str) -> Any:
    """Return the object of a dotted path, ``None`` if the installed library lacks it."""
    parts = path.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for name in parts[count:]:
            found = getattr(found, name, None)
        return found
    return None


def section(text: str, name: str) -> str:
    """Return a section of a docstring, empty if it has none."""
    match = re.search(_SECTION.format(name), text, re.DOTALL | re.MULTILINE)
    return match[1].rstrip() if match else ""


def is_ours(item: Any) -> bool:
    """Tell whether something is a function or class of this package, and no exception."""
    if inspect.isclass(item) and issubclass(item, BaseException):
        return False
    routine = inspect.isroutine(item) or inspect.isclass(item)
    return routine and str(item.__module__).partition(".")[0] == "marsdask"


def public(path: str) -> Iterator[Entry]:
    """Yield the functions, the classes and their public members of a module."""
    module = importlib.import_module(path)
    space = path.removeprefix("marsdask.tensor").removeprefix(".")
    prefix = f"{space}." if path.startswith("marsdask.tensor.") else ""
    named = ((name, getattr(module, name)) for name in UNLISTED.get(path) or module.__all__)
    ours = [Entry(f"{prefix}{name}", item) for name, item in named if is_ours(item)]
    # Functions before classes, and a name before its aliases: there the object is described.
    for entry in sorted(ours, key=lambda one: (inspect.isclass(one.item), _is_alias(one))):
        yield entry
        if inspect.isclass(entry.item):
            yield from members(entry.name, entry.item)


def _is_alias(entry: Entry) -> bool:
    return entry.name.rpartition(".")[2] != str(entry.item.__name__)


def members(name: str, kind: type) -> Iterator[Entry]:
    """Yield the public methods and properties of a class, those inherited from ours included."""
    for member in dir(kind):
        base = next((one for one in kind.__mro__ if member in vars(one)), object)
        if member.startswith("_") or base.__module__.partition(".")[0] != "marsdask":
            continue
        found = vars(base)[member]
        if isinstance(found, classmethod | staticmethod):
            found = found.__func__
        if inspect.isfunction(found) or isinstance(found, property):
            yield Entry(f"{name}.{member}", found, kind)


def identity(item: Any) -> Any:
    """Return what two names of one function, method or property have in common."""
    item = item.fget if isinstance(item, property) else item
    return inspect.unwrap(getattr(item, "__func__", item))


def entries() -> dict[str, list[Entry]]:
    """Return the names of each chapter; an object with several names is described at the first."""
    found: dict[str, list[Entry]] = {}
    first: dict[int, str] = {}
    for chapter, modules in CHAPTERS.items():
        for entry in (entry for module in modules for entry in public(module)):
            place = found.setdefault(_chapter(chapter, entry), [])
            key = id(identity(entry.item))
            if key not in first:
                first[key] = entry.name
                place.append(entry)
            elif first[key] != entry.name:
                place.append(entry._replace(same=first[key]))
    return found


def _chapter(chapter: str, entry: Entry) -> str:
    """Return the chapter of NumPy's manual that a function of tensors belongs to: its folder."""
    folders = (entry.owner or entry.item).__module__.split(".")[2:-1]
    return f"tensor.{folders[0]}" if chapter == "tensor" and folders else chapter


def described(entry: Entry) -> str:
    """Return the Markdown of a name: its signature, its docstring, and the library's sections."""
    text = inspect.getdoc(entry.item) or ""
    parts = [f"### {entry.name}", f"```python\n{shown(entry)}\n```", f"```text\n{text}\n```"]
    known = source(entry.item, entry.owner)
    if known is not None and not section(text, "Parameters"):
        theirs = inspect.getdoc(known.item) or ""
        given = {title: section(theirs, title) for title in SECTIONS}
        blocks = [f"{title}\n{'-' * len(title)}\n{body}" for title, body in given.items() if body]
        if blocks:
            parts.append(f"From the documentation of `{known.path}`:")
            parts.append("```text\n" + "\n\n".join(blocks) + "\n```")
    return "\n\n".join(parts)


def shown(entry: Entry) -> str:
    """Return the signature as users write the call: without the object and without quotes."""
    if isinstance(entry.item, property):
        return entry.name
    try:
        signature = inspect.signature(entry.item)
    except ValueError:
        return f"{entry.name}(...)"
    is_method = entry.owner is not None and inspect.isfunction(entry.item)
    parameters = list(signature.parameters.values())[1 if is_method else 0 :]
    bare = [
        each.replace(annotation=_bare(each.annotation))
        for each in parameters
        if not each.name.startswith("_")
    ]
    returns = _bare(signature.return_annotation)
    return f"{entry.name}{signature.replace(parameters=bare, return_annotation=returns)}"


def _bare(annotation: Any) -> Any:
    return Bare(annotation) if isinstance(annotation, str) else annotation


def chapter_page(chapter: str) -> str:
    """Return the page of a chapter, and at its end the names that are described elsewhere."""
    listed = entries()[chapter]
    parts = [f"# {TITLES[chapter]}", *(described(entry) for entry in listed if not entry.same)]
    if others := [f"* `{entry.name}`: see `{entry.same}`" for entry in listed if entry.same]:
        parts += ["## Other names of the same functions", "\n".join(others)]
    return "\n\n".join(parts) + "\n"


def contents() -> str:
    """Return the page that leads to the chapters."""
    lines = [f"* [{title}]({chapter}.md)" for chapter, title in TITLES.items()]
    return "# API reference\n\n" + INTRODUCTION + "\n\n" + "\n".join(lines) + "\n"


def beside(path: str) -> str:
    """Return a document with links to pages of the site in place of those to files."""

    def link(match: re.Match[str]) -> str:
        text, target, anchor = match[1], match[2], match[3] or ""
        where = ((ROOT / path).parent / target).resolve()
        inner = where.relative_to(ROOT).as_posix() if where.is_relative_to(ROOT) else target
        page = (BESIDE | MADE).get(inner) or inner.removeprefix("docs/")
        known = inner in BESIDE or inner.startswith("docs/")
        return f"[{text}]({page}{anchor})" if known else text

    return _LINK.sub(link, (ROOT / path).read_text(encoding="utf-8"))


def pages() -> dict[str, Callable[[], str]]:
    """Return the pages that the site has besides the files of docs/."""
    made: dict[str, Callable[[], str]] = {"reference/index.md": contents}
    for chapter in TITLES:
        made[f"reference/{chapter}.md"] = partial(chapter_page, chapter)
    for path, page in BESIDE.items():
        made[page] = partial(beside, path)
    return made


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let the first page lead to pages where its text leads to files."""
    return beside("docs/index.md") if page.file.src_uri == "index.md" else markdown


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the pages to the site."""
    from mkdocs.structure.files import File  # tests read this file without mkdocs

    for path, write in pages().items():
        files.append(File.generated(config, path, content=write()))
    return files
