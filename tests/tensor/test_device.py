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


def test_values_are_shown_and_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts and Python's scalars are of values copied from the GPU; NumPy's arrays are not."""
    runtime = SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=lambda: 1))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(asarray=OnDevice, cuda=runtime))
    lazy = mt.arange(5.0, chunk_size=2, gpu=True).execute()
    assert repr(lazy) == "array([0., 1., 2., 3., 4.])"
    assert str(lazy) == "[0. 1. 2. 3. 4.]"
    assert repr(mt.zeros(2000, gpu=True).execute()).endswith("shape=(2000,))")
    assert float(lazy.sum()) == lazy.sum().item() == 10
    assert lazy.tolist() == [0, 1, 2, 3, 4]
    assert bool(lazy[1])
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(lazy)


def test_assigned_values_are_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices, masks and positions of a tensor on a GPU take values of NumPy."""
    runtime = SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=lambda: 1))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(asarray=OnDevice, cuda=runtime))
    lazy = mt.zeros(6, chunk_size=2, gpu=True)
    lazy[1:3] = np.array([1.0, 2.0])
    lazy[lazy == 2] = 7
    lazy[[4, 5]] = [3, 4]
    assert lazy.compute().get().tolist() == [0, 1, 7, 0, 3, 4]


def test_a_gpu_holds_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other types are refused at the call, in CuPy's words."""
    runtime = SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=lambda: 1))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(asarray=OnDevice, cuda=runtime))
    with pytest.raises(ValueError, match="Unsupported dtype object"):
        mt.tensor(np.array([None, 1]), gpu=True)
