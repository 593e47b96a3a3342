import shutil

import pytest

from grader.cluster.versions import ROOT, difference, versions


def test_versions_that_are_the_same_differ_in_nothing():
    assert difference(versions(), dict(versions())) == ""


def test_a_difference_names_both_versions():
    told = difference(versions() | {"torch": "1.0"}, versions())
    assert told == f"torch is 1.0 there and {versions()['torch']} here"


@pytest.mark.parametrize("missing", ["torch", "course"])
def test_a_version_that_is_not_told_differs(missing):
    theirs = {name: v for name, v in versions().items() if name != missing}
    assert difference(theirs, versions()).startswith(f"{missing} is not told there")


def test_a_changed_lesson_is_another_version(tmp_path):
    (tmp_path / "solutions").mkdir()
    for path in (ROOT / "solutions").glob("*.py"):
        shutil.copy(path, tmp_path / "solutions")
    assert difference(versions(tmp_path), versions()) == ""
    versions.cache_clear()
    (tmp_path / "solutions" / "07_more.py").write_text("# one line more\n")
    assert difference(versions(tmp_path), versions()).startswith("course is ")
