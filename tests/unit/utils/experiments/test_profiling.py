"""Times are read off the given clock, and what warms up does not count."""

from utils.experiments.profiling import seconds


def test_the_shortest_of_the_measured_runs_is_given_by_the_clock_asked_for():
    readings = iter([0.0, 5.0, 10.0, 12.0, 20.0, 27.0])
    calls = []
    shortest = seconds(calls.append, "x", repeat=3, clock=lambda: next(readings))
    assert shortest == 2.0
    assert calls == ["x"] * 4  # one run to warm up
