"""Methods that an object of the reference and ours have in common."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.conformance.arguments.case import Case


@dataclass(frozen=True)
class ComparedMethod:
    """A method of an object that is made anew for each call, for it may change it."""

    make: Callable[[], Any]
    name: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the method does, or else the object that it changed."""
        subject = self.make()
        value = getattr(subject, self.name)(*args, **kwargs)
        return ("in place", subject) if value is None else value


def methods(
    title: str,
    model: Callable[[], Any],
    ours: Callable[[], Any],
    needed: Mapping[str, Mapping[str, Any]],
    left_out: Collection[str] = (),
) -> Iterator[Case]:
    """Yield the methods that both objects have, but for some."""
    theirs, own = model(), ours()
    for name in dir(type(theirs)):
        if name.startswith("_") or name in left_out or not callable(getattr(type(theirs), name)):
            continue
        if not isinstance(_attribute(own, name), Exception):
            yield Case(
                f"{title}.{name}",
                ComparedMethod(model, name),
                ComparedMethod(ours, name),
                getattr(theirs, name),
                needed=needed.get(f"{title}.{name}", needed.get(name, {})),
            )


def _attribute(subject: Any, name: str) -> Any:
    try:
        return getattr(subject, name)
    except Exception as error:  # noqa: BLE001 - a refusal by any error
        return error
