"""Tensors on a GPU: asked for by name, refused with a reason where there is none."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.tensor.kernels.test_duck_arrays import OnDevice

ASKED: list[Callable[[], Any]] = [
    lambda: mt.ones(3, gpu=True),
    lambda: mt.arange(3, gpu=True),
    lambda: mt.zeros(3, device="gpu"),
    lambda: mt.tensor([1, 2, 3], gpu=True),
    lambda: mt.random.rand(3, gpu=True),
    lambda: mt.fft.fftfreq(3, gpu=True),
    lambda: mt.ones(3).to_gpu(),
    lambda: mt.asarray([1, 2, 3], device="cuda"),
]


@pytest.mark.parametrize("ask", ASKED, ids=range(len(ASKED)))
def test_without_cupy_the_extra_is_named(
    ask: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ImportError at the call says what to install."""
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match=r"marsdask\[gpu\]"):
        ask()


@pytest.mark.parametrize("ask", ASKED, ids=range(len(ASKED)))
def test_blocks_are_moved(ask: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """With CuPy (here a stand-in) the blocks are its arrays, and come back."""
    runtime = SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=lambda: 1))
    stand_in = SimpleNamespace(asarray=OnDevice, cuda=runtime)
    monkeypatch.setitem(sys.modules, "cupy", stand_in)
    lazy = ask()
    assert isinstance(lazy.compute(), OnDevice)
    assert isinstance((lazy + 1).compute(), OnDevice)
    assert isinstance(lazy.to_cpu().compute(), np.ndarray)


def test_without_a_gpu_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """CuPy alone is not enough."""
    runtime = SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=lambda: 0))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=runtime))
    with pytest.raises(RuntimeError, match="no GPU"):
        mt.ones(3, gpu=True)


def test_the_processor_is_the_default() -> None:
    """``device="cpu"`` changes nothing, and other devices do not exist."""
    assert isinstance(mt.ones(3, device="cpu").to_cpu().compute(), np.ndarray)
    with pytest.raises(ValueError, match="Unsupported device"):
        mt.ones(3, device="tpu")
    with pytest.raises(NotImplementedError, match="to_gpu"):
        mt.full(3, [1, 2, 3], gpu=True)
