"""Special functions of sparse tensors under the alias."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special as theirs

import marsdask.tensor as mt
from marsdask.compat.tensor import special

DENSE = np.array([[0.0, 1.0, 0.5], [0.0, 0.0, 2.0]])


@pytest.mark.parametrize("name", ["hyp2f1", "elliprj", "beta", "xlogy"])
def test_several_operands(name: str) -> None:
    """The values are those of all elements, in a sparse tensor if one operand is."""
    func = vars(theirs)[name]
    sparse, others = mt.tensor(DENSE, chunk_size=2).tosparse(), [DENSE + 1.5] * (func.nin - 1)
    found = getattr(special, name)(sparse, *others)
    assert found.issparse()
    np.testing.assert_allclose(found.compute().toarray(), func(DENSE, *others))
    assert not getattr(special, name)(DENSE, *others).issparse()


def test_one_operand() -> None:
    """What maps zero to zero is sparse, others are dense; names are those of tensors."""
    sparse = mt.tensor(DENSE, chunk_size=2).tosparse()
    assert special.erf(sparse).issparse()
    assert not special.gamma(sparse).issparse()
    assert set(dir(special)) == set(dir(mt.special))
