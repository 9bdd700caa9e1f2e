"""Make the tables: ``python -m tests.conformance.arguments [--check] [SUBJECT or FUNCTION ...]``.

``--check`` calls ours too, with all values that were tried, and writes nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from tests.conformance.arguments import table
from tests.conformance.arguments.case import INVALID, Case, equal
from tests.conformance.arguments.reasons import reason
from tests.conformance.arguments.subjects import SUBJECTS
from tests.conformance.arguments.values import candidates, value_of

#: How many values of a parameter a table has: of those that are taken, and of those refused.
TAKEN, REFUSED = 1, 1


def effects(case: Case, parameter: str) -> Iterator[tuple[str, Any]]:
    """Yield the values that change the reference's result, with the results."""
    results = [case.wanted()]
    for text in candidates(case.signature, parameter):
        wanted = case.wanted(**{parameter: value_of(text)})
        if isinstance(wanted, Exception):
            if isinstance(wanted, INVALID):
                yield text, wanted
        elif not any(equal(wanted, earlier) for earlier in results):
            results.append(wanted)
            yield text, wanted


def chosen(case: Case, parameter: str) -> tuple[str, ...]:
    """Return the values of a parameter for the table."""
    taken: list[str] = []
    refused: list[str] = []
    for text, wanted in effects(case, parameter):
        (refused if isinstance(wanted, Exception) else taken).append(text)
        if len(taken) >= TAKEN and len(refused) >= REFUSED:
            break
    return (*taken[:TAKEN], *refused[:REFUSED])


def check(case: Case) -> None:
    """Print what is wrong with how we take the arguments of a function."""
    default: list[Any] = []

    def plain() -> Any:
        if not default:
            default.append(case.returned())
        return default[0]

    for parameter in case.parameters():
        if reason(case.name, parameter):
            continue
        for text, _ in effects(case, parameter):
            if verdict := case.verdict(parameter, value_of(text), plain):
                print(f"{case.name}({parameter}={text}): {verdict}", flush=True)


def main() -> None:
    """Make the tables of some subjects, or check some functions."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.arguments")
    parser.add_argument("--check", action="store_true", help="call ours with all values")
    parser.add_argument("names", nargs="*", help="subjects or functions, or all")
    options = parser.parse_args()
    for title, cases in SUBJECTS.items():
        rows: table.Rows = {}
        for case in cases():
            if options.names and not {title, case.name} & set(options.names):
                continue

            def wants(parameter: str, name: str = case.name) -> bool:
                return not options.check and not reason(name, parameter)

            plain = case.wanted()
            if isinstance(plain, Exception):
                print(f"{case.name} needs other arguments: {plain!r}"[:300], flush=True)
            elif options.check:
                check(case)
            rows[case.name] = {
                parameter: chosen(case, parameter) if wants(parameter) else ()
                for parameter in case.parameters()
            }
        if rows and not options.check:
            parts = options.names and title not in options.names
            table.write(title, {**(table.read(title) if parts else {}), **rows})


if __name__ == "__main__":
    main()
