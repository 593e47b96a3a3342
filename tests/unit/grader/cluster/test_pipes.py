import os

import pytest

from grader.cluster.pipes import Ended, Lines, Silent


@pytest.fixture
def ends():
    """Lines over two pipes, and the far ends: what is read there, and what is written there."""
    (far_in, to), (back, far_out) = os.pipe(), os.pipe()
    with (
        os.fdopen(to, "wb", buffering=0) as to_file,
        os.fdopen(back, "rb", buffering=0) as back_file,
        os.fdopen(far_in, "rb", buffering=0) as far_read,
        os.fdopen(far_out, "wb", buffering=0) as far_write,
    ):
        yield Lines(to_file, back_file), far_read, far_write


def test_lines_come_one_at_a_time_however_they_arrive(ends):
    lines, _, far = ends
    far.write(b"one\ntwo\nth")
    assert [lines.read(1), lines.read(1)] == [b"one", b"two"]
    far.write(b"ree\n")
    assert lines.read(1) == b"three"


def test_half_a_line_and_then_nothing_is_silence(ends):
    lines, _, far = ends
    far.write(b"half")
    with pytest.raises(Silent):
        lines.read(0.05)


def test_a_closed_pipe_is_an_end(ends):
    lines, _, far = ends
    far.close()
    with pytest.raises(Ended):
        lines.read(1)


def test_a_reader_that_takes_nothing_is_silence_and_not_a_wait_without_end(ends):
    lines, _, _ = ends
    with pytest.raises(Silent):
        lines.write(b"x" * (1 << 20), 0.05)


def test_a_reader_that_is_gone_is_an_end(ends):
    lines, far, _ = ends
    far.close()
    with pytest.raises(Ended):
        lines.write(b"x", 1)
