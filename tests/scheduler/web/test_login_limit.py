"""Wrong tokens are counted by address."""

from marsdask.scheduler.web import login_limit
from marsdask.scheduler.web.login_limit import LoginLimit


def test_too_many_wrong_tokens():
    """Ten in a minute are enough; another address may go on, and everybody later."""
    now = [0.0]
    limit = LoginLimit(lambda: now[0])
    for _ in range(9):
        limit.failed("a")
        now[0] += 1
    assert limit.wait("a") == 0
    limit.failed("a")
    assert limit.wait("a") == 51
    assert limit.wait("b") == 0
    now[0] += 51
    assert limit.wait("a") == 0
    limit.failed("a")
    assert limit.wait("a") == 1, "the second of the ten is less than a minute old"


def test_few_addresses_are_remembered(monkeypatch):
    """An attacker with many addresses takes no memory."""
    monkeypatch.setattr(login_limit, "_ADDRESSES", 3)
    limit = LoginLimit()
    for number in range(100):
        limit.failed(str(number))
    assert len(limit._wrong) == 3
