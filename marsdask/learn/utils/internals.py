"""Functions that Mars uses inside, which say what to use."""

from __future__ import annotations

from typing import Any, NoReturn


def collect_ports(workers: Any, input_tileable: Any = None) -> NoReturn:
    """Refuse: what starts servers on workers finds its ports itself.

    Parameters
    ----------
    workers, input_tileable : object
        Those of Mars.

    Returns
    -------
    NoReturn
        Nothing.

    Raises
    ------
    NotImplementedError
        Always; it says what to use.

    Examples
    --------
    >>> from marsdask.learn.utils import collect_ports
    >>> collect_ports([])
    Traceback (most recent call last):
    NotImplementedError: ...
    """
    raise NotImplementedError(
        "collect_ports() is not supported; marsdask.remote.run_script() starts a script on workers "
        "and tells it MASTER_ADDR and MASTER_PORT"
    )


def concat_chunks(chunks: Any) -> NoReturn:
    """Refuse: chunks are not objects of their own.

    Parameters
    ----------
    chunks : object
        Those of Mars.

    Returns
    -------
    NoReturn
        Nothing.

    Raises
    ------
    NotImplementedError
        Always; it says what to use.

    Examples
    --------
    >>> from marsdask.learn.utils import concat_chunks
    >>> concat_chunks([])
    Traceback (most recent call last):
    NotImplementedError: ...
    """
    raise NotImplementedError(
        "concat_chunks() is not supported; rechunk(-1) of a tensor, or repartition(npartitions=1) "
        "of a frame, makes one chunk of all"
    )
