"""Tokens that pin an authority, and what they are made of."""

import pytest

from marsdask.scheduler.cluster.join import JoinToken

DIGEST = "0123456789abcdef" * 4


def test_a_token_is_its_text(tmp_path):
    """It is read from the text or a file, and does not show its secret."""
    token = JoinToken("se-cret_1", DIGEST, 7005)
    assert JoinToken.parse(str(token)) == JoinToken.read(str(token)) == token
    assert "se-cret" not in repr(token)
    (tmp_path / "token").write_text(f"{token}\n")
    assert JoinToken.read(str(tmp_path / "token")) == token


@pytest.mark.parametrize(
    "text", ["", "abc", f".{DIGEST}.1", f"a.{DIGEST[1:]}.1", f"a.{DIGEST}.x", f"a.{DIGEST}.70000"]
)
def test_other_texts(text):
    """A token of the web port alone is none, and neither is one that is cut off."""
    assert JoinToken.parse(text) is None
    with pytest.raises(ValueError, match="--secure"):
        JoinToken.read(text)
