"""Hook of mkdocs: the API reference, with parameters from the installed reference libraries.

A line ``::: marsdask.tensor`` of a page becomes the public names of that module. Where a docstring
says "See numpy.mean", or a class extends one of scikit-learn's, the sections about parameters and
results come from the installed library.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

SECTIONS = ("Parameters", "Returns", "Yields", "Raises")
LIBRARIES = ("numpy", "pandas", "scipy", "sklearn", "dask")

#: Classes whose methods are those of another library's class.
CLASSES = {
    "DataFrame": "pandas.DataFrame",
    "Series": "pandas.Series",
    "Index": "pandas.Index",
    "Tensor": "numpy.ndarray",
}

_SEE = re.compile(rf"See ((?:{'|'.join(LIBRARIES)})(?:\.\w+)+)")
_SECTION = r"^{}\n-+\n(.*?)(?=^\S[^\n]*\n-{{3,}}|\Z)"


def original(item: Any, owner: type | None = None) -> Any:
    """Return what a function or class stands for in another library, ``None`` if nothing."""
    if owner is not None or inspect.isclass(item):
        for base in (owner or item).__mro__[1:]:
            if base.__module__.partition(".")[0] == "sklearn":
                found = base if owner is None else vars(base).get(item.__name__)
                if found is not None:
                    return found
    if match := _SEE.search(inspect.getdoc(item) or ""):
        return _imported(match[1])
    if (owner or item).__name__ in CLASSES:
        path = CLASSES[(owner or item).__name__]
        return _imported(path if owner is None else f"{path}.{item.__name__}")
    return None


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


def described(name: str, item: Any, owner: type | None = None) -> str:
    """Return the Markdown of a name: its signature, its docstring, and the library's sections."""
    text = inspect.getdoc(item) or ""
    try:
        signature = str(inspect.signature(item))
    except ValueError:
        signature = "(...)"
    parts = [f"### {name}", f"```python\n{name}{signature}\n```", f"```text\n{text}\n```"]
    source = original(item, owner)
    if source is not None and not section(text, "Parameters"):
        theirs = inspect.getdoc(source) or ""
        given = {title: section(theirs, title) for title in SECTIONS}
        blocks = [f"{title}\n{'-' * len(title)}\n{body}" for title, body in given.items() if body]
        library = (inspect.getmodule(source) or source).__name__.partition(".")[0]
        if blocks:
            parts.append(f"From {library}'s documentation of `{source.__qualname__}`:")
            parts.append("```text\n" + "\n\n".join(blocks) + "\n```")
    return "\n\n".join(parts)


def public(module: Any) -> Iterator[tuple[str, Any, type | None]]:
    """Yield the functions, the classes and their public methods of a module."""
    for name in getattr(module, "__all__", sorted(vars(module))):
        item = getattr(module, name)
        if name.startswith("_") or not (inspect.isfunction(item) or inspect.isclass(item)):
            continue
        if inspect.isclass(item) and issubclass(item, BaseException):
            continue
        yield name, item, None
        if inspect.isclass(item):
            for method, function in vars(item).items():
                if inspect.isfunction(function) and not method.startswith("_"):
                    yield f"{name}.{method}", function, item


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace each ``::: module`` by the reference of its public names."""

    def names(match: re.Match[str]) -> str:
        return "\n\n".join(described(*each) for each in public(importlib.import_module(match[1])))

    return re.sub(r"^::: ([\w.]+)$", names, markdown, flags=re.MULTILINE)
