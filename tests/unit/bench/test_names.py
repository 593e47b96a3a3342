"""What `python -m bench` is asked for is known, or answered with what there is."""

from importlib import import_module
from pathlib import Path

import pytest

import bench
from bench.__main__ import LONG, NAMES, PLACES, main


@pytest.mark.parametrize("name", ["--help", "grding", "record"])
def test_an_unknown_measurement_is_answered_with_those_that_there_are(name):
    with pytest.raises(SystemExit, match=f"no measurement {name}. There are: checks, grading"):
        main([name])


def test_every_known_measurement_measures_and_each_that_measures_is_known():
    folder = Path(bench.__file__).parent
    measuring = {path.stem for path in folder.glob("*.py") if "\ndef measure(" in path.read_text()}
    assert measuring | {*PLACES} == {*NAMES, *LONG}
    assert all(callable(import_module(f"bench.{name}").measure) for name in NAMES)
    assert all(callable(import_module(place).measure) for place in PLACES.values())
