"""Sizes, cores and names."""

import pytest

from marsdask.deploy.kubernetes import spec


def test_sizes_are_powers_of_1024():
    """In any notation, as in Mars."""
    for text in ("1.5g", "1.5G", "1.5Gi", "1.5GiB", "1.5 GB", 1.5 * 2**30, str(3 * 2**29)):
        assert spec.memory_bytes("x", text) == 3 * 2**29


def test_shares():
    """A number up to one, and percents, are of the whole; all others are sizes."""
    assert [spec.memory_share("x", one, 1000) for one in ("40%", 0.4, "0.4", 1, "1k", 2)] == [
        *(400, 400, 400, 1000),
        1024,
        2,
    ]


def test_cores_are_rounded_up():
    """To thousandths, as Kubernetes has them."""
    assert [spec.millicores("x", one) for one in (2, 0.5, "500m", "1.0001")] == [
        2000,
        500,
        500,
        1001,
    ]


@pytest.mark.parametrize("value", ["", "-", "A", "a_b", "a.b", "a-", 3, None, "x" * 64])
def test_names_that_kubernetes_refuses(value):
    """They are found here, with the rule."""
    with pytest.raises(ValueError, match="lower-case"):
        spec.dns_label("name", value)
