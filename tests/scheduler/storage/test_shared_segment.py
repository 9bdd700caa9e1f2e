"""Segments and their leases."""

import os

import pytest

from marsdask.scheduler.errors import SharedGone
from marsdask.scheduler.storage.shared_segment import START, Segment, lease, mapped, problem
from tests.scheduler import shared_actions as actions
from tests.scheduler.peer import peers

pytestmark = pytest.mark.skipif(problem() is not None, reason=str(problem()))


def filled(text):
    segment = Segment(START + len(text))
    assert segment.try_lock()
    write(segment, text)
    return segment


def write(segment, text):
    segment.write([memoryview(text)], [slice(START, START + len(text))])
    segment.unlock()


def read(segment):
    descriptor = lease(os.getpid(), segment.descriptor, segment.token)
    try:
        return memoryview(mapped(descriptor, segment.nbytes))
    finally:
        os.close(descriptor)


def test_a_mapping_is_the_lease():
    """The owner cannot lock a mapped segment, with or without a descriptor."""
    segment = filled(b"some text")
    memory = read(segment)
    part = memory[START : START + 4]
    del memory
    assert not segment.try_lock()
    assert part == b"some"
    del part
    assert segment.try_lock()
    with pytest.raises(SharedGone):  # the owner is about to write
        read(segment)
    segment.unlock()
    read(segment)
    segment.close()


def test_new_content_is_another_token():
    """Who was told of the former content does not get the new one."""
    segment = filled(b"one")
    old = segment.token
    for text in (b"two", b"three"[:3]):  # the second and third go through a mapping
        assert segment.try_lock()
        write(segment, text)
        assert read(segment)[START : START + 3] == text
    with pytest.raises(SharedGone, match="has reused its descriptor"):
        lease(os.getpid(), segment.descriptor, old)
    segment.close()
    with pytest.raises(SharedGone):
        read(segment)


def test_what_is_no_segment_is_refused(tmp_path):
    """A reused descriptor is neither waited for nor mapped."""
    ours, theirs = os.pipe()
    (tmp_path / "file").write_bytes(b"short")
    file = os.open(tmp_path / "file", os.O_RDONLY)
    try:
        for descriptor in (ours, theirs, file, 10_000):
            with pytest.raises(SharedGone):
                lease(os.getpid(), descriptor, bytes(16))
    finally:
        for descriptor in (ours, theirs, file):
            os.close(descriptor)


def test_readers_cannot_write():
    """The lease is read-only, and a mapping of it is private."""
    segment = filled(b"some text")
    descriptor = lease(os.getpid(), segment.descriptor, segment.token)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.pwrite(descriptor, b"other", START)
    memory = memoryview(mapped(descriptor, segment.nbytes))
    os.close(descriptor)
    memory[START : START + 4] = b"your"
    assert read(segment)[START : START + 9] == b"some text"
    segment.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run something for another user")
def test_other_users_get_nothing():
    """Another user cannot open a segment, and root does not open another user's."""
    segment = filled(b"secret")
    nobody = 65534
    with peers(1) as [stranger]:
        stranger.call(actions.become, nobody)
        with pytest.raises(SharedGone):
            stranger.call(lease, os.getpid(), segment.descriptor, segment.token)
        theirs = stranger.call(actions.publish, "x", 1 << 18)
        with pytest.raises(SharedGone, match="another user"):
            theirs.load()
        with pytest.raises(SharedGone, match="has reused its descriptor"):
            lease(stranger.pid, theirs.descriptor, theirs.token)
    segment.close()
