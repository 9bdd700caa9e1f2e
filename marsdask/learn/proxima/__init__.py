"""Mars's name for Proxima, an index of nearest samples that says what to use."""

__all__ = ["simple_index"]


def __dir__() -> list[str]:
    return __all__
