"""Other libraries on sessions of marsdask."""

__all__ = ["joblib"]


def __dir__() -> list[str]:
    return __all__
