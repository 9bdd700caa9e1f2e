"""Scripts of PyTorch in several processes, which ``torch.distributed`` connects."""

from __future__ import annotations

from typing import Any

from marsdask.remote.run_script import run_script


def run_pytorch_script(
    script: Any,
    n_workers: int,
    data: dict[str, Any] | None = None,
    gpu: bool | None = None,
    command_argv: list[str] | None = None,
    retry_when_fail: bool = False,
    session: Any = None,
    run_kwargs: dict[str, Any] | None = None,
    port: int | None = None,
) -> Any:
    """Run a script in several processes, which ``torch.distributed.init_process_group`` connects.

    They find ``RANK``, ``WORLD_SIZE``, ``MASTER_ADDR`` and ``MASTER_PORT`` in their environment,
    which is what PyTorch's default method reads. See :func:`marsdask.remote.run_script`.

    Parameters
    ----------
    script : path or file
        The script, or a file with its text.
    n_workers : int
        The number of processes.
    data : dict, optional
        Values by the names of global variables of the script. Tensors and frames stay lazy.
    command_argv : list of str, optional
        The script's arguments.
    retry_when_fail : bool
        Whether the whole script runs up to three times.
    session : Session, optional
        Where to run it.
    run_kwargs : dict, optional
        Arguments of ``execute()``, such as ``wait``.
    gpu, port : optional
        Not supported: the script chooses its devices, and a free port is found.

    Returns
    -------
    Object or Execution
        It fetches ``{"status": "ok"}``.

    Raises
    ------
    NotImplementedError
        If a GPU or a port is asked for.

    Examples
    --------
    >>> import io
    >>> from marsdask.learn.contrib.pytorch import run_pytorch_script
    >>> text = "import os; print(os.environ['RANK'], 'of', os.environ['WORLD_SIZE'])"
    >>> run_pytorch_script(io.StringIO(text), n_workers=1).fetch()
    [rank 0] 0 of 1
    {'status': 'ok'}
    """
    if gpu:
        raise NotImplementedError("gpu=True is not supported; let the script choose its device")
    if port is not None:
        raise NotImplementedError("port is not supported; rank 0 listens at a free one")
    return run_script(script, data, n_workers, command_argv, session, retry_when_fail, run_kwargs)
