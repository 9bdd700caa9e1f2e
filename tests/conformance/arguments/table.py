"""Tables of values that change what the references return: a line for each parameter."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "tables"

#: A function's parameters, each with the texts of its values: none if no value changes a thing.
Rows = dict[str, dict[str, tuple[str, ...]]]


def read(title: str) -> Rows:
    """Return the table of a subject."""
    rows: Rows = {}
    name = ""
    for line in (FOLDER / f"{title}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            parameter, _, values = line.strip().partition(":")
            rows[name][parameter] = tuple(x.strip() for x in values.split(" | ") if x.strip())
        else:
            name = line.strip()
            rows[name] = {}
    return rows


def write(title: str, rows: Rows) -> None:
    """Write the table of a subject."""
    lines: list[str] = []
    for name, parameters in rows.items():
        lines.append(name)
        lines += [f"  {key}: {' | '.join(texts)}".rstrip() for key, texts in parameters.items()]
    (FOLDER / f"{title}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
